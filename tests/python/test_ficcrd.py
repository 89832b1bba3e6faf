"""The FICCRD paper's package: rules, and that every run leads to a claim."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from legible import faults
from selfclock.paper_runs import run_studies
from selfclock.papers import ficcrd
from selfclock.papers.ficcrd.mechanisms import BY_NUMBER
from selfclock.papers.ficcrd.network import FLOWS, WINDOW, scenario
from selfclock.papers.ficcrd.readings import read
from selfclock.papers.intervals import interval
from selfclock.series import jain


def test_interval_is_that_of_student() -> None:
    # t of 0.975 with two degrees of freedom is 4.3027; the deviation of 1, 2, 3 is 1.
    assert interval([1.0, 2.0, 3.0]).half == pytest.approx(4.3027 / 3**0.5, abs=1e-3)


def test_jain_of_equal_and_of_one() -> None:
    assert jain([2.0, 2.0, 2.0]) == pytest.approx(1)
    assert jain([3.0, 0.0, 0.0]) == pytest.approx(1 / 3)


def test_network_is_that_of_the_paper() -> None:
    """Minimum RTTs: 120 ms and 48 ms of propagation, and each packet's transmission time on every link."""
    result = scenario("rtt", None, seconds=2).run()
    rtt = [flow["rtt_min_s"] for flow in result.summary["flows"]]
    data, ack = 4136 * 8 / 1e7, 40 * 8 / 1e7
    # The handshake's packets are small: 40 bytes both ways.
    assert rtt[0] == pytest.approx(0.120 + 10 * ack, abs=1e-6)
    assert all(one == pytest.approx(0.048 + 6 * ack, abs=data) for one in rtt[1:])
    assert len(rtt) == FLOWS


def test_window_adaptation_is_seen_in_records() -> None:
    result = scenario("window", WINDOW, seconds=3, packets=True).run()
    import polars as pl  # noqa: PLC0415

    packets = pl.DataFrame(result.packets)
    kinds = packets["kind"].cast(pl.String)
    assert "resource-discovery" in set(kinds)
    assert packets.filter(kinds == "ack")["receive_window_bytes"].min() < 32 * 4096


def test_without_timed_packets_a_first_window_is_sent_unseen() -> None:
    """The 32nd data packet is the first followed by an RD packet: its source has sent a whole window by then."""
    reading = read(scenario("by-number", BY_NUMBER, seconds=4, packets=True).run(), 0.02)
    # 320 packets meet 200 places and the packets that the link sends meanwhile: some 30 in 0.1 s.
    assert 60 < sum(reading.by_flow) < 120
    assert read(scenario("timed", WINDOW, seconds=4).run(), 0.02).drops == 0


def test_every_claim_has_a_verdict_on_record() -> None:
    study = ficcrd.study(0.02)
    [(findings, _)] = run_studies([study])
    recorded = json.loads((resources.files(ficcrd) / "verdicts.json").read_text(encoding="utf-8"))
    assert sorted(claim.key for claim in findings.claims) == sorted(recorded)
    assert all(table.rows for table in findings.tables)
    assert faults(findings.figures) == []
    figures = {figure.id for figure in findings.figures}
    assert len(figures) == len(findings.figures)
    assert {claim.figure for claim in findings.claims} <= figures | {""}
    # One name, one set of settings.
    runs = {(run.name, run.settings) for part in study.parts for run in part.scenarios}
    assert len(runs) == len({name for name, _ in runs})
    listed = [findings.claims, findings.figures]
    assert {name for rows in listed for row in rows for name in row.scenarios} <= {name for name, _ in runs}
    assert all(claim.criterion and claim.variant and claim.scenarios for claim in findings.claims)
