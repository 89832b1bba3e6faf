"""The path of every test: hosts in pairs across one bottleneck, each pair at a distance of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.evaluate.subject import Subject

#: A full packet on the wire: 1448 B of data and 52 B of headers, as the profile `modern` has them.
PACKET_B, SEGMENT_B = 1500, 1448

BOTTLENECK, REVERSE = "bottleneck", "reverse"

#: Every kind of packet that a TCP connection sends.
KINDS = ["data", "ack", "syn", "syn-ack"]

#: Part of the shortest round-trip time that the bottleneck has one way; the rest is on the access links.
BOTTLENECK_PART = 0.3


@dataclass(frozen=True)
class Path:
    """Rate and round-trip time of the empty path."""

    rate_mbps: float
    rtt_ms: float

    def packets(self, bdp: float = 1.0) -> int:
        """Return so many bandwidth-delay products in packets, at least one."""
        return max(1, round(bdp * self.rate_mbps * self.rtt_ms * 1e3 / (8 * PACKET_B)))

    def buffer(self, bdp: float) -> str:
        """Return a queue limit of so many bandwidth-delay products."""
        return f"{self.packets(bdp)} packets"

    @property
    def rtt_s(self) -> float:
        """Round-trip time, seconds."""
        return self.rtt_ms / 1e3

    @property
    def goodput_bps(self) -> float:
        """Payload that the path can carry."""
        return self.rate_mbps * 1e6 * SEGMENT_B / PACKET_B


@dataclass(frozen=True)
class Flow:
    """A sender and its receiver. Without a control it is UDP, and `traffic` says at what rate."""

    control: Mapping[str, object] | None
    transport: Mapping[str, object] = field(default_factory=dict)
    rtt_ms: float | None = None
    start_s: float = 0.0
    #: The start is later by a random time below this.
    jitter_s: float = 0.0
    traffic: Mapping[str, object] | None = None
    name: str = ""


def flow(subject: Subject, size: str | None = None, **more: float) -> Flow:
    """Return a flow of an algorithm: bulk, or of a size such as "100 kB"."""
    return Flow(subject.control, subject.transport, traffic=None if size is None else {"size": size}, **more)  # type: ignore[arg-type]


def scenario(
    name: str,
    path: Path,
    flows: Sequence[Flow],
    *,
    seconds: float,
    queue: str | Mapping[str, object],
    seed: int = 1,
    samples_s: float = 1.0,
    routers: Sequence[Mapping[str, object]] = (),
    link: Mapping[str, object] | None = None,
    reverse: Mapping[str, object] | None = None,
    packets: bool = False,
) -> Scenario:
    """Build it; `link` and `reverse` are further keys of the bottleneck and of the link back."""
    shortest = min([path.rtt_ms, *(each.rtt_ms for each in flows if each.rtt_ms is not None)])
    one_way = BOTTLENECK_PART * shortest
    wire = {"rate": f"{path.rate_mbps:g} Mbps", "delay": _ms(one_way), "duplex": False}
    nodes = ["left", "right"]
    links: list[dict[str, object]] = [
        {"from": "left", "to": "right", "name": BOTTLENECK, **wire, "queue": queue, **(link or {})},
        {"from": "right", "to": "left", "name": REVERSE, **wire, "queue": "unlimited", **(reverse or {})},
    ]
    tables: list[dict[str, object]] = []
    for number, each in enumerate(flows, 1):
        rtt_ms = path.rtt_ms if each.rtt_ms is None else each.rtt_ms
        access = {"rate": f"{100 * path.rate_mbps:g} Mbps", "delay": _ms((rtt_ms / 2 - one_way) / 2),
                  "queue": "unlimited"}  # fmt: skip
        source, sink = f"source{number}", f"sink{number}"
        nodes += [source, sink]
        links += [{"from": source, "to": "left", **access}, {"from": "right", "to": sink, **access}]
        table: dict[str, object] = {
            "name": each.name or f"flow{number}",
            "from": source,
            "to": sink,
            "start": _s(each.start_s),
            "start_jitter": _s(each.jitter_s),
        }
        if each.control is None:
            table["protocol"] = "udp"
        else:
            table["congestion_control"] = dict(each.control)
        if each.traffic is not None:
            table["traffic"] = dict(each.traffic)
        if each.transport:
            table["transport"] = dict(each.transport)
        tables.append(table)
    document: dict[str, object] = {
        "schema": 1,
        "name": name,
        "duration": _s(seconds),
        "seed": seed,
        "network": {"topology": "graph", "nodes": nodes, "link": links},
        "record": {"interval": _s(samples_s), "packets": packets},
        "flow": tables,
    }
    if routers:
        document["router"] = [dict(router) for router in routers]
    return Scenario.parse(to_toml(document), f"evaluation {name}")


def _ms(value: float) -> str:
    return f"{value:.6f} ms"


def _s(value: float) -> str:
    return f"{value:.6f} s"
