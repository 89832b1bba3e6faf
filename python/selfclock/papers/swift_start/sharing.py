"""Cases that the paper does not test: simultaneous starts, cross traffic, small buffers, a misbehaving receiver."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.swift_start.network import (
    BY_LABEL,
    MODERN,
    QUICK_START,
    Start,
    completion_s,
    flow,
    scenario,
)
from selfclock.series import all_flows, between, link_series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.flow import Flow

RATE_MBPS, RTT_MS, WINDOW = 50.0, 100.0, "cubic"

#: The original Swift Start needs an ACK for every segment; here it gets them, with alpha = 1 and
#: with its own 8.
_EVERY = {"delayed_ack": "off"}
_ALPHA_1 = Start("Swift Start, alpha 1", "swift-start", {"start": "swift-start", "swift_alpha": 1.0})
STARTS = [
    *(BY_LABEL[label] for label in ("IW10 slow start", "HyStart++", "Swift Start")),
    _ALPHA_1,
    *(BY_LABEL[label] for label in ("modified Swift Start", "Quick-Start", "BBR's Startup")),
]


def _flow(start: Start, size: str | None = None, **more: float) -> Flow:
    made = flow(start, WINDOW, size, **more)
    return replace(made, transport=_EVERY) if start.look == "swift-start" else made


def _scenario(name: str, flows: Sequence[Flow], *, seconds: float, buffer: str = "1 bdp", **more: float) -> Scenario:
    load, reverse_load = more.get("load", 0.0), more.get("reverse_load", 0.0)
    # The BDP of the queue is that of the TCP flows' longest path, which all share.
    return scenario(name, RATE_MBPS, RTT_MS, flows, seconds=seconds, buffer=buffer, transport=MODERN,
                    routers=(QUICK_START,), load=load, reverse_load=reverse_load, samples="100 ms")  # fmt: skip


# --- n that start together
# ----------------------------------------------------------------------------------------

COUNTS = (1, 2, 4, 8, 16, 32)
TOGETHER_S, EARLY_S, FAIR = 30.0, 3.0, 0.9


@dataclass(frozen=True)
class Together:
    """Results of several transfers that start together."""

    #: Fraction of the packets of the first seconds that was dropped.
    loss: float
    #: First time at which Jain's index over one second was 0.9.
    fair_s: float | None


def _together(result: Result, count: int) -> Together:
    early = between(link_series(result), 0.0, EARLY_S)
    drops, carried = float(early["drops"].max() or 0), float(early["bytes"].max() or 0) / 1500  # type: ignore[arg-type]
    loss = drops / (drops + carried) if drops + carried else 0.0
    wide = all_flows(result).pivot("flow", index="time_s", values="acknowledged_bytes").sort("time_s")
    # Sums over ten samples, one second.
    gains = wide.select((pl.exclude("time_s") - pl.exclude("time_s").shift(10)).cast(pl.Float64))
    total, squares = gains.sum_horizontal(), gains.select(pl.all() ** 2).sum_horizontal()
    jain = (total**2 / (count * squares)).fill_nan(0.0).fill_null(0.0)
    reached = wide["time_s"].filter((jain >= FAIR) & (wide["time_s"] >= 1.0))
    return Together(loss, float(reached[0]) if len(reached) else None)


# --- one of them on a busy path
# -----------------------------------------------------------------------------------

LOADS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95)
BUFFERS = (0.05, 0.1, 0.25, 0.5, 1.0)
REVERSE_LOADS = (0.0, 0.5, 0.9)
SIZE = "1 MB"
#: The transfer starts at this time, in established traffic.
BEGIN_S = 1.0


def _cross(start: Start, load: float) -> Scenario:
    return _scenario(f"cross {load:g}: {start.label}", [_flow(start, SIZE, start_s=BEGIN_S)], seconds=16, load=load)


def _buffer(start: Start, buffer: float) -> Scenario:
    return _scenario(f"buffer {buffer:g}: {start.label}", [_flow(start, "10 MB")], seconds=40, buffer=f"{buffer:g} bdp")


def _reverse(start: Start, load: float) -> Scenario:
    flows = [_flow(start, SIZE, start_s=BEGIN_S)]
    return _scenario(f"reverse {load:g}: {start.label}", flows, seconds=16, reverse_load=load)


# --- a receiver that lies
# -----------------------------------------------------------------------------------------

LIE = 0.1
_LIES = {"misbehaviour": {"interval_factor": LIE}}
_MODIFIED = {"start": "modified-swift-start"}
LIARS = [
    Start("honest", "modified-swift-start", _MODIFIED),
    Start("reports a tenth", "modified-swift-start", _MODIFIED, transport=_LIES),
    Start("reports a tenth, no bound", "modified-swift-start", {**_MODIFIED, "jump_bound": "none"}, transport=_LIES),
    BY_LABEL["IW10 slow start"],
]
LIAR_BUFFERS = (0.25, 1.0)


def _liar(liar: Start, buffer: float) -> Scenario:
    return _scenario(f"{liar.label}, {buffer:g} bdp", [_flow(liar, "10 MB")], seconds=40, buffer=f"{buffer:g} bdp")


_TABLES: list[tuple[str, Callable[[Start, float], Scenario], Sequence[float], Sequence[Start]]] = [
    ("load", _cross, LOADS, STARTS),
    ("buffer", _buffer, BUFFERS, STARTS),
    ("reverse", _reverse, REVERSE_LOADS, STARTS),
    ("liar", _liar, LIAR_BUFFERS, LIARS),
]


def scenarios() -> list[Scenario]:
    """Return every run."""
    together = [
        _scenario(
            f"{count} together: {start.label}", [_flow(start, jitter_s=0.01) for _ in range(count)], seconds=TOGETHER_S
        )
        for start in STARTS
        for count in COUNTS
    ]
    return together + [
        make(start, value) for _, make, values, starts in _TABLES for start in starts for value in values
    ]


def findings(results: Sequence[Result]) -> tuple[list[Illustration], list[Table]]:
    """Tabulate and draw."""
    rest = iter(results)
    together = {start.label: [_together(next(rest), count) for count in COUNTS] for start in STARTS}
    cells = {
        table: {start.label: [_transfer(next(rest)) for _ in values] for start in starts}
        for table, _, values, starts in _TABLES
    }
    about = f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, CUBIC follows"
    form = "Seconds, and retransmitted segments"
    grids = [
        Table("Starting together: loss", f"{about}, queue of one bandwidth-delay product, starts within 10 ms. "
                                        f"Part of the packets of "
             f"the first {EARLY_S:g} s that was dropped. Swift Start gets an acknowledgement for every segment.",
             ["start", *map(str, COUNTS)],
             [[label, *(f"{100 * one.loss:.1f} %" for one in found)] for label, found in together.items()]),
        Table("Starting together: time to fair shares", f"End of the first second over which Jain's index of "
                                                       f"what was acknowledged is {FAIR:g}; runs of "
                                                       f"{TOGETHER_S:g} s.",
             ["start", *map(str, COUNTS)],
             [[label, *("later" if one.fair_s is None else f"{one.fair_s:.1f} s" for one in found)]
              for label, found in together.items()]),
        Table("Cross traffic", f"{about}. Transfer of {SIZE} beside a Poisson stream that takes a part of the "
                              f"link. {form}.",
             ["start", *(f"{load:.0%}" for load in LOADS)], _rows(cells["load"])),
        Table("Small buffers", f"{about}. Transfer of 10 MB alone; queue in bandwidth-delay products. {form}.",
             ["start", *(f"{buffer:g}" for buffer in BUFFERS)], _rows(cells["buffer"])),
        Table("A busy way of the acknowledgements", f"{about}. Transfer of {SIZE}; a Poisson stream takes a part "
                                                   f"of the reverse link. "
             f"{form}.", ["start", *(f"{load:.0%}" for load in REVERSE_LOADS)], _rows(cells["reverse"])),
        Table("A receiver that reports a tenth of the interval", f"{about}. Transfer of 10 MB by modified Swift "
                                                                f"Start, alone; queue in "
             f"bandwidth-delay products. {form}.",
             ["receiver", *(f"{buffer:g}" for buffer in LIAR_BUFFERS)], _rows(cells["liar"])),
    ]  # fmt: skip
    return [_together_figure(together)], grids


def _transfer(result: Result) -> tuple[float | None, int]:
    return completion_s(result), result.summary["flows"][0]["retransmitted_segments"]


def _rows(found: dict[str, list[tuple[float | None, int]]]) -> list[list[str]]:
    return [
        [label, *("not complete" if time is None else f"{time:.2f} ({again})" for time, again in cells)]
        for label, cells in found.items()
    ]


def _together_figure(together: dict[str, list[Together]]) -> Illustration:
    figure = Figure(2, x="flows that start together", height=5.0)
    top, bottom = figure.column
    for start in STARTS:
        look, found = style.look(start.look), together[start.label]
        own: dict[str, Any] = {"dash": "--" if start is _ALPHA_1 else look.line, "marker": look.marker,
                               "colour": look.colour, "label": start.label}  # fmt: skip
        top.line(COUNTS, [100 * one.loss for one in found], **own)
        if any(one.fair_s is not None for one in found):
            bottom.line(COUNTS, [math.nan if one.fair_s is None else one.fair_s for one in found], **own)
    for panel in figure.column:
        panel.x.log, panel.x.names, panel.y.low = True, {count: str(count) for count in COUNTS}, 0.0
    top.y.label, bottom.y.label = "packets lost (%)", "fair shares after (s)"
    top.title = f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms: flows that start within 10 ms"
    return Illustration(
        id="together",
        scenarios=tuple(run.name for run in scenarios()[: len(STARTS) * len(COUNTS)]),
        title="Starting together",
        caption=f"Loss over the first {EARLY_S:g} s, and when Jain's index over a second first is {FAIR:g}; no "
        f"marker: not within {TOGETHER_S:g} s.",
        figure=figure,
    )
