"""Claims of figures 4 and 5: evenness of two flows of one algorithm, and the effect of web traffic on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
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
from selfclock.papers.adaptive_layered.verdicts import (
    MARGIN,
    ORDER_RULE,
    PAPER,
    SAME,
    below_verdict,
    is_more,
    jackknife,
    median,
    order_verdict,
    quartiles,
    same_verdict,
)
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.claims import Verdict
    from selfclock.figure import Panel

#: "Very large variations": spread of an algorithm's ratios between paths.
LARGE_VARIATION = 0.25

#: "Similar behaviour" with and without cross traffic: mean distance.
SIMILAR = 0.15

VARIANTS = {
    "TCP": "reno: halved = window",
    "HighSpeed": "highspeed: slow_start_loss = half",
    "Scalable": "scalable: slow_start_loss = half",
    "FAST": "fast: alpha = 100 (ns-2's)",
    "ALTCP": "altcp: beta = 0.15, W_T = 50 (Layered TCP's), compensation = paper",
    "A-TCP": "adaptive: competition_hold = drain, chosen after results had been seen",
}


#: Details for readers of a claim that does not hold.
WHY = {
    "figure-5-variation": " At 10 Mbit/s the product of 160 ms is 133 packets: FAST's alpha of 100 in the queue is "
    "more than the shorter paths hold, so that both lose as TCP does, and TCP's own spread is no smaller by much.",
    "figure-5-same-rtt-public": " All three are within the margin of each other; TCP is the most even.",
    "figure-5-different-rtt-public": " In competition k = 1, so that A-TCP has TCP's ratio, which is below Scalable's.",
}


def claims(ratios: Ratios) -> list[Claim]:
    """Judge one figure in one set-up."""
    own = ratios.setting.own
    return [
        _tcp(ratios),
        _order(ratios, ["FAST", "Scalable"], SAME_RTT, "same-rtt", _source(ratios.setting),
               f"{own} exhibiting greater levels of RTT fairness than FAST-TCP and Scalable-TCP"),
        _variation(ratios),
        _order(ratios, ["HighSpeed", "Scalable"], DIFFERENT_RTT, "different-rtt", "abstract and section 7",
               f"{own} has better RTT fairness compared with High-speed TCP and Scalable TCP"),
        _cross(ratios),
    ]  # fmt: skip


def _source(setting: Setting) -> str:
    return f"section 6.{setting.figure - 3}, figure {setting.figure}"


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
    return Claim(
        PAPER, f"figure-{setting.figure}-tcp", _source(setting),
        says="Standard TCP consistently ensures that each flow achieves the same (to within less than 5 %) average "
        "throughput",
        printed="within less than 5 %", measured=round(worst, 3), verdict=same_verdict(worst),
        note=f"Smaller throughput over larger, median of {_runs()}, the worst path. All, with quartiles: {spread}.",
        criterion=f"Reproduced if the median is {SAME} or more on every path, as printed; direction from 0.5 (ours).",
        variant=_variant(setting, ["TCP"]), figure=setting.name, scenarios=_names(setting, SAME_RTT, ["TCP"]),
        readings=setting.readings, long=setting.long,
    )  # fmt: skip


def _order(ratios: Ratios, others: list[str], pair: str, what: str, source: str, says: str) -> Claim:
    setting, own = ratios.setting, ratios.setting.own
    shown = [own, *others, "TCP"]
    held = {name: ratios.fairness(pair, ALGORITHMS[name]) for name in shown}
    kind = {
        (SAME_RTT, False): "one round-trip time",
        (SAME_RTT, True): "one round-trip time",
        (DIFFERENT_RTT, False): "the second with twice the round-trip time",
        (DIFFERENT_RTT, True): f"the second with {setting.delays_ms[-1]:g} ms",
    }[pair, setting.public]
    paths = "; ".join(f"{name} {_list(ratios.medians(pair, ALGORITHMS[name]))}" for name in shown)
    return Claim(
        PAPER, f"figure-{setting.figure}-{what}", source, says=says, printed=None,
        measured=", ".join(f"{name} {interval(values)}" for name, values in held.items()),
        verdict=order_verdict(held[own], [held[name] for name in others]),
        note=f"Smaller throughput over larger, two flows, {kind}, {setting.rate_mbps:g} Mbit/s: mean over the paths of "
        f"{_list(setting.paths(pair), 'g')} ms and 95 % interval of {_runs()}. Medians path by path: {paths}."
        + WHY.get(f"figure-{setting.figure}-{what}{setting.suffix}", ""),
        criterion=ORDER_RULE, variant=_variant(setting, shown), figure=setting.name,
        scenarios=_names(setting, pair, shown), readings=setting.readings, long=setting.long,
    )  # fmt: skip


def _variation(ratios: Ratios) -> Claim:
    setting = ratios.setting
    spread = {name: ratios.spread(ALGORITHMS[name]) for name in ("TCP", "FAST", "Scalable")}
    tests = [
        test
        for name in ("FAST", "Scalable")
        for test in (is_more(spread[name], spread["TCP"]), interval(spread[name]).low >= LARGE_VARIATION)
    ]
    verdict: Verdict = "reproduced" if all(tests) else "direction" if any(tests) else "not reproduced"
    return Claim(
        PAPER,
        f"figure-{setting.figure}-variation",
        _source(setting),
        says="Both FAST-TCP and Scalable-TCP display very large variations in fairness",
        printed=None,
        measured=", ".join(f"{name} {interval(values)}" for name, values in spread.items()),
        verdict=verdict,
        note="Largest less smallest ratio over the paths with one round-trip time; mean and 95 % interval of "
        f"{_runs()}." + WHY.get(f"figure-{setting.figure}-variation{setting.suffix}", ""),
        criterion=f"Our criterion: for both, the interval lies above {LARGE_VARIATION}, and the spread exceeds TCP's "
        f"by more than {MARGIN:.2f} with an interval of the paired differences above 0. "
        "All four: reproduced; one at least: direction.",
        variant=_variant(setting, spread),
        figure=setting.name,
        scenarios=_names(setting, SAME_RTT, spread),
        readings=setting.readings,
        long=setting.long,
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
    return Claim(
        PAPER, f"figure-{setting.figure}-cross-traffic", _source(setting),
        says="Similar behavior is observed when web traffic is present", printed=None, measured=str(measured),
        verdict=below_verdict(measured, SIMILAR),
        note=f"Mean distance, over the algorithms of the figure and both kinds of pairs, between the means of "
        f"{len(SEEDS)} runs with and without short connections at {CROSS_LOAD:.0%} of the link; first flow "
        f"{setting.cross_delay_ms:g} ms. "
        "95 % interval of the jackknife over the seeds. The web traffic is ours: the paper does not describe its own.",
        criterion=f"Our criterion: similar is {SIMILAR} or less. The whole interval: reproduced; a part of it: "
        "direction.",
        variant=_variant(setting, {**setting.algorithms(SAME_RTT), **setting.algorithms(DIFFERENT_RTT)}),
        figure=setting.name, scenarios=names, readings=setting.readings, long=setting.long,
    )  # fmt: skip


def illustration(ratios: Ratios, *, recorded: bool) -> Illustration:
    """Draw one figure in one set-up: medians and quartiles."""
    setting = ratios.setting
    figure = Figure(2, height=6.6, linked=False)
    kinds = {
        SAME_RTT: "one round-trip time",
        DIFFERENT_RTT: f"the second with {setting.delays_ms[-1]:g} ms" if setting.public
        else "the second with twice the round-trip time",
    }  # fmt: skip
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
    return Illustration(
        f"Figure {setting.figure}, two flows of one algorithm, {shown}", caption, figure, id=setting.name,
        scenarios=names,
    )  # fmt: skip


def _line(panel: Panel, ratios: Ratios, pair: str, name: str, algorithm: str) -> None:
    setting, look = ratios.setting, style.look(algorithm)
    paths = setting.paths(pair)
    values = ratios.even if pair == SAME_RTT else ratios.raw
    ensembles = [values(Point(pair, algorithm, delay)) for delay in paths]
    low, high = ([max(quartiles(runs)[side], 1e-4) for runs in ensembles] for side in (0, 1))
    panel.band(paths, low, high, colour=look.colour, opacity=0.15)
    panel.line(paths, [median(runs) for runs in ensembles], dash=look.line, marker=look.marker, colour=look.colour,
               label=name)  # fmt: skip
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
