"""Formulas, tables and distributions: each with the sample that its tolerance needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from laws.generator import names, path
from laws.law import Document, equal, holds, law, require, within
from laws.measure import SECOND, bps, changed, flow, goodput, link, nbytes, picoseconds, recorded, run, seconds

if TYPE_CHECKING:
    from laws.draw import Draw


def udp(rate: str, **more: Any) -> Document:  # noqa: ANN401
    """Return a UDP flow."""
    return {"protocol": "udp", "traffic": {"rate": rate, **more}}


# --- queues ---------------------------------------------------------------------------------------


def single_server(draw: Draw) -> Document:
    """Return Poisson arrivals of one size at a load, 400,000 packets."""
    load = draw.turn([0.3, 0.5, 0.7, 0.8])
    rate = 8e8
    return path(
        "800 Mbps",
        10,
        "unlimited",
        duration=f"{400_000 * 8000 / rate / load:.3f} s",
        seed=draw.whole(1, 999),
        access="100 Gbps",
        flows=[udp(f"{load * 800:g} Mbps", packet="1000 B", arrivals="poisson")],
    )


@law(single_server, share=0.7)
def m_d_1(document: Document) -> None:
    """Poisson arrivals at a link wait load/2(1 - load) services on average.

    Condition: one size. Waits are correlated over some 1/(1 - load)^2 services: at 0.8 there are
    16,000 independent ones, whose mean is good to 1 %; 6 % is five standard errors.
    Source: Pollaczek and Khinchine.
    """
    load = bps(document["flow"][0]["traffic"]["rate"]) / bps(document["network"]["bottleneck"]["rate"])
    found = link(run(document))
    within(found["queue_mean_s"], load / (2 * (1 - load)) * 1e-5, "mean wait, s", relative=0.06)
    within(found["utilization"], load, "utilization", relative=0.01)


def small_buffer(draw: Draw) -> Document:
    """Return Poisson arrivals of nearly exponential sizes at a small buffer, 200,000 packets."""
    sizes = [{"size": f"{25 + 50 * n} B", "weight": max(round(math.exp(-n / 10) * 1e3, 3), 0.001)} for n in range(90)]
    mean = sum(float(each["weight"]) * (25 + 50 * n) for n, each in enumerate(sizes)) / sum(
        float(each["weight"]) for each in sizes)  # fmt: skip
    load = draw.pick([0.6, 0.9, 1.2])
    rate = 1e8
    return path("100 Mbps", 10, f"{draw.turn([2, 4, 8])} packets", queue_counts="in-system", seed=draw.whole(1, 999),
                duration=f"{200_000 * mean * 8 / rate / load:.3f} s", access="100 Gbps",
                flows=[udp(f"{load * 100:g} Mbps", packet=sizes, arrivals="poisson")])  # fmt: skip


@law(small_buffer, share=0.7)
def m_m_1_k(document: Document) -> None:
    """Of Poisson arrivals of exponential sizes a buffer of K refuses (1 - r) r^K/(1 - r^(K+1)).

    Condition: sizes in steps of 50 B, cut at ten means. 4,000 refusals or more: 10 % is four
    standard errors with the correlation of refusals.
    Source: Erlang; Kleinrock, Queueing Systems I, 3.6.
    """
    load = bps(document["flow"][0]["traffic"]["rate"]) / 1e8
    places = int(document["network"]["bottleneck"]["queue"].split()[0])
    right = (1 - load) * load**places / (1 - load ** (places + 1))
    found = link(run(document))
    within(found["drops"] / (found["drops"] + found["packets"]), right, "share refused", relative=0.1)


def shares(draw: Draw) -> Document:
    """Return UDP flows of several sizes and rates over a fair discipline."""
    flows = [udp(f"{draw.pick([1, 2.5, 6, 9])} Mbps", packet=f"{size} B", arrivals="poisson")
             for size in draw.random.sample([200, 500, 900, 1500], 3)]  # fmt: skip
    return path("10 Mbps", 20, {"discipline": draw.turn(["drr", "fq-codel", "fq-pie"]), "limit": "300 packets"},
                duration="20 s", flows=flows, seed=draw.whole(1, 99))  # fmt: skip


@law(shares)
def fair_share(document: Document) -> None:
    """Unresponsive flows get the max-min fair shares of the link, in bytes, whatever their sizes.

    Condition: no collision in the hash (1024 queues, three flows: one in 340), no demand within 15
    % of the share. Within 10 %: a source of 1 Mbit/s sends 1,700 packets of 1500 B, by chance 2.4 %
    more or less.
    Source: Shreedhar and Varghese 1995; RFC 8290, 4.1.
    """
    demands = [bps(each["traffic"]["rate"]) for each in document["flow"]]
    left, rest, share = 1e7, sorted(demands), 0.0
    for n, demand in enumerate(rest):
        share = left / (len(rest) - n)
        if demand > share:
            break
        left -= demand
    holds(sum(demands) > 1.1e7 and all(abs(each / share - 1) > 0.15 for each in demands), "no contention")
    found = [each["throughput_bps"] for each in run(document).summary["flows"]]
    for number, (one, demand) in enumerate(zip(found, demands, strict=True)):
        within(one, min(demand, share), f"throughput of flow {number + 1}, bit/s", relative=0.1)


def overload(draw: Draw) -> Document:
    """Return UDP above the rate of a CoDel queue."""
    return path("10 Mbps", 20, {"discipline": "codel", "limit": "unlimited"}, duration="8 s", interval="off", flows=[
        udp(f"{draw.pick([11, 13, 15])} Mbps", packet=f"{draw.pick([500, 1000, 1500])} B")])  # fmt: skip


@law(overload, share=0.5)
def codel_law(document: Document) -> None:
    """CoDel's nth drop follows the one before by interval/sqrt(n).

    Condition: a load that never lets the sojourn time below the target; a packet time of the link,
    in which no packet leaves, more or less.
    Source: RFC 8289, 4.2.
    """
    _, packets = recorded(document)
    drops = packets.filter((pl.col("event") == "drop") & (pl.col("link") == "bottleneck"))["time"].to_list()
    holds(len(drops) > 20, "few drops")
    size = nbytes(document["flow"][0]["traffic"]["packet"])
    service = size * 8 * SECOND / 1e7
    due = float(drops[0])
    for n, time in enumerate(drops[:100], 1):
        within(time, due, f"time of drop {n}, ps", absolute=1.01 * service)
        due += 0.1 * SECOND / math.sqrt(n)


def pulsed(draw: Draw) -> Document:
    """Return UDP above the rate of a CoDel queue, a pause, and the same UDP."""
    rate = draw.pick([10.6, 10.8, 11])
    return path(
        "10 Mbps",
        20,
        {"discipline": "codel", "limit": "unlimited"},
        duration="8 s",
        flows=[
            {
                "protocol": "udp",
                "traffic": {
                    "rate": f"{rate} Mbps",
                    "packet": "1000 B",
                    "steps": [
                        {"at": "4 s", "rate": "0 bps"},
                        {"at": f"{draw.pick([4.6, 4.8, 5.0])} s", "rate": f"{rate} Mbps"},
                    ],
                },
            }
        ],
    )


@law(pulsed, share=0.4)
def codel_remembers(document: Document) -> None:
    """CoDel continues with the drop rate that controlled the queue shortly before.

    Condition: the queue was empty in between, and less than 16 intervals have passed; the first
    cycle had five drops.
    Source: RFC 8289, 4.2 and 5.5: count resumes at what it had grown by, so that the second drop
    follows sooner than an interval.
    """
    _, packets = recorded(document)
    again = picoseconds(document["flow"][0]["traffic"]["steps"][1]["at"])
    drops = packets.filter((pl.col("event") == "drop") & (pl.col("link") == "bottleneck"))["time"].to_list()
    before, after = [each for each in drops if each < again], [each for each in drops if each >= again]
    last = packets.filter((pl.col("event") == "transmit") & (pl.col("link") == "bottleneck") & (pl.col("time") < again))
    holds(len(before) > 5 and len(after) > 2 and (last["time"].max() or 0) < again - SECOND // 100, "no second cycle")
    require(
        after[1] - after[0] < 0.075 * SECOND,
        "second drop after the first, ps",
        after[1] - after[0],
        "0.1 s/sqrt(2) at most",
    )


def red_load(draw: Draw) -> Document:
    """Return UDP slightly above the rate of a RED queue, with or without a change of rate before."""
    change = draw.pick([[], [{"at": "10 s", "rate": "10 Mbps"}]])
    least, most = draw.pick([(20, 100), (40, 120), (60, 130)])
    made = path("10 Mbps" if not change else "40 Mbps", 20, {
        "discipline": "red", "limit": "300 packets", "minimum": f"{least} packets", "maximum": f"{most} packets",
        "max_probability": 0.2, "weight": 0.002}, duration="90 s", interval="100 ms", seed=draw.whole(1, 99),
        flows=[udp(f"{draw.turn([11, 12, 13])} Mbps", packet="1000 B", arrivals="poisson")])  # fmt: skip
    if change:
        made["network"]["bottleneck"]["changes"] = change
    return made


@law(red_load, share=0.7)
def red_equilibrium(document: Document) -> None:
    """RED's queue settles where its probability is the share of the load that does not fit.

    Condition: drops are spread evenly (Floyd's count), so that a probability p_b drops 2 p_b/(1 +
    p_b); not in the first 30 s. Within 12 %, and thresholds at several ratios.
    Source: Floyd and Jacobson 1993, section VII.
    """
    load = bps(document["flow"][0]["traffic"]["rate"]) / 1e7
    share = 1 - 1 / load
    queue = document["network"]["bottleneck"]["queue"]
    single = share / (2 - share)
    least, most = (int(queue[key].split()[0]) for key in ("minimum", "maximum"))
    right = least + single / queue["max_probability"] * (most - least)
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 30) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    within(float(rows["queue_packets"].mean() or 0), right, "mean queue, packets", relative=0.12)


def idle_red(draw: Draw) -> Document:
    """Return a RED queue that is overloaded, then idle, then lightly loaded."""
    return path(
        "10 Mbps",
        20,
        {"discipline": "red", "limit": "300 packets", "minimum": f"{draw.whole(5, 20)} packets"},
        duration="12 s",
        flows=[
            {
                "protocol": "udp",
                "traffic": {
                    "rate": "15 Mbps",
                    "packet": "1000 B",
                    "steps": [{"at": "3 s", "rate": "0 bps"}, {"at": f"{draw.whole(6, 10)} s", "rate": "4 Mbps"}],
                },
            }
        ],
        seed=draw.whole(1, 99),
    )


@law(idle_red, share=0.3)
def red_forgets(document: Document) -> None:
    """RED's average decays while the queue is empty: after seconds of silence a light load loses
    nothing.

    Source: Floyd and Jacobson 1993, section IV: the m packets that could have been sent.
    """
    _, packets = recorded(document)
    again = picoseconds(document["flow"][0]["traffic"]["steps"][1]["at"])
    late = packets.filter((pl.col("event") == "drop") & (pl.col("time") >= again)).height
    equal(late, 0, "drops after the silence")


def targets(draw: Draw) -> Document:
    """Return many CUBIC flows over a discipline with a target, with a change of rate or without."""
    discipline, first = draw.pair(["pie", "fq-pie", "dualpi2", "codel", "fq-codel"], [10, 80, 30])
    made = path(
        f"{first} Mbps",
        draw.pick([30, 40]),
        {"discipline": discipline, "limit": "3000 packets"},
        duration="40 s",
        interval="20 ms",
        seed=draw.whole(1, 99),
        flows=[{"congestion_control": "cubic", "count": 6, "start_jitter": "1 s", "overhead": "1 packet"}],
    )
    if first != 10:
        made["network"]["bottleneck"]["changes"] = [{"at": "10 s", "rate": "10 Mbps"}]
    return made


@law(targets, share=1.5)
def aqm_target(document: Document) -> None:
    """A discipline keeps its target, also after the rate has changed.

    Condition: 6 CUBIC flows on 10 Mbit/s, some 6 packets each, from 15 s after the change. PIE and
    DualPI2 within 40 % of 15 ms; CoDel at most four times 5 ms: its drops follow, they do not steer
    (RFC 8289, 4.4); with a queue per flow, 1.2 ms of packet time for each.
    Source: RFC 8033, 4.2; RFC 9332, A.1; RFC 8289, 4.4.
    """
    discipline = document["network"]["bottleneck"]["queue"]["discipline"]
    result = run(document)
    rows = pl.DataFrame(result.links).filter((pl.col("time_s") > 25) & (pl.col("link").cast(pl.String) == "bottleneck"))
    wait = float(rows["queue_packets"].mean() or 0) * 1.2e-3
    if "codel" in discipline:
        require(wait <= 0.020, "mean wait, s", wait, "at most four times 5 ms")
    elif discipline == "fq-pie":
        require(0.006 <= wait <= 0.030, "mean wait, s", wait, "15 ms within a factor of 2")
    else:
        within(wait, 0.015, "mean wait, s", relative=0.4)


def aqm_loads(draw: Draw) -> Document:
    """Return UDP slightly above the rate of a discipline with a target, after a change of rate."""
    discipline, before = draw.pair(["pie", "dualpi2", "fq-pie"], ["100 Mbps", "1 Mbps", "10 Mbps"])
    made = path(before, 20, {"discipline": discipline, "limit": "3000 packets"}, duration="60 s", interval="20 ms",
                seed=draw.whole(1, 99), flows=[udp(f"{draw.pick([10.5, 11, 12])} Mbps", packet="1000 B",
                                                   arrivals="poisson")])  # fmt: skip
    if before != "10 Mbps":
        made["network"]["bottleneck"]["changes"] = [{"at": "15 s", "rate": "10 Mbps"}]
    return made


@law(aqm_loads)
def aqm_load(document: Document) -> None:
    """A discipline's wait under a load does not depend on the rate that the link had before.

    Condition: from 20 s after the change; within 40 % and 5 ms.
    Source: RFC 8033, 4.2: the delay is estimated from the rate of the present.
    """
    plain = changed(document, lambda each: (each["network"]["bottleneck"].pop("changes", None),
                                            each["network"]["bottleneck"].update(rate="10 Mbps")))  # fmt: skip
    waits = []
    for each in (document, plain):
        rows = pl.DataFrame(run(each).links).filter(
            (pl.col("time_s") > 35) & (pl.col("link").cast(pl.String) == "bottleneck")
        )
        waits.append(float(rows["queue_packets"].mean() or 0) * 0.8e-3)
    within(waits[0], waits[1], "mean wait, s", relative=0.4, absolute=5e-3)


def mixed(draw: Draw) -> Document:
    """Return Prague and CUBIC over DualPI2."""
    return path(f"{draw.pick([20, 40])} Mbps", draw.whole(30, 60), {"discipline": "dualpi2", "limit": "3000 packets"},
                duration="60 s", seed=draw.whole(1, 99), flows=[
        {"congestion_control": "prague", "transport": {"ecn": "accurate"}, "count": draw.pick([1, 2])},
        {"congestion_control": "cubic", "count": draw.pick([1, 2]), "overhead": "1 packet"}])  # fmt: skip


@law(mixed)
def pi2_square(document: Document) -> None:
    """Classic packets are dropped with a probability p^2 of which scalable ones are marked with 2
    p.

    Condition: 60 drops; the ramp of the L queue marks besides, so it is at least that; above, at
    most twice and 3 % more. The two are those of different moments: 30 % less is allowed.
    Source: RFC 9332, 2.1 and 4.1, equation 1, with a coupling of 2.
    """
    _, packets = recorded(document)
    here = packets.filter(
        (pl.col("link") == "bottleneck") & (pl.col("time") > 10 * SECOND) & (pl.col("kind") == "data")
    )
    scalable = here.filter(pl.col("flow").str.starts_with("flow1"))
    classic = here.filter(pl.col("flow").str.starts_with("flow2"))

    def number(part: pl.DataFrame, event: str) -> int:
        return part.filter(pl.col("event") == event).height

    drops = number(classic, "drop")
    holds(drops >= 60, "few drops")
    p = math.sqrt(drops / max(number(classic, "enqueue"), 1))
    marked = number(scalable, "mark") / max(number(scalable, "enqueue"), 1)
    require(0.7 * 2 * p <= marked <= 2 * 2 * p + 0.03, "share of scalable packets marked", marked, 2 * p)


@law(mixed)
def coupling(document: Document) -> None:
    """Behind DualPI2 Prague and CUBIC share the link about evenly.

    Condition: RTT of 30 ms or more: at 10 ms the classic queue's 15 ms are most of the RTT; within
    a factor of 2.5.
    Source: RFC 9332, 2.1 and appendix A: approximate equality of rates.
    """
    found = run(document).summary["flows"]
    rates = {name: [each["goodput_bps"] for each in found if each["algorithm"] == name] for name in ("prague", "cubic")}
    one, two = (sum(each) / len(each) for each in rates.values())
    require(0.4 <= one / two <= 2.5, "goodput of Prague to that of CUBIC", one / two, "1 within a factor of 2.5")


# --- losses, delays, sources ----------------------------------------------------------------------


def wire_losses(draw: Draw) -> Document:
    """Return UDP over a lossy wire, 20,000 packets."""
    loss: Document = draw.turn([{"probability": 0.003}, {"probability": 0.1}, {"good_to_bad": 0.02, "bad_to_good": 0.3},
                                {"good_to_bad": 0.01, "bad_to_good": 0.5, "loss_bad": 0.7}])  # fmt: skip
    return path("100 Mbps", draw.whole(10, 60), "unlimited", duration="20 s", seed=draw.whole(1, 9999), loss=loss,
                flows=[udp("8 Mbps", packet="1000 B")])  # fmt: skip


@law(wire_losses)
def binomial(document: Document) -> None:
    """Of n packets a lossy wire loses n p, within six standard deviations; in bursts with their
    variance.

    Source: the binomial distribution; Gilbert 1960: the chain is bad for g/(g + b) of the packets,
    bursts last 1/b, which multiplies the variance by (2 - g - b)/(g + b) at most.
    """
    loss = document["network"]["bottleneck"]["loss"]
    found = link(run(document))
    number = found["packets"]
    if "probability" in loss:
        p, factor = loss["probability"], 1.0
    else:
        g, b = loss["good_to_bad"], loss["bad_to_good"]
        p, factor = g / (g + b) * loss.get("loss_bad", 1), (2 - g - b) / (g + b)
    within(found["drops"], number * p, f"losses of {number}", absolute=6 * math.sqrt(number * p * (1 - p) * factor) + 1)


@law(wire_losses, share=0.3)
def loss_place(document: Document) -> None:
    """A lossy wire loses what crosses it, and no other link loses anything.

    Source: locality.
    """
    for each in run(document).summary["links"]:
        require(each["drops"] == 0 or each["name"] == "bottleneck", f"{each['name']}, losses", each["drops"], 0)


def jittered(draw: Draw) -> Document:
    """Return rare UDP packets over a link with jitter."""
    more: Document = draw.turn([{}, {"loss": {"probability": 0.2}}])
    return path("100 Mbps", draw.whole(10, 60), "unlimited", duration="60 s", seed=draw.whole(1, 999),
                jitter=draw.ms(1, 19), flows=[udp("400 kbps", packet="1000 B")], **more)  # fmt: skip


@law(jittered, share=0.5)
def jitter_mean(document: Document) -> None:
    """Jitter below J delays by J/2 on average, uniformly, whatever the wire loses.

    Condition: packets 20 ms apart, more than J, so that none waits for another; 2,400 packets: 5 %
    is eight standard errors of the mean, J/sqrt(12 n); the variance within 12 %.
    Source: the uniform distribution.
    """
    _, packets = recorded(document)
    bottleneck = document["network"]["bottleneck"]
    jitter = picoseconds(bottleneck["jitter"])
    out = dict(
        packets.filter((pl.col("event") == "transmit") & (pl.col("link") == "bottleneck"))
        .select("packet", "time")
        .rows()
    )
    into = dict(
        packets.filter((pl.col("event") == "enqueue") & (pl.col("link") == "right-sink1"))
        .select("packet", "time")
        .rows()
    )
    fixed = picoseconds(bottleneck["delay"]) + 1000 * 8 * SECOND // bps(bottleneck["rate"])
    delays = [into[packet] - out[packet] - fixed for packet in into]
    mean = sum(delays) / len(delays)
    within(mean, jitter / 2, "mean jitter, ps", relative=0.05)
    within(
        sum((each - mean) ** 2 for each in delays) / len(delays),
        jitter**2 / 12,
        "variance of the jitter",
        relative=0.12,
    )
    require(min(delays) >= 0 and max(delays) < jitter, "jitter, ps", (min(delays), max(delays)), f"0 to {jitter}")


def stepped(draw: Draw) -> Document:
    """Return a UDP source whose rate changes."""
    steps, at = [], 0.0
    for _ in range(draw.whole(1, 5)):
        at += draw.random.uniform(0.2, 3)
        steps.append({"at": f"{at:.3f} s", "rate": draw.pick(["0 bps", "1 kbps", "900 kbps", "4 Mbps", "7 Mbps"])})
    return path("100 Mbps", 10, "unlimited", duration="12 s", flows=[
        udp(draw.pick(["1 kbps", "3 Mbps"]), packet=f"{draw.pick([200, 1500])} B", steps=steps)])  # fmt: skip


@law(stepped, share=0.5)
def steps(document: Document) -> None:
    """A source sends the integral of its rate, to two packets a step, also when it was slow before.

    Source: the definition of a rate.
    """
    traffic = document["flow"][0]["traffic"]
    size = nbytes(traffic["packet"])
    times = [0.0, *(seconds(each["at"]) for each in traffic["steps"]), 12.0]
    rates = [bps(traffic["rate"]), *(bps(each["rate"]) for each in traffic["steps"])]
    right = sum(rate * max(0.0, min(two, 12.0) - min(one, 12.0)) for rate, one, two in
                zip(rates, times, [*times[1:-1], 12.0], strict=False)) / 8  # fmt: skip
    found = link(run(document), "source1-left")["bytes"]
    within(found, right, "bytes sent", absolute=(2 * len(rates) + 1) * size)


def web(draw: Draw) -> Document:
    """Return short connections, some 600."""
    return path("100 Mbps", 20, "unlimited", duration="60 s", seed=draw.whole(1, 999), flows=[
        {"traffic": {"interval": "100 ms", "size": {"distribution": "exponential", "mean": f"{draw.pick([4, 12])} kB"}},
         "congestion_control": draw.turn(names("window"))}])  # fmt: skip


@law(web)
def short_connections(document: Document) -> None:
    """Short connections start as a Poisson process, with sizes of their mean, and complete.

    Condition: 600 expected: five standard deviations are 122, and of the mean size 20 %.
    Source: the Poisson and the exponential distribution.
    """
    found = flow(run(document))["connections"]
    within(found["started"], 600, "connections started", absolute=122)
    mean = nbytes(document["flow"][0]["traffic"]["size"]["mean"])
    within(found["offered_bytes"] / found["started"], mean, "mean size, B", relative=0.2)
    require(found["completed"] >= found["started"] - 12, "completed", found["completed"], found["started"])


# --- windows --------------------------------------------------------------------------------------

#: Mean window in segments over loss rate p and RTT, and its source.
RESPONSES = {
    "reno": lambda p, rtt: math.sqrt(1.5 / p) + 0 * rtt,
    "highspeed": lambda p, rtt: max(0.12 / p**0.835, math.sqrt(1.5 / p)) + 0 * rtt,
    "scalable": lambda p, rtt: 0.08 / p + 0 * rtt,
    "cubic": lambda p, rtt: max(1.054 * rtt**0.75 / p**0.75, math.sqrt(1.5 / p)),
}


def periodic(draw: Draw) -> Document:
    """Return a window with a response function under periodic losses."""
    window, every = draw.pair(tuple(RESPONSES), [1000, 3000, 10_000])
    p = 1 / every
    made = path("100 Gbps", 100, "unlimited", access="100 Gbps", duration=f"{max(60, round(8 * every**0.5))} s",
                flows=[{"congestion_control": window}], interval="500 ms")  # fmt: skip
    start = round(RESPONSES[window](p, 0.1))
    made["transport"] = {"delayed_ack": draw.pick(["off", {"every": 2, "timer": "10 ms"}]), "initial_ssthresh":
                         f"{start} segments", "recovery": draw.pick(["newreno", "sack", "rack"])}  # fmt: skip
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": every, "links": ["bottleneck"]}]
    return made


@law(periodic, share=1.5)
def response_function(document: Document) -> None:
    """The mean window follows the published response function of the loss rate, for any ACK policy.

    Condition: losses one in N; a window above 31 for HighSpeed, above 16 for Scalable. Within 25 %:
    the round trip of a recovery, one or two of a cycle of eight (Scalable: 13) to sixty, and
    equation against simulation in the sources.
    Source: RFC 5681 with Mathis et al. 1997; RFC 3649, table 1; Kelly 2003; RFC 9438, equation 6
    and table 1.
    """
    every = document["router"][0]["every"]
    window = document["flow"][0]["congestion_control"]
    result = run(document)
    length = seconds(document["duration"])
    rows = pl.DataFrame(result.flows).filter(pl.col("time_s") > length / 3)
    first, last = rows["acknowledged_bytes"][0], rows["acknowledged_bytes"][-1]
    mean = (last - first) / (rows["time_s"][-1] - rows["time_s"][0]) * 0.1 / 1448
    within(mean, RESPONSES[window](1 / every, 0.1), "mean window, segments", relative=0.25)


def random_losses(draw: Draw) -> Document:
    """Return Reno under random losses."""
    return path("10 Gbps", draw.pick([40, 100]), "unlimited", duration="150 s", seed=draw.whole(1, 999), flows=[
        {"congestion_control": "reno", "transport": {"recovery": draw.pick(["newreno", "sack", "rack"]),
                                                     "delayed_ack": {"every": draw.pick([1, 2])}}}],
        loss={"probability": draw.turn([0.002, 0.005, 0.01, 0.02])})  # fmt: skip


@law(random_losses)
def pftk(document: Document) -> None:
    """Reno's throughput under losses is PFTK's.

    Condition: b = 1, because the bytes acknowledged count; a minimum RTO of 200 ms and the RTT; 700
    losses or more: 4 % for the count, and PFTK's assumption that a loss takes the rest of its round
    trip: 0.75 to 1.5 times.
    Source: Padhye, Firoiu, Towsley, Kurose 1998, equation 30.
    """
    p = document["network"]["bottleneck"]["loss"]["probability"]
    found = flow(run(document))
    rtt = found["rtt_mean_s"]
    rto = rtt + 0.2
    rate = 1 / (rtt * math.sqrt(2 * p / 3) + rto * min(1, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p))
    ratio = found["throughput_bps"] / 8 / 1448 / rate
    require(0.75 <= ratio <= 1.5, "throughput over PFTK's", ratio, "0.75 to 1.5")


def teeth(draw: Draw) -> Document:
    """Return one Reno flow and a drop-tail queue."""
    buffer, recovery = draw.pair([0.25, 0.5, 1.0, 1.5, 2.0], ["newreno", "sack", "rack"])
    made = path("24 Mbps", 50, f"{round(buffer * 101)} packets", duration="120 s", interval="50 ms", access="10 Gbps",
                flows=[{"congestion_control": "reno"}])  # fmt: skip
    made["transport"] = {"delayed_ack": draw.pick(["off", {"every": 2}]), "recovery": recovery}
    return made


@law(teeth)
def sawtooth(document: Document) -> None:
    """Utilization and mean queue of one Reno flow are the integrals of its sawtooth, for a buffer
    of b BDP.

    Condition: w from (1 + b)/2 to 1 + b BDP, a segment a round trip, which lasts max(1, w); the
    mean queue is that of the same integral. Within 3 % of utilization and 15 % and two packets of
    the queue.
    Source: Appenzeller, Keslassy, McKeown 2004; arithmetic.
    """
    buffer = int(document["network"]["bottleneck"]["queue"].split()[0]) / 101
    high, low = 1 + buffer, (1 + buffer) / 2
    full = max(low, 1.0)
    busy = (high**2 - full**2) / 2
    time = max(0.0, 1 - low) + busy
    sent = max(0.0, 1 - low**2) / 2 + busy
    queue = ((high**3 - full**3) / 3 - (high**2 - full**2) / 2) / time * 101
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 40) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    within(float(rows["utilization"].mean() or 0), sent / time, "utilization", absolute=0.03)
    within(float(rows["queue_packets"].mean() or 0), queue, "mean queue, packets", relative=0.15, absolute=2)


def delayed(draw: Draw) -> Document:
    """Return Vegas or FAST flows, with a change of rate or without."""
    window, (number, after) = draw.pair(["vegas", "fast"], [(n, rate) for n in (1, 2, 4) for rate in (24, 12, 48)])
    parameters = {"vegas": {"alpha": 2, "beta": 4}, "fast": {"alpha": float(draw.pick([20, 50]))}}[window]
    made = path("24 Mbps", 50, "unlimited", duration="40 s", interval="50 ms", access="10 Gbps", flows=[
        {"congestion_control": {"window": window, **parameters}, "count": number}])  # fmt: skip
    made["transport"] = {"delayed_ack": "off"}
    if after != 24:
        made["network"]["bottleneck"]["changes"] = [{"at": "10 s", "rate": f"{after} Mbps"}]
    return made


@law(delayed)
def delay_window(document: Document) -> None:
    """Vegas leaves alpha to beta segments of each flow in the queue, FAST alpha.

    Condition: flows start together; FAST's flows see each other's first segments, 10 of each before
    it, which adds up to 10 segments a flow beside the first; a packet each.
    Source: Brakmo and Peterson 1995; Wei, Jin, Low, Hegde 2006.
    """
    control = document["flow"][0]["congestion_control"]
    number = document["flow"][0]["count"]
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 28) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    mean = float(rows["queue_packets"].mean() or 0)
    if control["window"] == "vegas":
        require(
            number * (control["alpha"] - 1) <= mean <= number * (control["beta"] + 1) + 10 * (number - 1),
            "mean queue, packets",
            mean,
            f"{control['alpha']} to {control['beta']} of {number} flows",
        )
    else:
        right = number * control["alpha"]
        require(right - number - 0.5 <= mean <= right + 10 * number, "mean queue, packets", mean, right)


def step_marked(draw: Draw) -> Document:
    """Return Prague behind a step threshold."""
    number = draw.pick([1, 2, 4])
    return path(f"{draw.pick([20, 50])} Mbps", draw.whole(20, 50), {"discipline": "drop-tail", "limit": "unlimited",
                "mark_above": f"{draw.whole(15, 60)} packets"}, duration="30 s", interval="20 ms", flows=[
        {"congestion_control": "prague", "count": number, "transport": {"ecn": "accurate"}}])  # fmt: skip


@law(step_marked)
def step_marking(document: Document) -> None:
    """Prague keeps the queue at a step threshold of K packets: mean at most K, and a link that is
    used.

    Condition: from 10 s on; 3 packets a flow for a round trip's growth, and 97 % of the link where
    K is above a seventh of the BDP.
    Source: Alizadeh et al. 2010 (DCTCP), equations 8 and 13: K > BDP/7.
    """
    threshold = int(document["network"]["bottleneck"]["queue"]["mark_above"].split()[0])
    number = document["flow"][0]["count"]
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 10) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    mean = float(rows["queue_packets"].mean() or 0)
    require(mean <= threshold + 3 * number, "mean queue, packets", mean, f"at most {threshold} and 3 a flow")
    bottleneck = document["network"]["bottleneck"]
    product = bps(bottleneck["rate"]) * (2 * seconds(bottleneck["delay"]) + 0.004) / 12_000
    if threshold > product / 7 + number:
        require(float(rows["utilization"].mean() or 0) > 0.95, "utilization", rows["utilization"].mean(), "0.95")


@law(mixed, share=0.5)
def totals_of_a_mixture(document: Document) -> None:
    """All flows together get no more than the link carries, and, in bulk, at least 90 % of it.

    Source: capacity.
    """
    rate = bps(document["network"]["bottleneck"]["rate"])
    found = goodput(run(document))
    require(0.85 * rate <= found <= rate, "goodput of all, bit/s", found, f"0.85 to 1 of {rate}")
