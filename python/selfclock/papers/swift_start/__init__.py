"""Khalil, Elbery, Nosair, Morsi: A Modification to Swifter Start Algorithm for TCP Congestion Control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.claims import Findings
from selfclock.paper_runs import Part, Study
from selfclock.papers.swift_start import (
    drawings,
    estimates,
    figures,
    harm,
    matrix,
    modified,
    runs,
    schemes,
    sharing,
    transfers,
)
from selfclock.papers.swift_start.ambiguities import AMBIGUITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

TITLE = "Swift Start"
REFERENCE = (
    "E. A. Khalil, A. A. Elbery, B. A. Nosair, I. Z. Morsi: A Modification to Swifter Start Algorithm for TCP "
    "Congestion Control, 2005."
)


def study(*, full: bool = False) -> Study:  # noqa: ARG001 nothing takes minutes
    """Return every experiment of the paper, and cases that it omits."""
    beside = [Part(module.scenarios()) for module in (sharing, harm, matrix, transfers)]
    return Study([*beside, *runs.parts(), *estimates.parts()], _findings)


def _findings(readings: Sequence[list[Any]]) -> Findings:
    shared, harmful, crossed, transferred, drawn, *estimated = readings
    by = runs.found(drawn)
    figure_claims, figure_tables = figures.findings(by)
    estimate_claims, estimate_drawings, estimate_tables = estimates.findings(estimated)
    sharing_drawings, sharing_tables = sharing.findings(shared)
    matrix_drawings, matrix_tables = matrix.findings(crossed)
    return Findings(
        claims=[*figure_claims, *modified.findings(by), *estimate_claims],
        figures=[*drawings.illustrations(by), *estimate_drawings, *sharing_drawings, *matrix_drawings],
        schemes=schemes.schemes(),
        tables=[*transfers.findings(transferred), *figure_tables, *estimate_tables, *sharing_tables,
                *harm.findings(harmful), *matrix_tables],
    )  # fmt: skip
