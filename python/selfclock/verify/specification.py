"""A scenario's guarantees, parsed from its text a second time.

A verifier that asked the engine for a link's rate would accept the engine's mistakes. So this
module parses the TOML in the record's metadata itself, following the scenario reference: units,
topologies, defaults, routes, queues in bandwidth-delay products. It assumes a scenario that the
engine has accepted, and reads only what the checks need.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from selfclock.verify.data_centre import SHAPES, cables, nodes_of, usual_ends
from selfclock.verify.routes import UnknownRouteError, Ways

#: Times are whole picoseconds, as in the engine.
SECOND = 10**12

_TIME = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "µs": 10**6,  # U+00B5, the micro sign
    "μs": 10**6,  # U+03BC, the Greek letter
    "ms": 10**9,
    "s": SECOND,
    "min": 60 * SECOND,
    "h": 3600 * SECOND,
}
_RATE = {
    f"{prefix}{unit}": factor
    for prefix, factor in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
    for unit in ("bps", "bit/s")
}
_SIZE = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

#: Largest window without the window scale option (RFC 7323, section 1.1).
UNSCALED = 65_535
#: First and largest autotuned window: half of Linux's `tcp_rmem`, of 131072 and 33554432 B.
AUTOTUNED = (65_536, 20_971_520)
#: Packet sizes of `packet = "imix"`.
_IMIX = (40, 576, 1500)


class UnknownError(Exception):
    """The scenario's text has a key or value unknown to this reader."""


def _split(text: str) -> tuple[Fraction, str]:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(\S+)\s*", text)
    if match is None:
        raise UnknownError(f"the scenario says {text!r}, which is not a quantity")
    return Fraction(match[1]), match[2]


def _of(units: dict[str, int], text: str) -> int:
    """Return a quantity as a whole number of its smallest unit, rounded to the nearest."""
    number, unit = _split(text)
    if unit not in units:
        raise UnknownError(f"the scenario says {text!r}, whose unit is not one of {', '.join(units)}")
    return int(number * units[unit] + Fraction(1, 2))


@cache
def time_of(text: str) -> int:
    """Return a time in picoseconds."""
    return _of(_TIME, text)


@cache
def rate_of(text: str) -> int:
    """Return a rate in bit/s."""
    return _of(_RATE, text)


@cache
def size_of(text: str) -> int:
    """Return a size in bytes."""
    return _of(_SIZE, text)


def transmission_time(size: int, rate: int) -> int:
    """Return the transmission time of this many bytes at a rate in bit/s: picoseconds, rounded to the nearest."""
    return (size * 8 * SECOND + rate // 2) // rate


def transmission_bytes(rate: int, span: int) -> int:
    """Return the whole bytes that a rate in bit/s offers in a time in ps."""
    return rate * span // (8 * SECOND)


@dataclass(frozen=True)
class Limit:
    """A queue limit: packets, bytes, or neither."""

    packets: int | None = None
    bytes: int | None = None

    def has_room(self, packets: int, size: int) -> bool:
        """Return whether this many packets, with this many bytes in total, may wait."""
        return (self.packets is None or packets <= self.packets) and (self.bytes is None or size <= self.bytes)

    def __str__(self) -> str:
        return "any number" if self.packets is self.bytes else _count(self)


def _count(limit: Limit) -> str:
    return f"{limit.packets} packets" if limit.packets is not None else f"{limit.bytes} B"


@dataclass
class Mechanism:
    """A mechanism of a router, as configured."""

    name: str
    keys: dict[str, Any]
    #: Indices of the packets due to be lost; `None` if loss is random, or cannot be predicted.
    due: set[int] | None = None

    @property
    def may_hold(self) -> bool:
        """Whether a packet may wait in it."""
        return self.name in {"ack-thinning", "forwarding-limit", "reordering"} or (
            self.name == "ficcrd" and self.keys.get("feedback") == "ack-bucket"
        )

    @property
    def exchanges_options(self) -> bool:
        """Whether it changes the options of packets that it only forwards."""
        return self.name == "tampering" and self.keys.get("options", "none") != "none"

    def is_on(self, kind: str, now: int) -> bool:
        """Whether it now drops packets of this kind (`"loss"`) when they are due."""
        begins, ends = time_of(self.keys.get("from", "0 s")), self.keys.get("until")
        return kind in self.keys["kinds"] and begins <= now and (ends is None or now < time_of(ends))

    def may_drop(self, kind: str, number: int, now: int) -> bool:
        """Whether it may drop a packet of this kind and index now."""
        match self.name:
            case "policer" | "csfq":
                return True
            case "loss":
                if self.due is not None:
                    return number in self.due
                return self.is_on(kind, now) and float(self.keys.get("probability", 1)) > 0
            case "ack-thinning":
                return kind == "ack"
            case "forwarding-limit":
                return str(self.keys.get("limit", "unlimited")) != "unlimited"
        return False


@dataclass(frozen=True)
class Trace:
    """The opportunities of a delivery trace: times from its start, ps, and the number at each."""

    runs: list[tuple[int, int]]

    @property
    def rate(self) -> int:
        """Mean rate in packets of 1500 B, bit/s, rounded to the nearest and at least 1."""
        bits, period = sum(count for _, count in self.runs) * 12_000 * SECOND, self.runs[-1][0]
        return max((2 * bits + period) // (2 * period), 1)

    def offered(self, now: int) -> int:
        """Return the number of opportunities up to this time."""
        periods, rest = divmod(now, self.runs[-1][0])
        return periods * sum(count for _, count in self.runs) + sum(count for at, count in self.runs if at <= rest)


@dataclass
class Link:
    """A one-way link."""

    name: str
    start: str
    end: str
    #: (start in ps, rate in bit/s, delay in ps); the first entry starts the run.
    path: list[tuple[int, int, int]]
    discipline: str
    keys: dict[str, Any]
    limit_text: str
    counts_packet_in_service: bool
    loss: dict[str, float] | None
    jitter: int
    coalescing: int
    #: The most packets on it, waiting and on the wire.
    total_limit: int | None = None
    trace: Trace | None = None
    #: Bytes of its token bucket, and the rate of packets that have their tokens.
    burst: int | None = None
    peak_rate: int | None = None
    limit: Limit = field(default_factory=Limit)
    #: Whether packets end their route behind it, where a network card delivers them.
    enters_host: bool = False
    mechanisms: list[Mechanism] = field(default_factory=list)

    @property
    def delay(self) -> int:
        """Initial propagation delay, ps."""
        return self.path[0][2]

    def at(self, now: int) -> tuple[int, int]:
        """Return rate and delay at this time."""
        index = bisect_right(self.path, now, key=lambda change: change[0])
        return self.path[max(0, index - 1)][1:]

    @property
    def may_lose(self) -> bool:
        """Whether packets can be lost on its wire."""
        return self.loss is not None and any(
            self.loss.get(key, default) > 0 for key, default in (("probability", 0), ("loss_good", 0), ("loss_bad", 1))
        )

    @property
    def marks(self) -> bool:
        """Whether its queue may mark packets."""
        if self.discipline == "drop-tail":
            return "mark_above" in self.keys
        return self.discipline == "dualpi2" or (self.discipline != "drr" and bool(self.keys.get("ecn", True)))


@dataclass(frozen=True)
class Tcp:
    """A flow's transport settings used by the checks."""

    mss: int
    header: int
    ack: int
    recovery: str
    dsack: bool
    handshake: bool
    timestamps: bool
    ecn: str
    #: Bytes that the receiver advertises first, and at most; `None` if unlimited.
    window: int | None
    most_window: int | None
    ack_every: int
    ack_timer: int
    ack_grid: bool
    #: The receiver may acknowledge sooner, and as Linux adapts its timer.
    quick_acks: bool
    rto_minimum: int
    rto_initial: int
    rto_tick: int
    #: The receiver's violations: parts and copies of each ACK, the number of segments acknowledged
    #: before arrival (`None` if none), and N if it reneges at every Nth report.
    ack_parts: int
    ack_repeats: int
    ack_ahead: int | None
    renege_every: int | None

    @property
    def selective(self) -> bool:
        """Whether the receiver sends SACK blocks. One that acknowledges gaps conceals them."""
        return self.recovery in {"sack", "rack"} and self.ack_ahead is None

    @property
    def reports_duplicates(self) -> bool:
        """Whether the receiver reports duplicate segments (D-SACK, RFC 2883)."""
        return self.dsack and self.selective

    @property
    def full_size(self) -> int:
        """Size of a full segment on the wire, without the options of the algorithm."""
        return self.mss + self.header + (12 if self.timestamps else 0)


@dataclass
class Flow:
    """A flow."""

    name: str
    start_node: str
    end_node: str
    start: int
    start_jitter: int
    #: Upper bound of its packets' processing time at the sender, as written.
    overhead: str
    stop: int | None
    control: str
    traffic: dict[str, Any]
    #: `None` for UDP, or a QUIC stack.
    tcp: Tcp | None
    peer_knows_option: bool
    #: Wire size of a QUIC stack's full packet; `None` for TCP, or UDP with a rate.
    stack_packet: int | None = None
    forward: list[str] = field(default_factory=list)
    reverse: list[str] = field(default_factory=list)
    #: Routers that data passes, as written.
    route: list[str] = field(default_factory=list)

    @property
    def short_connections(self) -> bool:
        """Whether it represents many short connections."""
        return self.tcp is not None and ("load" in self.traffic or "interval" in self.traffic)

    def uses(self, algorithm: str) -> bool:
        """Whether this algorithm is part of its congestion control."""
        return re.search(rf"(?<![\w-]){re.escape(algorithm)}(?![\w-])", self.control) is not None


@dataclass
class Specification:
    """A scenario."""

    duration: int
    seed: int
    links: dict[str, Link]
    flows: dict[str, Flow]
    #: Rates, utilization and mean queues are those from this time on, ps.
    measure_from: int = 0

    @property
    def exchanges_options(self) -> bool:
        """Whether a router changes options that it should only forward."""
        return any(mechanism.exchanges_options for link in self.links.values() for mechanism in link.mechanisms)


def specification(text: str, seed: int) -> Specification:
    """Read the text of a scenario."""
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
        return _promise(document, seed)
    except UnknownRouteError as error:
        raise UnknownError(str(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnknownError(f"the scenario's text cannot be read: {error!r}") from error


def _promise(document: dict[str, Any], seed: int) -> Specification:
    classic = document.get("profile", "modern") == "classic"
    flows = _flows(document, classic)
    links = _links(document["network"], classic, len(flows))
    # A link's card coalesces only where packets end their route.
    network = document["network"]
    usual = "ecmp" if network["topology"] in SHAPES else "shortest"
    spreads = network.get("routing", usual) == "ecmp"
    ways = Ways(links, nodes_of(network))
    crossing: dict[str, list[Flow]] = {name: [] for name in links}
    for flow in flows.values():
        number = 2 * list(flows).index(flow.name)
        flow.forward = ways.between(flow.start_node, flow.end_node, number if spreads else None)
        flow.reverse = ways.between(flow.end_node, flow.start_node, number + 1 if spreads else None)
        if flow.route:
            stops = [flow.start_node, *flow.route, flow.end_node]
            flow.forward = ways.through(stops) or flow.forward
            flow.reverse = ways.through(stops[::-1]) or flow.reverse
        for name in {*flow.forward, *flow.reverse}:
            crossing[name].append(flow)
        for way in (flow.forward, flow.reverse):
            links[way[-1]].enters_host = True
    for flow in flows.values():
        first = links[flow.forward[0]]
        first.jitter = max(first.jitter, _overhead(flow, links))
    for link in links.values():
        link.limit = _limit(link, links, crossing[link.name])
    for router in document.get("router", []):
        name = _known("router mechanism", router["mechanism"], MECHANISMS)
        before = router.get("links", [])
        if name == "ficcrd":
            before = [link.name for link in links.values() if link.start in router["nodes"]]
        mechanism = Mechanism(name, router)
        for link_name in before:
            links[link_name].mechanisms.append(mechanism)
    measure_from = time_of(document.get("measure_from", "0 s"))
    return Specification(time_of(document["duration"]), seed, links, flows, measure_from)


# --- flows
# ----------------------------------------------------------------------------------------------------------


def _flows(document: dict[str, Any], classic: bool) -> dict[str, Flow]:
    network = document["network"]
    flows: dict[str, Flow] = {}
    total = sum(flow.get("count", 1) for flow in document["flow"])
    for position, written in enumerate(document["flow"], 1):
        count = written.get("count", 1)
        base = written.get("name", f"flow{position}")
        for copy in range(1, count + 1):
            name = f"{base}-{copy}" if count > 1 else base
            host = _host(network, len(flows), total)
            udp = written.get("protocol", "tcp") == "udp"
            stack = _names_a_stack(written)
            traffic = written.get("traffic", "bulk")
            transport = [document.get("transport", {}), written.get("transport", {})]
            knows = [layer["peer_knows_option"] for layer in transport if "peer_knows_option" in layer]
            flows[name] = Flow(
                name=name,
                start_node=written.get("from", usual_ends(network, len(flows), host)[0]),
                end_node=written.get("to", usual_ends(network, len(flows), host)[1]),
                route=list(written.get("route", [])),
                start=time_of(written.get("start", "0 s")),
                start_jitter=time_of(written.get("start_jitter", "0 s")),
                overhead=written.get("overhead", "0 s"),
                stop=time_of(written["stop"]) if "stop" in written else None,
                control=repr(written.get("congestion_control", "reno")),
                traffic=traffic if isinstance(traffic, dict) else {},
                tcp=None if udp or stack else _tcp(classic, transport),
                peer_knows_option=knows[-1] if knows else True,
                stack_packet=_tcp(classic, transport).full_size if stack else None,
            )
    return flows


def _names_a_stack(flow: dict[str, Any]) -> bool:
    control = flow.get("congestion_control", "")
    if isinstance(control, dict):
        return "stack" in flow or "stack" in control
    return "stack" in flow or re.search("[:@]", control) is not None


def _host(network: dict[str, Any], flow: int, flows: int) -> int | None:
    match network["topology"]:
        case "dumbbell":
            return flow % int(network.get("hosts", flows)) + 1
        case "parking-lot":
            return flow % (int(network["hops"]) + 1)
    return None


def _tcp(classic: bool, layers: list[dict[str, Any]]) -> Tcp:
    profile: dict[str, Any] = {
        "mss": "1000 B" if classic else "1448 B",
        "header": "40 B",
        "ack": "40 B",
        "recovery": "reno" if classic else "rack",
        "dsack": not classic,
        "receive_window": "20 segments" if classic else "auto",
        "window_scaling": True,
        "handshake": not classic,
        "timestamps": not classic,
        "ecn": "off",
    }
    acks: dict[str, Any] = (
        {"every": 1, "timer": "200 ms", "clock": "grid", "quick": False}
        if classic
        else {"every": 2, "timer": "40 ms", "clock": "segment", "quick": True}
    )
    timer: dict[str, str] = (
        {"initial": "3 s", "minimum": "1 s", "granularity": "500 ms", "arithmetic": "bsd"}
        if classic
        else {"initial": "1 s", "minimum": "200 ms", "granularity": "1 ms", "arithmetic": "linux"}
    )
    misbehaviour: dict[str, Any] = {}
    for layer in layers:
        profile.update(layer)
        misbehaviour.update(layer.get("misbehaviour", {}))
        delayed = layer.get("delayed_ack", {})
        acks.update({"every": 1} if delayed == "off" else delayed)
        timer.update(layer.get("timer", {}))
    mss = size_of(profile["mss"])
    window, most_window = _windows(profile["receive_window"], mss)
    if not profile["window_scaling"]:
        window, most_window = (min(size or UNSCALED, UNSCALED) for size in (window, most_window))
    return Tcp(
        mss=mss,
        header=size_of(profile["header"]),
        ack=size_of(profile["ack"]),
        recovery=profile["recovery"],
        dsack=profile["dsack"],
        handshake=profile["handshake"],
        timestamps=profile["timestamps"],
        ecn=profile["ecn"],
        window=window,
        most_window=most_window,
        ack_every=int(acks["every"]),
        ack_timer=time_of(str(acks["timer"])),
        ack_grid=acks["clock"] == "grid",
        quick_acks=bool(acks["quick"]),
        rto_minimum=time_of(timer["minimum"]),
        rto_initial=time_of(timer["initial"]),
        rto_tick=time_of(timer["granularity"]) if timer["arithmetic"] == "bsd" else 0,
        ack_parts=misbehaviour.get("ack_parts", 1),
        ack_repeats=misbehaviour.get("ack_repeats", 0),
        ack_ahead=_or_off(misbehaviour.get("ack_ahead", "off")),
        renege_every=_or_off(misbehaviour.get("renege_every", "off")),
    )


def _or_off(value: int | str) -> int | None:
    return None if value == "off" else int(value)


def _windows(text: str, mss: int) -> tuple[int | None, int | None]:
    """Return the first and the largest window."""
    if text == "unlimited":
        return None, None
    if text == "auto":
        first, most = AUTOTUNED
        return max(first // mss * mss, mss), most
    number, unit = _split(text)
    window = int(float(number) * mss) if unit.startswith("segment") else size_of(text)
    return window, window


# --- network
# --------------------------------------------------------------------------------------------------------


def _links(network: dict[str, Any], classic: bool, flows: int) -> dict[str, Link]:
    links: dict[str, Link] = {}

    def add(
        name: str, start: str, end: str, wire: dict[str, Any], queue: str = "unlimited", longer_by: int = 0
    ) -> None:
        link = _link(name, start, end, wire, queue, classic)
        links[name] = replace(link, path=[(at, rate, delay + longer_by) for at, rate, delay in link.path])

    def cable(a: str, b: str, wire: dict[str, Any], longer_by: int = 0) -> None:
        add(f"{a}-{b}", a, b, wire, longer_by=longer_by)
        add(f"{b}-{a}", b, a, wire, longer_by=longer_by)

    match network["topology"]:
        case "dumbbell":
            add("bottleneck", "left", "right", network["bottleneck"], "1 bdp")
            add("reverse", "right", "left", network.get("reverse", network["bottleneck"]), "1 bdp")
            step = time_of(network.get("access_step", "0 s"))
            for host in range(1, int(network.get("hosts", flows)) + 1):
                cable(f"source{host}", "left", network["access"], (host - 1) * step)
                cable("right", f"sink{host}", network.get("sink_access", network["access"]))
        case "parking-lot":
            hops = int(network["hops"])
            for hop in range(1, hops + 1):
                near, far = f"router{hop - 1}", f"router{hop}"
                add(f"hop{hop}", near, far, network["hop"], "1 bdp")
                add(f"hop{hop}-reverse", far, near, network["hop"], "1 bdp")
            for pair in range(hops + 1):
                first, last = (0, hops) if pair == 0 else (pair - 1, pair)
                cable(f"source{pair}", f"router{first}", network["access"])
                cable(f"router{last}", f"sink{pair}", network["access"])
        case "fat-tree" | "leaf-spine":
            own = network.get("host_link", network["link"])
            for a, b in cables(network):
                host = a.startswith("host")
                wire = own if host else network["link"]
                # A host's own queue has no limit.
                to_switch = {key: value for key, value in wire.items() if key != "queue"} if host else wire
                add(f"{a}-{b}", a, b, to_switch, "unlimited" if host else "1 bdp")
                add(f"{b}-{a}", b, a, wire, "1 bdp")
        case "graph":
            for wire in network["link"]:
                start, end = wire["from"], wire["to"]
                name = wire.get("name", f"{start}-{end}")
                add(name, start, end, wire, "1 bdp")
                if wire.get("duplex", True):
                    other = f"{name}-reverse" if "name" in wire else f"{end}-{start}"
                    add(other, end, start, wire, "1 bdp")
        case other:
            raise UnknownError(f"topology {other!r}")
    return links


#: Limits of disciplines that have their own, packets: tc-pie(8), tc-codel(8), RFC 8290,
#: sch_fq_pie.c, tc-dualpi2(8).
_USUAL_LIMITS = {"pie": 1000, "codel": 1000, "fq-codel": 10_240, "fq-pie": 10_240, "dualpi2": 10_000}


#: Queue disciplines and router mechanisms whose rules are known here.
DISCIPLINES = ("drop-tail", "codel", "fq-codel", "fq-pie", "pie", "red", "dualpi2", "drr")
MECHANISMS = (
    "policer", "loss", "reordering", "tampering", "ecn-rewriting", "ficcrd", "xcp", "csfq", "quick-start",
    "ack-thinning", "forwarding-limit",
)  # fmt: skip


def _known(kind: str, name: str, known: tuple[str, ...]) -> str:
    """Return a name, unless the verifier has no rules for it: it would report false violations."""
    if name not in known:
        raise UnknownError(
            f"the verifier does not know the {kind} {name!r}: what order it keeps and what it may drop or mark; "
            f"it knows {', '.join(known)}"
        )
    return name


def _usual_limit(keys: dict[str, Any], default: str) -> str:
    """Return the limit of a queue whose table has none."""
    discipline = keys.get("discipline", "drop-tail")
    if discipline == "red":
        # tc-red: the maximum is a quarter of the limit; by default it is three times the minimum.
        minimum, maximum = (_split(str(keys[key]))[0] if key in keys else None for key in ("minimum", "maximum"))
        return f"{4 * int(maximum or 3 * int(minimum or 5))} packets"
    packets = _USUAL_LIMITS.get(discipline)
    return default if packets is None else f"{packets} packets"


def _link(name: str, start: str, end: str, wire: dict[str, Any], default_queue: str, classic: bool) -> Link:
    queue = wire.get("queue", {})
    keys = queue if isinstance(queue, dict) else {"limit": queue}
    trace = _trace(wire["delivery_trace"]["opportunities"]) if "delivery_trace" in wire else None
    path = [(0, rate_of(wire["rate"]) if trace is None else trace.rate, time_of(wire["delay"]))]
    for change in wire.get("changes", []):
        rate = rate_of(change["rate"]) if "rate" in change else path[-1][1]
        delay = time_of(change["delay"]) if "delay" in change else path[-1][2]
        path.append((time_of(change["at"]), rate, delay))
    return Link(
        name=name,
        start=start,
        end=end,
        path=path,
        discipline=_known("queue discipline", keys.get("discipline", "drop-tail"), DISCIPLINES),
        keys=keys,
        limit_text=keys.get("limit", _usual_limit(keys, default_queue)),
        counts_packet_in_service=wire.get("queue_counts", "in-system" if classic else "waiting") == "in-system",
        loss=wire.get("loss"),
        jitter=time_of(wire.get("jitter", "0 s")),
        coalescing=time_of(wire.get("coalescing", "0 s")),
        total_limit=_packets(wire.get("total_limit", "unlimited")),
        trace=trace,
        burst=size_of(wire["burst"]) if "burst" in wire else None,
        peak_rate=rate_of(wire["peak_rate"]) if "peak_rate" in wire else None,
    )


def _packets(text: str) -> int | None:
    """Return a limit in packets."""
    return None if text == "unlimited" else int(_split(text)[0])


def _trace(text: str) -> Trace:
    words = [word.partition("x") for word in text.split()]
    return Trace([(int(at) * _TIME["ms"], int(count or 1)) for at, _, count in words])


def _answers(flow: Flow) -> bool:
    return flow.tcp is not None or flow.stack_packet is not None


def _full_packet(flow: Flow) -> int:
    if flow.tcp is not None:
        return flow.tcp.full_size
    return flow.stack_packet or max(packet_sizes(flow))


def _overhead(flow: Flow, links: dict[str, Link]) -> int:
    """Return the upper bound of its packets' processing time at the sender, ps."""
    number, unit = _split(flow.overhead)
    if unit not in {"packet", "packets"}:
        return time_of(flow.overhead)
    slowest = min(links[name].path[0][1] for name in flow.forward)
    return transmission_time(int(number) * _full_packet(flow), slowest)


def _limit(link: Link, links: dict[str, Link], crossing: list[Flow]) -> Limit:
    if link.limit_text == "unlimited":
        return Limit()
    number, unit = _split(link.limit_text)
    if unit in {"packet", "packets"}:
        return Limit(packets=int(number))
    if unit != "bdp":
        return Limit(bytes=size_of(link.limit_text))
    round_trips = [
        sum(links[name].delay for name in (*flow.forward, *flow.reverse)) for flow in crossing if _answers(flow)
    ]
    packets = [_full_packet(flow) for flow in crossing]
    product = link.path[0][1] * max(round_trips, default=2 * link.delay) // (8 * SECOND)
    return Limit(bytes=max(int(product * float(number)), max(packets, default=1500)))


def packet_sizes(flow: Flow) -> list[int]:
    """Return the sizes of a UDP flow's packets on the wire."""
    packet = flow.traffic.get("packet", "1500 B")
    if packet == "imix":
        return list(_IMIX)
    if isinstance(packet, str):
        return [size_of(packet)]
    return [size_of(entry["size"]) for entry in packet]
