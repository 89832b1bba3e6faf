"""The physics of packet networks, from the record of every packet."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from laws.generator import anything, names
from laws.law import Document, equal, holds, law, require, within
from laws.measure import SECOND, bps, changed, nbytes, picoseconds, recorded

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

    Condition: a link with a rate. A packet whose transmission a fall of the rate interrupts keeps
    its rate to the end (documented), so each fall adds the bits of one packet.
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
            # Bits that have left before this one begins, less the integral of the rate.
            ahead = total * 8 * SECOND - rate.until(time)
            lowest = min(lowest, ahead) if place else ahead
            allowed = (falls * largest * 8) * SECOND + 2 * rate.at(time) * (place + 1)
            require(ahead - lowest <= allowed, f"{name}, bits sent above the integral of the rate until {time} ps",
                    (ahead - lowest) / SECOND, f"at most {falls} packets")  # fmt: skip
            total += size


@law(rated, share=2)
def work_conserving(document: Document) -> None:
    """While a packet waits, the next transmission begins when the one before ends, at the rate of
    its start.

    Condition: drop-tail and every discipline (none shapes); mechanisms hold packets before the
    queue.
    Source: work conservation; docs/scenario-reference.md: a packet takes the rate at which it
    begins.
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
    delay = min(
        [picoseconds(bottleneck["delay"])]
        + [picoseconds(each["delay"]) for each in bottleneck.get("changes", []) if "delay" in each]
    )
    least = delay + 2 * picoseconds(access["delay"])
    data = packets.filter(pl.col("kind").is_in(["data", "datagram"]))
    sent = {
        row[0]: row[1:] for row in data.filter(pl.col("event") == "send").select("packet", "time", "size_bytes").rows()
    }
    fastest = max(Rate(bottleneck).rates)
    for packet, time in data.filter(pl.col("event") == "deliver").select("packet", "time").rows():
        begun, size = sent[packet]
        due = begun + least + size * 8 * SECOND // fastest + 2 * (size * 8 * SECOND // bps(access["rate"])) - 3
        require(time >= due, f"packet {packet}, arrival, ps", time, f"at least {due}")


@law(unrouted)
def order(document: Document) -> None:
    """Packets of one flow that leave a FIFO in an order arrive in it.

    Condition: no reordering, no holding mechanism, no queue per flow that orders by class
    (DualPI2).
    Source: a wire does not overtake; jitter is without overtaking (documented).
    """
    holds("dualpi2" not in str(document) and "ficcrd" not in str(document), "it may overtake")
    _, packets = recorded(document)
    for (name, _, kind), part in packets.filter(pl.col("kind").is_in(["data", "datagram"])).group_by(
        "flow", "connection", "kind"
    ):
        sent = part.filter(pl.col("event") == "send")["packet"].to_list()
        place = {packet: n for n, packet in enumerate(sent)}
        arrived = [place[packet] for packet in part.filter(pl.col("event") == "deliver")["packet"].to_list()]
        require(arrived == sorted(arrived), f"{name}, {kind}, order of arrival", "another", "that of sending")


def drop_tail(draw: Draw) -> Document:
    """Return anything over FIFO queues, without mechanisms."""
    made = anything(
        draw,
        without=(
            "trace",
            "routers",
            *names("router"),
            *(each for each in names("queue") if each not in ("drop-tail", "codel", "pie")),
        ),
    )
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
        full = int(limit.split(maxsplit=1)[0]) * largest if "packet" in limit else max(nbytes(limit), largest)
        bound = (full + largest) * 8 * SECOND // min(Rate(settings).rates) + 2
        for time, packet, _ in sent:
            require(time - entered[packet] <= bound, f"{name}, packet {packet}, wait, ps", time - entered[packet],
                    f"at most {bound}")  # fmt: skip


@law(unrouted_rated, share=2)
def little(document: Document) -> None:
    """The mean queue is the sum of all waiting times over the run; the mean wait is that of packets
    not dropped.

    Condition: waits of packets still in the queue at the end count up to the end; no mechanism
    before it.
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
            within(
                found["queue_mean_s"],
                sum(kept) / len(kept) / SECOND,
                f"{name}, mean wait, s",
                relative=1e-6,
                absolute=1e-9,
            )


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
    """Bytes of a link by its summary, by the record of its packets, and by its series are one
    number.

    Condition: a link counts a packet when its transmission begins: one more than the capacity, and
    one a change.
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
