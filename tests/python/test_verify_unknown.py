"""The verifier names a discipline that it has no rules for, and reports no false violations."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import selfclock as sc
from selfclock.algorithms import queues, routers
from selfclock.verify import Record, UnreadableError, verify
from selfclock.verify.specification import DISCIPLINES, MECHANISMS

SCENARIO = """\
schema = 1
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "5 Mbps", delay = "10 ms", queue = { discipline = "pie", limit = "50 packets" } }
access = { rate = "100 Mbps", delay = "1 ms" }
[[router]]
mechanism = "policer"
links = ["bottleneck"]
rate = "4 Mbps"
burst = "10 kB"
[[flow]]
congestion_control = "reno"
"""


@pytest.fixture(scope="module")
def record() -> Record:
    scenario = sc.Scenario.parse(SCENARIO).with_overrides(["record.packets=true"])
    result = scenario.run()
    return Record(
        scenario.text, scenario.seed, pl.DataFrame(result.packets), dict(result.summary),
        pl.DataFrame(result.flows), pl.DataFrame(result.links), None,
    )  # fmt: skip


def test_it_has_rules_for_everything_built_in() -> None:
    """A new one gets its rules, and its name in the list, or its records are not verified."""
    assert set(DISCIPLINES) == {queue.name for queue in queues()}
    assert set(MECHANISMS) == {router.name for router in routers()}


@pytest.mark.parametrize(("known", "kind"), [("pie", "queue discipline"), ("policer", "router mechanism")])
def test_a_name_without_rules_is_refused(record: Record, known: str, kind: str) -> None:
    """A correct last-in, first-out queue had 264 violations of first in, first out."""
    assert not verify(record).violations
    text = record.scenario.replace(f'"{known}"', '"lifo"')
    assert text != record.scenario
    with pytest.raises(UnreadableError, match=f"does not know the {kind} 'lifo'.*it knows .*{known}"):
        verify(replace(record, scenario=text))
