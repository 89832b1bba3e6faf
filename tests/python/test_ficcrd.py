"""The FICCRD paper's package: rules, and that every run leads to a claim."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from selfclock.papers import ficcrd
from selfclock.papers.ficcrd import verdicts
from selfclock.papers.ficcrd.network import FLOWS, WINDOW, jain, scenario
from selfclock.studies import run_studies


def test_rules() -> None:
    assert verdicts.no_drop_verdict(0, 200) == "reproduced"
    assert verdicts.no_drop_verdict(19, 200) == "direction"
    assert verdicts.no_drop_verdict(20, 200) == "not reproduced"
    assert [verdicts.near_verdict(part) for part in (0.95, 0.94, 0.7)] == ["reproduced", "direction", "not reproduced"]
    assert verdicts.fair_verdict(0.995, 0.9) == "reproduced"
    assert verdicts.fair_verdict(0.95, 0.9) == "direction"
    assert verdicts.gain_verdict(0.99) == "not reproduced"
    assert verdicts.close_verdict(0.70, 0.75, 0.05) == "reproduced"
    assert verdicts.close_verdict(0.62, 0.75, 0.05) == "direction"


def test_jain_of_equal_and_of_one() -> None:
    assert jain([2.0, 2.0, 2.0]) == pytest.approx(1)
    assert jain([3.0, 0.0, 0.0]) == pytest.approx(1 / 3)


def test_network_is_that_of_the_paper() -> None:
    """Least round-trip times: 120 ms and 48 ms of propagation, and each packet's time on every link."""
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


def test_every_claim_has_a_verdict_on_record() -> None:
    [(findings, _)] = run_studies([ficcrd.study(0.02)])
    recorded = json.loads((resources.files(ficcrd) / "verdicts.json").read_text(encoding="utf-8"))
    assert sorted(claim.id for claim in findings.claims) == sorted(recorded)
    assert len(findings.figures) == 5
    assert all(table.rows for table in findings.tables)
