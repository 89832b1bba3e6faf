"""Receivers: ACKs acknowledge what has arrived, nothing else, and in time."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from selfclock.verify.links import seconds
from selfclock.verify.specification import SECOND

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Lives, Packet
    from selfclock.verify.senders import Sender
    from selfclock.verify.specification import Flow, Specification, Tcp
    from selfclock.verify.violation import Findings

#: Most segments for which one ACK stands in packet-pair TCP (section 4.2.1 of the paper).
MOST_PER_ACK = 4
#: Period of the clock of timestamps, ps: "between 1 ms and 1 sec" (RFC 7323, section 5.4).
TIMESTAMP_CLOCK = 10**9
#: The timestamps option, and kind, length and padding of the SACK option and each of its blocks
#: (RFC 7323, RFC 2018), bytes.
TIMESTAMPS, SACK_HEADER, SACK_BLOCK = 12, 4, 8
#: Longest delay of an ACK that follows the gaps between segments (Linux: `TCP_DELACK_MAX`); RFC
#: 5681, section 4.2, allows 500 ms.
LONGEST_DELAY = SECOND // 5
#: A receiver remembers this many reported blocks; beyond that it may forget some that it holds.
REMEMBERED = 4


class Held:
    """The bytes that have arrived: all below `edge`, and ranges beyond it."""

    def __init__(self) -> None:
        self.edge = 0
        #: Starts and ends of the ranges, in order.
        self.starts: list[int] = []
        self.ends: list[int] = []
        #: Segments with new data, and those of them delivered in order.
        self.segments_beyond: list[int] = []
        self.segments = 0
        #: When the edge last advanced.
        self.advanced = 0
        #: The edge at the time from which rates are measured.
        self.edge_before = 0

    @property
    def highest(self) -> int:
        """One past the highest byte held."""
        return self.ends[-1] if self.ends else self.edge

    def discard(self) -> None:
        """Discard data held beyond the edge."""
        self.starts, self.ends, self.segments_beyond = [], [], []

    def take(self, start: int, end: int) -> bool:
        """Take an arriving segment; return whether it was the next in order with nothing held beyond."""
        if end <= self.edge:
            return False
        if start <= self.edge:
            plain = start == self.edge and not self.starts
            self.edge = end
            self.segments += 1
            while self.starts and self.starts[0] <= self.edge:
                self.edge = max(self.edge, self.ends.pop(0))
                self.starts.pop(0)
                self.segments += self.segments_beyond.pop(0)
            return plain
        first = bisect_right(self.ends, start - 1)
        last = first
        count = 1
        while last < len(self.starts) and self.starts[last] <= end:
            if self.starts[last] <= start and end <= self.ends[last]:
                return False
            start, end = min(start, self.starts[last]), max(end, self.ends[last])
            count += self.segments_beyond[last]
            last += 1
        self.starts[first:last], self.ends[first:last], self.segments_beyond[first:last] = [start], [end], [count]
        return False

    def common(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the bytes held of an arriving segment: below the edge, or of the first range that it meets."""
        if start < self.edge:
            return start, min(end, self.edge)
        parts = ((max(start, first), min(end, last)) for first, last in zip(self.starts, self.ends, strict=True))
        return next((part for part in parts if part[0] < part[1]), None)

    def is_run(self, start: int, end: int) -> bool:
        """Whether exactly these bytes are held beyond the edge, without adjacent ones."""
        index = bisect_right(self.starts, start) - 1
        return index >= 0 and self.starts[index] == start and self.ends[index] == end


def check_receivers(
    lives: Lives, specification: Specification, senders: dict[tuple[str, int | None], Sender], findings: Findings
) -> dict[tuple[str, int | None], Held]:
    """Check the ACKs of every receiver; return the data that each has received."""
    held: dict[tuple[str, int | None], Held] = {}
    for key in sorted(lives.sent.keys() | lives.delivered.keys(), key=str):
        flow = specification.flows.get(key[0])
        if flow is not None and flow.tcp is not None:
            gone = senders[key].gone if key in senders else None
            delivered = lives.delivered.get(key, [])
            if gone is not None:
                delivered = [packet for packet in delivered if packet.delivered is not None and packet.delivered < gone]
            receiver = Receiver(flow, flow.tcp, lives.end if gone is None else gone, findings)
            receiver.measure_from = specification.measure_from
            held[key] = receiver.follow(lives.sent.get(key, []), delivered)
    return held


class Receiver:
    """One receiver, replayed."""

    def __init__(self, flow: Flow, tcp: Tcp, end: int, findings: Findings) -> None:
        self.flow, self.tcp, self.end, self.findings = flow, tcp, end, findings
        self.held = Held()
        self.measure_from = 0
        self.now = -1
        #: Number of in-order segments not yet acknowledged, and since when.
        self.pending = 0
        self.pending_since = 0
        #: When an immediate ACK was last due, and the packet that required it.
        self.due: Packet | None = None
        #: Bytes of the last segment that had arrived before, until an ACK reports them.
        self.duplicate: tuple[int, int] | None = None
        #: The timer expires at the time of an arrival, and before it.
        self.timer_first = False
        self.arrivals = self.answers = 0
        #: ACKs still to come of a group sent together; an honest receiver sends one.
        self.numbers: deque[int] = deque()
        self.acknowledged = self.reports = 0
        #: Most ranges held at once since the last time nothing was held.
        self.most_runs = 0
        self.marked = 0
        self.seen_mark = False
        #: Without a handshake there is no timestamp to echo before the first segment in order.
        self.timestamps: set[int] = set() if tcp.handshake else {0}
        #: When the segment left whose timestamp is TS.Recent (RFC 7323, section 4.3).
        self.recent: int | None = None
        #: The last echo.
        self.echoed: int | None = None
        self.most = tcp.ack_every
        if flow.peer_knows_option and flow.uses("packet-pair"):
            # K of RFC 4782 grows with the window and has no bound.
            self.most = sys.maxsize if flow.uses("rfc4782") else max(self.most, MOST_PER_ACK)
        #: Right edge of the window.
        self.right_edge = 0
        #: An algorithm's receiver may postpone the delayed ACK.
        self.restarts_timer = flow.peer_knows_option and flow.uses("modified-swift-start")

    def fault(self, rule: str, time: int, packet: Packet | None, what: str) -> None:
        """Note a violation."""
        self.findings.add(rule, time, f"flow {self.flow.name}", None if packet is None else packet.number, what)

    def follow(self, sent: list[Packet], delivered: list[Packet]) -> Held:
        """Process arrivals and ACKs, instant by instant.

        For several packets that arrive at one instant, the record may show the arrivals first and
        then the responses.
        """
        arrivals = deque(packet for packet in delivered if packet.kind in {"data", "syn"})
        answers = deque(packet for packet in sent if packet.kind in {"ack", "syn-ack"})
        self.findings.count("acknowledgement", len(answers))
        self.findings.count("delayed-ack", len(arrivals))
        while arrivals or answers:
            self.now = min(
                arrivals[0].delivered or 0 if arrivals else self.end,
                answers[0].sent if answers else self.end,
            )
            self.check_due(self.now)
            coming: deque[Packet] = deque()
            while arrivals and arrivals[0].delivered == self.now:
                coming.append(arrivals.popleft())
            # At equal times the timer comes first.
            if coming and self.pending and self.deadline() == self.now and not self.has_hidden_timer:
                self.pending, self.timer_first = 0, True
            while answers and answers[0].sent == self.now:
                answer = answers.popleft()
                if not self.timer_first and self.due is None and coming and not self.was_due(answer, coming[0]):
                    self.on_arrival(coming.popleft())
                while coming and not (self.fits(answer, answers) and not self.is_for(coming[0], answer)):
                    self.on_arrival(coming.popleft())
                self.on_answer(answer)
            while coming:
                self.on_arrival(coming.popleft())
        self.check_due(self.end + 1)
        return self.held

    def fits(self, answer: Packet, following: deque[Packet]) -> bool:
        """Whether an ACK, and those sent with it, acknowledge exactly what has arrived so far."""
        runs = len(self.held.starts)
        held = self.held_blocks(answer)
        blocks = all(self.held.is_run(start, end) for start, end in held)
        numbers = self.numbers or self.next_numbers()
        together = islice(following, len(numbers) - 1)
        return (
            answer.acknowledgement == numbers[0]
            and all(
                other.acknowledgement == number
                for other, number in zip(together, islice(numbers, 1, None), strict=False)
            )
            and blocks
            and (bool(held) == (runs > 0) or not self.tcp.selective)
            and (len(held) < len(answer.sack)) == (self.duplicate is not None)
        )

    def held_blocks(self, answer: Packet) -> list[tuple[int, int]]:
        """Return the SACK blocks without that of a duplicate, which is the first (RFC 2883, section 4)."""
        return answer.sack[1:] if answer.sack and answer.sack[0] == self.duplicate else answer.sack

    def is_for(self, coming: Packet, answer: Packet) -> bool:
        """Whether an ACK of known data belongs to this segment, if none was due before.

        It belongs to a segment that is answered at once without news: a duplicate or, without SACK,
        a segment beyond a gap. With D-SACK a duplicate is news.
        """
        if self.tcp.reports_duplicates and coming.kind == "data":
            common = self.held.common(coming.sequence, coming.end)
            if common is not None:
                return self.due is None and answer.sack[:1] == [common]
        changes_nothing = coming.end <= self.held.edge or (coming.sequence > self.held.edge and not self.tcp.selective)
        return self.due is None and coming.kind == "data" and changes_nothing

    def was_due(self, answer: Packet, coming: Packet) -> bool:
        """Whether a timer that the record does not show made an ACK due just before a segment arrived."""
        return (
            self.has_hidden_timer
            and self.pending > 0
            and coming.sequence == self.held.edge
            and answer.acknowledgement == self.held.edge
        )

    def next_numbers(self) -> deque[int]:
        """Return the acknowledgement numbers expected now: one, or several of a misbehaving receiver.

        Such a receiver divides new data into parts, repeats the last number, or acknowledges
        everything up to the highest byte and some segments beyond.
        """
        tcp, held, before = self.tcp, self.held, self.acknowledged
        ahead = tcp.ack_ahead
        last = held.edge if ahead is None else max(held.highest + ahead * tcp.mss, before)
        parts = max(min(tcp.ack_parts, last - before), 1)
        divided = [before + (last - before) * part // parts for part in range(1, parts + 1)]
        return deque([*divided, *[last] * tcp.ack_repeats])

    def on_arrival(self, packet: Packet) -> None:
        """A packet arrives."""
        if packet.kind == "data":
            self.on_data(packet)
        else:
            self.due = packet
            self.timestamps.add(packet.timestamp or 0)
            self.recent = packet.sent

    def check_due(self, now: int) -> None:
        """Advance to `now`: no ACK may be late."""
        if self.due is not None:
            self.fault(
                "delayed-ack",
                self.now,
                self.due,
                "not answered at once: it is a SYN, out of order, fills a gap, or is one of so many that an "
                "acknowledgement is due",
            )
            self.due = None
        if self.numbers:
            what = f"acknowledgements of {', '.join(map(str, self.numbers))} B were to leave with the ones before"
            self.fault("acknowledgement", self.now, None, what)
            self.numbers.clear()
        if self.timer_first or (self.pending and now > self.deadline() and not self.restarts_timer):
            self.fault(
                "delayed-ack",
                self.deadline(),
                None,
                f"segments have not been acknowledged since {seconds(self.pending_since)}; at "
                f"{seconds(self.deadline())} at the latest they are",
            )
            self.pending, self.timer_first = 0, False

    @property
    def has_hidden_timer(self) -> bool:
        """Whether the record does not tell when exactly the timer expires."""
        return self.restarts_timer or self.tcp.quick_acks

    def deadline(self) -> int:
        """Latest time of the pending ACK."""
        if self.tcp.quick_acks and not self.tcp.ack_grid:
            return self.pending_since + max(self.tcp.ack_timer, LONGEST_DELAY)
        if self.tcp.ack_grid:
            return (self.pending_since // self.tcp.ack_timer + 1) * self.tcp.ack_timer
        return self.pending_since + self.tcp.ack_timer

    def is_old(self, packet: Packet) -> bool:
        """Whether a segment is dropped for its timestamp.

        "If SEG.TSval < TS.Recent [...] the segment is not acceptable" (RFC 7323, section 5.3, R1).
        "If SEG.TSval >= TS.Recent and SEG.SEQ <= Last.ACK.sent, then SEG.TSval is copied to
        TS.Recent" (section 4.3), and what is outside the window was rejected before (R2).
        """
        recent = packet.sent if self.recent is None else self.recent
        if packet.sent >= recent:
            if packet.sequence <= self.acknowledged <= packet.end:
                self.recent = packet.sent
            return False
        late = packet.sent // TIMESTAMP_CLOCK < recent // TIMESTAMP_CLOCK
        return self.tcp.timestamps and late and packet.sequence >= self.held.edge

    def on_data(self, packet: Packet) -> None:
        """A segment arrives."""
        self.arrivals += 1
        if self.is_old(packet):
            self.due = packet
            return
        self.timestamps.add(packet.timestamp or 0)
        if packet.delivered_ecn == "ce":
            self.marked += packet.payload
            self.seen_mark = True
        self.most_runs = max(self.most_runs, len(self.held.starts)) if self.held.starts else 0
        if self.tcp.reports_duplicates:
            self.duplicate = self.held.common(packet.sequence, packet.end)
        edge = self.held.edge
        in_order = self.held.take(packet.sequence, packet.end)
        if self.held.edge > edge:
            self.held.advanced = self.now
            if self.now <= self.measure_from:
                self.held.edge_before = self.held.edge
        if in_order:
            if not self.pending:
                self.pending_since = self.now
            self.pending += 1
            if self.pending >= self.most:
                self.due = packet
        else:
            self.due = packet

    def on_answer(self, answer: Packet) -> None:  # noqa: PLR0912 - one branch for each thing it says
        """An acknowledgement leaves."""
        now, tcp = answer.sent, self.tcp
        first = not self.numbers
        if first:
            self.numbers = deque([self.held.edge]) if answer.kind == "syn-ack" else self.next_numbers()
        expected = self.numbers.popleft()
        if answer.acknowledgement != expected:
            self.fault(
                "acknowledgement",
                now,
                answer,
                f"it acknowledges {answer.acknowledgement} B; what has arrived in order is {self.held.edge} B"
                + (f", and its receiver says {expected} B" if expected != self.held.edge else ""),
            )
            self.numbers.clear()
        blocks = self.held_blocks(answer)
        if len(blocks) < len(answer.sack):
            # "Each duplicate contiguous sequence of data received is reported in at most one D-SACK
            # block."
            self.duplicate = None
        for start, end in blocks:
            if not self.held.is_run(start, end) or start <= answer.acknowledgement:
                runs = ", ".join(f"{a}-{b}" for a, b in zip(self.held.starts, self.held.ends, strict=True)) or "nothing"
                self.fault(
                    "sack", now, answer, f"it reports {start}-{end}; beyond {self.held.edge} B has arrived {runs}"
                )
        if len(set(blocks)) != len(blocks) or (answer.sack and not tcp.selective):
            self.fault(
                "sack",
                now,
                answer,
                f"blocks {answer.sack} from a receiver that {'repeats none' if tcp.selective else 'sends none'}",
            )
        if (
            tcp.selective
            and self.held.starts
            and not answer.sack
            and max(self.most_runs, len(self.held.starts)) <= REMEMBERED
            and answer.acknowledgement == expected
            and answer.kind == "ack"
        ):
            self.fault("sack", now, answer, "no block, though data is held beyond a gap")
        self.answers += answer.kind == "ack" and first
        if self.answers > self.arrivals:
            self.fault(
                "acknowledgement",
                now,
                answer,
                f"it is number {self.answers}, and {self.arrivals} segments have arrived: each is acknowledged once",
            )
            self.answers = self.arrivals
        self.check_window(answer)
        if answer.kind == "ack" and (answer.sent_ecn != "not-ect") != (tcp.ecn == "accurate"):
            # RFC 3168, section 6.1.4: pure ACKs carry no ECT; with accurate feedback they may
            # (draft-ietf-tcpm-generalized-ecn, section 3.2), and do.
            self.fault("mark", now, answer, f"an ACK sent with {answer.sent_ecn}; its ecn is {tcp.ecn!r}")
        if tcp.ecn == "accurate" and answer.marked_bytes != self.marked % 2**32:
            self.fault(
                "mark", now, answer, f"it reports {answer.marked_bytes} B marked; {self.marked} B have arrived marked"
            )
        if answer.ece and not (tcp.ecn == "classic" and self.seen_mark):
            self.fault("mark", now, answer, "it echoes a congestion mark, and none has arrived")
        if tcp.timestamps and answer.echo not in self.timestamps:
            self.fault("timestamp", now, answer, f"it echoes {answer.echo} us; nothing with this has arrived")
        # "If SEG.TSval >= TS.Recent" (RFC 7323, section 4.3), with wraparound.
        if answer.echo is not None and self.echoed is not None and (answer.echo - self.echoed) % 2**32 >= 2**31:
            self.fault("timestamp", now, answer, f"it echoes {answer.echo} us, and {self.echoed} us before")
        self.echoed = answer.echo if tcp.timestamps else None
        self.check_size(answer)
        if self.numbers:
            return
        if answer.kind == "ack":
            self.acknowledged = expected
        if blocks and tcp.renege_every is not None:
            self.reports += 1
            if self.reports % tcp.renege_every == 0:
                self.held.discard()
        if self.timer_first:
            self.timer_first = False
        else:
            self.pending, self.due, self.duplicate = 0, None, None

    def check_window(self, answer: Packet) -> None:
        """Check that the window is within its bounds, and does not shrink.

        "A TCP receiver SHOULD NOT shrink the window, i.e., move the right window edge to the left"
        (RFC 9293, section 3.8.6).
        """
        tcp, window = self.tcp, answer.window
        if tcp.window is None or window is None:
            fits, edge = tcp.window == window, 0
        else:
            edge = answer.acknowledgement + window
            honest = tcp.ack_ahead is None and tcp.renege_every is None
            fits = tcp.window <= window <= (tcp.most_window or window) and (edge >= self.right_edge or not honest)
        if not fits:
            self.fault(
                "receive-window", answer.sent, answer,
                f"it advertises {window} B, up to byte {edge}, and {self.right_edge} before; the receiver's "
                f"window is {tcp.window} B to {tcp.most_window} B",
            )  # fmt: skip
        self.right_edge = max(self.right_edge, edge)

    def check_size(self, answer: Packet) -> None:
        """Check the size on the wire; an option of the algorithm adds its own length."""
        size = self.tcp.ack + (TIMESTAMPS if self.tcp.timestamps else 0)
        size += (SACK_HEADER + SACK_BLOCK * len(answer.sack)) if answer.sack else 0
        if answer.size != size and (answer.option is None or answer.size < size):
            self.fault("size", answer.sent, answer, f"{answer.size} B on the wire; with its options it has {size} B")
