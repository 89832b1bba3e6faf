"""Khalil, Elbery, Nosair, Morsi: A Modification to Swifter Start Algorithm for TCP Congestion Control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.swift_start import estimates, figures, harm, matrix, sharing, transfers
from selfclock.reproduce import Findings
from selfclock.scenario import run_many

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Swift Start"
REFERENCE = (
    "E. A. Khalil, A. A. Elbery, B. A. Nosair, I. Z. Morsi: A Modification to Swifter Start Algorithm for TCP "
    "Congestion "
    "Control, 2005."
)


def reproduce(progress: Callable[[float], None]) -> Findings:
    """Run every experiment of the paper, and what it leaves out."""
    # All at once, the longest first, so that no core waits for another at the end of each experiment.
    lists = [part.scenarios() for part in (sharing, harm, figures, matrix, transfers, estimates)]
    results = iter(run_many([scenario for scenarios in lists for scenario in scenarios], progress=progress))
    shared, harmful, drawn, crossed, transferred, estimated = (
        [next(results) for _ in scenarios] for scenarios in lists
    )
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
