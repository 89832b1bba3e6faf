"""Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.claims import Findings
from selfclock.paper_runs import Part, Study
from selfclock.papers.inline_measurement import (
    baselines,
    behaviour,
    drawings,
    estimates,
    model,
    ns2,
    overhead,
    parameters,
    schemes,
    table1,
    together,
)
from selfclock.papers.inline_measurement.declared import CLAIMS

if TYPE_CHECKING:
    from selfclock.paper_runs import Runs

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

AMBIGUITIES = CLAIMS.ambiguities
TITLE = "TCP with inline measurement: ICIM and the Lotka-Volterra window"
REFERENCE = (
    "Y. Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement. "
    "Master's thesis, Osaka University, 2006."
)


def study(scale: float = 1.0, *, full: bool = False) -> Study:  # noqa: ARG001
    """Return every experiment of the thesis; `scale` below 1 shortens every run, to test what follows the runs."""
    parts = [
        behaviour.scenarios(scale),
        ns2.scenarios(scale),
        together.scenarios(scale),
        parameters.scenarios(scale),
        overhead.scenarios(scale),
        [case.scenario for case in estimates.cases(scale)],
    ]
    return Study([Part(scenarios) for scenarios in parts], partial(_findings, scale=scale))


def _findings(runs: Runs, scale: float) -> Findings:
    model_claims, model_figures = model.findings()
    sweep_claims, sweep_figures = parameters.findings(runs, scale)
    table_claims, tables = table1.findings(runs, scale)
    estimate_claims, estimate_figures, estimate_tables = estimates.findings(runs, scale)
    overhead_claims, overhead_tables = overhead.findings(runs, scale)
    together_claims, together_figures, together_tables = together.findings(runs, scale)
    ns2_claims, ns2_tables = ns2.findings(runs, scale)
    return Findings(
        claims=[
            *model_claims,
            *behaviour.findings(runs, scale),
            *baselines.findings(runs, scale),
            *table_claims,
            *sweep_claims,
            *estimate_claims,
            *overhead_claims,
            *together_claims,
            *ns2_claims,
        ],
        figures=[*model_figures, *drawings.findings(runs), *sweep_figures, *estimate_figures, *together_figures],
        schemes=schemes.schemes(),
        tables=[*tables, *estimate_tables, *overhead_tables, *together_tables, *ns2_tables],
    )
