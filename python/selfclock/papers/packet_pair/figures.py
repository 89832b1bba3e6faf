"""The paper's sequence plots, and what several of them compare."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from selfclock import plot, style
from selfclock.papers.packet_pair.behaviour import AGGREGATED
from selfclock.papers.packet_pair.claims import PRINTED_COUNTS
from selfclock.papers.packet_pair.ensemble import (
    EXPERIMENTS,
    FROM_TIME_0,
    HEADLINE,
    Experiment,
    Run,
    names,
    scenario_name,
    segments_sent,
)
from selfclock.papers.packet_pair.spread import RUNS, Spread
from selfclock.parts import Illustration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from selfclock.result import Result

BOTTLENECK = "bottleneck"

#: Points of a band over the runs.
_STEPS = 200

_EXPERIMENTS = {experiment.figure: experiment for experiment in EXPERIMENTS}

#: Figures of one network, in the colours and lines that tell them apart.
_LOOKS = {
    8: ("reno", "-"),
    9: ("packet-pair", "-"),
    11: ("reno", "-"),
    12: ("packet-pair", "-"),
    13: ("cubic", "--"),
}


def sequences(single: Mapping[int, Result], courses: Mapping[int, Sequence[Run]]) -> list[Illustration]:
    """Return figures 8, 9, 11, 12 and 13, each with window and queue below."""
    return [_sequence(experiment, single[experiment.figure], courses[experiment.figure]) for experiment in EXPERIMENTS]


@style.house()
def _sequence(experiment: Experiment, result: Result, runs: Sequence[Run]) -> Illustration:
    figure, (top, middle, bottom) = style.figure(3, height=6.6, ratios=[3, 1, 1])
    colour = style.look("packet-pair" if experiment.is_packet_pair else "reno").colour
    packets = pl.DataFrame(result.packets).with_columns(pl.col("event", "kind").cast(pl.String))
    _band(top, runs, experiment.seconds, colour, "random delay")
    plot.sequence(top, packets, colour, "from time 0")
    _printed(top, experiment)
    top.set_ylabel("sequence number (segments)")
    top.set_title(f"Figure {experiment.figure}: {experiment.label}")
    top.legend(loc="upper left")
    flows, links = pl.DataFrame(result.flows), pl.DataFrame(result.links)
    segment = float(packets["payload_bytes"].max() or 1)  # type: ignore[arg-type]
    middle.plot(flows["time_s"], flows["cwnd_bytes"] / segment, color=colour, label="cwnd, from time 0")
    middle.set_ylabel("cwnd\n(segments)")
    queue = links.filter(pl.col("link").cast(pl.String) == BOTTLENECK)
    bottom.plot(queue["time_s"], queue["queue_packets"], color="#444444", linewidth=0.8, label="queue, from time 0")
    bottom.set_ylabel("queue\n(packets)")
    bottom.set_xlabel("time (s)")
    for axes in (middle, bottom):
        axes.legend(loc="upper right")
    for axes in (top, middle, bottom):
        axes.set_xlim(0, experiment.seconds * 1.02)
        axes.set_ylim(bottom=0)
    counts = Spread.of(len(run.sent) for run in runs)
    number = experiment.figure
    caption = (
        f"Printed: {PRINTED_COUNTS[number]} segments in {experiment.seconds} s; mean of {RUNS} runs with a random "
        f"delay: {counts.mean:.0f}; from time 0: {segments_sent(result, experiment.seconds)}. Band: quartiles over "
        "the runs with a random delay; points: the run from time 0, its congestion window and the queue of the "
        "bottleneck below."
    )
    return Illustration(
        f"Figure {number}, {experiment.label}",
        caption,
        figure,
        id=f"figure-{number}",
        scenarios=(scenario_name(experiment, FROM_TIME_0), *names(HEADLINE, number)),
    )


def _band(axes: Axes, runs: Sequence[Run], seconds: float, colour: str, label: str, line: str = "-") -> None:
    """Draw median and quartiles of the segments sent until each time."""
    times = [seconds * step / _STEPS for step in range(_STEPS + 1)]
    spreads = [Spread.of(bisect_right(run.sent, time) for run in runs) for time in times]
    low, middle, high = ([spread.quantile(share) for spread in spreads] for share in (0.25, 0.5, 0.75))
    axes.fill_between(times, low, high, color=colour, alpha=0.2, linewidth=0, label=f"{label}: quartiles")
    axes.plot(times, middle, line, color=colour, linewidth=1.4, label=f"{label}: median")


def _printed(axes: Axes, experiment: Experiment, *, legend: bool = True) -> None:
    number = PRINTED_COUNTS[experiment.figure]
    axes.plot(
        [experiment.seconds],
        [number],
        "*",
        color="black",
        markersize=11,
        clip_on=False,
        zorder=5,
        label="printed" if legend else None,
    )
    axes.annotate(
        f"{number}", (experiment.seconds, number), xytext=(-7, 4), textcoords="offset points", fontsize=8, ha="right"
    )


def comparisons(courses: Mapping[int, Sequence[Run]]) -> list[Illustration]:
    """Return the sequence numbers on each network in one figure."""
    return [
        _comparison("comparison-symmetric", "Figures 8 and 9 together", (8, 9), courses),
        _comparison("comparison-asymmetric", "Figures 11, 12 and 13 together", (11, 12, 13), courses),
    ]


@style.house()
def _comparison(
    identifier: str, title: str, numbers: Sequence[int], courses: Mapping[int, Sequence[Run]]
) -> Illustration:
    figure, (axes,) = style.figure(height=3.8)
    for number in numbers:
        experiment = _EXPERIMENTS[number]
        look, line = _LOOKS[number]
        _band(axes, courses[number], experiment.seconds, style.look(look).colour, experiment.label, line)
    for number in numbers:
        _printed(axes, _EXPERIMENTS[number], legend=number == numbers[-1])
    seconds = _EXPERIMENTS[numbers[0]].seconds
    axes.set_xlim(0, seconds * 1.02)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("sequence number (segments)")
    axes.set_title(title)
    axes.legend(loc="upper left")
    caption = (
        f"Segments sent in {RUNS} runs with a random delay of every packet: medians and quartiles. Stars: the printed "
        "counts."
    )
    return Illustration(title, caption, figure, id=identifier, scenarios=names(HEADLINE, *numbers))


@style.house()
def bursts(with_aggregated: Sequence[Sequence[Run]]) -> Illustration:
    """Return in bursts of which size segments leave where ACKs are aggregated."""
    figure, (axes,) = style.figure(height=3.2)
    colours = [style.look(name).colour for name in ("reno", "cubic", "packet-pair")]
    width = 0.27
    largest = 1
    for place, (runs, colour) in enumerate(zip(with_aggregated, colours, strict=True)):
        sizes = [len(list(group)) for run in runs for _, group in groupby(run.sent)]
        largest = max(largest, *sizes)
        shares = {size: size * sizes.count(size) / sum(sizes) for size in sorted(set(sizes))}
        axes.bar(
            [size + (place - 1) * width for size in shares],
            list(shares.values()),
            width,
            color=colour,
            label=AGGREGATED[place][1].label,
        )
    axes.set_xlim(0.4, largest + 0.6)
    axes.set_xticks(range(1, largest + 1))
    axes.set_xlabel("segments that leave at one instant")
    axes.set_ylabel("share of the segments")
    axes.set_title("Bursts where ACKs are aggregated")
    axes.legend(loc="upper right")
    caption = (
        f"New segments of {RUNS} runs of 20 s on figure 10's network, by the number that leave at the same instant. "
        "Pairs are the new TCP's probe; what is larger is a burst."
    )
    scenarios = tuple(scenario_name(experiment, setting) for setting, experiment in AGGREGATED)
    return Illustration("Bursts where ACKs are aggregated", caption, figure, id="bursts", scenarios=scenarios)
