"""Khalil, Elbery, Nosair, Morsi: A Modification to Swifter Start Algorithm for TCP Congestion Control."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from selfclock.papers.swift_start.declared import CLAIMS

if TYPE_CHECKING:
    from selfclock.paper_runs import Runs

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

AMBIGUITIES = CLAIMS.ambiguities
TITLE = "Swift Start"
REFERENCE = (
    "E. A. Khalil, A. A. Elbery, B. A. Nosair, I. Z. Morsi: A Modification to Swifter Start Algorithm for TCP "
    "Congestion Control, 2005."
)


def study(*, full: bool = False) -> Study:  # noqa: ARG001 nothing takes minutes
    """Return every experiment of the paper, and cases that it omits."""
    beside = [Part(module.scenarios()) for module in (sharing, harm, matrix, transfers)]
    return Study([*beside, *runs.parts(), *estimates.parts()], _findings)


def _findings(found: Runs) -> Findings:
    by = runs.found(found)
    figure_claims, figure_tables = figures.findings(by)
    estimate_claims, estimate_drawings, estimate_tables = estimates.findings(found)
    sharing_drawings, sharing_tables = sharing.findings(found)
    matrix_drawings, matrix_tables = matrix.findings(found)
    return Findings(
        claims=[*figure_claims, *modified.findings(by), *estimate_claims],
        figures=[*drawings.illustrations(by), *estimate_drawings, *sharing_drawings, *matrix_drawings],
        schemes=schemes.schemes(),
        tables=[
            *transfers.findings(found),
            *figure_tables,
            *estimate_tables,
            *sharing_tables,
            *harm.findings(found),
            *matrix_tables,
        ],
    )
