"""The life of every packet: sent once, over the links of its route, delivered or lost once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock.verify.record import COLUMNS, Record, picoseconds

if TYPE_CHECKING:
    from selfclock.verify.specification import Specification
    from selfclock.verify.violation import Findings

TOWARDS_SOURCE = ("ack", "syn-ack", "reply")
#: Packets created and consumed by routers.
OF_ROUTERS = "resource-discovery"


@dataclass(slots=True)
class Hop:
    """A packet at one link. Times in ps; rows count from the start of the record."""

    link: str
    row: int
    #: Size on arrival.
    size: int
    #: ECN codepoint on arrival.
    ecn: str
    #: Row in which the queue accepted it, or in which it was refused.
    entered: int | None = None
    refused: int | None = None
    marked: int | None = None
    #: Dropped by the queue after being accepted.
    dropped: int | None = None
    dropped_row: int = -1
    started: int | None = None
    started_row: int = -1
    #: With a trace: when its last byte left, and how many bytes left at which opportunities,
    #: according to the trace.
    left: int | None = None
    pieces: list[tuple[int, int]] = field(default_factory=list)
    lost: int | None = None


@dataclass(slots=True)
class Packet:
    """A packet."""

    number: int
    row: int
    flow: str
    connection: int | None
    kind: str
    retransmission: bool
    sequence: int
    payload: int
    size: int
    acknowledgement: int
    window: int | None
    sack: list[tuple[int, int]]
    timestamp: int | None
    echo: int | None
    marked_bytes: int
    ece: bool
    cwr: bool
    option: str | None
    sent: int
    sent_ecn: str
    hops: list[Hop] = field(default_factory=list)
    delivered: int | None = None
    delivered_row: int = -1
    delivered_size: int = 0
    delivered_window: int | None = None
    delivered_ecn: str = "not-ect"
    delivered_option: str | None = None
    over: bool = False

    @property
    def end(self) -> int:
        """One past the last byte of its payload."""
        return self.sequence + self.payload

    def route(self, specification: Specification) -> list[str]:
        """Return the links that a packet of an endpoint must take."""
        flow = specification.flows[self.flow]
        return flow.reverse if self.kind in TOWARDS_SOURCE else flow.forward


@dataclass
class Lives:
    """All packets, and their arrivals and departures at each end, in order."""

    packets: dict[int, Packet]
    #: Hops of each link in order of arrival, with their packets.
    hops: dict[str, list[tuple[Packet, Hop]]]
    #: (row, time, packet) of every packet that each end sent and received, by (flow, connection).
    sent: dict[tuple[str, int | None], list[Packet]]
    delivered: dict[tuple[str, int | None], list[Packet]]
    end: int


#: Fields that do not change in transit. Routers may lower the window and write into options; queues
#: mark.
_FIXED = (
    "flow", "connection", "kind", "retransmission", "sequence", "payload_bytes", "acknowledgement",
    "timestamp_us", "timestamp_echo_us", "marked_bytes", "ece", "cwr", "sack",
)  # fmt: skip


def lives(record: Record, specification: Specification, findings: Findings) -> Lives:
    """Follow every packet through the record."""
    columns: dict[str, list[Any]] = {
        name: record.packets[name].cast(str).to_list()
        if name in {"event", "link", "flow", "kind", "ecn"}
        else record.packets[name].to_list()
        for name in COLUMNS
        if name != "time_s"
    }
    times = picoseconds(record.packets["time_s"])
    found = Lives({}, {name: [] for name in specification.links}, {}, {}, specification.duration)
    packets = found.packets
    events, links, numbers, ecns, sizes = (columns[name] for name in ("event", "link", "packet", "ecn", "size_bytes"))
    previous = 0
    for row, (time, event, link, number) in enumerate(zip(times, events, links, numbers, strict=True)):
        if time < previous or time > found.end:
            findings.add(
                "clock",
                time,
                f"row {row}",
                number,
                f"after {previous} ps, in a run of {found.end} ps: times do not go back, and end with the run",
            )
        previous = max(time, previous)
        packet = packets.get(number)
        if event == "send":
            if packet is not None:
                findings.add(
                    "sent-once", time, f"flow {packet.flow}", number, f"sent twice; it was sent at {packet.sent} ps"
                )
                continue
            packet = _sent(columns, row, time)
            packets[number] = packet
            if packet.flow not in specification.flows:
                findings.add("route", time, f"flow {packet.flow}", number, "the scenario has no such flow")
                packet.over = True
                continue
            found.sent.setdefault((packet.flow, packet.connection), []).append(packet)
            continue
        if packet is None:
            findings.add(
                "sent-once",
                time,
                _where(link, columns["flow"][row]),
                number,
                f"{event} of a packet that was never sent",
            )
            continue
        if packet.over:
            findings.add("one-end", time, _where(link, packet.flow), number, f"{event} after its path had ended")
            continue
        _advance(found, specification, findings, packet, (row, time, event, link), (sizes[row], ecns[row]))
        if event == "deliver":
            packet.delivered_size = sizes[row]
            packet.delivered_window = columns["receive_window_bytes"][row]
            packet.delivered_option = columns["option"][row]
    _check_unchanged(record.packets, times, specification, findings)
    findings.count("sent-once", len(packets))
    findings.count("one-end", len(packets))
    findings.count("unchanged", len(times))
    findings.count("clock", len(times))
    return found


def _check_unchanged(table: pl.DataFrame, times: list[int], specification: Specification, findings: Findings) -> None:
    """Compare every row with that of the packet's transmission, in the fields that do not change in transit.

    A router that adds or repeats options changes the size of forwarded packets; those are checked
    where they enter the next link.
    """
    fixed = _FIXED if specification.exchanges_options else (*_FIXED, "size_bytes")
    sent = table.filter(table["event"].cast(str) == "send").unique("packet", keep="first").select("packet", *fixed)
    rows = table.select("packet", "event", "link", *fixed).with_row_index("row")
    both = rows.join(sent, on="packet", how="inner", suffix=" sent", maintain_order="left")
    for name in fixed:
        for changed in both.filter(pl.col(name).ne_missing(pl.col(f"{name} sent"))).iter_rows(named=True):
            findings.add(
                "unchanged", times[changed["row"]], _where(changed["link"], changed["flow"]), changed["packet"],
                f"{name} is {changed[name]}, and was {changed[f'{name} sent']} when it was sent",
            )  # fmt: skip


def _where(link: str | None, flow: str) -> str:
    return f"flow {flow}" if link is None else f"link {link}"


def _sent(columns: dict[str, list[Any]], row: int, time: int) -> Packet:
    sack = columns["sack"][row] or []
    return Packet(
        number=columns["packet"][row],
        row=row,
        flow=columns["flow"][row],
        connection=columns["connection"][row],
        kind=columns["kind"][row],
        retransmission=columns["retransmission"][row],
        sequence=columns["sequence"][row],
        payload=columns["payload_bytes"][row],
        size=columns["size_bytes"][row],
        acknowledgement=columns["acknowledgement"][row],
        window=columns["receive_window_bytes"][row],
        sack=[(block["first"], block["end"]) for block in sack],
        timestamp=columns["timestamp_us"][row],
        echo=columns["timestamp_echo_us"][row],
        marked_bytes=columns["marked_bytes"][row],
        ece=columns["ece"][row],
        cwr=columns["cwr"][row],
        option=columns["option"][row],
        sent=time,
        sent_ecn=columns["ecn"][row],
    )


def _advance(  # noqa: PLR0912 - one branch for each event
    found: Lives,
    specification: Specification,
    findings: Findings,
    packet: Packet,
    event: tuple[int, int, str, str | None],
    seen: tuple[int, str],
) -> None:
    """Check that every event of a packet can follow its predecessor."""
    row, time, what, link = event
    hop = packet.hops[-1] if packet.hops else None
    waiting = hop is not None and hop.entered is not None and hop.started is None and hop.dropped is None
    moving = hop is None or hop.started is not None

    def refuse(allowed: str) -> None:
        findings.add("route", time, _where(link, packet.flow), packet.number, f"{what} where {allowed}")

    if what == "enqueue" or (what == "drop" and not (waiting and hop is not None and hop.link == link)):
        if not moving:
            return refuse(f"it is still in the queue of link {hop.link if hop else None}")
        expected = packet.route(specification)
        if packet.kind == OF_ROUTERS:
            fits = link in specification.links
        else:
            fits = len(packet.hops) < len(expected) and expected[len(packet.hops)] == link
        if not fits or link is None:
            return refuse(f"its route is {' '.join(expected)}, of which it has passed {len(packet.hops)}")
        new = Hop(link, row, *seen)
        if what == "enqueue":
            new.entered = time
        else:
            new.refused = time
            packet.over = True
        packet.hops.append(new)
        found.hops[link].append((packet, new))
    elif what == "deliver":
        complete = packet.kind == OF_ROUTERS or len(packet.hops) == len(packet.route(specification))
        if not moving or not complete or (hop is None and packet.kind != OF_ROUTERS):
            return refuse(f"it has passed {len(packet.hops)} of the links {' '.join(packet.route(specification))}")
        packet.delivered, packet.delivered_row, packet.delivered_ecn, packet.over = time, row, seen[1], True
        found.delivered.setdefault((packet.flow, packet.connection), []).append(packet)
    elif hop is None or hop.link != link:
        refuse(f"it is at link {hop.link if hop else None}")
    elif what == "transmit" and waiting:
        hop.started, hop.started_row = time, row
    elif what == "drop":
        hop.dropped, hop.dropped_row, packet.over = time, row, True
    elif what == "mark" and waiting:
        hop.marked = time
    elif what == "lose" and hop.started is not None:
        hop.lost, packet.over = time, True
    else:
        refuse("that cannot come next")
    return None
