"""Scenarios in Python: a network and the flows on it.

A network (`Path`, `Dumbbell`, `ParkingLot`, `FatTree`, `LeafSpine` or `Graph`) has `Link`s;
`scenario` puts `Flow`s and `Background` on it. The names are those of the keys of a scenario file.
What is built becomes the text of one, `Scenario.text`.

>>> import selfclock as sc
>>> path = sc.Path(sc.mbps(10), sc.ms(40), queue=sc.bdp(1))
>>> scenario = path.scenario([sc.Flow("cubic"), sc.Flow("reno", rtt="80 ms")], duration="10 s")
>>> scenario.link_names[:2]
['bottleneck', 'reverse']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from selfclock._core import ScenarioError
from selfclock.arguments import items
from selfclock.scenario import Scenario
from selfclock.scenario.flow import Background, Flow
from selfclock.scenario.link import Limit, Link, Queue, Router, read_limit
from selfclock.scenario.quantity import Packets, Rate, Time, one, packets
from selfclock.scenario.table import Kinds, Table, plain
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from os import PathLike

    from selfclock.scenario.transport import Record, Transport

#: A flow: the name of its congestion control, or a table with the keys of `[[flow]]`.
AnyFlow = Flow | Background | str | Mapping[str, object]

#: Default ratio of the access links' rate to the bottleneck's: a packet takes a hundredth of the
#: time on them.
ACCESS = 100


@dataclass(frozen=True)
class Network(Table):
    """Nodes and links."""

    TOPOLOGY: ClassVar[str]
    #: Default name of a scenario.
    USUAL_NAME: ClassVar[str]

    def scenario(
        self,
        flows: Iterable[AnyFlow],
        *,
        duration: Time | str,
        measure_from: Time | str | None = None,
        name: str | None = None,
        title: str | None = None,
        seed: int = 1,
        profile: str | None = None,
        routers: Iterable[Router | Mapping[str, object]] = (),
        transport: Transport | Mapping[str, object] | None = None,
        record: Record | Mapping[str, object] | None = None,
        measure_delays: bool | None = None,
    ) -> Scenario:
        """Put flows on the network.

        Goodput, throughput, utilization and mean queues are those from `measure_from` on;
        `measure_delays` gives the quantiles of one-way delays and waits. `routers`, `transport` and
        `record` are as in a scenario file: mechanisms in routers, settings of all senders and
        receivers, and records to keep. Raises a `ScenarioError` that names the key and says what is
        allowed.
        """
        flows, routers = items(flows, "flows"), items(routers, "routers")
        if not flows:
            raise ScenarioError("flows: empty; at least one is needed")
        name = name or self.USUAL_NAME
        network, senders = self._laid([_flow(each, number) for number, each in enumerate(flows)])
        document = {
            "schema": 1,
            "name": name,
            "title": title,
            "duration": str(one(duration, Time, "duration")),
            "measure_from": None if measure_from is None else str(one(measure_from, Time, "measure_from")),
            "measure_delays": measure_delays,
            "seed": seed,
            "profile": profile,
            "network": {"topology": self.TOPOLOGY, **network.table()},
            "router": [plain(router) for router in routers],
            "transport": plain(transport),
            "record": plain(record),
            "flow": senders,
        }
        given = {key: plain(value) for key, value in document.items()}
        return read({key: value for key, value in given.items() if value not in (None, [], {})}, name)

    def _laid(self, flows: Sequence[_Placed]) -> tuple[Network, list[dict[str, object]]]:
        """Return the network with the parts added for the flows, and the flows."""
        for flow, number in flows:
            if getattr(flow, "rtt", None) is not None:
                raise ScenarioError(
                    f"flows[{number}].rtt: only in a Path does a flow have a round-trip time of its own"
                )
        return self, [flow if isinstance(flow, dict) else flow.table() for flow, _ in flows]


#: A flow and its index in the list.
_Placed = tuple[Flow | Background | dict[str, object], int]


def _flow(given: AnyFlow, number: int) -> _Placed:
    match given:
        case Flow() | Background():
            return given, number
        case str():
            return Flow(given), number
        case Mapping():
            return {str(key): plain(value) for key, value in given.items()}, number
    raise ScenarioError(
        f"flows[{number}]: {given!r}; write a Flow, a Background, the name of a congestion control, or a table"
    )


@dataclass(frozen=True)
class Dumbbell(Network):
    """Pairs of hosts across one bottleneck: `source1`, `left`, `right`, `sink1` and so on."""

    TOPOLOGY = USUAL_NAME = "dumbbell"

    #: From left to right.
    bottleneck: Link
    #: Between each source and left, and between right and each sink unless there is a
    #: `sink_access`.
    access: Link
    #: From right to left; by default like the bottleneck.
    reverse: Link | None = None
    sink_access: Link | None = None
    #: Additional delay of each source's links, relative to the previous source.
    access_step: Time | str | None = None
    #: Number of pairs; by default the number of flows.
    hosts: int | None = None

    QUANTITIES: ClassVar[Kinds] = {"access_step": ((Time,), ())}


@dataclass(frozen=True)
class ParkingLot(Network):
    """Bottlenecks in a row: the first flow crosses all of them, each later flow one."""

    TOPOLOGY = USUAL_NAME = "parking-lot"

    #: Number of bottlenecks.
    hops: int
    hop: Link
    access: Link


@dataclass(frozen=True)
class Graph(Network):
    """Links between nodes; a flow takes the route of least propagation delay."""

    TOPOLOGY = USUAL_NAME = "graph"

    links: Sequence[Link]
    #: The nodes in order; by default as the links name them.
    nodes: Sequence[str] | None = None
    #: Among paths of equal delay and length the first, or one by a hash of the flow at each router.
    routing: Literal["shortest", "ecmp"] | None = None

    def table(self) -> dict[str, object]:
        """Return the table of a scenario file."""
        ends = [end for link in self.links for end in link.between or ()]
        return {
            "nodes": list(dict.fromkeys(ends) if self.nodes is None else self.nodes),
            "link": [link.table() for link in self.links],
            **({} if self.routing is None else {"routing": self.routing}),
        }


@dataclass(frozen=True)
class FatTree(Network):
    """A fat tree of switches with `k` ports: k³/4 hosts, and ECMP over its (k/2)² cores.

    Nodes are `host1` and so on, `edge-P-1` and `agg-P-1` in pod P, `core1`. Without `between` flow
    i goes from host i to the host half of all hosts further on.

    >>> import selfclock as sc
    >>> tree = sc.FatTree(4, sc.Link("1 Gbps", sc.us(10), queue="100 packets"))
    >>> tree.scenario(["cubic"] * 16, duration="10 ms").host_names[:2]
    ['host1', 'host9']
    """

    TOPOLOGY = USUAL_NAME = "fat-tree"

    #: Ports of a switch, an even number.
    k: int
    #: Between switches.
    link: Link
    #: Between hosts and their switches; by default as `link`. A host's own queue is unlimited.
    host_link: Link | None = None
    #: Among equal paths one by a hash of the flow at each router, or the first.
    routing: Literal["shortest", "ecmp"] | None = None


@dataclass(frozen=True)
class LeafSpine(Network):
    """Leaves that are linked to every spine, hosts at the leaves, and ECMP.

    Nodes are `spine1`, `leaf1`, `host1` and so on; flows without `between` as in a `FatTree`.
    """

    TOPOLOGY = USUAL_NAME = "leaf-spine"

    leaves: int
    spines: int
    #: At each leaf.
    hosts: int
    #: Between leaves and spines.
    link: Link
    #: Between hosts and their leaves; by default as `link`. A host's own queue is unlimited.
    host_link: Link | None = None
    #: Among equal paths one by a hash of the flow at each router, or the first.
    routing: Literal["shortest", "ecmp"] | None = None


@dataclass(frozen=True)
class Path(Network):
    """Pairs of hosts across one bottleneck, with an RTT per flow.

    Nodes and links are named as in a dumbbell. The round-trip time is that of the empty path
    without transmission times: the `share` of the shortest is the bottleneck's delay each way,
    unless its link says another, and the rest is on the access links, rounded to whole nanoseconds.
    A flow `between` nodes has no hosts of its own.

    >>> import selfclock as sc
    >>> bottleneck = sc.Link("10 Mbps", queue=sc.Queue("codel"), loss=0.01)
    >>> scenario = sc.Path(bottleneck, rtt="40 ms").scenario(["cubic", "bbr3"], duration="5 s")
    >>> scenario.flow_names
    ['flow1', 'flow2']
    """

    TOPOLOGY, USUAL_NAME = "graph", "path"

    #: From left to right: a rate, or a link.
    bottleneck: Link | Rate | str
    #: For flows without their own; by default the shortest RTT of the flows.
    rtt: Time | str | None = None
    #: Of the bottleneck.
    queue: Limit | Queue | Mapping[str, object] | None = None
    #: From right to left; by default like the bottleneck.
    reverse: Link | None = None
    #: Between each source and left, and between right and each sink unless there is a
    #: `sink_access`; by default a hundred times as fast as the bottleneck.
    access: Link | None = None
    sink_access: Link | None = None
    #: The bottleneck's one-way delay as a fraction of the shortest round-trip time.
    share: float = 0.3

    QUANTITIES: ClassVar[Kinds] = {"rtt": ((Time,), ())}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, access in (("access", self.access), ("sink_access", self.sink_access)):
            if access is not None and access.delay is not None:
                raise ScenarioError(f"Path.{name}.delay: leave it out; the round-trip times determine it")
        link = self._link
        object.__setattr__(self, "bottleneck", link if self.queue is None else replace(link, queue=self.queue))

    @property
    def _link(self) -> Link:
        link = self.bottleneck
        return link if isinstance(link, Link) else Link(one(link, Rate, "Path.bottleneck"))

    def _laid(self, flows: Sequence[_Placed]) -> tuple[Network, list[dict[str, object]]]:
        of_flows = [None if isinstance(flow, dict) else flow.rtt for flow, _ in flows]
        given = [one(rtt, Time, "Flow.rtt") for rtt in of_flows if rtt is not None]
        own = min(given) if self.rtt is None and given else one(self.rtt, Time, "Path.rtt")
        rtts = [own if rtt is None else one(rtt, Time, "Flow.rtt") for rtt in of_flows]
        bottleneck = self._link
        one_way = min([own, *rtts]) * self.share
        if bottleneck.delay is None:
            bottleneck = replace(bottleneck, delay=one_way.rounded("ns"))
        else:
            one_way = one(bottleneck.delay, Time, "Link.delay")
        reverse = self.reverse or replace(bottleneck, name="reverse")
        back = one_way if reverse.delay is None or self.reverse is None else one(reverse.delay, Time, "Link.delay")
        rate = reverse.rate if reverse.rate or reverse.delivery_trace else bottleneck.rate
        reverse = replace(reverse, rate=rate, delay=reverse.delay or bottleneck.delay)
        links = [
            replace(bottleneck, between=("left", "right"), name=bottleneck.name or "bottleneck", duplex=False),
            replace(reverse, between=("right", "left"), name=reverse.name or "reverse", duplex=False),
        ]
        senders: list[dict[str, object]] = []
        for (flow, number), rtt in zip(flows, rtts, strict=True):
            table = flow if isinstance(flow, dict) else flow.table()
            if "from" not in table:
                host = number + 1
                ends = f"source{host}", f"sink{host}"
                delay = ((rtt - one_way - back) / 4).rounded("ns")
                if delay.is_negative:
                    raise ScenarioError(
                        f"flows[{number}].rtt: {rtt} is less than the bottleneck's delays, {one_way} and {back} back"
                    )
                links += self._hosts(ends, delay, bottleneck)
                table |= {"from": ends[0], "to": ends[1]}
            senders.append(table)
        nodes = ["left", "right", *(node for link in links[2:] for node in link.between or () if node not in _ROUTERS)]
        return Graph(links, nodes), senders

    def _hosts(self, ends: tuple[str, str], delay: Time, bottleneck: Link) -> list[Link]:
        if self.access is None and bottleneck.rate is None:
            raise ScenarioError(
                'Path.access: the bottleneck has no rate to derive it from; write a Link such as Link("1 Gbps")'
            )
        source = self.access or Link(one(bottleneck.rate, Rate, "Path.bottleneck") * ACCESS)
        source = replace(source, delay=delay, queue=source.queue or "unlimited")
        sink = self.sink_access or source
        sink = replace(sink, delay=delay, queue=sink.queue or "unlimited")
        return [replace(source, between=(ends[0], "left")), replace(sink, between=("right", ends[1]))]

    def packets(self, multiple: float = 1.0, size_bytes: int = 1500) -> Packets:
        """Return this many BDPs in packets of the given wire size, at least one."""
        rate, rtt = one(self._link.rate, Rate, "Path.bottleneck"), one(self.rtt, Time, "Path.rtt")
        return packets(max(1, round(multiple * rate.bps * rtt.seconds / (8 * size_bytes))))


_ROUTERS = ("left", "right")


_PLACE = re.compile(r":\d+:\d+: ")


def read(document: Mapping[str, object], name: str) -> Scenario:
    """Read a document like a scenario file; errors name only the key, because the text is not the user's."""
    source = f"scenario {name!r}"
    try:
        return Scenario.parse(to_toml(document), source)
    except ScenarioError as error:
        first, *excerpt = str(error).split("\n")
        problem = _PLACE.sub("", first.removeprefix(source), count=1).removeprefix(": ")
        allowed = excerpt[-1].rpartition("^ ")[2] if excerpt and "^ " in excerpt[-1] else ""
        raise ScenarioError(f"{problem}; {allowed}" if allowed else problem) from None


def dumbbell(
    bottleneck: Rate | str = "10 Mbps",
    rtt: Time | str = "40 ms",
    buffer: Limit | Queue | Mapping[str, object] = "1 bdp",
    flows: Iterable[AnyFlow] = ("reno",),
    *,
    loss: float = 0.0,
    delivery_trace: str | PathLike[str] | None = None,
    duration: Time | str = "30 s",
    measure_from: Time | str | None = None,
    seed: int = 1,
    profile: str = "modern",
    access: Rate | str | None = None,
    name: str = "dumbbell",
    transport: Transport | Mapping[str, object] | None = None,
    record: Record | Mapping[str, object] | None = None,
    routers: Iterable[Router | Mapping[str, object]] = (),
) -> Scenario:
    """Build pairs of hosts across one bottleneck.

    A flow is the name of a congestion control, a `Flow`, or a table with the keys of `[[flow]]` in
    a scenario file. `rtt` is the round-trip time of an empty network without transmission times:
    three fifths of it on the bottleneck, the rest on the access links, which have a hundred times
    the bottleneck's rate unless `access` says otherwise. `loss` is the probability of random loss
    at the bottleneck. With a `delivery_trace`, the path of a file, the trace determines when the
    bottleneck sends, in both directions; its rate then only sets that of the access links.

    The arguments become the text of a scenario file, which is read like any other: `scenario.text`
    shows it.
    """
    rate, around = one(bottleneck, Rate, "bottleneck"), one(rtt, Time, "rtt")
    limit = buffer if isinstance(buffer, (Queue, Mapping)) else read_limit(buffer, "buffer")
    link = Link(
        rate if delivery_trace is None else None,
        around * 0.3,
        queue=limit,
        loss=loss or None,
        delivery_trace=delivery_trace,
    )
    fast = rate * ACCESS if access is None else one(access, Rate, "access")
    return Dumbbell(link, Link(fast, around * 0.1)).scenario(
        flows,
        duration=duration,
        measure_from=measure_from,
        name=name,
        seed=seed,
        profile=profile,
        routers=routers,
        transport=transport,
        record=record,
    )
