"""The figures 6 and 7: six panels each, one for each mechanism."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import polars as pl

from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.drawing import along, dashes, label_sides
from selfclock.papers.inline_measurement.behaviour import SHORT_S, name_of
from selfclock.papers.inline_measurement.mechanisms import (
    BUFFERS,
    BYTES,
    CORRECTED,
    ESTIMATORS,
    MECHANISMS,
    PACKETS,
    PRINTED,
    PROPOSED,
    Buffer,
    Estimator,
    Mechanism,
)
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    FIGURE_7,
    PACKET_B,
    RATE_GBPS,
    SECONDS,
    limit_packets,
)
from selfclock.series import flow_series, link_series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.figure import Panel
    from selfclock.paper_runs import Runs
    from selfclock.result import Result

    Curve = tuple[Sequence[float], Sequence[float]]

_COLOURS = {
    CORRECTED.suffix + PACKETS.suffix: "#0072B2",
    CORRECTED.suffix + BYTES.suffix: "#E69F00",
    PRINTED.suffix + PACKETS.suffix: "#D55E00",
    PRINTED.suffix + BYTES.suffix: "#CC79A7",
}


def throughput(result: Result) -> Curve:
    """Return throughput over 1 s on the wire, Gbit/s."""
    series, step = flow_series(result), 10
    sent = series["acknowledged_bytes"].cast(pl.Float64).diff(step) * 8 * PACKET_B / 1460
    return series["time_s"].to_list(), (sent / series["time_s"].diff(step) / 1e9).to_list()


def window(result: Result) -> Curve:
    """Return the window, in thousands of packets."""
    series = flow_series(result)
    return series["time_s"].to_list(), (series["cwnd_bytes"].cast(pl.Float64) / 1.46e6).to_list()


def queue(result: Result) -> Curve:
    """Return the bottleneck's queue, in thousands of packets."""
    link = link_series(result)
    return link["time_s"].to_list(), (link["queue_packets"].cast(pl.Float64) / 1e3).to_list()


def available(time: float) -> float:
    """Return what UDP of figure 7 leaves, Gbit/s."""
    return next(free for begin, free in reversed(FIGURE_7) if time >= begin)


def changes(panel: Panel) -> None:
    """Mark the times at which UDP of figure 7 changes its rate."""
    for begin, _ in FIGURE_7[1:]:
        panel.rule("x", begin, colour="#999999", dash="--", width=0.6)


def findings(runs: Runs) -> list[Illustration]:
    """Draw figures 6 and 7, figure 6 without the threshold, and what was measured."""
    made = []
    for figure in (6, 7):
        for letter, what, curve, unit in (
            ("a", "throughput", throughput, "Gbit/s"),
            ("b", "window", window, "1000 packets"),
            ("c", "queue", queue, "1000 packets"),
        ):
            drawn, names = _panels(runs, figure, what, curve, unit)
            made.append(
                Illustration(
                    f"Figure {figure} ({letter}), {what}{'' if figure == 6 else ', beside UDP'}",
                    _caption(figure, letter),
                    drawn,
                    id=f"figure-{figure}{letter}",
                    scenarios=names,
                )
            )
    drawn, names = _panels(runs, 6, "throughput", throughput, "Gbit/s", threshold=False)
    made.append(
        Illustration(
            "Figure 6 without the threshold, throughput",
            "No initial ssthresh: slow start ends with a loss, or with a measurement. 20 s.",
            drawn,
            id="figure-6-no-threshold",
            scenarios=names,
        )
    )
    names = tuple(name_of(figure, PROPOSED, each) for figure in (6, 7) for each in ESTIMATORS)
    made.append(
        Illustration(
            "Measured K and A",
            "What the connection of figures 6 and 7 measured with ICIM corrected and as printed, beside the truth. "
            "Buffer in packets.",
            _estimates(runs),
            id="measured",
            scenarios=names,
        )
    )
    return made


def _caption(figure: int, letter: str) -> str:
    what = {
        "a": "Throughput over 1 s on the wire. Marks: what is available.",
        "b": "Window. Marks: the product, and for the proposed mechanism equation 14."
        if figure == 7
        else "Window. Marks: the bandwidth-delay product, to which the thesis says it is regulated.",
        "c": "Packets in the bottleneck's queue"
        + (", where small UDP packets count as large ones." if figure == 7 else ".")
        + " Marks: the buffer, 25000 full segments.",
    }[letter]
    dashed = " Dashed: UDP changes its rate." if figure == 7 else " Both readings of the buffer are one here."
    return f"{what}{dashed} Initial ssthresh at the product."


def _lines(mechanism: Mechanism, figure: int, *, threshold: bool) -> list[tuple[Estimator, Buffer]]:
    buffers = BUFFERS if figure == 7 and threshold else (PACKETS,)
    return [
        (each, buffer) for each in (ESTIMATORS if mechanism is PROPOSED else (CORRECTED,)) for buffer in buffers[::-1]
    ]


def _label(estimator: Estimator, buffer: Buffer, figure: int) -> str:
    if figure == 7:
        return f"{'ICIM as printed, ' if estimator is PRINTED else ''}buffer in {buffer.label}"
    return "ICIM as printed" if estimator is PRINTED else "ICIM corrected, and the others"


def _panels(
    runs: Runs, number: int, what: str, curve: Callable[[Result], Curve], unit: str, *, threshold: bool = True
) -> tuple[Figure, tuple[str, ...]]:
    figure = Figure(3, 2, height=6.6, same_y=True)
    label_sides(figure, "time (s)", f"{what}\n({unit})")
    names: list[str] = []
    for panel, mechanism in zip(itertools.chain(*figure.panels), MECHANISMS, strict=True):
        if number == 7:
            changes(panel)
        for estimator, buffer in _lines(mechanism, number, threshold=threshold):
            name = name_of(number, mechanism, estimator, buffer, threshold=threshold)
            names.append(name)
            panel.line(
                *curve(runs[name]),
                colour=_COLOURS[estimator.suffix + buffer.suffix],
                width=1.8 if buffer is BYTES else 0.8,
                label=_label(estimator, buffer, number),
            )
        marks, label = _marks(number, mechanism, curve, SECONDS if threshold else SHORT_S)
        dashes(panel, *marks, label)
        panel.title, panel.y.low = mechanism.label, 0.0
    return figure, tuple(names)


def _marks(figure: int, mechanism: Mechanism, curve: Callable[[Result], Curve], end_s: float) -> tuple[Curve, str]:
    """Return the thesis's expected values of a curve."""
    times = along(end_s)
    free = [available(time) if figure == 7 else RATE_GBPS for time in times]
    if curve is throughput:
        return (times, free), "printed: available"
    if curve is queue:
        return (times, [BDP_PACKETS / 1e3] * len(times)), "printed: buffer of 25000 packets"
    if mechanism is PROPOSED:
        return (times, [limit_packets(each) / 1e3 for each in free]), "printed: equation 14, or the product"
    return (times, [each / RATE_GBPS * BDP_PACKETS / 1e3 for each in free]), "printed: equation 14, or the product"


def _estimates(runs: Runs) -> Figure:
    figure = Figure(2, 2, height=4.8, same_scale=True)
    label_sides(figure, "time (s)", "K and A\n(Gbit/s)")
    for row, number in zip(figure.panels, (6, 7), strict=True):
        for panel, estimator in zip(row, ESTIMATORS, strict=True):
            series = flow_series(runs[name_of(number, PROPOSED, estimator)])
            times = series["time_s"].to_list()
            panel.line(times, series["capacity_bps"] / 1e9, colour="#D55E00", label="K measured")
            panel.line(times, series["available_bps"] / 1e9, colour="#0072B2", width=0.8, label="A measured")
            panel.line(times, [RATE_GBPS] * len(times), dash=":", width=1.0, label="K")
            free = [available(time) if number == 7 else RATE_GBPS for time in times]
            panel.line(times, free, dash="--", width=1.0, label="A")
            panel.title = f"Figure {number}, ICIM {estimator.label}"
            panel.y.low, panel.y.high = 0.0, 2 * RATE_GBPS
    return figure
