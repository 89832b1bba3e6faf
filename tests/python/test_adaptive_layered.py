"""The ALTCP paper's claims: verdicts from figures alone, and the way from runs to claims on tiny runs."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl
import pytest

from selfclock.papers.adaptive_layered import exponents, fairness, groups, ns2, overlap, single
from selfclock.papers.adaptive_layered.network import TCP, Flow, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import (
    exponent,
    faster_verdict,
    order_verdict,
    ratio_verdict,
    share_verdict,
)
from selfclock.scenario import run_many

if TYPE_CHECKING:
    from selfclock.reproduce import Claim

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


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    """Every claim but those of runs that cannot be short."""
    found: list[Claim] = []
    for part in (overlap, fairness, exponents, ns2):
        found += part.findings(run_many(part.scenarios(TINY)), TINY)[0]
    alone = {"adaptive": 2.0, "reno": 1.0}
    found += groups.findings(run_many(groups.scenarios(TINY)), alone, TINY)[0]
    return found


def test_every_verdict_on_record_has_a_claim(claims: list[Claim]) -> None:
    folder = resources.files("selfclock.papers.adaptive_layered")
    recorded = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    alone = {"figure-2-growth", "figure-2-recovery", "figure-2-throughput"}
    assert {claim.id for claim in claims} | alone == set(recorded)
    assert len({claim.id for claim in claims}) == len(claims)
