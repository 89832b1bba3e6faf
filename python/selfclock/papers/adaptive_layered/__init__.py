"""Kavidha, Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered import exponents, fairness, groups, ns2, overlap, single
from selfclock.reproduce import Findings
from selfclock.studies import Part, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

TITLE = "ALTCP and Adaptive TCP"
REFERENCE = (
    "V. Kavidha, V. Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol."
)


def study(scale: float = 1.0) -> Study:
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs."""
    parts = (single, ns2, overlap, groups, fairness, exponents)
    return Study([Part(part.scenarios(scale)) for part in parts], partial(_findings, scale=scale))


def _findings(results: Sequence[list[Result]], scale: float) -> Findings:
    alone, beside_ns2, overlapping, grouped, pairs, laws = results
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
