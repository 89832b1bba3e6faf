"""Yu, Li, Hoang, Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.claims import Findings
from selfclock.paper_runs import Study
from selfclock.papers.ficcrd import fair_share, figures, limits, ns2, relatives, schemes
from selfclock.papers.ficcrd.declared import CLAIMS

if TYPE_CHECKING:
    from selfclock.paper_runs import Runs

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

TITLE = "FICCRD"
REFERENCE = "Q. Yu, M. Li, D. B. Hoang, D. D. Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."
AMBIGUITIES = CLAIMS.ambiguities


def study(scale: float = 1.0, *, full: bool = False) -> Study:  # noqa: ARG001 nothing takes minutes
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs."""
    parts = [part for module in (figures, fair_share, ns2, limits, relatives) for part in module.parts(scale)]
    return Study(parts, partial(_findings, scale))


def _findings(scale: float, runs: Runs) -> Findings:
    found = [
        figures.findings(runs, scale),
        fair_share.findings(runs),
        ns2.findings(runs),
        limits.findings(runs, scale),
        relatives.findings(runs),
    ]
    return Findings(
        claims=[claim for claims, _, _ in found for claim in claims],
        figures=[drawing for _, drawings, _ in found for drawing in drawings],
        schemes=schemes.schemes(),
        tables=[table for _, _, tables in found for table in tables],
    )
