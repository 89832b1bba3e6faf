"""Mechanisms of routers: a packet enters a link when it is there, unless one holds or drops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.verify.links import EXACT, seconds
from selfclock.verify.promised import rate_of, size_of, time_of, transmission_time

if TYPE_CHECKING:
    from selfclock.verify.lives import Hop, Lives, Packet
    from selfclock.verify.promised import Link, Mechanism, Promise
    from selfclock.verify.violation import Findings


def check_entrances(lives: Lives, promise: Promise, findings: Findings) -> None:
    """Check the first links of packets, and the mechanisms before links."""
    for packet in lives.packets.values():
        if not packet.hops:
            _never_entered(lives, promise, packet, findings)
            continue
        hop = packet.hops[0]
        entered = hop.entered if hop.entered is not None else hop.refused
        holds = any(mechanism.may_hold for mechanism in promise.links[hop.link].mechanisms)
        if entered is not None and entered != packet.sent and not holds:
            findings.add(
                "delay",
                entered,
                f"link {hop.link}",
                packet.number,
                f"it was sent at {seconds(packet.sent)}; it enters its first link then",
            )
    for name, link in promise.links.items():
        for mechanism in link.mechanisms:
            if mechanism.name == "policer":
                _police(link, mechanism, lives.hops[name], findings)
            elif mechanism.name == "ack-thinning":
                _thin(link, mechanism, lives.hops[name], promise, findings)


def _never_entered(lives: Lives, promise: Promise, packet: Packet, findings: Findings) -> None:
    if packet.over or packet.delivered is not None or packet.flow not in promise.flows:
        return
    first = packet.route(promise)[:1]
    if any(mechanism.may_hold for name in first for mechanism in promise.links[name].mechanisms):
        return
    if packet.sent < lives.end and packet.kind != "resource-discovery":
        findings.add(
            "conservation",
            packet.sent,
            f"flow {packet.flow}",
            packet.number,
            "it has vanished: it was sent and never came to a link",
        )


def _police(link: Link, mechanism: Mechanism, crossings: list[tuple[Packet, Hop]], findings: Findings) -> None:
    """Check that what passes is within rate times time plus burst; alone, that it drops only what is not."""
    rate, burst = rate_of(mechanism.keys["rate"]), size_of(mechanism.keys["burst"])
    depth = transmission_time(burst, rate)
    alone = len(link.mechanisms) == 1
    full_at = 0
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is None:
            continue
        after = max(full_at, now) + transmission_time(packet.size, rate)
        conforms = after - now <= depth
        if hop.entered is not None:
            if not conforms:
                findings.add(
                    "policer",
                    now,
                    f"link {link.name}",
                    packet.number,
                    f"it passes, though the bucket of {burst} B that fills at {rate} bit/s has not its {packet.size} B",
                )
            full_at = after
        elif alone and conforms and link.limit_text == "unlimited":
            findings.add(
                "policer",
                now,
                f"link {link.name}",
                packet.number,
                f"dropped, though the bucket has its {packet.size} B",
            )
        findings.count("policer")


def _thin(
    link: Link, mechanism: Mechanism, crossings: list[tuple[Packet, Hop]], promise: Promise, findings: Findings
) -> None:
    """Check that what is dropped has a successor that says as much, and nothing waits longer than the interval."""
    interval = time_of(mechanism.keys["interval"])
    # Where the queue has a limit it, too, may drop one.
    alone = len(link.mechanisms) == 1
    highest: dict[tuple[str, int | None], int] = {}
    for packet, hop in reversed(crossings):
        key = packet.flow, packet.connection
        if packet.kind != "ack":
            continue
        findings.count("thinning")
        if hop.entered is None:
            if alone and link.limit_text == "unlimited" and highest.get(key, -1) < packet.acknowledgement:
                what = f"dropped, though none after it acknowledges {packet.acknowledgement}"
                findings.add("thinning", hop.refused, f"link {link.name}", packet.number, what)
            continue
        highest[key] = max(highest.get(key, -1), packet.acknowledgement)
        arrived = _arrived(packet, hop, promise)
        if alone and arrived is not None and hop.entered > arrived + interval + EXACT:
            what = f"held since {seconds(arrived)}, for longer than {seconds(interval)}"
            findings.add("thinning", hop.entered, f"link {link.name}", packet.number, what)


def _arrived(packet: Packet, hop: Hop, promise: Promise) -> int | None:
    """Return when a packet came to where it enters a link; `None` if that was left to chance."""
    position = next(index for index, other in enumerate(packet.hops) if other is hop)
    if position == 0:
        return packet.sent
    before = packet.hops[position - 1]
    link = promise.links[before.link]
    if link.jitter or len(link.path) > 1 or before.started is None:
        return None
    rate, delay = link.at(0)
    return before.started + transmission_time(packet.size, rate) + delay
