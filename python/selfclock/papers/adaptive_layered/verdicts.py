"""The rules of the verdicts, and their intervals."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from selfclock.papers.intervals import CONFIDENCE, Interval, interval, of_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from selfclock.claims import Verdict

PAPER = "adaptive-layered"

#: "Several orders of magnitude": at least two.
SEVERAL_ORDERS = 100.0

#: "The same (to within less than 5 %)": the smaller of two throughputs over the larger.
SAME = 0.95

#: Half of that is the right direction.
ROUGHLY_SAME = 0.5

#: The paper itself calls this the same: a difference of 5 % is neither more nor less.
MARGIN = 1 - SAME

#: Exponents of one law.
EXPONENT_TOLERANCE = 0.3

#: Description of the rule of `order_verdict` in a claim's text.
ORDER_RULE = (
    f"Our criterion: more than another is a mean difference above {MARGIN:.2f} and a {CONFIDENCE:.0%} t-interval of "
    "the paired differences, seed by seed, above 0. "
    f"What has {SAME} itself cannot be beaten: there an interval above -{MARGIN:.2f} is enough. "
    "More than all: reproduced; more than some: direction."
)


def difference(own: Sequence[float], other: Sequence[float]) -> Interval:
    """Return the interval of the paired differences, seed by seed."""
    return interval(one - two for one, two in zip(own, other, strict=True))


def is_more(own: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether one ensemble is above another by more than the margin, and significantly."""
    apart = difference(own, other)
    return apart.mean > MARGIN and apart.low > 0


def jackknife(seeds: Sequence[int], statistic: Mapping[int | None, float]) -> Interval:
    """Return the interval of a statistic from its values without each seed in turn; under `None` with all of them."""
    values = [statistic[seed] for seed in seeds]
    count = len(values)
    if count < 2:
        return Interval(statistic[None], math.inf)
    # The jackknife's standard error is (n - 1)/sqrt(n) times the deviation of the leave-one-out
    # values.
    error = statistics.stdev(values) * (count - 1)
    return of_mean(statistic[None], error, count)


def faster_verdict(ratio: float | None) -> Verdict:
    """Several orders of magnitude faster, faster beyond the margin, or not."""
    if ratio is None or ratio <= 1 + MARGIN:
        return "not reproduced"
    return "reproduced" if ratio >= SEVERAL_ORDERS else "direction"


def same_verdict(ratio: float) -> Verdict:
    """Judge the smaller of two throughputs over the larger."""
    if ratio >= SAME:
        return "reproduced"
    return "direction" if ratio >= ROUGHLY_SAME else "not reproduced"


def order_verdict(own: Sequence[float], others: Iterable[Sequence[float]]) -> Verdict:
    """Above all others, some, or none: ensembles by seed. See `ORDER_RULE`."""
    passed = [_passes(own, other) for other in others]
    if all(passed):
        return "reproduced"
    return "direction" if any(passed) else "not reproduced"


def _passes(own: Sequence[float], other: Sequence[float]) -> bool:
    at_best = statistics.fmean(other) >= SAME and difference(own, other).low > -MARGIN
    return at_best or is_more(own, other)


def not_less_verdict(apart: Interval) -> Verdict:
    """Judge a statement that something is not less than its reference, from their difference.

    Not less by more than the margin; undecided; less.
    """
    if apart.low >= -MARGIN:
        return "reproduced"
    return "direction" if apart.high >= -MARGIN else "not reproduced"


def below_verdict(measured: Interval, limit: float) -> Verdict:
    """Significantly at most the limit, undecided, or significantly above it."""
    if measured.high <= limit:
        return "reproduced"
    return "direction" if measured.low <= limit else "not reproduced"


def similar_verdict(apart: Interval, nearer_by: Interval) -> Verdict:
    """Judge an exponent designed to equal TCP's: it does, or it is closer to it than the parent's.

    `nearer_by` is how much closer it is than the parent's.
    """
    if max(abs(apart.low), abs(apart.high)) <= EXPONENT_TOLERANCE:
        return "reproduced"
    return "direction" if nearer_by.mean > MARGIN and nearer_by.low > 0 else "not reproduced"


def exponent(points: Mapping[float, float]) -> float:
    """Fit x of ratio = (RTT ratio)^-x to throughput ratios by RTT ratio; (1, 1) is on the line."""
    logs = [(math.log(rtt), math.log(max(ratio, 1e-6))) for rtt, ratio in points.items()]
    return -sum(x * y for x, y in logs) / sum(x * x for x, _ in logs)


def evenness(first: float, second: float) -> float:
    """Return the smaller of two throughputs over the larger."""
    return min(first, second) / max(first, second, 1e-9)


def median(values: Iterable[float]) -> float:
    """Median of at least one value."""
    return statistics.median(values)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Lower and upper quartile; of a single value, that value twice."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high
