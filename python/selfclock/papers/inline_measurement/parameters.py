"""Figures 8 to 11: gamma and epsilon, at a tenth of the thesis's rates."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import COLOURS, dashes, label_sides
from selfclock.papers.inline_measurement import ambiguities
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.drawings import changes, queue, window
from selfclock.papers.inline_measurement.mechanisms import (
    BYTES,
    CORRECTED,
    ESTIMATORS,
    PACKETS,
    PRINTED,
    Estimator,
    Variant,
    variants,
)
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    FIGURE_7,
    GAMMA,
    RATE_GBPS,
    SECONDS,
    drops,
    limit_packets,
    periods,
    scenario,
    sender,
    udp_at,
)
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.figure import Panel
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: A tenth of the rates and of the buffer: windows and queues scale with the rate, and the time in
#: equation 10 does not depend on it.
SCALE = 10.0
GAMMAS = (0.3, 0.5, 0.7, 0.8, 0.9)
EPSILONS = (0.5, 1.0, 1.95, 4.0, 8.0)
#: A window has converged that is this close to equation 14.
CONVERGED = 0.05
TENTH = "a tenth of the thesis's rates and buffer (0.5 Gbit/s)"
LARGE = "-1500"


@dataclass(frozen=True)
class Sweep:
    """One parameter swept over its values, in one variant."""

    parameter: str
    values: tuple[float, ...]
    variant: Variant
    #: Whether UDP sends packets of 1500 B only.
    large: bool = False

    @property
    def readings(self) -> tuple[str, ...]:
        """Those of its claims, without that of UDP's packets."""
        return self.variant.readings

    @property
    def udp(self) -> str:
        """Reading of UDP's packets, which only losses depend on."""
        return ambiguities.LARGE if self.large else ambiguities.MIX

    @property
    def suffix(self) -> str:
        """Suffix of the names of its scenarios."""
        return self.variant.suffix + (LARGE if self.large else "")

    def name(self, value: float) -> str:
        """Return the name of the scenario with this value."""
        return f"{self.parameter}-{value:g}{self.suffix}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its scenarios."""
        return tuple(self.name(value) for value in self.values)

    @property
    def text(self) -> str:
        """For a claim."""
        udp = "; UDP of 1500 B" if self.large else ""
        return f"{self.variant.text}{udp}; {TENTH}; {self.parameter} {', '.join(f'{value:g}' for value in self.values)}"

    def scenarios(self, scale: float) -> list[Scenario]:
        """Return one run for each value."""
        return [self._scenario(value, scale) for value in self.values]

    def _scenario(self, value: float, scale: float) -> Scenario:
        rate = RATE_GBPS / SCALE
        rates = tuple((time * scale, rate - free / SCALE) for time, free in FIGURE_7)
        return scenario(
            self.name(value),
            [sender({**self.variant.estimator.control, self.parameter: value})],
            seconds=SECONDS * scale,
            samples_s=0.1 * scale,
            rate_gbps=rate,
            udp=udp_at(rates, packet="1500 B" if self.large else "imix"),
            buffer=self.variant.buffer.limit(round(BDP_PACKETS / SCALE)),
            ssthresh=round(BDP_PACKETS / SCALE),
            receiver_coalescing="0 s" if self.variant.estimator.exact else None,
        )


def sweeps() -> list[Sweep]:
    """Return sweeps of gamma and epsilon in every variant, and one more of gamma with UDP packets of 1500 B."""
    made = [
        Sweep(parameter, values, variant)
        for parameter, values in (("gamma", GAMMAS), ("epsilon", EPSILONS))
        for variant in variants()
    ]
    return [*made, Sweep("gamma", GAMMAS, Variant(CORRECTED, PACKETS), large=True)]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run."""
    return [*(made for sweep in sweeps() for made in sweep.scenarios(scale)), *_exact_k(scale)]


def _exact_k(scale: float) -> list[Scenario]:
    """The network of figure 7 with K given, as in reference 10 of the thesis."""
    rate = RATE_GBPS / SCALE
    given = {"physical": "oracle", "physical_rate": f"{rate:g} Gbps"}
    return [
        scenario(
            f"exact-k{estimator.suffix}",
            [sender({**estimator.control, **given})],
            seconds=SECONDS * scale,
            samples_s=0.1 * scale,
            rate_gbps=rate,
            udp=udp_at(tuple((time * scale, rate - free / SCALE) for time, free in FIGURE_7)),
            buffer=BYTES.limit(round(BDP_PACKETS / SCALE)),
            ssthresh=round(BDP_PACKETS / SCALE),
        )
        for estimator in ESTIMATORS
    ]


def _exact_k_claim(runs: Runs, estimator: Estimator, scale: float) -> Claim:
    name = f"exact-k{estimator.suffix}"
    series = flow_series(runs[name])
    off = []
    for begin, end, free in periods(scale):
        last = min(10.0 * scale, (end - begin) / 2)
        off.append(mean_between(series, "cwnd_bytes", end - last, end) / 1460 / (limit_packets(free) / SCALE) - 1)
    return CLAIMS(
        "exact-k",
        Ran(
            f'lotka-volterra, {estimator.text}; physical = "oracle"; {BYTES.text}; {TENTH}',
            (name,),
            (estimator.reading,),
        ),
        printed_form=estimator is PRINTED,
        off=off,
        worst=max(map(abs, off)),
    )


def settling_s(result: Result, scale: float = 1.0) -> float:
    """Time from the increase at 30 s until the window has covered 90 % of the way to the new limit."""
    series = flow_series(result).with_columns(cwnd=pl.col("cwnd_bytes") / 1460)
    begin, end = FIGURE_7[1][0] * scale, FIGURE_7[2][0] * scale
    before = series.filter(pl.col("time_s") <= begin)["cwnd"][-1]
    later = series.filter(pl.col("time_s").is_between(begin, end))
    settled = later["cwnd"].tail(max(1, len(later) // 4)).mean()
    reached = later.filter(pl.col("cwnd") >= before + 0.9 * (settled - before))
    return float(reached["time_s"][0] - begin) / scale if len(reached) else float("inf")


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the sweeps."""
    claims = []
    for sweep in sweeps():
        results = [runs[name] for name in sweep.names]
        if sweep.large:
            claims.append(_loss(sweep, results))
        elif sweep.parameter == "gamma":
            claims += _gamma(sweep, results, scale)
        else:
            claims += _epsilon(sweep, results, scale)
    claims += [_exact_k_claim(runs, estimator, scale) for estimator in ESTIMATORS]
    return claims, _figures(runs)


def _gamma(sweep: Sweep, results: list[Result], scale: float) -> list[Claim]:
    windows = _windows(results, scale)
    wanted = [limit_packets(FIGURE_7[1][1], gamma=gamma) / SCALE for gamma in sweep.values]
    off = max(abs(own / limit - 1) for own, limit in zip(windows, wanted, strict=True))
    queues = _queues(results, scale)
    return [
        CLAIMS(
            "figure-8-limit",
            Ran(sweep.text, sweep.names, sweep.readings),
            off=off,
            wanted=wanted,
            windows=windows,
        ),
        CLAIMS(
            "figure-9-queue",
            Ran(sweep.text, sweep.names, sweep.readings),
            queues=queues,
        ),
        _loss(sweep, results),
    ]


def _loss(sweep: Sweep, results: list[Result]) -> Claim:
    lost = [drops(result) for result in results]
    return CLAIMS(
        "figure-9-loss",
        Ran(sweep.text, sweep.names, (*sweep.readings, sweep.udp)),
        lost=lost,
        smallest=lost[0],
        usual=lost[-1],
    )


def _epsilon(sweep: Sweep, results: list[Result], scale: float) -> list[Claim]:
    times = [settling_s(result, scale) for result in results]
    wanted = limit_packets(FIGURE_7[1][1]) / SCALE
    off = max(abs(own / wanted - 1) for own in _windows(results, scale))
    converges = off <= CONVERGED
    queues = _queues(results, scale)
    usual = statistics.median(queues)
    return [
        CLAIMS(
            "figure-10-speed",
            Ran(sweep.text, sweep.names, sweep.readings),
            off=off,
            converges=converges,
            times=times,
        ),
        CLAIMS(
            "figure-11-queue",
            Ran(sweep.text, sweep.names, sweep.readings),
            converges=converges,
            queues=queues,
            excess=max(queues[2:]) / max(usual, 1e-9) - 1,
        ),
    ]


def _windows(results: list[Result], scale: float) -> list[float]:
    return [mean_between(flow_series(result), "cwnd_bytes", 50 * scale, 70 * scale) / 1460 for result in results]


def _queues(results: list[Result], scale: float) -> list[float]:
    return [mean_between(link_series(result), "queue_packets", 50 * scale, 70 * scale) for result in results]


def _figures(runs: Runs) -> list[Illustration]:
    made = []
    for number, parameter, values, what in (
        (8, "gamma", GAMMAS, "window"),
        (9, "gamma", GAMMAS, "queue"),
        (10, "epsilon", EPSILONS, "window"),
        (11, "epsilon", EPSILONS, "queue"),
    ):
        marks = "Marks: equation 14." if what == "window" else "Crosses: drops."
        made.append(
            Illustration(
                f"Figure {number}, {parameter}: {what}",
                f"A tenth of the thesis's rates: {RATE_GBPS / SCALE:g} Gbit/s, {BDP_PACKETS / SCALE:g} packets of "
                f"buffer; A as in figure 7. Dashed: UDP changes its rate. {marks} On the right the last 17 s, drawn "
                "wider; buffer in bytes.",
                _figure(runs, parameter, values, what),
                id=f"figure-{number}",
                scenarios=tuple(
                    name
                    for estimator in ESTIMATORS
                    for name in Sweep(parameter, values, Variant(estimator, BYTES)).names
                ),
            )
        )
    return made


def _figure(runs: Runs, parameter: str, values: tuple[float, ...], what: str) -> Figure:
    figure = Figure(2, 2, height=5.6, same_y=True)
    label_sides(figure, "time (s)", f"{what}\n(1000 packets)")
    for row, estimator in zip(figure.panels, ESTIMATORS, strict=True):
        sweep = Sweep(parameter, values, Variant(estimator, BYTES))
        for panel, (begin, end) in zip(row, ((0.0, 85.0), (83.0, 100.0)), strict=True):
            changes(panel)
            for value, colour in zip(values, COLOURS, strict=True):
                result = runs[sweep.name(value)]
                _curve(panel, result, what, f"{parameter} {value:g}", colour, (begin, end))
            if what == "window":
                for gamma in values if parameter == "gamma" else (GAMMA,):
                    _limits(panel, gamma, (begin, end))
            panel.x.low, panel.x.high, panel.y.low = begin, end, 0.0
        row[0].title = f"ICIM {estimator.label}"
    return figure


def _curve(panel: Panel, result: Result, what: str, label: str, colour: str, span: tuple[float, float]) -> None:
    times, values = window(result) if what == "window" else queue(result)
    inside = [(time, value) for time, value in zip(times, values, strict=True) if span[0] <= time <= span[1]]
    panel.line([time for time, _ in inside], [value for _, value in inside], colour=colour, width=0.9, label=label)
    if what == "queue":
        lost = link_series(result).filter((pl.col("drops").diff() > 0) & pl.col("time_s").is_between(*span))
        if len(lost):
            panel.points(lost["time_s"], lost["queue_packets"] / 1e3, marker=style.DROP.marker, colour=colour)


def _limits(panel: Panel, gamma: float, span: tuple[float, float]) -> None:
    """Mark equation 14 in the middle of every period."""
    for begin, end, free in periods():
        low, high = max(begin, span[0]), min(end, span[1])
        if high - low > 1:
            limit = limit_packets(free, gamma=gamma) / SCALE / 1e3
            at = [low + (high - low) * part for part in (0.5, 0.8)]
            dashes(panel, at, [limit] * 2, "printed: equation 14")
