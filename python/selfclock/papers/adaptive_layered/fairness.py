"""Figures 4 and 5: two flows of one algorithm; and one flow of each beside TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from selfclock import style
from selfclock.papers.adaptive_layered.network import ALGORITHMS, TCP, Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import PAPER, SAME, median, order_verdict, share_verdict
from selfclock.reproduce import Claim, Grid, Illustration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: The second flow of a pair with different round-trip times has this many times the first one's.
LONGER = 2

#: Mean load of the web-like connections, as a part of the link.
CROSS_LOAD = 0.1

#: "Very large variations": the medians of an algorithm lie this far apart, from path to path.
LARGE_VARIATION = 0.25

#: "Similar behaviour" with and without cross traffic: so far apart on average.
SIMILAR = 0.15


@dataclass(frozen=True)
class Setting:
    """A figure's link, and what is run on it."""

    figure: int
    rate_mbps: float
    delays_ms: tuple[float, ...]
    #: Paths on which there is cross traffic, too.
    cross_delays_ms: tuple[float, ...]
    friendly_delay_ms: float
    seeds: range
    seconds: float
    skipped_s: float
    jitter_s: float = 10.0


SETTINGS = [
    Setting(4, 250.0, (20.0, 60.0, 160.0), (60.0,), 60.0, range(1, 2), 180.0, 60.0),
    Setting(5, 10.0, (16.0, 40.0, 80.0, 160.0), (40.0,), 80.0, range(1, 4), 600.0, 180.0),
]

#: "Tests are of 10 minutes duration", without as much of them as section 5 leaves out. Figure 4 runs these on one path:
#: those that its claims compare.
PRINTED_S = (180.0, 600.0)
PRINTED_RTT_MS = 60.0
PRINTED = {
    ("same", "reno"), ("same", "fast"), ("same", "scalable"), ("same", "altcp"),
    ("different", "highspeed"), ("different", "scalable"), ("different", "altcp"),
}  # fmt: skip

SAME_RTT, DIFFERENT_RTT, BESIDE_TCP = "same", "different", "beside TCP"


@dataclass(frozen=True)
class Case:
    """One run."""

    setting: Setting
    algorithm: str
    pair: str
    delay_ms: float
    crossed: bool
    seed: int

    @property
    def printed(self) -> bool:
        """It goes on to the printed length."""
        return (
            self.setting.figure == 4
            and (self.pair, self.algorithm) in PRINTED
            and self.delay_ms == PRINTED_RTT_MS
            and not self.crossed
        )

    def scenario(self, scale: float) -> Scenario:
        """Return it to run."""
        longer = LONGER if self.pair == DIFFERENT_RTT else 1
        own = control(self.algorithm)
        jitter = self.setting.jitter_s * scale
        return scenario(
            f"{self.pair}-{self.algorithm}-{self.delay_ms:g}-{self.seed}",
            self.setting.rate_mbps,
            [
                Flow(own, self.delay_ms, jitter_s=jitter),
                Flow(TCP if self.pair == BESIDE_TCP else own, self.delay_ms * longer, jitter_s=jitter),
            ],
            seconds=(PRINTED_S[1] if self.printed else self.setting.seconds) * scale,
            seed=self.seed,
            cross_load=CROSS_LOAD if self.crossed else 0.0,
            samples_s=5.0 * scale,
            jittered=True,
        )


def cases() -> list[Case]:
    """Every run of both figures."""
    return [
        Case(setting, algorithm, pair, delay, crossed, seed)
        for setting in SETTINGS
        for algorithm in ALGORITHMS.values()
        for pair, paths in (
            (SAME_RTT, setting.delays_ms),
            (DIFFERENT_RTT, setting.delays_ms),
            (BESIDE_TCP, (setting.friendly_delay_ms,)),
        )
        for delay in paths
        for crossed in (False, True)
        if not crossed or (delay in setting.cross_delays_ms and pair != BESIDE_TCP)
        # TCP beside TCP is in the figure.
        if (algorithm, pair) != ("reno", BESIDE_TCP)
        for seed in setting.seeds
    ]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run."""
    return [case.scenario(scale) for case in cases()]


class Ratios:
    """Throughput ratios of every run.

    With one round-trip time the smaller over the larger; with two that of the longer over that of the shorter; beside
    TCP what TCP got, over half of both together.
    """

    def __init__(self, results: Iterable[Result], scale: float = 1.0) -> None:
        self._of: dict[tuple[int, str, str, float, bool], list[float]] = {}
        self.printed: dict[tuple[str, str], tuple[float, float]] = {}
        for case, result in zip(cases(), results, strict=True):
            rates = throughputs_mbps(result, case.setting.skipped_s * scale, case.setting.seconds * scale)
            key = (case.setting.figure, case.algorithm, case.pair, case.delay_ms, case.crossed)
            self._of.setdefault(key, []).append(_ratio(case.pair, rates))
            if (case.algorithm, case.pair, case.crossed) == ("reno", SAME_RTT, False):
                beside = (case.setting.figure, "reno", BESIDE_TCP, case.delay_ms, False)
                self._of.setdefault(beside, []).append(_ratio(BESIDE_TCP, rates))
            if case.printed:
                longer = throughputs_mbps(result, *(time * scale for time in PRINTED_S))
                self.printed[case.pair, case.algorithm] = (_ratio(case.pair, rates), _ratio(case.pair, longer))

    def runs(self, setting: Setting, algorithm: str, pair: str, delay: float, *, crossed: bool = False) -> list[float]:
        """Ratios of the runs of one point."""
        return self._of[setting.figure, algorithm, pair, delay, crossed]

    def line(self, setting: Setting, algorithm: str, pair: str, *, crossed: bool = False) -> list[float]:
        """Medians, path by path."""
        paths = setting.cross_delays_ms if crossed else setting.delays_ms
        return [median(self.runs(setting, algorithm, pair, delay, crossed=crossed)) for delay in paths]

    def fairness(self, setting: Setting, algorithm: str, pair: str) -> float:
        """Mean over all paths of the medians; a flow that gets twice as much is as unfair as one that gets half."""
        line = [_evenness(value) for value in self.line(setting, algorithm, pair)]
        return sum(line) / len(line)

    def friendly(self, setting: Setting, algorithm: str) -> float:
        """What TCP gets of its fair share."""
        return median(self.runs(setting, algorithm, BESIDE_TCP, setting.friendly_delay_ms))


def _ratio(pair: str, rates_mbps: Sequence[float]) -> float:
    first, second = rates_mbps
    if pair == SAME_RTT:
        return min(first, second) / max(first, second)
    return second / max(first, 1e-9) if pair == DIFFERENT_RTT else 2 * second / (first + second)


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Judge figures 4 and 5 and the friendliness."""
    ratios = Ratios(results, scale)
    claims: list[Claim] = []
    for setting in SETTINGS:
        claims += _figure_claims(setting, ratios)
    return (
        claims,
        [_figure(setting, ratios) for setting in SETTINGS],
        [_friendliness(ratios), _printed(ratios), _cross(ratios)],
    )


def _figure_claims(setting: Setting, ratios: Ratios) -> list[Claim]:
    figure, own = setting.figure, {4: "ALTCP", 5: "A-TCP"}[setting.figure]
    source = f"section 6.{figure - 3}, figure {figure}"
    runs = f"{_runs(setting)} with random starts within {setting.jitter_s:g} s"
    paths = ", ".join(f"{delay:g}" for delay in setting.delays_ms)
    tcp = ratios.line(setting, "reno", SAME_RTT)
    spread = {name: _spread(ratios.line(setting, ALGORITHMS[name], SAME_RTT)) for name in ("TCP", "FAST", "Scalable")}
    varies = order_verdict(min(spread["FAST"], spread["Scalable"]), [spread["TCP"], LARGE_VARIATION])
    apart = _cross_difference(setting, ratios)
    claims = [
        Claim(PAPER, f"figure-{figure}-tcp", source,
              "Two TCP flows with the same path have the same throughput to within 5 %", f"{SAME} or more",
              round(min(tcp), 3), share_verdict(min(tcp), SAME),
              f"Smaller over larger, the worst of the paths of {paths} ms, median of {runs}; all: {_list(tcp)}."),
        _order(setting, ratios, own, ["FAST", "Scalable"], SAME_RTT, f"figure-{figure}-same-rtt", source,
               f"{own} is fairer than FAST and Scalable"),
        Claim(PAPER, f"figure-{figure}-variation", source,
              "FAST and Scalable display very large variations in fairness",
              f"both vary by {LARGE_VARIATION} or more, and more than TCP",
              ", ".join(f"{name} {value:.2f}" for name, value in spread.items()), varies,
              "Largest less smallest ratio over the paths, same round-trip time."),
        _order(setting, ratios, own, ["HighSpeed", "Scalable"], DIFFERENT_RTT, f"figure-{figure}-different-rtt",
               "abstract and section 7", f"{own} has better RTT fairness than HighSpeed and Scalable"),
        Claim(PAPER, f"figure-{figure}-cross-traffic", source, "Similar behaviour with web traffic",
              f"ratios {SIMILAR} apart or less", round(apart, 3),
              "reproduced" if apart <= SIMILAR else "not reproduced",
              f"Mean distance between the medians with and without short connections at {CROSS_LOAD:.0%} of the link, "
              f"over all "
              f"algorithms and both kinds of pairs, on paths of "
              f"{', '.join(f'{delay:g}' for delay in setting.cross_delays_ms)} ms."),
    ]  # fmt: skip
    for better in ("ALTCP", "A-TCP"):
        others = {name: ratios.friendly(setting, ALGORITHMS[name]) for name in ("HighSpeed", "Scalable")}
        measured = ratios.friendly(setting, ALGORITHMS[better])
        claims.append(
            Claim(PAPER, f"friendliness-{ALGORITHMS[better]}-{setting.rate_mbps:g}-Mbps", "abstract and section 7",
                  f"{better} is friendlier to TCP than HighSpeed and Scalable", "TCP gets more beside it",
                  f"{measured:.2f}; " + ", ".join(f"{name} {value:.2f}" for name, value in others.items()),
                  order_verdict(measured, others.values()),
                  f"What SACK TCP gets beside one flow, as a part of half the total; {setting.rate_mbps:g} Mbit/s, "
                  f"{setting.friendly_delay_ms:g} ms, median of {runs}. 1 is TCP beside TCP.")
        )  # fmt: skip
    return claims


def _order(
    setting: Setting, ratios: Ratios, own: str, others: list[str], pair: str, identity: str, source: str, says: str
) -> Claim:
    means = {name: ratios.fairness(setting, ALGORITHMS[name], pair) for name in [own, *others, "TCP"]}
    kind = "one round-trip time" if pair == SAME_RTT else f"the second with {LONGER} times the round-trip time"
    paths = "smaller over larger" if pair == SAME_RTT else "second over first"
    return Claim(
        PAPER,
        identity,
        source,
        says,
        f"{own} > {', '.join(others)}",
        ", ".join(f"{name} {value:.2f}" for name, value in means.items()),
        order_verdict(means[own], [means[name] for name in others]),
        f"Smaller throughput over larger, two flows, {kind}, {setting.rate_mbps:g} Mbit/s: mean over "
        f"{len(setting.delays_ms)} paths of medians of {_runs(setting)}. Path by path, {paths}: {own} "
        f"{_list(ratios.line(setting, ALGORITHMS[own], pair))}; "
        + "; ".join(f"{name} {_list(ratios.line(setting, ALGORITHMS[name], pair))}" for name in others)
        + ".",
    )


def _cross_difference(setting: Setting, ratios: Ratios) -> float:
    apart = [
        abs(_evenness(median(ratios.runs(setting, algorithm, pair, delay))) - _evenness(crossed))
        for algorithm in ALGORITHMS.values()
        for pair in (SAME_RTT, DIFFERENT_RTT)
        for delay, crossed in zip(
            setting.cross_delays_ms, ratios.line(setting, algorithm, pair, crossed=True), strict=True
        )
    ]
    return sum(apart) / len(apart)


@style.house()
def _figure(setting: Setting, ratios: Ratios) -> Illustration:
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    titles = {SAME_RTT: "same round-trip time", DIFFERENT_RTT: f"the second with {LONGER} times the round-trip time"}
    for axes, (pair, title) in zip(panels, titles.items(), strict=True):
        for name, algorithm in ALGORITHMS.items():
            look = style.look(algorithm)
            medians = ratios.line(setting, algorithm, pair)
            axes.plot(setting.delays_ms, medians, look.line, marker=look.marker, color=look.colour, label=name)
            crossed = ratios.line(setting, algorithm, pair, crossed=True)
            axes.plot(setting.cross_delays_ms, crossed, look.marker, color=look.colour, fillstyle="none", markersize=8)
        axes.set_xscale("log")
        axes.set_xticks(setting.delays_ms, [f"{delay:g}" for delay in setting.delays_ms])
        axes.minorticks_off()
        if pair == SAME_RTT:
            axes.set_ylim(0, 1.05)
        else:
            axes.set_yscale("log")
            axes.axhline(1, color="black", linewidth=0.6)
        axes.set_ylabel("throughput ratio")
        axes.set_title(f"Two flows, {setting.rate_mbps:g} Mbit/s: {title}")
    panels[1].set_xlabel("round-trip time of the first flow (ms)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    caption = (
        f"Medians of {_runs(setting)} of {setting.seconds:g} s without the first {setting.skipped_s:g} "
        f"s. Open "
        f"markers: with short connections at {CROSS_LOAD:.0%} of the link. Above smaller over larger, below longer "
        f"round-trip "
        "time over shorter."
    )
    return Illustration(f"Figure {setting.figure}, two flows of one algorithm", caption, figure)


def _friendliness(ratios: Ratios) -> Grid:
    rows = [
        [name, *(f"{ratios.friendly(setting, algorithm):.2f}" for setting in SETTINGS)]
        for name, algorithm in ALGORITHMS.items()
    ]
    return Grid(
        "Friendliness to TCP",
        "What SACK TCP gets beside one flow of the algorithm, as a part of half the total: 1 is its fair share.",
        ["beside", *(f"{setting.rate_mbps:g} Mbit/s, {setting.friendly_delay_ms:g} ms" for setting in SETTINGS)],
        rows,
    )


def _printed(ratios: Ratios) -> Grid:
    names = {algorithm: name for name, algorithm in ALGORITHMS.items()}
    rows = [
        [pair, names[algorithm], f"{short:.2f}", f"{long:.2f}"]
        for (pair, algorithm), (short, long) in ratios.printed.items()
    ]
    setting = SETTINGS[0]
    begin, end = PRINTED_S
    return Grid(
        "Figure 4 at the printed length",
        f"The same runs, {setting.rate_mbps:g} Mbit/s and {PRINTED_RTT_MS:g} ms, measured as in the figure and on to "
        "the printed 10 minutes. Same round-trip time: smaller over larger; different: longer over shorter.",
        ["round-trip times", "algorithm", f"{setting.skipped_s:g} to {setting.seconds:g} s",
         f"{begin:g} to {end:g} s"],
        rows,
    )  # fmt: skip


def _cross(ratios: Ratios) -> Grid:
    rows = []
    for setting in SETTINGS:
        for name, algorithm in ALGORITHMS.items():
            row = [f"{setting.rate_mbps:g} Mbit/s", name]
            for pair in (SAME_RTT, DIFFERENT_RTT):
                row.append(_list(ratios.line(setting, algorithm, pair)))
                row.append(_list(ratios.line(setting, algorithm, pair, crossed=True)))
            rows.append(row)
    return Grid(
        "Two flows of one algorithm",
        "Medians, path by path: " + "; ".join(
            f"{setting.rate_mbps:g} Mbit/s {', '.join(f'{delay:g}' for delay in setting.delays_ms)} ms, with cross "
            f"traffic {', '.join(f'{delay:g}' for delay in setting.cross_delays_ms)} ms" for setting in SETTINGS
        ) + ".",
        ["link", "algorithm", "same", "same, cross traffic", "different", "different, cross traffic"],
        rows,
    )  # fmt: skip


def _runs(setting: Setting) -> str:
    count = len(setting.seeds)
    return f"{count} runs" if count > 1 else "1 run"


def _evenness(ratio: float) -> float:
    return min(ratio, 1 / ratio) if ratio > 0 else 0.0


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
