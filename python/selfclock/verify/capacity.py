"""Links with a rate: the integral of the rate, and the packets that it allows."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.verify.specification import SECOND

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Hop, Packet
    from selfclock.verify.specification import Link
    from selfclock.verify.violation import Findings

#: Transmission times are rounded to whole picoseconds.
ROUNDING = 2


class Capacity:
    """What a link can send: the integral of its rate, bits times ps."""

    def __init__(self, path: list[tuple[int, int, int]]) -> None:
        self.since = [since for since, _, _ in path]
        self.rates = [rate for _, rate, _ in path]
        self.before = [0]
        for (start, rate, _), (end, _, _) in pairwise(path):
            self.before.append(self.before[-1] + rate * (end - start))

    def until(self, time: int) -> int:
        """Return the integral from the start of the run to this time."""
        index = bisect_right(self.since, time) - 1
        return self.before[index] + self.rates[index] * (time - self.since[index])

    def rate(self, time: int) -> int:
        """Return the rate at this time."""
        return self.rates[bisect_right(self.since, time) - 1]

    def falls(self, start: int, end: int) -> bool:
        """Whether the rate falls after one time and up to another."""
        first, last = bisect_right(self.since, start), bisect_right(self.since, end)
        return min(self.rates[first:last], default=self.rates[first - 1]) < self.rates[first - 1]


def check_capacity(link: Link, crossings: list[tuple[Packet, Hop]], findings: Findings) -> None:
    """The bits sent are at most the integral of the rate, whatever rate a packet takes.

    Each packet must fit into the integral up to the start of the next. One during which the rate falls may have kept
    the higher rate to its end.
    """
    capacity = Capacity(link.path)
    sent = sorted((hop.started, hop.started_row, packet, hop) for packet, hop in crossings if hop.started is not None)
    for (start, _, _, hop), (end, _, packet, _) in pairwise(sent):
        left = hop.size * 8 * SECOND - (capacity.until(end) - capacity.until(start))
        if left > ROUNDING * capacity.rate(start) and not capacity.falls(start, end):
            findings.add(
                "rate", end, f"link {link.name}", packet.number,
                f"its transmission begins when the rate of the link leaves {left // SECOND} bits of the packet before",
            )  # fmt: skip
