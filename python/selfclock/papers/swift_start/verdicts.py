"""Verdicts from figures alone. The rules were written before the first run."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.reproduce import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.reproduce import Verdict

PAPER = "swift-start"

#: "The estimated capacity is the actual capacity".
ESTIMATE_TOLERANCE = 0.01

#: "Its performance does not affected": completion times this close.
SAME_TIME = 0.05

#: "Reaches the link's rate": this part of it; half of it is the direction.
LINK_RATE, PART_OF_LINK_RATE = 0.95, 0.5

#: "High rate at point A, and then decreases": times the mean rate of the rest of the round trip.
BURST, SOME_BURST = 2.0, 1.2


def exact(measured: Sequence[int], printed: Sequence[int]) -> Verdict:
    """Numbers of segments agree or they do not."""
    return "reproduced" if list(measured) == list(printed) else "not reproduced"


def faster(own: float | None, other: float | None) -> Verdict:
    """Judge whether the first of two times is shorter; a transfer that did not end took for ever."""
    if own is None:
        return "not reproduced"
    return "reproduced" if other is None or own < other else "not reproduced"


def order(times: Sequence[float | None]) -> Verdict:
    """Judge whether times increase: all of them, some neighbours, none."""
    pairs = [faster(a, b) == "reproduced" for a, b in pairwise(times)]
    if all(pairs):
        return "reproduced"
    return "direction" if any(pairs) else "not reproduced"


def at_link_rate(part: float) -> Verdict:
    """Judge a rate over that of the link."""
    if part >= LINK_RATE:
        return "reproduced"
    return "direction" if part >= PART_OF_LINK_RATE else "not reproduced"


def burst(ratio: float) -> Verdict:
    """Judge the rate at the beginning of a round trip over that of the rest."""
    if ratio >= BURST:
        return "reproduced"
    return "direction" if ratio >= SOME_BURST else "not reproduced"


def estimate(error: float) -> Verdict:
    """Judge a relative error; a wrong estimate has no direction."""
    return "reproduced" if within(abs(error), 0.0, ESTIMATE_TOLERANCE) else "not reproduced"


def same_time(own: float | None, other: float | None) -> Verdict:
    """Two times agree or they do not."""
    if own is None or other is None:
        return "not reproduced"
    return "reproduced" if within(own / other, 1.0, SAME_TIME) else "not reproduced"
