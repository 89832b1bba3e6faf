"""Figures 2 to 9 as drawings, with the points and times that the text names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.drawing import PRINTED_LINE
from selfclock.papers.swift_start.network import PACKET_B, SEGMENT_B
from selfclock.papers.swift_start.runs import RECEIVE_WINDOW_B

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.swift_start.runs import Found


@dataclass(frozen=True)
class _Drawing:
    """A figure of the paper: its transfers and its end time."""

    id: str
    figures: Sequence[str]
    title: str
    seconds: float
    #: Points named in the text, and the round trip at whose start each lies.
    points: Sequence[tuple[str, int]] = ()
    #: Unit of the sequence number, bytes.
    unit: tuple[str, float] = ("MB", 1e6)


_DRAWN = [
    _Drawing("figure-2", ["2"], "Figure 2: 49.5 Mbit/s, 470 ms, receive window 65535 B", 80.0),
    _Drawing("figure-3", ["2"], "Figure 3: its beginning", 4.0, [("A", 1)], ("kB", 1e3)),
    _Drawing(
        "figure-4",
        ["4", "4, RFC 2001"],
        "Figure 4: 1.544 Mbit/s, 348 ms",
        3.0,
        [("A", 2), ("B", 3), ("C", 5)],
        ("kB", 1e3),
    ),
    _Drawing(
        "figures-5-and-6", ["5"], "Figures 5 and 6: 49.5 Mbit/s, 274 ms, delayed acknowledgements", 3.0, (), ("kB", 1e3)
    ),
    _Drawing("figure-8", ["8"], "Figure 8: 49.5 Mbit/s, 274 ms, delayed acknowledgements", 6.5),
    _Drawing("figure-9-386-ms", ["9, 386 ms"], "Figure 9 by the text: 49.5 Mbit/s, 386 ms", 8.5),
    _Drawing("figure-9-486-ms", ["9, 486 ms"], "Figure 9 by its caption: 49.5 Mbit/s, 486 ms", 10.0),
]

#: Figures that show the same start twice.
_OTHERS = {"4, RFC 2001": "#56B4E9", "Swift Start, falling back": "#56B4E9"}


def illustrations(by: Found) -> list[Illustration]:
    """Draw every figure."""
    return [_illustration(by, drawing) for drawing in _DRAWN]


def _illustration(by: Found, of: _Drawing) -> Illustration:
    unit, size = of.unit
    figure = Figure(
        title=of.title, x="time since the first segment (s)", y=f"sequence number sent ({unit})", height=3.6
    )
    panel = figure.panel
    shown = [(key, one) for key, one in by.items() if key[0] in of.figures]
    # Lines covered by another come first, and are thicker.
    shown.sort(key=lambda each: each[0][0] not in _OTHERS and each[0][1] not in _OTHERS)
    for (name, label), one in shown:
        rows = one.sent.filter(one.sent["time_s"] <= of.seconds)
        # One in ten is enough of many points.
        rows = rows.gather_every(10 if len(rows) > 3000 else 1)
        colour = _OTHERS.get(name) or _OTHERS.get(label) or style.look(one.run.look).colour
        text = f"{label}, ssthresh of RFC 2001" if name == "4, RFC 2001" else label
        wide = 6.0 if name in _OTHERS or label in _OTHERS else 2.5
        panel.points(
            rows["time_s"], rows["segment"] * SEGMENT_B / size, marker=".", colour=colour, size=wide, label=text
        )
    run = shown[0][1].run
    marked = f"printed: {', '.join(f'point {name}' for name, _ in of.points)}"
    for name, number in of.points:
        at = (number - 1) * (run.rtt_ms / 1e3 + 8 * PACKET_B / run.rate_mbps / 1e6)
        panel.rule("x", at, label=marked, **PRINTED_LINE)
        panel.text(at, 0.45, f" {name}", frame="y-fraction", size=9)
    straight: dict[str, Any] = {**PRINTED_LINE, "dash": "--"}
    if of.figures == ["2"]:
        times = [0.0, of.seconds]
        panel.line(
            times,
            [RECEIVE_WINDOW_B * time / (run.rtt_ms / 1e3) / size for time in times],
            label="printed: RWND / RTT",
            **straight,
        )
    elif of.id.startswith(("figure-8", "figure-9")):
        begin, end = run.rtt_ms / 1e3, of.seconds
        panel.line(
            [begin, end],
            [0, (end - begin) * run.rate_mbps * 1e6 / 8 * SEGMENT_B / PACKET_B / size],
            label="printed: bottleneck rate",
            **straight,
        )
        panel.y.high = 17.0
    panel.y.low = 0.0
    return Illustration(
        of.title,
        "Every point is a segment that leaves the sender.",
        figure,
        id=of.id,
        scenarios=tuple(one.run.name for _, one in shown),
    )
