"""The Swift Start paper: measurements of a run, and that every run leads to a claim."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from legible import faults
from selfclock.paper_runs import run_studies
from selfclock.papers import swift_start
from selfclock.papers.swift_start import estimates, harm, matrix, sharing
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    IW10,
    STARTS,
    THINNING,
    TRANSPORT,
    completion_s,
    data_sent,
    flow,
    per_round_trip,
    reported_us,
    scenario,
    sender,
)
from selfclock.papers.swift_start.wilson import wilson


def test_interval_of_a_part_is_wilsons() -> None:
    # 10 of 100, Wilson 1927: 5.52 % to 17.44 %; 0 of 100 does not mean never.
    assert wilson(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert wilson(0, 100) == pytest.approx((0.0, 0.0370), abs=1e-4)


def test_slow_start_doubles_and_the_pair_is_reported() -> None:
    modified = sender({"start": "modified-swift-start"}, "1 MB")
    transport = {**TRANSPORT, **DELAYED_ACK}
    result = scenario(
        "pair", 49.5, 274, [modified], seconds=2, transport=transport, routers=[THINNING], packets=True
    ).run()
    # 1508 bytes at 49.5 Mbit/s are 243.7 us.
    assert set(reported_us(result)) == {244}
    plain = scenario("plain", 49.5, 274, [flow(IW10, size="1 MB")], seconds=2, packets=True).run()
    assert per_round_trip(data_sent(plain), 49.5, 274, 4) == [4, 8, 16, 32]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.label)
def test_every_start_completes(start: object) -> None:
    assert start in STARTS
    chosen = STARTS[STARTS.index(start)]  # type: ignore[arg-type]
    result = scenario(chosen.label, 10, 40, [flow(chosen, "cubic", "1 MB")], seconds=10, buffer="1 bdp").run()
    took = completion_s(result)
    # 685 segments of 1500 bytes take 0.82 s at the link's rate.
    assert took is not None
    assert 0.82 < took < 3.0


def test_every_claim_has_a_verdict_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer flows, windows, sizes and seeds in the tables, and so without the verdicts that need many seeds."""
    monkeypatch.setattr(sharing, "COUNTS", (1, 4))
    monkeypatch.setattr(harm, "SIZES", {"1 MB": 2.0})
    monkeypatch.setattr(harm, "SEEDS", (1,))
    monkeypatch.setattr(matrix, "WINDOWS", ("reno",))
    monkeypatch.setattr(estimates, "SEEDS", range(1, 3))
    monkeypatch.setattr(estimates, "MANY_SEEDS", range(1, 4))
    monkeypatch.setattr(estimates, "FORWARD_SEEDS", range(1, 4))
    study = swift_start.study()
    [(findings, _)] = run_studies([study])
    recorded = json.loads((resources.files(swift_start) / "verdicts.json").read_text(encoding="utf-8"))
    of_seeds = {"ack-path", "estimate-forward-1-gbps", "estimate-forward-100-mbps"}
    found = {claim.key: claim.verdict for claim in findings.claims}
    assert found.keys() == recorded.keys()
    assert {claim: found[claim] for claim in found.keys() - of_seeds} == {
        claim: recorded[claim] for claim in recorded.keys() - of_seeds
    }
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
