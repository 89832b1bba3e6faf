"""The columns of a twin on one time axis: window, rate, RTT of a flow, and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.figure import Figure

if TYPE_CHECKING:
    from selfclock.figure import Dash
    from selfclock.kernel.twin.run import Column, Twin

#: Colours and dashes of the columns, in order: those of Okabe and Ito, distinguishable with any
#: colour vision.
LOOKS: tuple[tuple[str, Dash], ...] = (("#000000", "-"), ("#D55E00", "-"), ("#0072B2", "--"), ("#009E73", "-."))

#: Bins of the rate: a two-hundredth of the run, and at least 0.1 s.
FEWEST_BINS, SHORTEST_BIN_S = 200, 0.1


def overlay(twin: Twin, flow: int) -> Figure:
    """Return window, rate, RTT and queue of a flow, one line per column."""
    figure = Figure(4, 1, width=7.0, height=7.6, same_x=True)
    window, rate, rtt, queue = figure.column
    window.y.label, rate.y.label = "window (segments)", "goodput (Mbit/s)"
    rtt.y.label, queue.y.label, queue.x.label = "smoothed RTT (ms)", "queue (packets)", "time (s)"
    bin_s = max(SHORTEST_BIN_S, twin.scenario.duration_s / FEWEST_BINS)
    for column, (colour, dash) in zip(twin.columns, LOOKS, strict=False):
        series = column.flows[flow]
        look = {"colour": colour, "dash": dash}
        window.line(series.time_s, series.window_segments, label=label(column, flow), **look)
        middles, goodput = series.rate(bin_s)
        rate.line(middles, goodput * 1e-6, **look)
        rtt.line(series.time_s, series.srtt_s * 1e3, **look)
        shown = (column.queue_time_s >= 0) & (column.queue_time_s <= twin.scenario.duration_s)
        queue.line(column.queue_time_s[shown], column.queue_packets[shown], **look)
    for panel in figure.column:
        panel.x.low, panel.x.high, panel.y.low = 0.0, twin.scenario.duration_s, 0.0
    return figure


def label(column: Column, flow: int) -> str:
    """Return the name of a column, with the algorithm of a flow."""
    return f"{column.title}: {column.controls[flow]}"
