"""Models of three mechanisms, made from the papers' words alone: nothing of selfclock is imported here."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise

# --- Packet-pair TCP (Nishida, Nakamura, Murai), the example of figure 5


@dataclass
class Ladder:
    """Departures in figure 5, s."""

    pairs: list[float] = field(default_factory=list)
    singles: list[float] = field(default_factory=list)
    delayed_acks: list[float] = field(default_factory=list)
    replies: list[int] = field(default_factory=list)


def ladder(*, one_pair: bool, until_s: float) -> Ladder:  # noqa: PLR0915 one loop over events
    """Figure 5: 512 B over 100 kbit/s, 100 ms each way, a transmission included; +1 segment per ACK.

    The first two segments of a window that opens are a pair, if `one_pair` only while no other
    waits for its reply; the rest leaves by a leaky bucket, one in T ticks, on ticks. The receiver
    acknowledges every second segment, the second of a pair at once, and the rest at the next 200
    ms of its free-running timer.
    """
    tick, way, data_s, ack_s = 0.010, 0.100, 512 * 8 / 100e3, 40 * 8 / 100e3
    found = Ladder()
    events: list[tuple[float, int, str, tuple[int, ...]]] = []
    order = 0

    def at(time: float, what: str, *about: int) -> None:
        nonlocal order
        order += 1
        heappush(events, (time, order, what, about))

    free = {"forward": 0.0, "back": 0.0}

    def cross(link: str, now: float, taken: float) -> float:
        start = max(now, free[link])
        free[link] = start + taken
        return start + way

    def ticks(time: float) -> int:
        return math.floor(time / tick + 1e-9)

    window, sent, acknowledged = 1, 0, 0
    interval: int | None = None
    release = 0  # The tick from which on the bucket has a token.
    waiting_for: int | None = None  # The segment whose ACK answers the pair on its way.
    wake: float | None = None
    first: dict[int, float] = {}  # Arrival of the first segment of a pair, by the second's number.
    arrived = unacknowledged = 0
    timer: float | None = None

    def emit(now: float, kind: int) -> None:
        """Send one segment: 0 alone, 1 and 2 in a pair."""
        nonlocal sent, release
        sent += 1
        at(cross("forward", now, data_s), "data", sent, kind)
        release = ticks(now) + (interval or 0)

    def send(now: float, *, may_pair: bool) -> None:
        nonlocal waiting_for, wake
        if may_pair and window - (sent - acknowledged) >= 2 and (waiting_for is None or not one_pair):
            found.pairs.append(now)
            emit(now, 1)
            emit(now, 2)
            waiting_for = sent
        while window > sent - acknowledged:
            if interval is not None and not (
                now >= release * tick - 1e-9 and abs(now / tick - round(now / tick)) < 1e-6
            ):
                due = max(release, ticks(now) + 1) * tick
                if wake is None or due < wake - 1e-9:
                    wake = due
                    at(due, "tick")
                return
            if sent:
                found.singles.append(now)
            emit(now, 0)

    def acknowledge(now: float, reply: int | None) -> None:
        nonlocal unacknowledged, timer
        unacknowledged, timer = 0, None
        at(cross("back", now, ack_s), "ack", arrived, -1 if reply is None else reply)

    send(0.0, may_pair=True)
    while events and events[0][0] < until_s:
        now, _, what, about = heappop(events)
        if what == "tick":
            if wake is not None and abs(now - wake) < 1e-9:
                wake = None
            send(now, may_pair=False)
        elif what == "timer":
            if timer is not None and abs(timer - now) < 1e-9:
                found.delayed_acks.append(now)
                acknowledge(now, None)
        elif what == "data":
            number, kind = about
            arrived = number
            unacknowledged += 1
            if kind == 1:
                first[number + 1] = now
            if kind == 2:
                value = ticks(now) - ticks(first[number])
                found.replies.append(value)
                acknowledge(now, value)
            elif unacknowledged >= 2:
                acknowledge(now, None)
            elif timer is None:
                timer = (math.floor(now / 0.2 + 1e-9) + 1) * 0.2
                at(timer, "timer")
        else:
            number, reply = about
            acknowledged = number
            window += 1
            if reply >= 0:
                interval, waiting_for = reply, None
            send(now, may_pair=True)
    return found


# --- ICIM (Matsuura, section 2.2): the printed search behind one link, with and without a card


@dataclass(frozen=True)
class Measurement:
    """Mean of the results over the available bandwidth, and their number."""

    ratio: float
    count: int


def icim(  # noqa: PLR0915 one search
    load: float, *, card_s: float, interrupts: int = 1, measurements: int = 400, seed: int = 1
) -> Measurement:
    """The printed search at 5 Gbit/s: bursts sized by (12), one interrupt of the sender each, and the range's rules.

    A connection that sends what is available; UDP of 340 B at random times; a card at the receiver
    with an absolute timer of `card_s`, or none. The sender's card has one of 100 us: its next
    interrupt comes that long after the first ACK beyond the last. `interrupts`: how many a burst
    lasts.
    """
    draw = random.Random(seed)  # noqa: S311
    capacity, access, packet, other = 5e9, 10e9, 1500 * 8.0, 340 * 8.0
    available = (1 - load) * capacity
    timer, bursts, growth = 100e-6, 4, 1.01
    low, high = available, 2 * available
    results: list[float] = []
    stored: list[float] = []
    now = free = interrupt = 0.0
    cross = draw.expovariate(load * capacity / other) if load else math.inf

    def through(arrival: float) -> float:
        """When a packet that reaches the link then has left it."""
        nonlocal free, cross
        while cross <= arrival:
            free = max(free, cross) + other / capacity
            cross += draw.expovariate(load * capacity / other)
        free = max(free, arrival) + packet / capacity
        return free

    def handed_over(arrival: float) -> float:
        """When the host has it: with the card's next interrupt."""
        nonlocal interrupt
        if card_s <= 0:
            return arrival
        if arrival > interrupt:
            interrupt = arrival + card_s
        return interrupt

    def interval_of(number: int) -> float:
        """Send the packets of one interrupt, and return when the first of them is at the host."""
        times = [handed_over(through(now + place * packet / access)) for place in range(number)]
        return times[0] if times else math.nan

    credit = pause = 0.0

    def packets_at(rate: float) -> int:
        """The packets of the next interrupt, which comes after them."""
        nonlocal credit, pause
        pause = timer + draw.random() * packet / available
        credit += rate * pause / packet
        whole = math.floor(credit)
        credit -= whole
        return max(whole, 1)

    for _ in range(measurements):
        # Q: TCP sends "in the normal manner", until the queue of the last search has drained.
        for _ in range(40):
            interval_of(packets_at(0.9 * available))
            now += pause
        rates = [low + (high - low) * place / (bursts - 1) for place in range(bursts)]
        begun, heard, sent = [], [], []
        for rate in [*rates, available]:
            begun.append(now)
            total = 0
            for part in range(interrupts):
                number = packets_at(rate)
                first = interval_of(number)
                if part == 0:
                    heard.append(first)
                total += number
                now += pause
            sent.append(total)
        spans = [after - before for before, after in pairwise(begun)]
        grew = [after - before > growth * span for (before, after), span in zip(pairwise(heard), spans, strict=True)]
        actual = [number * packet / span for number, span in zip(sent, spans, strict=False)]
        edge = next((place for place in range(bursts) if all(grew[place:])), None)
        result = actual[-1] if edge is None else actual[edge]
        results.append(result)
        if edge in (None, 0):
            # "Discard the accumulated measurement results ... and enlarge the search range twice."
            stored = []
            width = high - low
            low, high = (low, low + 2 * width) if edge is None else (max(high - 2 * width, 0.1 * low), high)
            continue
        stored.append(result)
        spread = statistics.pstdev(stored) / math.sqrt(len(stored))
        half = max(1.96 * spread, result / 10)
        low, high = result - half, result + half
    used = results[len(results) // 4 :]
    return Measurement(statistics.fmean(used) / available, len(used))


# --- FICCRD (Yu, Li, Hoang, Feng): what is in flight when the first rate arrives


def flight_without_a_rate(packets_per_discovery: int, window: int = 32, initial: int = 2) -> int:
    """The most packets that a source in slow start has in flight before its first RD packet is back.

    It doubles its window in every round trip from the initial one up to the receiver's (128 KB of
    4 KB packets), and an RD packet follows each `packets_per_discovery` of its packets. It is back
    with the ACK of the packet before it, a round trip later.
    """
    sent, flight = 0, initial
    while sent + flight < packets_per_discovery:
        sent += flight
        flight = min(2 * flight, window)
    # Of this flight, which has the RD packet, as many are acknowledged before it, and each of them
    # has let two leave.
    before = packets_per_discovery - sent
    return min(flight + before, window)


def overflow(packets_per_discovery: int, sources: int = 10, places: int = 200, on_the_way: float = 0.0) -> float:
    """Return what does not fit into the queue of the bottleneck and on the way, before any rate is known."""
    return max(sources * flight_without_a_rate(packets_per_discovery) - places - on_the_way, 0.0)
