"""The network of a scenario: its links, and the paths of its flows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class NetworkLink:
    """A one-way link at the beginning of the run."""

    name: str
    #: The nodes that it leaves and enters.
    source: str
    target: str
    #: Rate of the transmitter; the mean rate of its delivery trace, if it has one.
    rate_bps: int
    delay_s: float
    #: The queue limit; both are none if it is unlimited.
    limit_packets: int | None
    limit_bytes: int | None
    discipline: str
    #: Whether its queue can mark packets.
    marks: bool
    #: Whether rate and delay are constant.
    constant: bool
    #: Whether it sends at the opportunities of a delivery trace.
    trace: bool
    #: An additional random delay, below this.
    jitter_s: float
    #: Time, rate in bit/s and delay of each change.
    changes: tuple[tuple[float, int, float], ...]
    #: Router mechanisms before it, by name.
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class NetworkFlow:
    """A flow and its path."""

    name: str
    #: Its algorithm in records; "udp" for UDP.
    algorithm: str
    #: Links of its data, and of its ACKs.
    forward: tuple[NetworkLink, ...]
    reverse: tuple[NetworkLink, ...]
    #: Propagation delay both ways, without transmission times.
    delay_s: float
    #: Earliest start, before a random delay, and latest stop.
    start_s: float
    stop_s: float
    #: Rates of UDP in bit/s on the wire, each from a time on.
    offered: tuple[tuple[float, int], ...]
    #: Payload of a full segment, and its size on the wire; None for UDP.
    payload_bytes: int | None
    packet_bytes: int | None
    #: Short connections that come and go.
    connections: bool

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes on the path of its data, ends included."""
        return [self.forward[0].source, *(link.target for link in self.forward)] if self.forward else []


@dataclass(frozen=True)
class Capacity:
    """Capacity of a bottleneck and its path, in full packets."""

    link: NetworkLink
    #: Rate times base round-trip time.
    bdp_packets: float
    #: The limit of the queue; None without a limit.
    buffer_packets: float | None


@dataclass(frozen=True)
class Network:
    """Nodes, links and flows."""

    nodes: tuple[str, ...]
    links: tuple[NetworkLink, ...]
    flows: tuple[NetworkFlow, ...]
    #: Where its nodes stand in a drawing; `None` if it is too large for one.
    layout: Layout | None

    @classmethod
    def read(cls, document: str) -> Network:
        """Parse the network from the compiled part's JSON text."""
        read = json.loads(document)
        links = tuple(NetworkLink(**_renamed(link)) for link in read["links"])
        flows = (
            NetworkFlow(**flow | {
                "forward": tuple(links[index] for index in flow["forward"]),
                "reverse": tuple(links[index] for index in flow["reverse"]),
                "offered": tuple((time_s, bps) for time_s, bps in flow["offered"]),
            })
            for flow in read["flows"]
        )  # fmt: skip
        layout = read["layout"] and Layout.read(read["layout"])
        return cls(tuple(read["nodes"]), links, tuple(flows), layout)

    def tcp(self) -> tuple[NetworkFlow, ...]:
        """Return the flows that are not UDP."""
        return tuple(flow for flow in self.flows if flow.payload_bytes is not None)

    def tightest(
        self, flows: Iterable[NetworkFlow] | None = None, ceilings: Mapping[str, float] | None = None
    ) -> NetworkLink:
        """Return the link on these flows' data path with the least rate per crossing flow.

        `ceilings` are lower rates that something before a link holds it to, by its name.
        """
        shares = self._shares(ceilings)
        on_the_way = [link for flow in flows or self.flows for link in flow.forward] or list(self.links)
        return min(on_the_way, key=lambda link: shares.get(link.name, float("inf")))

    def bottleneck(self) -> NetworkLink | None:
        """Return the bottleneck of every TCP flow; None if they have none in common.

        The bottleneck of a flow is the link on its data path with the least rate per crossing flow,
        the first of several.
        """
        shares = self._shares()
        found = {
            min(flow.forward, key=lambda link: shares[link.name]).name: flow for flow in self.tcp() if flow.forward
        }
        if len(found) != 1:
            return None
        return next(link for link in self.links if link.name in found)

    def capacity(self) -> Capacity | None:
        """Return the path's capacity; None unless bottleneck, base RTT and packet size are common to all flows."""
        link, flows = self.bottleneck(), self.tcp()
        paths = {(round(flow.delay_s, 12), flow.packet_bytes) for flow in flows}
        constant = all(each.constant for flow in flows for each in (*flow.forward, *flow.reverse))
        if link is None or len(paths) != 1 or not constant:
            return None
        ((delay_s, packet_bytes),) = paths
        packet = float(packet_bytes or 0)
        limit = link.limit_packets if link.limit_bytes is None else link.limit_bytes / packet
        return Capacity(link, link.rate_bps * delay_s / 8 / packet, limit)

    def changed_rates(self, until_s: float) -> dict[str, tuple[int, ...]]:
        """Return the rates of each link whose rate changes up to this time, one after another, bit/s."""
        changed = {}
        for link in self.links:
            rates = [link.rate_bps]
            rates += [rate for at_s, rate, _ in link.changes if at_s <= until_s]
            distinct = tuple(rate for rate, before in zip(rates, [None, *rates], strict=False) if rate != before)
            if len(distinct) > 1:
                changed[link.name] = distinct
        return changed

    def _shares(self, ceilings: Mapping[str, float] | None = None) -> dict[str, float]:
        """The rate of each link that data crosses, per crossing flow."""
        crossing = Counter(link.name for flow in self.flows for link in flow.forward)
        most = ceilings or {}
        return {
            link.name: min(link.rate_bps, most.get(link.name, link.rate_bps)) / crossing[link.name]
            for link in self.links
            if link.name in crossing
        }


def _renamed(link: dict[str, Any]) -> dict[str, Any]:
    named = {{"from": "source", "to": "target"}.get(key, key): value for key, value in link.items()}
    return named | {"changes": tuple(map(tuple, link["changes"])), "mechanisms": tuple(link["mechanisms"])}
