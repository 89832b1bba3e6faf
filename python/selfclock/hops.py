"""Arrival, start of transmission and delivery of every packet on every link, from a packet record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from selfclock import _core
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfclock.network import Network
    from selfclock.result import Result

#: How a packet left a link: towards the next, into its queue's bin, lost on the wire, to its
#: receiver, or not yet.
FORWARDED, DROPPED, LOST, DELIVERED, UNFINISHED = range(5)

#: The name of each kind of packet, before its number.
WORDS = {name: word for name, word, *_ in _core.packet_kinds()}


class UnrecordedError(BadInputError):
    """The request needs a record of packets."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a record of packets: run with --set record.packets=true, or --replay 5s")


@dataclass(frozen=True)
class Hops:
    """A row for each packet on each link, in order of arrival, and a row for each packet.

    Times are seconds; NaN where the record is silent.
    """

    network: Network
    #: Recorded span, in seconds.
    begin: float
    end: float
    #: Whether the record is longer: it was cut after `end`.
    cut: bool
    #: For each hop: row of its packet and index of its link.
    packet: NDArray[np.int64]
    link: NDArray[np.int64]
    #: Arrival at the queue; start of transmission; departure of the last bit; its arrival;
    #: departure from there. Of a dropped or lost packet the last are the time of that.
    enter: NDArray[np.float64]
    start: NDArray[np.float64]
    sent: NDArray[np.float64]
    arrive: NDArray[np.float64]
    leave: NDArray[np.float64]
    fate: NDArray[np.int64]
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
    if between is not None:
        begin, end = max(begin, between[0]), min(end, between[1])
    network = result.scenario.network
    number = None if flow is None else [each.name for each in network.flows].index(flow)
    hops, packets, end, cut = result._packet_hops((begin, end), number, most)

    def times(table: _core.Table, name: str) -> NDArray[np.float64]:
        return np.asarray(table.column(name), dtype=np.float64)

    def numbers(table: _core.Table, name: str) -> NDArray[np.int64]:
        return np.asarray(table.column(name)).astype(np.int64)

    def bits(name: str) -> NDArray[np.bool_]:
        return np.asarray(packets.column(name), dtype=np.bool_)

    return Hops(
        network, begin, end, cut,
        packet=numbers(hops, "packet"), link=numbers(hops, "link"), enter=times(hops, "enter_s"),
        start=times(hops, "start_s"), sent=times(hops, "sent_s"), arrive=times(hops, "arrive_s"),
        leave=times(hops, "leave_s"), fate=numbers(hops, "fate"),
        flow=numbers(packets, "flow"), back=bits("returns"), kind=numbers(packets, "kind"), data=bits("carries_data"),
        size=numbers(packets, "size_bytes"), number=numbers(packets, "number"), again=bits("retransmission"),
        marked=times(packets, "marked_s"),
    )  # fmt: skip


def recorded_span(result: Result, what: str) -> tuple[float, float]:
    """Return the first and the last time of a record, or raise `UnrecordedError` in the name of `what`."""
    span = result.scenario.recorded_span_s
    if span is None:
        raise UnrecordedError(what)
    return span
