"""A and K as measured, beside the true values: rates, loads, readings, and failures of the method."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.agents import SACK
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import COLOURS, along, dashes, label_sides
from selfclock.papers.inline_measurement import ambiguities
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.mechanisms import CORRECTED, PRINTED
from selfclock.papers.inline_measurement.network import COALESCING, REVERSE, limit_packets, scenario, sender, udp_at
from selfclock.scenario.build import Graph
from selfclock.scenario.flow import Background, Flow
from selfclock.scenario.link import Link, Router
from selfclock.scenario.quantity import gbps, s
from selfclock.scenario.transport import Record
from selfclock.series import flow_series, mean_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATES_GBPS = (0.1, 1.0, 5.0, 10.0)
LOADS = (0.2, 0.5, 0.8)
SECONDS, SKIPPED_S = 8.0, 3.0

#: ICIM as printed in the thesis, and step by step the changes that make it work here.
READINGS: dict[str, dict[str, object]] = {
    "as printed": PRINTED.options,
    "long bursts": {"reading": "edge", "within_interrupt": False},
    "and the line": {"within_interrupt": False},
    "and the place in the interrupt": {},
}

#: Labels of the two orders of an idle narrow link and a loaded tight one.
TWO_ORDERS = ("narrow link is not the tight one", "tight link before the narrow one")

#: The same with K from pairs of segments, and no card at the receiver that hides them.
PAIR_ORDERS = tuple(f"{label}, K from pairs" for label in TWO_ORDERS)
#: 1500 B at the 4 Gbit/s of the sender's link.
PAIRED: dict[str, object] = {"capacity": "pairs", "pair_spacing": "3 us", "clock": "receiver"}

#: Timers of the cards with which the printed reading is tried, beside `COALESCING`.
PRINTED_TIMERS = ("0 s", "10 us", "30 us", "300 us", "1 ms", "3 ms")


@dataclass(frozen=True)
class Case:
    """A run with its true values, Gbit/s."""

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
    arrivals: Literal["constant", "poisson"] = "constant",
    control: dict[str, object] | None = None,
    coalescing: str = COALESCING,
    transport: dict[str, object] | None = None,
    routers: Sequence[Router] = (),
    notes: str = "",
) -> Case:
    udp = udp_at(((0.0, rate * load),), arrivals) if load else None
    made = scenario(
        "estimates-" + label.replace(" ", "-").replace("/", "-per-").replace(",", "").replace("%", ""),
        [sender(control or {"window": "lotka-volterra"})],
        seconds=SECONDS * scale,
        rate_gbps=rate,
        udp=udp,
        ssthresh=round(5000 * rate),
        coalescing=coalescing,
        transport=transport,
        samples_s=0.05 * scale,
        routers=routers,
    )
    return Case(label, rate * (1 - load), rate, made, notes)


def constant_cases(scale: float = 1.0) -> dict[tuple[float, float], Case]:
    """Return the cases with UDP of a constant rate, by rate and load."""
    return {
        (rate, load): _case(f"{rate:g} Gbit/s, load {load:.0%}", rate, load, scale)
        for rate in RATES_GBPS
        for load in LOADS
    }


def poisson_cases(scale: float = 1.0) -> list[Case]:
    """Return the cases up to 1 Gbit/s with Poisson arrivals."""
    return [
        _case(f"{rate:g} Gbit/s, load {load:.0%}, Poisson", rate, load, scale, arrivals="poisson")
        for rate in RATES_GBPS[:2]
        for load in LOADS
    ]


def reading_cases(scale: float = 1.0) -> list[Case]:
    """The readings, alone and beside UDP, at 1 Gbit/s."""
    return [
        _case(f"{name}, load {load:.0%}", 1.0, load, scale, control={"window": "lotka-volterra", **control})
        for name, control in READINGS.items()
        for load in (0.0, 0.5)
    ]


#: Paths of two links with K of the narrow link: rates in Gbit/s and loads in order, and whether the
#: receiver has no card and its clock is read.
_TWO_LINKS = {
    TWO_ORDERS[0]: (
        "narrow-not-tight",
        ((0.8, 0.0), (1.0, 0.6)),
        False,
        "800 Mbit/s idle, then 1 Gbit/s with 60 % load: K of the thesis is 0.8, of the tight link 1",
    ),
    TWO_ORDERS[1]: (
        "tight-before-narrow",
        ((1.0, 0.6), (0.8, 0.0)),
        False,
        "the same the other way round",
    ),
    PAIR_ORDERS[0]: (
        "narrow-not-tight-pairs",
        ((0.8, 0.0), (1.0, 0.6)),
        True,
        "no card at the receiver, whose clock is read",
    ),
    PAIR_ORDERS[1]: (
        "tight-before-narrow-pairs",
        ((1.0, 0.6), (0.8, 0.0)),
        True,
        "the same the other way round",
    ),
}

_IMTCP: dict[str, object] = {"window": "reno", "estimate": "imtcp"}
_STANDING = {"control": _IMTCP, "coalescing": "0 s", "notes": "Reno, queue standing"}


def _every(segments: int) -> dict[str, object]:
    """Return an ACK for this many segments."""
    return {"delayed_ack": {"every": segments, "timer": "40 ms", "quick": False}}


#: Label, rate in Gbit/s, and settings of paths that violate an assumption, with 50 % load.
_FAILURES: tuple[tuple[str, float, dict[str, Any]], ...] = (
    ("delayed ACK, every second", 1.0, {"transport": _every(2)}),
    ("ACK of every eighth", 1.0, {"transport": _every(8)}),
    (
        "ACK thinning",
        1.0,
        {
            "routers": [Router("ack-thinning", links=[REVERSE], interval="5 us")],
            "notes": "a router drops the earlier of two acknowledgements within 5 us, all but an interrupt's last",
        },
    ),
    ("no coalescing", 1.0, {"coalescing": "0 s"}),
    ("coalescing 1 ms", 1.0, {"coalescing": "1 ms"}),
    ("ImTCP, 100 Mbit/s, no coalescing", 0.1, _STANDING),
    ("ImTCP, 1 Gbit/s, no coalescing", 1.0, _STANDING),
    ("ImTCP, 1 Gbit/s, coalescing", 1.0, {"control": _IMTCP, "notes": "all of a stream comes at one time"}),
)


def failure_cases(scale: float = 1.0) -> list[Case]:
    """Paths that violate an assumption of the method; and ImTCP, with and without coalescing."""
    printed = [
        _case(f"as printed, coalescing {timer}", 1.0, 0.5, scale, control=PRINTED.control, coalescing=timer)
        for timer in PRINTED_TIMERS
    ]
    two_links = [
        Case(label, 0.4, 0.8, _two_links(name, *links, scale, PAIRED if paired else None), notes)
        for label, (name, links, paired, notes) in _TWO_LINKS.items()
    ]
    two_tight = Case(
        "two bottlenecks",
        0.5,
        1.0,
        _two_links("two-bottlenecks", (1.0, 0.5), (1.0, 0.5), scale),
        "two links of 1 Gbit/s, each with 50 % load of its own",
    )
    others = [_case(label, rate, 0.5, scale, **settings) for label, rate, settings in _FAILURES]
    return [*printed, *two_links, two_tight, *others]


def _two_links(
    name: str,
    first: tuple[float, float],
    second: tuple[float, float],
    scale: float,
    options: Mapping[str, object] | None = None,
) -> Scenario:
    """A path over two links, each with its own rate and load; with options, no card at the receiver."""
    access = Link("4 Gbps", "5 ms", queue="unlimited", coalescing=COALESCING)
    links = [
        replace(access, between=("source", "a")),
        Link(gbps(first[0]), "10 ms", queue="5000 packets", between=("a", "b")),
        Link(gbps(second[0]), "10 ms", queue="5000 packets", between=("b", "c")),
        replace(access, between=("c", "sink"), coalescing="0 s" if options else COALESCING),
    ]
    others = [
        Background(gbps(rate * load), packet="imix", between=ends, name=f"udp{number}")
        for number, (ends, (rate, load)) in enumerate(((("a", "b"), first), (("b", "c"), second)), 1)
        if load
    ]
    own = Flow({"window": "lotka-volterra", **(options or {})}, between=("source", "sink"))
    return Graph(links, ["source", "a", "b", "c", "sink"]).scenario(
        [own, *others],
        duration=s(SECONDS * scale),
        name=name,
        transport={**SACK, "initial_ssthresh": "4000 segments"},
        record=Record(s(0.05 * scale)),
    )


def cases(scale: float = 1.0) -> list[Case]:
    """Every run."""
    grid = [*constant_cases(scale).values(), *poisson_cases(scale)]
    return [*grid, *reading_cases(scale), *failure_cases(scale)]


@dataclass(frozen=True)
class Found:
    """Estimates of a run after the start."""

    case: Case
    result: Result
    scale: float

    def _values(self, column: str) -> list[float]:
        frame = flow_series(self.result).filter(pl.col("time_s") >= SKIPPED_S * self.scale)
        values = frame.filter(pl.col(column).is_finite())[column]
        return [float(value) / 1e9 for value in values]

    def median(self, column: str) -> float | None:
        """Median of an estimate, Gbit/s; none if there is no estimate."""
        values = self._values(column)
        return statistics.median(values) if values else None

    def _error(self, column: str, truth: float) -> float | None:
        values = self._values(column)
        return statistics.median(abs(value / truth - 1) for value in values) if values else None

    @property
    def error_a(self) -> float | None:
        """Median error of A, as a part of the truth."""
        return self._error("available_bps", self.case.available)

    @property
    def error_k(self) -> float | None:
        """Median error of K, as a part of the truth."""
        return self._error("capacity_bps", self.case.capacity)

    def row(self) -> list[str]:
        """Return a row of a table."""

        def text(value: float | None) -> str:
            return "none" if value is None else f"{value:.3g}"

        def percent(value: float | None) -> str:
            return "" if value is None else f"{value:.1%}"

        return [
            self.case.label,
            f"{self.case.available:.3g}",
            text(self.median("available_bps")),
            percent(self.error_a),
            f"{self.case.capacity:.3g}",
            text(self.median("capacity_bps")),
            percent(self.error_k),
            self.case.notes,
        ]


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the grid, the printed reading and K on two links; show the rest."""

    def found(cases: Iterable[Case]) -> list[Found]:
        return [Found(case, runs[case.scenario.name], scale) for case in cases]

    constant = {key: Found(case, runs[case.scenario.name], scale) for key, case in constant_cases(scale).items()}
    others = found([*reading_cases(scale), *failure_cases(scale)])
    by_label = {each.case.label: each for each in others}
    ran = Ran(
        f"lotka-volterra, {CORRECTED.text}; NICs coalesce for 100 us",
        tuple(each.case.scenario.name for each in constant.values()),
    )
    claims = []
    for name, errors in (
        ("a", [each.error_a for each in constant.values()]),
        ("k", [each.error_k for each in constant.values()]),
    ):
        worst = max(map(_or_infinite, errors))
        claims.append(CLAIMS(f"estimate-{name}", ran, worst=worst, told=_percent(worst)))
    readings = [by_label[case.label] for case in reading_cases(scale)]
    drawn = [
        _illustration(constant),
        _beside_truth(
            "From ICIM as printed to the corrected one",
            "A and K as measured at 1 Gbit/s, on the left alone, on the right beside UDP that takes half. Marks: the "
            "truth. Each row has one repair more.",
            "readings",
            readings,
        ),
        _beside_truth(
            "Narrow link and tight link apart",
            "A and K as measured over 0.8 Gbit/s idle and 1 Gbit/s with 60 % load, on the left with the narrow link "
            "first, on the right with the tight link first. Marks: A, and the narrow link's rate.",
            "two-links",
            [by_label[label] for label in TWO_ORDERS],
        ),
    ]
    return (
        [*claims, _printed(by_label), *_two_links_claims(by_label, scale)],
        drawn,
        _grids([*constant.values(), *found(poisson_cases(scale))], others),
    )


def _or_infinite(value: float | None) -> float:
    return float("inf") if value is None else value


def _percent(value: float) -> str:
    return "no estimate" if value == float("inf") else f"{value:.1%}" if value < 0.2 else f"{value:.0%}"


def _printed(by_label: Mapping[str, Found]) -> Claim:
    rows = [by_label[f"as printed, load {load}"] for load in ("0%", "50%")]
    off = max(_or_infinite(row.error_a) for row in rows)
    return CLAIMS(
        "icim-as-printed",
        Ran(
            f"lotka-volterra, {PRINTED.text}; 1 Gbit/s, NICs coalesce for 100 us",
            tuple(row.case.scenario.name for row in rows),
        ),
        off=off,
        told=_percent(off),
        each=[_percent(_or_infinite(row.error_a)) for row in rows],
    )


def _k_claim(rows: Sequence[Found], reading: str, variant: str) -> Claim:
    ratios = [_or_infinite(row.median("capacity_bps")) / row.case.capacity for row in rows]
    return CLAIMS(
        "k-narrow-not-tight",
        Ran(variant, tuple(row.case.scenario.name for row in rows), (reading,)),
        bursts=reading == ambiguities.BURSTS,
        over=[ratio - 1 for ratio in ratios],
        narrow_first=ratios[0],
        tight_first=ratios[1],
    )


def _two_links_claims(by_label: Mapping[str, Found], scale: float) -> list[Claim]:
    rows = [by_label[label] for label in TWO_ORDERS]
    paired = [by_label[label] for label in PAIR_ORDERS]
    windows = [
        mean_between(flow_series(row.result), "cwnd_bytes", SKIPPED_S * scale, SECONDS * scale)
        / 1460
        / limit_packets(row.case.available, row.case.capacity)
        - 1
        for row in rows
    ]
    lost = [_drops_after(row.result, SKIPPED_S * scale) for row in rows]
    a_off = max(_or_infinite(row.error_a) for row in rows)
    names = tuple(row.case.scenario.name for row in rows)
    variant = f"lotka-volterra, {CORRECTED.text}; 0.8 Gbit/s idle and 1 Gbit/s with 60 % load, in both orders"
    return [
        _k_claim(rows, ambiguities.BURSTS, f"{variant}; capacity = bursts: our reconstruction"),
        _k_claim(paired, ambiguities.PAIRS, f"{variant}; capacity = pairs, no card at the receiver, clock = receiver"),
        CLAIMS(
            "a-narrow-not-tight",
            Ran(variant, names),
            off=a_off,
            told=_percent(a_off),
        ),
        CLAIMS(
            "k-narrow-not-tight-harm",
            Ran(variant, names),
            windows=windows,
            lost=max(lost),
            widest=max(windows),
        ),
    ]


def _drops_after(result: Result, begin_s: float) -> int:
    links = pl.DataFrame(result.links).filter(pl.col("time_s") >= begin_s)
    counts = links.group_by("link").agg((pl.col("drops").last() - pl.col("drops").first()).alias("drops"))
    return int(counts["drops"].sum())


def _grids(grid: Sequence[Found], others: Sequence[Found]) -> list[Table]:
    columns = ["path", "A Gbit/s", "measured", "median error", "K Gbit/s", "measured", "median error", ""]
    return [
        Table(
            "Measured and true bandwidth",
            "ICIM under the Lotka-Volterra window, from 3 to 8 s. Measured: the median.",
            columns,
            [each.row() for each in grid],
        ),
        Table(
            "ICIM as printed, and what makes it work; and where it does not",
            "As above. Long bursts: a sixteenth of a round trip each instead of one interrupt. Line: where spacings "
            "begin to grow, instead of the first rate at which they grew. Place: from the place of an "
            "acknowledgement among those of its interrupt.",
            columns,
            [each.row() for each in others],
        ),
    ]


def _illustration(constant: Mapping[tuple[float, float], Found]) -> Illustration:
    return Illustration(
        "Estimates beside the truth",
        "A on the left and K on the right over time, as parts of the truth (dotted); ICIM corrected, at 20, 50 and 80 "
        "% load.",
        _figure(constant),
        id="estimates",
        scenarios=tuple(each.case.scenario.name for each in constant.values()),
    )


def _figure(constant: Mapping[tuple[float, float], Found]) -> Figure:
    figure = Figure(len(RATES_GBPS), 2, height=6.6, same_scale=True)
    label_sides(figure, "time (s)", "measured / true")
    for (rate, load), row in constant.items():
        colour = COLOURS[LOADS.index(load)]
        series, case = flow_series(row.result), row.case
        for panel, name, truth, what in zip(
            figure.panels[RATES_GBPS.index(rate)],
            ("available_bps", "capacity_bps"),
            (case.available, case.capacity),
            "AK",
            strict=True,
        ):
            panel.line(series["time_s"], series[name] / 1e9 / truth, colour=colour, label=f"load {load:.0%}")
            if load == LOADS[0]:
                panel.rule("y", 1, colour=BLACK, width=0.6)
            panel.y.low, panel.y.high = 0.5, 1.5
            panel.title = f"{what}, {case.capacity:g} Gbit/s"
    return figure


def _beside_truth(title: str, caption: str, name: str, rows: Sequence[Found]) -> Illustration:
    return Illustration(
        title,
        caption,
        _beside_truth_figure(rows),
        id=name,
        scenarios=tuple(row.case.scenario.name for row in rows),
    )


def _beside_truth_figure(rows: Sequence[Found]) -> Figure:
    count = len(rows) // 2
    figure = Figure(count, 2, height=1.2 + 1.5 * count, same_scale=True)
    label_sides(figure, "time (s)", "K and A\n(Gbit/s)")
    for panel, row in zip(itertools.chain(*figure.panels), rows, strict=True):
        series = flow_series(row.result)
        places = along(float(series["time_s"][-1]), 12)
        for column, colour, truth, label in (
            ("capacity_bps", COLOURS[4], row.case.capacity, "K"),
            ("available_bps", COLOURS[0], row.case.available, "A"),
        ):
            panel.line(series["time_s"], series[column] / 1e9, colour=colour, width=0.9, label=f"{label} measured")
            dashes(panel, places, [truth] * len(places), f"{label} true", colour)
        panel.title = row.case.label
        panel.y.low, panel.y.high = 0.0, 2.5
    return figure
