"""The marks of table 1."""

from __future__ import annotations

#: "Good adaptability": within 5 % of the available bandwidth 3 s after a change.
ADAPTED, ADAPTED_AFTER_S = 0.05, 3.0

#: "Almost no packet loss".
ALMOST_NO_LOSS = 1e-4

GOOD, FAIR, BAD = "○", "△", "×"


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
