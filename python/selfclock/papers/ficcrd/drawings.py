"""Figures 3 to 6 as drawings, with the printed values as marks."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration
from selfclock.papers.drawing import COLOURS, PRINTED_LINE, bars, levels
from selfclock.papers.ficcrd.mechanisms import ALL, SEND_DELAY_MS
from selfclock.papers.ficcrd.network import BUFFER_PACKETS, FLOWS, MEASURED_S, RATE_MBPS, SECONDS, TARGET_PACKETS
from selfclock.papers.ficcrd.readings import NEAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.figure import Panel
    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Drawn, Reading

#: Two panels, each with tail drop: RD packets by number alone, and timed ones beside them.
_PANELS = [("an RD packet for 32", [0, 1, 3]), ("timed RD packets, too", [0, 2, 4])]

#: The enlarged part of figure 4, s.
DETAIL_S = (100.0, 120.0)


def _short(mechanism: Mechanism) -> str:
    return mechanism.label.split(",")[0]


def _bars(panel: Panel, chosen: Sequence[int], values: Sequence[Sequence[float]]) -> None:
    bars(panel, {_short(ALL[number]): (ALL[number].colour, values[number]) for number in chosen})
    panel.x.name(*map(str, range(FLOWS)))


def figure_3(shown: Sequence[Drawn]) -> Illustration:
    """Draw the goodput of each flow."""
    figure = Figure(2, x="flow", y="goodput / (C/N)", height=5.0)
    values = [[rate / (RATE_MBPS / FLOWS) for rate in one.goodputs] for one in shown]
    for panel, (title, chosen) in zip(figure.column, _PANELS, strict=True):
        _bars(panel, chosen, values)
        panel.rule("y", 1, label="printed: equal shares, C/N", **PRINTED_LINE)
        panel.title = f"Goodput of each flow, 50 to 200 s; {title}"
    caption = (
        "C/N is 1 Mbit/s; the paper normalises by 0.15 Mbit/s, see fair-share. Flow 0 has 120 ms of round-trip time, "
        "the others 48 ms."
    )
    return Illustration("Figure 3, goodput", caption, figure, id="figure-3")


def figure_4(shown: Sequence[Drawn], scale: float) -> list[Illustration]:
    """Draw the sequence numbers of all flows, and twenty seconds of three."""
    figure = Figure(len(ALL), x="time (s)", y="segments sent", height=9.0)
    for panel, mechanism, one in zip(figure.column, ALL, shown, strict=True):
        for flow, (times, sent) in reversed(list(enumerate(one.sent))):
            if flow == 0:
                panel.line(times[::10], sent[::10], dash="--", label="flow 0, 120 ms")
            else:
                panel.line(times[::10], sent[::10], colour=COLOURS[0], width=0.7, label="flows 1 to 9, 48 ms")
        panel.title = mechanism.label
    whole = Illustration(
        "Figure 4, sequence numbers", "All flows over the whole run, retransmissions included.", figure, id="figure-4"
    )
    begin, end = (moment * scale for moment in DETAIL_S)
    figure = Figure(2, x="time (s)", y=f"segments since {begin:g} s", height=5.0)
    for panel, (title, chosen) in zip(figure.column, _PANELS, strict=True):
        for number in chosen:
            for flow, dash in zip(range(3), style.LINE_STYLES, strict=False):
                times, sent = shown[number].sent[flow]
                pairs = [(time, count) for time, count in zip(times, sent, strict=True) if begin <= time <= end]
                base = pairs[0][1]
                panel.line(
                    [time for time, _ in pairs],
                    [count - base for _, count in pairs],
                    dash=dash,
                    colour=ALL[number].colour,
                    label=f"{_short(ALL[number])}, flow {flow}",
                )
        panel.title = title
    caption = "The steeper and straighter a line, the faster and the more regular its flow."
    return [whole, Illustration("Figure 4, a closer look", caption, figure, id="figure-4-detail")]


def figure_5(shown: Sequence[Drawn], scale: float) -> Illustration:
    """Draw the queue over time."""
    figure = Figure(2, x="time (s)", y="packets waiting", height=5.0)
    for panel, (title, chosen) in zip(figure.column, _PANELS, strict=True):
        panel.span(
            "y",
            NEAR[0] * TARGET_PACKETS,
            NEAR[1] * TARGET_PACKETS,
            colour=BLACK,
            opacity=0.08,
            label="our criterion: within a fifth",
        )
        for number in chosen:
            times, packets = shown[number].queue
            panel.line(times[::4], packets[::4], colour=ALL[number].colour, width=0.7, label=_short(ALL[number]))
        panel.rule("y", TARGET_PACKETS, label="printed: target Q0", **PRINTED_LINE)
        panel.rule("y", BUFFER_PACKETS, label="printed: buffer", **{**PRINTED_LINE, "dash": "--"})
        panel.rule("x", MEASURED_S[0] * scale, label="printed: goodput from here on", **{**PRINTED_LINE, "dash": "-"})
        panel.title = f"Queue at the bottleneck; {title}"
        panel.y.low, panel.y.high, panel.x.low, panel.x.high = 0.0, 330.0, 0.0, SECONDS * scale
    caption = f"Q0 = {TARGET_PACKETS} of {BUFFER_PACKETS} packets. All sources start at once."
    return Illustration("Figure 5, queue", caption, figure, id="figure-5")


def random_queue(seeds: Sequence[Sequence[Reading]]) -> Illustration:
    """Draw the mean queue of every seed."""
    figure = Figure(
        title=f"Mean queue, 50 to 200 s, ten seeds with random send delays below {SEND_DELAY_MS:g} ms",
        y="mean queue (packets)",
    )
    panel = figure.panel
    means = [[one.queue_mean for one in readings] for readings in seeds]
    for place, own in enumerate(means):
        offsets = [place + (number - (len(own) - 1) / 2) * 0.05 for number in range(len(own))]
        panel.points(offsets, own, colour=COLOURS[0], label="a seed")
    levels(panel, list(map(statistics.median, means)), 0.6, "median", COLOURS[4])
    panel.rule("y", TARGET_PACKETS, label="printed: target Q0", **PRINTED_LINE)
    name_mechanisms(panel)
    panel.y.low, panel.y.high = 0.0, 220.0
    caption = (
        "With RD packets by number, window adaptation stays where the start-up left it: windows of whole segments that "
        "are below seven cannot grow by a factor of 1.15."
    )
    return Illustration("Figure 5 with random send delays", caption, figure, id="figure-5-random")


def name_mechanisms(panel: Panel) -> None:
    """Write the names of all mechanisms at the x axis."""
    panel.x.name(*(one.label.replace(", ", "\n").replace("RD packets ", "") for one in ALL))


def figure_6(shown: Sequence[Drawn]) -> Illustration:
    """Draw the drops of each flow."""
    figure = Figure(2, x="flow", y="data packets dropped", height=5.0)
    for panel, (title, chosen) in zip(figure.column, _PANELS, strict=True):
        _bars(panel, chosen, [one.by_flow for one in shown])
        # Crosses at zero need room.
        panel.y.low = None
        panel.points(range(FLOWS), [0] * FLOWS, marker="x", label="printed: none with FICCRD")
        panel.title = f"Drops of each flow, 0 to 200 s; {title}"
    caption = "All of the run, start included."
    return Illustration("Figure 6, drops", caption, figure, id="figure-6")
