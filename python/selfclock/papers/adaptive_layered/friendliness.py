"""SACK TCP's share beside one flow of each algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.ambiguities import COMBINATIONS, DEFAULT, Altcp
from selfclock.papers.adaptive_layered.fairness import VARIANTS
from selfclock.papers.adaptive_layered.network import ALGORITHMS, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import ORDER_RULE, PAPER, difference, order_verdict
from selfclock.papers.drawing import runs
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

SEEDS = range(1, 9)
JITTER_S = 10.0


@dataclass(frozen=True)
class Setting:
    """A link, a path, and how long is measured."""

    reading: str
    rate_mbps: float
    delay_ms: float
    seconds: float
    skipped_s: float


SETTINGS = (
    Setting(ambiguities.FAST_LINK, 250.0, 60.0, 180.0, 60.0),
    Setting(ambiguities.SLOW_LINK, 10.0, 80.0, 600.0, 180.0),
)

#: All but TCP, which by symmetry has its fair share beside TCP.
BESIDE = {name: algorithm for name, algorithm in ALGORITHMS.items() if name != "TCP"}

#: Those that the paper compares its own two with.
OTHERS = ("HighSpeed", "Scalable")


#: The readings of ALTCP under which it is run: with two dimensions the first layer and the form of
#: K_R change nothing here beside the queue's phases, so they are run together.
UNDER = tuple(under for under in COMBINATIONS if (under.first == DEFAULT.first) == (under.k_r == DEFAULT.k_r))


def _name(setting: Setting, algorithm: str, seed: int) -> str:
    return f"beside-tcp-{setting.rate_mbps:g}-{algorithm}-{seed}"


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return one flow of each algorithm beside TCP, on both links."""
    return [
        scenario(
            _name(setting, algorithm, seed),
            setting.rate_mbps,
            [sender(own, setting.delay_ms, jitter_s=JITTER_S * scale) for own in (own_control, TCP)],
            seconds=setting.seconds * scale,
            seed=seed,
            samples_s=5.0 * scale,
            jittered=True,
        )
        for setting in SETTINGS
        for algorithm, own_control in _controls().items()
        for seed in SEEDS
    ]


def _controls() -> dict[str, dict[str, object]]:
    """Every algorithm beside TCP, and ALTCP under the other readings, by the part of names."""
    return {
        **{algorithm: control(algorithm) for algorithm in BESIDE.values()},
        **{under.name: under.control for under in UNDER[1:]},
    }


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what is left for TCP."""
    measured = iter(results)
    left: dict[float, dict[str, list[float]]] = {}
    for setting in SETTINGS:
        left[setting.rate_mbps] = {}
        for name in (*BESIDE, *(under.label for under in UNDER[1:])):
            runs = [throughputs_mbps(next(measured), setting.skipped_s * scale, setting.seconds * scale) for _ in SEEDS]
            left[setting.rate_mbps][name] = [2 * tcp / max(own + tcp, 1e-9) for own, tcp in runs]
    claims = []
    for setting in SETTINGS:
        claims += [_claim(setting, "ALTCP", left[setting.rate_mbps], under) for under in UNDER]
        claims.append(_claim(setting, "A-TCP", left[setting.rate_mbps]))
    return claims, [_figure(left)], [_grid(left)]


def _claim(setting: Setting, own: str, left: dict[str, list[float]], under: Altcp | None = None) -> Claim:
    label = under.label if under else own
    algorithm = under.name if under else ALGORITHMS[own]
    variant = under.variant if under else VARIANTS[own]
    apart = ", ".join(f"{name} {difference(left[label], left[name])}" for name in OTHERS)
    return Claim(
        PAPER, f"friendliness-{ALGORITHMS[own]}", "abstract and section 7",
        says=f"{own} has better TCP friendliness compared with High-speed TCP and Scalable TCP", printed=None,
        measured=f"{interval(left[label])}; " + ", ".join(f"{name} {interval(left[name])}" for name in OTHERS),
        verdict=order_verdict(left[label], [left[name] for name in OTHERS]),
        note=f"What SACK TCP gets beside one flow, over half of the total: 1 is its fair share. {setting.rate_mbps:g} "
        f"Mbit/s, {setting.delay_ms:g} ms, {len(SEEDS)} runs of {setting.seconds:g} s without the first "
        f"{setting.skipped_s:g} s, random starts within {JITTER_S:g} s. Paired differences: {apart}.",
        criterion=ORDER_RULE,
        variant=f"{'; '.join([variant, *(VARIANTS[name] for name in OTHERS)])}; buffer 1 BDP, delay of ours",
        readings=(setting.reading, *(under.readings if under else ())),
        figure="friendliness",
        scenarios=tuple(_name(setting, name, seed) for name in (algorithm, *(ALGORITHMS[one] for one in OTHERS))
                        for seed in SEEDS),
    )  # fmt: skip


def _figure(left: dict[float, dict[str, list[float]]]) -> Illustration:
    figure = Figure(columns=len(SETTINGS), height=3.4, same_scale=True)
    for panel, setting in zip(figure.panels[0], SETTINGS, strict=True):
        panel.rule("y", 1, colour=BLACK, dash="-", width=0.6, label="fair share")
        for place, (name, algorithm) in enumerate(BESIDE.items()):
            values = left[setting.rate_mbps][name]
            runs(panel, place, values, interval(values), style.look(algorithm), name)
        panel.x.name(*BESIDE)
        panel.y.low = 0.0
        panel.title = f"{setting.rate_mbps:g} Mbit/s, {setting.delay_ms:g} ms"
    figure.panel.y.label = "TCP's part of its fair share"
    caption = (
        f"What SACK TCP gets beside one flow of the algorithm: every one of {len(SEEDS)} runs, mean and 95 % interval."
    )
    return Illustration(
        "Friendliness to TCP", caption, figure, id="friendliness",
        scenarios=tuple(_name(setting, algorithm, seed) for setting in SETTINGS for algorithm in BESIDE.values()
                        for seed in SEEDS),
    )  # fmt: skip


def _grid(left: dict[float, dict[str, list[float]]]) -> Table:
    return Table(
        "Friendliness to TCP",
        "What SACK TCP gets beside one flow of the algorithm, over half of the total: 1 is its fair share. "
        f"Means and 95 % intervals of {len(SEEDS)} runs.",
        ["beside", *(f"{setting.rate_mbps:g} Mbit/s, {setting.delay_ms:g} ms" for setting in SETTINGS)],
        [
            [name, *(str(interval(left[setting.rate_mbps][name])) for setting in SETTINGS)]
            for name in left[SETTINGS[0].rate_mbps]
        ],
    )
