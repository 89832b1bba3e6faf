"""Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.inline_measurement import behaviour, estimates, model, ns2, parameters, together
from selfclock.papers.inline_measurement.mechanisms import MECHANISMS
from selfclock.reproduce import Findings
from selfclock.scenario import run_many

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "TCP with inline measurement: ICIM and the Lotka-Volterra window"
REFERENCE = (
    "Y. Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement. "
    "Master's thesis, Osaka University, 2006."
)


def reproduce(progress: Callable[[float], None], scale: float = 1.0) -> Findings:
    """Run every experiment of the thesis; a `scale` below 1 shortens every run, for tests of what follows the runs."""
    # All at once, the longest first, so that no core waits for another at the end of each experiment.
    lists = [
        behaviour.scenarios(scale),
        ns2.scenarios(scale),
        together.scenarios(scale),
        parameters.scenarios(scale),
        [case.scenario for case in estimates.cases(scale)],
    ]
    results = iter(run_many([scenario for scenarios in lists for scenario in scenarios], progress=progress))
    behaved, beside, shared, swept, measured = ([next(results) for _ in scenarios] for scenarios in lists)
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
