"""Yu, Li, Hoang, Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.papers.ficcrd import figures, limits, ns2, relatives
from selfclock.reproduce import Findings
from selfclock.studies import Part, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

TITLE = "FICCRD"
REFERENCE = "Q. Yu, M. Li, D. B. Hoang, D. D. Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."


def study(scale: float = 1.0) -> Study:
    """Return every experiment of the paper; `scale` below 1 shortens every run, to test what follows the runs."""
    parts = (limits, figures, ns2, relatives)
    return Study([Part(part.scenarios(scale)) for part in parts], partial(_findings, scale=scale))


def _findings(results: Sequence[list[Result]], scale: float) -> Findings:
    limited, shown, beside_ns2, related = results
    figure_claims, illustrations, figure_tables = figures.findings(shown, scale)
    ns2_claims, ns2_tables = ns2.findings(beside_ns2, scale)
    limit_claims, limit_tables = limits.findings(limited, scale)
    related_claims, related_figures, related_tables = relatives.findings(related)
    return Findings(
        claims=[*figure_claims, *ns2_claims, *limit_claims, *related_claims],
        figures=[*illustrations, *related_figures],
        tables=[*figure_tables, *ns2_tables, *limit_tables, *related_tables],
    )
