"""Totals of a run, as `selfclock run --json` prints them; written by tests/generated.py."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SizeClass(TypedDict):
    """Completion times of the short connections in a range of sizes."""

    #: Largest size, bytes; each class begins where the one before ends. Null: any.
    up_to_bytes: int | None
    #: Connections that were completed.
    completed: int
    #: Mean completion time: the last byte is acknowledged.
    mean_s: float
    #: Median.
    p50_s: float
    #: 95th percentile.
    p95_s: float
    #: 99th percentile.
    p99_s: float
    #: Mean time until the last byte of these is delivered to the receiving application.
    delivery_mean_s: float
    #: Median.
    delivery_p50_s: float
    #: 99th percentile.
    delivery_p99_s: float


class ConnectionsSummary(TypedDict):
    """The short connections of a flow."""

    #: Connections that started.
    started: int
    #: Of these, complete at the end of the run.
    completed: int
    #: Payload of those that started, bytes.
    offered_bytes: int
    #: The same per second, from the flow's start to its stop or the end of the run.
    offered_bps: float
    #: Completion times by size, smallest first; without classes in which nothing was completed.
    by_size: list[SizeClass]


class DelaySummary(TypedDict):
    """Times that packets took: one-way delays of a flow, or waits at a link."""

    #: Number of packets.
    packets: int
    #: Mean.
    mean_s: float
    #: Smallest.
    min_s: float
    #: Median; it and the other quantiles are good to 0.8 %, and closer where packets are many.
    p50_s: float
    #: 95th percentile.
    p95_s: float
    #: 99th percentile.
    p99_s: float
    #: 99.9th percentile.
    p999_s: float
    #: Largest.
    max_s: float


class FailureSummary(TypedDict):
    """The failure of a connection of a QUIC stack."""

    #: When one of its ends gave it up.
    time_s: float
    #: Why, as the stack says.
    reason: str


RunFlow = TypedDict(
    "RunFlow",
    {
        #: Name of the flow.
        "name": str,
        #: Its congestion control; "udp" for a UDP source.
        "algorithm": str,
        #: Node that sends data.
        "from": str,
        #: Node that receives it.
        "to": str,
        #: In-order payload delivered to the application, over the time from the flow's start to its
        #: completion or the end of the run.
        "goodput_bps": float,
        #: Everything that arrived at the receiver, headers and repeated segments included, over the
        #: same time.
        "throughput_bps": float,
        #: Segments delivered in order to the application.
        "delivered_segments": int,
        #: Bytes delivered in order to the application.
        "delivered_bytes": int,
        #: Data segments sent, retransmissions included.
        "sent_segments": int,
        #: Of these, retransmissions.
        "retransmitted_segments": int,
        #: Expiries of the retransmission timer.
        "timeouts": int,
        #: Recoveries begun by duplicate or selective acknowledgements.
        "fast_retransmits": int,
        #: Smallest round-trip sample; null without one.
        "rtt_min_s": float | None,
        #: Mean round-trip sample.
        "rtt_mean_s": float | None,
        #: 95th percentile of the round-trip samples, within 1 %.
        "rtt_p95_s": float | None,
        #: Time from the flow's start until its last byte was acknowledged; null if it did not
        #: complete.
        "completion_s": float | None,
        #: Time from a TCP flow's start until its last byte had been delivered to the receiving
        #: application; null if it was not, or if the flow has no size.
        "delivery_s": NotRequired[float | None],
        #: Of a flow that is made of short connections, whose sums are in the fields above; null for
        #: others.
        "connections": ConnectionsSummary | None,
        #: One-way delays of its data packets, from the sender to the arrival of each at the
        #: receiver; only in a run that measures them.
        "delays": NotRequired[DelaySummary],
        #: Of a connection of a foreign stack that ended against its will: when and why. Others
        #: leave it out.
        "failure": NotRequired[FailureSummary],
    },
)


class LinkSummary(TypedDict):
    """Totals of one link."""

    #: Name of the link.
    name: str
    #: Rate of its transmitter at the end of the run.
    rate_bps: int
    #: Fraction of the run in which it was transmitting, weighted by the rate if that changes; with
    #: a trace, of the bytes offered.
    utilization: float
    #: Packets transmitted.
    packets: int
    #: Bytes transmitted.
    bytes: int
    #: Packets dropped by the queue or lost on the wire.
    drops: int
    #: Packets marked congestion-experienced.
    ce_marks: int
    #: Time average of the packets waiting, without the one in service: those that are dropped
    #: later, too.
    queue_mean_packets: float
    #: Most packets that waited at once.
    queue_max_packets: int
    #: Mean waiting time of the packets accepted and not dropped from the queue; of those that wait
    #: at the end of the run, until then.
    queue_mean_s: float
    #: Waiting times of the packets transmitted, until the beginning of their transmission; only in
    #: a run that measures delays.
    waits: NotRequired[DelaySummary]


class RunSummary(TypedDict):
    """Totals of a run other than those of its flows and links."""

    #: Name of the scenario.
    scenario: str
    #: Seed it ran with.
    seed: int
    #: Simulated time.
    simulated_s: float
    #: Events taken from the event queue.
    events: int
    #: Packets that crossed a link, summed over links; data and acknowledgements count.
    packet_hops: int
