"""Verdicts from figures alone; each rule is stated in `Claim.criterion`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.claims import Verdict
    from selfclock.papers.intervals import Interval

#: "The queue length will still fluctuate at our target queue length with narrow range": for this
#: fraction of the time.
NEAR_MOSTLY, NEAR_OFTEN = 0.95, 0.8
NEAR_RULE = (
    f"our criterion: within a fifth of 100 packets for {NEAR_MOSTLY:.0%} of 50 to 200 s: reproduced; for "
    f"{NEAR_OFTEN:.0%}: direction"
)

#: "Fairly distributed".
FAIR = 0.99

#: "Significantly improve in throughput": by at least a twentieth.
SIGNIFICANT = 1.05

#: "More regulated": less than half as rough.
REGULAR = 0.5

#: "Repeatedly exceed the buffer size": in this many different seconds of 50 to 200 s; once is not
#: repeatedly.
REPEATED = 10

#: Relative to ns-2's Jain index, a fluid's utilization, and a rate.
JAIN_TOLERANCE, USE_TOLERANCE, RATE_TOLERANCE = 0.02, 0.05, 0.05

#: "As under tail drop": the ratio of drops lies within these bounds.
ALIKE = (0.8, 1.25)


def no_drop_verdict(drops: int, tail_drop: int) -> Verdict:
    """None; a tenth of tail drop's; or more."""
    if drops == 0:
        return "reproduced"
    return "direction" if drops < tail_drop / 10 else "not reproduced"


def near_verdict(near: float) -> Verdict:
    """Judge the fraction of the time near the target."""
    if near >= NEAR_MOSTLY:
        return "reproduced"
    return "direction" if near >= NEAR_OFTEN else "not reproduced"


def fair_verdict(index: float, tail_drop: float) -> Verdict:
    """Fair; fairer than tail drop; or neither."""
    if index > FAIR:
        return "reproduced"
    return "direction" if index > tail_drop else "not reproduced"


def unfair_verdict(index: Interval) -> Verdict:
    """Unfair beyond chance; in the mean; or not."""
    if index.high < FAIR:
        return "reproduced"
    return "direction" if index.mean < FAIR else "not reproduced"


def overflow_verdict(lossy_seconds: int) -> Verdict:
    """Often; more than once; or not."""
    if lossy_seconds >= REPEATED:
        return "reproduced"
    return "direction" if lossy_seconds > 1 else "not reproduced"


def gain_verdict(ratio: Interval) -> Verdict:
    """A significant gain; any beyond chance; or none."""
    if ratio.low >= SIGNIFICANT:
        return "reproduced"
    return "direction" if ratio.low > 1 else "not reproduced"


def regular_verdict(ratio: Interval) -> Verdict:
    """Half as rough; less rough beyond chance; or not."""
    if ratio.high < REGULAR:
        return "reproduced"
    return "direction" if ratio.high < 1 else "not reproduced"


def alike_verdict(ratio: Interval) -> Verdict:
    """The interval lies within the bounds; its mean does; or not."""
    low, high = ALIKE
    if low <= ratio.low and ratio.high <= high:
        return "reproduced"
    return "direction" if low <= ratio.mean <= high else "not reproduced"


def close_verdict(measured: float, reference: float, tolerance: float) -> Verdict:
    """Within the tolerance; within three of them; or further off."""
    off = abs(measured - reference)
    if off <= tolerance * (1 + 1e-9):
        return "reproduced"
    return "direction" if off <= 3 * tolerance else "not reproduced"


def all_verdict(*held: bool) -> Verdict:
    """All conditions hold; at least half of them do; or fewer."""
    if all(held):
        return "reproduced"
    return "direction" if sum(held) * 2 >= len(held) else "not reproduced"
