"""The verifier: it passes what the simulator does, and does not pass anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from hypothesis import HealthCheck, Phase, given, settings

import selfclock as sc
from random_scenarios import scenarios
from selfclock.verify import Record, verify

if TYPE_CHECKING:
    from selfclock.verify import Findings


def recorded(scenario: sc.Scenario) -> Record:
    """Run a scenario and take what it would write."""
    result = scenario.run()
    return Record(
        scenario.text,
        scenario.seed,
        pl.DataFrame(result.packets),
        dict(result.summary),
        pl.DataFrame(result.flows),
        pl.DataFrame(result.links),
        pl.DataFrame(result.connections) if result.connections.num_rows else None,
    )


def check(text: str) -> Findings:
    findings = verify(recorded(sc.Scenario.parse(text)))
    assert not findings.violations, "\n".join(map(str, findings.violations[:20])) + "\n\n" + text
    return findings


#: The same scenarios in every run: a failure is one of the change at hand. `make verify` has more of them.
@settings(max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_random_scenarios(text: str) -> None:
    check(text)
