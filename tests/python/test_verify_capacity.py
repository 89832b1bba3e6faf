"""The verifier on links whose rate changes."""

from __future__ import annotations

import polars as pl
import pytest

import selfclock as sc
from selfclock.verify import Record, verify
from selfclock.verify.capacity import Capacity
from selfclock.verify.emulated import check_rates
from selfclock.verify.violation import Findings

SECOND = 10**12

SCENARIO = """\
schema = 1
duration = "4 s"
[record]
packets = true
interval = "70 ms"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "24 Mbps", delay = "10 ms", queue = {queue}{changes} }}
access = {{ rate = "1 Gbps", delay = "1 ms" }}
[[flow]]
congestion_control = "cubic"
"""
#: By turns below and above, and faster than packets: at 0.1 Mbit/s one takes 120 ms.
CHANGES = ", changes = [{}]".format(
    ", ".join(
        f"{{ at = '{at} ms', rate = '{rate} Mbps' }}"
        for at, rate in [(1000, 12), (1500, 3), (2000, 30), (3000, 0.1), (3050, 50), (3100, 0.1), (3101, 9)]
    )
)


def recorded(scenario: sc.Scenario, text: str) -> Record:
    """Return a record of a scenario's run, with another text."""
    result = scenario.run()
    summary, links = dict(result.summary), pl.DataFrame(result.links)
    return Record(text, scenario.seed, pl.DataFrame(result.packets), summary, pl.DataFrame(result.flows), links)


def test_the_integral_of_a_rate() -> None:
    """8 bit/s for a second, 2 for two, then 4: by hand."""
    capacity = Capacity([(0, 8, 0), (SECOND, 2, 0), (3 * SECOND, 4, 0)])
    times = [0, SECOND // 2, SECOND, 2 * SECOND, 3 * SECOND, 5 * SECOND]
    assert [capacity.until(time) / SECOND for time in times] == [0, 4, 8, 10, 12, 20]
    assert [capacity.rate(time) for time in times] == [8, 8, 2, 2, 4, 4]
    assert capacity.falls(0, SECOND)
    assert not capacity.falls(SECOND, 5 * SECOND)


@pytest.mark.parametrize("discipline", ["drop-tail", "codel", "pie", "red", "fq-codel", "drr"])
def test_changes_are_accepted(discipline: str) -> None:
    queue = f"{{ discipline = '{discipline}', limit = '300 packets' }}"
    text = SCENARIO.format(queue=queue, changes=CHANGES)
    findings = verify(recorded(sc.Scenario.parse(text), text))
    assert not findings.violations, "\n".join(map(str, findings.violations[:20]))


@pytest.mark.parametrize("discipline", ["drop-tail", "drr"])
def test_a_link_that_keeps_its_rate_is_found(discipline: str) -> None:
    """A record of a link that stays at 24 Mbit/s is no record of one that falls to 12: a full queue that left at the
    rate of its arrivals passed, because the verifier had the same rule.
    """
    queue = f"{{ discipline = '{discipline}', limit = 'unlimited' }}"
    constant = sc.Scenario.parse(SCENARIO.format(queue=queue, changes=""))
    change = ", changes = [{ at = '2 s', rate = '12 Mbps' }]"
    findings = verify(recorded(constant, SCENARIO.format(queue=queue, changes=change)))
    rates = [violation for violation in findings.violations if violation.rule == "rate"]
    beyond = [violation for violation in rates if "leaves 6000 bits of the packet before" in violation.what]
    # 24 Mbit/s are 2000 packets per second.
    assert len(beyond) > 3000
    assert any(violation.rule == "summary" and "utilization" in violation.what for violation in findings.violations)


def test_the_record_of_an_emulation_is_checked_as_well() -> None:
    """Links with changes were left out."""
    constant = sc.Scenario.parse(SCENARIO.format(queue="'unlimited'", changes=""))
    change = ", changes = [{ at = '2 s', rate = '12 Mbps' }]"
    wrong = Findings()
    check_rates(recorded(constant, SCENARIO.format(queue="'unlimited'", changes=change)), wrong)
    assert len(wrong.violations) > 3000
    text = SCENARIO.format(queue="'unlimited'", changes=CHANGES)
    right = Findings()
    check_rates(recorded(sc.Scenario.parse(text), text), right)
    assert not right.violations, right.violations[:5]
