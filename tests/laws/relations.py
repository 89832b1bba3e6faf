"""Order relations: more of a good thing is not worse, and what a mechanism is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from laws.generator import controls, names, path, recoveries
from laws.law import Document, equal, holds, law, require, within
from laws.measure import bps, changed, flow, goodput, link, recorded, run, seconds

if TYPE_CHECKING:
    from laws.draw import Draw

#: Windows that want no queue, and leave loss-based formulas.
GENTLE = ("vegas", "fast", "lotka-volterra", "tri-s", "adaptive", "altcp")


def control(name: str) -> Document:
    """Return the keys of a flow of an algorithm."""
    return {"congestion_control": name, **({"transport": {"ecn": "accurate"}} if name == "prague" else {})}


def bulk(draw: Draw) -> Document:
    """Return one bulk flow over a drop-tail queue of one BDP, of each algorithm and recovery."""
    algorithm, recovery = draw.pair([each for each in controls() if each != "xcp"], recoveries())
    made = path(f"{draw.pick([5, 10, 20, 50])} Mbps", draw.pick([20, 40, 80]), "1 bdp", duration="30 s", flows=[
        control(algorithm)])  # fmt: skip
    made["transport"] = {"recovery": recovery}
    return made


def mean(document: Document) -> float:
    """Return the goodput over three seeds, bit/s, which differ by random losses alone."""
    return (
        sum(goodput(run(changed(document, lambda each, seed=seed: each.update(seed=seed)))) for seed in (1, 2, 3)) / 3
    )


@law(bulk, share=0.8)
def more_loss(document: Document) -> None:
    """Five times the losses do not raise the goodput.

    Condition: 0.1 and 0.5 %; means over three seeds; 10 % for chance.
    Source: every algorithm here reads a loss as congestion, or not at all.
    """
    lossy = [mean(changed(document, lambda each, p=p: each["network"]["bottleneck"].update(loss={"probability": p})))
             for p in (0.001, 0.005)]  # fmt: skip
    require(lossy[1] <= 1.1 * lossy[0], "goodput at 0.5 %, bit/s", lossy[1], f"at most that at 0.1 %, {lossy[0]}")


@law(bulk)
def more_rate(document: Document) -> None:
    """Twice the rate, with the same delay and a buffer of one BDP, does not lower the goodput.

    Condition: 5 % for chance; not FAST, as for the law "better-recovery".
    Source: order.
    """
    holds(document["flow"][0]["congestion_control"] != "fast", "FAST's segments do not fit into the queue")
    bottleneck = document["network"]["bottleneck"]
    double = changed(
        document, lambda each: each["network"]["bottleneck"].update(rate=f"{2 * bps(bottleneck['rate'])} bps")
    )
    first, second = goodput(run(document)), goodput(run(double))
    require(second >= 0.95 * first, "goodput at twice the rate, bit/s", second, f"at least {first}")


def repaired(draw: Draw) -> Document:
    """Return one bulk flow of each algorithm with a recovery that repairs a window of losses."""
    made = bulk(draw)
    if made["flow"][0]["congestion_control"] == "fast":
        made["flow"][0]["congestion_control"] = {"window": "fast", "alpha": 10.0}
    made["transport"]["recovery"] = draw.pick(["newreno", "sack", "rack"])
    return made


@law(repaired)
def more_buffer(document: Document) -> None:
    """A buffer of two BDP does not lower the goodput of one of a BDP by more than 10 %.

    Condition: Tahoe and Reno are left out: they time out when slow start loses half of a window.
    FAST with 10 segments, which fit into the queue.
    Source: order.
    """
    double = changed(document, lambda each: each["network"]["bottleneck"].update(queue="2 bdp"))
    first, second = goodput(run(document)), goodput(run(double))
    require(second >= 0.9 * first, "goodput with two BDP, bit/s", second, f"at least 0.9 of {first}")


@law(bulk)
def more_window(document: Document) -> None:
    """A receive window of one BDP gives at least as much as half of it.

    Condition: up to one BDP: beyond, losses begin.
    Source: window/RTT.
    """
    bottleneck = document["network"]["bottleneck"]
    product = int(bps(bottleneck["rate"]) * (2 * seconds(bottleneck["delay"]) + 0.004) / 8)
    holds(product > 20 * 1448, "a window of few segments")
    rates = []
    for part in (2, 1):
        one = changed(document, lambda each, part=part: each["transport"].update(receive_window=f"{product // part} B"))
        rates.append(goodput(run(one)))
    require(rates[1] >= 0.97 * rates[0], "goodput with the whole window, bit/s", rates[1], f"at least {rates[0]}")


def losing(draw: Draw) -> Document:
    """Return a window under random losses."""
    made = path("20 Mbps", draw.pick([20, 40, 80]), draw.pick(["1 bdp", "2 bdp"]), duration="30 s", flows=[
        {"congestion_control": draw.turn([each for each in names("window") if each != "fast"])}])  # fmt: skip
    if draw.chance(2):
        made["network"]["bottleneck"]["loss"] = {"probability": draw.pick([0.001, 0.01])}
    made["transport"] = {}
    return made


@law(losing, share=1.5)
def better_recovery(document: Document) -> None:
    """NewReno gives at least 85 % of Reno, SACK of NewReno, RACK of SACK.

    Condition: means over three seeds; not FAST, whose 100 segments do not fit into these queues, so
    that it loses half of a window each time.
    Source: RFC 6582, 6675, 8985: each is meant to lose less time than the one before.
    """
    rates = [mean(changed(document, lambda each, way=way: each["transport"].update(recovery=way)))
             for way in ("reno", "newreno", "sack", "rack")]  # fmt: skip
    for place, word in ((1, "NewReno"), (2, "SACK"), (3, "RACK")):
        require(rates[place] >= 0.85 * rates[place - 1], f"goodput with {word}, bit/s", rates[place],
                f"at least 0.85 of {rates[place - 1]}")  # fmt: skip


def refined(draw: Draw) -> Document:
    """Return an algorithm, a recovery and a refinement."""
    made = losing(draw)
    algorithm, word = draw.pair([each for each in controls() if each not in ("xcp", "fast")],
                                ["prr", "limited_transmit", "timestamps", "pacing_gain"])  # fmt: skip
    made["flow"] = [control(algorithm)]
    made["transport"] = {"recovery": draw.pick(["newreno", "sack", "rack"])}
    made["name"] = word
    return made


@law(refined, share=1.5)
def refinement(document: Document) -> None:
    """PRR, limited transmit, timestamps and pacing do not cost more than a quarter of the goodput.

    Condition: means over three seeds; timestamps cost 12 B of 1500; not FAST, as for the law
    "better-recovery", and not BIC with NewReno: BIC adds up to 32 segments a round trip, as many as
    these queues hold, so that it loses bursts; NewReno repairs one a round trip until the timer of
    the first partial ACK expires (RFC 6582, 4), and which bursts are short enough is chance.
    Source: RFC 9937, 3042, 7323: what each is meant for.
    """
    word = document["name"]
    chance = document["flow"][0]["congestion_control"] == "bic" and document["transport"]["recovery"] == "newreno"
    holds(not chance, "bursts of losses that NewReno cannot repair in time")
    off, on = ("off", 1.25) if word == "pacing_gain" else (False, True)
    plain = mean(changed(document, lambda each: each["transport"].update({word: off})))
    better = mean(changed(document, lambda each: each["transport"].update({word: on})))
    holds(plain > 2e5, "hardly any goodput")
    require(better >= 0.75 * plain, f"goodput with {word}, bit/s", better, f"at least 0.75 of {plain}")


@law(bulk)
def competitor(document: Document) -> None:
    """A second flow does not raise the goodput of the first.

    Condition: 3 % for chance; the second is like the first.
    Source: order.
    """
    two = changed(document, lambda each: each["flow"].append({**each["flow"][0], "start": "100 ms"}))
    one, other = flow(run(document))["goodput_bps"], flow(run(two))["goodput_bps"]
    rate = bps(document["network"]["bottleneck"]["rate"])
    require(other <= max(1.03 * one, 0.75 * rate), "goodput beside a competitor, bit/s", other, f"at most {one}")


@law(bulk)
def shorter_path(document: Document) -> None:
    """Half the delay does not lower the goodput under random losses by more than a tenth.

    Condition: 0.5 % losses, no queue; means over three seeds.
    Source: rate = window/RTT.
    """
    lossy = changed(
        document,
        lambda each: each["network"]["bottleneck"].update(
            loss={"probability": 0.005}, rate="1 Gbps", queue="unlimited"
        ),
    )
    lossy["duration"] = "10 s"
    half = changed(lossy, lambda each: each["network"]["bottleneck"].update(
        delay=f"{seconds(each['network']['bottleneck']['delay']) * 500:.3f} ms"))  # fmt: skip
    first, second = mean(lossy), mean(half)
    require(second >= 0.9 * first, "goodput on the shorter path, bit/s", second, f"at least 0.9 of {first}")


def starting(draw: Draw) -> Document:
    """Return a short file under every start."""
    start, size = draw.pair(names("start"), [20, 100, 400])
    return path(f"{draw.pick([10, 20, 50])} Mbps", draw.pick([40, 100]), "1 bdp", duration="30 s", flows=[
        {"congestion_control": {"window": "reno", "start": start}, "traffic": {"size": f"{size} kB"}}])  # fmt: skip


@law(starting)
def idle_time(document: Document) -> None:
    """A start takes at most three times as long for a short file as slow start, and one round trip
    more.

    Condition: packet-pair's clock of 10 ms measures at most 1.2 Mbit/s by one packet a tick
    (documented), and is left out above 10 Mbit/s.
    Source: what a start is for.
    """
    start = document["flow"][0]["congestion_control"]["start"]
    holds(start != "packet-pair", "a clock of 10 ms")
    rtt = 2 * seconds(document["network"]["bottleneck"]["delay"]) + 0.004
    plain = changed(document, lambda each: each["flow"][0]["congestion_control"].update(start="slow-start"))
    one, other = flow(run(plain))["completion_s"], flow(run(document))["completion_s"]
    require(other is not None and other <= 3 * one + rtt, "completion, s", other, f"at most three times {one}")


# --- what a mechanism is for ----------------------------------------------------------------------


def marked(draw: Draw) -> Document:
    """Return flows over an AQM that can mark."""
    able = [each for each in names("queue") if each in ("codel", "fq-codel", "pie", "fq-pie", "red")]
    return path(
        f"{draw.pick([4, 10, 40])} Mbps",
        draw.pick([20, 40]),
        {"discipline": draw.turn(able), "limit": "2000 packets"},
        duration="30 s",
        seed=draw.whole(1, 99),
        flows=[
            {
                "congestion_control": draw.pick(["reno", "cubic"]),
                "count": draw.pick([1, 4, 20]),
                "start_jitter": "1 s",
                "overhead": "1 packet",
                "transport": {"ecn": "classic"},
            }
        ],
    )


@law(marked)
def ecn_no_worse(document: Document) -> None:
    """With marks instead of drops a discipline keeps about the queue that it keeps with drops.

    Condition: at most twice and 5 packets, and 2 for each flow, whose window does not go below 2
    segments under marks (RFC 3168, 6.1.2), while a drop takes it to a timeout.
    Source: RFC 3168, 6.1.2: the response to a mark is that to a loss.
    """
    number = document["flow"][0]["count"]
    drops = changed(document, lambda each: each["network"]["bottleneck"]["queue"].update(ecn=False))
    first, second = link(run(drops))["queue_mean_packets"], link(run(document))["queue_mean_packets"]
    require(second <= 2 * first + 5 + 2 * number, "mean queue with marks, packets", second, f"twice {first}")


def modelled(draw: Draw) -> Document:
    """Return BBRv3 under losses below its threshold."""
    return path(
        f"{draw.pick([5, 20, 50])} Mbps",
        draw.pick([20, 40, 80]),
        "2 bdp",
        duration="20 s",
        seed=draw.whole(1, 99),
        flows=[{"congestion_control": "bbr3", "transport": {"recovery": draw.pick(["sack", "rack"])}}],
        loss={"probability": draw.turn([0.002, 0.005, 0.01])},
    )


@law(modelled)
def model_and_loss(document: Document) -> None:
    """BBRv3 keeps 75 % of the rate under random losses of 0.2 %, and half of it up to 1 %.

    Condition: rounds of 40 to 300 packets: of 80 with 1 % two or more are lost, above 2 %, in one
    of five rounds.
    Source: draft-ietf-ccwg-bbr, 5.5.10: losses up to BBR.LossThresh are not congestion.
    """
    rate = bps(document["network"]["bottleneck"]["rate"])
    found = goodput(run(document))
    least = 0.75 if document["network"]["bottleneck"]["loss"]["probability"] < 0.003 else 0.5
    require(found >= least * rate * 1448 / 1500, "goodput, bit/s", found, f"{least} of {rate}")


def falling(draw: Draw) -> Document:
    """Return BBRv3 on a link whose rate changes."""
    return path(
        "20 Mbps",
        draw.pick([20, 40]),
        draw.pick(["2 bdp", "5 bdp"]),
        duration="50 s",
        interval="50 ms",
        flows=[{"congestion_control": "bbr3"}],
        changes=[{"at": "15 s", "rate": f"{draw.turn([6, 8, 12, 40])} Mbps"}],
    )


@law(falling)
def bbr_queue(document: Document) -> None:
    """BBRv3 adapts to the rate: 20 s after a change its queue is at most a BDP and a half, on
    average.

    Condition: falls to 0.4 or more, or rises (a deeper fall is a weakness of the draft, shown in
    docs/mechanisms/models.md if it is one), means over 15 s.
    Source: draft-ietf-ccwg-bbr, 5.5.5 and 5.5.6: the maximum is that of two cycles; inflight at
    most 2 BDP.
    """
    bottleneck = document["network"]["bottleneck"]
    rate = bps(bottleneck["changes"][0]["rate"])
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 35) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    product = rate * (2 * seconds(bottleneck["delay"]) + 0.004) / 12_000
    mean_queue = float(rows["queue_packets"].mean() or 0)
    require(mean_queue <= 1.5 * product + 3, "mean queue, packets", mean_queue, f"at most {1.5 * product + 3}")


@law(falling, share=0.5)
def bbr_gains(document: Document) -> None:
    """BBRv3 probes with 1.25 times its bandwidth: its largest pacing rate in ProbeBW is that of the
    link.

    Condition: constant rate (the change is taken off), from 10 s on, samples every 50 ms; a margin
    of 1 % is paced off.
    Source: draft-ietf-ccwg-bbr, 5.3.3: BBR.PacingGain of ProbeBW_UP is 1.25.
    """
    plain = changed(document, lambda each: each["network"]["bottleneck"].pop("changes"))
    rows = pl.DataFrame(run(plain).flows).filter(pl.col("time_s") > 10)
    most = float(rows["pacing_bps"].max() or 0)
    within(most, 1.25 * 0.99 * 20e6, "largest pacing rate, bit/s", relative=0.04)


def adapting(draw: Draw) -> Document:
    """Return an algorithm and a discipline across a change of rate."""
    algorithm, discipline = draw.pair([each for each in controls() if each != "xcp"], names("queue"))
    return path(
        "10 Mbps",
        40,
        {"discipline": discipline, "limit": "60 packets"},
        duration="40 s",
        interval="50 ms",
        flows=[control(algorithm)],
        changes=[{"at": "15 s", "rate": draw.pick(["5 Mbps", "20 Mbps"])}],
    )


@law(adapting)
def after_a_change(document: Document) -> None:
    """Every algorithm uses the rate of a link after it has changed, behind every discipline: 60 %
    of it.

    Condition: from 10 s after the change; tri-s and Lotka-Volterra, whose published rules need more
    time, 30 %.
    Source: what congestion control is for.
    """
    name = document["flow"][0]["congestion_control"]
    rows = pl.DataFrame(run(document).links).filter(
        (pl.col("time_s") > 25) & (pl.col("link").cast(pl.String) == "bottleneck")
    )
    least = 0.3 if name in ("tri-s", "lotka-volterra") else 0.6
    found = float(rows["utilization"].mean() or 0)
    require(found >= least, "utilization after the change", found, f"at least {least}")


def equals(draw: Draw) -> Document:
    """Return like flows over a random discipline."""
    return path(
        "20 Mbps",
        40,
        {"discipline": draw.pick(["red", "pie", "fq-codel"]), "limit": "200 packets"},
        duration="60 s",
        seed=draw.whole(1, 99),
        flows=[
            {
                **control(draw.turn([each for each in controls() if each not in ("xcp", "prague")])),
                "count": draw.pick([2, 4]),
                "start_jitter": "1 s",
                "overhead": "1 packet",
            }
        ],
    )


@law(equals)
def equal_flows(document: Document) -> None:
    """Like flows on like paths share evenly: Jain's index is above 0.8.

    Condition: 60 s; LTCP and ALTCP, scalable, HighSpeed and BIC behind RED or PIE need longer than
    that (0.65).
    Source: Chiu and Jain 1989.
    """
    rates = [each["goodput_bps"] for each in run(document).summary["flows"]]
    jain = sum(rates) ** 2 / len(rates) / sum(each * each for each in rates)
    slow = document["flow"][0]["congestion_control"] in (
        "ltcp",
        "altcp",
        "scalable",
        "highspeed",
        "bic",
        "fast",
        "vegas",
        "lotka-volterra",
        "tri-s",
        "adaptive",
    )
    require(jain >= (0.6 if slow else 0.8), "Jain's index", jain, "at least 0.8")


def cut(draw: Draw) -> Document:
    """Return one loss in a large window."""
    window, recovery = draw.pair(["reno", "cubic", "scalable", "bic", "ltcp"], ["newreno", "sack", "rack"])
    made = path(
        "10 Gbps",
        60,
        "unlimited",
        duration="8 s",
        interval="5 ms",
        access="10 Gbps",
        flows=[{"congestion_control": window, "transport": {"recovery": recovery, "initial_ssthresh": "200 segments"}}],
    )
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": 12_000, "links": ["bottleneck"]}]
    return made


@law(cut)
def loss_factor(document: Document) -> None:
    """A loss takes the window to the algorithm's factor of it: 0.5, 0.7, 0.875, 0.875, 0.85.

    Condition: one loss in a window above every threshold (16, 14, 50 segments); a sample every 5
    ms, one segment.
    Source: RFC 5681, RFC 9438, Kelly 2003, Xu, Harfoush, Rhee 2004, Bhandarkar, Jain, Reddy 2006.
    """
    factor = {"reno": 0.5, "cubic": 0.7, "scalable": 0.875, "bic": 0.875, "ltcp": 0.85}
    rows = pl.DataFrame(run(document).flows)
    windows = rows["cwnd_bytes"].to_list()
    thresholds = rows["ssthresh_bytes"].to_list()
    place = next((n for n in range(1, len(windows)) if thresholds[n] != thresholds[n - 1]), None)
    holds(place is not None, "no loss")
    assert place is not None
    before = windows[place - 1]
    name = document["flow"][0]["congestion_control"]
    within(thresholds[place] / before, factor[name], "ssthresh over the window at the loss", absolute=0.02)


def few(draw: Draw) -> Document:
    """Return a window of four segments and a loss."""
    made = path("10 Mbps", draw.whole(20, 80), "unlimited", duration="10 s", flows=[
        {"congestion_control": draw.turn(names("window")), "traffic": {"size": "200 kB"}, "transport": {
            "recovery": draw.pick(["reno", "newreno"]), "receive_window": "20 segments"}}])  # fmt: skip
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": draw.whole(20, 60), "links": ["bottleneck"]}]
    return made


@law(few)
def limited_transmit(document: Document) -> None:
    """On each of the first two duplicate ACKs at most one new segment leaves.

    Condition: no SACK; full segments: the last of a transfer may fit into the fraction of one that
    is left.
    Source: RFC 3042, 2.
    """
    _, packets = recorded(document)
    last, duplicates, sent = None, 0, 0
    rows = packets.select("event", "kind", "acknowledgement", "retransmission", "payload_bytes").rows()
    for event, kind, ack, again, payload in rows:
        if event == "deliver" and kind == "ack":
            duplicates = duplicates + 1 if ack == last else 0
            last = ack
            sent = 0
        elif event == "send" and kind == "data" and not again and payload == 1448:
            sent += 1
            require(not (1 <= duplicates <= 2 and sent > 1), f"segments on duplicate ACK {duplicates}", sent, 1)


# --- estimators and models ------------------------------------------------------------------------


def probed(draw: Draw) -> Document:
    """Return the estimator of capacity on a path that is empty but for itself."""
    rate, every = draw.pair([5, 10, 20, 50], [1, 2, 4])
    return path(f"{rate} Mbps", draw.pick([36, 60]), "100 packets", duration="20 s", interval="100 ms", flows=[
        {"congestion_control": {"window": draw.turn(["cubic", "reno"]), "estimate": "capacity"},
         "transport": {"receive_window": "200 kB", "delayed_ack": {"every": every}}}])  # fmt: skip


@law(probed)
def capacity_and_acks(document: Document) -> None:
    """The estimated capacity is the rate of the narrow link, with every ACK policy.

    Condition: an empty path, from 10 s on; within 5 %.
    Source: Kapoor, Chen, Lao, Gerla, Sanadidi 2004 (CapProbe): the least-delayed pair has the
    dispersion of the link.
    """
    rate = bps(document["network"]["bottleneck"]["rate"])
    rows = pl.DataFrame(run(document).flows).filter((pl.col("time_s") > 10) & (pl.col("capacity_bps") > 0))
    holds(rows.height, "no estimate")
    within(float(rows["capacity_bps"][-1]), rate, "capacity, bit/s", relative=0.05)


def available(draw: Draw) -> Document:
    """Return an estimator beside UDP."""
    estimator = draw.turn([each for each in names("estimate") if each != "capacity"])
    flows: list[Document] = [{"congestion_control": {"window": "reno", "estimate": estimator},
                              "transport": {"receive_window": "45 kB", "delayed_ack": "off"}}]  # fmt: skip
    made = path(f"{draw.pick([20, 40])} Mbps", 40, "200 packets", duration="30 s", interval="100 ms", flows=flows)
    flows.append({"protocol": "udp", "traffic": {"rate": f"{draw.whole(2, 8)} Mbps", "arrivals": "poisson"}})
    return made


@law(available)
def estimate(document: Document) -> None:
    """An estimate of the available rate is not above the rate of the link, nor an estimate of its
    capacity far above.

    Condition: the flow itself takes at most half of the link; samples after 10 s, where there are
    any; 30 %: a stream of five packets has four gaps, which tell rates a quarter apart.
    Source: definition of available bandwidth.
    """
    rate = bps(document["network"]["bottleneck"]["rate"])
    rows = pl.DataFrame(run(document).flows).filter(pl.col("time_s") > 10)
    for column in ("available_bps", "capacity_bps"):
        found = rows.filter(pl.col(column).is_not_null() & pl.col(column).is_finite() & (pl.col(column) > 0))[column]
        if len(found):
            require(float(found.median() or 0) <= 1.3 * rate, f"median {column}", found.median(), f"at most {rate}")


def explicit(draw: Draw) -> Document:
    """Return XCP with its routers, and a change of rate or none."""
    made = path("20 Mbps", draw.pick([30, 60]), "400 packets", duration="30 s", interval="50 ms", flows=[
        {"congestion_control": "xcp", "count": draw.turn([1, 2, 4])}])  # fmt: skip
    if draw.chance(2):
        made["network"]["bottleneck"]["changes"] = [{"at": "10 s", "rate": f"{draw.pick([8, 40])} Mbps"}]
    made["router"] = [{"mechanism": "xcp", "links": ["bottleneck"]}]
    return made


@law(explicit)
def xcp(document: Document) -> None:
    """XCP fills the link, leaves the queue nearly empty, and shares evenly, also after a change.

    Condition: from 18 s on: 90 % of the link, a queue of at most 10 packets, Jain's index above
    0.9.
    Source: Katabi, Handley, Rohrs 2002.
    """
    result = run(document)
    rows = pl.DataFrame(result.links).filter((pl.col("time_s") > 18) & (pl.col("link").cast(pl.String) == "bottleneck"))
    require(float(rows["utilization"].mean() or 0) >= 0.9, "utilization", rows["utilization"].mean(), "at least 0.9")
    require(
        float(rows["queue_packets"].mean() or 0) <= 10,
        "mean queue, packets",
        rows["queue_packets"].mean(),
        "at most 10",
    )
    rates = [each["goodput_bps"] for each in result.summary["flows"]]
    require(
        sum(rates) ** 2 / len(rates) / sum(each * each for each in rates) >= 0.9, "Jain's index", rates, "at least 0.9"
    )


def without_partner(draw: Draw) -> Document:
    """Return an algorithm that depends on routers, without them, under an application's rate."""
    chosen: Any = draw.turn(["xcp", {"window": "reno", "start": "quick-start"}])
    return path("16 Mbps", draw.pick([20, 40]), "4 bdp", duration="15 s", interval="50 ms", flows=[
        {"congestion_control": chosen, "traffic": {"rate": f"{draw.whole(1, 3)} Mbps"}}])  # fmt: skip


@law(without_partner, share=0.3)
def no_partner(document: Document) -> None:
    """Without its routers XCP is Reno, and Quick-Start slow start: a window that is not used does
    not grow.

    Condition: at most three times what was in flight, and at least 45 segments.
    Source: the registry's `without`; RFC 7661, 4.4.
    """
    rows = pl.DataFrame(run(document).flows)
    most = max(float(rows["in_flight_bytes"].max() or 0), 15 * 1448)
    window = float(rows["cwnd_bytes"].max() or 0)
    require(window <= 3 * most, "largest window, bytes", window, f"at most {3 * most}")
    equal(flow(run(document))["timeouts"], 0, "timeouts")
