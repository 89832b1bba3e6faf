"""The ALTCP paper's claims: verdicts from figures alone, and the way from runs to claims on tiny runs."""

from __future__ import annotations

import json
import math
from importlib import resources

import polars as pl
import pytest

from selfclock.papers import adaptive_layered
from selfclock.papers.adaptive_layered import overlap, single
from selfclock.papers.adaptive_layered.network import TCP, Flow, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import (
    exponent,
    faster_verdict,
    order_verdict,
    ratio_verdict,
    share_verdict,
)
from selfclock.studies import run_studies

#: Runs of a few round trips: what they measure means nothing, that they are judged does.
TINY = 1 / 500


def test_several_orders_of_magnitude() -> None:
    verdicts = [faster_verdict(ratio) for ratio in (None, 1.0, 1.1, 99.9, 100.0)]
    assert verdicts == ["not reproduced", "not reproduced", "direction", "direction", "reproduced"]


def test_shares() -> None:
    assert [share_verdict(ratio) for ratio in (0.49, 0.5, 0.8)] == ["not reproduced", "direction", "reproduced"]
    assert share_verdict(0.94, 0.95) == "direction"


def test_better_than_all_or_some() -> None:
    assert order_verdict(0.9, [0.5, 0.8]) == "reproduced"
    assert order_verdict(0.7, [0.5, 0.8]) == "direction"
    assert order_verdict(0.5, [0.5, 0.8]) == "not reproduced"


def test_the_same_winner_and_by_how_much() -> None:
    assert ratio_verdict(20.0, 30.0) == "reproduced"
    assert ratio_verdict(45.1, 30.0) == "direction"
    assert ratio_verdict(0.9, 1.1) == "not reproduced"
    assert ratio_verdict(1.0, 1.1) == "not reproduced"


@pytest.mark.parametrize("law", [0.0, 1.0, 2.5])
def test_an_exponent_is_found_again(law: float) -> None:
    assert exponent({ratio: ratio**-law for ratio in (1.5, 2.0, 4.0)}) == pytest.approx(law)


def test_a_starved_flow_has_a_finite_exponent() -> None:
    assert math.isfinite(exponent({2.0: 0.0}))


def test_the_paths_have_the_round_trip_times_asked_for() -> None:
    flows = [Flow(TCP, 40), Flow(TCP, 100)]
    result = scenario("paths", 100, flows, seconds=1, transport={"receive_window": "4 segments"}, samples_s=0.1).run()
    short, long = (flow["rtt_min_s"] or 0.0 for flow in result.summary["flows"])
    assert short == pytest.approx(0.040, abs=0.001)
    assert long == pytest.approx(0.100, abs=0.001)


def test_throughput_is_what_was_acknowledged_between() -> None:
    window = {"receive_window": "10 segments"}
    run = scenario("rate", 100, [Flow(TCP, 100)], seconds=5, transport=window, samples_s=0.5, cross_load=0.1).run()
    (measured,) = throughputs_mbps(run, 2, 5)
    assert measured == pytest.approx(10 * 1460 * 8 / 0.1 / 1e6, rel=0.05)
    (cross,) = (flow["connections"] for flow in run.summary["flows"] if flow["connections"])
    assert cross["started"] > 100


def test_strength_1_is_tcp() -> None:
    with_k, reno = overlap.scenarios(1 / 20)[-2:]
    same, samples = overlap.identical(with_k.run(), reno.run())
    assert same
    assert samples > 1000
    assert not overlap.identical(with_k.run(), overlap.scenarios(1 / 30)[-1].run())[0]


def test_time_to_fill() -> None:
    run = scenario("fill", 10, [Flow(TCP, 20)], seconds=4, samples_s=0.05).run()
    filled = single.time_to_fill(run, rate_mbps=10)
    assert filled is not None
    assert 0 < filled < 2
    assert single.time_to_fill(run, rate_mbps=20) is None
    assert pl.DataFrame(run.flows)["time_s"].max() == pytest.approx(4)


def test_every_verdict_on_record_has_a_claim() -> None:
    [(findings, _)] = run_studies([adaptive_layered.study(TINY)])
    recorded = json.loads((resources.files(adaptive_layered) / "verdicts.json").read_text(encoding="utf-8"))
    assert sorted(claim.id for claim in findings.claims) == sorted(recorded)
    assert all(table.rows for table in findings.tables)
    assert findings.figures


def test_the_time_from_loss_to_loss() -> None:
    """Reno on 10 Mbit/s and 40 ms with a queue of one product, 33 packets: from 33 to 67 segments, one in each round
    trip, which takes what the window does at the rate of the link, 1.2 ms for each segment. 10 %: a round trip more for
    the repair.
    """
    run = scenario("cycle", 10, [Flow(TCP, 40)], seconds=60, samples_s=0.05).run()
    measured = single.cycle(run)
    assert measured == pytest.approx(sum(0.0012 * window for window in range(33, 68)), rel=0.1)
