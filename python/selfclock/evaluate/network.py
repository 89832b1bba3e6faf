"""The path of every test: pairs of hosts across one bottleneck, each at its own distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from selfclock.scenario import build
from selfclock.scenario.flow import Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, packets, s
from selfclock.scenario.transport import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.evaluate.subject import Subject
    from selfclock.scenario import Scenario
    from selfclock.scenario.flow import Background
    from selfclock.scenario.link import Queue
    from selfclock.scenario.quantity import Packets

#: A full packet on the wire: 1448 B of data and 52 B of headers, as the profile `modern` has them.
PACKET_B, SEGMENT_B = 1500, 1448

#: Random processing time of every sender, against phase effects: up to one service time of the
#: bottleneck (Floyd and Jacobson 1992).
OVERHEAD = packets(1)

BOTTLENECK, REVERSE = "bottleneck", "reverse"

#: Every kind of packet that a TCP connection sends, and a connection of a QUIC stack.
TCP_KINDS, QUIC_KINDS = ["data", "ack", "syn", "syn-ack"], ["datagram", "reply"]


@dataclass(frozen=True)
class Path:
    """Rate and round-trip time of the empty path."""

    rate_mbps: float
    rtt_ms: float

    def buffer(self, bdp: float) -> Packets:
        """Return a queue limit of this many BDP, at least one packet."""
        return build.Path(mbps(self.rate_mbps), ms(self.rtt_ms)).packets(bdp, PACKET_B)

    @property
    def rtt_s(self) -> float:
        """Round-trip time, seconds."""
        return self.rtt_ms / 1e3

    @property
    def goodput_bps(self) -> float:
        """Payload that the path can carry."""
        return self.rate_mbps * 1e6 * SEGMENT_B / PACKET_B


def flow(
    subject: Subject,
    size: str | None = None,
    *,
    rtt_ms: float | None = None,
    start_s: float = 0.0,
    jitter_s: float = 0.0,
    **settings: object,
) -> Flow:
    """Return a flow of an algorithm: bulk, or of a size such as "100 kB"; with further settings of its transport."""
    return Flow(
        subject.control,
        size=size,
        rtt=None if rtt_ms is None else ms(rtt_ms),
        start=s(start_s),
        start_jitter=s(jitter_s),
        transport={**subject.transport, **settings},
    )


def scenario(
    name: str,
    path: Path,
    flows: Sequence[Flow | Background],
    *,
    seconds: float,
    queue: Packets | Queue,
    seed: int = 1,
    samples_s: float = 1.0,
    routers: Sequence[Mapping[str, object]] = (),
    link: Link | None = None,
    reverse: Link | None = None,
    packets: bool = False,
) -> Scenario:
    """Build it; `link` and `reverse` are further settings of the bottleneck and of the link back."""
    rate = mbps(path.rate_mbps)
    network = build.Path(
        replace(link or Link(), rate=rate),
        ms(path.rtt_ms),
        queue=queue,
        reverse=replace(reverse or Link(), rate=rate, queue="unlimited"),
    )
    record = Record(s(samples_s), packets)
    senders = [replace(each, overhead=each.overhead or OVERHEAD) for each in flows]
    return network.scenario(senders, duration=s(seconds), name=name, seed=seed, routers=routers, record=record)
