"""Verdicts from figures alone."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from selfclock.reproduce import Verdict

PAPER = "adaptive-layered"

#: "Several orders of magnitude": two at least.
SEVERAL_ORDERS = 100.0

#: "Fairly": the smaller of two shares is at least this part of the larger; half of it is the right direction.
FAIR, ROUGHLY_FAIR = 0.8, 0.5

#: "The same to within less than 5 %".
SAME = 0.95

#: Against a two-flow ratio of ns-2.
RATIO_TOLERANCE = 1.5

#: Exponents of one law.
EXPONENT_TOLERANCE = 0.3


def faster_verdict(ratio: float | None) -> Verdict:
    """Several orders of magnitude faster, merely faster, or not."""
    if ratio is None or ratio <= 1:
        return "not reproduced"
    return "reproduced" if ratio >= SEVERAL_ORDERS else "direction"


def share_verdict(ratio: float, wanted: float = FAIR) -> Verdict:
    """Judge the smaller of two throughputs over the larger."""
    if ratio >= wanted:
        return "reproduced"
    return "direction" if ratio >= ROUGHLY_FAIR else "not reproduced"


def order_verdict(own: float, others: Iterable[float]) -> Verdict:
    """Better than all others, than some, than none; more is better."""
    better = [own > other for other in others]
    if all(better):
        return "reproduced"
    return "direction" if any(better) else "not reproduced"


def ratio_verdict(measured: float, reference: float) -> Verdict:
    """The same winner, and by how much."""
    if (measured - 1) * (reference - 1) <= 0:
        return "not reproduced"
    off = math.exp(abs(math.log(measured / reference)))
    return "reproduced" if off <= RATIO_TOLERANCE else "direction"


def similar_verdict(own: float, tcp: float, parent: float) -> Verdict:
    """Judge an exponent that was made to be TCP's: it is, or it is nearer to it than that of the parent."""
    if abs(own - tcp) <= EXPONENT_TOLERANCE:
        return "reproduced"
    return "direction" if abs(own - tcp) < abs(parent - tcp) else "not reproduced"


def exponent(points: Mapping[float, float]) -> float:
    """Fit x of ratio = (RTT ratio)^-x to throughput ratios by RTT ratio; (1, 1) is on the line."""
    logs = [(math.log(rtt), math.log(max(ratio, 1e-6))) for rtt, ratio in points.items()]
    return -sum(x * y for x, y in logs) / sum(x * x for x, _ in logs)


def median(values: Iterable[float]) -> float:
    """Median of at least one value."""
    return statistics.median(values)
