"""Thresholds and verdicts, as functions of figures alone."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.claims import Verdict

PAPER = "inline-measurement"

#: "Fully utilizes the physical bandwidth", "regulated to the bandwidth-delay product", "very small"
#: queue.
FULL, WINDOW_TOLERANCE, SMALL_QUEUE = 0.99, 0.02, 0.02

#: "Good adaptability": throughput within 5 % of the available bandwidth 3 s after a change, and the
#: queue within 20 % of equation 14.
ADAPTED, ADAPTED_AFTER_S, QUEUE_TOLERANCE = 0.05, 3.0, 0.20

#: "Almost no packet loss".
ALMOST_NO_LOSS = 1e-4

#: Tolerance of the median error of the estimates of A and K.
ESTIMATE_TOLERANCE = 0.10

#: Tolerances against ns-2: goodput of a period, mean queue, number of cuts.
GOODPUT_TOLERANCE, MEAN_QUEUE_TOLERANCE, CUTS_TOLERANCE = 0.02, 0.10, 1

#: Tolerance of a limit of the model: equation 14, or n (1 - gamma) + gamma.
MODEL_TOLERANCE = 0.05

#: "Faster", "larger", "superior": by at least this fraction.
MARGIN = 0.05

GOOD, FAIR, BAD = "○", "△", "×"


def within(measured: float | None, wanted: float, tolerance: float) -> Verdict:
    """Within the tolerance, within twice the tolerance, or outside."""
    if measured is None:
        return "not reproduced"
    off = abs(measured - wanted) / abs(wanted) if wanted else abs(measured)
    if off <= tolerance * (1 + 1e-9):
        return "reproduced"
    return "direction" if off <= 2 * tolerance else "not reproduced"


def at_most(measured: float, limit: float) -> Verdict:
    """At most a limit, at most twice the limit, or more."""
    if measured <= limit:
        return "reproduced"
    return "direction" if measured <= 2 * limit else "not reproduced"


def at_least(measured: float, limit: float) -> Verdict:
    """At least the limit; short of it by no more than the allowed miss; or by more."""
    if measured >= limit:
        return "reproduced"
    return "direction" if measured >= 1 - 2 * (1 - limit) else "not reproduced"


def if_full(part: float, verdict: Verdict) -> Verdict:
    """A short queue or no loss is nothing on a link that is not used."""
    return verdict if part >= 1 - 2 * (1 - FULL) else "not reproduced"


def order(values: list[float], *, rising: bool, margin: float = MARGIN) -> Verdict:
    """Each value differs from the previous by the margin in the right direction; or the last from the first."""
    if not rising:
        values = values[::-1]
    if all(later > earlier and later >= earlier * (1 + margin) for earlier, later in pairwise(values)):
        return "reproduced"
    first, last = values[0], values[-1]
    return "direction" if last > first and last >= first * (1 + margin) else "not reproduced"


def all_of(*held: bool) -> Verdict:
    """Every part of a statement holds; some parts; none."""
    return "reproduced" if all(held) else "direction" if any(held) else "not reproduced"


def share_of_cells(same: int, cells: int) -> Verdict:
    """Every mark of a table agrees; two thirds agree ("direction"); or fewer."""
    if same == cells:
        return "reproduced"
    return "direction" if 3 * same >= 2 * cells else "not reproduced"


# Table 1: thresholds for the thesis's three marks.


def mark_throughput(part: float) -> str:
    """Throughput as a fraction of the available bandwidth, the lower of two runs."""
    return GOOD if part >= 0.95 else FAIR if part >= 0.8 else BAD


def mark_loss(rate: float) -> str:
    """Dropped packets divided by all packets."""
    return GOOD if rate < 1e-5 else FAIR if rate < 1e-4 else BAD


def mark_parameters(count: int) -> str:
    """Mark for the number of parameters in segments, which must fit the path."""
    return GOOD if count == 0 else FAIR if count == 1 else BAD


def mark_delay(part: float) -> str:
    """Mean queueing delay divided by the propagation RTT."""
    return GOOD if part < 0.1 else FAIR if part < 0.25 else BAD


def mark_response(seconds: float | None) -> str:
    """Time until the throughput has followed an increase of the available bandwidth."""
    return BAD if seconds is None or seconds >= 20 else GOOD if seconds < 3 else FAIR
