"""Every start with three windows on nine paths: completion times of short transfers relative to IW10 slow start."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.swift_start.network import (
    IW10,
    MODERN,
    QUICK_START,
    STARTS,
    completion_s,
    file_name,
    flow,
    scenario,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.paper_runs import Runs
    from selfclock.papers.swift_start.network import Start
    from selfclock.scenario import Scenario

WINDOWS = ("reno", "cubic", "altcp")
RATES_MBPS = (1.5, 50.0, 1000.0)
RTTS_MS = (20.0, 100.0, 500.0)
SIZES = ("100 kB", "1 MB", "10 MB")
_BYTES = {"100 kB": 1e5, "1 MB": 1e6, "10 MB": 1e7}

#: The queue is one BDP, and at least this many packets.
LEAST_QUEUE = 20

CELLS = [(rate, rtt, size) for rate in RATES_MBPS for rtt in RTTS_MS for size in SIZES]


Cell = tuple[float, float, str]


def _name(window: str, start: Start, cell: Cell) -> str:
    rate, rtt, size = cell
    return file_name(f"{window} {start.label} {rate:g} mbps {rtt:g} ms {size}")


def scenarios() -> list[Scenario]:
    """Return a run for every window, start and cell."""
    return [_run(window, start, cell) for window in WINDOWS for start in STARTS for cell in CELLS]


def _run(window: str, start: Start, cell: Cell) -> Scenario:
    rate, rtt, size = cell
    product = rate * 1e6 * rtt / 1e3 / 8 / 1500
    return scenario(
        _name(window, start, cell),
        rate,
        rtt,
        [flow(start, window, size)],
        # Twice the time at the link's rate, and forty round trips.
        seconds=4 * _BYTES[size] * 8 / rate / 1e6 + 60 * rtt / 1e3 + 5,
        buffer=f"{max(LEAST_QUEUE, math.ceil(product))} packets",
        transport=MODERN,
        routers=(QUICK_START,),
    )


def findings(runs: Runs) -> tuple[list[Illustration], list[Table]]:
    """Draw and tabulate the ratios."""
    figures, grids = [], []
    for window in WINDOWS:
        times = {
            start.label: {cell: completion_s(runs[_name(window, start, cell)]) for cell in CELLS} for start in STARTS
        }
        baseline = times[IW10.label]
        ratios = {label: {cell: _ratio(of[cell], baseline[cell]) for cell in CELLS} for label, of in times.items()}
        figures.append(_heat_map(window, ratios))
        grids.append(
            Table(
                f"Completion over that of IW10 slow start, then {window}",
                f"First column of figures: seconds with IW10 slow start. Queue: one bandwidth-delay product, "
                f"{LEAST_QUEUE} packets at least. All routers understand Quick-Start.",
                ["path and size", "IW10 (s)", *(start.label for start in STARTS[1:])],
                [
                    [
                        f"{rate:g} Mbit/s, {rtt:g} ms, {size}",
                        "none" if (base := baseline[rate, rtt, size]) is None else f"{base:.3f}",
                        *(_text(ratios[start.label][rate, rtt, size]) for start in STARTS[1:]),
                    ]
                    for rate, rtt, size in CELLS
                ],
            )
        )
    return figures, grids


def _ratio(own: float | None, base: float | None) -> float | None:
    return None if own is None or base is None else own / base


def _text(ratio: float | None) -> str:
    return "none" if ratio is None else f"{ratio:.2f}"


def _heat_map(window: str, ratios: Mapping[str, Mapping[Cell, float | None]]) -> Illustration:
    title = f"Completion time over that of IW10 slow start, then {window}"
    figure = Figure(title=title, height=5.6)
    panel, labels = figure.panel, [start.label for start in STARTS[1:]]
    rows = [[ratios[label][cell] for label in labels] for cell in CELLS]
    panel.cells(
        [[math.nan if ratio is None else math.log2(ratio) for ratio in row] for row in rows],
        low=-2,
        high=2,
        texts=[["-" if ratio is None else f"{ratio:.2f}" for ratio in row] for row in rows],
    )
    panel.x.name(*labels)
    panel.y.name(*(f"{rate:g} Mbit/s, {rtt:g} ms, {size}" for rate, rtt, size in CELLS))
    # The first row is at the top.
    panel.y.low, panel.y.high = len(CELLS) - 0.5, -0.5
    caption = (
        "Blue: sooner than slow start with an initial window of 10 segments; orange: later. Full colour: four times."
    )
    names = tuple(_name(window, start, cell) for start in STARTS for cell in CELLS)
    return Illustration(
        f"Short transfers by every start, then {window}", caption, figure, id=f"short-{window}", scenarios=names
    )
