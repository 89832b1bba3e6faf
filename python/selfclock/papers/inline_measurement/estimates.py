"""A and K as measured beside the truth: rates, loads, readings, and where the method fails."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from selfclock import style
from selfclock.dumbbell import to_toml
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.network import (
    COALESCING,
    SACK,
    Background,
    Flow,
    flow_series,
    scenario,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Grid, Illustration
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

RATES_GBPS = (0.1, 1.0, 5.0, 10.0)
LOADS = (0.2, 0.5, 0.8)
SECONDS, SKIPPED_S = 8.0, 3.0

#: ICIM as the thesis prints it, and step by step what makes it work here.
READINGS: dict[str, dict[str, object]] = {
    "as printed": {"span": 0, "reading": "edge", "within_interrupt": False},
    "long bursts": {"reading": "edge", "within_interrupt": False},
    "and the line": {"within_interrupt": False},
    "and the place in the interrupt": {},
}


@dataclass(frozen=True)
class Case:
    """A run with its truth, Gbit/s."""

    label: str
    available: float
    capacity: float
    scenario: Scenario
    notes: str = ""
    control: dict[str, object] = field(default_factory=dict)


def _case(
    label: str,
    rate: float,
    load: float,
    scale: float,
    *,
    arrivals: str = "constant",
    control: dict[str, object] | None = None,
    coalescing: str = COALESCING,
    transport: dict[str, object] | None = None,
    notes: str = "",
) -> Case:
    udp = Background(((0.0, rate * load),), arrivals) if load else None
    made = scenario(
        label.replace(" ", "-").replace("/", "-per-").replace(",", ""),
        [Flow(control or {"window": "lotka-volterra"})],
        seconds=SECONDS * scale,
        rate_gbps=rate,
        udp=udp,
        ssthresh=round(5000 * rate),
        coalescing=coalescing,
        transport=transport,
        samples_s=0.05 * scale,
    )
    return Case(label, rate * (1 - load), rate, made, notes)


def grid_cases(scale: float = 1.0) -> list[Case]:
    """Rates and loads, with constant and, up to 1 Gbit/s, with Poisson arrivals."""
    made = [_case(f"{rate:g} Gbit/s, load {load:.0%}", rate, load, scale) for rate in RATES_GBPS for load in LOADS]
    poisson = [
        _case(f"{rate:g} Gbit/s, load {load:.0%}, Poisson", rate, load, scale, arrivals="poisson")
        for rate in RATES_GBPS[:2]
        for load in LOADS
    ]
    return [*made, *poisson]


def reading_cases(scale: float = 1.0) -> list[Case]:
    """The readings, alone and beside UDP, at 1 Gbit/s."""
    return [
        _case(f"{name}, load {load:.0%}", 1.0, load, scale, control={"window": "lotka-volterra", **control})
        for name, control in READINGS.items()
        for load in (0.0, 0.5)
    ]


def failure_cases(scale: float = 1.0) -> list[Case]:
    """Paths on which an assumption of the method does not hold; and ImTCP, with and without coalescing."""
    imtcp: dict[str, object] = {"window": "reno", "estimate": "imtcp"}
    delayed: dict[str, object] = {"delayed_ack": {"every": 2, "timer": "40 ms"}}
    return [
        Case(
            "narrow link is not the tight one",
            0.4,
            0.8,
            _two_links("narrow-not-tight", (0.8, 0.0), (1.0, 0.6), scale),
            "800 Mbit/s idle, then 1 Gbit/s with 60 % load: K of the thesis is 0.8, of the tight link 1",
        ),
        Case(
            "two bottlenecks",
            0.5,
            1.0,
            _two_links("two-bottlenecks", (1.0, 0.5), (1.0, 0.5), scale),
            "two links of 1 Gbit/s, each with 50 % load of its own",
        ),
        _case("delayed ACK, every second", 1.0, 0.5, scale, transport=delayed),
        _case(
            "ACK of every eighth",
            1.0,
            0.5,
            scale,
            transport={"delayed_ack": {"every": 8, "timer": "40 ms"}},
            notes="a receiver that acknowledges every eighth segment stands for thinning",
        ),
        _case("no coalescing", 1.0, 0.5, scale, coalescing="0 s"),
        _case("coalescing 1 ms", 1.0, 0.5, scale, coalescing="1 ms"),
        _case(
            "ImTCP, 100 Mbit/s, no coalescing",
            0.1,
            0.5,
            scale,
            control=imtcp,
            coalescing="0 s",
            notes="Reno, queue standing",
        ),
        _case(
            "ImTCP, 1 Gbit/s, no coalescing",
            1.0,
            0.5,
            scale,
            control=imtcp,
            coalescing="0 s",
            notes="Reno, queue standing",
        ),
        _case("ImTCP, 1 Gbit/s, coalescing", 1.0, 0.5, scale, control=imtcp, notes="all of a stream comes at one time"),
    ]


def _two_links(name: str, first: tuple[float, float], second: tuple[float, float], scale: float) -> Scenario:
    """A path over two links, each with a rate and a load of its own."""
    links: list[dict[str, object]] = [
        {
            "from": "source",
            "to": "a",
            "rate": "4 Gbps",
            "delay": "5 ms",
            "queue": "unlimited",
            "coalescing": COALESCING,
        },
        {"from": "a", "to": "b", "rate": f"{first[0]:g} Gbps", "delay": "10 ms", "queue": "5000 packets"},
        {"from": "b", "to": "c", "rate": f"{second[0]:g} Gbps", "delay": "10 ms", "queue": "5000 packets"},
        {"from": "c", "to": "sink", "rate": "4 Gbps", "delay": "5 ms", "queue": "unlimited", "coalescing": COALESCING},
    ]
    flows: list[dict[str, object]] = [
        {"name": "flow1", "from": "source", "to": "sink", "congestion_control": {"window": "lotka-volterra"}}
    ]
    for number, (a, b, (rate, load)) in enumerate((("a", "b", first), ("b", "c", second)), 1):
        if load:
            traffic = {"rate": f"{rate * load * 1000:g} Mbps", "packet": "imix"}
            flows.append({"name": f"udp{number}", "from": a, "to": b, "protocol": "udp", "traffic": traffic})
    document = {
        "schema": 1,
        "name": name,
        "duration": f"{SECONDS * scale:g} s",
        "network": {"topology": "graph", "nodes": ["source", "a", "b", "c", "sink"], "link": links},
        "transport": {**SACK, "initial_ssthresh": "4000 segments"},
        "record": {"interval": f"{0.05 * scale:g} s"},
        "flow": flows,
    }
    return Scenario.parse(to_toml(document), name)


def cases(scale: float = 1.0) -> list[Case]:
    """Every run."""
    return [*grid_cases(scale), *reading_cases(scale), *failure_cases(scale)]


def errors(case: Case, result: Result, scale: float = 1.0) -> tuple[float | None, float | None]:
    """Median error of A and of K after the start, as parts of the truth; none if there is no estimate."""
    frame = flow_series(result).filter(pl.col("time_s") >= SKIPPED_S * scale)

    def median(column: str, truth: float) -> float | None:
        values = frame.filter(pl.col(column).is_finite())[column]
        return statistics.median(abs(value / 1e9 / truth - 1) for value in values) if len(values) else None

    return median("available_bps", case.available), median("capacity_bps", case.capacity)


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Judge the grid; show readings and failures."""
    made = cases(scale)
    found = [(case, result, *errors(case, result, scale)) for case, result in zip(made, results, strict=True)]
    count = len(grid_cases(scale))
    grid, others = found[:count], found[count:]
    constant = grid[: len(RATES_GBPS) * len(LOADS)]
    claims = []
    for name, medians in (("A", [row[2] for row in constant]), ("K", [row[3] for row in constant])):
        worst = max(float("inf") if value is None else value for value in medians)
        claims.append(
            Claim(
                PAPER,
                f"estimate-{name.lower()}",
                "section 2.2",
                f"{'available' if name == 'A' else 'physical'} bandwidth is measured in high-speed networks",
                f"median error within {verdicts.ESTIMATE_TOLERANCE:.0%}",
                f"{worst:.1%}" if worst != float("inf") else "none",
                verdicts.at_most(worst, verdicts.ESTIMATE_TOLERANCE),
                "The worst of 0.1, 1, 5 and 10 Gbit/s at 20, 50 and 80 % load, constant bit rate. The table has "
                "each, and Poisson traffic.",
            )
        )
    printed = next(row for row in others if row[0].label == "as printed, load 50%")
    off = float("inf") if printed[2] is None else float(printed[2])
    claims.append(
        Claim(
            PAPER,
            "icim-as-printed",
            "section 2.2.3",
            "bursts of one interrupt show the available bandwidth",
            f"median error within {verdicts.ESTIMATE_TOLERANCE:.0%}",
            "no estimate" if off == float("inf") else f"{off:.0%}",
            verdicts.at_most(off, verdicts.ESTIMATE_TOLERANCE),
            "1 Gbit/s, 50 % load, spacings as the interrupts have them. The receiver's card rounds the arrival "
            "of a burst up to "
            "its next interrupt, and a burst of one interrupt is no longer than that.",
        )
    )
    columns = ["path", "A Gbit/s", "measured", "median error", "K Gbit/s", "measured", "median error", ""]
    grids = [
        Grid(
            "Measured and true bandwidth",
            "ICIM under the Lotka-Volterra window, from 3 to 8 s. Measured: the median.",
            columns,
            [_row(row, scale) for row in grid],
        ),
        Grid(
            "ICIM as printed, and what makes it work; and where it does not",
            "As above. Long bursts: a sixteenth of a round trip each instead of one interrupt. Line: where "
            "spacings begin to grow, "
            "instead of the first rate at which they grew. Place: from the place of an acknowledgement among "
            "those of its interrupt.",
            columns,
            [_row(row, scale) for row in others],
        ),
    ]
    figure = Illustration(
        "Estimates beside the truth",
        "A above and K below over time, as parts of the truth; ICIM at 20, 50 and 80 % load.",
        _figure(constant),
    )
    return claims, [figure], grids


def _row(row: tuple[Case, Result, float | None, float | None], scale: float) -> list[str]:
    case, result, error_a, error_k = row
    frame = flow_series(result).filter(pl.col("time_s") >= SKIPPED_S * scale)

    def median(column: str) -> str:
        values = frame.filter(pl.col(column).is_finite())[column]
        return f"{statistics.median(values) / 1e9:.3g}" if len(values) else "none"

    def text(error: float | None) -> str:
        return "" if error is None else f"{error:.1%}"

    return [
        case.label,
        f"{case.available:.3g}",
        median("available_bps"),
        text(error_a),
        f"{case.capacity:.3g}",
        median("capacity_bps"),
        text(error_k),
        case.notes,
    ]


@style.house()
def _figure(rows: Sequence[tuple[Case, Result, float | None, float | None]]) -> Figure:
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes = figure.subplots(len(RATES_GBPS), 2, sharex=True, sharey=True, squeeze=False)
    for number, (case, result, _, _) in enumerate(rows):
        rate, load = divmod(number, len(LOADS))
        series = flow_series(result)
        for column, (name, truth) in enumerate((("available_bps", case.available), ("capacity_bps", case.capacity))):
            each = axes[rate][column]
            each.plot(
                series["time_s"], series[name] / 1e9 / truth, color=str(0.3 * load), label=f"load {LOADS[load]:.0%}"
            )
            each.axhline(1, color="black", linewidth=0.6, linestyle=":")
            each.set_ylim(0.5, 1.5)
            each.set_title(f"{'A' if column == 0 else 'K'}, {case.capacity:g} Gbit/s")
    for column in range(2):
        axes[-1][column].set_xlabel("time (s)")
    for row in axes:
        row[0].set_ylabel("measured / true")
    axes[0][0].legend(loc="lower right")
    return figure
