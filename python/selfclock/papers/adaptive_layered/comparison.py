"""Comparisons of ensembles, seed by seed, and statistics of a law."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from selfclock.papers.intervals import Interval, interval, of_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


#: "The same (to within less than 5 %)": the smaller of two throughputs over the larger.
SAME = 0.95

#: The paper itself calls this the same: a difference of 5 % is neither more nor less.
MARGIN = 1 - SAME

#: "Several orders of magnitude": at least two.
SEVERAL_ORDERS = 100.0


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


def passes(own: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether an ensemble is above another; what is the same for all cannot be beaten, only reached."""
    at_best = statistics.fmean(other) >= SAME and difference(own, other).low > -MARGIN
    return at_best or is_more(own, other)


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
