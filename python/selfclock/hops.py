"""Arrival, start of transmission and delivery of every packet on every link, from a packet record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from selfclock.network import Network, NetworkLink
    from selfclock.result import Result

#: How a packet left a link: towards the next, into its queue's bin, lost on the wire, to its
#: receiver, or not yet.
FORWARDED, DROPPED, LOST, DELIVERED, UNFINISHED = range(5)

#: Kinds of packets from the receiver of data to its sender.
TOWARDS_SOURCE = ("ack", "syn-ack", "reply")

#: The name of each kind of packet, before its number.
WORDS = {
    "data": "segment",
    "ack": "ACK of",
    "syn": "SYN, segment",
    "syn-ack": "SYN-ACK of",
    "datagram": "datagram",
    "resource-discovery": "resource discovery packet",
    "reply": "reply",
}

#: Tolerance within which two times are equal, seconds; the record is exact to a picosecond.
SAME = 2e-12

_COLUMNS = ("time_s", "event", "link", "flow", "kind", "ecn", "retransmission", "packet", "sequence", "payload_bytes",
            "size_bytes", "acknowledgement")  # fmt: skip


class UnrecordedError(BadInputError):
    """The request needs a record of packets."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a record of packets: run with --set record.packets=true, or --replay 5s")


@dataclass
class Hops:
    """A row for each packet on each link, in order of arrival, and a row for each packet.

    Times are seconds; NaN where the record is silent.
    """

    network: Network
    #: Recorded span, in seconds.
    begin: float
    end: float
    #: For each hop: row of its packet and index of its link.
    packet: NDArray[np.int64]
    link: NDArray[np.int64]
    #: Arrival at the queue; start of transmission; departure of the last bit; its arrival;
    #: departure from there. A packet that was dropped or lost left at `leave`.
    enter: NDArray[np.float64]
    start: NDArray[np.float64]
    sent: NDArray[np.float64]
    arrive: NDArray[np.float64]
    leave: NDArray[np.float64]
    fate: NDArray[np.int8]
    #: For each packet: its flow, and whether it travels towards the sender of data.
    flow: NDArray[np.int64]
    back: NDArray[np.bool_]
    #: Its kind, a row of `WORDS`.
    kind: NDArray[np.int64]
    #: Whether it carries payload; other packets set connections up or acknowledge.
    data: NDArray[np.bool_]
    #: On the wire, bytes.
    size: NDArray[np.int64]
    #: Segment number (data) or segments acknowledged, from 1.
    number: NDArray[np.int64]
    again: NDArray[np.bool_]
    #: When it was first CE-marked.
    marked: NDArray[np.float64]
    sent_s: NDArray[np.float64]
    delivered_s: NDArray[np.float64]
    #: Whether the record is longer: it was cut after `end`.
    cut: bool = False


def hops_of(
    result: Result,
    most: int | None = None,
    *,
    flow: str | None = None,
    between: tuple[float, float] | None = None,
    what: str = "a replay",
) -> Hops:
    """Follow every packet of a record, or those of a flow, or between two times, or the first `most` packet-hops.

    Raises `UnrecordedError` if the scenario does not record packets; `what` is then said to need
    it.
    """
    begin, end = recorded_span(result, what)
    events = events_of(result, flow)
    if between is not None:
        begin, end = max(begin, between[0]), min(end, between[1])
        events = events.filter(pl.col("time_s").is_between(begin, end))
    # A hop has at most four events, and a packet two more.
    frame = (events if most is None else events.head(6 * most)).collect()
    cut = most is not None and len(frame) == 6 * most
    if cut:
        end = float(frame["time_s"][-1])
    # Events of a packet follow one another in the order of the record.
    frame = frame.sort("packet", maintain_order=True)
    hops = _Reader(result.scenario.network, frame, (begin, end)).read()
    hops.cut = cut
    if most is not None and len(hops.enter) > most:
        _cut(hops, float(hops.enter[most]))
    return hops


def recorded_span(result: Result, what: str) -> tuple[float, float]:
    """Return the first and the last time of a record, or raise `UnrecordedError` in the name of `what`."""
    span = result.scenario.recorded_span_s
    if span is None:
        raise UnrecordedError(what)
    return span


def events_of(result: Result, flow: str | None = None) -> pl.LazyFrame:
    """Return the events of a record, or those of a flow; a record in a file is read as far as it is needed."""
    if result.record_file is not None:
        events = pl.scan_parquet(result.record_file).select(_COLUMNS)
    elif "packets" in vars(result):
        # Selected columns are built faster than all, and all faster than twice a selection.
        events = pl.DataFrame(result.packets).select(_COLUMNS).lazy()
    else:
        events = pl.DataFrame(result.packet_columns(*_COLUMNS)).lazy()
    return events if flow is None else events.filter(pl.col("flow").cast(pl.String) == flow)


def _cut(hops: Hops, end: float) -> None:
    """Leave out the hops that begin at `end` or later."""
    kept = hops.enter < end
    for name in ("packet", "link", "enter", "start", "sent", "arrive", "leave", "fate"):
        setattr(hops, name, getattr(hops, name)[kept])
    hops.end, hops.cut = end, True


class _Reader:
    """Turns the rows of a record, sorted by packet, into hops."""

    def __init__(self, network: Network, frame: pl.DataFrame, span: tuple[float, float]) -> None:
        self.network, self.span = network, span
        self.time: NDArray[np.float64] = frame["time_s"].to_numpy()
        self.event = _codes(frame["event"], ("send", "enqueue", "transmit", "drop", "lose", "deliver", "mark"))
        self.link = _codes(frame["link"], (link.name for link in network.links))
        number = frame["packet"].to_numpy()
        first = np.ones(len(number), dtype=bool)
        first[1:] = number[1:] != number[:-1]
        #: Row of its packet, for each event.
        self.row = np.cumsum(first) - 1
        self.first = np.flatnonzero(first)
        self.frame = frame
        self.packets = len(self.first)

    def per_packet(self, event: int) -> NDArray[np.float64]:
        """Return when this first happened to each packet; NaN if it did not."""
        times = np.full(self.packets, np.nan)
        rows = np.flatnonzero(self.event == event)[::-1]
        times[self.row[rows]] = self.time[rows]
        return times

    def read(self) -> Hops:
        frame, first = self.frame, self.first
        kind = frame["kind"].gather(first).cast(pl.String)
        back = kind.is_in(TOWARDS_SOURCE).to_numpy()
        flow = _codes(frame["flow"].gather(first), (flow.name for flow in self.network.flows))
        payload = frame["payload_bytes"].gather(first).to_numpy().astype(np.int64)
        segment = np.ones(max(len(self.network.flows), 1), dtype=np.int64)
        np.maximum.at(segment, np.maximum(flow, 0), payload)
        # A reply is a packet of its own connection: it has no acknowledgement number.
        acknowledges = kind.is_in(("ack", "syn-ack")).to_numpy()
        sequence = np.where(acknowledges, frame["acknowledgement"].gather(first).to_numpy().astype(np.int64) - 1,
                            frame["sequence"].gather(first).to_numpy().astype(np.int64))  # fmt: skip
        marked = np.full(self.packets, np.nan)
        ce = np.flatnonzero((frame["ecn"].cast(pl.String) == "ce").to_numpy())[::-1]
        marked[self.row[ce]] = self.time[ce]
        packet, link, enter, start, sent, arrive, leave, fate = self._hops()
        hops = Hops(
            self.network, *self.span, packet, link, enter, start, sent, arrive, leave, fate, flow, back,
            _codes(kind, tuple(WORDS)),
            kind.is_in(("data", "datagram")).to_numpy(),
            frame["size_bytes"].gather(first).to_numpy().astype(np.int64),
            sequence // segment[np.maximum(flow, 0)] + 1, frame["retransmission"].gather(first).to_numpy(), marked,
            self.per_packet(0), self.per_packet(5),
        )  # fmt: skip
        self._before(hops)
        _finish(hops)
        return hops

    def _hops(self) -> tuple[Any, ...]:
        """Return packet, link and times of each hop, as far as recorded."""
        on_link = np.flatnonzero(self.link >= 0)
        row, link, event, time = self.row[on_link], self.link[on_link], self.event[on_link], self.time[on_link]
        begins = np.ones(len(row), dtype=bool)
        begins[1:] = (row[1:] != row[:-1]) | (link[1:] != link[:-1])
        hop = np.cumsum(begins) - 1
        times = {}
        for name, code in (("enter", 1), ("start", 2), ("drop", 3), ("lose", 4)):
            times[name] = np.full(int(begins.sum()), np.nan)
            times[name][hop[event == code]] = time[event == code]
        packet, crossed = row[begins], link[begins]
        # A packet refused by a queue was never in it.
        enter = np.where(np.isnan(times["enter"]), times["drop"], times["enter"])
        dropped, lost = ~np.isnan(times["drop"]), ~np.isnan(times["lose"])
        fate = np.select([dropped, lost], [DROPPED, LOST], UNFINISHED).astype(np.int8)
        leave = np.where(dropped, times["drop"], times["lose"])
        start = np.where(dropped, np.nan, times["start"])
        unknown = np.full(len(packet), np.nan)
        return packet, crossed, enter, start, unknown, unknown.copy(), leave, fate

    def _before(self, hops: Hops) -> None:
        """Add the hops that were in progress when the record began, of which it shows only the end."""
        if self.span[0] <= 0:
            return
        rows, links = [], []
        number = {link.name: index for index, link in enumerate(self.network.links)}
        for packet in np.flatnonzero(self.event[self.first] != 0):
            event, link = self.event[self.first[packet]], self.link[self.first[packet]]
            flow = self.network.flows[hops.flow[packet]]
            route = [number[each.name] for each in (flow.reverse if hops.back[packet] else flow.forward)]
            if event == 5 and route:
                rows.append(packet)
                links.append(route[-1])
            elif event in {1, 3} and link in route[1:]:
                rows.append(packet)
                links.append(route[route.index(link) - 1])
        nothing = np.full(len(rows), np.nan)
        hops.packet = np.concatenate([hops.packet, np.array(rows, dtype=np.int64)])
        hops.link = np.concatenate([hops.link, np.array(links, dtype=np.int64)])
        for name in ("enter", "start", "sent", "arrive", "leave"):
            setattr(hops, name, np.concatenate([getattr(hops, name), nothing]))
        hops.fate = np.concatenate([hops.fate, np.full(len(rows), UNFINISHED, dtype=np.int8)])


def _codes(column: pl.Series, names: Iterable[str]) -> NDArray[np.int64]:
    """Return a column of names as indices into a list; -1 for null."""
    place = {name: at for at, name in enumerate(names)}
    present = column.unique()
    known = pl.DataFrame({"name": present, "code": [place.get(name, -1) for name in present.cast(pl.String)]})
    coded = pl.DataFrame({"name": column}).join(known, on="name", how="left", nulls_equal=True, maintain_order="left")
    return coded["code"].to_numpy().astype(np.int64)


def _finish(hops: Hops) -> None:
    """Fill in where each packet went next, and when its last bit left and arrived."""
    # The hops of each packet in order; one without a beginning precedes the others.
    order = np.lexsort((np.nan_to_num(hops.enter, nan=-1.0), hops.packet))
    for name in ("packet", "link", "enter", "start", "sent", "arrive", "leave", "fate"):
        setattr(hops, name, getattr(hops, name)[order])
    open_ = hops.fate == UNFINISHED
    following = np.zeros(len(hops.packet), dtype=bool)
    following[:-1] = hops.packet[1:] == hops.packet[:-1]
    upon = np.where(following, np.append(hops.enter[1:], np.nan), hops.delivered_s[hops.packet])
    hops.leave = np.where(open_, upon, hops.leave)
    hops.fate[open_ & following] = FORWARDED
    hops.fate[open_ & ~following & ~np.isnan(upon)] = DELIVERED
    for index in np.unique(hops.link):
        rows = np.flatnonzero(hops.link == index)
        _cross(hops, rows, hops.network.links[index])
    hops.enter = np.where(
        np.isnan(hops.enter), np.minimum(hops.begin, np.nan_to_num(hops.start, nan=np.inf)), hops.enter
    )
    order = np.argsort(hops.enter, kind="stable")
    for name in ("packet", "link", "enter", "start", "sent", "arrive", "leave", "fate"):
        setattr(hops, name, getattr(hops, name)[order])


def _cross(hops: Hops, rows: NDArray[np.int64], link: NetworkLink) -> None:
    """Compute transmission and arrival of the hops of one link."""
    moves = np.isin(hops.fate[rows], (FORWARDED, DELIVERED, UNFINISHED))
    start, leave = hops.start[rows], hops.leave[rows]
    rate, delay = np.full(len(rows), float(link.rate_bps)), np.full(len(rows), link.delay_s)
    for at, changed_rate, changed_delay in link.changes:
        rate[start >= at], delay[start >= at] = changed_rate, changed_delay
    length = np.zeros(len(rows)) if link.trace else hops.size[hops.packet[rows]] * 8 / rate
    # For packets in flight when the record began, only the arrival is known.
    start = np.where(np.isnan(start) & moves & ~np.isnan(leave), leave - delay - length, start)
    sent = start + length
    computed = sent + delay
    vague = link.trace or link.jitter_s > 0 or bool(link.changes)
    held = (leave > computed + SAME) & (not vague)
    arrive = np.where(np.isnan(leave) | held, computed, leave)
    hops.start[rows] = start
    hops.sent[rows] = np.where(hops.fate[rows] == LOST, leave, np.minimum(sent, np.where(moves, arrive, sent)))
    hops.arrive[rows] = np.where(moves, arrive, leave)
    # Packets that have arrived and not left are held beyond the end of the record.
    hops.leave[rows] = np.where(np.isnan(leave), np.maximum(arrive, hops.end), leave)
