"""Links with a rate: the integral of the rate, and the packets that it allows."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.verify.specification import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selfclock.verify.packet_lives import Hop, Packet
    from selfclock.verify.specification import Link
    from selfclock.verify.violation import Findings

#: Transmission times are rounded to whole picoseconds.
ROUNDING = 2

LEAVES = "its transmission begins when the rate of the link leaves {} bits of the packet before"


class Capacity:
    """The integral of a link's rate, bits times ps."""

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


def excess(path: list[tuple[int, int, int]], sent: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield each transmission that begins too early, by its place, and what the rate leaves of the one before, in bits.

    Each packet, of a time and a size in bytes, must fit into the integral of the rate up to the
    start of the next. One during which the rate falls may have kept the higher rate to its end.
    """
    capacity = Capacity(path)
    for place, ((start, size), (end, _)) in enumerate(pairwise(sent), 1):
        left = size * 8 * SECOND - (capacity.until(end) - capacity.until(start))
        if left > ROUNDING * capacity.rate(start) and not capacity.falls(start, end):
            yield place, left // SECOND


def check_capacity(link: Link, crossings: list[tuple[Packet, Hop]], findings: Findings) -> None:
    """The bits sent are at most the integral of the rate, whatever rate a packet takes."""
    sent = sorted((hop.started, hop.started_row, packet, hop) for packet, hop in crossings if hop.started is not None)
    for place, left in excess(link.path, ((start, hop.size) for start, _, _, hop in sent)):
        start, _, packet, _ = sent[place]
        findings.add("rate", start, f"link {link.name}", packet.number, LEAVES.format(left))
