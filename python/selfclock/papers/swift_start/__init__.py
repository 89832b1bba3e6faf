"""Khalil, Elbery, Nosair, Morsi: A Modification to Swifter Start Algorithm for TCP Congestion Control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.swift_start import estimates, figures, harm, matrix, sharing, transfers
from selfclock.reproduce import Findings
from selfclock.studies import Part, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

TITLE = "Swift Start"
REFERENCE = (
    "E. A. Khalil, A. A. Elbery, B. A. Nosair, I. Z. Morsi: A Modification to Swifter Start Algorithm for TCP "
    "Congestion "
    "Control, 2005."
)


def study() -> Study:
    """Return every experiment of the paper, and what it leaves out."""
    parts = (sharing, harm, figures, matrix, transfers, estimates)
    return Study([Part(part.scenarios()) for part in parts], _findings)


def _findings(results: Sequence[list[Result]]) -> Findings:
    shared, harmful, drawn, crossed, transferred, estimated = results
    figure_claims, figure_drawings, figure_tables = figures.findings(drawn)
    estimate_claims, estimate_tables = estimates.findings(estimated)
    sharing_drawings, sharing_tables = sharing.findings(shared)
    matrix_drawings, matrix_tables = matrix.findings(crossed)
    return Findings(
        claims=[*figure_claims, *estimate_claims],
        figures=[*figure_drawings, *sharing_drawings, *matrix_drawings],
        tables=[*transfers.findings(transferred), *figure_tables, *estimate_tables, *sharing_tables,
                *harm.findings(harmful), *matrix_tables],
    )  # fmt: skip
