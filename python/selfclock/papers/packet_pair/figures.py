"""The paper's sequence plots, and elements that several of them share."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.drawing import COLOURS, PRINTED_LINE, bars, quartiles
from selfclock.papers.packet_pair import ambiguities
from selfclock.papers.packet_pair.behaviour import AGGREGATED, aggregated_name
from selfclock.papers.packet_pair.claims import PRINTED_COUNTS
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.papers.packet_pair.ensemble import (
    DEFAULT,
    EXPERIMENTS,
    FROM_TIME_0,
    HEADLINE,
    READ,
    Experiment,
    Run,
    Under,
    names,
    scenario_name,
    segments_sent,
)
from selfclock.papers.packet_pair.spread import RUNS, Spread
from selfclock.sequence import sequence
from selfclock.series import all_flows, link_series, packet_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.figure import Dash, Panel
    from selfclock.paper_runs import Runs
    from selfclock.result import Result

BOTTLENECK = "bottleneck"

#: Segments of a bin of a histogram.
BIN = 20

_USUAL = (DEFAULT.pairs, DEFAULT.unanswered, DEFAULT.shaped, DEFAULT.thinned)

#: Those of the histograms: one pair with every randomness, and a pair with every two segments.
_SHOWN = [
    *(under for under in READ if (under.pairs, under.unanswered, under.shaped, under.thinned) == _USUAL),
    Under(pairs=ambiguities.EVERY),
]

#: Points of a band over the runs.
_STEPS = 200

_EXPERIMENTS = {experiment.figure: experiment for experiment in EXPERIMENTS}

#: Colours and lines of the figures of each network.
_LOOKS: dict[int, tuple[str, Dash]] = {
    8: ("reno", "-"),
    9: ("packet-pair", "-"),
    11: ("reno", "-"),
    12: ("packet-pair", "-"),
    13: ("cubic", "--"),
}


def sequences(single: Mapping[int, Result], courses: Mapping[int, Sequence[Run]]) -> list[Illustration]:
    """Return figures 8, 9, 11, 12 and 13, each with window and queue below."""
    return [_sequence(experiment, single[experiment.figure], courses[experiment.figure]) for experiment in EXPERIMENTS]


def _sequence(experiment: Experiment, result: Result, runs: Sequence[Run]) -> Illustration:
    figure = Figure(3, x="time (s)", height=6.6, ratios=[3, 1, 1])
    top, middle, bottom = figure.column
    colour = style.look("packet-pair" if experiment.is_packet_pair else "reno").colour
    packets = packet_record(result)
    _band(top, runs, experiment.seconds, colour, "random delay")
    sequence(top, packets, colour, "from time 0")
    _printed(top, experiment)
    top.y.label = "sequence number (segments)"
    top.title = f"Figure {experiment.figure}: {experiment.label}"
    flows = all_flows(result)
    segment = float(packets["payload_bytes"].max() or 1)  # type: ignore[arg-type]
    middle.line(flows["time_s"], flows["cwnd_bytes"] / segment, colour=colour)
    middle.y.label = "cwnd\n(segments)"
    queue = link_series(result, BOTTLENECK)
    bottom.line(queue["time_s"], queue["queue_packets"], colour="#444444", width=0.8)
    bottom.y.label = "queue\n(packets)"
    for panel in figure.column:
        panel.x.low, panel.x.high, panel.y.low = 0.0, experiment.seconds * 1.02, 0.0
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


def _band(panel: Panel, runs: Sequence[Run], seconds: float, colour: str, label: str, dash: Dash = "-") -> None:
    """Draw the median and quartiles over time of the segments sent."""
    times = [seconds * step / _STEPS for step in range(_STEPS + 1)]
    spreads = [Spread.of(bisect_right(run.sent, time) for run in runs) for time in times]
    low, middle, high = ([spread.quantile(share) for spread in spreads] for share in (0.25, 0.5, 0.75))
    quartiles(panel, times, low, middle, high, label, colour, dash)


def _printed(panel: Panel, experiment: Experiment) -> None:
    number = PRINTED_COUNTS[experiment.figure]
    panel.points([experiment.seconds], [number], marker="*", size=11, label="printed")
    panel.text(experiment.seconds, number, f"{number}", shift=(-7, 4), horizontal="right", vertical="bottom")


def comparisons(courses: Mapping[int, Sequence[Run]]) -> list[Illustration]:
    """Return the sequence numbers on each network in one figure."""
    return [
        _comparison("comparison-symmetric", "Figures 8 and 9 together", (8, 9), courses),
        _comparison("comparison-asymmetric", "Figures 11, 12 and 13 together", (11, 12, 13), courses),
    ]


def _comparison(
    identifier: str, title: str, numbers: Sequence[int], courses: Mapping[int, Sequence[Run]]
) -> Illustration:
    figure = Figure(title=title, x="time (s)", y="sequence number (segments)", height=3.8)
    for number in numbers:
        experiment = _EXPERIMENTS[number]
        look, dash = _LOOKS[number]
        _band(figure.panel, courses[number], experiment.seconds, style.look(look).colour, experiment.label, dash)
    for number in numbers:
        _printed(figure.panel, _EXPERIMENTS[number])
    figure.panel.x.low, figure.panel.x.high = 0.0, _EXPERIMENTS[numbers[0]].seconds * 1.02
    figure.panel.y.low = 0.0
    caption = (
        f"Segments sent in {RUNS} runs with a random delay of every packet: medians and quartiles. Stars: the printed "
        "counts."
    )
    return Illustration(title, caption, figure, id=identifier, scenarios=names(HEADLINE, *numbers))


def histograms(courses: Mapping[Under, Mapping[int, Sequence[Run]]]) -> Illustration:
    """Return how often each number of segments was sent, under the readings that decide most."""
    courses = {under: courses[under] for under in _SHOWN}
    figure = Figure(len(EXPERIMENTS), y="runs", x="segments sent in the figure's time", height=9.0)
    colours = dict(zip(courses, COLOURS, strict=False))
    names_of = {one.id: one.name for each in CLAIMS.ambiguities for one in each.readings}
    for panel, experiment in zip(figure.column, EXPERIMENTS, strict=True):
        counts = {reading: [len(run.sent) for run in own[experiment.figure]] for reading, own in courses.items()}
        last = max(max(own) for own in counts.values()) // BIN + 1
        heights = {
            reading: [sum(count // BIN == number for count in own) for number in range(last)]
            for reading, own in counts.items()
        }
        series = {
            f"{names_of[under.pairs]}, {names_of[under.randomness]}": (colours[under], own)
            for under, own in heights.items()
        }
        bars(panel, series)
        panel.rule("x", PRINTED_COUNTS[experiment.figure] / BIN - 0.5, label="printed", **PRINTED_LINE)
        panel.x.names = {number: str(round((number + 0.5) * BIN)) for number in range(0, last, max(1, last // 8))}
        panel.title = f"Figure {experiment.figure}: {experiment.label}"
    caption = (
        f"Runs by segments sent, in bins of {BIN}, {RUNS} under each reading. A mean says little where there are two "
        "groups: a timeout more or less, and another one a second later."
    )
    runs = tuple(
        name for under in courses for name in names(READ[under], *(experiment.figure for experiment in EXPERIMENTS))
    )
    return Illustration("How often how many segments are sent", caption, figure, id="histograms", scenarios=runs)


def bursts(runs: Runs) -> Illustration:
    """Return the sizes of bursts with aggregated ACKs."""
    title = "Bursts where ACKs are aggregated"
    figure = Figure(title=title, x="segments that leave at one instant", y="share of the segments")
    names_of = {name: aggregated_name(DEFAULT, name) for name in AGGREGATED}
    counts = {
        name: Counter(len(list(group)) for run in runs.seeds(own) for _, group in groupby(run.sent))
        for name, own in names_of.items()
    }
    sizes = range(1, max(map(max, counts.values())) + 1)
    series = {}
    for (name, of), look in zip(counts.items(), ("reno", "cubic", "packet-pair"), strict=True):
        experiment = AGGREGATED[name]
        segments = sum(size * count for size, count in of.items())
        series[experiment.label] = (style.look(look).colour, [size * of[size] / segments for size in sizes])
    bars(figure.panel, series, first=1)
    figure.panel.x.names = {size: str(size) for size in sizes}
    caption = (
        f"New segments of {RUNS} runs of 20 s on figure 10's network, by the number that leave at the same instant. "
        "Pairs are the new TCP's probe; what is larger is a burst."
    )
    return Illustration(title, caption, figure, id="bursts", scenarios=tuple(names_of.values()))
