"""One network in the words of another, moved, turned, scaled."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from laws.generator import CERTAIN, anything, names, path
from laws.law import Document, equal, holds, law, within
from laws.measure import changed, goodput, picoseconds, put, rewritten, run, same, texts, totals
from laws.symmetries import TIMED, certain_dumbbell, constant_rate

if TYPE_CHECKING:
    from laws.draw import Draw


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

    Condition: access links have their default queue in the dumbbell, "unlimited", written out in
    the graph.
    Source: docs/scenario-reference.md, nodes and links of a dumbbell.
    """
    explicit = changed(document, lambda each: each["network"]["access"].setdefault("queue", "unlimited"))
    same(explicit, as_graph(explicit), "as a graph")


@law(certain_dumbbell)
def parking_lot_of_one(document: Document) -> None:
    """A parking lot of one hop with the long path alone is a dumbbell with one pair of hosts.

    Condition: the way back is like the way there; names differ, numbers do not; no hash that
    includes the place of a link (fair queueing), no random part.
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

    Condition: each flow has its own start and pair of hosts with its own delay, so that no two
    packets meet at one picosecond; no random part; not DRR and FQ, which drop from the first of
    several longest queues.
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

    Condition: nothing runs by an absolute clock: no 4.4BSD grid or ticks, no periodic updates (PIE,
    DualPI2, XCP, adaptive RED), no packet-pair tick, no timestamps that round (they do not enter
    counts).
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
        for key in (
            "delivered_bytes",
            "sent_segments",
            "retransmitted_segments",
            "timeouts",
            "rtt_min_s",
            "rtt_mean_s",
        ):
            equal(two[key], one[key], f"{one['name']}, {key}")


def scalable(draw: Draw) -> Document:
    """Return a run whose constants are all in the file."""
    window = draw.turn([each for each in names("window") if each not in TIMED])
    queue = draw.pick(["20 packets", "7 packets", {"discipline": "drr", "limit": "20 packets"},
                       {"discipline": "red", "limit": "40 packets"}])  # fmt: skip
    made = path("10 Mbps", draw.whole(10, 60), queue, duration="4 s", access="100 Mbps", flows=[
        {"congestion_control": window, "transport": {"recovery": draw.pick(["tahoe", "reno", "newreno", "sack"])}},
        {"congestion_control": window, "start": "300 ms"}])  # fmt: skip
    made["transport"] = {
        "timestamps": False,
        "delayed_ack": {"every": draw.whole(1, 4), "timer": "40 ms", "quick": False},
        "timer": {"initial": "1 s", "minimum": "200 ms", "maximum": "120 s", "granularity": "0 s"},
        "recovery": "sack",
    }
    return made


@law(scalable)
def time_scale(document: Document) -> None:
    """Rates doubled and times halved: the same packets, at twice the rate.

    Condition: no algorithm or discipline with a constant in seconds, granularity 0, no quick ACKs,
    whose longest delay is 200 ms (Linux, TCP_DELACK_MAX).
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
    made["transport"] = {
        "timestamps": False, "mss": "1000 B", "header": "40 B", "ack": "40 B", "receive_window": "unlimited",
    }  # fmt: skip
    return made


@law(sized)
def byte_scale(document: Document) -> None:
    """Sizes and rates doubled: the same packets at the same times.

    Condition: no option of a fixed size (timestamps, SACK blocks, probes), no constant in bytes or
    packets of 1500 B in the discipline; no autotuned receive window, which begins with 64 KiB
    whatever the segments (Linux, tcp_rmem).
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
    made = path(
        f"{rate} Mbps",
        draw.whole(10, 60),
        {"discipline": draw.turn(names("queue")), "limit": f"{limit} packets"},
        duration="3 s",
        access="100 Mbps",
        seed=draw.whole(1, 99),
        flows=[
            {
                "protocol": "udp",
                "traffic": {"rate": f"{rate * load:.1f} Mbps", "packet": f"{size} B", "arrivals": "poisson"},
            }
            for load in (0.6, draw.pick([0.2, 0.5, 0.9]))
        ],
    )
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
    same(
        document, changed(document, lambda each: each["network"]["bottleneck"]["queue"].update(limit=limit)), "in bytes"
    )


@law(dumbbells, share=1.5)
def waiting_in_system(document: Document) -> None:
    """ "n packets" that wait and "n + 1 packets" with the one in service are one limit.

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

    Condition: one bulk flow over two links whose queues never fill, so that only the slower rate
    counts.
    Source: a tandem of constant servers commutes (Burke's order does not matter for departure times
    when service times are those of the packet sizes).
    """
    seed = document["seed"]
    window = names("window")[seed % len(names("window"))]
    rates = [f"{3 + seed % 5} Mbps", f"{9 + seed % 7} Mbps"]

    def chain(order: list[str]) -> Document:
        links = [{"from": a, "to": b, "rate": rate, "delay": "7 ms", "queue": "unlimited"}
                 for (a, b), rate in zip((("a", "b"), ("b", "c")), order, strict=True)]  # fmt: skip
        return {
            "schema": 1,
            "duration": "6 s",
            "network": {"topology": "graph", "nodes": ["a", "b", "c"], "link": links},
            "record": {"interval": "off"},
            "flow": [
                {
                    "from": "a",
                    "to": "c",
                    "congestion_control": window,
                    "transport": {"receive_window": f"{20 + seed % 50} segments"},
                }
            ],
        }

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
