"""Settings of senders and receivers; written by tests/generated.py from the schema of scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from selfclock.scenario.quantity import Rate, Segments, Size, Time
from selfclock.scenario.table import Kinds, Table

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class DelayedAck(Table):
    """Delayed acknowledgement."""

    #: Full segments per ACK. Modern: 2; classic: 1.
    every: int | None = None
    #: Longest delay of an ACK; with `quick` the shortest, which grows with the gaps between
    #: segments, up to the RTT and 200 ms. Modern: "40 ms"; classic: "200 ms".
    timer: Time | str | None = None
    #: Whether the timer starts at the first segment not yet acknowledged, or is a free-running
    #: clock, as in 4.4BSD. Modern: "segment"; classic: "grid".
    clock: Literal["segment", "grid"] | None = None
    #: Quick ACKs, as in Linux: up to 16 segments at the beginning, after a pause and after a
    #: duplicate, two after a mark (`ecn = "classic"`), each segment that opens an autotuned window,
    #: and the end of each write are acknowledged at once. Modern: true; classic: false.
    quick: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "timer": ((Time,), ()),
    }


@dataclass(frozen=True)
class Timer(Table):
    """Retransmission timer."""

    #: Before the first RTT sample; above 0. Modern: "1 s"; classic: "3 s".
    initial: Time | str | None = None
    #: Smallest value. Modern: "200 ms"; classic: "1 s".
    minimum: Time | str | None = None
    #: Largest value, from `minimum`. Modern: "120 s"; classic: "64 s".
    maximum: Time | str | None = None
    #: Clock granularity; 0 is exact, and not for `"bsd"`. Modern: "1 ms"; classic: "500 ms".
    granularity: Time | str | None = None
    #: Factor at each expiry. Default: 2.
    backoff: float | None = None
    #: Expiries for the SYN before the factor applies (Linux: `tcp_syn_linear_timeouts`). Modern: 4;
    #: classic: 0.
    linear_syn_timeouts: int | None = None
    #: As in Linux: SRTT + max(4 RTTVAR, `minimum`), without `granularity`, RTTVAR falls once per
    #: round trip, SACKed segments are timed, too, and a tail loss probe of one segment waits for
    #: `minimum` beyond two round trips; RFC 6298 as written: max(SRTT + max(G, 4 RTTVAR),
    #: `minimum`); or in whole ticks of the granularity, as in 4.3BSD. Modern: "linux"; classic:
    #: "bsd".
    arithmetic: Literal["rfc6298", "linux", "bsd"] | None = None
    #: Which segments are timed for the timer; congestion control gets the RTT of the newest segment
    #: of every ACK. Modern: "every-segment"; classic: "one-at-a-time".
    samples: Literal["one-at-a-time", "every-segment"] | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "initial": ((Time,), ()),
        "minimum": ((Time,), ()),
        "maximum": ((Time,), ()),
        "granularity": ((Time,), ()),
    }


@dataclass(frozen=True)
class Shaper(Table):
    """A leaky bucket that shapes everything a sender sends."""

    #: Rate on the wire.
    rate: Rate | str
    #: Bytes that may leave at once after an idle time.
    burst: Size | str

    QUANTITIES: ClassVar[Kinds] = {
        "rate": ((Rate,), ()),
        "burst": ((Size,), ()),
    }


@dataclass(frozen=True)
class Misbehaviour(Table):
    """A receiver that is greedy or broken."""

    #: ACKs sent in place of one that acknowledges new data. Default: 1.
    ack_parts: int | None = None
    #: Acknowledges data that has not arrived: gaps, and this many segments beyond the last.
    #: Default: "off".
    ack_ahead: int | Literal["off"] | None = None
    #: Copies of each ACK. Default: 0.
    ack_repeats: int | None = None
    #: With every Nth ACK that carries SACK blocks, discards the data just reported (reneging).
    #: Default: "off".
    renege_every: int | Literal["off"] | None = None
    #: Factor on the reported interval of a pair; Quick-Start rates and XCP feedback are divided by
    #: it. Default: 1.
    interval_factor: float | None = None


@dataclass(frozen=True)
class Transport(Table):
    """Settings of senders and receivers, over those of the profile.

    >>> import selfclock as sc
    >>> sc.Transport(mss=sc.nbytes(1460), recovery="sack", delayed_ack=sc.DelayedAck(every=2, timer="40 ms")).table()
    {'mss': '1.46 kB', 'recovery': 'sack', 'delayed_ack': {'every': 2, 'timer': '40 ms'}}
    """

    #: Payload of a full segment, 1 to 65535 B. Modern: "1448 B"; classic: "1000 B".
    mss: Size | str | None = None
    #: TCP and IP header on the wire, without options, at most 65535 B. Default: "40 B".
    header: Size | str | None = None
    #: Size of an ACK on the wire, without data and options, at most 65535 B. Default: "40 B".
    ack: Size | str | None = None
    #: Loss recovery; `"rack"` is SACK with RACK-TLP (RFC 8985): time-based loss detection, tail
    #: loss probes; the loss of a retransmission after a timeout begins a recovery (RFC 5681, 4.3).
    #: Modern: "rack"; classic: "reno".
    recovery: Literal["tahoe", "reno", "newreno", "sack", "rack"] | None = None
    #: Proportional rate reduction, RFC 9937: in a recovery with `"sack"` or `"rack"` the window is
    #: reduced over a round trip, not at once; not for an algorithm that sets its window in recovery
    #: itself (`bbr3`; `selfclock algorithms NAME` says it). Modern: true; classic: false.
    prr: bool | None = None
    #: RFC 3042: a new segment on each of the first two duplicate ACKs. Modern: true; classic:
    #: false.
    limited_transmit: bool | None = None
    #: No fast retransmit until all data outstanding at the last one, or at the last RTO, is
    #: acknowledged (RFC 6582); off: 4.3BSD's Reno. Always on with SACK. Default: true.
    one_recovery_per_window: bool | None = None
    #: Window at the start; RFC 3390: min(4 MSS, max(2 MSS, 4380 B)), RFC 6928: min(10 MSS, max(2
    #: MSS, 14600 B)); one segment after lost SYNs (`syn_timeouts`). Modern: "10 segments"; classic:
    #: "1 segment".
    initial_window: Segments | str | None = None
    #: Slow start threshold at the start. Default: "unlimited".
    initial_ssthresh: Segments | str | None = None
    #: Window that the receiver advertises; `"auto"` grows with what arrives, from 64 KiB in whole
    #: segments to 20 MiB, as Linux tunes it with its default buffers; for a QUIC stack `"auto"` is
    #: no limit. Modern: "auto"; classic: "20 segments".
    receive_window: Size | Segments | str | None = None
    #: Window scale option: without it no more than 65535 bytes can be advertised. Default: true.
    window_scaling: bool | None = None
    #: SYN and SYN-ACK before the first data. Modern: true; classic: false.
    handshake: bool | None = None
    #: Timestamps option: 12 bytes on every segment. Modern: true; classic: false.
    timestamps: bool | None = None
    #: With `"sack"` and `"rack"`, the receiver reports a duplicate segment as the first SACK block
    #: of its ACK (D-SACK, RFC 2883); RACK widens its reordering window by it (RFC 8985, 6.2), and
    #: it shows that a tail loss probe has repaired nothing. Modern: true; classic: false.
    dsack: bool | None = None
    #: Undo the response to a loss or an RTO that proves spurious: by timestamps (the Eifel
    #: algorithm, RFC 3522 and RFC 4015), by D-SACK of every retransmission (RFC 3708), or by F-RTO;
    #: needs one of `timestamps`, `dsack` and `frto`. Not after an ECN mark. Modern: true; classic:
    #: false.
    undo: bool | None = None
    #: After an RTO, the first ACK that advances releases new data instead of retransmissions; if
    #: the next one is of data never retransmitted, the RTO was spurious (F-RTO, RFC 5682). Ignored
    #: without `undo`. Modern: true; classic: false.
    frto: bool | None = None
    #: Timeouts of the SYN after which the initial window is one segment: 1 is RFC 5681, 2 is RFC
    #: 6928 and Linux. With `undo` and timestamps, and more than 1, not if the first SYN was
    #: answered. Modern: 2; classic: 1.
    syn_timeouts: int | None = None
    #: Explicit congestion notification: none, RFC 3168 (ECT on new data only), or exact counts of
    #: marked bytes (ECT on all data and ACKs). Default: "off".
    ecn: Literal["off", "classic", "accurate"] | None = None
    #: Delayed ACKs; `"off"` is `every = 1`. Modern: { every = 2, timer = "40 ms", clock =
    #: "segment", quick = true }; classic: "off".
    delayed_ack: DelayedAck | Mapping[str, object] | Literal["off"] | None = None
    #: Retransmission timer.
    timer: Timer | Mapping[str, object] | None = None
    #: Grow the window only while it limits the sender: in a window of data that has filled it at
    #: least once (Linux: `tcp_cwnd_validate`); in slow start also if more than half of it was in
    #: use (Linux: `tcp_is_cwnd_limited`; RFC 7661, 4.3). A sender held back by pacing or `shaper`
    #: counts as limited if its data would otherwise fill the window (RFC 9002, 7.8) and half of the
    #: window is in use. Modern: true; classic: false.
    grow_only_when_limited: bool | None = None
    #: Slow start and the increase of every window count acknowledged bytes, as in Linux, not ACKs
    #: (RFC 5681); after an RTO slow start adds at most one segment per ACK until everything
    #: outstanding is acknowledged (RFC 3465, section 2.4). Modern: true; classic: false.
    byte_counting: bool | None = None
    #: After a pause longer than the RTO the window is halved for each RTO of the pause, down to the
    #: initial window (RFC 5681, section 4.1; Linux's `tcp_slow_start_after_idle`); models (BBRv3,
    #: Prague, XCP) are exempt. Modern: true; classic: false.
    restart_after_idle: bool | None = None
    #: Pace segments at this multiple of window / smoothed RTT even if the algorithm does not pace.
    #: Default: "off".
    pacing_gain: float | Literal["off"] | None = None
    #: A paced segment that left later than it might have, because it waited for an ACK or for data,
    #: shortens the wait of the next by the delay, at most by half (Linux:
    #: `tcp_update_skb_after_send`). A pacer with a coarse clock has none. Default: false.
    pacing_credit: bool | None = None
    #: A leaky bucket that shapes all of the sender's packets. Default: "off".
    shaper: Shaper | Mapping[str, object] | Literal["off"] | None = None
    #: The receiver supports the algorithm's option; otherwise it ignores it. Default: true.
    peer_knows_option: bool | None = None
    #: Violations by the receiver, to see what it gains by them and what they cost others; an honest
    #: one without it.
    misbehaviour: Misbehaviour | Mapping[str, object] | None = None
    #: Routers can neither read nor change the transport header, as with IPsec and QUIC. Default:
    #: false.
    encrypted: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "mss": ((Size,), ()),
        "header": ((Size,), ()),
        "ack": ((Size,), ()),
        "initial_window": (
            (Segments,),
            (
                "rfc3390",
                "rfc6928",
            ),
        ),
        "initial_ssthresh": ((Segments,), ("unlimited",)),
        "receive_window": (
            (
                Size,
                Segments,
            ),
            (
                "auto",
                "unlimited",
            ),
        ),
    }
