"""The series of a run as curves of a figure: one per flow, or the median of many."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from selfclock import style
from selfclock.saved import SavedTable
from selfclock.series import Samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from selfclock.figure import Dash, Panel, Values
    from selfclock.network import NetworkFlow
    from selfclock.result import FlowSummary, Result
else:
    from selfclock.lazy import pl

#: With more flows than this, each algorithm has a curve of the median of its flows and a band.
MOST_CURVES = 8

#: With more flows than this per algorithm, an evenly spaced selection represents all.
MOST_SAMPLED = 400

#: The band excludes a tenth of the flows below it, and a tenth above it.
QUANTILES = (10, 50, 90)

#: Rates are averages over this fraction of the run: long enough to be smooth, short enough to show
#: a slow start.
RATE_WINDOW = 1 / 60

#: An average over fewer segments could exceed the rate of the link: an ACK reports two at once, and
#: 2 of 64 is less than the 3.5 % of a packet that are headers.
FEWEST_SEGMENTS = 64


@dataclass(frozen=True)
class Flow:
    """A flow with samples: its row in the series, its properties, and its look."""

    row: int
    summary: FlowSummary
    path: NetworkFlow
    colour: str
    dash: Dash
    #: "name (algorithm)", or one of the two if they are equal.
    label: str

    @property
    def payload_bytes(self) -> int:
        """Payload of a full segment."""
        return self.path.payload_bytes or 1


@dataclass(frozen=True)
class Curve:
    """A curve, with a band around it if it represents many flows."""

    label: str
    colour: str
    x: Values
    y: Values
    _: KW_ONLY
    dash: Dash = "-"
    low: Values | None = None
    high: Values | None = None

    def draw(self, panel: Panel, size: float, *, named: bool = True, width: float = 1.2) -> None:
        """Add it to a panel, in a unit of this size."""
        if self.low is not None and self.high is not None:
            panel.band(self.x, self.low / size, self.high / size, colour=self.colour)
        panel.line(
            self.x, self.y / size, colour=self.colour, dash=self.dash, width=width, label=self.label if named else ""
        )


class Traces:
    """The sampled flows of a run."""

    def __init__(self, result: Result, *, look: style.Look | None = None, flows: Sequence[str] = ()) -> None:
        """Read the series of all flows or of the named ones; all have the look `look`, or those of their algorithms."""
        self.result = result
        self._look = look
        self._only = frozenset(flows)

    @cached_property
    def samples(self) -> Samples:
        """Samples of every flow that is one TCP connection."""
        if "emulation" in self.result.summary:
            return Samples(SavedTable(_aligned(pl.DataFrame(self.result.flows))), "flow")
        return Samples(self.result.flows, "flow")

    @cached_property
    def flows(self) -> list[Flow]:
        """The flows that have samples, in the order of the series."""
        summaries = {flow["name"]: flow for flow in self.result.summary["flows"]}
        paths = {flow.name: flow for flow in self.result.scenario.network.flows}
        drawn = [(row, name) for row, name in enumerate(self.samples.names) if not self._only or name in self._only]
        algorithms = [summaries[name]["algorithm"] for _, name in drawn]
        looks = [self._look or style.look(algorithm) for algorithm in algorithms]
        # Algorithms that share a colour differ in line style.
        shades, lines = style.numbers(look.colour for look in looks), style.numbers(algorithms)
        flows = []
        for place, (row, name) in enumerate(drawn):
            look, algorithm = looks[place], algorithms[place]
            first = 0 if self._look else style.LINE_STYLES.index(look.line)
            dash = style.LINE_STYLES[(first + lines[place]) % len(style.LINE_STYLES)]
            label = name if name == algorithm else f"{name} ({algorithm})"
            colour = style.shade(look.colour, shades[place])
            flows.append(Flow(row, summaries[name], paths[name], colour, dash, label))
        return flows

    @property
    def times(self) -> Values:
        """Times of the samples, s."""
        return self.samples.times

    def column(self, flow: Flow, name: str) -> Values:
        """Return the samples of a flow."""
        values: Values = self.samples[name][flow.row].astype(np.float64)
        return values

    @property
    def many(self) -> bool:
        """Whether there are too many flows for a curve each."""
        return len(self.flows) > MOST_CURVES

    @property
    def note(self) -> str:
        """The meaning of the curves, unless there is one per flow."""
        short = any(flow["connections"] for flow in self.result.summary["flows"])
        said = ["Short connections have no curves."] if short else []
        if self.many:
            low, _, high = QUANTILES
            sampled = any(len(flows) > MOST_SAMPLED for flows in self._by_algorithm().values())
            some = f", of {MOST_SAMPLED} flows evenly chosen" if sampled else ""
            said.append(
                "A line is the median of an algorithm's flows; "
                f"the band spans the {low}th to the {high}th percentile{some}."
            )
        return " ".join(said)

    def curves(self, values: Callable[[Flow], Values]) -> list[Curve]:
        """Return curves of a quantity, which `values` returns for one flow: a curve per flow, or per algorithm."""
        if not self.many:
            return [Curve(flow.label, flow.colour, self.times, values(flow), dash=flow.dash) for flow in self.flows]
        return list(self._middles(values))

    def _by_algorithm(self) -> dict[str, list[Flow]]:
        found: dict[str, list[Flow]] = {}
        for flow in self.flows:
            found.setdefault(flow.summary["algorithm"], []).append(flow)
        return found

    def _middles(self, values: Callable[[Flow], Values]) -> Iterator[Curve]:
        for algorithm, flows in self._by_algorithm().items():
            chosen = flows[:: -(-len(flows) // MOST_SAMPLED)]
            low, middle, high = percentiles([values(flow) for flow in chosen], QUANTILES)
            look = self._look or style.look(algorithm)
            label = f"{algorithm}: median of {len(flows):,} flows"
            yield Curve(
                label, look.colour, self.times, middle, dash="-" if self._look else look.line, low=low, high=high
            )

    @cached_property
    def has_windows(self) -> bool:
        """Whether the senders' windows are known; an emulation only knows the data in flight."""
        return "emulation" not in self.result.summary

    def window(self, flow: Flow) -> Values:
        """Return the congestion window of a flow, or its data in flight where the window is unknown, in segments."""
        return self.column(flow, "cwnd_bytes" if self.has_windows else "in_flight_bytes") / flow.payload_bytes

    def threshold(self, flow: Flow) -> Values:
        """Return the slow start threshold of a flow, in segments; NaN where it is not set."""
        if not self.has_windows:
            return np.full(len(self.times), np.nan)
        found = self.column(flow, "ssthresh_bytes") / flow.payload_bytes
        return np.where(np.isfinite(found), found, np.nan)

    def rtt(self, flow: Flow) -> Values:
        """Return the smoothed round-trip time of a flow, s."""
        return self.column(flow, "srtt_s")

    def rate(self, flow: Flow) -> Values:
        """Return the goodput of a flow, bit/s."""
        segments = flow.summary["delivered_segments"]
        segment = flow.payload_bytes if segments is None else flow.summary["delivered_bytes"] / max(1, segments)
        return goodput_curve(self.times, self.column(flow, "delivered_bytes"), segment)


def _aligned(series: pl.DataFrame) -> pl.DataFrame:
    """Return the samples of flows that came and went, with a row for each flow and time.

    Before a flow starts and after it has ended, running totals are constant, and levels are
    unknown.
    """
    grid = series.select(pl.col("flow").unique(maintain_order=True)).join(
        series.select(pl.col("time_s").unique().sort()), how="cross"
    )
    totals = pl.col("sent_bytes", "acknowledged_bytes", "delivered_bytes")
    found = grid.join(series, on=["flow", "time_s"], how="left", maintain_order="left")
    return found.with_columns(totals.forward_fill().over("flow").fill_null(0))


def percentiles(series: Sequence[Values], wanted: Sequence[float]) -> list[Values]:
    """Return percentiles over the series at each sample, of the values present; NaN where there are none.

    Equal to `numpy.nanpercentile`, which takes 20 times as long for a hundred series.
    """
    ordered = np.sort(series, axis=0)
    known = np.sum(~np.isnan(ordered), axis=0)
    found = []
    for percent in wanted:
        place = np.maximum(known - 1, 0) * (percent / 100)
        below = place.astype(np.intp)
        above = np.minimum(below + 1, np.maximum(known - 1, 0))
        low, high = (np.take_along_axis(ordered, row[np.newaxis], axis=0)[0] for row in (below, above))
        found.append(low + (high - low) * (place - below))
    return found


def goodput_curve(times: Values, delivered: Values, segment: float) -> Values:
    """Return the arrival rate of payload by each time, averaged over `RATE_WINDOW` of the run or longer.

    It counts delivered instead of acknowledged data, because the latter jumps at the end of a
    recovery, above a link's rate. Without SACK the sender learns late of some deliveries, and a
    jump remains after a timeout. At its fastest the flow delivers `FEWEST_SEGMENTS` per average, if
    it delivers that many in half of the run. Early averages start with the run, before which
    nothing was delivered.
    """
    samples = len(times)
    # At 0 s nothing is delivered.
    at, sum_ = np.concatenate(([0.0], times)), np.concatenate(([0.0], delivered))

    def gained(span: int) -> Values:
        before = np.maximum(np.arange(1, samples + 1) - span, 0)
        rates: Values = (sum_[1:] - sum_[before]) * 8 / (at[1:] - at[before])
        return rates

    span = max(1, round(samples * RATE_WINDOW))
    while 2 * span < samples // 2 and (delivered[span:] - delivered[:-span]).max(initial=0) < FEWEST_SEGMENTS * segment:
        span *= 2
    return gained(span)
