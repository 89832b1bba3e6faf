"""Identifiers of the readings in `claims.toml`."""

from __future__ import annotations

#: RD packets, one for this many data packets.
PROPORTIONS = (32, 16, 8, 4, 2)


def one_in(number: int) -> str:
    """Return the identifier of the reading with an RD packet for this many data packets."""
    return f"one-in-{number}"


TIMED, BY_BYTES, WINDOW, ACK_BUCKET = "timed", "by-bytes", "window", "ack-bucket"
COUNTED, FIRST_DATA, FIRST_RATE = "counted", "first-data", "first-rate"
AT_ONCE, RANDOM, APART = "at-once", "random", "apart"
FAST, SLOW = "10-mbps", "1.5-mbps"
OUTER_ELSE, LITERAL, AS_ICC = "outer-else", "literal", "as-icc"
K_100_MS, K_1_S = "k-100-ms", "k-1-s"
SMOOTHED, BASE = "smoothed-rtt", "base-rtt"

#: Readings of table 1, of equation 1's constant and of the edge's round-trip time, unless a
#: mechanism has others.
SETTLED = (OUTER_ELSE, K_100_MS, SMOOTHED)
