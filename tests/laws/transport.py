"""The duties of any transport, from the record of every packet."""

from __future__ import annotations

import struct
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from laws.generator import anything, controls, names, path, recoveries
from laws.law import Document, equal, holds, law, require, within
from laws.measure import SECOND, bps, changed, flow, link, nbytes, picoseconds, recorded, run, scenario, seconds
from laws.physics import any_case, drop_tail, links_of, rated_dumbbell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from laws.draw import Draw


# --- receivers and senders ------------------------------------------------------------------------


@law(any_case, share=1.5)
def goodput_sums(document: Document) -> None:
    """Goodput is the payload that arrived once, over the time of the flow: by the record of
    arrivals.

    Condition: TCP in bulk from a given start, a receiver that does not lie or renege; the rate, of
    flows that last from the beginning to the end of the run.
    Source: the definition in docs/concepts.md.
    """
    result, packets = recorded(document)
    holds("misbehaviour" not in str(document), "a receiver that discards")
    for place, each in enumerate(document["flow"]):
        found = flow(result, place)
        if each.get("protocol") == "udp" or found["connections"] is not None:
            continue
        arrived = packets.filter(
            (pl.col("flow") == found["name"]) & (pl.col("event") == "deliver") & (pl.col("kind") == "data")
        )
        spans = sorted(set(zip(arrived["sequence"].to_list(), arrived["payload_bytes"].to_list(), strict=True)))
        sent = packets.filter(
            (pl.col("flow") == found["name"]) & (pl.col("event") == "send") & (pl.col("kind") == "data")
        )
        base = int(sent["sequence"].min() or 0)
        reached = base
        for start, size in spans:
            if start > reached:
                break
            reached = max(reached, start + size)
        equal(found["delivered_bytes"], reached - base, f"{found['name']}, bytes delivered in order")
        if found["completion_s"] is None and not {"start", "stop", "start_jitter"} & set(each):
            right = (reached - base) * 8 / seconds(document["duration"])
            within(found["goodput_bps"], right, f"{found['name']}, goodput, bit/s", relative=1e-9)


@law(any_case)
def receive_window(document: Document) -> None:
    """The data outstanding never exceeds the receiver's window.

    Condition: a window in the file, a receiver that does not lie, no router that changes windows; a
    retransmission is outstanding once.
    Source: RFC 9293, 3.8.6.
    """
    holds(
        "misbehaviour" not in str(document) and "ficcrd" not in str(document) and "tampering" not in str(document),
        "lies",
    )
    _, packets = recorded(document)
    for place, each in enumerate(document["flow"]):
        text = each.get("transport", {}).get("receive_window", "unlimited")
        if text == "unlimited" or each.get("traffic", {}).get("interval") or "segment" in text:
            continue
        name = f"flow{place + 1}"
        mine = packets.filter((pl.col("flow") == name) & pl.col("kind").is_in(["data", "ack", "syn-ack"]))
        acknowledged, limit = 0, nbytes(text)
        base = None
        for event, kind, sequence, size, ack in mine.select(
            "event", "kind", "sequence", "payload_bytes", "acknowledgement").rows():  # fmt: skip
            if event == "deliver" and kind in ("ack", "syn-ack"):
                acknowledged = max(acknowledged, ack or 0)
            elif event == "send" and kind == "data":
                base = sequence if base is None else base
                require(sequence + size - max(acknowledged, base) <= limit, f"{name}, bytes outstanding",
                        sequence + size - max(acknowledged, base), f"at most {limit}")  # fmt: skip


@law(any_case)
def marks(document: Document) -> None:
    """A link's CE marks are the packets that carried ECT into it and CE out of it, to the number.

    Source: RFC 3168, 5: counting.
    """
    result, packets = recorded(document)
    for each in result.summary["links"]:
        here = packets.filter((pl.col("link") == each["name"]) & (pl.col("event") == "mark"))
        equal(each["ce_marks"], here.height, f"{each['name']}, marks of the summary and of the record")
        require(
            not here.filter(pl.col("ecn") == "not-ect").height, f"{each['name']}, marks without ECT", here.height, 0
        )


@law(rated_dumbbell)
def rtt_summary(document: Document) -> None:
    """The least RTT of the summary is not below twice the propagation delay, and mean and 95 % are
    between.

    Condition: a receiver that does not acknowledge ahead of the data.
    Source: physics; order of minimum, mean and maximum.
    """
    holds("misbehaviour" not in str(document), "acknowledged ahead")
    result = run(document)
    network = document["network"]
    wires = [network["bottleneck"], network.get("reverse", network["bottleneck"]), *[network["access"]] * 4]
    delay = sum(min([seconds(wire["delay"])] + [seconds(each["delay"]) for each in wire.get("changes", [])
                                                if "delay" in each]) for wire in wires)  # fmt: skip
    for each in result.summary["flows"]:
        if each["rtt_min_s"] is not None:
            require(
                each["rtt_min_s"] >= delay - 1e-9,
                f"{each['name']}, least RTT, s",
                each["rtt_min_s"],
                f"at least {delay}",
            )
            require(each["rtt_min_s"] <= (each["rtt_mean_s"] or 0) * (1 + 1e-9), f"{each['name']}, mean RTT, s",
                    each["rtt_mean_s"], f"at least {each['rtt_min_s']}")  # fmt: skip


def quiet_case(draw: Draw) -> Document:
    """Return one flow on a path that loses nothing, of every algorithm and start."""
    algorithm, start = draw.pair(names("window"), names("start"))
    control = {"window": algorithm, "start": start}
    return path(f"{draw.whole(2, 50)} Mbps", draw.whole(10, 120), "unlimited", duration="5 s", flows=[
        {"congestion_control": control, "traffic": {"size": f"{draw.whole(1, 400)} kB"},
         "transport": {"recovery": draw.pick(recoveries()), "receive_window": "100 kB",
                       "delayed_ack": {"every": draw.whole(1, 4)}}}])  # fmt: skip


@law(quiet_case, share=1.5)
def quiet_path(document: Document) -> None:
    """On a path that loses nothing, nothing is retransmitted and no timer expires.

    Condition: an RTO above RTT and queue: the window is at most 100 kB, on 2 Mbit/s 0.4 s, and the
    RTO follows the RTT; a tail probe of RACK-TLP (RFC 8985, 7) may leave where an ACK waits for its
    timer: one at most.
    Source: RFC 6298, 5681.
    """
    found = flow(run(document))
    equal(found["timeouts"], 0, "timeouts")
    probes = 1 if document["flow"][0]["transport"]["recovery"] == "rack" else 0
    require(found["retransmitted_segments"] <= probes, "retransmissions", found["retransmitted_segments"], probes)
    require(found["completion_s"] is not None, "completion", found["completion_s"], "within 5 s")


def windows_case(draw: Draw) -> Document:
    """Return every algorithm and start under a receiver's window or an application's rate."""
    start, control = draw.pair(names("start"), controls())
    algorithm: Any = control if control in names("model") else {"window": control, "start": start}
    limit: Document = draw.pick([{"transport": {"receive_window": "60 kB"}}, {"traffic": {"rate": "2 Mbps"}}])
    transport = {**limit.get("transport", {}), "delayed_ack": {"every": draw.pick([1, 2, 8])}}
    if draw.chance(2):
        transport["pacing_gain"] = 1.25
    if control == "prague":
        transport["ecn"] = "accurate"
    return path(
        "16 Mbps",
        draw.pick([20, 36, 80]),
        draw.pick(["4 bdp", "unlimited"]),
        duration="20 s",
        access="800 Mbps",
        interval="20 ms",
        flows=[{"congestion_control": algorithm, **limit, "transport": transport}],
    )


@law(windows_case, share=2)
def useful_window(document: Document) -> None:
    """A window that something else limits does not grow without end: at most three times the most
    in flight.

    Condition: the receiver or the application is the limit, from the second second on; or at most
    twice the BDP, to which a start that measures the path may set it; at least 45 segments (three
    initial windows and half).
    Source: RFC 9293, 3.8.6 with RFC 7661, 4: growth needs a window that was used; Linux
    tcp_is_cwnd_limited (in slow start at most twice the data in flight).
    """
    result = run(document)
    rows = pl.DataFrame(result.flows).filter(pl.col("time_s") > 1)
    most = max(pl.DataFrame(result.flows)["in_flight_bytes"].max() or 0, 10 * 1448)
    window = rows["cwnd_bytes"].max() or 0
    bottleneck = document["network"]["bottleneck"]
    product = bps(bottleneck["rate"]) * (2 * seconds(bottleneck["delay"]) + 0.004) / 8
    require(window <= max(3 * most, 45 * 1448, 2 * product), "largest window, bytes", window, f"at most {3 * most}")


def pause_case(draw: Draw) -> Document:
    """Return a flow that pauses."""
    return path(
        "50 Mbps",
        60,
        "unlimited",
        duration="12 s",
        interval="100 ms",
        access="1 Gbps",
        flows=[
            {
                "congestion_control": draw.turn(names("window")),
                "transport": {"receive_window": "unlimited", "initial_ssthresh": "60 segments"},
                "traffic": {"size": "3 MB"},
            }
        ],
    )


@law(pause_case)
def pause(document: Document) -> None:
    """Time without data does not grow a window: after a pause it is not above the one before, in
    the first RTT.

    Condition: restart after idle, the default; the application writes 1.5 MB, pauses, and writes as
    much.
    Source: RFC 9438, 4.10 (CUBIC takes the pause off its epoch); RFC 5681, 4.1.
    """
    length = 4 + names("window").index(document["flow"][0]["congestion_control"]) % 3
    given = changed(document, lambda each: each["flow"][0].update(
        traffic={"rate": f"{1_500_000 * 8 // length} bps", "write": "1500000 B"}))  # fmt: skip
    rows = pl.DataFrame(run(given).flows)
    before = rows.filter((pl.col("time_s") > length - 0.5) & (pl.col("time_s") < length - 0.05))["cwnd_bytes"].max()
    after = rows.filter((pl.col("time_s") > length) & (pl.col("time_s") < length + 0.11))["cwnd_bytes"].max()
    holds(before is not None and after is not None, "no samples")
    require(after <= 2 * before + 3000, "window in the first two RTTs after a pause", after,
            f"at most twice {before}, a slow start of one round trip")  # fmt: skip


def shaped(draw: Draw) -> Document:
    """Return a shaped sender with losses."""
    recovery, window = draw.pair(recoveries(), names("window"))
    rate, burst = draw.whole(2, 8), draw.pick([1500, 3000, 9000])
    return path("20 Mbps", draw.whole(10, 60), "unlimited", duration="5 s", flows=[
        {"congestion_control": window, "transport": {"recovery": recovery, "shaper": {
            "rate": f"{rate} Mbps", "burst": f"{burst} B"}}}],
        loss={"probability": draw.pick([0.003, 0.01, 0.03])}, seed=draw.whole(1, 99))  # fmt: skip


@law(shaped, share=1.5)
def pacing(document: Document) -> None:
    """A shaped sender sends at most burst + rate x time in any window, retransmissions included.

    Condition: a burst of at least a packet.
    Source: the leaky bucket of docs/scenario-reference.md: all of the sender's packets.
    """
    _, packets = recorded(document)
    shaper = document["flow"][0]["transport"]["shaper"]
    rate, burst = bps(shaper["rate"]), nbytes(shaper["burst"])
    _bucket(packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data")), rate, burst, "sent")


def _bucket(sent: pl.DataFrame, rate: int, burst: int, what: str) -> None:
    """Require that any window has at most burst + rate x time."""
    level, last = 0.0, 0
    for time, size in sent.select("time", "size_bytes").rows():
        level = max(0.0, level - rate / 8 * (time - last) / SECOND) + size
        last = time
        require(level <= burst + 1, f"bytes {what} above rate x time until {time} ps", level, f"at most {burst}")


def paced(draw: Draw) -> Document:
    """Return a paced sender on a path that loses nothing."""
    return path(
        "50 Mbps", draw.whole(20, 80), "unlimited", duration="4 s", interval="5 ms", access="10 Gbps",
        flows=[{"congestion_control": draw.turn(names("window")), "transport": {
            "pacing_gain": draw.pick([1.0, 1.25, 2.0]), "receive_window": "60 segments",
            "pacing_credit": draw.pick([True, False])}}],
    )  # fmt: skip


@law(paced, share=0.7)
def pacing_interval(document: Document) -> None:
    """A paced sender's segments are at least their size over the pacing rate apart; half of it behind a late one.

    Condition: from 1 s on; the largest pacing rate of the samples, and 5 % for those in between.
    Source: the key pacing_gain: window / smoothed RTT times the gain; Linux's credit for late
    segments, tcp_update_skb_after_send.
    """
    result, packets = recorded(document)
    rows = pl.DataFrame(result.flows).filter((pl.col("time_s") > 0.9) & pl.col("pacing_bps").is_finite())
    fastest = float(rows["pacing_bps"].max() or 0)
    holds(fastest, "not paced")
    sent = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data") & (pl.col("time") > SECOND))
    times = sent["time"].to_list()
    holds(len(times) > 50 and sent["size_bytes"].min() == 1500, "few segments")
    least = min(two - one for one, two in pairwise(times))
    part = 0.5 if document["flow"][0]["transport"]["pacing_credit"] else 1.0
    interval = part * 1500 * 8 / fastest * SECOND
    require(least >= 0.95 * interval, "least interval, ps", least, interval)


def policed(draw: Draw) -> Document:
    """Return flows through a policer."""
    made = path("50 Mbps", draw.whole(10, 60), "unlimited", duration="4 s", seed=draw.whole(1, 99), flows=[
        {"protocol": "udp", "traffic": {"rate": f"{draw.whole(1, 12)} Mbps", "arrivals": "poisson", "packet": draw.pick(
            ["imix", "1500 B", "300 B"])}}, {"congestion_control": draw.turn(names("window"))}])  # fmt: skip
    made["router"] = [{"mechanism": "policer", "links": ["bottleneck"], "rate": f"{draw.whole(1, 9)} Mbps",
                       "burst": f"{draw.pick([3, 15, 60])} kB"}]  # fmt: skip
    return made


@law(policed)
def policer_window(document: Document) -> None:
    """A policer passes at most burst + rate x time in any window.

    Source: the token bucket (RFC 2697).
    """
    _, packets = recorded(document)
    policer = document["router"][0]
    passed = packets.filter((pl.col("event") == "enqueue") & (pl.col("link") == "bottleneck"))
    _bucket(passed, bps(policer["rate"]), nbytes(policer["burst"]), "passed")


def lossy(draw: Draw) -> Document:
    """Return one flow that loses one to three packets of 300 kB."""
    algorithm, recovery = draw.pair(controls(), [each for each in recoveries() if each not in ("tahoe", "reno")])
    number = draw.whole(60, 120)
    made = path("20 Mbps", draw.whole(20, 80), "unlimited", duration="20 s", flows=[
        {"congestion_control": algorithm, "traffic": {"size": "300 kB"}, "transport": {
            "recovery": recovery, **({"ecn": "accurate"} if algorithm == "prague" else {})}}])  # fmt: skip
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": number, "links": ["bottleneck"]}]
    return made


@law(lossy, share=1.5)
def single_loss(document: Document) -> None:
    """As many retransmissions as losses, and no timer, where single segments of a window are lost.

    Condition: NewReno and better; losses 60 or more segments apart and not among the last six; a
    tail loss probe is one retransmission more; NewReno times out where the first segment beyond
    `recover` is lost (RFC 6582, 3.2: its duplicate ACKs do not cover more than that). No
    retransmission is lost, except with RACK-TLP: for others that is the timer's (RFC 6675, 5.1).
    Source: RFC 6582, RFC 6675, RFC 8985: a recovery repairs what is lost.
    """
    result, packets = recorded(document)
    drops = packets.filter(pl.col("event") == "drop")
    lost = drops.height
    found = flow(result)
    last = packets.filter(pl.col("kind") == "data")["sequence"].max() or 0
    late = packets.filter((pl.col("event") == "drop") & (pl.col("sequence") > last - 6 * 1448)).height
    holds(lost and not late, "none, or one of the last")
    recovery = document["flow"][0]["transport"]["recovery"]
    holds(recovery == "rack" or drops["sequence"].n_unique() == lost, "a retransmission is lost")
    require(not found["timeouts"] or recovery == "newreno", "timeouts", found["timeouts"], 0)
    holds(not found["timeouts"], "NewReno timed out, and retransmitted what follows")
    probes = 1 if recovery == "rack" else 0
    require(
        lost <= found["retransmitted_segments"] <= lost + probes,
        "retransmissions",
        found["retransmitted_segments"],
        lost,
    )


def outage(draw: Draw) -> Document:
    """Return a flow whose path loses everything from a time on."""
    made = path(
        "10 Mbps",
        draw.whole(10, 60),
        "unlimited",
        duration="60 s",
        flows=[
            {
                "congestion_control": draw.turn(controls()),
                "transport": {
                    "recovery": draw.pick(recoveries()),
                    "timer": {"backoff": draw.pick([2, 1.5]), "maximum": "30 s"},
                },
            }
        ],
    )
    made["flow"][0]["transport"]["ecn"] = "accurate" if made["flow"][0]["congestion_control"] == "prague" else "off"
    made["router"] = [
        {"mechanism": "loss", "kinds": ["data"], "probability": 1, "from": "1.3 s", "links": ["bottleneck"]}
    ]
    return made


@law(outage)
def rto_backoff(document: Document) -> None:
    """Through an outage the intervals of retransmissions grow by the backoff, up to the maximum.

    Condition: after the last ACK and the first expiry; tail loss probes come before it.
    Source: RFC 6298, 5.5 and 5.6.
    """
    _, packets = recorded(document)
    timer = document["flow"][0]["transport"]["timer"]
    again = packets.filter((pl.col("event") == "send") & pl.col("retransmission") & (pl.col("time") > 2.5 * SECOND))
    times = again["time"].unique().sort().to_list()
    gaps = [two - one for one, two in pairwise(times)]
    holds(len(gaps) >= 3, "few expiries")
    most = picoseconds(timer["maximum"])
    for one, two in pairwise(gaps[1:]):
        within(
            two, min(one * timer["backoff"], most), "interval of two retransmissions, ps", relative=0.02, absolute=2e9
        )


@law(any_case)
def no_traffic_no_work(document: Document) -> None:
    """Before the first flow starts no link has sent a byte.

    Source: causality.
    """
    later = changed(document, lambda each: [flow.update(start=each["duration"]) or flow.pop("stop", None)
                                            for flow in each["flow"]])  # fmt: skip
    later["duration"] = f"{picoseconds(document['duration']) // 2} ps"
    found = run(later)
    for each in found.summary["links"]:
        require(each["bytes"] == 0 or "ficcrd" in str(document), f"{each['name']}, bytes", each["bytes"], 0)


def transfers(draw: Draw) -> Document:
    """Return anything whose first flow is a transfer, without routers that lock with the backoff."""
    return anything(draw, without=("udp", "udp-steps", "burst-loss", "policer", "tampering", "forwarding-limit", "xcp"))


@law(transfers)
def liveness(document: Document) -> None:
    """A transfer ends: 30 kB over a path that lets packets through arrive in 100 s or less.

    Condition: no router that drops by a period (it can lock with the backoff), no bursts of losses
    (each retry may meet the same burst, whose length is counted in packets), loss of one in ten or
    less, on one hop: on three and back half of all round trips fail; a truthful receiver, 64 kbit/s
    or more, room for 20 packets: with one or two every window of more ends in a timeout.
    Source: RFC 9293: reliable delivery.
    """
    first = document["flow"][0]
    holds(first.get("protocol") != "udp" and "misbehaviour" not in str(document), "not a transfer")
    holds("'spacing'" not in str(document), "locks")
    hops = document["network"].get("hops", 1)
    holds(hops == 1 or "'probability': 0.1" not in str(document["network"]), "losses on several hops")
    alone = changed(document, lambda each: each.update(duration="100 s", flow=[
        {**{key: value for key, value in first.items() if key not in ("stop", "count")}, "traffic": {"size": "30 kB"}}],
        record={"interval": "off"}))  # fmt: skip
    for where in (alone["network"].get("bottleneck"), alone["network"].get("hop"), *alone["network"].get("link", [])):
        if where:
            where["queue"] = "20 packets"
    holds("xcp" not in str(alone), "an algorithm without its partner")
    found = flow(run(alone))
    require(found["completion_s"] is not None, "completion of 30 kB, s", found["completion_s"], "within 100 s")
    equal(found["delivered_bytes"], 30_000, "bytes delivered")


@law(transfers)
def completion(document: Document) -> None:
    """A transfer is complete when the last byte is acknowledged: by the record, to the nanosecond.

    Condition: one TCP flow of a size, a truthful receiver.
    Source: docs/concepts.md.
    """
    first = document["flow"][0]
    holds(first.get("protocol") != "udp" and "misbehaviour" not in str(document), "not a transfer")
    given = changed(document, lambda each: each["flow"][0].update(traffic={"size": "9000 B"}))
    given["flow"][0].pop("stop", None)
    result, packets = recorded(given)
    found = flow(result)
    holds(found["completion_s"] is not None, "not complete")
    holds("count" not in first and "start_jitter" not in first, "copies")
    acks = packets.filter(
        (pl.col("flow") == found["name"]) & (pl.col("event") == "deliver") & (pl.col("kind") == "ack")
    )
    last = acks["acknowledgement"].max()
    at = acks.filter(pl.col("acknowledgement") == last)["time"].min()
    right = (at - picoseconds(first.get("start", "0 s"))) / SECOND
    within(found["completion_s"], right, "completion, s", absolute=2e-9)


def web(draw: Draw) -> Document:
    """Return anything with short connections."""
    return anything(draw, without=("bulk", "size", "rate", "writes", "udp", "udp-steps", "stopped"))


@law(web)
def connections_summary(document: Document) -> None:
    """Numbers and sums of short connections are those of their table.

    Source: counting.
    """
    result = run(document)
    rows = pl.DataFrame(result.connections)
    holds(rows.height, "no short connections")
    for each in result.summary["flows"]:
        summary = each["connections"]
        if summary is None:
            continue
        mine = rows.filter(pl.col("flow").cast(pl.String) == each["name"]) if "flow" in rows.columns else rows
        equal(summary["started"], mine.height, f"{each['name']}, connections started")
        done = sum(part["completed"] for part in summary["by_size"])
        equal(done, summary["completed"], f"{each['name']}, connections completed, by size and in all")


def captured(draw: Draw) -> Document:
    """Return some flows over a dumbbell, without what a capture cannot show."""
    return anything(draw, without=("trace", "changes", "ficcrd", "xcp", "quick-start", "web"), topologies=("dumbbell",))


@law(captured)
def capture(document: Document) -> None:
    """Packets and bytes of a capture of the bottleneck are those that the link transmitted.

    Condition: lengths on the wire are the original lengths of the capture; the packet in
    transmission at the end may be in one and not in the other.
    Source: three witnesses: link, record, capture (pcapng, draft-ietf-opsawg-pcapng, 4.3).
    """
    given = changed(document, lambda each: each["record"].update(packets=True))
    result = scenario(given).run()
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "link.pcapng"
        result.write_pcapng("bottleneck", where)
        lengths = list(_enhanced(where.read_bytes()))
    found = link(result)
    require(abs(len(lengths) - found["packets"]) <= 1, "packets", len(lengths), found["packets"])


def _enhanced(data: bytes) -> Iterator[int]:
    """Yield the original length of each Enhanced Packet Block."""
    place = 0
    while place + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:
            yield struct.unpack_from("<I", data, place + 24)[0]
        place += length


def application(draw: Draw) -> Document:
    """Return an application with a rate below the path's."""
    return path("20 Mbps", draw.whole(10, 80), "unlimited", duration="10 s", flows=[
        {"congestion_control": draw.turn(controls()), "traffic": {"rate": f"{draw.whole(1, 9)} Mbps", **draw.pick(
            [{}, {"write": "20 kB"}])}, "transport": {}}])  # fmt: skip


@law(application)
def application_rate(document: Document) -> None:
    """An application that writes less than the path carries gets what it writes.

    Condition: no loss; XCP without its routers stays at its first window, and is left out; within 4
    %: the first round trips, and what is under way at the end.
    Source: conservation.
    """
    holds(document["flow"][0]["congestion_control"] != "xcp", "no partner")
    if document["flow"][0]["congestion_control"] == "prague":
        document = changed(document, lambda each: each["flow"][0]["transport"].update(ecn="accurate"))
    rate = bps(document["flow"][0]["traffic"]["rate"])
    within(flow(run(document))["goodput_bps"], rate, "goodput, bit/s", relative=0.04)


@law(drop_tail)
def drop_causes(document: Document) -> None:
    """A drop-tail queue without a mechanism before it drops only when the limit is reached.

    Condition: a limit in packets; recounted from enqueue and transmit events alone.
    Source: the definition of drop-tail.
    """
    _, packets = recorded(document)
    for name, settings, _ in links_of(document):
        limit = settings.get("queue", "unlimited")
        if not isinstance(limit, str) or not limit.endswith(("packets", "packet")):
            continue
        number = int(limit.split()[0]) - (1 if settings.get("queue_counts") == "in-system" or (
            document.get("profile") == "classic" and "queue_counts" not in settings) else 0)  # fmt: skip
        held = 0
        here = packets.filter(pl.col("link") == name).select("time", "event", "packet").rows()
        inside: set[int] = set()
        for _, event, packet in here:
            if event == "enqueue":
                inside.add(packet)
                held += 1
            elif event == "transmit" and packet in inside:
                inside.discard(packet)
                held -= 1
            elif event == "drop":
                require(held >= number, f"{name}, packets waiting at a drop", held, f"at least {number}")
            require(held <= number + 1, f"{name}, packets waiting", held, f"at most {number}")
