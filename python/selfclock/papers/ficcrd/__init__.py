"""Yu, Li, Hoang, Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Findings
from selfclock.paper_runs import Study
from selfclock.papers.ficcrd import fair_share, figures, limits, ns2, relatives, schemes
from selfclock.papers.ficcrd.ambiguities import AMBIGUITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

TITLE = "FICCRD"
REFERENCE = "Q. Yu, M. Li, D. B. Hoang, D. D. Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."


def study(scale: float = 1.0, *, full: bool = False) -> Study:  # noqa: ARG001 nothing takes minutes
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs."""
    modules = (figures, fair_share, ns2, limits, relatives)
    parts = [module.parts(scale) for module in modules]
    return Study([part for own in parts for part in own], partial(_findings, [len(own) for own in parts], scale))


def _findings(counts: Sequence[int], scale: float, readings: Sequence[list[Any]]) -> Findings:
    rest = iter(readings)
    figure, share, beside_ns2, limited, related = ([next(rest) for _ in range(count)] for count in counts)
    found = [
        figures.findings(figure, scale),
        fair_share.findings(share, scale),
        ns2.findings(beside_ns2, scale),
        limits.findings(limited, scale),
        relatives.findings(related),
    ]
    return Findings(
        claims=[claim for claims, _, _ in found for claim in claims],
        figures=[drawing for _, drawings, _ in found for drawing in drawings],
        schemes=schemes.schemes(),
        tables=[table for _, _, tables in found for table in tables],
    )
