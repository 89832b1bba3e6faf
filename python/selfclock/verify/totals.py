"""The summary and the series, recomputed from the packet record."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from selfclock.verify.opportunities import OPPORTUNITY
from selfclock.verify.record import picoseconds
from selfclock.verify.specification import SECOND, size_of, transmission_bytes, transmission_time

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Hop, Lives, Packet
    from selfclock.verify.receivers import Held
    from selfclock.verify.record import Record
    from selfclock.verify.senders import Sender
    from selfclock.verify.specification import Flow, Link, Specification, Trace
    from selfclock.verify.violation import Findings

#: Integers, one for each sample: picoseconds, bytes, packets.
Times = np.ndarray[tuple[int], np.dtype[np.int64]]

#: Sums of at most some millions of doubles, each rounded to half a unit in the last place.
RELATIVE = 1e-9


@dataclass
class Replayed:
    """Results of the sender and receiver checks on each connection."""

    senders: dict[tuple[str, int | None], Sender]
    held: dict[tuple[str, int | None], Held]


def check_totals(
    record: Record, lives: Lives, specification: Specification, replayed: Replayed, findings: Findings
) -> None:
    """Compare summary and series with the record."""
    said_of_links, said_of_flows = (
        {entry["name"]: entry for entry in record.summary[part]} if record.summary is not None else {}
        for part in ("links", "flows")
    )
    rows_of_links, rows_of_flows = _rows(record.links, "link"), _rows(record.flows, "flow")
    for name, link in specification.links.items():
        own = OfLink(link, lives, specification.measure_from)
        if record.summary is not None:
            own.check_summary(said_of_links.get(name, {}), findings)
        if name in rows_of_links:
            own.check_series(rows_of_links[name], findings)
    ends: dict[str, list[tuple[str, int | None]]] = {name: [] for name in specification.flows}
    for key in sorted(lives.sent.keys() | lives.delivered.keys(), key=str):
        ends[key[0]].append(key)
    for name, flow in specification.flows.items():
        if record.summary is not None:
            measured = (lives, replayed, specification.measure_from)
            _flow_summary(said_of_flows.get(name, {}), flow, ends[name], measured, findings)
        if name in rows_of_flows and flow.tcp is not None and not flow.short_connections:
            _flow_series(rows_of_flows[name], flow, replayed.senders.get((name, None)), findings)
    if record.summary is not None:
        hops = sum(link["packets"] for link in record.summary["links"])
        _same(findings, "run", "packet_hops", record.summary["packet_hops"], hops)
    if record.connections is not None:
        _connections(record.connections, specification, replayed, findings)


def _rows(table: pl.DataFrame | None, column: str) -> dict[str, pl.DataFrame]:
    """Return the rows of each link or flow."""
    if table is None or not table.height:
        return {}
    parts = table.with_columns(pl.col(column).cast(pl.String)).partition_by(column, as_dict=True, maintain_order=True)
    return {str(name): part for (name,), part in parts.items()}


def _same(
    findings: Findings, where: str, what: str, said: float | None, made: float | None, time: int | None = None
) -> None:
    """Compare the run's values with those from the record."""
    findings.count("summary" if time is None else "series")
    if said is None or made is None or abs(said - made) > RELATIVE * max(abs(said), abs(made)):
        if said is made:
            return
        findings.add(
            "summary" if time is None else "series", time, where, None, f"{what} is {said}; the record makes it {made}"
        )


# --- links
# -----------------------------------------------------------------------------------------------------------


class OfLink:
    """A link's events, as lists of times."""

    def __init__(self, link: Link, lives: Lives, measure_from: int = 0) -> None:
        self.link, self.end, self.since = link, lives.end, measure_from
        crossings: list[tuple[Packet, Hop]] = lives.hops[link.name]
        fifo = link.discipline == "drop-tail"
        # With a trace and a limit on packets in the system, a packet keeps its place until its last
        # byte has left.
        self.whole = fifo and link.trace is not None and link.counts_packet_in_service
        self.entered = sorted(hop.entered for _, hop in crossings if hop.entered is not None)
        #: Packets that left the queue: transmitted, or dropped from it.
        self.left = sorted(
            time
            for _, hop in crossings
            if hop.entered is not None
            for time in (self._began(hop) if hop.dropped is None else hop.dropped,)
            if time is not None
        )
        begun = [(self._began(hop), hop) for _, hop in crossings]
        sent = sorted((start, hop.entered or 0, hop.size) for start, hop in begun if start is not None)
        self.started = [start for start, _, _ in sent]
        self.bytes = [0]
        self.busy = [0]
        self.ends: list[int] = []
        for start, _, size in sent:
            length = transmission_time(size, link.at(start)[0])
            self.bytes.append(self.bytes[-1] + size)
            self.busy.append(self.busy[-1] + length)
            self.ends.append(start + length)
        self.gone = sorted(
            time for _, hop in crossings for time in (hop.refused, hop.dropped, hop.lost) if time is not None
        )
        self.marks = sum(1 for _, hop in crossings if hop.marked is not None)
        hops = [hop for _, hop in crossings if hop.entered is not None]
        before, whole = (self._waits(hops, until) for until in (measure_from, lives.end))
        #: Waiting times since then, ps: of every packet, and of those not dropped from the queue;
        #: and the number of these.
        self.wait, self.wait_kept, self.waited_for = (all_of - part for all_of, part in zip(whole, before, strict=True))
        self.most = self._most(crossings)
        pieces = sorted(piece for _, hop in crossings for piece in hop.pieces)
        self.opportunities = [time for time, _ in pieces]
        self.used = [0, *accumulate(size for _, size in pieces)]

    def _waits(self, hops: list[Hop], until: int) -> tuple[int, int, int]:
        """Return the waits up to a time: of every packet, of those not dropped by then, and the number of these."""
        every = kept = packets = 0
        for hop in hops:
            entered = hop.entered if hop.entered is not None else until
            if entered > until or until == 0:
                continue
            left = self._began(hop) if hop.dropped is None else hop.dropped
            wait = (until if left is None else min(left, until)) - entered
            every += wait
            if hop.dropped is None or hop.dropped > until:
                kept += wait
                packets += 1
        return every, kept, packets

    def _began(self, hop: Hop) -> int | None:
        """Return when a packet gave up its place in the queue."""
        return hop.left if self.whole else hop.started

    def _most(self, crossings: list[tuple[Packet, Hop]]) -> int:
        """Return the most packets that waited at once; one transmitted on arrival does not wait."""
        # At one instant transmissions start first; then packets arrive, each with those that it
        # pushes out.
        events = []
        for _, hop in crossings:
            if hop.entered is not None and self._began(hop) != hop.entered:
                events.append((hop.entered, hop.row, 1))
                if hop.dropped is not None:
                    events.append((hop.dropped, hop.dropped_row, -1))
                elif (began := self._began(hop)) is not None:
                    events.append((began, -1, -1))
        events.sort()
        most = now = 0
        for _, row, change in events:
            if change > 0 or row < 0:
                most = max(most, now)
            now += change
        return max(most, now)

    def _begun(self, times: Times) -> Times:
        """Return the bytes of packets whose transmission has begun by each time."""
        begun = np.searchsorted(np.array(self.started, dtype=np.int64), times, side="right")
        return np.array(self.bytes, dtype=np.int64)[begun]

    def offered(self, trace: Trace, time: int) -> tuple[int, int]:
        """Return the bytes that have left at a trace's opportunities so far, and that could have left."""
        used = self.used[bisect_right(self.opportunities, time)]
        return used, trace.offered(time) * OPPORTUNITY

    def utilization(self) -> float:
        """Fraction of what could be sent: of time, weighted by the rate; for a trace, of its opportunities."""
        if self.link.burst is not None:
            begun = self._begun(np.array([self.since, self.end], dtype=np.int64))
            offered = transmission_bytes(self.link.path[0][1], self.end)
            offered -= transmission_bytes(self.link.path[0][1], self.since)
            return float(begun[1] - (begun[0] if self.since else 0)) / offered
        if self.link.trace is None:
            times = [self.since, self.end] if self.since else [self.end]
            return float(self._utilizations(np.array(times, dtype=np.int64))[-1])
        used, offered = self.offered(self.link.trace, self.end)
        if self.since:
            used_before, offered_before = self.offered(self.link.trace, self.since)
            used, offered = used - used_before, offered - offered_before
        return used / offered if offered else 0.0

    def _utilizations(self, times: Times) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Fraction of what could be sent up to the first time, and from each to the next."""
        changed = np.array([since for since, _, _ in self.link.path], dtype=np.int64)
        ends = np.union1d(times, changed[changed <= times[-1]])
        begun = np.searchsorted(np.array(self.started, dtype=np.int64), ends, side="right")
        until = np.array([0, *self.ends], dtype=np.int64)[begun]
        busy = np.array(self.busy, dtype=np.int64)[begun] - np.maximum(0, until - ends)
        rates = np.array([rate for _, rate, _ in self.link.path], dtype=np.float64)
        rates = rates[np.searchsorted(changed, ends, side="left") - 1]
        first = np.concatenate(([0], np.searchsorted(ends, times)[:-1] + 1))
        used = np.add.reduceat(np.diff(busy, prepend=0) * rates, first)
        return used / np.add.reduceat(np.diff(ends, prepend=0) * rates, first)

    def check_summary(self, said: dict[str, Any], findings: Findings) -> None:
        """Compare with the link's part of the summary."""
        length = self.end - self.since
        made = {
            "rate_bps": self.link.at(self.end)[0],
            "utilization": self.utilization(),
            "packets": len(self.started),
            "bytes": self.bytes[-1],
            "drops": len(self.gone),
            "ce_marks": self.marks,
            "queue_mean_packets": self.wait / length,
            "queue_max_packets": self.most,
            "queue_mean_s": max(self.wait_kept, 0) / SECOND / self.waited_for if self.waited_for > 0 else 0.0,
        }
        for what, value in made.items():
            _same(findings, f"link {self.link.name}", what, said.get(what), value)

    def check_series(self, rows: pl.DataFrame, findings: Findings) -> None:
        """Compare with the link's part of the series."""
        times = np.array(picoseconds(rows["time_s"]), dtype=np.int64)
        begun = np.searchsorted(np.array(self.started, dtype=np.int64), times, side="right")
        made = {
            "queue_packets": _counts(self.entered, times) - _counts(self.left, times),
            "drops": _counts(self.gone, times),
            "bytes": np.array(self.bytes, dtype=np.int64)[begun],
            "utilization": self._utilizations(times),
        }
        if self.link.burst is not None:
            offered = [transmission_bytes(self.link.path[0][1], int(time)) for time in times]
            used = np.diff(made["bytes"], prepend=0)
            made["utilization"] = used / np.maximum(np.diff(np.array(offered, dtype=np.int64), prepend=0), 1)
        elif self.link.trace is not None:
            until = [self.offered(self.link.trace, int(time)) for time in times]
            used, offered = np.diff(np.array(until, dtype=np.int64).reshape(-1, 2), axis=0, prepend=0).T
            made["utilization"] = np.where(offered > 0, used / np.maximum(offered, 1), 0.0)
        _same_series(findings, f"link {self.link.name}", rows, times, made)


def _counts(events: list[int], times: Times) -> Times:
    """Return the number of these events up to each time."""
    return np.searchsorted(np.array(events, dtype=np.int64), times, side="right").astype(np.int64)


def _same_series(findings: Findings, where: str, rows: pl.DataFrame, times: Times, made: dict[str, Any]) -> None:
    for what, values in made.items():
        said = rows[what].to_numpy()
        findings.count("series", len(said))
        for index in np.flatnonzero(np.abs(said - values) > RELATIVE * np.maximum(np.abs(said), np.abs(values))):
            findings.add(
                "series",
                int(times[index]),
                where,
                None,
                f"{what} is {said[index]}; the record makes it {values[index]}",
            )


# --- flows
# -----------------------------------------------------------------------------------------------------------


def _flow_summary(
    said: dict[str, Any],
    flow: Flow,
    keys: list[tuple[str, int | None]],
    found: tuple[Lives, Replayed, int],
    findings: Findings,
) -> None:
    lives, replayed, since = found
    where = f"flow {flow.name}"
    data = "datagram" if flow.tcp is None else "data"
    sent = [packet for key in keys for packet in lives.sent.get(key, []) if packet.kind == data]
    arrived = [
        packet
        for key in keys
        for packet in lives.delivered.get(key, [])
        if packet.kind == data and not _after_its_end(replayed.senders.get(key), packet)
    ]
    if flow.stack_packet is not None:
        # The record does not show what was encrypted, so datagrams are counted.
        _same(findings, where, "delivered_segments", said.get("delivered_segments"), len(arrived))
        _same(findings, where, "sent_segments", said.get("sent_segments"), len(sent))
        return
    if flow.tcp is None:
        segments, size = len(arrived), sum(packet.payload for packet in arrived)
    else:
        held = [replayed.held[key] for key in keys if key in replayed.held]
        segments, size = sum(each.segments for each in held), sum(each.edge for each in held)
    _same(findings, where, "delivered_segments", said.get("delivered_segments"), segments)
    _same(findings, where, "delivered_bytes", said.get("delivered_bytes"), size)
    _same(findings, where, "sent_segments", said.get("sent_segments"), len(sent))
    repeated = sum(packet.retransmission for packet in sent)
    _same(findings, where, "retransmitted_segments", said.get("retransmitted_segments"), repeated)
    sender = replayed.senders.get((flow.name, None))
    completed = sender.completed if sender is not None else None
    started = flow.start
    if flow.start_jitter:
        # A flow sends its first packet at its start.
        started = min((packet.sent for key in keys for packet in lives.sent.get(key, [])), default=lives.end)
    late = [packet for packet in arrived if packet.delivered is not None and packet.delivered > since]
    wire = sum(packet.delivered_size for packet in late)
    payload = sum(packet.payload for packet in late)
    size = payload if flow.tcp is None else size - sum(each.edge_before for each in held)
    if flow.short_connections:
        _connection_rates(flow, (said, size, wire), (since, lives.end), findings)
        return
    if flow.tcp is not None and "size" in flow.traffic:
        _same(
            findings,
            where,
            "completion_s",
            said.get("completion_s"),
            None if completed is None else (completed - started) / SECOND,
        )
        delivered = replayed.held.get((flow.name, None))
        whole = delivered is not None and delivered.edge >= size_of(flow.traffic["size"])
        made = (delivered.advanced - started) / SECOND if delivered is not None and whole else None
        _same(findings, where, "delivery_s", said.get("delivery_s"), made)
    elif flow.stop is not None and said.get("completion_s") is not None:
        completed = started + round(said["completion_s"] * SECOND)
    started = max(started, since)
    span = (completed or lives.end) - started
    for what, total in (("goodput_bps", size), ("throughput_bps", wire)):
        if flow.start_jitter and flow.tcp is None and span > 0:
            # A source of datagrams may send its first one some time after its start.
            most, least = (
                total * 8 * SECOND / (end - begun)
                for end in (span + started,)
                for begun in (started, max(flow.start, since))
            )
            if not least * (1 - RELATIVE) <= said.get(what, 0.0) <= most * (1 + RELATIVE):
                findings.add(
                    "summary", None, where, None, f"{what} is {said.get(what)}; the record makes it {least} to {most}"
                )
        elif span > 0 or said.get(what):
            _same(findings, where, what, said.get(what), total * 8 * SECOND / span if span > 0 else 0.0)


def _after_its_end(sender: Sender | None, packet: Packet) -> bool:
    """Packets that arrive after a short connection has ended are not counted."""
    gone = sender.gone if sender is not None else None
    return gone is not None and packet.delivered is not None and packet.delivered >= gone


def _connection_rates(
    flow: Flow, totals: tuple[dict[str, Any], int, int], times: tuple[int, int], findings: Findings
) -> None:
    said, size, wire = totals
    since, end = times
    if flow.start_jitter:
        return
    span = min(flow.stop or end, end) - max(flow.start, since)
    for what, total in (("goodput_bps", size), ("throughput_bps", wire)):
        _same(findings, f"flow {flow.name}", what, said.get(what), total * 8 * SECOND / span if span > 0 else 0.0)


def _flow_series(rows: pl.DataFrame, flow: Flow, sender: Sender | None, findings: Findings) -> None:
    """Compare data sent and acknowledged, and the window with the data outstanding."""
    times = np.array(picoseconds(rows["time_s"]), dtype=np.int64)
    where = f"flow {flow.name}"
    made = {
        "sent_bytes": _latest(sender.next_history if sender is not None else [], times),
        "acknowledged_bytes": _latest(sender.una_history if sender is not None else [], times),
    }
    _same_series(findings, where, rows, times, made)
    outstanding = made["sent_bytes"] - made["acknowledged_bytes"]
    in_flight = rows["in_flight_bytes"].to_numpy()
    for index in np.flatnonzero(in_flight > outstanding):
        what = f"{in_flight[index]} B in flight of {outstanding[index]} B that are outstanding"
        findings.add("series", int(times[index]), where, None, what)
    if sender is not None:
        _window(rows, times, outstanding, sender, findings)


def _latest(history: list[tuple[int, int]], times: Times) -> Times:
    """Return the last value at each time; zero before the first."""
    entries = np.array([(-1, 0), *history], dtype=np.int64)
    latest: Times = entries[np.searchsorted(entries[:, 0], times, side="right") - 1, 1]
    return latest


def _window(rows: pl.DataFrame, times: Times, outstanding: Times, sender: Sender, findings: Findings) -> None:
    """Check that the data outstanding fits the window of its time.

    The record has the window only at sample times. Therefore, if nothing has been lost, marked or
    retransmitted since all outstanding data was sent, the outstanding data must be within the
    largest window of the samples since then and the one before. A window may grow and shrink
    between two samples, so one segment is allowed for each sample passed (our choice), and with
    RACK one for a probe with new data, which may exceed the window (RFC 8985, section 7.3).
    """
    windows = rows["cwnd_bytes"].to_numpy()
    findings.count("window", len(windows))
    trouble_times = [time for time, _ in sender.trouble]
    for position in np.flatnonzero(outstanding > windows):
        time = int(times[position])
        acknowledged = int(rows["acknowledged_bytes"][int(position)])
        # When the oldest outstanding byte was sent.
        first = bisect_right(sender.next_history, acknowledged, key=lambda entry: entry[1])
        since = sender.next_history[first][0] if first < len(sender.next_history) else time
        troubled = bisect_right(trouble_times, time)
        if troubled and sender.trouble[troubled - 1][1] > acknowledged:
            continue
        early = max(0, min(int(np.searchsorted(times, since)), int(position)) - 1)
        largest = windows[early : position + 1].max()
        probe = int(sender.tcp.recovery == "rack")
        if outstanding[position] > largest + sender.tcp.mss * (position - early + probe):
            findings.add(
                "window", time, f"flow {sender.flow.name}", None,
                f"{outstanding[position]} B are outstanding, and nothing was lost; the window was "
                f"{largest:.0f} B at most since the "
                f"oldest of them was sent",
            )  # fmt: skip


def _connections(table: pl.DataFrame, specification: Specification, replayed: Replayed, findings: Findings) -> None:
    """Check that a short connection was complete exactly when it claims to be."""
    names = ("flow", "size_bytes", "completion_s", "delivery_s", "retransmitted_segments")
    columns = [table[name].to_list() for name in names]
    for row, (flow, size, completion, delivery, repeated) in enumerate(zip(*columns, strict=True)):
        sender = replayed.senders.get((str(flow), row))
        where = f"flow {flow}, connection {row}"
        if str(flow) not in specification.flows or sender is None:
            continue
        start = sender.started or 0
        whole = [time for time, una in sender.una_history if una >= size]
        made = (whole[0] - start) / SECOND if whole else None
        _same(findings, where, "completion_s", completion, made)
        held = replayed.held.get((str(flow), row))
        there = held is not None and held.edge >= size
        made = (held.advanced - start) / SECOND if held is not None and there else None
        _same(findings, where, "delivery_s", delivery, made)
        _same(findings, where, "retransmitted_segments", repeated, sender.repeated)
        if sender.next > size:
            findings.add("application", None, where, None, f"{sender.next} B sent of {size} B that it has to send")
