"""Random scenarios of everything that the registry and the schema offer.

Names are taken from the registry, so a new algorithm, discipline or mechanism is tried from its
first day; `required` gives what one cannot do without. Pairs (discipline and mechanism, algorithm
and recovery, start and traffic, link option and topology) are walked through by counting.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import selfclock as sc
from selfclock.custom import registered

if TYPE_CHECKING:
    from laws.draw import Draw
    from laws.law import Document

#: Approximate number of packets of a run.
PACKETS = 1_200
#: Parts of a link beside rate, delay and queue.
OPTIONS = ("plain", "queue_counts", "loss", "burst-loss", "jitter", "coalescing", "changes", "trace")
TOPOLOGIES = ("dumbbell", "parking-lot", "graph")
TRAFFIC = ("bulk", "size", "rate", "writes", "web", "udp", "udp-steps", "stopped")
#: Mechanisms that draw random numbers, hold packets, or are about one algorithm.
PARTNERS = {"xcp": "xcp", "quick-start": "quick-start"}


@cache
def registry() -> tuple[sc.Algorithm, ...]:
    """Return every algorithm, queue discipline and router mechanism."""
    # Without classes of Python that something else in the process has registered.
    algorithms = [each for each in sc.algorithms() if each.name not in registered()]
    return (*algorithms, *sc.queues(), *sc.routers())


@cache
def names(part: str) -> tuple[str, ...]:
    """Return the built-in names of a part: window, start, model, estimate, queue, router."""
    return tuple(each.name for each in registry() if each.part == part)


@cache
def recoveries() -> tuple[str, ...]:
    """Return the recoveries that the schema allows."""

    def search(value: Any) -> list[str] | None:  # noqa: ANN401
        if isinstance(value, dict):
            if "recovery" in value and isinstance(value["recovery"], dict) and "enum" in value["recovery"]:
                return list(value["recovery"]["enum"])
            return next(filter(None, map(search, value.values())), None)
        return next(filter(None, map(search, value)), None) if isinstance(value, list) else None

    found = search(sc.schema())
    assert found is not None, "the schema lists no recovery"
    return tuple(found)


def controls() -> tuple[str, ...]:
    """Return every window and model."""
    return (*names("window"), *names("model"))


def marks(control: str) -> str:
    """Return the ECN that an algorithm answers."""
    answer = next(each.marks for each in registry() if each.name == control)
    return {"once": "classic", "in proportion": "accurate"}.get(answer, "off")


def sample(draw: Draw, parameter: sc.Parameter) -> object:
    """Return some value of a parameter, for what nobody has described below."""
    if isinstance(parameter.allowed, list):
        word: object = draw.pick(parameter.allowed)
        return word == "true" if parameter.kind == "switch" else [word] if "list" in parameter.kind else word
    low, high = parameter.allowed["minimum"] or 0.0, parameter.allowed["maximum"] or 1e4
    units = {"duration": "20 ms", "rate": "1 Mbps", "bytes": "9000 B", "packets": "10 packets"}
    return units.get(parameter.kind) or min(max(10.0 if parameter.unit else 0.5, low), high)


def queue(draw: Draw, discipline: str) -> dict[str, Any] | str:
    """Return a queue of a discipline."""
    limit = draw.pick(["5 packets", "20 packets", "20 packets", "1 bdp", "0.4 bdp", "4 bdp", "9 kB", "unlimited"])
    if discipline == "drop-tail" and draw.chance(2):
        return limit
    made: dict[str, Any] = {"discipline": discipline, "limit": limit}
    known = next(each for each in registry() if (each.part, each.name) == ("queue", discipline))
    for parameter in known.parameters:
        if parameter.name == "ecn" and draw.chance(2):
            made["ecn"] = draw.chance(2)
        elif parameter.name == "mark_above" and draw.chance(2):
            made["mark_above"] = draw.pick(["3 packets", "5 ms"])
        elif parameter.kind == "switch" and draw.chance(6):
            made[parameter.name] = draw.chance(2)
        elif parameter.name == "target" and draw.chance(3):
            made["target"] = draw.pick(["2 ms", "10 ms", "40 ms"])
        elif parameter.name == "quantum" and draw.chance(3):
            made["quantum"] = draw.pick(["300 B", "1514 B", "3000 B"])
    return made


def trace(draw: Draw, rate: int) -> dict[str, str]:
    """Return a delivery trace of about this mean rate, kbit/s."""
    now, words = 0, []
    for _ in range(draw.whole(1, 10)):
        count = draw.pick([1, 1, 2, 7])
        now += max(count * 12_000 // rate, 1) * draw.pick([0, 1, 1, 2])
        words.append(f"{now}x{count}")
    return {"opportunities": " ".join([*words, str(now + draw.whole(1, 20))])}


def wire(draw: Draw, rate: int, duration: int, option: str, discipline: str) -> dict[str, Any]:
    """Return a link of a rate in kbit/s with an option, in a run of a duration in ms."""
    made: dict[str, Any] = {"rate": f"{rate} kbps", "delay": draw.ms(1, 40), "queue": queue(draw, discipline)}
    match option:
        case "queue_counts":
            made["queue_counts"] = draw.pick(["waiting", "in-system"])
        case "loss":
            made["loss"] = {"probability": draw.pick([0.01, 0.1])}
        case "burst-loss":
            made["loss"] = {"good_to_bad": 0.02, "bad_to_good": 0.4}
        case "jitter":
            made["jitter"] = draw.ms(1, 15)
        case "coalescing":
            pass  # of the access links: a host must be at the end
        case "changes":
            made["changes"] = [
                {"at": f"{duration // 3} ms", "rate": f"{max(int(rate * draw.pick([0.2, 0.5, 0.9, 3])), 1)} kbps"},
                {"at": f"{duration * 2 // 3} ms", "delay": draw.ms(1, 40)},
            ]
        case "trace":
            made["delivery_trace"] = trace(draw, rate)
            del made["rate"]
    return made


def network(draw: Draw, rate: int, duration: int, topology: str, option: str, discipline: str) -> Document:
    """Return a network."""
    access: dict[str, Any] = {"rate": f"{rate * draw.pick([1, 3, 20])} kbps", "delay": draw.ms(0, 8)}
    if option == "coalescing":
        access["coalescing"] = "3 ms"
    main = wire(draw, rate, duration, option, discipline)
    if topology == "parking-lot":
        return {"topology": topology, "hops": draw.whole(1, 3), "hop": main, "access": access}
    if topology == "graph":
        ends = (("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"))
        access.pop("coalescing", None)
        links = [{"from": a, "to": b, **(main if (a, b) == ("b", "c") else access)} for a, b in ends]
        links[2]["delay"] = "50 ms"
        return {"topology": "graph", "nodes": ["a", "b", "c", "d"], "link": links}
    made: Document = {"topology": "dumbbell", "bottleneck": main, "access": access}
    if draw.chance(2):
        made["reverse"] = {"rate": f"{rate * 20} kbps", "delay": draw.ms(1, 40), "queue": "unlimited"}
    return made


def transport(draw: Draw, recovery: str) -> dict[str, Any]:
    """Return transport settings."""
    made: dict[str, Any] = {"recovery": recovery}
    choices: dict[str, list[Any]] = {
        "prr": [True, False],
        "mss": ["536 B", "1000 B", "1448 B"],
        "limited_transmit": [True, False],
        "initial_window": ["1 segment", "2 segments", "20 segments", "rfc3390"],
        "initial_ssthresh": ["8 segments", "unlimited"],
        "receive_window": ["12 segments", "64 kB", "unlimited", "3.5 segments"],
        "window_scaling": [True, False],
        "handshake": [True, False],
        "timestamps": [True, False],
        "delayed_ack": [
            "off", {"every": 2, "timer": "200 ms", "clock": "grid"}, {"every": 3, "timer": "25 ms"}, {"every": 8},
        ],
        "timer": [
            {"minimum": "1 s"}, {"granularity": "100 ms", "arithmetic": "bsd"}, {"samples": "one-at-a-time"},
        ],
        "pacing_gain": [1.25, "off"],
        "pacing_credit": [True, False],
        "shaper": [{"rate": "2 Mbps", "burst": "6 kB"}, "off"],
        "byte_counting": [True, False],
        "grow_only_when_limited": [True, False],
        "restart_after_idle": [True, False],
        "encrypted": [True, False],
    }  # fmt: skip
    for key, values in choices.items():
        if draw.chance(5):
            made[key] = draw.pick(values)
    if draw.chance(6):
        made.update(timestamps=True, undo=True)
    return made


def control(draw: Draw, name: str, start: str) -> str | dict[str, Any]:
    """Return a congestion control; a model has no other start."""
    if name in names("model"):
        return name
    made: dict[str, Any] = {"window": name}
    if start != "slow-start":
        made["start"] = start
    if draw.chance(6):
        made["estimate"] = draw.pick([*names("estimate"), "none"])
    return made if len(made) > 1 else name


def traffic(draw: Draw, rate: int, duration: int, kind: str) -> dict[str, Any]:  # noqa: PLR0911 - a kind a line
    """Return the keys of a flow that say what it sends."""
    part = max(rate // draw.whole(1, 6), 1)
    match kind:
        case "size":
            return {"traffic": {"size": f"{draw.whole(1, 150_000)} B"}}
        case "rate":
            return {"traffic": {"rate": f"{part} kbps"}}
        case "writes":
            return {"traffic": {"rate": f"{part} kbps", "write": f"{draw.whole(1, 40_000)} B"}}
        case "web":
            size: Any = draw.pick(["1 B", "9 kB", {"distribution": "exponential", "mean": "12 kB"}])
            return {"traffic": {"interval": f"{max(duration // 12, 1)} ms", "size": size}}
        case "udp" | "udp-steps":
            made: dict[str, Any] = {
                "rate": f"{part} kbps",
                "packet": draw.pick(["1500 B", "200 B", "imix"]),
                "arrivals": draw.pick(["constant", "poisson"]),
            }
            if kind == "udp-steps":
                made["steps"] = [{"at": f"{duration // 2} ms", "rate": f"{part * 2} kbps"}]
            return {"protocol": "udp", "traffic": made}
        case "stopped":
            return {"stop": f"{duration * 3 // 4} ms"}
    return {}


def mechanism(draw: Draw, name: str, rate: int, duration: int, links: list[str], nodes: list[str]) -> dict[str, Any]:
    """Return a mechanism; one that nobody has described gets some value of each required parameter."""
    known: dict[str, dict[str, Any]] = {
        "policer": {"rate": f"{max(rate // 2, 1)} kbps", "burst": "9 kB"},
        "loss": {
            "kinds": draw.pick([["data"], ["data", "ack", "syn"], ["data", "datagram"], ["ack"]]),
            **draw.pick([{"every": 97}, {"probability": 0.05}, {"spacing": f"{duration // 7 + 1} ms"}]),
        },
        "reordering": {"probability": 0.1, "delay": draw.ms(1, 30)},
        "tampering": {"probability": 0.3, **draw.pick([{"receive_window": "20 kB"}, {"options": "swap"}])},
        "ack-thinning": {"interval": "8 ms"},
        "forwarding-limit": {"packets_per_second": max(rate / 15, 20.0), "limit": "10 packets"},
        "ficcrd": {"feedback": draw.pick(["window", "ack-bucket", "none"])},
    }
    entry = next(each for each in registry() if (each.part, each.name) == ("router", name))
    made: dict[str, Any] = {"mechanism": name, **known.get(name, {})}
    if name not in known:
        made.update({each.name: sample(draw, each) for each in entry.parameters if not each.default})
    if name == "ficcrd":
        return {**made, "nodes": nodes}
    return made if name == "quick-start" else {**made, "links": [draw.pick(links)]}


def places(network: Document) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Return the links before which routers act, the routers, and the ends of flows of a graph."""
    match network["topology"]:
        case "parking-lot":
            return ["hop1"], [f"router{n}" for n in range(network["hops"] + 1)], []
        case "graph":
            return ["b-c"], ["b", "c"], [("a", "d"), ("b", "d"), ("d", "a"), ("a", "c")]
    return ["bottleneck"], ["left", "right"], []


def flow(draw: Draw, rate: int, duration: int, ends: list[tuple[str, str]], parts: tuple[str, str, str, str]) -> Any:  # noqa: ANN401
    """Return a flow of an algorithm, a recovery, a start and a kind of traffic."""
    algorithm, recovery, start, kind = parts
    made: dict[str, Any] = dict(zip(("from", "to"), draw.pick(ends), strict=True)) if ends else {}
    made.update(traffic(draw, rate, duration, kind))
    if draw.chance(3):
        made["start"] = f"{draw.whole(0, duration // 3)} ms"
    if made.get("protocol") != "udp":
        made["congestion_control"] = control(draw, algorithm, start)
        made["transport"] = transport(draw, recovery)
        answered = marks(algorithm)
        if answered == "accurate" or (answered == "classic" and draw.chance(3)):
            made["transport"]["ecn"] = answered
        elif draw.chance(20):
            made["transport"]["misbehaviour"] = draw.pick(
                [{"ack_parts": 3}, {"ack_repeats": 2}, {"ack_ahead": 4}, {"renege_every": 3}, {"interval_factor": 0.1}]
            )
    return made


def anything(draw: Draw, *, without: tuple[str, ...] = (), topologies: tuple[str, ...] = TOPOLOGIES) -> Document:
    """Return a scenario of anything, but for some link options, mechanisms, kinds of traffic or
    disciplines.
    """
    draw.wide = True
    rate = draw.pick([64, 500, 2_000, 9_973, 80_000])
    duration = min(PACKETS * 12_000 // rate, draw.pick([500, 2_000, 8_000]))
    option, topology = draw.pair([each for each in OPTIONS if each not in without], topologies)
    every = [each for each in ("none", *names("router")) if each not in without]
    discipline, router = draw.pair([each for each in names("queue") if each not in without], every)
    if router == "none" and "routers" not in without and draw.chance(4):
        router = draw.pick(every)
    algorithm, recovery = draw.pair([each for each in controls() if each not in without], recoveries())
    start, kind = draw.pair(
        [each for each in names("start") if each not in without], [each for each in TRAFFIC if each not in without]
    )
    made = network(draw, rate, duration, topology, option, discipline)
    links, nodes, ends = places(made)
    flows = [flow(draw, rate, duration, ends, (algorithm, recovery, start, kind))]
    for _ in range(draw.pick([0, 0, 1, 2])):
        parts = (
            draw.pick([each for each in controls() if each not in without]), draw.pick(recoveries()),
            draw.pick([each for each in names("start") if each not in without]),
            draw.pick([each for each in TRAFFIC if each not in without]),
        )  # fmt: skip
        flows.append(flow(draw, rate, duration, ends, parts))
    document: Document = {
        "schema": 1,
        "duration": f"{duration} ms",
        "seed": draw.whole(1, 1000),
        "network": made,
        "record": {"interval": f"{max(duration // 100, 1)} ms"},
        "flow": flows,
    }
    if router not in ("none", "routers"):
        document["router"] = [mechanism(draw, router, rate, duration, links, nodes)]
        if router in PARTNERS:
            partner = {"model": "xcp"} if router == "xcp" else {"window": "reno", "start": "quick-start"}
            flows.append({"congestion_control": partner, **dict(zip(("from", "to"), ("a", "d"), strict=True))} if ends
                         else {"congestion_control": partner})  # fmt: skip
    if draw.chance(6):
        document["profile"] = "classic"
    return document


def divisible(draw: Draw) -> Document:
    """Return anything without mechanisms that is worth dividing: hundreds of flows on a fast network
    with delays.
    """
    option, topology = draw.pair([each for each in OPTIONS if each != "coalescing"], TOPOLOGIES)
    algorithm, recovery = draw.pair(controls(), recoveries())
    rate, duration = 2_000_000, 80
    made = network(draw, rate, duration, topology, option, draw.turn(names("queue")))
    for each in [
        made.get("access"),
        made.get("bottleneck"),
        made.get("hop"),
        made.get("reverse"),
        *made.get("link", []),
    ]:
        if each is not None:
            each["delay"] = draw.ms(9, 14)
    ends = places(made)[2]
    flows = []
    for _ in range(3):
        kind = draw.pick(["size", "rate", "writes", "udp", "bulk", "stopped"])
        each = flow(draw, rate // 200, duration, ends, (algorithm, recovery, draw.pick(names("start")), kind))
        each.pop("stop", None)
        flows.append({**each, "count": 300, "start": "0 s", "start_jitter": "15 ms"})
    return {
        "schema": 1,
        "duration": f"{duration} ms",
        "seed": draw.whole(1, 1000),
        "network": made,
        "record": {"interval": "10 ms"},
        "flow": flows,
    }


#: Disciplines without random numbers or hashes.
CERTAIN = ("drop-tail", "codel", "drr")
#: Parts that draw random numbers, each from the stream of its place in the list.
RANDOM = ("loss", "burst-loss", "jitter", "web", "reordering", "tampering", "csfq", "bbr3", "ficcrd")


def certain(draw: Draw, *, without: tuple[str, ...] = (), topologies: tuple[str, ...] = TOPOLOGIES) -> Document:
    """Return anything without random parts, of several flows, each with its own start, and no queue
    in BDP.
    """
    random = (*RANDOM, *(each for each in names("queue") if each not in CERTAIN))
    made = anything(draw, without=(*random, *without), topologies=topologies)
    network = made["network"]
    for where in (network.get("bottleneck"), network.get("hop"), *network.get("link", [])):
        queue = (where or {}).get("queue", "unlimited")
        if "bdp" in str(queue):
            where["queue"] = {**queue, "limit": "17 packets"} if isinstance(queue, dict) else "17 packets"
    if "bottleneck" in network:
        network.setdefault("reverse", {"rate": "100 Mbps", "delay": "7.3 ms", "queue": "unlimited"})
    for router in made.get("router", []):
        if router.pop("probability", None) is not None:
            router["every"] = 13
    for n, flow in enumerate(made["flow"]):
        flow["start"] = f"{7 * n}.{n + 1} ms"
        if flow.get("protocol") == "udp":
            flow["traffic"].update(packet="1100 B", arrivals="constant")
    return made


def path(
    rate: str = "10 Mbps",
    rtt_ms: float = 40,
    queue: Any = "1 bdp",  # noqa: ANN401
    *,
    duration: str = "30 s",
    flows: list[Document] | None = None,
    access: str = "1 Gbps",
    seed: int = 1,
    interval: str = "off",
    **bottleneck: Any,  # noqa: ANN401
) -> Document:
    """Return a dumbbell for a directed law: the propagation delay is on the bottleneck, each way."""
    delay = f"{rtt_ms / 2 - 2:.3f} ms"
    return {
        "schema": 1,
        "duration": duration,
        "seed": seed,
        "network": {
            "topology": "dumbbell",
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue, **bottleneck},
            "reverse": {"rate": access, "delay": delay, "queue": "unlimited"},
            "access": {"rate": access, "delay": "1 ms"},
        },
        "record": {"interval": interval},
        "flow": flows if flows is not None else [{}],
    }
