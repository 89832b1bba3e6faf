"""Measures of a flow's run, simulated or real, taken in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from selfclock.figure import Values

#: Excluded from the means at the beginning of a flow: a quarter of it, at most 5 s. Slow start is
#: over by then.
SETTLING_PART, SETTLING_S = 0.25, 5.0

#: A reduction: the window falls below this fraction of its maximum since the last one. The mildest
#: of the compared algorithms, CUBIC, multiplies by 0.7; in recovery the window is reduced in steps.
FALL = 0.85

#: Within this many RTTs of a reduction the window is still adapting.
RECOVERY_RTTS = 4

#: Minimum number of intervals for a period.
FEWEST_INTERVALS = 2


@dataclass(frozen=True)
class Series:
    """Samples of a flow. Time is that since the beginning of the run, s."""

    time_s: Values
    window_segments: Values
    srtt_s: Values
    acknowledged_bytes: Values
    #: Over the whole run.
    retransmissions: int

    def rate(self, bin_s: float) -> tuple[Values, Values]:
        """Return middles of bins of time, and the goodput in each, bit/s."""
        # Whole bins only; rounding may make a sum of times fall short of one.
        bins = int((self.time_s[-1] - self.time_s[0]) / bin_s + 1e-6)
        edges = self.time_s[0] + bin_s * np.arange(bins + 1)
        acknowledged = np.interp(edges, self.time_s, self.acknowledged_bytes)
        return (edges[1:] + edges[:-1]) / 2, np.diff(acknowledged) * 8 / bin_s


@dataclass(frozen=True)
class Measures:
    """Means of a flow after its beginning."""

    goodput_bps: float
    #: Mean of the smoothed round-trip time, s; NaN before the first sample.
    rtt_s: float
    #: Mean congestion window, in segments.
    window_segments: float
    retransmissions: int
    #: Mean time between two reductions of the window, s; None with fewer than three reductions.
    period_s: float | None


def measured(series: Series) -> Measures:
    """Return what a flow came to."""
    time = series.time_s
    begin = time[0] + min(SETTLING_S, SETTLING_PART * (time[-1] - time[0]))
    settled = time >= begin
    goodput = (series.acknowledged_bytes[-1] - np.interp(begin, time, series.acknowledged_bytes)) * 8
    rtts = series.srtt_s[settled]
    rtt = float(np.mean(rtts[np.isfinite(rtts)])) if np.isfinite(rtts).any() else float("nan")
    return Measures(
        goodput_bps=float(goodput / (time[-1] - begin)),
        rtt_s=rtt,
        window_segments=float(np.mean(series.window_segments[settled])),
        retransmissions=series.retransmissions,
        period_s=period(time[settled], series.window_segments[settled], RECOVERY_RTTS * rtt),
    )


def period(time: Values, window: Values, recovery_s: float) -> float | None:
    """Return the mean time between two reductions of a window."""
    falls: list[float] = []
    highest = 0.0
    for at, size in zip(time, window, strict=True):
        if falls and at - falls[-1] < recovery_s:
            continue
        highest = max(highest, size)
        if size < FALL * highest:
            falls.append(at)
            highest = 0.0
    return float((falls[-1] - falls[0]) / (len(falls) - 1)) if len(falls) > FEWEST_INTERVALS else None


def distance(one: float | None, other: float | None) -> float | None:
    """Return the relative excess of `one` over `other`; None if either is None, or `other` is zero."""
    if one is None or other is None or not np.isfinite([one, other]).all() or other == 0:
        return None
    return one / other - 1
