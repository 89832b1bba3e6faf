"""One discipline, link or ACK policy reduced to another, and knobs that must not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laws.generator import anything, names, path
from laws.law import Document, equal, holds, law, require, within
from laws.measure import changed, flow, goodput, link, run, totals

if TYPE_CHECKING:
    from laws.draw import Draw

#: Parameters with which a discipline never acts, and is a FIFO.
INERT: dict[str, dict[str, Any]] = {
    "codel": {"target": "1000 s"},
    "pie": {"target": "1000 s", "burst": "1000 s"},
    "red": {"minimum": "100000000 packets", "maximum": "900000000 packets"},
    "drr": {},
    "fq-codel": {"target": "1000 s"},
    "fq-pie": {"target": "1000 s", "burst": "1000 s"},
    "dualpi2": {"target": "1000 s", "ramp_begin": "1000 s"},
}
#: Disciplines with a queue for each flow, which are FIFO for one.
PER_FLOW = ("drr", "fq-codel", "fq-pie", "dualpi2")


def one_queue(draw: Draw, limits: tuple[str, ...], option: str) -> Document:
    """Return flows over a bottleneck whose discipline is an inert one."""
    discipline, control = draw.pair([each for each in INERT if each in names("queue")], ["udp", *names("window")])
    rate = draw.whole(1, 20)
    size = f"{draw.pick([200, 900, 1500])} B"
    if control == "udp":
        load = draw.pick([0.5, 0.9, 1.5])
        flows: list[Document] = [{"protocol": "udp", "traffic": {"rate": f"{rate * load:.2f} Mbps", "packet": size,
                                                                 "arrivals": "poisson"}}]  # fmt: skip
    else:
        flows = [{"congestion_control": control, "transport": {"recovery": draw.pick(["reno", "sack", "rack"])}}]
    if discipline not in PER_FLOW and draw.chance(2):
        flows.append({"protocol": "udp", "traffic": {"rate": f"{rate / 4:.2f} Mbps", "packet": "imix",
                                                     "arrivals": "poisson"}})  # fmt: skip
    extra: dict[str, Any] = {}
    if option == "changes":
        extra["changes"] = [{"at": "700 ms", "rate": f"{rate * draw.pick([0.3, 0.5, 2, 3]):.2f} Mbps"},
                            {"at": "1.4 s", "rate": f"{rate} Mbps"}]  # fmt: skip
    if option == "loss":
        extra["loss"] = {"probability": 0.01}
    if option == "jitter":
        extra["jitter"] = "3 ms"
    made = path(f"{rate} Mbps", draw.whole(6, 60), {"discipline": discipline, "limit": draw.pick(limits)},
                duration="2 s", access="200 Mbps", flows=flows, seed=draw.whole(1, 99), **extra)  # fmt: skip
    if option == "trace":
        made["network"]["bottleneck"]["delivery_trace"] = {"opportunities": "1x2 3 4x7 9x3 20"}
        del made["network"]["bottleneck"]["rate"]
    return made


def inert_case(draw: Draw) -> Document:
    """Return a case of an inert discipline."""
    option = draw.turn(["plain", "changes", "loss", "jitter"])
    return one_queue(draw, ("30 packets", "5 packets", "15000 B", "unlimited", "1000 B", "1 packet"), option)


def inert_trace(draw: Draw) -> Document:
    """Return a case of an inert discipline behind a delivery trace."""
    return one_queue(draw, ("30 packets", "5 packets", "15000 B", "unlimited"), "trace")


def _fifo(document: Document) -> None:
    queue = document["network"]["bottleneck"]["queue"]
    holds(isinstance(queue, dict) and queue["discipline"] in INERT, "not an inert discipline")
    inert = changed(document, lambda each: each["network"]["bottleneck"]["queue"].update(INERT[queue["discipline"]]))
    plain = changed(document, lambda each: each["network"]["bottleneck"].update(
        queue={"discipline": "drop-tail", "limit": queue["limit"]}))  # fmt: skip
    first, second = run(plain), run(inert)
    keep = ("goodput_bps", "throughput_bps", "delivered_bytes", "sent_segments", "retransmitted_segments", "timeouts",
            "rtt_min_s", "rtt_mean_s", "rtt_p95_s")  # fmt: skip
    for one, two in zip(first.summary["flows"], second.summary["flows"], strict=True):
        equal({key: two[key] for key in keep}, {key: one[key] for key in keep}, f"{queue['discipline']}, {one['name']}")
    for key in ("packets", "bytes", "drops", "utilization", "queue_max_packets"):
        equal(link(second)[key], link(first)[key], f"{queue['discipline']}, link, {key}")


@law(inert_case, share=3)
def inert_aqm(document: Document) -> None:
    """A discipline whose target is a thousand seconds is drop-tail: same rate, same packets, to the
    bit.

    Condition: one flow for those with a queue per flow, which drop from the longest queue's head or
    tail by their own rule once it is full, so those are compared where nothing is dropped for want
    of room.
    Source: RFC 8289, 8033, 8290: nothing waits longer than the target.
    """
    queue = document["network"]["bottleneck"]["queue"]
    if isinstance(queue, dict) and queue["discipline"] in ("fq-codel", "fq-pie", "drr"):
        plain = changed(document, lambda each: each["network"]["bottleneck"].update(queue=queue["limit"]))
        holds(link(run(plain))["drops"] == 0, "dropped for want of room")
    _fifo(document)


@law(inert_trace, share=1.5)
def inert_aqm_trace(document: Document) -> None:
    """The same behind a delivery trace.

    Condition: as the law "inert-aqm".
    Source: as the law "inert-aqm".
    """
    inert_aqm.check(document)


def trace_case(draw: Draw) -> Document:
    """Return UDP or a window over a link of an opportunity per millisecond."""
    control = draw.turn(["udp", *names("window")])
    flows = [{"protocol": "udp", "traffic": {"rate": "9 Mbps", "packet": "1500 B", "arrivals": "poisson"}}] if (
        control == "udp") else [{"congestion_control": control}]  # fmt: skip
    return path("12 Mbps", draw.whole(10, 60), draw.pick(["100 packets", "40 packets"]), duration="20 s", flows=flows)


@law(trace_case)
def trace_as_rate(document: Document) -> None:
    """A trace with an opportunity of 1504 B each millisecond is a link of 12 Mbit/s for packets of
    1500 B.

    Condition: packets of full size; within 5 %, because a packet waits for the next millisecond.
    Source: the definition of the trace (docs/traces.md), 1500 B x 8 / 1 ms.
    """

    def trace(each: Document) -> None:
        del each["network"]["bottleneck"]["rate"]
        each["network"]["bottleneck"]["delivery_trace"] = {"opportunities": "1 2 3 4 5"}

    first, second = run(document), run(changed(document, trace))
    within(goodput(second), goodput(first), "goodput, bit/s", relative=0.05)
    if "protocol" in document["flow"][0]:
        within(link(second)["queue_mean_s"], link(first)["queue_mean_s"], "mean wait, s", relative=0.1, absolute=1.5e-3)


def steps(draw: Draw) -> Document:
    """Return a rate that changes, written as one link or as one of the same rate."""
    return path("10 Mbps", draw.whole(10, 80), draw.pick(["1 bdp", "30 packets"]), duration="20 s", flows=[
        {"congestion_control": draw.turn(names("window"))}])  # fmt: skip


@law(steps)
def steps_up_to_the_rate(document: Document) -> None:
    """A link that has another rate before the first packet has the rate of the change.

    Condition: flows begin after the change; limits are not in BDP, which are those of the first
    rate.
    Source: docs/scenario-reference.md: a packet takes the rate of the time at which its
    transmission begins.
    """
    later = changed(document, lambda each: [flow.update(start="2 s") for flow in each["flow"]])
    later["network"]["bottleneck"]["queue"] = "30 packets"
    slow = changed(later, lambda each: each["network"]["bottleneck"].update(
        rate="1 kbps", changes=[{"at": "1 s", "rate": "10 Mbps"}]))  # fmt: skip
    first, second = totals(run(later)), totals(run(slow))
    equal(second["flows"], first["flows"], "a rate from 1 s on")


# --- acknowledgements and segments ----------------------------------------------------------------


#: Windows that respond to delay: the bursts of an ACK for many segments are a queue to them.
BY_DELAY = ("vegas", "fast", "altcp", "adaptive", "lotka-volterra", "tri-s")


def by_loss() -> list[str]:
    """Return the windows that respond to losses alone."""
    return [each for each in names("window") if each not in BY_DELAY]


def ack_case(draw: Draw) -> Document:
    """Return a window algorithm with periodic losses, which do not depend on time."""
    window, every = draw.pair(by_loss(), [2, 8, 32])
    made = path("1 Gbps", 100, "unlimited", duration="60 s", flows=[{"congestion_control": window}], seed=1)
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": draw.pick([503, 1009, 2003]),
                       "links": ["bottleneck"]}]  # fmt: skip
    made["transport"] = {"delayed_ack": {"every": every, "timer": "10 ms"}, "receive_window": "unlimited"}
    return made


@law(ack_case, share=2)
def ack_ratio(document: Document) -> None:
    """Goodput does not depend on how many segments an ACK acknowledges: 1, 2, 8 or 32.

    Condition: the bytes acknowledged count (byte_counting, the default), losses are one in N
    packets, the window is above two ACKs; algorithms that measure delay see the bursts of an ACK
    for many segments, which is physics: left out. Tolerance: 20 %, a recovery of one round trip
    more or less in some twenty of a period.
    Source: RFC 5681, 3.1, and RFC 3465: growth by the bytes acknowledged.
    """
    each = goodput(run(changed(document, lambda one: one["transport"].update(delayed_ack="off"))))
    every = goodput(run(document))
    segments = each / 8 * 0.1 / 1448
    holds(segments > 2 * document["transport"]["delayed_ack"]["every"], "a window of an ACK or two")
    within(every, each, f"goodput with an ACK for {document['transport']['delayed_ack']['every']}, bit/s", relative=0.2)


def slow_start_case(draw: Draw) -> Document:
    """Return the beginning of a connection on a wide path."""
    return path("10 Gbps", draw.pick([100, 150]), "unlimited", duration="900 ms", access="100 Gbps", flows=[
        {"congestion_control": draw.turn([*by_loss(), "altcp"])}])  # fmt: skip


@law(slow_start_case)
def slow_start_ratio(document: Document) -> None:
    """Slow start sends as much with an ACK for 8 or 32 segments as with one for 1.

    Condition: no timer waits (2 ms), the bytes acknowledged count; windows with a rule of their own
    for the start (Vegas, FAST, Lotka-Volterra, Tri-S, adaptive) are left out. Within 25 %: the rest
    of each round trip waits for the timer, 2 % of it, over nine round trips, and the burst of an
    ACK for 8 is sent at once.
    Source: RFC 3465 as Linux applies it: cwnd grows by the bytes acknowledged, without a limit per
    ACK.
    """
    sent = []
    for every in (1, 2, 8):
        one = changed(document, lambda each, every=every: each.update(
            transport={"delayed_ack": {"every": every, "timer": "2 ms"}}))  # fmt: skip
        sent.append(flow(run(one))["delivered_bytes"])
    for number in sent[1:]:
        within(number, sent[0], "bytes delivered", relative=0.25)


def mss_case(draw: Draw) -> Document:
    """Return Reno with periodic losses, from its mean window on."""
    every = draw.whole(500, 2000)
    made = path("1 Gbps", draw.pick([60, 100]), "unlimited", duration="150 s", flows=[{"congestion_control": "reno"}])
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": every, "links": ["bottleneck"]}]
    made["transport"] = {
        "delayed_ack": {"every": draw.pick([1, 2])},
        "initial_ssthresh": f"{round(every**0.5)} segments",
        "recovery": draw.pick(["newreno", "sack", "rack"]),
    }
    return made


@law(mss_case)
def half_the_mss(document: Document) -> None:
    """Bytes in segments of half the size, lost a quarter as often per segment, take as long.

    Condition: Reno, from its mean window on. Within 15 %: a recovery takes a round trip of a cycle
    of half a window, which is twice as long with the small segments (4 % of 27 round trips, and a
    window of grace).
    Source: Mathis, Semke, Mahdavi, Ott 1997: the rate is MSS/RTT C/sqrt(p).
    """
    every = document["router"][0]["every"]
    half = changed(document, lambda each: (
        each["transport"].update(mss="724 B", initial_ssthresh=f"{round(2 * every**0.5)} segments"),
        each["router"][0].update(every=every * 4)))  # fmt: skip
    within(goodput(run(half)), goodput(run(document)), "goodput, bit/s", relative=0.15)


@law(ack_case)
def ack_loss(document: Document) -> None:
    """One ACK in ten lost costs at most a fifth of the goodput: ACKs are cumulative.

    Condition: an ACK per 2 segments, more than 40 in flight; algorithms that measure delay are left
    out.
    Source: RFC 9293, 3.4: an ACK acknowledges everything before it.
    """
    given = changed(document, lambda each: each["transport"].update(delayed_ack={"every": 2, "timer": "10 ms"}))
    lossy = changed(given, lambda each: each["router"].append(
        {"mechanism": "loss", "kinds": ["ack"], "every": 10, "links": ["reverse"]}))  # fmt: skip
    first = goodput(run(given))
    holds(first / 8 * 0.1 / 1448 > 40, "few in flight")
    found = goodput(run(lossy))
    require(found > 0.8 * first, "goodput, bit/s", found, f"at least {0.8 * first}")


def unmarked(draw: Draw) -> Document:
    """Return Reno or CUBIC where nothing marks, and the other flows of anything."""
    made = anything(draw, without=(*(each for each in names("queue") if each != "drop-tail"), "xcp", "quick-start"))
    for where in (made["network"].get("bottleneck"), made["network"].get("hop"), *made["network"].get("link", [])):
        if isinstance((where or {}).get("queue"), dict):
            where["queue"].pop("mark_above", None)
    made.setdefault("transport", {}).setdefault("delayed_ack", {})["quick"] = False
    first = {key: value for key, value in made["flow"][0].items() if key in ("from", "to", "start", "transport")}
    made["flow"][0] = {**first, "congestion_control": draw.pick(["reno", "cubic"])}
    return made


@law(unmarked)
def ect_codepoint(document: Document) -> None:
    """The capability to be marked changes nothing where nothing marks.

    Condition: drop-tail without a threshold, Reno or CUBIC; the handshake has flags and no bytes
    more; no quick ACKs, of which there are two more for a retransmission, which is known by its
    lack of ECT (Linux, __tcp_ecn_check_ce), and for CWR after a loss (tcp_ecn_accept_cwr).
    Source: RFC 3168, 5: a router treats ECT(0) as not-ECT unless it marks.
    """
    plain = changed(document, lambda each: each["flow"][0].setdefault("transport", {}).update(ecn="off"))
    able = changed(document, lambda each: each["flow"][0].setdefault("transport", {}).update(ecn="classic"))
    equal(totals(run(able)), totals(run(plain)), "ECN-capable")
