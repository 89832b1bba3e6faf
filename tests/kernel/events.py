"""Reads a record's events and decisions, independently of the library: the format is in crates/kernel/src/log.rs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Fields of an event, then of a decision, in the order of the record.
FIELDS = (
    *("id", "now", "number", "applied", "bytes_acked", "pacing", "slot", "flag", "rtt_us", "interval_us", "delivered"),
    *("losses", "prior_delivered", "acked_sacked", "prior_in_flight", "tp_delivered", "tp_delivered_ce", "tp_lost"),
    *("packets_out", "sacked_out", "lost_out", "retrans_out", "cwnd", "ssthresh", "snd_una", "snd_nxt", "srtt_us"),
    *("mss", "snd_wnd", "data_segs_out", "total_retrans", "max_packets_out", "peer_0", "peer_1", "peer_2", "peer_3"),
    *("port", "peer_port", "family", "tcp_header", "kind", "state", "new_state", "retransmits", "app_limited"),
    *("cwnd_limited", "fallback", "ecn"),
    *("decided_cwnd", "decided_ssthresh", "decided_pacing", "decided_flags", "decided_slope"),
)
ACK, MASK = 1, (1 << 64) - 1


def _number(log: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = log[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def events(log: bytes) -> Iterator[dict[str, int]]:
    """Yield every event with its decision. Negative numbers are those of 64 bits."""
    at = 9
    for _ in ("algorithm", "origin"):
        length, at = _number(log, at)
        at += length
    before: dict[int, list[int]] = {}
    while True:
        slot, at = _number(log, at)
        if slot > 0xFFFFFFFF:
            return
        mask, at = _number(log, at)
        fields = before.setdefault(slot, [0] * len(FIELDS))
        for index in range(len(FIELDS)):
            if mask >> index & 1:
                coded, at = _number(log, at)
                fields[index] = fields[index] + (coded >> 1 ^ -(coded & 1)) & MASK
        yield {name: value - (1 << 64) if value >> 63 else value for name, value in zip(FIELDS, fields, strict=True)}


@dataclass(frozen=True)
class Measured:
    """Figures of the ACKs of a connection from a time on."""

    acks: int
    #: Mean of the RTT samples of ACKs, and of the smoothed RTT at the same ACKs, ms.
    rtt_ms: float
    smoothed_ms: float
    #: Segments sent while pacing alone limited the sender, and the number that the decided rates
    #: allow.
    paced: int
    allowed: float

    @property
    def pacing_error(self) -> float:
        """The rate sent relative to the rate decided."""
        return self.paced / self.allowed - 1 if self.allowed else float("nan")


def measure(log: bytes, start: float = 0.0) -> Measured:
    """Measure the first connection of a record from `start` seconds after its first event."""
    own = None
    began = acks = paced = 0
    rtts = smoothed = allowed = 0.0
    last: dict[str, int] | None = None
    for event in events(log):
        if own is None:
            own, began = event["id"], event["now"]
        if event["id"] != own:
            continue
        if event["kind"] != ACK:
            last = None
            continue
        if event["now"] - began >= start * 1e9:
            # As the simulator counts: a duplicate ACK is no sample of its summary.
            if event["rtt_us"] > 0 and last is not None and event["bytes_acked"] > last["bytes_acked"]:
                acks += 1
                rtts += event["rtt_us"]
                smoothed += event["srtt_us"]
            if last is not None and _pacing_limits(last) and _pacing_limits(event):
                paced += event["data_segs_out"] - last["data_segs_out"]
                allowed += last["decided_pacing"] * (event["now"] - last["now"]) * 1e-9 / event["mss"]
        last = event
    return Measured(acks, rtts / max(acks, 1) / 1000, smoothed / max(acks, 1) / 1000, paced, allowed)


def _pacing_limits(event: dict[str, int]) -> bool:
    """Whether only pacing holds data back: open state, room in the window for two segments, data waiting."""
    flight = event["packets_out"] - event["sacked_out"] - event["lost_out"] + event["retrans_out"]
    room = event["decided_cwnd"] - flight >= 4
    return event["state"] == 0 and room and not event["app_limited"] and event["decided_pacing"] > 0
