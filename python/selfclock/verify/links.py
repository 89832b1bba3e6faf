"""Links: rate, order, delay, and which packets may be dropped or marked in their queues."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import deque
from itertools import accumulate
from typing import TYPE_CHECKING

from selfclock.verify import opportunities
from selfclock.verify.capacity import check_capacity
from selfclock.verify.specification import SECOND, Link, time_of, transmission_time

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Hop, Lives, Packet
    from selfclock.verify.specification import Specification
    from selfclock.verify.violation import Findings

#: Seconds in double precision are exact to a picosecond for two hours; times may differ by this.
EXACT = 1
#: Later than any run, ps.
FOR_EVER = 1 << 64
#: With no more than two packets of this size PIE does not drop (RFC 8033, section 5.1).
USUAL_PACKET = 1500
#: Disciplines that drop a queued packet to admit an arrival; the others refuse the arrival.
PUSH_OUT = ("fq-codel", "fq-pie", "drr")


def check_links(lives: Lives, specification: Specification, findings: Findings) -> None:
    """Check every link."""
    for name, link in specification.links.items():
        if link.burst is not None:
            _fill_bucket(link, link.burst, lives.hops[name])
        crossings = _within_total(link, lives.hops[name], findings)
        fifo = link.discipline == "drop-tail"
        if fifo and link.trace is not None:
            opportunities.check_drop_tail(link, crossings, lives.end, findings)
        elif fifo:
            _drop_tail(link, crossings, lives.end, findings)
        elif link.trace is not None:
            opportunities.check_managed(link, crossings, lives.end, findings)
            _managed_order(link, crossings, findings)
            _managed_backlog(link, crossings, findings)
        else:
            _managed(link, crossings, lives.end, findings)
        if link.trace is None and link.burst is None:
            check_capacity(link, crossings, findings)
        _wire(link, specification, crossings, lives.end, findings)
        for rule in ("rate", "order", "queue-limit", "drop", "mark", "loss", "delay", "conservation"):
            findings.count(rule, len(crossings))


def _within_total(link: Link, crossings: list[tuple[Packet, Hop]], findings: Findings) -> list[tuple[Packet, Hop]]:
    """Check the limit on all packets of a link, and return those that it did not refuse."""
    if link.total_limit is None:
        return crossings
    leaving = _leaving(link, crossings)
    soonest: list[int] = []
    latest: list[int] = []
    kept = []
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is not None:
            for times, until in ((soonest, now + EXACT), (latest, now - EXACT)):
                while times and times[0] <= until:
                    heapq.heappop(times)
            if hop.refused is not None and len(latest) >= link.total_limit:
                continue
        kept.append((packet, hop))
        if now is None or hop.refused is not None:
            continue
        if len(soonest) >= link.total_limit:
            findings.add(
                "queue-limit", now, _at(link), packet.number,
                f"{len(soonest)} packets wait or are on their way; at most {link.total_limit} may",
            )  # fmt: skip
        least, most = leaving[id(hop)]
        heapq.heappush(soonest, least)
        heapq.heappush(latest, most)
    return kept


def _leaving(link: Link, crossings: list[tuple[Packet, Hop]]) -> dict[int, tuple[int, int]]:
    """Return when each hop's packet is no longer on the link, at the earliest and at the latest.

    The jitter of each is not in the record, but none overtakes another.
    """
    found: dict[int, tuple[int, int]] = {}
    started = []
    for _, hop in crossings:
        gone = hop.dropped if hop.dropped is not None else hop.lost
        if gone is not None:
            found[id(hop)] = gone, gone
        elif hop.started is None:
            found[id(hop)] = FOR_EVER, FOR_EVER
        else:
            started.append((hop.started, hop.started_row, hop))
    least = most = 0
    for start, _, hop in sorted(started, key=lambda each: each[:2]):
        rate, delay = link.at(start)
        if link.trace is not None:
            # The opportunities that carry it are not known yet.
            found[id(hop)] = start + delay, FOR_EVER
            continue
        there = (_sent(link, hop, start, rate) or FOR_EVER) + delay
        least, most = max(least, there), max(most, there + link.jitter)
        found[id(hop)] = least, most
    return found


def _at(link: Link) -> str:
    return f"link {link.name}"


def seconds(span: int) -> str:
    """Write a time."""
    return f"{span / SECOND:.12f} s"


# --- queue and transmitter
# -------------------------------------------------------------------------------------------


def _drop_tail(link: Link, crossings: list[tuple[Packet, Hop]], end: int, findings: Findings) -> None:
    """A drop-tail queue is deterministic, so it is recomputed."""
    waiting: deque[tuple[int, int]] = deque()
    waiting_bytes = 0
    free_at = 0
    in_service = 0
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is None:
            continue
        while waiting and waiting[0][0] <= now:
            in_service = waiting.popleft()[1]
            waiting_bytes -= in_service
        busy = free_at > now
        counted = int(link.counts_packet_in_service)
        room = not busy or link.limit.has_room(
            len(waiting) + counted + 1, waiting_bytes + counted * in_service + hop.size
        )
        if hop.refused is not None:
            if room and not any(mechanism.may_drop(packet.kind, packet.number, now) for mechanism in link.mechanisms):
                findings.add(
                    "drop", now, _at(link), packet.number,
                    f"dropped, though {len(waiting)} packets ({waiting_bytes} B) wait of at most "
                    f"{link.limit}, and nothing else "
                    f"here may drop it",
                )  # fmt: skip
            continue
        if not room:
            findings.add(
                "queue-limit", now, _at(link), packet.number,
                f"{len(waiting) + 1} packets ({waiting_bytes + hop.size} B) wait with it"
                f"{f' and {in_service} B are in service' if counted else ''}; at most {link.limit} may",
            )  # fmt: skip
        _step_marking(link, packet, hop, (now, free_at, len(waiting) + counted), findings)
        start = max(now, free_at)
        rate, _ = link.at(start)
        length = _length(link, hop, rate)
        if start <= end and (hop.started is None or abs(hop.started - start) > EXACT):
            told = "never begins" if hop.started is None else f"begins at {seconds(hop.started)}"
            findings.add(
                "rate", now, _at(link), packet.number,
                f"its transmission {told}; at {rate} bit/s, first in first out and without a pause, it begins "
                f"at {seconds(start)}",
            )  # fmt: skip
        # The recorded time is the reference, so that a fault is reported once.
        start = hop.started if hop.started is not None else start
        if busy:
            waiting.append((start, hop.size))
            waiting_bytes += hop.size
        else:
            in_service = hop.size
        free_at = start + length


def _step_marking(link: Link, packet: Packet, hop: Hop, queue: tuple[int, int, int], findings: Findings) -> None:
    """Above the threshold, exactly the ECN-capable packets are marked."""
    now, free_at, counted = queue
    above = False
    text = link.keys.get("mark_above")
    if text is not None and free_at > now:
        number, unit = str(text).split()
        above = counted > int(number) if unit.startswith("packet") else free_at - now > time_of(text)
    wanted = above and hop.ecn != "not-ect"
    if wanted != (hop.marked is not None):
        findings.add(
            "mark", now, _at(link), packet.number,
            f"{'marked' if hop.marked is not None else 'not marked'} with {counted} packets and "
            f"{seconds(max(free_at - now, 0))} before "
            f"it; it carries {hop.ecn}, and marks are for what finds more than {text or 'ever'}",
        )  # fmt: skip


def _managed(link: Link, crossings: list[tuple[Packet, Hop]], end: int, findings: Findings) -> None:
    """A managed queue: its transmitter, order, limit, drops and marks."""
    started = sorted(
        (
            (hop.started, hop.entered, packet, hop)
            for packet, hop in crossings
            if hop.started is not None and hop.entered is not None
        ),
        key=lambda crossing: crossing[0],
    )
    free_at = busy_since = 0
    for start, entered, packet, hop in started:
        rate, _ = link.at(start)
        if start < free_at - EXACT:
            findings.add(
                "rate",
                start,
                _at(link),
                packet.number,
                f"its transmission begins before the last one ends, at {seconds(free_at)}",
            )
        if start > free_at + EXACT:
            busy_since = start
        if entered < busy_since - EXACT:
            findings.add(
                "rate",
                start,
                _at(link),
                packet.number,
                f"it waited since {seconds(entered)}, and the transmitter stood idle until {seconds(busy_since)}",
            )
        free_at = max(free_at, start) + _length(link, hop, rate)
    for packet, hop in crossings:
        if hop.entered is not None and hop.started is None and hop.dropped is None and free_at + EXACT < end:
            findings.add(
                "rate",
                hop.entered,
                _at(link),
                packet.number,
                f"it waits for ever, though the transmitter is free from {seconds(free_at)}",
            )
    _managed_order(link, crossings, findings)
    _managed_backlog(link, crossings, findings)


def _managed_order(link: Link, crossings: list[tuple[Packet, Hop]], findings: Findings) -> None:
    """Each sub-queue of a discipline is first in, first out."""
    last_entered: dict[object, int] = {}
    started = [(hop.started, hop.started_row, packet, hop) for packet, hop in crossings if hop.started is not None]
    for start, _, packet, hop in sorted(started, key=lambda each: each[:2]):
        if hop.entered is None:
            continue
        queue = _queue_of(link, packet, hop)
        if last_entered.get(queue, -1) > hop.row:
            findings.add(
                "order",
                start,
                _at(link),
                packet.number,
                "a packet that came after it has left before it; first in, first out",
            )
        last_entered[queue] = max(last_entered.get(queue, -1), hop.row)


def _sent(link: Link, hop: Hop, start: int, rate: int) -> int | None:
    """Return the time at which a packet's last byte leaves if its first leaves at `start`; `None` if after the run."""
    if link.trace is not None or link.burst is not None:
        return hop.left
    return start + transmission_time(hop.size, rate)


def _length(link: Link, hop: Hop, rate: int) -> int:
    """Return the time that a packet is in service: at the head until the tokens are there, then transmitted."""
    if link.burst is not None and hop.left is not None and hop.started is not None:
        return hop.left - hop.started
    return transmission_time(hop.size, rate)


def _fill_bucket(link: Link, burst: int, crossings: list[tuple[Packet, Hop]]) -> None:
    """Find when packets leave a token bucket: by the generic cell rate algorithm (ITU-T I.371), with their sizes.

    A packet conforms from its theoretical arrival time less the time in which the bucket fills, all
    but its own tokens; times are rounded to picoseconds, as everywhere.
    """
    rate = link.path[0][1]
    limit = transmission_time(burst, rate)
    theoretical = 0
    started = [(hop.started, hop.started_row, hop) for _, hop in crossings if hop.started is not None]
    for start, _, hop in sorted(started, key=lambda each: each[:2]):
        increment = transmission_time(hop.size, rate)
        leaves = max(start, theoretical + increment - limit)
        theoretical = max(theoretical, leaves) + increment
        hop.left = leaves + (transmission_time(hop.size, link.peak_rate) if link.peak_rate is not None else 0)


def _queue_of(link: Link, packet: Packet, hop: Hop) -> object:
    """Return the packet's sub-queue within the discipline; each is first in, first out."""
    match link.discipline:
        case "fq-codel" | "fq-pie" | "drr":
            return packet.flow, packet.connection
        case "dualpi2":
            return hop.ecn in {"ect(1)", "ce"}
    return None


def _managed_backlog(  # noqa: PLR0912, PLR0915 - a queue in one piece is read more easily
    link: Link, crossings: list[tuple[Packet, Hop]], findings: Findings
) -> None:
    """Replay the queue: its length stays within the limit, and drops and marks are permitted ones."""
    departures: list[tuple[int, int, Hop]] = []
    for _, hop in crossings:
        left = hop.started if hop.dropped is None else hop.dropped
        if hop.entered is not None and left is not None and not _refused_by_queue(link, hop):
            departures.append((left, hop.row, hop))
    departures.sort(key=lambda departure: departure[:2])
    position = packets = size = most = 0
    in_service_until = in_service = 0

    def depart(until: int, *, before_arrivals: bool) -> None:
        """Remove packets that left by this time; before its arrivals, those that they push out stay."""
        nonlocal position, packets, size, in_service_until, in_service
        while position < len(departures) and departures[position][0] <= until:
            time, row, hop = departures[position]
            if before_arrivals and time == until and (hop.dropped is not None or row >= arriving):
                return
            packets -= 1
            size -= hop.size
            if hop.dropped is None:
                sent = _sent(link, hop, time, link.at(time)[0])
                sent = time + 10 * SECOND if sent is None else sent
                # Among those that start at one opportunity of a trace, in any order of arrival, the
                # last to end.
                if sent > in_service_until:
                    in_service, in_service_until = hop.size, sent
            position += 1

    def check_limit(packet: Packet) -> None:
        depart(previous, before_arrivals=False)
        if not link.limit.has_room(packets, size):
            findings.add(
                "queue-limit", previous, _at(link), packet.number,
                f"{packets} packets ({size} B) wait after its arrival; at most {link.limit} may",
            )  # fmt: skip

    #: Instants at which an arrival found no room.
    full: set[int] = set()
    previous, last, arriving = 0, None, 0
    for packet, hop in crossings:
        now = hop.entered
        if now is None:
            _refused(link, packet, hop, findings)
            continue
        arriving = hop.row
        if last is not None and now > previous:
            check_limit(last)
        depart(now, before_arrivals=True)
        serving = in_service if link.counts_packet_in_service and in_service_until > now else 0
        # An idle transmitter takes a packet whatever the limit; with a trace each packet waits.
        idle = link.trace is None and in_service_until <= now and packets == 0
        room = idle or link.limit.has_room(packets + 1 + int(serving > 0), size + hop.size + serving)
        if not room:
            full.add(now)
        if _refused_by_queue(link, hop):
            if room and not _may_drop_early(link, packets, size, most):
                findings.add(
                    "drop", now, _at(link), packet.number,
                    f"{link.discipline} drops it at its arrival with {packets} packets ({size} B) before it, "
                    f"of at most "
                    f"{link.limit}: it may not yet",
                )  # fmt: skip
        else:
            packets += 1
            size += hop.size
        if hop.marked is not None:
            _marked(link, packet, hop, findings)
        most = max(most, packets)
        previous, last = now, packet
    if last is not None:
        check_limit(last)
    for packet, hop in crossings:
        if hop.dropped is not None and not _refused_by_queue(link, hop):
            _dropped_later(link, packet, hop, hop.dropped in full, findings)
    if link.discipline in {"codel", "fq-codel"}:
        _patience(link, crossings, full, findings)
    if link.discipline == "codel":
        _last_packet(link, crossings, full, findings)


def _patience(link: Link, crossings: list[tuple[Packet, Hop]], full: set[int], findings: Findings) -> None:
    """CoDel drops or marks only after an interval in which each packet that left had waited for the target.

    RFC 8289, section 4.2: "the sojourn time has been above TARGET for at least INTERVAL".
    """
    target = time_of(link.keys.get("target", "5 ms"))
    interval = time_of(link.keys.get("interval", "100 ms"))
    left: dict[object, list[tuple[int, int, bool, Packet]]] = {}
    for packet, hop in crossings:
        if hop.entered is None:
            continue
        events = left.setdefault(_queue_of(link, packet, hop), [])
        acted = hop.dropped if hop.dropped is not None else hop.marked
        # A packet pushed out for want of room was not judged by its wait.
        if acted is not None and not (hop.dropped is not None and hop.dropped in full):
            events.append((acted, 0, True, packet))
        if hop.dropped is None and hop.started is not None:
            events.append((hop.started, 1, hop.started - hop.entered + EXACT >= target, packet))
    for events in left.values():
        below = 0
        for time, kind, patient, packet in sorted(events, key=lambda event: event[:2]):
            if kind == 1 and not patient:
                below = time
            elif kind == 0 and time - below + EXACT < interval:
                findings.add(
                    "drop", time, _at(link), packet.number,
                    f"CoDel acts, but a packet left at {seconds(below)} that had waited less than {seconds(target)}; "
                    f"{seconds(interval)} must pass since then",
                )  # fmt: skip


def _last_packet(link: Link, crossings: list[tuple[Packet, Hop]], full: set[int], findings: Findings) -> None:
    """CoDel does not act while a packet's bytes or less are left behind.

    RFC 8289, section 5.3: "if (sojourn_time < TARGET || bytes() <= maxpacket_)" the queue is short.
    """
    came = sorted((hop.entered, hop.size) for _, hop in crossings if hop.entered is not None)
    ends = ((hop.dropped if hop.dropped is not None else hop.started, hop.size) for _, hop in crossings)
    went = sorted((end, size) for end, size in ends if end is not None)
    times = ([time for time, _ in came], [time for time, _ in went])
    sums = tuple(list(accumulate((size for _, size in moves), initial=0)) for moves in (came, went))
    largest = list(accumulate((size for _, size in went), max, initial=0))
    for packet, hop in crossings:
        acted = hop.dropped if hop.dropped is not None else hop.marked
        if acted is None or hop.entered is None or (hop.dropped is not None and hop.dropped in full):
            continue
        # What comes or leaves at the same instant is counted as left behind.
        gone = bisect_left(times[1], acted - EXACT)
        behind = sums[0][bisect_right(times[0], acted + EXACT)] - sums[1][gone] - hop.size
        most = max(largest[gone], hop.size)
        if behind <= most:
            findings.add(
                "drop", acted, _at(link), packet.number,
                f"CoDel acts with {behind} B left behind, no more than a packet, {most} B",
            )  # fmt: skip


def _refused_by_queue(link: Link, hop: Hop) -> bool:
    """Return whether the discipline dropped a packet on arrival."""
    if hop.dropped is None or hop.dropped != hop.entered:
        return False
    # FQ-PIE may refuse an arrival, or push it out for a later one at the same instant.
    return link.discipline not in PUSH_OUT or (link.discipline == "fq-pie" and hop.dropped_row == hop.row + 1)


def _may_drop_early(link: Link, packets: int, size: int, most: int) -> bool:
    """Return whether the discipline may drop an arrival although there is room."""
    match link.discipline:
        case "pie" | "fq-pie":
            return size > 2 * USUAL_PACKET
        case "red":
            # The average never exceeds the longest queue so far.
            return max(most, packets) >= int(str(link.keys.get("minimum", "5 packets")).split()[0])
    return False


def _dropped_later(link: Link, packet: Packet, hop: Hop, full: bool, findings: Findings) -> None:
    if hop.dropped is None or hop.entered is None or (full and link.discipline in PUSH_OUT):
        return
    match link.discipline:
        case "codel" | "fq-codel":
            target = time_of(link.keys.get("target", "5 ms"))
            waited = hop.dropped - hop.entered
            if waited + EXACT >= target:
                return
            allowed = f"it has waited {seconds(waited)}, and CoDel drops what has waited {seconds(target)}"
        case "dualpi2":
            return
        case "drr":
            allowed = f"nothing came for which there was no room; {link.limit} may wait"
        case other:
            allowed = f"{other} drops at arrival only"
    findings.add("drop", hop.dropped, _at(link), packet.number, f"dropped from the queue, but {allowed}")


def _refused(link: Link, packet: Packet, hop: Hop, findings: Findings) -> None:
    """A mechanism in the router must be responsible for a drop before a managed queue."""
    now = hop.refused or 0
    if not any(mechanism.may_drop(packet.kind, packet.number, now) for mechanism in link.mechanisms):
        findings.add(
            "drop", hop.refused, _at(link), packet.number,
            f"dropped before the queue, where nothing may drop a packet of kind {packet.kind}",
        )  # fmt: skip


def _marked(link: Link, packet: Packet, hop: Hop, findings: Findings) -> None:
    allowed = ""
    if not link.marks:
        allowed = f"this queue ({link.discipline}) does not mark"
    elif hop.ecn == "not-ect":
        allowed = "its transport does not understand marks"
    elif link.discipline in {"codel", "fq-codel"} and hop.marked is not None and hop.entered is not None:
        target = time_of(link.keys.get("target", "5 ms"))
        if hop.marked - hop.entered + EXACT < target:
            allowed = (
                f"it has waited {seconds(hop.marked - hop.entered)}, and CoDel marks what has waited {seconds(target)}"
            )
    if allowed:
        findings.add("mark", hop.marked, _at(link), packet.number, f"marked, but {allowed}")


# --- wire
# ------------------------------------------------------------------------------------------------------------


def _wire(
    link: Link, specification: Specification, crossings: list[tuple[Packet, Hop]], end: int, findings: Findings
) -> None:
    """Check that a transmitted packet arrives after the delay, in order, or is lost on a lossy wire."""
    transmitted = [(hop.started, hop.started_row, packet, hop) for packet, hop in crossings if hop.started is not None]
    transmitted.sort(key=lambda sent: sent[:2])
    # Earliest and latest time at which the previous packet was at the end of the link; a router may
    # have held it.
    low = high = interrupt = 0
    coalescing = link.coalescing if link.enters_host else 0
    for start, _, packet, hop in transmitted:
        rate, delay = link.at(start)
        sent = _sent(link, hop, start, rate)
        if sent is None:
            continue
        if hop.lost is not None:
            _lost(link, packet, (hop.lost, sent), findings)
            continue
        # Jitter is below its bound; a packet that would overtake arrives with the previous one.
        earliest, latest = max(sent + delay, low), max(sent + delay + max(link.jitter - 1, 0), high)
        if coalescing and link.jitter:
            latest += coalescing
        elif coalescing:
            if earliest > interrupt:
                interrupt = earliest + coalescing
            earliest = latest = interrupt
        seen, held = _seen_next(specification, packet, hop)
        if seen is None:
            if latest + EXACT < end and not held and not packet.over:
                findings.add(
                    "conservation", latest, _at(link), packet.number,
                    f"it has vanished: by {seconds(latest)} it is at the end of the link, and the run goes on "
                    f"until {seconds(end)}",
                )  # fmt: skip
            low, high = max(low, earliest), max(high, latest)
            continue
        if seen < earliest - EXACT or (seen > latest + EXACT and not held):
            findings.add(
                "order" if seen < low - EXACT else "delay", seen, _at(link), packet.number,
                f"at the end of the link at {seconds(seen)}; sent from {seconds(start)} to {seconds(sent)}, "
                f"with a delay of "
                f"{seconds(delay)}, behind one that is there at {seconds(low)}, it is there at {seconds(earliest)}"
                + (f" to {seconds(latest)}" if latest > earliest else ""),
            )  # fmt: skip
        if held:
            low, high = max(low, earliest), max(high, latest)
        elif not coalescing:
            low = high = max(low, seen)
        elif link.jitter:
            low, high = max(low, seen - coalescing), max(high, seen)


def _seen_next(specification: Specification, packet: Packet, hop: Hop) -> tuple[int | None, bool]:
    """Return when a packet is next seen after this hop, and whether a router may have held it until then."""
    position = next(index for index, other in enumerate(packet.hops) if other is hop) + 1
    if position < len(packet.hops):
        following = packet.hops[position]
        seen = following.entered if following.entered is not None else following.refused
        return seen, any(mechanism.may_hold for mechanism in specification.links[following.link].mechanisms)
    return packet.delivered, packet.delivered is None and _may_be_held(specification, packet, position)


def _lost(link: Link, packet: Packet, times: tuple[int, int], findings: Findings) -> None:
    lost, sent = times
    if not link.may_lose:
        findings.add("loss", lost, _at(link), packet.number, "lost on a wire that loses nothing")
    elif abs(lost - sent) > EXACT:
        findings.add("loss", lost, _at(link), packet.number, f"lost not when its transmission ends, at {seconds(sent)}")


def _may_be_held(specification: Specification, packet: Packet, position: int) -> bool:
    """Return whether a router may hold the packet before the next link."""
    flow = specification.flows[packet.flow]
    ways = [flow.forward, flow.reverse] if packet.kind == "resource-discovery" else [packet.route(specification)]
    ahead = [way[position] for way in ways if position < len(way)]
    return any(mechanism.may_hold for name in ahead for mechanism in specification.links[name].mechanisms)
