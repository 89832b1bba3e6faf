"""Kavidha, Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Claim, Findings
from selfclock.paper_runs import Part, Study
from selfclock.papers.adaptive_layered import (
    convergence,
    exponents,
    fairness,
    friendliness,
    groups,
    laws,
    ns2,
    overlap,
    pairs,
    schemes,
    single,
)
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.on_record import long_claims, long_data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

AMBIGUITIES = CLAIMS.ambiguities
TITLE = "ALTCP and Adaptive TCP"
REFERENCE = (
    "V. Kavidha, V. Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."
)

#: The experiments that every run makes.
EXPERIMENTS: tuple[Callable[[float], list[Scenario]], ...] = (
    single.scenarios,
    ns2.scenarios,
    overlap.scenarios,
    groups.alone,
    friendliness.scenarios,
    convergence.scenarios,
    exponents.scenarios,
)


def study(scale: float = 1.0, *, full: bool = False) -> Study:
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs.

    Only `full` runs figure 4, 250 Mbit/s for 10 minutes, the public set-up of figure 5, losses at
    random, and twenty of each group beside TCP.
    """
    settings = [setting for setting in pairs.SETTINGS if full or not setting.long]
    parts = [
        Part(made(scale))
        for made in (*EXPERIMENTS, *((groups.beside_tcp, exponents.at_random_scenarios) if full else ()))
    ]
    parts += [Part(pairs.scenarios(setting, scale), partial(pairs.rates, scale=scale)) for setting in settings]
    return Study(parts, partial(_findings, settings, scale, full=full))


def _findings(settings: Sequence[pairs.Setting], scale: float, runs: Runs, *, full: bool) -> Findings:
    held = long_data(__name__)
    random = exponents.random_exponents(runs, scale) if full else held["random"]
    one_alone = overlap.alone_mbps(runs, scale)
    alone_claims, alone_figures = single.findings(runs, scale)
    overlap_claims, overlap_figures = overlap.findings(runs, scale)
    group_claims, group_figures = groups.alone_findings(runs, one_alone, scale)
    friendly_claims, friendly_figures, friendly_tables = friendliness.findings(runs, scale)
    converge_claims, converge_figures, converge_tables = convergence.findings(runs, scale)
    law_claims, law_figures, law_tables = laws.findings(runs, random, scale, full=full)
    ns2_claims, ns2_figures, ns2_tables = ns2.findings(runs, scale)
    measured = [pairs.Ratios.of(setting, runs) for setting in settings]
    drawn = {ratios.setting.name: ratios for ratios in [*_on_record(held), *measured]}
    in_order = [drawn[setting.name] for setting in pairs.SETTINGS if setting.name in drawn]
    pair_claims = [claim for ratios in measured for claim in fairness.claims(ratios)]
    claims = [
        *alone_claims,
        *overlap_claims,
        *group_claims,
        *pair_claims,
        *friendly_claims,
        *converge_claims,
        *law_claims,
        *ns2_claims,
    ]
    claims += groups.beside_findings(runs, scale) if full else long_claims(__name__)
    return Findings(
        claims=_sorted(claims),
        figures=[
            *alone_figures,
            *overlap_figures,
            *group_figures,
            *(fairness.illustration(ratios, recorded=ratios not in measured) for ratios in in_order),
            *friendly_figures,
            *converge_figures,
            *law_figures,
            *ns2_figures,
        ],
        schemes=schemes.schemes(),
        tables=[fairness.grid(in_order), *friendly_tables, *converge_tables, *law_tables, *ns2_tables],
        data=_data(measured, random) if full else {},
    )


def _data(measured: Sequence[pairs.Ratios], random: Mapping[str, list[float]]) -> dict[str, object]:
    """Return the numbers of the long runs, for later runs."""
    return {**{ratios.setting.name: ratios.data() for ratios in measured if ratios.setting.long}, "random": random}


def _on_record(held: Mapping[str, Any]) -> list[pairs.Ratios]:
    return [pairs.Ratios(setting, held[setting.name]) for setting in pairs.SETTINGS if setting.name in held]


#: Prefixes of the identifiers of claims, in the order of the report.
ORDER = (
    "figure-2",
    "figure-3",
    "k-1",
    "group",
    "figure-4",
    "figure-5",
    "friendliness",
    "equation",
    "rtt",
    "more",
    "ns2",
)


def _sorted(claims: list[Claim]) -> list[Claim]:
    """Return the claims in one order, whether measured or recorded."""
    return sorted(claims, key=lambda claim: next(at for at, begin in enumerate(ORDER) if claim.id.startswith(begin)))
