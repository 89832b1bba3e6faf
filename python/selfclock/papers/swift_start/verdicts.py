"""Verdicts as functions of figures alone; `Claim.criterion` states each rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from selfclock.claims import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Verdict

PAPER = "swift-start"

#: "The estimated capacity is the actual capacity".
ESTIMATE_TOLERANCE = 0.01

#: "Neither over estimation nor under estimation": fractions of runs that may be wrong.
FEW_WRONG, SOME_WRONG = 0.01, 0.05

#: "Its performance does not affected": completion times this close.
SAME_TIME = 0.05

#: "Better", "faster", "more": by at least this fraction.
MARGIN = 0.05

#: "Reaches the link's rate": at least this fraction; half the rate counts as the right direction.
LINK_RATE, PART_OF_LINK_RATE = 0.95, 0.5

#: "High rate at point A, and then decreases": multiples of the mean rate in the rest of the round
#: trip.
BURST, SOME_BURST = 2.0, 1.2

FASTER_RULE = f"our criterion: at least {MARGIN:.0%} sooner: reproduced; sooner: direction"
BURST_RULE = f"our criterion: at least {BURST:g} times: reproduced; {SOME_BURST:g} times: direction"


def exact(measured: Sequence[int], printed: Sequence[int]) -> Verdict:
    """Numbers of segments agree or disagree."""
    return "reproduced" if list(measured) == list(printed) else "not reproduced"


def faster(own: float | None, other: float | None) -> Verdict:
    """Judge whether the first of two times is shorter; an incomplete transfer took infinitely long."""
    if own is None:
        return "not reproduced"
    if other is None or own <= other * (1 - MARGIN):
        return "reproduced"
    return "direction" if own < other else "not reproduced"


def more(own: float, other: float) -> Verdict:
    """Judge whether the first of two amounts is larger."""
    if own >= other * (1 + MARGIN):
        return "reproduced"
    return "direction" if own > other else "not reproduced"


def at_link_rate(part: float) -> Verdict:
    """Judge a rate relative to that of the link."""
    if part >= LINK_RATE:
        return "reproduced"
    return "direction" if part >= PART_OF_LINK_RATE else "not reproduced"


def burst(ratio: float) -> Verdict:
    """Judge the rate at the start of a round trip relative to that of the rest."""
    if ratio >= BURST:
        return "reproduced"
    return "direction" if ratio >= SOME_BURST else "not reproduced"


def estimate(error: float | None) -> Verdict:
    """Judge a relative error; a wrong estimate has no direction."""
    return "reproduced" if error is not None and within(abs(error), 0.0, ESTIMATE_TOLERANCE) else "not reproduced"


def seldom_wrong(part: float) -> Verdict:
    """Judge the fraction of wrong estimates."""
    if part <= FEW_WRONG:
        return "reproduced"
    return "direction" if part <= SOME_WRONG else "not reproduced"


def same_time(own: float | None, other: float | None) -> Verdict:
    """Two times agree or disagree."""
    if own is None or other is None:
        return "not reproduced"
    return "reproduced" if within(own / other, 1.0, SAME_TIME) else "not reproduced"


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion."""
    z, part = 1.959964, hits / of
    middle = (part + z * z / 2 / of) / (1 + z * z / of)
    half = z * math.sqrt(part * (1 - part) / of + z * z / 4 / of / of) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)
