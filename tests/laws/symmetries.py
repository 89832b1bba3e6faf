"""Two descriptions of one experiment: their results agree to the bit."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from laws.generator import CERTAIN, anything, certain, mechanism, names, path
from laws.law import Document, equal, holds, law, within
from laws.measure import (
    changed,
    goodput,
    picoseconds,
    put,
    rewritten,
    run,
    same,
    scenario,
    series,
    texts,
    totals,
)

if TYPE_CHECKING:
    from laws.draw import Draw

#: Algorithms and disciplines with constants in seconds (docs/algorithms.md has each with its source).
TIMED = {
    "cubic", "fast", "bbr3", "prague", "altcp", "adaptive", "lotka-volterra", "hystart++", "packet-pair", "bbr-startup",
    "quick-start", "swift-start", "modified-swift-start", "hoe", "icim", "imtcp", "capacity", "vegas", "xcp",
}  # fmt: skip


def any_case(draw: Draw) -> Document:
    """Return a scenario of anything."""
    return anything(draw)


def short_intervals(draw: Draw) -> Document:
    """Return a scenario of anything whose series are sampled often."""
    made = anything(draw)
    made["record"]["interval"] = draw.pick(["1 ms", "3 ms", "17 ms"])
    return made


def certain_case(draw: Draw) -> Document:
    """Return a scenario without random parts."""
    return certain(draw)


def certain_graph(draw: Draw) -> Document:
    """Return a graph without random parts."""
    return certain(draw, topologies=("graph",))


def certain_dumbbell(draw: Draw) -> Document:
    """Return a dumbbell without random parts or one-sided elements."""
    return certain(draw, without=("coalescing", "routers", *names("router")), topologies=("dumbbell",))


# --- knobs that may not matter --------------------------------------------------------------------


@law(short_intervals, share=3)
def recording(document: Document) -> None:
    """What is recorded changes no result: no series, a sample per millisecond, every packet.

    Source: the statement of docs/concepts.md that a sample costs no event; an observer does not act.
    """
    first = totals(run(document))
    for record in ({"interval": "off"}, {"interval": "1 ms"}, {"interval": "7 ms", "packets": True}):
        other = totals(run(changed(document, lambda each, record=record: each.update(record=record))))
        equal(other, first, f"record {record}")


def discipline_and_mechanism(draw: Draw) -> Document:
    """Return every pair of discipline and mechanism under losses, at short intervals."""
    discipline, router = draw.pair(names("queue"), [each for each in names("router") if each != "ficcrd"])
    made = anything(draw, without=("routers", *(each for each in names("queue") if each != discipline)),
                    topologies=("dumbbell",))  # fmt: skip
    rate, duration = draw.pick([500, 2_000]), picoseconds(made["duration"]) // 10**9
    made["router"] = [mechanism(draw, router, rate, duration, ["bottleneck"], ["left", "right"])]
    made["record"] = {"interval": draw.pick(["1 ms", "5 ms"])}
    return made


@law(discipline_and_mechanism, share=2)
def recording_of_pairs(document: Document) -> None:
    """The interval of the series changes no result, for each pair of queue discipline and router mechanism.

    Source: as the law "recording"; a periodic update of a discipline must see the queue of its own time.
    """
    first = totals(run(document))
    equal(totals(run(changed(document, lambda each: each.update(record={"interval": "off"})))), first, "series off")


@law(any_case)
def threads(document: Document) -> None:
    """A run on two threads has the result of one thread.

    Condition: the run is divided; a small one is not, and then the law says nothing.
    Source: the statement of docs/concepts.md that nothing but time, place and sequence orders events.
    """
    divided = run(document, threads=2)
    holds(divided.undivided is None, "not divided")
    equal(totals(divided), totals(run(document)), "two threads")


def many_flows(draw: Draw) -> Document:
    """Return a run that is worth dividing."""
    made = path("5 Gbps", draw.pick([14, 24]), draw.pick(["1000 packets", "1 bdp"]), duration="120 ms", interval="10 ms",
                flows=[{"congestion_control": draw.turn(names("window")), "count": 800, "start_jitter": "20 ms"}])  # fmt: skip
    made["network"]["access"]["delay"] = draw.ms(9, 12)
    if draw.chance(2):
        made["network"]["bottleneck"]["loss"] = {"probability": 0.01}
    return made


@law(many_flows)
def threads_of_many(document: Document) -> None:
    """A run of many flows on two threads has the result, and the series, of one thread.

    Condition: the run is divided.
    Source: as the law "threads".
    """
    divided = run(document, threads=2)
    holds(divided.undivided is None, "not divided")
    alone = run(document)
    equal(totals(divided), totals(alone), "two threads")
    equal(series(divided), series(alone), "two threads, series")


@law(any_case, share=1.5)
def fork(document: Document) -> None:
    """A run continued from a copy of its state at any time is the run from the beginning.

    Source: determinism: the state at a time and the inputs after it are all that the future depends on.
    """
    half = picoseconds(document["duration"]) * (document["seed"] % 7 + 1) // 8
    given = scenario(document)
    forked = given.at(f"{half} ps").fork()
    whole = given.run()
    equal(totals(forked), totals(whole), f"forked at {half} ps")
    equal(series(forked), series(whole), f"forked at {half} ps, series")


@law(any_case)
def longer_run(document: Document) -> None:
    """A longer run does not change the past: every sample up to the shorter end is the same.

    Condition: no queue in units of the run (the interval of the series is given).
    Source: causality.
    """
    end = picoseconds(document["duration"])
    longer = changed(document, lambda each: each.update(duration=f"{end + end // 3} ps"))
    for flow in longer["flow"]:
        holds("stop" not in flow, "the application stops")
    first, second = run(document), run(longer)
    for kind in ("flows", "links"):
        cut = [row for row in series(second)[kind] if row["time_s"] <= end / 1e12 - 1e-9]
        kept = [row for row in series(first)[kind] if row["time_s"] <= end / 1e12 - 1e-9]
        equal(cut, kept, f"samples of {kind} before the end")


@law(any_case)
def neutral_keys(document: Document) -> None:
    """A default that is written out changes nothing.

    Source: docs/scenario-reference.md, the column of defaults of the modern profile.
    """
    holds(document.get("profile") != "classic", "the defaults are those of the modern profile")
    defaults = {
        "mss": "1448 B", "header": "40 B", "ack": "40 B", "recovery": "rack", "prr": True, "limited_transmit": True,
        "initial_window": "10 segments", "initial_ssthresh": "unlimited", "receive_window": "unlimited",
        "window_scaling": True, "handshake": True, "timestamps": True, "undo": False, "ecn": "off",
        "one_recovery_per_window": True, "grow_only_when_limited": True, "byte_counting": True,
        "restart_after_idle": True, "pacing_gain": "off", "shaper": "off", "encrypted": False,
        "delayed_ack": {"every": 2, "timer": "40 ms", "clock": "segment"},
        "timer": {"initial": "1 s", "minimum": "200 ms", "maximum": "120 s", "granularity": "1 ms", "backoff": 2,
                  "arithmetic": "rfc6298", "samples": "every-segment"},
    }  # fmt: skip

    def write(each: Document) -> None:
        each["transport"] = copy.deepcopy(defaults)
        each["profile"] = "modern"
        for flow in each["flow"]:
            flow.setdefault("start", "0 s")
            flow.setdefault("dscp", 0)

    # A flow that sets a delayed ACK of one key keeps the others of the table.
    same(document, changed(document, write), "defaults written out")


def finer(number: str, unit: str) -> tuple[str, str]:
    """Return a quantity in another unit."""
    smaller = {"s": ("ms", 3), "ms": ("us", 3), "us": ("ns", 3), "Gbps": ("Mbps", 3), "Mbps": ("kbps", 3),
               "kbps": ("bps", 3), "MB": ("kB", 3), "kB": ("B", 3)}  # fmt: skip
    if unit not in smaller:
        return number, unit
    new, zeros = smaller[unit]
    whole, _, part = number.partition(".")
    digits = whole + part.ljust(zeros, "0")[:zeros] + (f".{part[zeros:]}" if len(part) > zeros else "")
    return digits.lstrip("0") or "0", new


@law(any_case)
def units(document: Document) -> None:
    """10 Mbps, 10000 kbps and 10000000 bps are one rate, and so for times and sizes.

    Source: the SI's prefixes.
    """

    def other(number: str, unit: str, where: tuple[Any, ...]) -> str | None:
        del where
        new = finer(number, unit)
        return None if new == (number, unit) else " ".join(new if not new[0].startswith(".") else (f"0{new[0]}", new[1]))

    same(document, rewritten(document, other), "finer units")


def unlimited(draw: Draw) -> Document:
    """Return anything with an unlimited queue before the bottleneck."""
    made = anything(draw, without=("ficcrd",))
    network = made["network"]
    for where in (network.get("bottleneck"), network.get("hop"), *network.get("link", [])):
        if where is not None and draw.chance(2):
            queue = where.get("queue", "unlimited")
            where["queue"] = {**queue, "limit": "unlimited"} if isinstance(queue, dict) else "unlimited"
    return made


@law(unlimited)
def wide_limits(document: Document) -> None:
    """A limit that nothing can reach is no limit.

    Condition: not FICCRD, which measures the share of the limit that is occupied.
    Source: the meaning of "unlimited".
    """

    def widen(each: Document) -> None:
        for where, text in list(texts(each)):
            if text == "unlimited":
                wide = "900000000 segments" if where[-1] in ("receive_window", "initial_ssthresh") else "900000000 packets"
                if where[-1] != "receive_window":
                    put(each, where, wide)

    holds("'unlimited'" in str(document), "nothing is unlimited")
    same(document, changed(document, widen), "limits of 900 million")


@law(any_case)
def count(document: Document) -> None:
    """A flow with `count = 2` is two flows.

    Condition: the flow keeps its name, which the copies number.
    Source: docs/scenario-reference.md.
    """
    given = changed(document, lambda each: [flow.update(name=f"flow {n}") for n, flow in enumerate(each["flow"])])
    twice = changed(given, lambda each: each["flow"][0].update(count=2, name="f"))
    first = copy.deepcopy(document["flow"][0])

    def write(each: Document) -> None:
        each["flow"][0] = {**first, "name": "f-1"}
        each["flow"].insert(1, {**copy.deepcopy(first), "name": "f-2"})

    same(twice, changed(given, write), "two tables for a count of 2")


@law(certain_case)
def seed_of_nothing(document: Document) -> None:
    """Without a random part the seed does not matter.

    Condition: no loss, jitter, Poisson process, mixture of sizes, early drop, hash or random phase.
    Source: determinism.
    """
    same(document, changed(document, lambda each: each.update(seed=each["seed"] + 1)), "another seed")


# --- elements that do nothing ---------------------------------------------------------------------


def constant_rate(draw: Draw) -> Document:
    """Return anything with a link of constant rate."""
    return anything(draw, without=("trace", "changes"))


@law(constant_rate, share=1.5)
def rate_that_stays(document: Document) -> None:
    """A link whose rate and delay change to what they are stays as it is.

    Source: identity.
    """

    def add(each: Document) -> None:
        network = each["network"]
        where = network.get("bottleneck") or network.get("hop") or network["link"][1]
        end = picoseconds(each["duration"])
        where["changes"] = [
            {"at": f"{end // 4} ps", "rate": where["rate"]},
            {"at": f"{end // 2} ps", "rate": where["rate"], "delay": where["delay"]},
            {"at": f"{end * 3 // 4} ps", "delay": where["delay"]},
        ]

    same(document, changed(document, add), "changes to the same value", samples=True)


def no_router(draw: Draw) -> Document:
    """Return anything without routers."""
    return anything(draw, without=("routers", *(each for each in names("router"))))


@law(no_router, share=1.5)
def neutral_router(document: Document) -> None:
    """A mechanism that never acts is none: no loss, no reordering, a policer or forwarding limit far away.

    Condition: no mechanism in the run, so that the random numbers of none move; not before two links of a
    flow that is not delayed by holding.
    Source: identity.
    """
    where = {"dumbbell": "bottleneck", "parking-lot": "hop1", "graph": "b-c"}[document["network"]["topology"]]
    inert: list[dict[str, Any]] = [
        {"mechanism": "loss", "kinds": ["data", "ack"], "probability": 0, "links": [where]},
        {"mechanism": "loss", "kinds": ["data"], "every": 10**9, "links": [where]},
        {"mechanism": "reordering", "probability": 0, "delay": "5 ms", "links": [where]},
        {"mechanism": "policer", "rate": "900 Gbps", "burst": "900 MB", "links": [where]},
        {"mechanism": "tampering", "probability": 0, "receive_window": "10 kB", "links": [where]},
    ]
    chosen = inert[document["seed"] % len(inert)]
    same(document, changed(document, lambda each: each.update(router=[chosen])), f"an inert {chosen['mechanism']}")


@law(any_case)
def silent_flow(document: Document) -> None:
    """A flow that never sends during the run changes nothing.

    Condition: its hosts exist already, no queue is measured in BDP (that of the longest RTT of all flows),
    and no short connections under fair queueing, whose hash numbers them.
    Source: identity.
    """
    holds("bdp" not in str(document), "a queue in BDP")
    holds(not ("fq-" in str(document) and "interval', 'size" in str(document)), "numbers of short connections")
    end = picoseconds(document["duration"])

    def add(each: Document) -> None:
        first = each["flow"][0]
        ends = {key: first[key] for key in ("from", "to") if key in first}
        if each["network"]["topology"] == "dumbbell":
            each["network"]["hosts"] = len(each["flow"])
        each["flow"].append({"name": "silent", "protocol": "udp", "start": f"{end - 1} ps", "traffic": {
            "rate": "1 bps", "packet": "1 B", "steps": [{"at": f"{end - 2} ps", "rate": "0 bps"}]}, **ends})  # fmt: skip

    def hosts(each: Document) -> None:
        if each["network"]["topology"] == "dumbbell":
            each["network"]["hosts"] = len(each["flow"])

    first, second = totals(run(changed(document, hosts))), totals(run(changed(document, add)))
    second["flows"] = [each for each in second["flows"] if each["name"] != "silent"]
    equal(second, first, "a silent flow beside")


@law(certain_graph)
def fast_element(document: Document) -> None:
    """A flow over an idle link of 900 Tbit/s and no delay arrives when it would without the link.

    Condition: the graph, whose last link is replaced by two; a packet takes 1 ps or less more for each
    link, so counts agree exactly and goodput within 1e-6; no random part, whose numbers move.
    Source: composition of delays.
    """

    def split(each: Document) -> None:
        each["network"]["nodes"].append("e")
        each["network"]["link"][3]["to"] = "e"
        each["network"]["link"].append({"from": "e", "to": "d", "rate": "900 Tbps", "delay": "0 s", "queue": "unlimited"})

    first, second = run(document), run(changed(document, split))
    for one, other in zip(first.summary["flows"], second.summary["flows"], strict=True):
        holds(one["sent_segments"] < 400, "a difference of a picosecond may have grown")
        equal(other["delivered_segments"], one["delivered_segments"], f"{one['name']}, segments delivered")
        equal(other["retransmitted_segments"], one["retransmitted_segments"], f"{one['name']}, retransmissions")


# --- one topology in the words of another ---------------------------------------------------------


def dumbbells(draw: Draw) -> Document:
    """Return anything on a dumbbell."""
    return anything(draw, without=("ficcrd",), topologies=("dumbbell",))


def as_graph(document: Document) -> Document:
    """Write a dumbbell as a graph."""
    made = copy.deepcopy(document)
    network = made["network"]
    hosts = network.get("hosts", sum(each.get("count", 1) for each in made["flow"]))
    bottleneck = network["bottleneck"]
    back = network.get("reverse")
    if back is None:
        back = {key: value for key, value in bottleneck.items() if key != "changes"}
        if "changes" in bottleneck:
            back["changes"] = bottleneck["changes"]
    links: list[Document] = [
        {"from": "left", "to": "right", "name": "bottleneck", "duplex": False, **bottleneck},
        {"from": "right", "to": "left", "name": "reverse", "duplex": False, **back},
    ]
    for n in range(1, hosts + 1):
        links += [{"from": f"source{n}", "to": "left", **network["access"]},
                  {"from": "right", "to": f"sink{n}", **network.get("sink_access", network["access"])}]  # fmt: skip
    nodes = ["left", "right", *(node for n in range(1, hosts + 1) for node in (f"source{n}", f"sink{n}"))]
    made["network"] = {"topology": "graph", "nodes": nodes, "link": links}
    for n, flow in enumerate(made["flow"]):
        flow.update({"from": f"source{n % hosts + 1}", "to": f"sink{n % hosts + 1}"})
    return made


@law(dumbbells, share=1.5)
def dumbbell_as_graph(document: Document) -> None:
    """A dumbbell is the graph of its links in the same order.

    Condition: access links have their default queue in the dumbbell, "unlimited", written out in the graph.
    Source: docs/scenario-reference.md, nodes and links of a dumbbell.
    """
    explicit = changed(document, lambda each: each["network"]["access"].setdefault("queue", "unlimited"))
    same(explicit, as_graph(explicit), "as a graph")


@law(certain_dumbbell)
def parking_lot_of_one(document: Document) -> None:
    """A parking lot of one hop with the long path alone is a dumbbell with one pair of hosts.

    Condition: the way back is like the way there; names differ, numbers do not; no hash that includes the
    place of a link (fair queueing), no random part.
    Source: docs/scenario-reference.md, links of both.
    """
    one = changed(document, lambda each: (each.update(flow=each["flow"][:1]), each["network"].update(hosts=1),
                                          each["network"].pop("reverse")))  # fmt: skip
    holds("count" not in one["flow"][0], "copies")

    def lot(each: Document) -> None:
        each["network"] = {"topology": "parking-lot", "hops": 1, "hop": each["network"]["bottleneck"],
                           "access": each["network"]["access"]}  # fmt: skip

    first, second = run(one), run(changed(one, lot))
    unnamed = [{key: value for key, value in each.summary["flows"][0].items() if key not in ("from", "to")}
               for each in (first, second)]  # fmt: skip
    equal(unnamed[1], unnamed[0], "a parking lot of one hop")


@law(certain_dumbbell)
def mirror(document: Document) -> None:
    """A network and its mirror image have the same results.

    Condition: no random part, and none whose hash has the place of the link.
    Source: no direction is distinguished.
    """
    plain = as_graph(changed(document, lambda each: each["network"]["access"].setdefault("queue", "unlimited")))

    def turn(each: Document) -> None:
        swapped = {"left": "right", "right": "left"}

        def other(node: str) -> str:
            return swapped.get(node) or (node.replace("source", "S").replace("sink", "source").replace("S", "sink"))

        for entry in (*each["network"]["link"], *each["flow"]):
            entry["from"], entry["to"] = other(entry["from"]), other(entry["to"])

    first, second = run(plain), run(changed(plain, turn))
    for one, two in zip(first.summary["flows"], second.summary["flows"], strict=True):
        equal({**two, "from": 0, "to": 0}, {**one, "from": 0, "to": 0}, one["name"])


@law(certain_dumbbell)
def side_by_side(document: Document) -> None:
    """Two networks that share no link do not notice each other.

    Condition: no random part (streams are numbered by place), one profile, no queue in BDP.
    Source: locality.
    """
    one = as_graph(changed(document, lambda each: each["network"]["access"].setdefault("queue", "unlimited")))

    def double(each: Document) -> None:
        network = each["network"]
        for entry in copy.deepcopy(network["link"]):
            network["link"].append({**entry, "from": f"{entry['from']}B", "to": f"{entry['to']}B",
                                    **({"name": f"{entry['name']}B"} if "name" in entry else {})})  # fmt: skip
        network["nodes"] += [f"{node}B" for node in network["nodes"]]
        each["flow"] += [
            {**copy.deepcopy(flow), "from": f"{flow['from']}B", "to": f"{flow['to']}B"} for flow in each["flow"]
        ]

    first, second = totals(run(one)), totals(run(changed(one, double)))
    half = len(first["flows"])
    equal(second["flows"][:half], first["flows"], "the first network")
    other = [{**each, "name": "", "from": "", "to": ""} for each in second["flows"][half:]]
    equal(other, [{**each, "name": "", "from": "", "to": ""} for each in first["flows"]], "the second network")


@law(certain_dumbbell)
def flow_order(document: Document) -> None:
    """The order of the flows in the file does not matter.

    Condition: each flow has its own start and pair of hosts with its own delay, so that no two packets meet
    at one picosecond; no random part; not DRR and FQ, which drop from the first of several longest queues.
    Source: permutation of names.
    """
    holds("drr" not in str(document), "DRR drops from the first of several longest queues")
    holds(len(document["flow"]) > 1, "one flow")
    given = changed(document, lambda each: each["network"].update(access_step="1.037 ms", hosts=len(each["flow"])))
    for n, flow in enumerate(given["flow"]):
        flow.update({"from": f"source{n + 1}", "to": f"sink{n + 1}", "name": f"f{n}", "start": f"{13 * n}.{n} ms"})
        flow.pop("stop", None)
    turned = changed(given, lambda each: each["flow"].reverse())
    first = sorted(totals(run(given))["flows"], key=lambda each: each["name"])
    second = sorted(totals(run(turned))["flows"], key=lambda each: each["name"])
    equal(second, first, "flows in reverse order")


# --- scales ---------------------------------------------------------------------------------------


def shifted(draw: Draw) -> Document:
    """Return anything without random starts."""
    absolute = ("trace", "coalescing", "packet-pair", "swift-start", "modified-swift-start", "quick-start", "adaptive",
                *names("router"))  # fmt: skip
    made = anything(draw, without=(*absolute, *(each for each in names("queue") if each not in CERTAIN)))
    made["transport"] = {"timer": {"granularity": "0 s", "arithmetic": "rfc6298"}, "delayed_ack": {"clock": "segment"}}
    made.pop("profile", None)
    for flow in made["flow"]:
        for key in ("timer", "delayed_ack"):
            flow.get("transport", {}).pop(key, None)
    return made


@law(shifted)
def start_shift(document: Document) -> None:
    """A run whose every event is later by a time has the same counts.

    Condition: nothing runs by an absolute clock: no 4.4BSD grid or ticks, no periodic updates (PIE, DualPI2,
    XCP, adaptive RED), no packet-pair tick, no timestamps that round (they do not enter counts).
    Source: invariance in time.
    """
    by = 7 * 10**9 * 1000

    def later(each: Document) -> None:
        each["duration"] = f"{picoseconds(each['duration']) + by} ps"
        for flow in each["flow"]:
            flow["start"] = f"{picoseconds(flow.get('start', '0 s')) + by} ps"
            if "stop" in flow:
                flow["stop"] = f"{picoseconds(flow['stop']) + by} ps"
            for step in flow.get("traffic", {}).get("steps", []) if isinstance(flow.get("traffic"), dict) else []:
                step["at"] = f"{picoseconds(step['at']) + by} ps"
        network = each["network"]
        for link in [network.get("bottleneck"), network.get("hop"), *network.get("link", [])]:
            for change in (link or {}).get("changes", []):
                change["at"] = f"{picoseconds(change['at']) + by} ps"

    first, second = run(document), run(changed(document, later))
    for one, two in zip(first.summary["flows"], second.summary["flows"], strict=True):
        for key in ("delivered_bytes", "sent_segments", "retransmitted_segments", "timeouts", "rtt_min_s", "rtt_mean_s"):
            equal(two[key], one[key], f"{one['name']}, {key}")


def scalable(draw: Draw) -> Document:
    """Return a run whose constants are all in the file."""
    window = draw.turn([each for each in names("window") if each not in TIMED])
    queue = draw.pick(["20 packets", "7 packets", {"discipline": "drr", "limit": "20 packets"},
                       {"discipline": "red", "limit": "40 packets"}])  # fmt: skip
    made = path("10 Mbps", draw.whole(10, 60), queue, duration="4 s", access="100 Mbps", flows=[
        {"congestion_control": window, "transport": {"recovery": draw.pick(["tahoe", "reno", "newreno", "sack"])}},
        {"congestion_control": window, "start": "300 ms"}])  # fmt: skip
    made["transport"] = {"timestamps": False, "delayed_ack": {"every": draw.whole(1, 4), "timer": "40 ms"}, "timer": {
        "initial": "1 s", "minimum": "200 ms", "maximum": "120 s", "granularity": "0 s"}, "recovery": "sack"}  # fmt: skip
    return made


@law(scalable)
def time_scale(document: Document) -> None:
    """Rates doubled and times halved: the same packets, at twice the rate.

    Condition: no algorithm or discipline with a constant in seconds, granularity 0.
    Source: dimensional analysis: bit/s times s is bits.
    """

    def twice(number: str, unit: str, where: tuple[Any, ...]) -> str | None:
        del where
        if unit in ("s", "ms"):
            return f"{picoseconds(f'{number} {unit}') // 2} ps"
        return f"{float(number) * 2:g} {unit}" if unit.endswith("bps") else None

    first, second = run(document), run(rewritten(document, twice))
    for one, two in zip(first.summary["flows"], second.summary["flows"], strict=True):
        for key in ("delivered_bytes", "sent_segments", "retransmitted_segments", "timeouts"):
            equal(two[key], one[key], f"{one['name']}, {key}")


def sized(draw: Draw) -> Document:
    """Return a run whose sizes are all in the file."""
    window = draw.turn(names("window"))
    recovery = draw.turn(["tahoe", "reno", "newreno", "sack", "rack"])
    queue = draw.pick(["20 packets", "30000 B", {"discipline": "codel", "limit": "40 packets"},
                       {"discipline": "drr", "limit": "30000 B", "quantum": "1040 B"}])  # fmt: skip
    made = path("10 Mbps", draw.whole(10, 60), queue, duration="4 s", access="100 Mbps", flows=[
        {"congestion_control": window, "transport": {"recovery": recovery}}])  # fmt: skip
    made["transport"] = {"timestamps": False, "mss": "1000 B", "header": "40 B", "ack": "40 B"}
    return made


@law(sized)
def byte_scale(document: Document) -> None:
    """Sizes and rates doubled: the same packets at the same times.

    Condition: no option of a fixed size (timestamps, SACK blocks, probes), no constant in bytes or packets
    of 1500 B in the discipline.
    Source: dimensional analysis.
    """
    transport = document["flow"][0]["transport"]
    holds(transport["recovery"] not in ("sack", "rack"), "SACK blocks have a fixed size")
    holds(document["flow"][0]["congestion_control"] != "lotka-volterra", "probes have options")

    def twice(number: str, unit: str, where: tuple[Any, ...]) -> str | None:
        del where
        return f"{float(number) * 2:g} {unit}" if unit.endswith(("bps", "B")) else None

    first, second = run(document), run(rewritten(document, twice))
    for one, two in zip(first.summary["flows"], second.summary["flows"], strict=True):
        for key in ("delivered_segments", "sent_segments", "retransmitted_segments", "timeouts", "rtt_mean_s"):
            equal(two[key], one[key], f"{one['name']}, {key}")


@law(scalable)
def delay_placement(document: Document) -> None:
    """Delay moved from the bottleneck to the access links, or to the way back, changes no count.

    Condition: one flow, whose path is the same in sum; granularity 0.
    Source: composition of delays.
    """

    def move(each: Document) -> None:
        network = each["network"]
        network["bottleneck"]["delay"] = f"{picoseconds(network['bottleneck']['delay']) - 2 * 10**9} ps"
        network["reverse"]["delay"] = f"{picoseconds(network['reverse']['delay']) - 2 * 10**9} ps"
        network["access"]["delay"] = "2 ms"

    one = changed(document, lambda each: each.update(flow=each["flow"][:1]))
    first, second = run(one).summary["flows"][0], run(changed(one, move)).summary["flows"][0]
    for key in ("sent_segments", "retransmitted_segments", "timeouts", "fast_retransmits", "rtt_min_s"):
        equal(second[key], first[key], key)


def loads(draw: Draw) -> Document:
    """Return UDP across a dumbbell, with packets of one size."""
    size = draw.pick([200, 1000, 1500])
    rate = draw.whole(2, 20)
    limit = draw.whole(3, 40)
    made = path(f"{rate} Mbps", draw.whole(10, 60), {"discipline": draw.turn(names("queue")), "limit": f"{limit} packets"},
                duration="3 s", access="100 Mbps", seed=draw.whole(1, 99), flows=[
        {"protocol": "udp", "traffic": {"rate": f"{rate * load:.1f} Mbps", "packet": f"{size} B", "arrivals": "poisson"}}
        for load in (0.6, draw.pick([0.2, 0.5, 0.9]))])  # fmt: skip
    if draw.chance(2):
        made["network"]["bottleneck"]["changes"] = [{"at": "1 s", "rate": f"{rate * draw.pick([0.3, 2])} Mbps"}]
    return made


@law(loads)
def packets_as_bytes(document: Document) -> None:
    """With packets of one size a limit of n packets is one of n times the size in bytes.

    Condition: RED counts its thresholds in packets, and the limit alone is changed.
    Source: arithmetic.
    """
    queue = document["network"]["bottleneck"]["queue"]
    size = int(document["flow"][0]["traffic"]["packet"].split()[0])
    limit = f"{int(queue['limit'].split()[0]) * size} B"
    same(document, changed(document, lambda each: each["network"]["bottleneck"]["queue"].update(limit=limit)), "in bytes")


@law(dumbbells, share=1.5)
def waiting_in_system(document: Document) -> None:
    """"n packets" that wait and "n + 1 packets" with the one in service are one limit.

    Condition: a limit in packets; a link with a rate (behind a trace every packet waits).
    Source: docs/scenario-reference.md; arithmetic.
    """
    bottleneck = document["network"]["bottleneck"]
    holds("delivery_trace" not in bottleneck, "behind a trace every packet waits")
    number = 2 + document["seed"] % 20

    def limited(more: int, counts: str) -> Document:
        def write(each: Document) -> None:
            where = each["network"]["bottleneck"]
            queue = where["queue"] if isinstance(where["queue"], dict) else {"discipline": "drop-tail"}
            where.update(queue={**queue, "limit": f"{number + more} packets"}, queue_counts=counts)
            each["network"].setdefault("reverse", {"rate": "1 Gbps", "delay": "5 ms", "queue": "unlimited"})

        return changed(document, write)

    # A threshold for marks counts what the limit counts.
    holds("mark_above" not in str(bottleneck), "a threshold in packets")
    same(limited(0, "waiting"), limited(1, "in-system"), f"{number} that wait, {number + 1} in the system")


def traced(draw: Draw) -> Document:
    """Return anything behind a delivery trace."""
    return anything(draw, without=tuple(each for each in ("plain", "queue_counts", "loss", "burst-loss", "jitter",
                                                          "coalescing", "changes")))  # fmt: skip


@law(traced)
def trace_period(document: Document) -> None:
    """A trace written twice in a row is the same trace.

    Source: docs/traces.md: it repeats with its period.
    """

    def twice(each: Document) -> None:
        for where, text in list(texts(each)):
            if where[-1] == "opportunities":
                words = text.split()
                period = int(words[-1].partition("x")[0])
                more = []
                for word in words:
                    at, times, number = word.partition("x")
                    more.append(f"{int(at) + period}{times}{number}")
                put(each, where, " ".join([*words, *more]))

    same(document, changed(document, twice), "two periods")


@law(scalable, share=0.7)
def repeat_transfer(document: Document) -> None:
    """A transfer over a network that has become idle again takes as long as the first.

    Condition: drop-tail or DRR, whose state is the queue alone.
    Source: a queue that is empty has forgotten.
    """
    holds("red" not in str(document), "an average that remembers")
    window = document["flow"][0]["congestion_control"]
    again = changed(document, lambda each: each.update(duration="40 s", flow=[
        {"congestion_control": window, "traffic": {"size": "200 kB"}, "start": start,
         "from": "source1", "to": "sink1"} for start in ("0 s", "20 s")]))  # fmt: skip
    again["network"]["hosts"] = 1
    first, second = run(again).summary["flows"]
    holds(first["completion_s"] is not None and first["completion_s"] < 20, "not complete")
    equal(round((second["completion_s"] or 0) * 1e9), round((first["completion_s"] or 0) * 1e9), "completion, ns")


@law(dumbbells, share=0.7)
def hop_order(document: Document) -> None:
    """Two hops in a row of different rates exchanged: the goodput of one flow stays.

    Condition: one bulk flow over two links whose queues never fill, so that only the slower rate counts.
    Source: a tandem of constant servers commutes (Burke's order does not matter for departure times when
    service times are those of the packet sizes).
    """
    seed = document["seed"]
    window = names("window")[seed % len(names("window"))]
    rates = [f"{3 + seed % 5} Mbps", f"{9 + seed % 7} Mbps"]

    def chain(order: list[str]) -> Document:
        links = [{"from": a, "to": b, "rate": rate, "delay": "7 ms", "queue": "unlimited"}
                 for (a, b), rate in zip((("a", "b"), ("b", "c")), order, strict=True)]  # fmt: skip
        return {"schema": 1, "duration": "6 s", "network": {"topology": "graph", "nodes": ["a", "b", "c"], "link": links},
                "record": {"interval": "off"}, "flow": [{"from": "a", "to": "c", "congestion_control": window,
                "transport": {"receive_window": f"{20 + seed % 50} segments"}}]}  # fmt: skip

    first, second = goodput(run(chain(rates))), goodput(run(chain(rates[::-1])))
    within(second, first, "goodput, bit/s", relative=0.1)


@law(constant_rate, share=0.5)
def neutral_algorithm_names(document: Document) -> None:
    """Names of flows and the scenario change nothing.

    Source: permutation of names.
    """

    def rename(each: Document) -> None:
        each["name"], each["title"] = "other", "Another title"
        for n, flow in enumerate(each["flow"]):
            flow["name"] = f"stranger {n}"

    first, second = totals(run(document)), totals(run(changed(document, rename)))
    for each in (*first["flows"], *second["flows"]):
        each["name"] = ""
    equal(second, first, "other names")
