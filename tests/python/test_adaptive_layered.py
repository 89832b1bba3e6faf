"""The ALTCP paper's claims: verdicts from figures alone, and the path from runs to claims on tiny runs."""

from __future__ import annotations

import json
import math
from importlib import resources

import polars as pl
import pytest

from legible import faults
from selfclock.paper_runs import run_studies
from selfclock.papers import adaptive_layered
from selfclock.papers.adaptive_layered import convergence, overlap, pairs, single
from selfclock.papers.adaptive_layered.comparison import exponent, jackknife, passes
from selfclock.papers.adaptive_layered.network import TCP, scenario, sender, throughputs_mbps
from selfclock.papers.intervals import interval

#: Runs of a few round trips: their measurements are meaningless, but they must be judged.
TINY = 1 / 500


def test_the_t_interval_of_a_mean() -> None:
    """The deviation of 1, 2, 3, 4, 5 is 1.5811, and t for 4 degrees of freedom 2.7764 (any table): 1.963."""
    held = interval([1, 2, 3, 4, 5])
    assert held.mean == 3
    assert held.half == pytest.approx(1.963, abs=0.001)
    assert interval([1]).half == math.inf


def test_the_jackknife_of_a_mean_is_its_t_interval() -> None:
    values = [0.1, 0.4, 0.35, 0.8, 0.2]
    seeds = range(len(values))
    statistic: dict[int | None, float] = {None: sum(values) / 5}
    statistic |= {left: (sum(values) - values[left]) / 4 for left in seeds}
    assert jackknife(seeds, statistic).half == pytest.approx(interval(values).half)


def test_above_beyond_the_margin() -> None:
    own = [0.9, 0.91, 0.89, 0.9]
    assert passes(own, [0.8] * 4)
    # Above, but by less than the margin; above by more, but not significantly.
    assert not passes(own, [0.86] * 4)
    assert not passes(own, [0.94] * 4)
    assert not passes([0.9, 0.5, 0.9, 0.5], [0.6] * 4)


def test_what_is_at_its_best_cannot_be_beaten() -> None:
    at_best = [0.99, 0.98, 0.99, 0.98]
    assert passes([0.97, 0.96, 0.97, 0.96], at_best)
    assert not passes([0.9, 0.91, 0.9, 0.91], at_best)


@pytest.mark.parametrize("law", [0.0, 1.0, 2.5])
def test_an_exponent_is_found_again(law: float) -> None:
    assert exponent({ratio: ratio**-law for ratio in (1.5, 2.0, 4.0)}) == pytest.approx(law)


def test_a_starved_flow_has_a_finite_exponent() -> None:
    assert math.isfinite(exponent({2.0: 0.0}))


def test_the_paths_have_the_round_trip_times_asked_for() -> None:
    flows = [sender(TCP, 40), sender(TCP, 100)]
    result = scenario("paths", 100, flows, seconds=1, transport={"receive_window": "4 segments"}, samples_s=0.1).run()
    short, long = (flow["rtt_min_s"] or 0.0 for flow in result.summary["flows"])
    assert short == pytest.approx(0.040, abs=0.001)
    assert long == pytest.approx(0.100, abs=0.001)


def test_throughput_is_what_was_acknowledged_between() -> None:
    window = {"receive_window": "10 segments"}
    run = scenario("rate", 100, [sender(TCP, 100)], seconds=5, transport=window, samples_s=0.5, cross_load=0.1).run()
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
    run = scenario("fill", 10, [sender(TCP, 20)], seconds=4, samples_s=0.05).run()
    filled = single.time_to_fill(run, rate_mbps=10)
    assert filled is not None
    assert 0 < filled < 2
    assert single.time_to_fill(run, rate_mbps=20) is None
    assert pl.DataFrame(run.flows)["time_s"].max() == pytest.approx(4)


def test_every_verdict_on_record_has_a_claim() -> None:
    [(findings, _)] = run_studies([adaptive_layered.study(TINY)])
    recorded = json.loads((resources.files(adaptive_layered) / "verdicts.json").read_text(encoding="utf-8"))
    assert sorted(claim.key for claim in findings.claims) == sorted(recorded)
    assert all(table.rows for table in findings.tables)
    assert faults(findings.figures, short=True) == []
    figures = {figure.id for figure in findings.figures}
    assert all(claim.criterion and claim.variant and claim.scenarios for claim in findings.claims)
    assert all(claim.figure in figures for claim in findings.claims if claim.figure)


def test_names_of_scenarios_are_unique_and_those_of_claims_exist() -> None:
    study = adaptive_layered.study(TINY, full=True)
    names = [scenario.name for part in study.parts for scenario in part.scenarios]
    assert len(names) == len(set(names))
    [(findings, _)] = run_studies([study])
    mentioned = {name for claim in findings.claims for name in claim.scenarios}
    mentioned |= {name for figure in findings.figures for name in figure.scenarios}
    assert mentioned <= set(names)
    # The recorded data suffice to draw the figures without the long runs.
    for setting in pairs.SETTINGS:
        if setting.long:
            held = findings.data[setting.name]
            assert isinstance(held, dict)
            assert pairs.Ratios(setting, held).data() == held


def test_layers_begin_where_layered_tcp_has_them() -> None:
    """W_K of draft-bhandarkar-ltcp-01: 50, 200, 500, 1000, 1750."""
    for layer, window in enumerate((50, 200, 500, 1000, 1750), 2):
        assert (convergence.layer_of(window), convergence.layer_of(window + 1)) == (layer - 1, layer)


def test_what_a_loss_takes_over_what_the_window_grows_by() -> None:
    """ALTCP alone, 250 Mbit/s, 60 ms: path and buffer hold 2500 segments, so the sixth layer and a loss of 15 %.

    In steady state recovering it takes 0.15 W/K round trips. Tolerance 5 %: growth over whole
    samples.
    """
    run = scenario("alone", 250, [sender({"window": "altcp"}, 60)], seconds=60, samples_s=0.01).run()
    held = convergence.losses(run, "flow1", 60)
    assert len(held) > 3
    for loss in held:
        assert loss.taken == pytest.approx(0.15 * loss.window, rel=0.01)
        factor = loss.stored if loss.compensated else 1.0
        assert loss.growth == pytest.approx(factor * loss.layer, rel=0.05)
    assert not held[-1].compensated, "three losses in one layer turn K_R off"


def test_equation_1_asks_which_flow_takes_longer_to_recover() -> None:
    """W_R/(K_R K): 300 segments at 4 per round trip take 75, 60 at 2 take 30, and 60 at 0.5 take 120."""
    higher = convergence.Loss(time_s=9.0, window=2000.0, taken=300.0, growth=4.0, layer=4, stored=1.5)
    lower = convergence.Loss(time_s=9.0, window=400.0, taken=60.0, growth=2.0, layer=2, stored=1.5)
    slower = convergence.Loss(time_s=9.0, window=400.0, taken=60.0, growth=0.5, layer=4, stored=1.5)
    assert (higher.round_trips, lower.round_trips, slower.round_trips) == (75.0, 30.0, 120.0)
    joint = convergence.Joint(higher, lower)
    assert joint.holds
    assert not joint.same_layer
    assert joint.state == (False, False)
    assert not convergence.Joint(higher, slower).holds
    assert convergence.Joint(higher, slower).same_layer


def test_the_time_from_loss_to_loss() -> None:
    """Reno on 10 Mbit/s and 40 ms with a queue of one BDP, 33 packets: from 33 to 67 segments.

    The window grows by one per round trip, which lasts as long as the window at the link's rate,
    1.2 ms per segment. Tolerance 10 %: one more round trip for recovery.
    """
    run = scenario("cycle", 10, [sender(TCP, 40)], seconds=60, samples_s=0.05).run()
    measured = single.cycle(run)
    assert measured == pytest.approx(sum(0.0012 * window for window in range(33, 68)), rel=0.1)


def test_what_a_loss_takes() -> None:
    """As above: Reno halves. Tolerance 5 %: the window of the previous sample is up to a segment and a half smaller."""
    run = scenario("cycle", 10, [sender(TCP, 40)], seconds=60, samples_s=0.05).run()
    assert single.reductions(run) == pytest.approx([0.5] * len(single.reductions(run)), rel=0.05)
    assert single.reductions(run)
