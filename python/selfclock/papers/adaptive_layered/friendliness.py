"""SACK TCP's share beside one flow of each algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.ambiguities import COMBINATIONS, DEFAULT, Altcp
from selfclock.papers.adaptive_layered.comparison import difference, passes
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.fairness import VARIANTS
from selfclock.papers.adaptive_layered.network import ALGORITHMS, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import runs
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
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


def findings(found: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what is left for TCP."""
    left: dict[float, dict[str, list[float]]] = {}
    for setting in SETTINGS:
        left[setting.rate_mbps] = {}
        for label, algorithm in {**BESIDE, **{under.label: under.name for under in UNDER[1:]}}.items():
            results = found.each(_name(setting, algorithm, seed) for seed in SEEDS)
            pairs = [throughputs_mbps(one, setting.skipped_s * scale, setting.seconds * scale) for one in results]
            left[setting.rate_mbps][label] = [2 * tcp / max(own + tcp, 1e-9) for own, tcp in pairs]
    claims = []
    for setting in SETTINGS:
        claims += [_claim(setting, "ALTCP", left[setting.rate_mbps], under) for under in UNDER]
        claims.append(_claim(setting, "A-TCP", left[setting.rate_mbps]))
    return claims, [_figure(left)], [_grid(left)]


def _claim(setting: Setting, own: str, left: dict[str, list[float]], under: Altcp | None = None) -> Claim:
    label = under.label if under else own
    algorithm = under.name if under else ALGORITHMS[own]
    variant = "; ".join([under.variant if under else VARIANTS[own], *(VARIANTS[name] for name in OTHERS)])
    names = tuple(
        _name(setting, name, seed) for name in (algorithm, *(ALGORITHMS[one] for one in OTHERS)) for seed in SEEDS
    )
    return CLAIMS(
        f"friendliness-{ALGORITHMS[own]}",
        Ran(f"{variant}; buffer 1 BDP, delay of ours", names, (setting.reading, *(under.readings if under else ()))),
        left=interval(left[label]),
        others=[f"{name} {interval(left[name])}" for name in OTHERS],
        setting=setting,
        apart=[f"{name} {difference(left[label], left[name])}" for name in OTHERS],
        beats=[passes(left[label], left[name]) for name in OTHERS],
    )


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
    names = tuple(
        _name(setting, algorithm, seed) for setting in SETTINGS for algorithm in BESIDE.values() for seed in SEEDS
    )
    return Illustration("Friendliness to TCP", caption, figure, id="friendliness", scenarios=names)


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
