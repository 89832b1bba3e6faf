"""The time-distance diagram of a connection: its packets in transit, time to the right and the path upwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from selfclock.errors import BadInputError
from selfclock.figure import Figure
from selfclock.hops import DROPPED, LOST, Hops, hops_of, recorded_span
from selfclock.names import unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfclock.figure import Panel
    from selfclock.network import NetworkFlow
    from selfclock.result import Result

#: Packets of one diagram; with more, the lines would merge into a surface.
MOST_PACKETS = 2_000
#: Default duration of a diagram, round-trip times.
ROUND_TRIPS = 5
#: Names of nodes closer than this fraction of the axis would overlap.
NEAR = 0.05

#: Transmissions shorter than this fraction of the time shown are not drawn.
SEEN = 0.004

SEGMENTS, AGAIN, ACKS, GONE = "#0072B2", "#CC79A7", "#D55E00", "#000000"


def path_diagram(
    result: Result, flow: str | None = None, start_s: float | None = None, duration_s: float | None = None
) -> Figure:
    """Draw each packet of a flow and each of its ACKs as a line.

    A thick level stretch is the packet's transmission, a thin level one its waiting time, and a
    slope its propagation: the line follows its last bit. Nodes are placed at their propagation
    delay from the sender.

    `flow` is the name of a flow, by default the first TCP flow; `start_s` the start of the diagram,
    by default the flow's first packet; `duration_s` the time shown, by default five propagation
    RTTs.

    Raises `UnrecordedError` without a record of packets, and `BadInputError` if there is no such
    flow, or if it has no packet in this time.
    """
    chosen = _chosen(result, flow)
    figure = Figure(title=f"{chosen.name} ({chosen.algorithm}): packets in transit", height=4.2)
    figure.notes += draw_path(figure.panel, result, chosen.name, start_s, duration_s)
    return figure


def draw_path(
    panel: Panel,
    result: Result,
    flow: str | None = None,
    start_s: float | None = None,
    duration_s: float | None = None,
) -> list[str]:
    """Draw the diagram of `path_diagram` into a panel, and return remarks for the reader."""
    chosen = _chosen(result, flow)
    begin, last = recorded_span(result, "the time-distance diagram")
    first = hops_of(result, 1, flow=chosen.name).enter
    start = (float(first[0]) if len(first) else begin) if start_s is None else start_s
    shown = (chosen.delay_s * ROUND_TRIPS or last - start) if duration_s is None else duration_s
    end = start + shown
    hops = hops_of(result, flow=chosen.name, between=(start, end))
    if not len(hops.enter) or shown <= 0:
        raise BadInputError(
            f"{chosen.name} has no packet from {start:g} to {end:g} s; packets are recorded from {begin:g} to "
            f"{last:g} s"
        )
    kept = np.ones(len(hops.enter), dtype=bool)
    notes = []
    packets = np.unique(hops.packet)
    if len(packets) > MOST_PACKETS:
        kept &= hops.packet < packets[MOST_PACKETS]
        end = float(hops.enter[kept].max())
        notes.append(f"The first {MOST_PACKETS:,} of {len(packets):,} packets.")
    # Milliseconds, unless the numbers became long.
    scale = _Scale(1e3 if end < 100 else 1.0, (end - start) * SEEN)
    _draw(panel, hops, chosen, kept, scale)
    panel.x.label = "time (ms)" if end < 100 else "time (s)"
    panel.x.low, panel.x.high = start * scale.factor, end * scale.factor
    return notes


@dataclass(frozen=True)
class _Scale:
    """Length of a second on the axis, and the shortest visible transmission, seconds."""

    factor: float
    shortest: float


def _chosen(result: Result, name: str | None) -> NetworkFlow:
    flows = result.scenario.network.flows
    if name is None:
        return next((flow for flow in flows if flow.algorithm != "udp"), flows[0])
    found = next((flow for flow in flows if flow.name == name), None)
    if found is None:
        raise BadInputError(unknown("flow", name, [flow.name for flow in flows]))
    return found


def places(flow: NetworkFlow) -> dict[str, float]:
    """Return the position of each node on the axis: its propagation delay from the sender, in milliseconds.

    A node that only ACKs pass has its position along their path. Without delays a link has length
    1.
    """
    length = {link.name: link.delay_s * 1e3 for link in (*flow.forward, *flow.reverse)}
    if not any(length[link.name] for link in flow.forward):
        length = dict.fromkeys(length, 1.0)
    at = 0.0
    spots = {flow.forward[0].source: 0.0}
    for link in flow.forward:
        at += length[link.name]
        spots.setdefault(link.target, at)
    back = sum(length[link.name] for link in flow.reverse)
    passed = 0.0
    for link in flow.reverse:
        passed += length[link.name]
        spots.setdefault(link.target, at * (1 - passed / back) if back else 0.0)
    return spots


def _draw(panel: Panel, hops: Hops, flow: NetworkFlow, kept: NDArray[np.bool_], scale: _Scale) -> None:
    spots = places(flow)
    links = hops.network.links
    ends = np.array([(spots.get(link.source, np.nan), spots.get(link.target, np.nan)) for link in links])
    back, again = hops.back[hops.packet], hops.again[hops.packet]
    for label, colour, rows in (
        ("segments", SEGMENTS, kept & ~back & ~again),
        ("retransmissions", AGAIN, kept & ~back & again),
        ("ACKs", ACKS, kept & back),
    ):
        if rows.any():
            _lines(panel, hops, np.flatnonzero(rows), ends, (label, colour, scale))
    for label, fate in (("dropped", DROPPED), ("lost on the link", LOST)):
        ended = np.flatnonzero(kept & (hops.fate == fate))
        if len(ended):
            panel.points(hops.leave[ended] * scale.factor, ends[hops.link[ended], 0], colour=GONE, marker="x", size=5,
                         label=label)  # fmt: skip
    panel.y.label = "path, by propagation delay"
    panel.y.names = _apart(spots)


def _lines(
    panel: Panel, hops: Hops, rows: NDArray[np.int64], ends: NDArray[np.float64], look: tuple[str, str, _Scale]
) -> None:
    label, colour, scale = look
    begin, end = ends[hops.link[rows]].T
    waiting = np.isnan(hops.start[rows])
    until = np.where(waiting, hops.end, hops.start[rows])
    gap = np.full(len(rows), np.nan)
    times = [hops.enter[rows], until, hops.sent[rows], hops.arrive[rows], hops.leave[rows], gap]
    moving = np.where(waiting | np.isin(hops.fate[rows], (DROPPED, LOST)), np.nan, end)
    levels = [begin, begin, begin, moving, moving, gap]
    panel.line(_strung(times) * scale.factor, _strung(levels), colour=colour, width=0.9, label=label)
    seen = hops.sent[rows] - hops.start[rows] >= scale.shortest
    if not seen.any():
        return
    sending = _strung([hops.start[rows][seen], hops.sent[rows][seen], gap[seen]])
    panel.line(
        sending * scale.factor, _strung([begin[seen], begin[seen], gap[seen]]), colour=colour, width=4.0, opacity=0.35
    )


def _strung(columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the rows of the columns, concatenated."""
    return np.column_stack(columns).ravel()


def _apart(spots: dict[str, float]) -> dict[float, str]:
    """Return names for the axis; nodes close together share one."""
    names: dict[float, str] = {}
    least = NEAR * max(spots.values())
    for name, at in sorted(spots.items(), key=lambda spot: spot[1]):
        last = max(names, default=-np.inf)
        if at - last < least:
            names[last] += f", {name}"
        else:
            names[at] = name
    return names
