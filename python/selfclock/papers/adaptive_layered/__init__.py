"""Kavidha, Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered import exponents, fairness, groups, ns2, overlap, single
from selfclock.reproduce import Findings
from selfclock.scenario import run_many

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "ALTCP and Adaptive TCP"
REFERENCE = (
    "V. Kavidha, V. Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."
)


def reproduce(progress: Callable[[float], None], scale: float = 1.0) -> Findings:
    """Run every experiment of the paper; a `scale` below 1 shortens every run, for tests of what follows the runs."""
    # All at once, the longest first, so that no core waits for another at the end of each experiment.
    lists = [part.scenarios(scale) for part in (single, ns2, overlap, groups, fairness, exponents)]
    results = iter(run_many([scenario for scenarios in lists for scenario in scenarios], progress=progress))
    alone, beside_ns2, overlapping, grouped, pairs, laws = ([next(results) for _ in scenarios] for scenarios in lists)
    alone_claims, alone_figures = single.findings(alone, scale)
    overlap_claims, overlap_figures = overlap.findings(overlapping, scale)
    group_claims, group_tables = groups.findings(grouped, overlap.alone_mbps(overlapping, scale), scale)
    fairness_claims, fairness_figures, fairness_tables = fairness.findings(pairs, scale)
    law_claims, law_figures, law_tables = exponents.findings(laws, scale)
    ns2_claims, ns2_tables = ns2.findings(beside_ns2, scale)
    return Findings(
        claims=[*alone_claims, *overlap_claims, *group_claims, *fairness_claims, *law_claims, *ns2_claims],
        figures=[*alone_figures, *overlap_figures, *fairness_figures, *law_figures],
        tables=[*group_tables, *fairness_tables, *law_tables, *ns2_tables],
    )
