"""Paired differences: each algorithm against the first, seed by seed.

The runs of one seed share its chances, such as the starts of the flows and the losses of a link, so
the differences within seeds vary less than the runs do; their interval is that of Student's paired
test (Student, Biometrika 1908).
"""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypedDict

from selfclock.confidence import outside
from selfclock.estimate import Estimate, estimate
from selfclock.repeats import Sameness, Trace, sameness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.compare.measures import Measures


class Difference(Estimate):
    """The mean of the differences within seeds, with its interval."""

    #: Probability of differences at least this far from 0 if there were none (two-sided paired
    #: t-test); None without an interval.
    p_value: float | None


class Differences(TypedDict):
    """An algorithm minus the first one."""

    #: Name of the algorithm, with its parameters.
    algorithm: str
    #: The first algorithm.
    against: str
    #: By the keys of `runs`.
    measures: dict[str, Difference]


#: Measures whose differences are estimated.
PAIRED = (
    "goodput_bps", "rtt_mean_s", "rtt_p95_s", "retransmitted_segments", "queue_mean_packets", "completion_mean_s",
)  # fmt: skip


def differences(rows: Iterable[Measures], confidence: float) -> list[Differences]:
    """Return the differences of every algorithm but the first, in their order."""
    by_algorithm: dict[str, dict[int, Measures]] = {}
    for row in rows:
        by_algorithm.setdefault(row["algorithm"], {})[row["seed"]] = row
    found = []
    if not by_algorithm:
        return []
    (against, first), *others = by_algorithm.items()
    for algorithm, own in others:
        seeds = [seed for seed in own if seed in first]
        # Copies of one run tell nothing about another run.
        chance = any(sameness([Trace.of(runs[seed]) for seed in seeds]) is Sameness.DIFFERENT for runs in (first, own))
        measures = {}
        for name in PAIRED:
            pairs = [(own[seed][name], first[seed][name]) for seed in seeds]  # type: ignore[literal-required]
            values = [float(one - other) for one, other in pairs if one is not None and other is not None]
            if values:
                measures[name] = difference(values, confidence, independent=chance)
        found.append(Differences(algorithm=algorithm, against=against, measures=measures))
    return found


def difference(values: list[float], confidence: float, *, independent: bool = True) -> Difference:
    """Return the mean of differences with its interval, and the probability of such a mean without a difference.

    >>> found = difference([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4], 0.95)  # Student's own example
    >>> round(found["mean"], 2), round(found["p_value"], 4)
    (1.58, 0.0028)
    """
    deviation = stdev(values) if len(values) > 1 else 0.0
    mean = fmean(values)
    made = estimate(mean, deviation, len(values), confidence, independent=independent)
    p_value = None
    if made["half_width"] is not None:
        error = deviation / len(values) ** 0.5
        p_value = outside(abs(mean) / error, len(values) - 1) if error > 0 else float(mean == 0)
    return Difference(mean=mean, half_width=made["half_width"], runs=made["runs"], p_value=p_value)


def is_certain(found: Difference) -> bool:
    """Whether the interval does not hold 0."""
    return found["half_width"] is not None and abs(found["mean"]) > found["half_width"]
