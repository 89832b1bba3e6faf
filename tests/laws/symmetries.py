"""Two descriptions of one experiment: their results agree to the bit."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from laws.generator import anything, certain, divisible, mechanism, names, path
from laws.law import Document, equal, holds, law
from laws.measure import (
    changed,
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

#: Algorithms and disciplines with constants in seconds (docs/algorithms.md has their sources).
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
    return certain(draw, without=("xcp", "quick-start"), topologies=("graph",))


def certain_dumbbell(draw: Draw) -> Document:
    """Return a dumbbell without random parts or one-sided elements."""
    return certain(draw, without=("coalescing", "routers", *names("router")), topologies=("dumbbell",))


# --- knobs that may not matter --------------------------------------------------------------------


@law(short_intervals, share=3)
def recording(document: Document) -> None:
    """The record changes no result: no series, a sample per millisecond, every packet.

    Source: the statement of docs/concepts.md that a sample costs no event; an observer does not
    act.
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
    """The interval of the series changes no result, for each pair of queue discipline and router
    mechanism.

    Source: as the law "recording"; a periodic update of a discipline must see the queue of its own
    time.
    """
    first = totals(run(document))
    equal(totals(run(changed(document, lambda each: each.update(record={"interval": "off"})))), first, "series off")


@law(divisible)
def threads(document: Document) -> None:
    """A run on two threads has the result of one thread.

    Condition: the run is divided; one in which all packets meet in one place is not, and then the
    law says nothing.
    Source: the statement of docs/concepts.md that nothing but time, place and sequence orders
    events.
    """
    divided = run(document, threads=2)
    holds(divided.undivided is None, "not divided")
    equal(totals(divided), totals(run(document)), "two threads")


def many_flows(draw: Draw) -> Document:
    """Return a run that is worth dividing."""
    made = path(
        "5 Gbps",
        draw.pick([14, 24]),
        draw.pick(["1000 packets", "1 bdp"]),
        duration="120 ms",
        interval="10 ms",
        flows=[{"congestion_control": draw.turn(names("window")), "count": 800, "start_jitter": "20 ms"}],
    )
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

    Source: determinism: the state at a time and the inputs after it are all that the future depends
    on.
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
        "initial_window": "10 segments", "initial_ssthresh": "unlimited", "receive_window": "auto",
        "window_scaling": True, "handshake": True, "timestamps": True, "dsack": True, "undo": True, "frto": True,
        "syn_timeouts": 2, "ecn": "off",
        "one_recovery_per_window": True, "grow_only_when_limited": True, "byte_counting": True,
        "restart_after_idle": True, "pacing_gain": "off", "pacing_credit": False, "shaper": "off",
        "encrypted": False,
        "peer_knows_option": True,
        "delayed_ack": {"every": 2, "timer": "40 ms", "clock": "segment", "quick": True},
        "timer": {"initial": "1 s", "minimum": "200 ms", "maximum": "120 s", "granularity": "1 ms", "backoff": 2,
                  "linear_syn_timeouts": 4, "arithmetic": "linux", "samples": "every-segment"},
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
        return (
            None if new == (number, unit) else " ".join(new if not new[0].startswith(".") else (f"0{new[0]}", new[1]))
        )

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
                wide = (
                    "900000000 segments" if where[-1] in ("receive_window", "initial_ssthresh") else "900000000 packets"
                )
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
    """A mechanism that never acts is none: no loss, no reordering, a policer or forwarding limit
    far away.

    Condition: no mechanism in the run, so that the random numbers of none move; not before two
    links of a flow that is not delayed by holding.
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

    Condition: its hosts exist already, no queue is measured in BDP (that of the longest RTT of all
    flows), and no short connections under fair queueing, whose hash numbers them.
    Source: identity.
    """
    holds("bdp" not in str(document), "a queue in BDP")
    short = any("interval" in each["traffic"] for each in document["flow"] if isinstance(each.get("traffic"), dict))
    holds(not ("fq-" in str(document) and short), "numbers of short connections")
    end = picoseconds(document["duration"])

    def add(each: Document) -> None:
        first = each["flow"][0]
        ends = {key: first[key] for key in ("from", "to") if key in first}
        if each["network"]["topology"] == "dumbbell":
            each["network"]["hosts"] = len(each["flow"])
        each["flow"].append(
            {
                "name": "silent",
                "protocol": "udp",
                "start": f"{end - 1} ps",
                "traffic": {"rate": "1 bps", "packet": "1 B", "steps": [{"at": f"{end - 2} ps", "rate": "0 bps"}]},
                **ends,
            }
        )

    def hosts(each: Document) -> None:
        if each["network"]["topology"] == "dumbbell":
            each["network"]["hosts"] = len(each["flow"])

    first, second = totals(run(changed(document, hosts))), totals(run(changed(document, add)))
    second["flows"] = [each for each in second["flows"] if each["name"] != "silent"]
    equal(second, first, "a silent flow beside")


@law(certain_graph)
def fast_element(document: Document) -> None:
    """A flow over an idle link of 900 Tbit/s and no delay arrives when it would without the link.

    Condition: the graph, whose last link is replaced by two; a packet takes 1 ps or less more, so
    counts agree exactly; short connections, before that may grow; no random part, whose numbers
    move; no XCP, whose routers divide by such times.
    Source: composition of delays.
    """

    def split(each: Document) -> None:
        each["network"]["nodes"].append("e")
        each["network"]["link"][3]["to"] = "e"
        each["network"]["link"].append(
            {"from": "e", "to": "d", "rate": "900 Tbps", "delay": "0 s", "queue": "unlimited"}
        )

    first, second = run(document), run(changed(document, split))
    for one, other in zip(first.summary["flows"], second.summary["flows"], strict=True):
        holds(one["sent_segments"] < 400, "a difference of a picosecond may have grown")
        equal(other["delivered_segments"], one["delivered_segments"], f"{one['name']}, segments delivered")
        equal(other["retransmitted_segments"], one["retransmitted_segments"], f"{one['name']}, retransmissions")
