"""Kavidha, Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Claim, Findings, recorded, recorded_data
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
from selfclock.papers.adaptive_layered.ambiguities import AMBIGUITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.scenario import Scenario

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

TITLE = "ALTCP and Adaptive TCP"
REFERENCE = (
    "V. Kavidha, V. Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."
)

#: The experiments that every run makes, in the order of their results.
PARTS: dict[str, Callable[[float], list[Scenario]]] = {
    "single": single.scenarios,
    "ns2": ns2.scenarios,
    "overlap": overlap.scenarios,
    "groups": groups.alone,
    "friendliness": friendliness.scenarios,
    "convergence": convergence.scenarios,
    "exponents": exponents.scenarios,
}


def study(scale: float = 1.0, *, full: bool = False) -> Study:
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs.

    Only `full` runs figure 4, 250 Mbit/s for 10 minutes, and twenty of each group beside TCP.
    """
    settings = [setting for setting in pairs.SETTINGS if full or not setting.long]
    parts = {name: Part(made(scale)) for name, made in PARTS.items()}
    parts |= {
        setting.name: Part(pairs.scenarios(setting, scale), partial(pairs.rates, scale=scale)) for setting in settings
    }
    if full:
        parts["beside"] = Part(groups.beside_tcp(scale))

    def found(results: Sequence[list[Any]]) -> Findings:
        return _findings(dict(zip(parts, results, strict=True)), scale, full=full)

    return Study(list(parts.values()), found)


def _findings(results: dict[str, list[Any]], scale: float, *, full: bool) -> Findings:
    one_alone = overlap.alone_mbps(results["overlap"], scale)
    alone_claims, alone_figures = single.findings(results["single"], scale)
    overlap_claims, overlap_figures = overlap.findings(results["overlap"], scale)
    group_claims, group_figures = groups.alone_findings(results["groups"], one_alone, scale)
    friendly_claims, friendly_figures, friendly_tables = friendliness.findings(results["friendliness"], scale)
    converge_claims, converge_figures, converge_tables = convergence.findings(results["convergence"], scale)
    law_claims, law_figures, law_tables = laws.findings(results["exponents"], scale)
    ns2_claims, ns2_figures, ns2_tables = ns2.findings(results["ns2"], scale)
    measured = [
        pairs.Ratios.of(setting, results[setting.name]) for setting in pairs.SETTINGS if setting.name in results
    ]
    drawn = {ratios.setting.name: ratios for ratios in [*_on_record(), *measured]}
    in_order = [drawn[setting.name] for setting in pairs.SETTINGS if setting.name in drawn]
    pair_claims = [claim for ratios in measured for claim in fairness.claims(ratios)]
    claims = [*alone_claims, *overlap_claims, *group_claims, *pair_claims, *friendly_claims, *converge_claims,
              *law_claims, *ns2_claims]  # fmt: skip
    claims += groups.beside_findings(results["beside"], scale) if full else recorded(__name__)
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
        data={ratios.setting.name: ratios.data() for ratios in measured if ratios.setting.long},
    )


def _on_record() -> list[pairs.Ratios]:
    held = recorded_data(__name__)
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
