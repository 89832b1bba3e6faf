"""The network of a scenario as the engine runs it: nodes, links with their queues, flows with their routes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class NetworkLink:
    """A one-way link: a queue, a transmitter, a delay line."""

    name: str
    #: Indices of the nodes it leaves and enters.
    start: int
    end: int
    #: Mean rate of the trace, if it has one.
    rate_bps: int
    delay_s: float
    discipline: str
    #: Limit of the queue, in packets or in bytes; both `None`: unlimited.
    limit_packets: int | None
    limit_bytes: int | None
    #: The packet in service takes one of the queue's places.
    counts_packet_in_service: bool
    #: It sends at the opportunities of a delivery trace.
    trace: bool
    #: Further random delay, below this.
    jitter_s: float
    #: Time, rate and delay of each change, in seconds and bit/s.
    changes: tuple[tuple[float, int, float], ...]
    #: Router mechanisms before it.
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class NetworkFlow:
    """A flow, from node to node."""

    name: str
    algorithm: str
    #: Indices of the nodes that send and receive data.
    start: int
    end: int
    #: Indices of the links that data takes, and that acknowledgements take (none for UDP).
    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    #: Short connections that come and go.
    connections: bool


@dataclass(frozen=True)
class Network:
    """Nodes by name, one-way links and flows in the order of the scenario."""

    nodes: tuple[str, ...]
    links: tuple[NetworkLink, ...]
    flows: tuple[NetworkFlow, ...]

    def nodes_of(self, route: tuple[int, ...]) -> list[int]:
        """Return the nodes that a route passes, its ends included."""
        return [self.links[route[0]].start, *(self.links[link].end for link in route)] if route else []


def network_of(scenario: Scenario) -> Network:
    """Return the network of a scenario, with every default filled in.

    >>> import selfclock as sc
    >>> [link.name for link in network_of(sc.dumbbell()).links][:2]
    ['bottleneck', 'reverse']
    """
    document = json.loads(scenario._core.network)  # noqa: SLF001 - the binding's text becomes typed here
    lists = {"changes", "mechanisms", "forward", "reverse"}

    def fixed(row: dict[str, object]) -> dict[str, object]:
        return {key: tuple(map(_tuple, value)) if key in lists else value  # type: ignore[call-overload]
                for key, value in row.items()}  # fmt: skip

    return Network(
        tuple(document["nodes"]),
        tuple(NetworkLink(**fixed(link)) for link in document["links"]),
        tuple(NetworkFlow(**fixed(flow)) for flow in document["flows"]),
    )


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def rate_text(rate_bps: float) -> str:
    """Write a rate: "2.5 Gbit/s".

    >>> rate_text(2_500_000_000), rate_text(384_000)
    ('2.5 Gbit/s', '384 kbit/s')
    """
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate_bps >= factor:
            return f"{rate_bps / factor:.4g} {unit}bit/s"
    return f"{rate_bps:g} bit/s"


def time_text(seconds: float) -> str:
    """Write a time: "12 ms".

    >>> time_text(0.012), time_text(2.0), time_text(0.0)
    ('12 ms', '2 s', '0 s')
    """
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return "0 s"


def size_text(count: int) -> str:
    """Write a size: "64 kB"."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count} B"


def queue_text(link: NetworkLink) -> str:
    """Write a queue: its discipline and its limit; empty for an unlimited drop-tail queue."""
    if link.limit_packets is not None:
        limit = f"{link.limit_packets:,} packet{'' if link.limit_packets == 1 else 's'}"
    elif link.limit_bytes is not None:
        limit = size_text(link.limit_bytes)
    else:
        limit = ""
    return " ".join(filter(None, ("" if link.discipline == "drop-tail" and not limit else link.discipline, limit)))
