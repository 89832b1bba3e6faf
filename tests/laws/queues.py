"""Queues and routers: what they admit, hold and drop, counted or integrated by hand."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from laws.formulas import udp
from laws.generator import names, path
from laws.law import Document, equal, holds, law, require, within
from laws.measure import SECOND, bps, link, nbytes, picoseconds, recorded, run

if TYPE_CHECKING:
    from laws.draw import Draw


#: Disciplines that drop half of the longest queue when there is no room (RFC 8290, 4.1.3).
HALVES = ("fq-codel", "fq-pie")


# --- places ---------------------------------------------------------------------------------------


def burst(draw: Draw) -> Document:
    """Return an initial window that arrives at once at an idle queue, over before an ACK is back."""
    window = draw.whole(5, 60)
    places, counts = draw.pair(["1 packet", "3 packets", "10 packets", "25 packets", "12000 B"],
                               ["waiting", "in-system"])  # fmt: skip
    discipline = draw.turn([each for each in names("queue") if each not in ("red", "dualpi2", *HALVES)])
    queue = places if discipline == "drop-tail" else {"discipline": discipline, "limit": places}
    made = path(
        f"{draw.pick([10, 40, 200])} Mbps",
        400,
        queue,
        duration="390 ms",
        queue_counts=counts,
        access="100 Gbps",
        flows=[
            {"transport": {"initial_window": f"{window} segments", "handshake": False, "receive_window": "unlimited"}}
        ],
    )
    made["record"]["interval"] = draw.pick(["off", "10 ms"])
    return made


@law(burst, share=0.5)
def burst_places(document: Document) -> None:
    """Of a window that arrives at once at an idle link as many packets are dropped as find no place.

    Condition: packets of one size, which arrive within a transmission time and have left within
    CoDel's interval and PIE's first burst, 100 and 150 ms; the one in service has a place or not,
    as queue_counts says; the retransmission timer has not expired, and no ACK is back; not a
    discipline that makes room by dropping half of a queue.
    Source: counting: n packets, one in service, K that wait.
    """
    bottleneck = document["network"]["bottleneck"]
    queue = bottleneck["queue"]
    limit = queue["limit"] if isinstance(queue, dict) else queue
    places = int(limit.split()[0]) // (1500 if limit.endswith("B") else 1)
    if bottleneck["queue_counts"] == "waiting":
        places += 1
    window = int(document["flow"][0]["transport"]["initial_window"].split()[0])
    equal(link(run(document))["drops"], max(window - max(places, 1), 0), f"drops of {window} packets")


def standing(draw: Draw) -> Document:
    """Return UDP of exactly the rate of a slow CoDel link, and one packet more."""
    rate = draw.whole(150, 900)
    first = draw.whole(1, 1000)
    more = {**udp(f"{rate * 10} bps"), "start": f"{first} ms", "stop": f"{first + 1} ms"}
    return path(
        f"{rate} kbps",
        draw.whole(10, 60),
        {"discipline": draw.turn(["codel", "fq-codel"]), "limit": "100 packets"},
        duration="20 s",
        flows=[udp(f"{rate} kbps"), more],
    )


@law(standing, share=0.4)
def codel_last_packet(document: Document) -> None:
    """CoDel drops nothing while no more than a packet waits, however long it waits.

    Condition: one packet waits at each time, for its own transmission time, above the target.
    Source: RFC 8289, 4.2: the queue must not be "less than one MTU's worth of bytes" for it to act;
    5.3, `bytes <= maxpacket`.
    """
    found = link(run(document))
    equal(found["drops"], 0, "drops")
    holds(found["queue_mean_packets"] > 0.9, "nothing waits")


def steady_red(draw: Draw) -> Document:
    """Return UDP above the rate of a RED queue whose average hardly moves."""
    queue = {
        "discipline": "red",
        "limit": "400 packets",
        "minimum": "60 packets",
        "maximum": "200 packets",
        "max_probability": 0.2,
        "weight": 0.001,
    }
    load = udp(f"{draw.pick([11, 12])} Mbps", packet="1000 B")
    return path("10 Mbps", 20, queue, duration="50 s", interval="100 ms", flows=[load], seed=draw.whole(1, 99))


@law(steady_red, share=0.3)
def red_gaps(document: Document) -> None:
    """RED's drops are spread evenly: the gaps between them are uniform, up to 1/p of its mean queue.

    Condition: from 25 s on, where the average is steady; some 3,000 gaps. The standard deviation of
    a uniform gap is 0.58 of its mean, of a geometric one nearly 1: at most 0.75. The mean within 15
    %: the queue of the samples, and its average.
    Source: Floyd and Jacobson 1993, section VII, method 2.
    """
    result, packets = recorded(document)
    here = packets.filter(
        pl.col("event").is_in(["enqueue", "drop"]) & (pl.col("link") == "bottleneck") & (pl.col("time") > 25 * SECOND)
    )
    lost = set(here.filter(pl.col("event") == "drop")["packet"].to_list())
    places = [place for place, packet in enumerate(here["packet"].unique(maintain_order=True)) if packet in lost]
    gaps = [two - one for one, two in pairwise(places)]
    holds(len(gaps) > 500, "few drops")
    mean = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    require(spread <= 0.75 * mean, "spread of the gaps over their mean", spread / mean, "0.58, at most 0.75")
    rows = pl.DataFrame(result.links).filter((pl.col("link").cast(pl.String) == "bottleneck") & (pl.col("time_s") > 25))
    queue = float(rows["queue_packets"].mean() or 0)
    within(mean, (1 / (0.2 * (queue - 60) / 140) + 1) / 2, "mean gap, packets", relative=0.15)


# --- PIE ------------------------------------------------------------------------------------------

#: RFC 8033, 4.2, 5.5 and appendix A: updates every 15 ms, alpha and beta per second of delay, the
#: table by which both are scaled, and the first 150 ms, in which nothing is dropped; 5.4, the sum
#: of probabilities below which a drop does not follow another.
UPDATE, ALPHA, BETA, TARGET, FREE, APART = 0.015, 0.125, 1.25, 0.015, 0.150, 0.85
SCALES = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2))


def fluid(load: float, span: float) -> list[float]:
    """Return the delay of a PIE queue at each update, s, under a constant load, by its equations."""
    p, delay, before, found = 0.0, 0.0, 0.0, []
    for n in range(1, round(span / UPDATE) + 1):
        step = ALPHA * (delay - TARGET) + BETA * (delay - before)
        step /= next((scale for most, scale in SCALES if p < most), 1)
        p = min(max(p + (min(step, 0.02) if p >= 0.1 else step), 0.0), 1.0)
        before = delay
        drops = n * UPDATE >= FREE and not (before < TARGET / 2 and p < 0.2)
        gap = math.ceil(APART / p) - 1 + 1 / p if p and drops else math.inf
        delay = max(delay + (load * (1 - 1 / gap) - 1) * UPDATE, 0.0)
        found.append(delay)
    return found


def pie_load(draw: Draw) -> Document:
    """Return UDP somewhat above the rate of a PIE queue."""
    return path(
        "400 Mbps",
        10,
        {"discipline": "pie", "limit": "unlimited", "ecn": False},
        duration="12 s",
        interval="15 ms",
        seed=draw.whole(1, 99),
        access="100 Gbps",
        flows=[udp(f"{400 * draw.turn([1.005, 1.02, 1.06, 1.15, 1.3]):g} Mbps", packet="1000 B")],
    )


@law(pie_load, share=0.6)
def pie_trajectory(document: Document) -> None:
    """A PIE queue under a constant load follows the equations of the controller.

    Condition: a fluid; of 50,000 packets/s 250 or more are dropped, a gap of 0.85/p + 1/p apart
    (derandomization). The mean difference over 12 s is within 12 % of the mean, and 1 ms; the peak
    within 12 %.
    Source: RFC 8033, 4.2, 5.4 and appendix A, integrated.
    """
    load = bps(document["flow"][0]["traffic"]["rate"]) / bps(document["network"]["bottleneck"]["rate"])
    right = fluid(load, 12.0)
    rows = pl.DataFrame(run(document).links).filter(pl.col("link").cast(pl.String) == "bottleneck")
    found = [packets * 8000 / 4e8 for packets in rows["queue_packets"].to_list()]
    found = found[len(found) - len(right) :] if len(found) > len(right) else found
    number = min(len(found), len(right))
    apart = sum(abs(one - two) for one, two in zip(found, right, strict=False)) / number
    mean = sum(right) / len(right)
    require(apart <= 0.12 * mean + 1e-3, "mean difference from the equations, s", apart, f"12 % of {mean}")
    within(max(found), max(right), "longest delay, s", relative=0.12)


# --- routers --------------------------------------------------------------------------------------


def csfq_load(draw: Draw) -> Document:
    """Return UDP flows of several rates at a CSFQ link whose rate changes."""
    made = path(
        f"{draw.turn([5, 20])} Mbps",
        20,
        "100 packets",
        duration="40 s",
        seed=draw.whole(1, 99),
        interval="100 ms",
        flows=[
            udp(f"{rate} Mbps", packet="1000 B", arrivals="poisson")
            for rate in draw.pick([(2, 6, 9), (6, 6, 6, 6), (1, 4, 12, 12)])
        ],
        changes=[{"at": "5 s", "rate": "10 Mbps"}],
    )
    made["router"] = [{"mechanism": "csfq", "links": ["bottleneck"]}]
    return made


@law(csfq_load)
def csfq_share(document: Document) -> None:
    """Behind CSFQ unresponsive flows get the max-min fair share of the rate of the present.

    Condition: from 10 s after the change of the rate; within 15 % of the share, by which the
    estimators of the paper's simulations differ, and the link is full.
    Source: Stoica, Shenker, Zhang 1998, equation 1: the sum of min(rate, alpha) is the capacity.
    """
    demands = [bps(each["traffic"]["rate"]) for each in document["flow"]]
    low, high = 0.0, 1e7
    for _ in range(60):
        share = (low + high) / 2
        low, high = (share, high) if sum(min(each, share) for each in demands) < 1e7 else (low, share)
    _, packets = recorded(document)
    late = packets.filter((pl.col("event") == "deliver") & (pl.col("time") > 15 * SECOND))
    total = 0.0
    for place, demand in enumerate(demands):
        rate = late.filter(pl.col("flow") == f"flow{place + 1}").height * 8000 / 25
        total += rate
        within(rate, min(demand, low), f"rate of flow {place + 1}, bit/s", relative=0.15)
    require(total >= 0.95e7, "rate of all, bit/s", total, "95 % of 10 Mbit/s")


def forwarding(draw: Draw) -> Document:
    """Return UDP above what a router forwards."""
    number, limit = draw.whole(200, 2000), draw.pick([0, 1, 5, 30])
    made = path("100 Mbps", 10, "unlimited", duration="3 s", flows=[
        udp(f"{number * draw.pick([1.2, 2]) * 0.008:.3f} Mbps", packet="1000 B")])  # fmt: skip
    made["router"] = [{"mechanism": "forwarding-limit", "links": ["bottleneck"], "packets_per_second": float(number),
                       "limit": f"{limit} packets"}]  # fmt: skip
    return made


@law(forwarding, share=0.5)
def forwarding_wait(document: Document) -> None:
    """A router that forwards n packets a second, of which K wait, delays a packet at most by
    (K + 1)/n, and by K/n or more once it is full.

    Condition: a load above n; the first second is left out.
    Source: a FIFO of K places at a rate of n empties in K/n.
    """
    _, packets = recorded(document)
    router = document["router"][0]
    number, limit = router["packets_per_second"], int(router["limit"].split()[0])
    network = document["network"]
    fixed = picoseconds(network["access"]["delay"]) + 8000 * SECOND // bps(network["access"]["rate"])
    came = dict(packets.filter((pl.col("event") == "transmit") & (pl.col("link") == "source1-left")).select(
        "packet", "time").rows())  # fmt: skip
    went = packets.filter((pl.col("event") == "enqueue") & (pl.col("link") == "bottleneck") & (pl.col("time") > SECOND))
    waits = [time - came[packet] - fixed for packet, time in went.select("packet", "time").rows()]
    service = SECOND / number
    require(max(waits) <= (limit + 1) * (service + 1), "longest delay, ps", max(waits), f"at most {limit + 1} services")
    require(
        min(waits) >= limit * (service - 1), "shortest delay when full, ps", min(waits), f"at least {limit} services"
    )


def nth(draw: Draw) -> Document:
    """Return UDP of which every nth packet is lost."""
    made = path("50 Mbps", draw.whole(10, 40), "unlimited", duration="2 s", seed=draw.whole(1, 99), flows=[
        udp(f"{draw.whole(1, 9)} Mbps", packet=draw.pick(["300 B", "1500 B"]), arrivals=draw.pick(
            ["constant", "poisson"]))])  # fmt: skip
    made["router"] = [{"mechanism": "loss", "kinds": ["datagram"], "every": draw.whole(1, 60), "links": ["bottleneck"]}]
    return made


@law(nth, share=0.3)
def every_nth(document: Document) -> None:
    """Of n packets at a router that loses one in N, n // N are lost, N - 1 apart.

    Source: counting.
    """
    _, packets = recorded(document)
    every = document["router"][0]["every"]
    here = packets.filter(
        pl.col("event").is_in(["enqueue", "drop"]) & ((pl.col("link") == "bottleneck") | (pl.col("event") == "drop"))
    )
    fates = here["event"].cast(pl.String).to_list()
    lost = [place for place, event in enumerate(fates) if event == "drop"]
    equal(len(lost), len(fates) // every, f"losses of {len(fates)}")
    equal(sorted({two - one for one, two in pairwise(lost)}), [every] * (len(lost) > 1), "intervals")


def thinned(draw: Draw) -> Document:
    """Return a flow whose ACKs are thinned."""
    made = path(f"{draw.pick([5, 20])} Mbps", draw.whole(10, 60), "unlimited", duration="4 s", flows=[
        {"transport": {"receive_window": "60 kB", "delayed_ack": {"every": draw.pick([1, 2])}}}])  # fmt: skip
    made["router"] = [{"mechanism": "ack-thinning", "interval": f"{draw.pick([2, 5, 12])} ms", "links": ["reverse"]}]
    return made


@law(thinned, share=0.5)
def thinned_wait(document: Document) -> None:
    """An ACK that waits for a later one waits for its interval at most.

    Source: the key interval of ack-thinning.
    """
    _, packets = recorded(document)
    network = document["network"]
    acks = packets.filter(pl.col("kind") == "ack")
    came = dict(acks.filter(pl.col("event") == "send").select("packet", "time").rows())
    went = acks.filter((pl.col("event") == "enqueue") & (pl.col("link") == "reverse"))
    longest = picoseconds(document["router"][0]["interval"]) + picoseconds(network["access"]["delay"]) + SECOND // 10**5
    holds(went.height > 20, "few ACKs")
    for packet, time in went.select("packet", "time").rows():
        require(time - came[packet] <= longest, f"ACK {packet}, time before its link, ps", time - came[packet], longest)


def reordered(draw: Draw) -> Document:
    """Return UDP of which some packets are held."""
    made = path("50 Mbps", draw.whole(10, 40), "unlimited", duration="4 s", seed=draw.whole(1, 999), flows=[
        udp(f"{draw.whole(1, 9)} Mbps", packet="1000 B")])  # fmt: skip
    spread = draw.pick([{}, {"spread": f"{draw.whole(1, 9)} ms"}])
    made["router"] = [{"mechanism": "reordering", "links": ["bottleneck"], "probability": 0.2,
                       "delay": f"{draw.whole(3, 30)} ms", **spread}]  # fmt: skip
    return made


@law(reordered, share=0.3)
def reordered_wait(document: Document) -> None:
    """A reordered packet is held for the delay and at most the spread; the others for no time.

    Condition: a fifth of the packets: within six standard deviations.
    Source: the keys delay, spread and probability of reordering.
    """
    _, packets = recorded(document)
    router, access = document["router"][0], document["network"]["access"]
    fixed = picoseconds(access["delay"]) + 8000 * SECOND // bps(access["rate"])
    came = dict(packets.filter(pl.col("event") == "send").select("packet", "time").rows())
    went = packets.filter((pl.col("event") == "enqueue") & (pl.col("link") == "bottleneck"))
    waits = [time - came[packet] - fixed for packet, time in went.select("packet", "time").rows()]
    held = [wait for wait in waits if wait > 1]
    least, most = picoseconds(router["delay"]), picoseconds(router["delay"]) + picoseconds(router.get("spread", "0 s"))
    require(min(held) >= least - 1 and max(held) <= most + 1, "time for which packets are held, ps",
            (min(held), max(held)), (least, most))  # fmt: skip
    within(len(held), 0.2 * len(waits), f"held of {len(waits)}", absolute=6 * math.sqrt(0.16 * len(waits)) + 9)


def dense(draw: Draw) -> Document:
    """Return UDP whose packets follow each other within the jitter of a link."""
    return path("50 Mbps", draw.whole(10, 40), "unlimited", duration="2 s", seed=draw.whole(1, 999),
                jitter=draw.ms(2, 15), flows=[udp(f"{draw.whole(4, 20)} Mbps", packet="1000 B")])  # fmt: skip


@law(dense, share=0.3)
def jitter_keeps_order(document: Document) -> None:
    """Jitter does not reorder: packets arrive as they were sent.

    Source: docs/scenario-reference.md: a wire does not overtake.
    """
    _, packets = recorded(document)
    arrived = packets.filter(pl.col("event") == "deliver").sort("packet")["time"].to_list()
    holds(len(arrived) > 100, "few packets")
    require(arrived == sorted(arrived), "order of arrival", "another", "that of sending")


def stepping(draw: Draw) -> Document:
    """Return UDP that becomes faster."""
    rates = draw.pick([("1 kbps", "4 Mbps"), ("8 kbps", "1 Mbps"), ("50 kbps", "9 Mbps")])
    return path("100 Mbps", 10, "unlimited", duration="20 s", flows=[
        udp(rates[0], packet=f"{draw.pick([400, 1500])} B", steps=[
            {"at": f"{draw.whole(3000, 15000)} ms", "rate": rates[1]}])])  # fmt: skip


@law(stepping, share=0.3)
def prompt_steps(document: Document) -> None:
    """After a step up a source sends its next packet within an interval of the new rate.

    Source: the rate is that from the step on (docs/scenario-reference.md).
    """
    _, packets = recorded(document)
    traffic = document["flow"][0]["traffic"]
    at, rate = picoseconds(traffic["steps"][0]["at"]), bps(traffic["steps"][0]["rate"])
    first = packets.filter((pl.col("event") == "send") & (pl.col("time") >= at))["time"].min()
    interval = nbytes(traffic["packet"]) * 8 * SECOND // rate
    require(first is not None and first <= at + interval + 1, "first packet after the step, ps", first, at + interval)


def turns(draw: Draw) -> Document:
    """Return two UDP flows of other sizes that a DRR queue always has packets of."""
    sizes = draw.random.sample([200, 500, 900, 1500], 2)
    queue = {"discipline": draw.turn(["drr", "fq-pie", "fq-codel"]), "limit": "400 packets"}
    flows = [udp("8 Mbps", packet=f"{size} B") for size in sizes]
    return path("10 Mbps", 10, queue, duration="3 s", seed=draw.whole(1, 99), flows=flows)


@law(turns, share=0.3)
def fair_turns(document: Document) -> None:
    """Of two flows that always have packets none is served three quanta more than the other, in any
    time.

    Condition: from 0.5 s on, when both wait; a quantum of 1514 B or the discipline's.
    Source: Shreedhar and Varghese 1995, theorem 5 (Golestani's measure): max + 2 quanta.
    """
    _, packets = recorded(document)
    here = packets.filter(
        (pl.col("link") == "bottleneck") & (pl.col("event") == "transmit") & (pl.col("time") > SECOND // 2)
    )
    lead, low, high = 0, 0, 0
    for name, size in here.select(pl.col("flow").cast(pl.String), "size_bytes").rows():
        lead += size if name == "flow1" else -size
        low, high = min(low, lead), max(high, lead)
    sizes = [nbytes(each["traffic"]["packet"]) for each in document["flow"]]
    holds(here["flow"].n_unique() == 2, "one flow alone")
    most = 3 * 1514 + max(sizes)
    require(high - low <= most, "bytes by which one flow was ahead of the other", high - low, f"at most {most}")


def bursty(draw: Draw) -> Document:
    """Return UDP over a wire that loses in bursts."""
    return path("100 Mbps", draw.whole(10, 60), "unlimited", duration="20 s", seed=draw.whole(1, 9999), flows=[
        udp("16 Mbps", packet="1000 B")], loss={"good_to_bad": draw.pick([0.01, 0.02]), "bad_to_good": draw.turn(
            [0.2, 0.4, 0.7])})  # fmt: skip


@law(bursty, share=0.3)
def length_of_bursts(document: Document) -> None:
    """Losses in bursts last for 1/b packets on average.

    Condition: the bad state loses all; 40,000 packets, 400 bursts or more: six standard errors.
    Source: Gilbert 1960: the length of a stay is geometric.
    """
    _, packets = recorded(document)
    lost = packets.filter(pl.col("event").is_in(["transmit", "lose"]) & (pl.col("link") == "bottleneck"))
    fate: dict[int, bool] = {}
    for packet, event in lost.select("packet", pl.col("event").cast(pl.String)).rows():
        fate[packet] = event != "transmit" or fate.get(packet, False)
    runs, length = [], 0
    for gone in fate.values():
        if gone:
            length += 1
        elif length:
            runs.append(length)
            length = 0
    holds(len(runs) > 100, "few bursts")
    end = document["network"]["bottleneck"]["loss"]["bad_to_good"]
    error = math.sqrt(1 - end) / end / math.sqrt(len(runs))
    within(sum(runs) / len(runs), 1 / end, "mean burst, packets", absolute=6 * error + 1e-3)


def in_a_row(draw: Draw) -> Document:
    """Return rare UDP over two links with jitter."""
    jitters = (draw.ms(3, 15), draw.ms(3, 15))
    links = [
        {"from": a, "to": b, "rate": "100 Mbps", "delay": "5 ms", "queue": "unlimited", **more}
        for a, b, more in (("a", "b", {"jitter": jitters[0]}), ("b", "c", {"jitter": jitters[1]}), ("c", "d", {}))
    ]
    return {
        "schema": 1,
        "duration": "120 s",
        "seed": draw.whole(1, 9999),
        "network": {"topology": "graph", "nodes": ["a", "b", "c", "d"], "link": links},
        "record": {"interval": "off"},
        "flow": [{"from": "a", "to": "d", **udp("200 kbps", packet="1000 B")}],
    }


@law(in_a_row, share=0.4)
def independent_links(document: Document) -> None:
    """The jitters of two links are independent: variances add.

    Condition: packets 40 ms apart, more than both jitters, so that none waits for another; 3,000
    packets: the standard error of a correlation is 0.018, five of it are allowed.
    Source: the variance of a sum of independent numbers.
    """
    _, packets = recorded(document)
    settings = document["network"]["link"]
    times: list[dict[int, int]] = []
    for name, event in (("a-b", "transmit"), ("b-c", "transmit"), ("c-d", "enqueue")):
        rows = packets.filter((pl.col("event") == event) & (pl.col("link") == name)).select("packet", "time").rows()
        times.append(dict(rows))
    one = [times[1][packet] - times[0][packet] for packet in times[2]]
    two = [time - times[1][packet] for packet, time in times[2].items()]
    means = [sum(each) / len(each) for each in (one, two)]
    spreads = [
        math.sqrt(sum((x - mean) ** 2 for x in each) / len(each)) for each, mean in zip((one, two), means, strict=True)
    ]
    for spread, each in zip(spreads, settings, strict=False):
        within(spread, picoseconds(each["jitter"]) / math.sqrt(12), "spread of a jitter, ps", relative=0.08)
    both = sum((x - means[0]) * (y - means[1]) for x, y in zip(one, two, strict=True)) / len(one)
    within(both / spreads[0] / spreads[1], 0.0, "correlation of the jitters", absolute=0.09)
