"""Claims of figures 4 and 5: evenness of two flows of one algorithm, and the effect of web traffic on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered.comparison import (
    SAME,
    is_more,
    jackknife,
    median,
    passes,
    quartiles,
)
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import ALGORITHMS
from selfclock.papers.adaptive_layered.pairs import (
    CROSS_LOAD,
    DIFFERENT_RTT,
    JITTER_S,
    SAME_RTT,
    SECONDS,
    SEEDS,
    SKIPPED_S,
    Point,
    Ratios,
    Setting,
    run_name,
)
from selfclock.papers.declared import Ran
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.claims import Claim
    from selfclock.figure import Panel

#: "Very large variations": spread of an algorithm's ratios between paths.
LARGE_VARIATION = 0.25

VARIANTS = {
    "TCP": "reno: halved = window",
    "HighSpeed": "highspeed: slow_start_loss = half",
    "Scalable": "scalable: slow_start_loss = half",
    "FAST": "fast: alpha = 100 (ns-2's)",
    "ALTCP": "altcp: beta = 0.15, W_T = 50 (Layered TCP's), compensation = paper",
    "A-TCP": "adaptive: competition_hold = drain, chosen after results had been seen",
}


def claims(ratios: Ratios) -> list[Claim]:
    """Judge one figure in one set-up."""
    return [
        _tcp(ratios),
        _order(ratios, ["FAST", "Scalable"], SAME_RTT, "same-rtt"),
        _variation(ratios),
        _order(ratios, ["HighSpeed", "Scalable"], DIFFERENT_RTT, "different-rtt"),
        _cross(ratios),
    ]


def _variant(setting: Setting, names: Iterable[str]) -> str:
    return f"{'; '.join(VARIANTS[name] for name in names)}; {setting.setup}"


def _names(setting: Setting, pair: str, algorithms: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        run_name(setting, Point(pair, ALGORITHMS[name], delay), seed)
        for name in algorithms
        for delay in setting.paths(pair)
        for seed in SEEDS
    )


def _runs() -> str:
    return f"{len(SEEDS)} runs of {SECONDS:g} s without the first {SKIPPED_S:g} s, random starts within {JITTER_S:g} s"


def _tcp(ratios: Ratios) -> Claim:
    setting = ratios.setting
    worst = min(ratios.medians(SAME_RTT, "reno"))
    spread = "; ".join(
        f"{delay:g} ms {median(path):.3f} ({quartiles(path)[0]:.3f} to {quartiles(path)[1]:.3f})"
        for delay, path in zip(setting.paths(SAME_RTT), ratios.line(SAME_RTT, "reno"), strict=True)
    )
    return CLAIMS(
        f"figure-{setting.figure}-tcp",
        Ran(_variant(setting, ["TCP"]), _names(setting, SAME_RTT, ["TCP"]), setting.readings),
        long=setting.long,
        worst=worst,
        spread=spread,
    )


def _order(ratios: Ratios, others: list[str], pair: str, what: str) -> Claim:
    setting, own = ratios.setting, ratios.setting.own
    shown = [own, *others, "TCP"]
    held = {name: ratios.fairness(pair, ALGORITHMS[name]) for name in shown}
    return CLAIMS(
        f"figure-{setting.figure}-{what}",
        Ran(_variant(setting, shown), _names(setting, pair, shown), setting.readings),
        long=setting.long,
        beats=[passes(held[own], held[name]) for name in others],
        shown=[f"{name} {interval(values)}" for name, values in held.items()],
        kind=setting.kind(pair),
        rate=setting.rate_mbps,
        paths=list(setting.paths(pair)),
        medians="; ".join(f"{name} {_list(ratios.medians(pair, ALGORITHMS[name]))}" for name in shown),
        public=setting.public,
    )


def _variation(ratios: Ratios) -> Claim:
    setting = ratios.setting
    spread = {name: ratios.spread(ALGORITHMS[name]) for name in ("TCP", "FAST", "Scalable")}
    tests = [
        test
        for name in ("FAST", "Scalable")
        for test in (is_more(spread[name], spread["TCP"]), interval(spread[name]).low >= LARGE_VARIATION)
    ]
    return CLAIMS(
        f"figure-{setting.figure}-variation",
        Ran(_variant(setting, spread), _names(setting, SAME_RTT, spread), setting.readings),
        long=setting.long,
        shown=[f"{name} {interval(values)}" for name, values in spread.items()],
        varies=tests,
        first=not setting.public,
    )


def _distance(ratios: Ratios, seeds: list[int]) -> float:
    """Mean distance of the means with and without cross traffic, over algorithms and pairs."""
    setting = ratios.setting
    delay = setting.cross_delay_ms
    apart = []
    for pair in (SAME_RTT, DIFFERENT_RTT):
        for algorithm in setting.algorithms(pair).values():
            plain, crossed = (ratios.even(Point(pair, algorithm, delay, web)) for web in (False, True))
            apart.append(abs(sum(crossed[seed] - plain[seed] for seed in seeds)) / len(seeds))
    return sum(apart) / len(apart)


def _cross(ratios: Ratios) -> Claim:
    setting = ratios.setting
    every = list(range(len(SEEDS)))
    statistic: dict[int | None, float] = {None: _distance(ratios, every)}
    statistic |= {left: _distance(ratios, [seed for seed in every if seed != left]) for left in every}
    measured = jackknife(every, statistic)
    names = tuple(
        run_name(setting, Point(pair, algorithm, setting.cross_delay_ms, web), seed)
        for pair in (SAME_RTT, DIFFERENT_RTT)
        for algorithm in setting.algorithms(pair).values()
        for web in (False, True)
        for seed in SEEDS
    )
    every_algorithm = {**setting.algorithms(SAME_RTT), **setting.algorithms(DIFFERENT_RTT)}
    return CLAIMS(
        f"figure-{setting.figure}-cross-traffic",
        Ran(_variant(setting, every_algorithm), names, setting.readings),
        long=setting.long,
        distance=measured,
        first_ms=setting.cross_delay_ms,
    )


def illustration(ratios: Ratios, *, recorded: bool) -> Illustration:
    """Draw one figure in one set-up: medians and quartiles."""
    setting = ratios.setting
    figure = Figure(2, height=6.6, linked=False)
    kinds = {pair: setting.kind(pair) for pair in (SAME_RTT, DIFFERENT_RTT)}
    top, bottom = figure.column
    top.span("y", SAME, 1, colour="#BBBBBB", opacity=1.0, label="printed for TCP: within 5 %")
    bottom.rule("y", 1, colour=BLACK, dash="-", width=0.6)
    for panel, (pair, kind) in zip(figure.column, kinds.items(), strict=True):
        for name, algorithm in setting.algorithms(pair).items():
            _line(panel, ratios, pair, name, algorithm)
        panel.x.log, panel.x.names = True, {delay: f"{delay:g}" for delay in setting.paths(pair)}
        panel.x.label = "round-trip time of the first flow (ms)"
        panel.title = f"Two flows, {setting.rate_mbps:g} Mbit/s: {kind}"
    top.y.label, top.y.low, top.y.high = "smaller throughput over larger", 0.0, 1.05
    bottom.y.label, bottom.y.log = "second flow's over the first's", True
    caption = (
        f"Medians and quartiles of {_runs()}; {setting.setup}. Open markers: with short connections at "
        f"{CROSS_LOAD:.0%} of the link."
        + (" Drawn from the runs on record: they take minutes, and only --full makes them." if recorded else "")
    )
    shown = "public set-up" if setting.public else "first reading"
    names = tuple(name for pair in kinds for name in _names(setting, pair, setting.algorithms(pair)))
    title = f"Figure {setting.figure}, two flows of one algorithm, {shown}"
    return Illustration(title, caption, figure, id=setting.name, scenarios=names)


def _line(panel: Panel, ratios: Ratios, pair: str, name: str, algorithm: str) -> None:
    setting, look = ratios.setting, style.look(algorithm)
    paths = setting.paths(pair)
    values = ratios.even if pair == SAME_RTT else ratios.raw
    ensembles = [values(Point(pair, algorithm, delay)) for delay in paths]
    low, high = ([max(quartiles(runs)[side], 1e-4) for runs in ensembles] for side in (0, 1))
    panel.band(paths, low, high, colour=look.colour, opacity=0.15)
    medians = [median(runs) for runs in ensembles]
    panel.line(paths, medians, dash=look.line, marker=look.marker, colour=look.colour, label=name)
    if setting.cross_delay_ms in paths:
        crossed = median(values(Point(pair, algorithm, setting.cross_delay_ms, crossed=True)))
        panel.points([setting.cross_delay_ms], [crossed], marker=look.marker, colour=look.colour, hollow=True, size=8)


def grid(every: Iterable[Ratios]) -> Table:
    """Return the medians behind the figures."""
    rows = []
    for ratios in every:
        setting = ratios.setting
        for name, algorithm in ALGORITHMS.items():
            row = [f"{setting.rate_mbps:g} Mbit/s", "public" if setting.public else "first", name]
            for pair in (SAME_RTT, DIFFERENT_RTT):
                if name not in setting.algorithms(pair):
                    row += ["-", "-"]
                    continue
                values = ratios.even if pair == SAME_RTT else ratios.raw
                row.append(_list(median(values(Point(pair, algorithm, delay))) for delay in setting.paths(pair)))
                row.append(f"{median(values(Point(pair, algorithm, setting.cross_delay_ms, crossed=True))):.2f}")
            if set(row[3:]) != {"-"}:
                rows.append(row)
    return Table(
        "Two flows of one algorithm",
        f"Medians of {_runs()}, path by path. Same round-trip time: smaller over larger; different: second flow's over "
        "the first's. With web traffic: the one path that has it.",
        ["link", "set-up", "algorithm", "same", "same, web", "different", "different, web"],
        rows,
    )


def _list(values: Iterable[float], spec: str = ".2f") -> str:
    return ", ".join(format(value, spec) for value in values)
