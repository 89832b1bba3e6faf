"""What any packet network must do, from the record of every packet."""

from __future__ import annotations

import struct
import tempfile
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from laws.generator import anything, controls, names, path, recoveries
from laws.law import Document, equal, holds, law, require, within
from laws.measure import SECOND, bps, changed, flow, link, nbytes, picoseconds, recorded, run, scenario, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from laws.draw import Draw


def any_case(draw: Draw) -> Document:
    """Return a scenario of anything."""
    return anything(draw)


def rated(draw: Draw) -> Document:
    """Return anything over links that have a rate."""
    return anything(draw, without=("trace",))


def links_of(document: Document) -> Iterator[tuple[str, Document, bool]]:
    """Yield name, settings and whether routers act before it, of each link in the record."""
    network = document["network"]
    if network["topology"] == "dumbbell":
        yield "bottleneck", network["bottleneck"], True
        yield "reverse", network.get("reverse", network["bottleneck"]), False
        yield "source1-left", network["access"], False
        yield "right-sink1", network["access"], False
    elif network["topology"] == "parking-lot":
        for n in range(1, network["hops"] + 1):
            yield f"hop{n}", network["hop"], n == 1
    else:
        for each in network["link"]:
            yield f"{each['from']}-{each['to']}", each, (each["from"], each["to"]) == ("b", "c")


class Rate:
    """The rate of a link over time, and its integral, in exact bits times ps."""

    def __init__(self, settings: Document) -> None:
        self.times, self.rates, self.sums = [0], [bps(settings["rate"])], [0]
        for change in settings.get("changes", []):
            at = picoseconds(change["at"])
            self.sums.append(self.sums[-1] + self.rates[-1] * (at - self.times[-1]))
            self.times.append(at)
            self.rates.append(bps(change["rate"]) if "rate" in change else self.rates[-1])

    def until(self, time: int) -> int:
        """Return the integral from the start of the run."""
        place = bisect_right(self.times, time) - 1
        return self.sums[place] + self.rates[place] * (time - self.times[place])

    def at(self, time: int) -> int:
        """Return the rate at a time."""
        return self.rates[bisect_right(self.times, time) - 1]


def events(packets: pl.DataFrame, name: str, event: str) -> list[tuple[int, int, int]]:
    """Return time, packet and size of each event at a link."""
    found = packets.filter((pl.col("link") == name) & (pl.col("event") == event))
    return list(zip(found["time"].to_list(), found["packet"].to_list(), found["size_bytes"].to_list(), strict=True))


def unrouted(draw: Draw) -> Document:
    """Return anything without mechanisms in routers."""
    return anything(draw, without=("routers", *names("router")))


def unrouted_rated(draw: Draw) -> Document:
    """Return anything over links that have a rate, without mechanisms."""
    return anything(draw, without=("trace", "routers", *names("router")))


# --- links ----------------------------------------------------------------------------------------


@law(rated, share=2)
def link_rate(document: Document) -> None:
    """Between any two departures a link sends at most the integral of its rate, and a packet.

    Condition: a link with a rate. A packet whose transmission a fall of the rate interrupts keeps its rate
    to the end (documented), so each fall adds the bits of one packet.
    Source: a transmitter of rate r(t) sends the integral of r(t).
    """
    _, packets = recorded(document)
    for name, settings, _ in links_of(document):
        rate = Rate(settings)
        sent = events(packets, name, "transmit")
        total = 0
        lowest = 0
        falls = sum(1 for one, two in zip(rate.rates, rate.rates[1:], strict=False) if two < one)
        largest = max((size for _, _, size in sent), default=0)
        for place, (time, _, size) in enumerate(sent):
            # Bits that have left before this one begins, less what the rate allowed: over any window.
            ahead = total * 8 * SECOND - rate.until(time)
            lowest = min(lowest, ahead) if place else ahead
            allowed = (falls * largest * 8) * SECOND + 2 * rate.at(time) * (place + 1)
            require(ahead - lowest <= allowed, f"{name}, bits sent above the integral of the rate until {time} ps",
                    (ahead - lowest) / SECOND, f"at most {falls} packets")  # fmt: skip
            total += size


@law(rated, share=2)
def work_conserving(document: Document) -> None:
    """While a packet waits, the next transmission begins when the one before ends, at the rate of its start.

    Condition: drop-tail and every discipline (none shapes); mechanisms hold packets before the queue.
    Source: work conservation; docs/scenario-reference.md: a packet takes the rate at which it begins.
    """
    _, packets = recorded(document)
    for name, settings, _ in links_of(document):
        rate = Rate(settings)
        entered = {packet: time for time, packet, _ in events(packets, name, "enqueue")}
        free = 0
        for time, packet, size in events(packets, name, "transmit"):
            due = max(free, entered[packet])
            # A queue per flow may send another first, which came at once or later: it may not idle.
            require(time >= due - 1, f"{name}, packet {packet}, start of its transmission, ps", time, due)
            if time > free + 1:
                require(time <= entered[packet] + 1, f"{name}, packet {packet} waited for an idle transmitter, ps",
                        time, entered[packet])  # fmt: skip
            free = time + -(-size * 8 * SECOND // rate.at(time))


@law(any_case)
def conservation(document: Document) -> None:
    """Every packet sent is delivered, dropped, lost or on its way: counted by cause.

    Condition: a link counts a packet when its transmission begins.
    Source: conservation of packets.
    """
    result, packets = recorded(document)
    fates = packets.group_by("packet").agg(pl.col("event"))
    ends = ("deliver", "drop", "loss", "lose", "lost")
    for events_of in fates["event"].to_list():
        found = Counter(str(each) for each in events_of)
        require(found["send"] == 1, "sendings of a packet", found["send"], 1)
        gone = sum(found[each] for each in ends)
        require(gone <= 1, "ends of a packet", dict(found), "one")
    for each in result.summary["links"]:
        here = packets.filter(pl.col("link") == each["name"])["event"].cast(pl.String).value_counts()
        number = dict(zip(here["event"].to_list(), here["count"].to_list(), strict=True))
        equal(each["packets"], number.get("transmit", 0), f"{each['name']}, packets")


def rated_dumbbell(draw: Draw) -> Document:
    """Return anything over a dumbbell with rates."""
    return anything(draw, without=("trace",), topologies=("dumbbell",))


@law(rated_dumbbell)
def one_way_delay(document: Document) -> None:
    """No packet is faster than the propagation and the transmission times of its way.

    Source: physics.
    """
    _, packets = recorded(document)
    network = document["network"]
    access, bottleneck = network["access"], network["bottleneck"]
    delay = min([picoseconds(bottleneck["delay"])] + [picoseconds(each["delay"]) for each in bottleneck.get("changes", [])
                                                      if "delay" in each])  # fmt: skip
    least = delay + 2 * picoseconds(access["delay"])
    data = packets.filter(pl.col("kind").is_in(["data", "datagram"]))
    sent = {row[0]: row[1:] for row in data.filter(pl.col("event") == "send").select("packet", "time", "size_bytes").rows()}
    fastest = max(Rate(bottleneck).rates)
    for packet, time in data.filter(pl.col("event") == "deliver").select("packet", "time").rows():
        begun, size = sent[packet]
        due = begun + least + size * 8 * SECOND // fastest + 2 * (size * 8 * SECOND // bps(access["rate"])) - 3
        require(time >= due, f"packet {packet}, arrival, ps", time, f"at least {due}")


@law(unrouted)
def order(document: Document) -> None:
    """Packets of one flow that leave a FIFO in an order arrive in it.

    Condition: no reordering, no holding mechanism, no queue per flow that orders by class (DualPI2).
    Source: a wire does not overtake; jitter is without overtaking (documented).
    """
    holds("dualpi2" not in str(document) and "ficcrd" not in str(document), "it may overtake")
    _, packets = recorded(document)
    for (name, _, kind), part in packets.filter(pl.col("kind").is_in(["data", "datagram"])).group_by("flow", "connection", "kind"):
        sent = part.filter(pl.col("event") == "send")["packet"].to_list()
        place = {packet: n for n, packet in enumerate(sent)}
        arrived = [place[packet] for packet in part.filter(pl.col("event") == "deliver")["packet"].to_list()]
        require(arrived == sorted(arrived), f"{name}, {kind}, order of arrival", "another", "that of sending")


def drop_tail(draw: Draw) -> Document:
    """Return anything over FIFO queues, without mechanisms."""
    made = anything(draw, without=("trace", "routers", *names("router"), *(each for each in names("queue") if each not in ("drop-tail", "codel", "pie"))))
    return changed(made, lambda each: [flow.pop("count", None) for flow in each["flow"]])


@law(drop_tail, share=1.5)
def queue_delay(document: Document) -> None:
    """Nothing waits longer than a full queue takes to leave at the lowest rate of the run.

    Condition: a FIFO with a limit in packets or bytes; the packet in service comes on top.
    Source: a FIFO of B bytes at rate r empties in B/r.
    """
    _, packets = recorded(document)
    for name, settings, _ in links_of(document):
        queue = settings.get("queue", "unlimited")
        limit = str(queue["limit"] if isinstance(queue, dict) else queue)
        if not limit.endswith((" packets", " packet", " B", " kB")):
            continue
        entered = {packet: time for time, packet, _ in events(packets, name, "enqueue")}
        sent = events(packets, name, "transmit")
        largest = max((size for _, _, size in sent), default=0)
        full = int(limit.split()[0]) * largest if "packet" in limit else max(nbytes(limit), largest)
        bound = (full + largest) * 8 * SECOND // min(Rate(settings).rates) + 2
        for time, packet, _ in sent:
            require(time - entered[packet] <= bound, f"{name}, packet {packet}, wait, ps", time - entered[packet],
                    f"at most {bound}")  # fmt: skip


@law(unrouted_rated, share=2)
def little(document: Document) -> None:
    """The mean queue is the sum of all waiting times over the run; the mean wait is that of packets not dropped.

    Condition: waits of packets still in the queue at the end count up to the end; no mechanism before it.
    Source: Little 1961.
    """
    result, packets = recorded(document)
    end = picoseconds(document["duration"])
    for name, _, _ in links_of(document):
        entered = {packet: time for time, packet, _ in events(packets, name, "enqueue")}
        left = {packet: time for time, packet, _ in events(packets, name, "transmit")}
        dropped = {packet: time for time, packet, _ in events(packets, name, "drop")}
        left = {packet: time for packet, time in left.items() if time <= end}
        out = {packet: left.get(packet, dropped.get(packet, end)) for packet in entered}
        waits = {packet: out[packet] - time for packet, time in entered.items()}
        found = next((each for each in result.summary["links"] if each["name"] == name), None)
        if found is None or not waits:
            continue
        within(found["queue_mean_packets"], sum(waits.values()) / end, f"{name}, mean queue, packets", relative=1e-6,
               absolute=1e-9)  # fmt: skip
        kept = [wait for packet, wait in waits.items() if packet not in dropped or packet in left]
        if kept:
            within(found["queue_mean_s"], sum(kept) / len(kept) / SECOND, f"{name}, mean wait, s", relative=1e-6, absolute=1e-9)


@law(unrouted)
def series_queue(document: Document) -> None:
    """Each sample of a queue is the number of packets that have entered and not left.

    Condition: no packet is held before the queue.
    Source: counting.
    """
    result, packets = recorded(document)
    samples = pl.DataFrame(result.links).with_columns(pl.col("link").cast(pl.String))
    for name, _, _ in links_of(document):
        moves: list[tuple[int, int]] = []
        gone = {packet: time for time, packet, _ in events(packets, name, "drop")}
        left = {packet: time for time, packet, _ in events(packets, name, "transmit")}
        for time, packet, _ in events(packets, name, "enqueue"):
            moves.append((time, 1))
            out = left.get(packet, gone.get(packet))
            if out is not None:
                moves.append((out, -1))
        moves.sort()
        times = [time for time, _ in moves]
        sums, total = [0], 0
        for _, step in moves:
            total += step
            sums.append(total)
        for time, queue in samples.filter(pl.col("link") == name).select("time_s", "queue_packets").rows():
            at = round(time * SECOND)
            if at in times:
                continue
            require(queue == sums[bisect_right(times, at)], f"{name}, queue at {time} s", queue,
                    sums[bisect_right(times, at)])  # fmt: skip


@law(rated)
def three_utilizations(document: Document) -> None:
    """Bytes of a link by its summary, by the record of its packets, and by its series are one number.

    Condition: a link counts a packet when its transmission begins: one more than the capacity, and one a change.
    Source: three witnesses of one quantity; capacity is the integral of the rate.
    """
    result, packets = recorded(document)
    end = picoseconds(document["duration"])
    last = pl.DataFrame(result.links).with_columns(pl.col("link").cast(pl.String)).group_by("link").last()
    for name, settings, _ in links_of(document):
        found = next((each for each in result.summary["links"] if each["name"] == name), None)
        if found is None:
            continue
        rate = Rate(settings)
        sent = events(packets, name, "transmit")
        done = sum(size for _, _, size in sent)
        equal(found["bytes"], done, f"{name}, bytes of the summary and of the record")
        sampled = last.filter(pl.col("link") == name)["bytes"].to_list()
        if sampled and abs(last.filter(pl.col("link") == name)["time_s"][0] * SECOND - end) < 2:
            equal(sampled[0], done, f"{name}, bytes of the series and of the record")
        largest = max((size for _, _, size in sent), default=0) * (1 + len(settings.get("changes", [])))
        require((done - largest) * 8 * SECOND <= rate.until(end), f"{name}, bits", done * 8, rate.until(end) / SECOND)


# --- receivers and senders ------------------------------------------------------------------------


@law(any_case, share=1.5)
def goodput_sums(document: Document) -> None:
    """Goodput is the payload that arrived once, over the time of the flow: by the record of arrivals.

    Condition: TCP in bulk from a given start, a receiver that does not lie or renege.
    Source: the definition in docs/concepts.md.
    """
    result, packets = recorded(document)
    holds("misbehaviour" not in str(document), "a receiver that discards")
    for place, each in enumerate(document["flow"]):
        found = flow(result, place)
        if each.get("protocol") == "udp" or found["connections"] is not None:
            continue
        arrived = packets.filter((pl.col("flow") == found["name"]) & (pl.col("event") == "deliver") & (pl.col("kind") == "data"))
        spans = sorted(set(zip(arrived["sequence"].to_list(), arrived["payload_bytes"].to_list(), strict=True)))
        sent = packets.filter((pl.col("flow") == found["name"]) & (pl.col("event") == "send") & (pl.col("kind") == "data"))
        base = int(sent["sequence"].min() or 0)  # type: ignore[arg-type]
        reached = base
        for start, size in spans:
            if start > reached:
                break
            reached = max(reached, start + size)
        equal(found["delivered_bytes"], reached - base, f"{found['name']}, bytes delivered in order")


@law(any_case)
def receive_window(document: Document) -> None:
    """The data outstanding never exceeds the receiver's window.

    Condition: a window in the file, a receiver that does not lie, no router that changes windows; a retransmission
    is outstanding once.
    Source: RFC 9293, 3.8.6.
    """
    holds("misbehaviour" not in str(document) and "ficcrd" not in str(document) and "tampering" not in str(document), "lies")
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
        require(not here.filter(pl.col("ecn") == "not-ect").height, f"{each['name']}, marks without ECT", here.height, 0)


@law(rated_dumbbell)
def rtt_summary(document: Document) -> None:
    """The least RTT of the summary is not below twice the propagation delay, and mean and 95 % are between.

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
            require(each["rtt_min_s"] >= delay - 1e-9, f"{each['name']}, least RTT, s", each["rtt_min_s"], f"at least {delay}")
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

    Condition: an RTO above RTT and queue: the window is at most 100 kB, on 2 Mbit/s 0.4 s, and the RTO follows
    the RTT; a tail probe of RACK-TLP (RFC 8985, 7) may leave where an ACK waits for its timer: one at most.
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
    return path("16 Mbps", draw.pick([20, 36, 80]), draw.pick(["4 bdp", "unlimited"]), duration="20 s", access="800 Mbps",
                interval="20 ms", flows=[{"congestion_control": algorithm, **limit, "transport": transport}])  # fmt: skip


@law(windows_case, share=2)
def useful_window(document: Document) -> None:
    """A window that something else limits does not grow without end: at most three times the most in flight.

    Condition: the receiver or the application is the limit, from the second second on; or at most twice the BDP,
    to which a start that measures the path may set it; at least 45 segments (three initial windows and half).
    Source: RFC 9293, 3.8.6 with RFC 7661, 4: growth needs a window that was used; Linux tcp_is_cwnd_limited
    (in slow start at most twice the data in flight).
    """
    result = run(document)
    rows = pl.DataFrame(result.flows).filter(pl.col("time_s") > 1)
    most = max(pl.DataFrame(result.flows)["in_flight_bytes"].max() or 0, 10 * 1448)  # type: ignore[type-var]
    window = rows["cwnd_bytes"].max() or 0
    bottleneck = document["network"]["bottleneck"]
    product = bps(bottleneck["rate"]) * (2 * seconds(bottleneck["delay"]) + 0.004) / 8
    require(window <= max(3 * most, 45 * 1448, 2 * product), "largest window, bytes", window, f"at most {3 * most}")  # type: ignore[operator]


def pause_case(draw: Draw) -> Document:
    """Return a flow that pauses."""
    return path("50 Mbps", 60, "unlimited", duration="12 s", interval="100 ms", access="1 Gbps", flows=[
        {"congestion_control": draw.turn(names("window")), "transport": {
            "receive_window": "unlimited", "initial_ssthresh": "60 segments"}, "traffic": {"size": "3 MB"}}])  # fmt: skip


@law(pause_case)
def pause(document: Document) -> None:
    """Time without data does not grow a window: after a pause it is not above the one before, in the first RTT.

    Condition: restart after idle, the default; the application writes 1.5 MB, pauses, and writes as much.
    Source: RFC 9438, 4.10 (CUBIC takes the pause off its epoch); RFC 5681, 4.1.
    """
    length = 4 + names("window").index(document["flow"][0]["congestion_control"]) % 3
    given = changed(document, lambda each: each["flow"][0].update(
        traffic={"rate": f"{1_500_000 * 8 // length} bps", "write": "1500000 B"}))  # fmt: skip
    rows = pl.DataFrame(run(given).flows)
    before = rows.filter((pl.col("time_s") > length - 0.5) & (pl.col("time_s") < length - 0.05))["cwnd_bytes"].max()
    after = rows.filter((pl.col("time_s") > length) & (pl.col("time_s") < length + 0.11))["cwnd_bytes"].max()
    holds(before is not None and after is not None, "no samples")
    require(after <= 2 * before + 3000, "window in the first two RTTs after a pause", after,  # type: ignore[operator]
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

    Condition: NewReno and better; losses 60 or more segments apart and not among the last six; a tail loss
    probe is one retransmission more; NewReno times out where the first segment beyond `recover` is lost (RFC 6582, 3.2:
    its duplicate ACKs do not cover more than that).
    Source: RFC 6582, RFC 6675, RFC 8985: a recovery repairs what is lost.
    """
    result, packets = recorded(document)
    lost = packets.filter(pl.col("event") == "drop").height
    found = flow(result)
    last = packets.filter(pl.col("kind") == "data")["sequence"].max() or 0
    late = packets.filter((pl.col("event") == "drop") & (pl.col("sequence") > last - 6 * 1448)).height  # type: ignore[operator]
    holds(lost and not late, "none, or one of the last")
    recovery = document["flow"][0]["transport"]["recovery"]
    require(not found["timeouts"] or recovery == "newreno", "timeouts", found["timeouts"], 0)
    probes = 1 if recovery == "rack" else 0
    require(lost <= found["retransmitted_segments"] <= lost + probes, "retransmissions", found["retransmitted_segments"], lost)


def outage(draw: Draw) -> Document:
    """Return a flow whose path loses everything from a time on."""
    made = path("10 Mbps", draw.whole(10, 60), "unlimited", duration="60 s", flows=[
        {"congestion_control": draw.turn(controls()), "transport": {
            "recovery": draw.pick(recoveries()), "timer": {"backoff": draw.pick([2, 1.5]), "maximum": "30 s"}}}])  # fmt: skip
    made["flow"][0]["transport"]["ecn"] = "accurate" if made["flow"][0]["congestion_control"] == "prague" else "off"
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "probability": 1, "from": "1.3 s", "links": ["bottleneck"]}]
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
    gaps = [two - one for one, two in zip(times, times[1:], strict=False)]
    holds(len(gaps) >= 3, "few expiries")
    most = picoseconds(timer["maximum"])
    for one, two in zip(gaps[1:], gaps[2:], strict=False):
        within(two, min(one * timer["backoff"], most), "interval of two retransmissions, ps", relative=0.02, absolute=2e9)


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

    Condition: no router that drops by a period (it can lock with the backoff), no bursts of losses (each retry may
    meet the same burst, whose length is counted in packets), loss of one in ten or less, a truthful receiver, 64 kbit/s or more, room for 20 packets: with one or two every window of more ends in a timeout.
    Source: RFC 9293: reliable delivery.
    """
    first = document["flow"][0]
    holds(first.get("protocol") != "udp" and "misbehaviour" not in str(document), "not a transfer")
    holds("'spacing'" not in str(document), "locks")
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
    acks = packets.filter((pl.col("flow") == found["name"]) & (pl.col("event") == "deliver") & (pl.col("kind") == "ack"))
    last = acks["acknowledgement"].max()
    at = acks.filter(pl.col("acknowledgement") == last)["time"].min()
    right = (at - picoseconds(first.get("start", "0 s"))) / SECOND  # type: ignore[operator]
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

    Condition: lengths on the wire are the original lengths of the capture; the packet in transmission at the
    end may be in one and not in the other.
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

    Condition: no loss; XCP without its routers stays at its first window, and is left out; within 4 %: the first
    round trips, and what is under way at the end.
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
