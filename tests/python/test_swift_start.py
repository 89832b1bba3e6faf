"""The Swift Start paper: verdict rules, and what is read off a run."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from selfclock.papers import swift_start
from selfclock.papers.swift_start import estimates, harm, matrix, sharing, verdicts
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    IW10,
    STARTS,
    THINNING,
    TRANSPORT,
    Flow,
    completion_s,
    flow,
    per_round_trip,
    reported_us,
    scenario,
)
from selfclock.studies import run_studies


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ([1.0, 2.0, 3.0], "reproduced"),
        ([1.0, 2.0, None], "reproduced"),
        ([2.0, 1.0, 3.0], "direction"),
        ([3.0, 2.0, 1.0], "not reproduced"),
        ([None, None], "not reproduced"),
    ],
)
def test_order(times: list[float | None], verdict: str) -> None:
    assert verdicts.order(times) == verdict


def test_thresholds() -> None:
    assert [verdicts.burst(ratio) for ratio in (2.0, 1.9, 1.1)] == ["reproduced", "direction", "not reproduced"]
    assert [verdicts.at_link_rate(part) for part in (0.95, 0.94, 0.4)] == ["reproduced", "direction", "not reproduced"]
    assert [verdicts.estimate(error) for error in (0.01, -0.01, 0.011)] == ["reproduced"] * 2 + ["not reproduced"]
    assert [verdicts.same_time(own, 1.0) for own in (1.05, 0.94, None)] == ["reproduced"] + ["not reproduced"] * 2


def test_slow_start_doubles_and_the_pair_is_reported() -> None:
    modified = Flow({"start": "modified-swift-start"}, "1 MB")
    transport = {**TRANSPORT, **DELAYED_ACK}
    result = scenario(
        "pair", 49.5, 274, [modified], seconds=2, transport=transport, routers=[THINNING], packets=True
    ).run()
    # 1508 bytes at 49.5 Mbit/s are 243.7 us.
    assert set(reported_us(result)) == {244}
    plain = scenario("plain", 49.5, 274, [flow(IW10, size="1 MB")], seconds=2, packets=True).run()
    assert per_round_trip(plain, 49.5, 274, 4) == [4, 8, 16, 32]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.label)
def test_every_start_completes(start: object) -> None:
    assert start in STARTS
    chosen = STARTS[STARTS.index(start)]  # type: ignore[arg-type]
    result = scenario(chosen.label, 10, 40, [flow(chosen, "cubic", "1 MB")], seconds=10, buffer="1 bdp").run()
    took = completion_s(result)
    # 685 segments of 1500 bytes take 0.82 s at the rate of the link.
    assert took is not None
    assert 0.82 < took < 3.0


def test_every_claim_has_a_verdict_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer flows, windows, sizes and seeds in the tables; the claims are made of runs that are short anyway."""
    monkeypatch.setattr(sharing, "COUNTS", (1, 4))
    monkeypatch.setattr(harm, "SIZES", {"1 MB": 2.0})
    monkeypatch.setattr(harm, "SEEDS", (1,))
    monkeypatch.setattr(matrix, "WINDOWS", ("reno",))
    monkeypatch.setattr(estimates, "SEEDS", range(1, 3))
    [(findings, _)] = run_studies([swift_start.study()])
    recorded = json.loads((resources.files(swift_start) / "verdicts.json").read_text(encoding="utf-8"))
    assert {claim.id: claim.verdict for claim in findings.claims} == recorded
    assert all(table.rows for table in findings.tables)
    assert {figure.title for figure in findings.figures} >= {"Starting together"}
