"""Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.papers.inline_measurement import behaviour, estimates, model, ns2, parameters, together
from selfclock.papers.inline_measurement.mechanisms import MECHANISMS
from selfclock.reproduce import Findings
from selfclock.studies import Part, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

TITLE = "TCP with inline measurement: ICIM and the Lotka-Volterra window"
REFERENCE = (
    "Y. Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement. "
    "Master's thesis, Osaka University, 2006."
)


def study(scale: float = 1.0) -> Study:
    """Return every experiment of the thesis; `scale` below 1 shortens every run, to test what follows the runs."""
    parts = [
        behaviour.scenarios(scale),
        ns2.scenarios(scale),
        together.scenarios(scale),
        parameters.scenarios(scale),
        [case.scenario for case in estimates.cases(scale)],
    ]
    return Study([Part(scenarios) for scenarios in parts], partial(_findings, scale=scale))


def _findings(results: Sequence[list[Result]], scale: float) -> Findings:
    behaved, beside, shared, swept, measured = results
    count = len(MECHANISMS)
    model_claims, model_figures = model.findings()
    claims, figures, tables = behaviour.findings(behaved, scale)
    sweep_claims, sweep_figures = parameters.findings(swept, scale)
    estimate_claims, estimate_figures, estimate_tables = estimates.findings(measured, scale)
    together_claims, together_tables = together.findings(shared, scale)
    ns2_claims, ns2_tables = ns2.findings(beside, behaved[count : 2 * count], scale)
    return Findings(
        claims=[*model_claims, *claims, *sweep_claims, *estimate_claims, *together_claims, *ns2_claims],
        figures=[*model_figures, *figures, *sweep_figures, *estimate_figures],
        tables=[*tables, *estimate_tables, *together_tables, *ns2_tables],
    )
