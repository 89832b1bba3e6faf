"""Figures 3 to 6 as drawings, with what is printed as marks."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from selfclock import style
from selfclock.papers.ficcrd.mechanisms import ALL, SEND_DELAY_MS
from selfclock.papers.ficcrd.network import BUFFER_PACKETS, FLOWS, MEASURED_S, RATE_MBPS, SECONDS, TARGET_PACKETS
from selfclock.papers.ficcrd.readings import NEAR
from selfclock.parts import Illustration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Drawn, Reading

#: Two panels, each with tail drop: RD packets by number as printed, and timed ones beside them.
_PANELS = [("RD packets by number, as printed", [0, 1, 3]), ("timed RD packets, too", [0, 2, 4])]

#: What is printed.
_MARK: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": ":"}

#: The part of figure 4 that is drawn larger, s.
DETAIL_S = (100.0, 120.0)


def _short(mechanism: Mechanism) -> str:
    return mechanism.label.split(",")[0]


def _bars(axes: Axes, chosen: Sequence[int], values: Sequence[Sequence[float]]) -> None:
    width = 0.8 / len(chosen)
    for place, number in enumerate(chosen):
        at = [flow + (place - 1) * width for flow in range(FLOWS)]
        axes.bar(at, list(values[number]), width, color=ALL[number].colour, label=_short(ALL[number]))
    axes.set_xticks(range(FLOWS), [str(flow) for flow in range(FLOWS)])
    # Room for the legend.
    axes.margins(y=0.45)


@style.house()
def figure_3(shown: Sequence[Drawn]) -> Illustration:
    """Draw the goodput of each flow."""
    figure, panels = style.figure(2, height=5.0)
    values = [[rate / (RATE_MBPS / FLOWS) for rate in one.goodputs] for one in shown]
    for axes, (title, chosen) in zip(panels, _PANELS, strict=True):
        _bars(axes, chosen, values)
        axes.axhline(1, label="printed: equal shares, C/N", **_MARK)
        axes.set_ylabel("goodput / (C/N)")
        axes.set_title(f"Goodput of each flow, 50 to 200 s; {title}")
        axes.legend(loc="upper right", ncols=2)
    panels[-1].set_xlabel("flow")
    caption = (
        "C/N is 1 Mbit/s; the paper normalises by 0.15 Mbit/s, see fair-share. Flow 0 has 120 ms of round-trip time, "
        "the others 48 ms."
    )
    return Illustration("Figure 3, goodput", caption, figure, id="figure-3")


@style.house()
def figure_4(shown: Sequence[Drawn], scale: float) -> list[Illustration]:
    """Draw the sequence numbers of all flows, and twenty seconds of three."""
    figure, panels = style.figure(len(ALL), height=9.0)
    for axes, mechanism, one in zip(panels, ALL, shown, strict=True):
        for flow, (times, sent) in reversed(list(enumerate(one.sent))):
            axes.plot(
                times[::10], sent[::10], "-" if flow else "--", color=mechanism.colour if flow else "black",
                linewidth=0.7 if flow else 1.2,
                label=None if flow > 1 else "flow 0, 120 ms" if flow == 0 else "flows 1 to 9, 48 ms",
            )  # fmt: skip
        axes.set_ylabel("segments sent")
        axes.set_title(mechanism.label)
        axes.legend(loc="upper left")
    panels[-1].set_xlabel("time (s)")
    whole = Illustration(
        "Figure 4, sequence numbers", "All flows over the whole run, retransmissions included.", figure, id="figure-4"
    )
    figure, panels = style.figure(2, height=5.0)
    begin, end = (moment * scale for moment in DETAIL_S)
    for axes, (title, chosen) in zip(panels, _PANELS, strict=True):
        for number in chosen:
            for flow, line in zip(range(3), style.LINE_STYLES, strict=False):
                times, sent = shown[number].sent[flow]
                pairs = [(time, count) for time, count in zip(times, sent, strict=True) if begin <= time <= end]
                base = pairs[0][1]
                axes.plot([time for time, _ in pairs], [count - base for _, count in pairs], line,
                          color=ALL[number].colour, label=f"{_short(ALL[number])}, flow {flow}")  # fmt: skip
        axes.set_ylabel(f"segments since {begin:g} s")
        axes.set_title(title)
        axes.legend(loc="upper left", fontsize=6)
    panels[-1].set_xlabel("time (s)")
    caption = "The steeper and straighter a line, the faster and the more regular its flow."
    return [whole, Illustration("Figure 4, a closer look", caption, figure, id="figure-4-detail")]


@style.house()
def figure_5(shown: Sequence[Drawn], scale: float) -> Illustration:
    """Draw the queue over time."""
    figure, panels = style.figure(2, height=5.0)
    for axes, (title, chosen) in zip(panels, _PANELS, strict=True):
        for number in chosen:
            times, packets = shown[number].queue
            axes.plot(times[::4], packets[::4], color=ALL[number].colour, linewidth=0.7, label=_short(ALL[number]))
        axes.axhspan(NEAR[0] * TARGET_PACKETS, NEAR[1] * TARGET_PACKETS, color="black", alpha=0.08,
                     label="our criterion: within a fifth")  # fmt: skip
        axes.axhline(TARGET_PACKETS, label="printed: target Q0", **_MARK)
        axes.axhline(BUFFER_PACKETS, label="printed: buffer", **{**_MARK, "linestyle": "--"})
        axes.axvline(MEASURED_S[0] * scale, color="black", linewidth=0.8, label="printed: goodput from here on")
        axes.set_ylabel("packets waiting")
        axes.set_ylim(0, 330)
        axes.set_xlim(0, SECONDS * scale)
        axes.set_title(f"Queue at the bottleneck; {title}")
        axes.legend(loc="upper right", ncols=3)
    panels[-1].set_xlabel("time (s)")
    caption = f"Q0 = {TARGET_PACKETS} of {BUFFER_PACKETS} packets. All sources start at once."
    return Illustration("Figure 5, queue", caption, figure, id="figure-5")


@style.house()
def random_queue(seeds: Sequence[Sequence[Reading]]) -> Illustration:
    """Draw the mean queue of every seed."""
    figure, (axes,) = style.figure()
    for place, (mechanism, readings) in enumerate(zip(ALL, seeds, strict=True)):
        means = [one.queue_mean for one in readings]
        offsets = [place + (number - (len(means) - 1) / 2) * 0.05 for number in range(len(means))]
        axes.plot(offsets, means, "o", color=mechanism.colour, label="a seed" if place == 0 else None)
        axes.plot([place - 0.3, place + 0.3], [statistics.median(means)] * 2, color=mechanism.colour,
                  label="median" if place == 0 else None)  # fmt: skip
    axes.axhline(TARGET_PACKETS, label="printed: target Q0", **_MARK)
    axes.set_xticks(range(len(ALL)), [one.label.replace(", ", "\n").replace("RD packets ", "") for one in ALL])
    axes.set_ylabel("mean queue (packets)")
    axes.set_ylim(0, 260)
    axes.set_title(f"Mean queue, 50 to 200 s, ten seeds with random send delays below {SEND_DELAY_MS:g} ms")
    axes.legend(loc="upper right", ncols=3)
    caption = (
        "With RD packets by number, window adaptation stays where the start-up left it: windows of whole segments that "
        "are below seven cannot grow by a factor of 1.15."
    )
    return Illustration("Figure 5 with random send delays", caption, figure, id="figure-5-random")


@style.house()
def figure_6(shown: Sequence[Drawn]) -> Illustration:
    """Draw the drops of each flow."""
    figure, panels = style.figure(2, height=5.0)
    for axes, (title, chosen) in zip(panels, _PANELS, strict=True):
        _bars(axes, chosen, [one.by_flow for one in shown])
        axes.plot(range(FLOWS), [0] * FLOWS, "x", color="black", label="printed: none with FICCRD", clip_on=False)
        axes.set_ylabel("data packets dropped")
        axes.set_title(f"Drops of each flow, 0 to 200 s; {title}")
        axes.legend(loc="upper right", ncols=2)
    panels[-1].set_xlabel("flow")
    caption = "All of the run, start included."
    return Illustration("Figure 6, drops", caption, figure, id="figure-6")
