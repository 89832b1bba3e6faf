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
    file_name,
    flow,
    scenario,
)
from selfclock.series import all_flows, between, link_series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.paper_runs import Runs
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
    return scenario(
        name,
        RATE_MBPS,
        RTT_MS,
        flows,
        seconds=seconds,
        buffer=buffer,
        transport=MODERN,
        routers=(QUICK_START,),
        load=load,
        reverse_load=reverse_load,
        samples="100 ms",
    )


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


def _cross(name: str, start: Start, load: float) -> Scenario:
    return _scenario(name, [_flow(start, SIZE, start_s=BEGIN_S)], seconds=16, load=load)


def _buffer(name: str, start: Start, buffer: float) -> Scenario:
    return _scenario(name, [_flow(start, "10 MB")], seconds=40, buffer=f"{buffer:g} bdp")


def _reverse(name: str, start: Start, load: float) -> Scenario:
    return _scenario(name, [_flow(start, SIZE, start_s=BEGIN_S)], seconds=16, reverse_load=load)


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


ABOUT = f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, CUBIC follows"
FORM = "Seconds, and retransmitted segments"


@dataclass(frozen=True)
class Grid:
    """A transfer by every start under every value of one quantity."""

    title: str
    about: str
    #: Heading of the first column.
    heading: str
    #: Name of a run, with the fields `value` and `start`.
    name: str
    make: Callable[[str, Start, float], Scenario]
    values: Sequence[float]
    starts: Sequence[Start]
    #: Form of a value in the heading.
    form: str = "g"

    def run_name(self, start: Start, value: float) -> str:
        """Return the name of a run."""
        return file_name(self.name.format(value=f"{value:g}", start=start.label))

    def scenarios(self) -> list[Scenario]:
        """Return every run."""
        return [self.make(self.run_name(start, value), start, value) for start in self.starts for value in self.values]

    def table(self, runs: Runs) -> Table:
        """Return the transfer times."""
        rows = [
            [start.label, *(_transfer(runs[self.run_name(start, value)]) for value in self.values)]
            for start in self.starts
        ]
        columns = [self.heading, *(format(value, self.form) for value in self.values)]
        return Table(self.title, f"{ABOUT}. {self.about} {FORM}.", columns, rows)


GRIDS = [
    Grid(
        "Cross traffic",
        f"Transfer of {SIZE} beside a Poisson stream that takes a part of the link.",
        "start",
        "cross {value}: {start}",
        _cross,
        LOADS,
        STARTS,
        ".0%",
    ),
    Grid(
        "Small buffers",
        "Transfer of 10 MB alone; queue in bandwidth-delay products.",
        "start",
        "buffer {value}: {start}",
        _buffer,
        BUFFERS,
        STARTS,
    ),
    Grid(
        "A busy way of the acknowledgements",
        f"Transfer of {SIZE}; a Poisson stream takes a part of the reverse link.",
        "start",
        "reverse {value}: {start}",
        _reverse,
        REVERSE_LOADS,
        STARTS,
        ".0%",
    ),
    Grid(
        "A receiver that reports a tenth of the interval",
        "Transfer of 10 MB by modified Swift Start, alone; queue in bandwidth-delay products.",
        "receiver",
        "{start}, {value} bdp",
        _buffer,
        LIAR_BUFFERS,
        LIARS,
    ),
]


def _together_name(start: Start, count: int) -> str:
    return file_name(f"{count} together: {start.label}")


def scenarios() -> list[Scenario]:
    """Return every run."""
    together = [
        _scenario(_together_name(start, count), [_flow(start, jitter_s=0.01) for _ in range(count)], seconds=TOGETHER_S)
        for start in STARTS
        for count in COUNTS
    ]
    return [*together, *(run for grid in GRIDS for run in grid.scenarios())]


def findings(runs: Runs) -> tuple[list[Illustration], list[Table]]:
    """Tabulate and draw."""
    together = {
        start.label: [_together(runs[_together_name(start, count)], count) for count in COUNTS] for start in STARTS
    }
    loss = Table(
        "Starting together: loss",
        f"{ABOUT}, queue of one bandwidth-delay product, starts within 10 ms. Part of the packets of the first "
        f"{EARLY_S:g} s that was dropped. Swift Start gets an acknowledgement for every segment.",
        ["start", *map(str, COUNTS)],
        [[label, *(f"{100 * one.loss:.1f} %" for one in found)] for label, found in together.items()],
    )
    fair = Table(
        "Starting together: time to fair shares",
        f"End of the first second over which Jain's index of what was acknowledged is {FAIR:g}; runs of "
        f"{TOGETHER_S:g} s.",
        ["start", *map(str, COUNTS)],
        [
            [label, *("later" if one.fair_s is None else f"{one.fair_s:.1f} s" for one in found)]
            for label, found in together.items()
        ],
    )
    return [_together_figure(together)], [loss, fair, *(grid.table(runs) for grid in GRIDS)]


def _transfer(result: Result) -> str:
    time, again = completion_s(result), result.summary["flows"][0]["retransmitted_segments"]
    return "not complete" if time is None else f"{time:.2f} ({again})"


def _together_figure(together: dict[str, list[Together]]) -> Illustration:
    figure = Figure(2, x="flows that start together", height=5.0)
    top, bottom = figure.column
    for start in STARTS:
        look, found = style.look(start.look), together[start.label]
        own: dict[str, Any] = {
            "dash": "--" if start is _ALPHA_1 else look.line,
            "marker": look.marker,
            "colour": look.colour,
            "label": start.label,
        }
        top.line(COUNTS, [100 * one.loss for one in found], **own)
        if any(one.fair_s is not None for one in found):
            bottom.line(COUNTS, [math.nan if one.fair_s is None else one.fair_s for one in found], **own)
    for panel in figure.column:
        panel.x.log, panel.x.names, panel.y.low = True, {count: str(count) for count in COUNTS}, 0.0
    top.y.label, bottom.y.label = "packets lost (%)", "fair shares after (s)"
    top.title = f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms: flows that start within 10 ms"
    return Illustration(
        id="together",
        scenarios=tuple(_together_name(start, count) for start in STARTS for count in COUNTS),
        title="Starting together",
        caption=f"Loss over the first {EARLY_S:g} s, and when Jain's index over a second first is {FAIR:g}; no "
        f"marker: not within {TOGETHER_S:g} s.",
        figure=figure,
    )
