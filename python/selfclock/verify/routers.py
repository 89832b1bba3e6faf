"""Mechanisms of routers: a packet enters a link on arrival, unless a mechanism holds or drops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.verify.links import EXACT, seconds
from selfclock.verify.specification import SECOND, rate_of, size_of, time_of, transmission_time

if TYPE_CHECKING:
    from selfclock.verify.packet_lives import Hop, Lives, Packet
    from selfclock.verify.specification import Link, Mechanism, Specification
    from selfclock.verify.violation import Findings


def check_losses_in_turn(lives: Lives, specification: Specification, findings: Findings) -> None:
    """Replay deterministic losses, and check them.

    Another mechanism at the same link may drop or hold packets before this one sees them.
    """
    stand_before: dict[int, list[str]] = {}
    mechanisms: dict[int, Mechanism] = {}
    for name, link in specification.links.items():
        for mechanism in link.mechanisms:
            if mechanism.name == "loss" and not 0 < float(mechanism.keys.get("probability", 0)) < 1:
                mechanisms[id(mechanism)] = mechanism
                stand_before.setdefault(id(mechanism), []).append(name)
    for key, mechanism in mechanisms.items():
        if any(len(specification.links[name].mechanisms) > 1 for name in stand_before[key]):
            continue
        crossings = [crossing for name in stand_before[key] for crossing in lives.hops[name]]
        crossings.sort(key=lambda crossing: crossing[1].row)
        mechanism.due = _due(mechanism, crossings)
        for packet, hop in crossings:
            if packet.number in mechanism.due and hop.entered is not None:
                what = "it passes, though it is its turn to be lost"
                findings.add("drop", hop.entered, f"link {hop.link}", packet.number, what)
        findings.count("drop", len(crossings))


def _due(mechanism: Mechanism, crossings: list[tuple[Packet, Hop]]) -> set[int]:
    """Return every Nth packet, and those after a long time without loss."""
    if "packets" in mechanism.keys:
        return _chosen(mechanism, crossings)
    every = mechanism.keys.get("every", 1 if float(mechanism.keys.get("probability", 0)) == 1 else None)
    spacing = mechanism.keys.get("spacing")
    due: set[int] = set()
    passed = quiet_until = 0
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is None or not mechanism.is_on(packet.kind, now):
            continue
        passed += 1
        if spacing is not None and now >= quiet_until:
            due.add(packet.number)
            quiet_until = now + time_of(spacing)
        elif spacing is None and every is not None and passed % every == 0:
            due.add(packet.number)
    return due


def _chosen(mechanism: Mechanism, crossings: list[tuple[Packet, Hop]]) -> set[int]:
    """Return the packets of each connection whose numbers are listed, counted from 1 where the loss stands."""
    wanted, every = set(mechanism.keys["packets"]), mechanism.keys.get("counts") == "all"
    counted: dict[tuple[str, int | None], int] = {}
    due: set[int] = set()
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        if now is None or not mechanism.is_on(packet.kind, now) or (packet.retransmission and not every):
            continue
        key = packet.flow, packet.connection
        counted[key] = counted.get(key, 0) + 1
        if counted[key] in wanted:
            due.add(packet.number)
    return due


def check_entrances(lives: Lives, specification: Specification, findings: Findings) -> None:
    """Check the first links of packets, and the mechanisms before links."""
    for packet in lives.packets.values():
        if not packet.hops:
            _never_entered(lives, specification, packet, findings)
            continue
        hop = packet.hops[0]
        entered = hop.entered if hop.entered is not None else hop.refused
        holds = any(mechanism.may_hold for mechanism in specification.links[hop.link].mechanisms)
        if entered is not None and entered != packet.sent and not holds:
            findings.add(
                "delay",
                entered,
                f"link {hop.link}",
                packet.number,
                f"it was sent at {seconds(packet.sent)}; it enters its first link then",
            )
    if specification.exchanges_options:
        _check_options(lives, specification, findings)
    for name, link in specification.links.items():
        for mechanism in link.mechanisms:
            if mechanism.name == "reordering":
                _hold(link, mechanism, lives.hops[name], specification, findings)
            elif mechanism.name == "policer":
                _police(link, mechanism, lives.hops[name], findings)
            elif mechanism.name == "ack-thinning":
                _thin(link, mechanism, lives.hops[name], specification, findings)
            elif mechanism.name == "forwarding-limit":
                _forward(link, mechanism, lives.hops[name], specification, findings)


def _never_entered(lives: Lives, specification: Specification, packet: Packet, findings: Findings) -> None:
    if packet.over or packet.delivered is not None or packet.flow not in specification.flows:
        return
    first = packet.route(specification)[:1]
    if any(mechanism.may_hold for name in first for mechanism in specification.links[name].mechanisms):
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
    """Check that a policer passes at most rate times time plus burst, and alone drops only the excess."""
    rate, burst = rate_of(mechanism.keys["rate"]), size_of(mechanism.keys["burst"])
    depth = transmission_time(burst, rate)
    alone = len(link.mechanisms) == 1
    behind = link.mechanisms[link.mechanisms.index(mechanism) + 1 :]
    full_at = 0
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        # Packets created behind the policer do not pass it.
        made_behind = packet.kind == "resource-discovery" and packet.hops[0] is hop
        if now is None or (made_behind and any(other.name == "ficcrd" for other in behind)):
            continue
        after = max(full_at, now) + transmission_time(hop.size, rate)
        conforms = after - now <= depth
        if hop.entered is not None:
            if not conforms:
                findings.add(
                    "policer",
                    now,
                    f"link {link.name}",
                    packet.number,
                    f"it passes, though the bucket of {burst} B that fills at {rate} bit/s has not its {hop.size} B",
                )
            full_at = after
        elif alone and conforms and link.limit_text == "unlimited" and link.total_limit is None:
            findings.add(
                "policer",
                now,
                f"link {link.name}",
                packet.number,
                f"dropped, though the bucket has its {hop.size} B",
            )
        findings.count("policer")


def _hold(
    link: Link,
    mechanism: Mechanism,
    crossings: list[tuple[Packet, Hop]],
    specification: Specification,
    findings: Findings,
) -> None:
    """Check that packets are held for the scenario's time, and the rest not at all."""
    if len(link.mechanisms) > 1:
        return
    delay, spread = time_of(mechanism.keys["delay"]), time_of(mechanism.keys.get("spread", "0 s"))
    for packet, hop in crossings:
        now = hop.entered if hop.entered is not None else hop.refused
        arrived = _arrived(packet, hop, specification)
        if now is None or arrived is None:
            continue
        held = now - arrived
        if abs(held) > EXACT and not delay - EXACT <= held <= delay + spread + EXACT:
            more = f" to {seconds(delay + spread)}" if spread else ""
            what = f"held since {seconds(arrived)}; it goes on at once or after {seconds(delay)}{more}"
            findings.add("delay", now, f"link {link.name}", packet.number, what)
        findings.count("delay")


def _check_options(lives: Lives, specification: Specification, findings: Findings) -> None:
    """Check that sizes change only where options are exchanged, and that every option that arrives was sent as one.

    XCP, Quick-Start and FICCRD write into options, whose contents are not compared.
    """
    written = any(
        mechanism.name in {"xcp", "quick-start", "ficcrd"}
        for link in specification.links.values()
        for mechanism in link.mechanisms
    )
    sent: dict[tuple[str, str], set[str]] = {}
    for packet in lives.packets.values():
        if packet.option is not None:
            sent.setdefault((packet.flow, packet.kind), set()).add(packet.option)
    for packet in lives.packets.values():
        size = packet.size
        for hop in packet.hops:
            changes = any(mechanism.exchanges_options for mechanism in specification.links[hop.link].mechanisms)
            if hop.size != size and not changes:
                what = f"size_bytes is {hop.size}, and was {size} before: no router exchanges options here"
                findings.add("unchanged", hop.entered or hop.refused, f"link {hop.link}", packet.number, what)
            size = hop.size
        if packet.delivered is None:
            continue
        where = f"flow {packet.flow}"
        if packet.delivered_size != size:
            what = f"size_bytes is {packet.delivered_size}, and was {size} on the last link"
            findings.add("unchanged", packet.delivered, where, packet.number, what)
        option = packet.delivered_option
        if option is not None and not written and option not in sent.get((packet.flow, packet.kind), set()):
            what = f"it arrives with the option {option}, which nobody has sent"
            findings.add("unchanged", packet.delivered, where, packet.number, what)
        findings.count("unchanged")


def _thin(
    link: Link,
    mechanism: Mechanism,
    crossings: list[tuple[Packet, Hop]],
    specification: Specification,
    findings: Findings,
) -> None:
    """Check that a thinned ACK is followed by one that acknowledges more, within the interval."""
    interval = time_of(mechanism.keys["interval"])
    # A queue with a limit may also drop one.
    alone = len(link.mechanisms) == 1
    acks = [(packet, hop, (packet.flow, packet.connection)) for packet, hop in crossings if packet.kind == "ack"]
    #: Bytes acknowledged by a connection's ACKs that enter the link at an instant.
    entering: dict[tuple[object, int], int] = {}
    for packet, hop, connection in acks:
        if hop.entered is not None:
            at = connection, hop.entered
            entering[at] = max(entering.get(at, -1), packet.acknowledgement)
    for packet, hop, connection in acks:
        findings.count("thinning")
        if hop.entered is None:
            successor = entering.get((connection, hop.refused or 0), -1)
            if alone and link.limit_text == "unlimited" and successor <= packet.acknowledgement:
                what = (
                    f"dropped, though none that enters at this instant acknowledges more than {packet.acknowledgement}"
                )
                findings.add("thinning", hop.refused, f"link {link.name}", packet.number, what)
            continue
        arrived = _arrived(packet, hop, specification)
        if alone and arrived is not None and hop.entered > arrived + interval + EXACT:
            what = f"held since {seconds(arrived)}, for longer than {seconds(interval)}"
            findings.add("thinning", hop.entered, f"link {link.name}", packet.number, what)


def _forward(
    link: Link,
    mechanism: Mechanism,
    crossings: list[tuple[Packet, Hop]],
    specification: Specification,
    findings: Findings,
) -> None:
    """Check that a packet waits for no more than those that may wait, and its own service.

    A FIFO of K places at n packets a second empties in K/n.
    """
    limit = str(mechanism.keys.get("limit", "unlimited")).split()[0]
    shared = sum(mechanism in other.mechanisms for other in specification.links.values()) > 1
    if limit == "unlimited" or shared or len(link.mechanisms) > 1:
        return
    longest = (int(limit) + 1) * (round(SECOND / float(mechanism.keys["packets_per_second"])) + EXACT)
    for packet, hop in crossings:
        arrived = _arrived(packet, hop, specification)
        if hop.entered is None or arrived is None:
            continue
        findings.count("queue-limit")
        if hop.entered - arrived > longest:
            what = f"held since {seconds(arrived)}; {limit} packets before it take {seconds(longest)} with its own turn"
            findings.add("queue-limit", hop.entered, f"link {link.name}", packet.number, what)


def _arrived(packet: Packet, hop: Hop, specification: Specification) -> int | None:
    """Return when a packet arrived where it enters a link; `None` if that is random."""
    position = next(index for index, other in enumerate(packet.hops) if other is hop)
    if position == 0:
        return packet.sent
    before = packet.hops[position - 1]
    link = specification.links[before.link]
    if link.jitter or len(link.path) > 1 or link.trace is not None or before.started is None:
        return None
    rate, delay = link.at(0)
    return before.started + transmission_time(hop.size, rate) + delay
