"""The paper's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock import plot, style
from selfclock.papers.packet_pair.claims import PRINTED_COUNTS
from selfclock.papers.packet_pair.ensemble import EXPERIMENTS, Ensemble, Experiment, segments_sent
from selfclock.reproduce import Illustration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from selfclock.papers.packet_pair.figure_05 import Events
    from selfclock.result import Result

BOTTLENECK = "bottleneck"


def sequences(single: Mapping[int, Result], headline: Ensemble) -> list[Illustration]:
    """Return figures 8, 9, 11, 12 and 13, each with window and queue below."""
    return [_sequence(experiment, single[experiment.figure], headline) for experiment in EXPERIMENTS]


@style.house()
def _sequence(experiment: Experiment, result: Result, headline: Ensemble) -> Illustration:
    figure, (top, middle, bottom) = style.figure(3, height=6.2, ratios=[3, 1, 1])
    colour = style.look("packet-pair" if experiment.is_packet_pair else "reno").colour
    packets = pl.DataFrame(result.packets).with_columns(pl.col("event", "kind").cast(pl.String))
    plot.sequence(top, packets, colour, experiment.label)
    top.set_ylabel("sequence number (segments)")
    top.set_title(f"Figure {experiment.figure}: {experiment.label}")
    top.legend(loc="upper left")
    flows, links = pl.DataFrame(result.flows), pl.DataFrame(result.links)
    segment = float(packets["payload_bytes"].max() or 1)  # type: ignore[arg-type]
    middle.plot(flows["time_s"], flows["cwnd_bytes"] / segment, color=colour)
    middle.set_ylabel("cwnd\n(segments)")
    queue = links.filter(pl.col("link").cast(pl.String) == BOTTLENECK)
    bottom.plot(queue["time_s"], queue["queue_packets"], color="#444444", linewidth=0.8)
    bottom.set_ylabel("queue\n(packets)")
    bottom.set_xlabel("time (s)")
    for axes in (top, middle, bottom):
        axes.set_xlim(0, experiment.seconds)
        axes.set_ylim(bottom=0)
    counts = headline.count(experiment.figure)
    caption = (
        f"From time 0: {segments_sent(result, experiment.seconds)} segments in {experiment.seconds} s; printed: "
        f"{PRINTED_COUNTS[experiment.figure]}; mean over random starts: {counts.sum() / len(counts):.0f}. "
        "Below, the congestion window and the queue of the bottleneck."
    )
    return Illustration(f"Figure {experiment.figure}, {experiment.label}", caption, figure)


#: The ladder of figure 5 is drawn up to this time.
LADDER_S = 1.02


@style.house()
def ladder(found: Events) -> Illustration:
    """Return figure 5: packets as lines between sender and receiver, time downwards."""
    figure, (axes,) = style.figure(height=7.0)
    sent = found.packets.filter(pl.col("event") == "send")
    arrived = found.packets.filter(pl.col("event") == "deliver").select("packet", arrival="time_s")
    for row in sent.join(arrived, on="packet", how="left").sort("time_s").iter_rows(named=True):
        if row["time_s"] <= LADDER_S and row["arrival"] is not None:
            _packet(axes, row, found)
    for time in found.pairs:
        _mark(axes, time, "o", "pair")
    for time in found.shaped:
        _mark(axes, time, "s", "shaped")
    axes.set_xlim(-0.35, 1.35)
    axes.set_ylim(LADDER_S, -0.02)
    axes.set_xticks([0, 1], ["sender", "receiver"])
    axes.set_ylabel("time (s)")
    axes.grid(visible=False)
    axes.axvline(0, color="black", linewidth=1)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_title("Figure 5: the modified slow start")
    caption = (
        "Time runs downwards. Solid: data; dashed: acknowledgements, with the interval reported in ticks. "
        "Circled: pairs; squared: segments from the leaky bucket. A line begins when a packet is handed to the link "
        "and ends when its last bit has arrived."
    )
    return Illustration("Figure 5, the modified slow start", caption, figure)


def _packet(axes: Axes, row: dict[str, object], found: Events) -> None:
    time, arrival, interval = float(str(row["time_s"])), float(str(row["arrival"])), row["interval"]
    if row["kind"] == "data":
        axes.plot([0, 1], [time, arrival], "-", color=style.look("packet-pair").colour, linewidth=0.9)
        return
    axes.plot([1, 0], [time, arrival], "--", color=style.look("reno").colour, linewidth=0.9)
    delayed = any(abs(time - other) < 1e-9 for other in found.delayed_acks)
    note = "delayed ACK" if delayed else ("" if interval is None else f"T = {interval}")
    axes.annotate(f"{time:.3f} {note}", (1.02, time), fontsize=7, va="center")


def _mark(axes: Axes, time: float, marker: str, what: str) -> None:
    if time > LADDER_S:
        return
    axes.plot([0], [time], marker, color="black", fillstyle="none", markersize=10, clip_on=False)
    axes.annotate(f"{what} {time:.3f}", (-0.05, time), fontsize=7, va="center", ha="right")
