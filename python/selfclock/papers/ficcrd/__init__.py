"""Yu, Li, Hoang, Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.ficcrd import figures, limits, ns2, relatives
from selfclock.reproduce import Findings
from selfclock.scenario import run_many

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "FICCRD"
REFERENCE = "Q. Yu, M. Li, D. B. Hoang, D. D. Feng: Fair Intelligent Feedback Mechanism On TCP Based Network."


def reproduce(progress: Callable[[float], None], scale: float = 1.0) -> Findings:
    """Run every experiment of the paper; a `scale` below 1 shortens every run, for tests of what follows the runs."""
    lists = [part.scenarios(scale) for part in (limits, figures, ns2, relatives)]
    results = iter(run_many([scenario for scenarios in lists for scenario in scenarios], progress=progress))
    limited, shown, beside_ns2, related = ([next(results) for _ in scenarios] for scenarios in lists)
    figure_claims, illustrations, figure_tables = figures.findings(shown, scale)
    ns2_claims, ns2_tables = ns2.findings(beside_ns2, scale)
    limit_claims, limit_tables = limits.findings(limited, scale)
    related_claims, related_figures, related_tables = relatives.findings(related)
    return Findings(
        claims=[*figure_claims, *ns2_claims, *limit_claims, *related_claims],
        figures=[*illustrations, *related_figures],
        tables=[*figure_tables, *ns2_tables, *limit_tables, *related_tables],
    )
