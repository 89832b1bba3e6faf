"""Figures 5 and 6: packets as lines between sender and receiver, time downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from selfclock import style
from selfclock.papers.packet_pair import figure_05
from selfclock.papers.packet_pair.ensemble import FROM_TIME_0
from selfclock.parts import Illustration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from selfclock.papers.packet_pair.figure_05 import Events
    from selfclock.papers.packet_pair.figure_06 import Ladder

#: The ladder of figure 5 is drawn up to this time.
LADDER_S = 1.02

_DATA, _ACK = style.look("packet-pair").colour, style.look("reno").colour


def _frame(axes: Axes, begin: float, end: float) -> None:
    axes.set_xlim(-0.5, 1.5)
    axes.set_ylim(end, begin)
    axes.set_xticks([0, 1], ["sender", "receiver"])
    axes.grid(visible=False)
    axes.axvline(0, color="black", linewidth=1)
    axes.axvline(1, color="black", linewidth=1)


def _line(colour: str, line: Literal["-", "--", ""], label: str, marker: str = "") -> Line2D:
    return Line2D([], [], color=colour, linestyle=line, marker=marker, fillstyle="none", label=label)


@style.house()
def slow_start(found: Events) -> Illustration:
    """Return figure 5."""
    figure, (axes,) = style.figure(height=7.4)
    sent = found.packets.filter(pl.col("event") == "send")
    arrived = found.packets.filter(pl.col("event") == "deliver").select("packet", arrival="time_s")
    for row in sent.join(arrived, on="packet", how="left").sort("time_s").iter_rows(named=True):
        if row["time_s"] <= LADDER_S and row["arrival"] is not None:
            _packet(axes, row, found)
    for time in found.pairs:
        _mark(axes, time, "o", "pair")
    for time in found.shaped:
        _mark(axes, time, "s", "shaped")
    printed = [*figure_05.PAIRS_S, *figure_05.SHAPED_S]
    axes.plot([-0.02] * len(printed), printed, ">", color="black", markersize=6, clip_on=False)
    axes.plot([1.03] * len(figure_05.DELAYED_ACKS_S), figure_05.DELAYED_ACKS_S, "<", color="black", markersize=6,
              clip_on=False)  # fmt: skip
    _frame(axes, -0.02, LADDER_S)
    axes.set_ylabel("time (s)")
    axes.set_title("Figure 5: the modified slow start")
    handles = [
        _line(_DATA, "-", "data"),
        _line(_ACK, "--", "acknowledgement"),
        _line("black", "", "pair", "o"),
        _line("black", "", "leaky bucket", "s"),
        Line2D([], [], color="black", linestyle="", marker=">", label="printed"),
    ]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=5)
    caption = (
        "Time runs downwards. Acknowledgements with the interval reported, in ticks. Triangles: the printed times, "
        "of sends on the left and of delayed acknowledgements on the right. A line begins when a packet is handed to "
        "the link and ends when its last bit has arrived."
    )
    return Illustration(
        "Figure 5, the modified slow start", caption, figure, id="figure-5", scenarios=(figure_05.NAME,)
    )


def _packet(axes: Axes, row: dict[str, Any], found: Events) -> None:
    time, arrival, interval = row["time_s"], row["arrival"], row["interval"]
    if row["kind"] == "data":
        axes.plot([0, 1], [time, arrival], "-", color=_DATA, linewidth=0.9)
        return
    axes.plot([1, 0], [time, arrival], "--", color=_ACK, linewidth=0.9)
    delayed = any(abs(time - other) < 1e-9 for other in found.delayed_acks)
    note = "delayed ACK" if delayed else ("" if interval is None else f"T = {interval}")
    axes.annotate(f"{time:.3f} {note}", (1.07, time), fontsize=7, va="center")


def _mark(axes: Axes, time: float, marker: str, what: str) -> None:
    if time > LADDER_S:
        return
    axes.plot([0], [time], marker, color="black", fillstyle="none", markersize=10, clip_on=False)
    axes.annotate(f"{what} {time:.3f}", (-0.06, time), fontsize=7, va="center", ha="right")


#: Figure 6 shows the first pair, until t2 of it is back at the receiver, and then ACKs in congestion avoidance.
_PAIR_S = (0.56, 1.27)
#: So many ACKs with d are drawn.
_THINNED = 3


@style.house()
def both_sides(found: Ladder) -> Illustration:
    """Return figure 6, and how d acts."""
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    begin, end = _thinned_span(found)
    for axes, (first, last) in ((left, _PAIR_S), (right, (begin, end))):
        shown = found.packets.filter(
            pl.col("arrival").is_not_null() & (pl.col("arrival") >= first) & (pl.col("time_s") <= last)
        )
        for row in shown.iter_rows(named=True):
            _draw(axes, row)
        _tell_options(axes, shown, first, last)
        _frame(axes, first, last)
    left.set_ylabel("time (s)")
    left.set_title("Figure 6: t1 and t2 of a pair")
    right.set_title("then an ACK for d = 4 segments")
    handles = [_line(_DATA, "-", "data"), _line(_ACK, "--", "acknowledgement")]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    caption = (
        "The run of figure 13 from time 0; time runs downwards. Left: the two segments of the first pair are "
        "acknowledged at once, as a pair; the receiver reports t1, and the sender returns t2 with the next segment. "
        "Right: segments that are in no pair are acknowledged every fourth. A line begins when a packet is handed to "
        "the link and ends when its last bit has arrived."
    )
    return Illustration(
        "Figure 6, probing from both sides",
        caption,
        figure,
        id="figure-6",
        scenarios=(f"figure-13-{FROM_TIME_0.name}",),
    )


def _thinned_span(found: Ladder) -> tuple[float, float]:
    """Return from when to when ACKs of four segments without an option leave one after the other."""
    acks = found.packets.filter(pl.col("kind") == "ack").sort("time_s")
    segment = int(acks["acknowledgement"].filter(acks["acknowledgement"] > 0).min())  # type: ignore[arg-type]
    covered = (acks["acknowledgement"].diff().fill_null(0) // segment).to_list()
    times = acks["time_s"].to_list()
    for place in range(len(times) - _THINNED):
        if all(covered[place + step] == 4 for step in range(_THINNED)):
            return times[place] - 0.2, times[place + _THINNED - 1] + 0.15
    return times[-1] - 0.5, times[-1]


def _draw(axes: Axes, row: dict[str, Any]) -> None:
    data = row["kind"] == "data"
    sides, line, colour = ([0, 1], "-", _DATA) if data else ([1, 0], "--", _ACK)
    axes.plot(sides, [row["time_s"], row["arrival"]], line, color=colour, linewidth=0.9)


def _tell_options(axes: Axes, shown: pl.DataFrame, first: float, last: float) -> None:
    """Write the options of what leaves, those of one instant in one line."""
    texts: dict[tuple[float, bool], list[str]] = {}
    for row in shown.filter(pl.col("time_s").is_between(first, last)).iter_rows(named=True):
        data = row["kind"] == "data"
        parts = [f"PP{row['mark']}"] if row["mark"] is not None else []
        if row["ticks"] is not None:
            parts.append(f"{'t2' if data else 't1'} = {row['ticks']}")
        if parts:
            texts.setdefault((row["time_s"], data), []).append(" + ".join(parts))
    for (time, data), parts in texts.items():
        place, alignment = (-0.04, "right") if data else (1.04, "left")
        axes.annotate("\n".join(parts), (place, time), fontsize=7, va="center", ha=alignment)
