"""Senders: permitted data, and permitted retransmissions."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from selfclock.verify.links import EXACT, seconds
from selfclock.verify.receivers import TIMESTAMPS
from selfclock.verify.specification import SECOND, packet_sizes, rate_of, size_of, time_of, transmission_time

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Lives, Packet
    from selfclock.verify.specification import Flow, Specification, Tcp
    from selfclock.verify.violation import Findings

#: Microseconds of timestamps wrap at 32 bits.
MICROSECOND = 10**6


def check_senders(
    lives: Lives, specification: Specification, findings: Findings
) -> dict[tuple[str, int | None], Sender]:
    """Check everything that TCP senders send; return the final state of each."""
    senders: dict[tuple[str, int | None], Sender] = {}
    for key in sorted(lives.sent, key=str):
        flow = specification.flows.get(key[0])
        if flow is None:
            continue
        if flow.stack_packet is not None:
            # A real stack decides for itself what to send.
            continue
        if flow.tcp is None:
            _udp(flow, lives.sent[key], findings)
            continue
        round_trip = sum(specification.links[name].delay for name in (*flow.forward, *flow.reverse))
        changes = any(len(specification.links[name].path) > 1 for name in (*flow.forward, *flow.reverse))
        senders[key] = Sender(flow, flow.tcp, 0 if changes else round_trip, findings)
        senders[key].tampered = _tampered_windows(flow, specification)
        senders[key].follow(lives.sent[key], lives.delivered.get(key, []))
    return senders


def _step_rate(text: str) -> int:
    """Return the rate of a step of a UDP source in bit/s."""
    return 0 if text == "off" else rate_of(text)


def _udp(flow: Flow, sent: list[Packet], findings: Findings) -> None:
    """Check sizes, and the rate if it is constant."""
    sizes = packet_sizes(flow)
    rates = [(0, rate_of(flow.traffic["rate"]))] if "rate" in flow.traffic else []
    rates += [(time_of(step["at"]), _step_rate(step["rate"])) for step in flow.traffic.get("steps", [])]
    fastest = max(rate for _, rate in rates)
    constant = flow.traffic.get("arrivals", "constant") == "constant"
    previous: Packet | None = None
    for packet in sent:
        where = f"flow {flow.name}"
        if packet.size not in sizes:
            findings.add("size", packet.sent, where, packet.number, f"{packet.size} B on the wire; it sends {sizes} B")
        if previous is not None and constant:
            gap = transmission_time(previous.size, fastest)
            if packet.sent < previous.sent + gap - EXACT:
                findings.add(
                    "application",
                    packet.sent,
                    where,
                    packet.number,
                    f"{seconds(packet.sent - previous.sent)} after the last one; at {fastest} bit/s it comes "
                    f"{seconds(gap)} after it",
                )
        _in_time(flow, packet, findings)
        previous = packet
    findings.count("application", len(sent))


def _in_time(flow: Flow, packet: Packet, findings: Findings) -> None:
    if packet.sent < flow.start:
        findings.add(
            "application",
            packet.sent,
            f"flow {flow.name}",
            packet.number,
            f"sent before the flow starts, at {seconds(flow.start)}",
        )


def _tampered_windows(flow: Flow, specification: Specification) -> set[int] | None:
    """Return the windows that routers write into a flow's ACKs; `None` if any lower one is possible."""
    mechanisms = [mechanism for name in flow.reverse for mechanism in specification.links[name].mechanisms]
    if any(mechanism.name == "ficcrd" for mechanism in mechanisms):
        return None
    written = [mechanism.keys["receive_window"] for mechanism in mechanisms if "receive_window" in mechanism.keys]
    return {size_of(window) for window in written}


class Sender:
    """One sender, as far as the record shows it."""

    def __init__(self, flow: Flow, tcp: Tcp, round_trip: int, findings: Findings) -> None:
        self.flow, self.tcp, self.round_trip, self.findings = flow, tcp, round_trip, findings
        self.next = self.una = 0
        self.window = tcp.window
        #: Windows that routers write in place of the receiver's; `None` if they may lower it to any
        #: value.
        self.tampered: set[int] | None = set()
        self.segments = self.repeated = 0
        #: Starts and ends of the outstanding segments, in order, and the last transmission time of
        #: each, by its start.
        self.outstanding: deque[tuple[int, int]] = deque()
        self.sent_at: dict[int, int] = {}
        #: Last indication of a possible loss: a duplicate ACK, a SACK block, or a timeout.
        self.sign = -1
        #: Time and end of the most recently sent segment among those acknowledged: RACK.xmit_ts and
        #: RACK.end_seq of RFC 8985.
        self.latest = (-1, 0)
        #: Bytes sent at the start of the last recovery reported by a duplicate ACK.
        self.recover = 0
        #: Last time at which the retransmission timer was restarted.
        self.progress = 0
        self.established = not tcp.handshake
        self.started: int | None = None
        self.completed: int | None = None
        #: (time, next) and (time, una), for comparison with the series.
        self.next_history: list[tuple[int, int]] = []
        self.una_history: list[tuple[int, int]] = []
        #: Times of duplicate ACKs, marks and retransmissions, after which the window is not the
        #: limit.
        self.trouble: list[tuple[int, int]] = []

    @property
    def gone(self) -> int | None:
        """When the last byte of a short connection was acknowledged. `None` before, and for other flows."""
        if not self.flow.short_connections or self.una < self.next or not self.una_history:
            return None
        return self.una_history[-1][0]

    def fault(self, rule: str, packet: Packet, time: int, what: str) -> None:
        """Note a violation."""
        self.findings.add(rule, time, f"flow {self.flow.name}", packet.number, what)

    def follow(self, sent: list[Packet], delivered: list[Packet]) -> None:
        """Process segments and ACKs in the order of the record."""
        leaving = [(packet.row, packet) for packet in sent if packet.kind in {"data", "syn"}]
        coming = [(packet.delivered_row, packet) for packet in delivered if packet.kind in {"ack", "syn-ack"}]
        for row, packet in sorted(leaving + coming, key=lambda event: event[0]):
            if row != packet.row:
                self.on_answer(packet, packet.delivered or 0)
                continue
            self.started = packet.sent if self.started is None else self.started
            _in_time(self.flow, packet, self.findings)
            if packet.kind == "data":
                self.on_data(packet)
            else:
                self.progress = packet.sent
            self.check_packet(packet)
        for rule in ("sequence", "receive-window", "retransmission", "application"):
            self.findings.count(rule, len(leaving))

    # --- what comes back
    # ---------------------------------------------------------------------------------------------

    def on_answer(self, answer: Packet, now: int) -> None:
        """An acknowledgement arrives."""
        if answer.kind == "syn-ack":
            self.established = True
            self.window = answer.delivered_window
            return
        self.check_window(answer, now)
        if answer.acknowledgement > self.next and self.tcp.ack_ahead is not None:
            # It acknowledges data that has not arrived. The sender ignores ACKs of data that was
            # not sent (RFC 9293).
            return
        if answer.acknowledgement > self.next:
            self.fault(
                "acknowledgement",
                answer,
                now,
                f"it acknowledges {answer.acknowledgement} B, and {self.next} B were sent",
            )
            return
        if answer.acknowledgement < self.una:
            return
        advances = answer.acknowledgement > self.una
        # Of two ACKs with one number the larger window is the later one, because the right edge
        # never moves left; what a router has written holds until the next ACK.
        older = not advances and answer.window == answer.delivered_window and self.window is not None
        grows = self.tcp.window != self.tcp.most_window and older
        self.window = max(self.window or 0, answer.window or 0) if grows else answer.delivered_window
        if not advances or answer.sack:
            self.sign = now
        if not advances or answer.sack or answer.ece or answer.marked_bytes:
            self.trouble.append((now, self.next))
        if advances:
            while self.outstanding and self.outstanding[0][1] <= answer.acknowledgement:
                first, end = self.outstanding.popleft()
                self.latest = max(self.latest, (self.sent_at.pop(first), end))
            self.una = answer.acknowledgement
            self.una_history.append((now, self.una))
            self.progress = now
            size = self.flow.traffic.get("size")
            if isinstance(size, str) and self.una >= size_of(size) and self.completed is None:
                self.completed = now

    def check_window(self, answer: Packet, now: int) -> None:
        """The arriving window is the receiver's, or one that a router may write."""
        window = answer.delivered_window
        if window == answer.window or (self.tampered is not None and window in self.tampered):
            return
        lowers = self.tampered is None and window is not None and (answer.window is None or window < answer.window)
        if not lowers:
            what = f"a router has made the window {window} B of {answer.window} B; routers "
            self.fault(
                "receive-window", answer, now, what + ("lower it" if self.tampered is None else "leave it alone")
            )

    # --- what leaves
    # -------------------------------------------------------------------------------------------------

    def on_data(self, packet: Packet) -> None:
        """A segment leaves."""
        now, tcp = packet.sent, self.tcp
        self.segments += 1
        self.repeated += packet.retransmission
        if not self.established:
            self.fault("sequence", packet, now, "data before the handshake is answered")
        if not 0 < packet.payload <= tcp.mss:
            self.fault("sequence", packet, now, f"{packet.payload} B of payload; a segment has 1 to {tcp.mss} B")
        if packet.sequence >= self.next:
            self.on_new(packet)
        elif not packet.retransmission:
            self.fault(
                "sequence",
                packet,
                now,
                f"bytes {packet.sequence}-{packet.end} count as new; all below {self.next} B have been sent",
            )
        else:
            self.on_again(packet)
        if self.una == self.next - packet.payload and not packet.retransmission:
            self.progress = now

    def on_new(self, packet: Packet) -> None:
        """New data leaves."""
        now = packet.sent
        if packet.sequence != self.next or packet.retransmission:
            self.fault(
                "sequence",
                packet,
                now,
                f"bytes "
                f"{packet.sequence}-{packet.end}{' count as sent before' if packet.retransmission else ''}; "
                f"the next new byte is {self.next}",
            )
        limit = None if self.window is None else self.una + self.window
        # A window with no room for a segment is probed with one byte (RFC 9293, section 3.8.6.1).
        if limit is not None and packet.end > limit and not (packet.payload == 1 and self.una == packet.sequence):
            self.fault("receive-window", packet, now, f"bytes up to {packet.end}; the receiver has room up to {limit}")
        self.next = max(self.next, packet.end)
        self.outstanding.append((packet.sequence, packet.end))
        self.sent_at[packet.sequence] = now
        self.next_history.append((now, self.next))
        produced = self.produced(now)
        if produced is not None and self.next > produced:
            self.fault(
                "application", packet, now, f"bytes up to {packet.end}; the application has written {produced} B"
            )

    def on_again(self, packet: Packet) -> None:
        """Check that there is a reason for a retransmission."""
        now = packet.sent
        self.trouble.append((now, self.next))
        if packet.end <= self.una:
            self.fault(
                "retransmission",
                packet,
                now,
                f"bytes {packet.sequence}-{packet.end}; all below {self.una} are acknowledged",
            )
            return
        first = packet.sequence
        if first == self.una and self.outstanding:
            # The rest of a partly acknowledged segment is retransmitted.
            first = self.outstanding[0][0]
        before = self.sent_at.get(first)
        if before is None:
            self.fault("retransmission", packet, now, f"no segment begins at byte {packet.sequence}")
            return
        self.sent_at[first] = now
        patience = min(self.tcp.rto_minimum, self.tcp.rto_initial) - self.tcp.rto_tick
        rack = self.tcp.recovery == "rack"
        if rack:
            # A tail loss probe after two smoothed round-trip times (RFC 8985, section 7.2).
            patience = min(patience, 2 * self.round_trip)
        # RACK retransmits segments found lost by time without restarting the retransmission timer
        # (RFC 6298, section 5), and a probe leaves at the latest when that timer expires.
        silent = now - (min(self.progress, now) if rack else max(before, min(self.progress, now)))
        told = self.sign
        if silent + EXACT >= patience and first <= self.una:
            # After an RTO, everything outstanding may be retransmitted.
            self.sign = now
        if told >= before and first <= self.una and self.una >= self.recover:
            self.recover = self.next
        # A later segment has arrived, without a SACK block if it was a retransmission: the delayed
        # ACK of a filled hole shows this loss (RFC 8985, section 6.2, step 5).
        overtaken = rack and self.latest > (before, packet.end)
        # NewReno restarts its timer only on the first partial ACK (RFC 6582), so it may expire at
        # any time.
        impatient = self.tcp.recovery == "newreno" and self.una < self.recover
        if impatient and told < before and first <= self.una:
            self.sign = now
        if told >= before or overtaken or impatient:
            return
        self.progress = max(self.progress, now)
        if silent + EXACT < patience:
            self.fault(
                "retransmission",
                packet,
                now,
                f"retransmitted {seconds(now - before)} after it was last sent, and {seconds(silent)} after the "
                f"last sign of life, without a duplicate or selective acknowledgement; the timers wait for "
                f"{seconds(patience)} at least",
            )

    def produced(self, now: int) -> int | None:
        """Return the bytes written by the application so far; `None` if unlimited."""
        traffic: dict[str, Any] = self.flow.traffic
        if self.flow.short_connections:
            return None
        if "size" in traffic:
            return size_of(traffic["size"])
        if "steps" in traffic:
            return self._produced_in_steps(now)
        if "rate" in traffic:
            return self._written(traffic["rate"], now - self.flow.start)
        return None

    def _written(self, rate: str, span: int) -> int:
        """Return the bytes of an application with a rate: a write of whole segments at once, then whenever due."""
        traffic: dict[str, Any] = self.flow.traffic
        segments = -(-size_of(traffic["write"]) // self.tcp.mss) if "write" in traffic else 1
        write = segments * self.tcp.mss
        return (span // max(transmission_time(write, rate_of(rate)), 1) + 1) * write

    def _produced_in_steps(self, now: int) -> int | None:
        """Return the bytes of an application with steps; a bulk period has written what was sent in it."""
        traffic: dict[str, Any] = self.flow.traffic
        start = self.flow.start
        periods = [(start, traffic.get("rate", "bulk"))]
        periods += [(time_of(step["at"]), step["rate"]) for step in traffic["steps"]]
        written = 0
        for place, (begin, rate) in enumerate(periods):
            end = periods[place + 1][0] if place + 1 < len(periods) else None
            if now < begin or (end is not None and end <= start):
                continue
            over = end is not None and end <= now
            if rate == "bulk":
                if not over:
                    return None
                written = max((sent for time, sent in self.next_history if time <= (end or now)), default=0)
            elif rate != "off" and rate_of(rate) > 0:
                last = now if end is None or not over else end - 1
                written += self._written(rate, last - max(begin, start))
        return written

    def check_packet(self, packet: Packet) -> None:
        """Check size, timestamp and codepoint."""
        tcp = self.tcp
        size = (
            packet.payload + (tcp.header if packet.kind == "data" else tcp.ack) + (TIMESTAMPS if tcp.timestamps else 0)
        )
        if packet.size != size and (packet.option is None or packet.size < size):
            self.fault("size", packet, packet.sent, f"{packet.size} B on the wire; with its headers it has {size} B")
        if tcp.timestamps and packet.timestamp != packet.sent // MICROSECOND % 2**32:
            self.fault(
                "timestamp", packet, packet.sent, f"timestamp {packet.timestamp} us at {packet.sent / SECOND:.9f} s"
            )
        capable = packet.sent_ecn != "not-ect"
        # RFC 3168, section 6.1.5, forbids ECT on retransmissions. With accurate feedback all data
        # may carry it (draft-ietf-tcpm-generalized-ecn, section 3.2), and does.
        forbidden = tcp.ecn == "classic" and packet.retransmission
        missing = tcp.ecn == "accurate" and packet.kind == "data" and not capable
        if missing or (forbidden and capable):
            self.fault(
                "mark", packet, packet.sent,
                f"sent with {packet.sent_ecn}; its ecn is {tcp.ecn!r}, and it is "
                f"{'a retransmission' if packet.retransmission else 'new data'}",
            )  # fmt: skip
        if packet.sent_ecn == "ce" or (tcp.ecn == "off" and capable):
            self.fault(
                "mark",
                packet,
                packet.sent,
                f"sent with {packet.sent_ecn}; its ecn is {tcp.ecn!r}, and only queues mark",
            )
