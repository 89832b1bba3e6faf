"""Links that send at the opportunities of a trace: the queue is recomputed, opportunity by opportunity.

The rule is that of Mahimahi's mm-link, whose loop this follows: each opportunity carries 1504
bytes, a packet takes its own size and four bytes of framing and continues with the next opportunity
if one is not enough; the rest of an opportunity is for the packets behind it. An opportunity with
no packet is lost, and a packet that arrives at the time of an opportunity has missed it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from selfclock.verify.specification import SECOND, Link, time_of

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Hop, Packet
    from selfclock.verify.violation import Findings

#: Bytes of an opportunity, and of a packet's framing.
OPPORTUNITY, FRAME = 1504, 4


class Clock:
    """The consecutive opportunities of a link."""

    def __init__(self, link: Link) -> None:
        runs = link.trace.runs if link.trace is not None else []
        self._counts = list(accumulate(count for _, count in runs))
        self._times = [at for at, _ in runs]
        self.number = 0
        self._run = self._begun = 0
        self._base = 0

    @property
    def time(self) -> int:
        """Time of the next opportunity, ps."""
        return self._base + self._times[self._run]

    def step(self) -> None:
        """Advance to the next opportunity."""
        self.number += 1
        if self.number - self._begun == self._counts[self._run]:
            self._run += 1
        if self._run == len(self._counts):
            self._base += self._times[-1]
            self._run, self._begun = 0, self.number

    def ahead(self, many: int) -> int:
        """Return the time of the opportunity this many after the next."""
        periods, rest = divmod(self.number - self._begun + many, self._counts[-1])
        run = next(index for index, count in enumerate(self._counts) if count > rest)
        return self._base + periods * self._times[-1] + self._times[run]


@dataclass
class Job:
    """A packet waiting at the link, or partly transmitted."""

    packet: Packet
    hop: Hop
    left: int = field(init=False)
    began: int | None = None

    def __post_init__(self) -> None:
        """Nothing of it has left yet."""
        self.left = self.hop.size + FRAME

    def take(self, now: int, room: int) -> int:
        """Send as much of it as fits; return the number of bytes."""
        if self.began is None:
            self.began = now
        sent = min(room, self.left)
        self.left -= sent
        self.hop.pieces.append((now, sent))
        if not self.left:
            self.hop.left = now
        return sent


def _at(link: Link) -> str:
    return f"link {link.name}"


def _seconds(span: int) -> str:
    return f"{span / SECOND:.12f} s"


def check_drop_tail(link: Link, crossings: list[tuple[Packet, Hop]], end: int, findings: Findings) -> None:
    """A drop-tail queue is deterministic: drops, marks, and the opportunity of each packet."""
    clock = Clock(link)
    waiting: deque[Job] = deque()
    served: list[Job] = []

    def serve(until: int) -> None:
        while clock.time <= until:
            room = OPPORTUNITY
            while room and waiting:
                room -= waiting[0].take(clock.time, room)
                if not waiting[0].left:
                    served.append(waiting.popleft())
            clock.step()

    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is None:
            continue
        serve(now)
        held = [job.hop.size for job in waiting if job.began is None or link.counts_packet_in_service]
        room = link.limit.has_room(len(held) + 1, sum(held) + hop.size)
        told = f"{len(held)} packets ({sum(held)} B) wait of at most {link.limit}"
        if hop.refused is not None:
            if room and not any(mechanism.may_drop(packet.kind, packet.number, now) for mechanism in link.mechanisms):
                findings.add(
                    "drop", now, _at(link), packet.number, f"dropped, though {told}, and nothing else here may drop it"
                )
            continue
        if not room:
            findings.add("queue-limit", now, _at(link), packet.number, f"taken, though {told}")
        start = clock.ahead(sum(job.left for job in waiting) // OPPORTUNITY)
        _step_marking(link, packet, hop, (len(held), start - now), findings)
        waiting.append(Job(packet, hop))
    serve(end)
    for job in (*served, *waiting):
        if job.hop.started != job.began:
            told = "never begins" if job.hop.started is None else f"begins at {_seconds(job.hop.started)}"
            due = "does not begin in this run" if job.began is None else f"begins at {_seconds(job.began)}"
            findings.add(
                "rate", job.hop.entered, _at(link), job.packet.number,
                f"its transmission {told}; with the opportunities of the trace, first in first out, it {due}",
            )  # fmt: skip


def _step_marking(link: Link, packet: Packet, hop: Hop, queue: tuple[int, int], findings: Findings) -> None:
    """Above the threshold, exactly the ECN-capable packets are marked."""
    packets, wait = queue
    text = link.keys.get("mark_above")
    above = False
    if text is not None:
        number, unit = str(text).split()
        above = packets > int(number) if unit.startswith("packet") else wait > time_of(text)
    if (above and hop.ecn != "not-ect") != (hop.marked is not None):
        findings.add(
            "mark", hop.entered, _at(link), packet.number,
            f"{'marked' if hop.marked is not None else 'not marked'} with {packets} packets and {_seconds(wait)} "
            f"before it; it carries {hop.ecn}, and marks are for what finds more than {text or 'ever'}",
        )  # fmt: skip


def check_managed(link: Link, crossings: list[tuple[Packet, Hop]], end: int, findings: Findings) -> None:
    """A managed queue: one packet leaves at each opportunity while any waits, and none otherwise."""
    clock = Clock(link)
    room = OPPORTUNITY
    sent: list[tuple[int, int, Any, Any]] = sorted(
        (
            (hop.started, hop.started_row, packet, hop)
            for packet, hop in crossings
            if hop.started is not None and hop.entered is not None
        ),
        key=lambda each: each[:2],
    )
    for start, _, packet, hop in sent:
        if clock.time < start and room < OPPORTUNITY:
            # The rest of an opportunity is lost if nothing waits.
            _missed(link, packet, hop, clock.time, findings)
            clock.step()
            room = OPPORTUNITY
        while clock.time < start:
            _missed(link, packet, hop, clock.time, findings)
            clock.step()
        if clock.time != start or hop.entered >= start:
            findings.add(
                "rate", start, _at(link), packet.number,
                f"its transmission begins at {_seconds(start)}; it came at {_seconds(hop.entered)}, and the next "
                f"bytes of an opportunity after that are those of {_seconds(clock.time)}",
            )  # fmt: skip
        job = Job(packet, hop)
        while job.left and clock.time <= end:
            room -= job.take(clock.time, room)
            if not room:
                clock.step()
                room = OPPORTUNITY
    for packet, hop in crossings:
        if hop.entered is not None and hop.started is None and hop.dropped is None:
            while clock.time <= hop.entered:
                clock.step()
            if clock.time <= end:
                findings.add(
                    "rate", hop.entered, _at(link), packet.number,
                    f"it waits for ever, though there is an opportunity at {_seconds(clock.time)}",
                )  # fmt: skip


def _missed(link: Link, packet: Packet, hop: Hop, time: int, findings: Findings) -> None:
    """An opportunity passed unused: the next packet to leave must not have been waiting for it."""
    if hop.entered is not None and hop.entered < time:
        findings.add(
            "rate", time, _at(link), packet.number,
            f"it waited since {_seconds(hop.entered)}, and an opportunity went by without it",
        )  # fmt: skip
