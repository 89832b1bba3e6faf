"""Figures 5 and 6: packets as lines between sender and receiver, with time running down."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration
from selfclock.papers.packet_pair import figure_05
from selfclock.papers.packet_pair.ensemble import FROM_TIME_0

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.figure import Horizontal, Panel
    from selfclock.papers.packet_pair.figure_05 import Events
    from selfclock.papers.packet_pair.figure_06 import Ladder

#: The ladder of figure 5 is drawn up to this time.
LADDER_S = 1.02

_DATA, _ACK = style.look("packet-pair").colour, style.look("reno").colour


def _frame(panel: Panel, begin: float, end: float) -> None:
    panel.x.low, panel.x.high = -0.6, 1.7
    panel.x.name("sender", "receiver")
    # Downwards.
    panel.y.low, panel.y.high = end, begin
    for place in (0, 1):
        panel.rule("x", place, colour=BLACK, dash="-", width=1.0)


def slow_start(found: Events) -> Illustration:
    """Return figure 5."""
    figure = Figure(title="Figure 5: the modified slow start", y="time (s)", height=7.4)
    panel = figure.panel
    _frame(panel, -0.02, LADDER_S)
    sent = found.packets.filter(pl.col("event") == "send")
    arrived = found.packets.filter(pl.col("event") == "deliver").select("packet", arrival="time_s")
    ways = sent.join(arrived, on="packet", how="left").sort("time_s")
    ways = ways.filter((pl.col("time_s") <= LADDER_S) & pl.col("arrival").is_not_null())
    _packets(panel, ways)
    for time, interval in ways.filter(pl.col("kind") == "ack").select("time_s", "interval").iter_rows():
        delayed = any(abs(time - other) < 1e-9 for other in found.delayed_acks)
        note = "delayed ACK" if delayed else ("" if interval is None else f"T = {interval}")
        panel.text(1.07, time, f"{time:.3f} {note}", size=7)
    _marks(panel, found.pairs, "o", "pair", "pair")
    _marks(panel, found.shaped, "s", "shaped", "leaky bucket")
    printed = [*figure_05.PAIRS_S, *figure_05.SHAPED_S]
    panel.points([-0.02] * len(printed), printed, marker=">", size=6, label="printed send")
    delayed_acks = figure_05.DELAYED_ACKS_S
    panel.points([1.03] * len(delayed_acks), delayed_acks, marker="<", size=6, label="printed delayed ACK")
    caption = (
        "Time runs downwards. Acknowledgements with the interval reported, in ticks. Triangles: the printed times, "
        "of sends on the left and of delayed acknowledgements on the right. A line begins when a packet is handed to "
        "the link and ends when its last bit has arrived."
    )
    return Illustration(
        "Figure 5, the modified slow start", caption, figure, id="figure-5", scenarios=(figure_05.NAME,)
    )


def _packets(panel: Panel, ways: pl.DataFrame) -> None:
    """Draw packets in transit from `time_s` to `arrival`, as one line with gaps."""
    for kind, sides, colour, dash, label in (
        ("data", (0.0, 1.0), _DATA, "-", "data"),
        ("ack", (1.0, 0.0), _ACK, "--", "acknowledgement"),
    ):
        own = ways.filter(pl.col("kind") == kind)
        times = [time for way in own.select("time_s", "arrival").iter_rows() for time in (*way, math.nan)]
        panel.line([*sides, math.nan] * len(own), times, colour=colour, dash=dash, width=0.9, label=label)


def _marks(panel: Panel, times: Sequence[float], marker: str, what: str, label: str) -> None:
    shown = [time for time in times if time <= LADDER_S]
    panel.points([0.0] * len(shown), shown, marker=marker, hollow=True, size=10, label=label)
    for time in shown:
        panel.text(-0.06, time, f"{what} {time:.3f}", size=7, horizontal="right")


#: Figure 6 shows the first pair until its t2 is back at the receiver, then ACKs in congestion
#: avoidance.
_PAIR_S = (0.56, 1.27)
#: Number of ACKs drawn with d.
_THINNED = 3


def both_sides(found: Ladder) -> Illustration:
    """Return figure 6, and the effect of d."""
    figure = Figure(columns=2, y="time (s)", height=6.0)
    [[left, right]] = figure.panels
    for panel, (first, last) in ((left, _PAIR_S), (right, _thinned_span(found))):
        shown = found.packets.filter(
            pl.col("arrival").is_not_null() & (pl.col("arrival") >= first) & (pl.col("time_s") <= last)
        )
        _frame(panel, first, last)
        _packets(panel, shown)
        _tell_options(panel, shown, first, last)
    left.title = "Figure 6: t1 and t2 of a pair"
    right.title = "then an ACK for d = 4 segments"
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
    """Return the period in which consecutive ACKs without an option cover four segments each."""
    acks = found.packets.filter(pl.col("kind") == "ack").sort("time_s")
    segment = int(acks["acknowledgement"].filter(acks["acknowledgement"] > 0).min())  # type: ignore[arg-type]
    covered = (acks["acknowledgement"].diff().fill_null(0) // segment).to_list()
    times = acks["time_s"].to_list()
    for place in range(len(times) - _THINNED):
        if all(covered[place + step] == 4 for step in range(_THINNED)):
            return times[place] - 0.2, times[place + _THINNED - 1] + 0.15
    return times[-1] - 0.5, times[-1]


def _tell_options(panel: Panel, shown: pl.DataFrame, first: float, last: float) -> None:
    """Label departures with their options; those of one instant share a line."""
    texts: dict[tuple[float, bool], list[str]] = {}
    for row in shown.filter(pl.col("time_s").is_between(first, last)).iter_rows(named=True):
        data = row["kind"] == "data"
        parts = [f"PP{row['mark']}"] if row["mark"] is not None else []
        if row["ticks"] is not None:
            parts.append(f"{'t2' if data else 't1'} = {row['ticks']}")
        if parts:
            texts.setdefault((row["time_s"], data), []).append(" + ".join(parts))
    for (time, data), parts in texts.items():
        alignment: Horizontal
        place, alignment = (-0.04, "right") if data else (1.04, "left")
        panel.text(place, time, "\n".join(parts), size=7, horizontal=alignment)
