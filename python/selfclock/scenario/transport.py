"""Settings of senders and receivers, and of records."""

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

    #: Full segments per ACK.
    every: int | None = None
    #: Longest delay of an ACK.
    timer: Time | str | None = None
    #: Whether the delay counts from the first unacknowledged segment, or follows a free-running
    #: clock.
    clock: Literal["segment", "grid"] | None = None
    #: Quick ACKs, as in Linux: at the beginning, after a pause or a duplicate, and at the end of a
    #: write.
    quick: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {"timer": ((Time,), ())}


@dataclass(frozen=True)
class Timer(Table):
    """Retransmission timer."""

    #: RTO before the first round-trip sample.
    initial: Time | str | None = None
    minimum: Time | str | None = None
    maximum: Time | str | None = None
    #: Clock granularity; "0 s" is exact.
    granularity: Time | str | None = None
    #: Factor applied at each expiry.
    backoff: float | None = None
    #: Expiries for the SYN before the factor applies.
    linear_syn_timeouts: int | None = None
    #: As in Linux, as in RFC 6298, or in whole ticks of the granularity.
    arithmetic: Literal["linux", "rfc6298", "bsd"] | None = None
    #: Which segments are timed.
    samples: Literal["one-at-a-time", "every-segment"] | None = None

    QUANTITIES: ClassVar[Kinds] = dict.fromkeys(("initial", "minimum", "maximum", "granularity"), ((Time,), ()))


@dataclass(frozen=True)
class Shaper(Table):
    """A token bucket that shapes everything a sender sends."""

    #: On the wire.
    rate: Rate | str
    #: Bytes that may leave at once after an idle period.
    burst: Size | str

    QUANTITIES: ClassVar[Kinds] = {"rate": ((Rate,), ()), "burst": ((Size,), ())}


@dataclass(frozen=True)
class Misbehaviour(Table):
    """A receiver that is greedy or broken."""

    #: Sends this many ACKs in place of one for new data.
    ack_parts: int | None = None
    #: Acknowledges gaps, and N segments beyond those that arrived.
    ack_ahead: int | Literal["off"] | None = None
    #: Repeats each ACK N times.
    ack_repeats: int | None = None
    #: Every Nth ACK that carries SACK blocks, discards the data just reported.
    renege_every: int | Literal["off"] | None = None
    #: Multiplies the interval of a pair by this before reporting it.
    interval_factor: float | None = None


@dataclass(frozen=True)
class Transport(Table):
    """Settings of senders and receivers, over those of the profile.

    >>> import selfclock as sc
    >>> sc.Transport(mss=sc.nbytes(1460), recovery="sack", delayed_ack=sc.DelayedAck(every=2, timer="40 ms")).table()
    {'mss': '1.46 kB', 'recovery': 'sack', 'delayed_ack': {'every': 2, 'timer': '40 ms'}}
    """

    #: Payload of a full segment.
    mss: Size | str | None = None
    #: TCP and IP header on the wire, without options.
    header: Size | str | None = None
    #: An ACK on the wire, without data and options.
    ack: Size | str | None = None
    #: Loss recovery; "rack" is RACK-TLP, RFC 8985.
    recovery: Literal["tahoe", "reno", "newreno", "sack", "rack"] | None = None
    #: Proportional rate reduction, RFC 9937.
    prr: bool | None = None
    #: RFC 3042.
    limited_transmit: bool | None = None
    #: No fast retransmit until all data outstanding at the last one is acknowledged, RFC 6582.
    one_recovery_per_window: bool | None = None
    #: Segments, "rfc3390" or "rfc6928".
    initial_window: Segments | str | None = None
    #: Segments, or "unlimited".
    initial_ssthresh: Segments | str | None = None
    #: The window that the receiver advertises: segments, a size, "auto" (as Linux tunes it), or
    #: "unlimited".
    receive_window: Segments | Size | str | None = None
    #: The window scale option.
    window_scaling: bool | None = None
    #: Whether SYN and SYN-ACK precede the first data.
    handshake: bool | None = None
    #: The timestamps option.
    timestamps: bool | None = None
    #: Whether the receiver reports duplicate segments (D-SACK), RFC 2883.
    dsack: bool | None = None
    #: Undo the response to a spurious loss or timeout: by timestamps (RFC 3522), D-SACK (RFC 3708),
    #: F-RTO (RFC 5682).
    undo: bool | None = None
    #: After a timeout, new data before retransmissions; RFC 5682.
    frto: bool | None = None
    #: Timeouts of the SYN after which the initial window is one segment.
    syn_timeouts: int | None = None
    #: Off, RFC 3168, or exact counts of marked bytes.
    ecn: Literal["off", "classic", "accurate"] | None = None
    #: Delayed acknowledgement.
    delayed_ack: DelayedAck | Mapping[str, object] | Literal["off"] | None = None
    #: Retransmission timer.
    timer: Timer | Mapping[str, object] | None = None
    #: Grow the window only while it limits the sender.
    grow_only_when_limited: bool | None = None
    #: Count acknowledged bytes, as in Linux, instead of ACKs.
    byte_counting: bool | None = None
    #: After a pause longer than the RTO, halve the window for each RTO of it, down to the initial
    #: window; RFC 5681, section 4.1, as Linux does. Models are exempt.
    restart_after_idle: bool | None = None
    #: Pace segments at this multiple of window / smoothed round-trip time.
    pacing_gain: float | Literal["off"] | None = None
    #: A paced segment that left late shortens the wait of the next, at most by half, as in Linux.
    pacing_credit: bool | None = None
    #: A leaky bucket.
    shaper: Shaper | Mapping[str, object] | Literal["off"] | None = None
    #: Whether the receiver implements the algorithm's TCP option.
    peer_knows_option: bool | None = None
    #: Misbehaviour of the receiver.
    misbehaviour: Misbehaviour | Mapping[str, object] | None = None
    #: Whether routers can neither read nor change the transport header.
    encrypted: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        **dict.fromkeys(("mss", "header", "ack"), ((Size,), ())),
        "initial_window": ((Segments,), ("rfc3390", "rfc6928")),
        "initial_ssthresh": ((Segments,), ("unlimited",)),
        "receive_window": ((Segments, Size), ("auto", "unlimited")),
    }


@dataclass(frozen=True)
class Record(Table):
    """The records to keep."""

    #: Interval of the sampled series: a time, "auto" or "off".
    interval: Time | str | None = None
    #: Whether every packet is recorded, or a time span in which they are.
    packets: bool | None = None
    packets_from: Time | str | None = None
    packets_until: Time | str | None = None
    #: Payload and TLS secrets of the datagrams of QUIC stacks, for captures.
    payload: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "interval": ((Time,), ("auto", "off")),
        **dict.fromkeys(("packets_from", "packets_until"), ((Time,), ())),
    }
