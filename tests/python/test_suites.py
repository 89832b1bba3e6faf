"""Suites of tests, the pauses that they need, and the state of models in the series."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import selfclock as sc
from selfclock.evaluate.network import Path as EmptyPath
from selfclock.evaluate.suites import SUITES, page, run_suite
from selfclock.evaluate.suites.bench import Span, Trace
from selfclock.series import flow_series
from selfclock.verify import Record, verify

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: BBR's columns.
MODEL = (
    "max_bw_bps", "min_rtt_s", "bw_shortterm_bps", "inflight_shortterm_bytes", "inflight_longterm_bytes",
    "extra_acked_bytes",
)  # fmt: skip
PATH = sc.Path("20 Mbps", "40 ms", queue=sc.bdp(2))


def delivered(scenario: sc.Scenario, *times_s: float) -> list[float]:
    """Return the bytes of the first flow that have arrived by these times."""
    series = flow_series(scenario.run())
    return [float(each) for each in np.interp(times_s, series["time_s"], series["delivered_bytes"])]


# --- pauses of an application
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cubic", "reno", "bbr3"])
def test_an_application_pauses_and_goes_on(name: str) -> None:
    flow = sc.Flow(name, steps=[("3 s", "off"), ("5 s", "bulk"), ("7 s", "2 Mbps")])
    scenario = PATH.scenario([flow], duration="10 s")
    # 60 ms after each change everything in flight, at most 3 BDP at 1 BDP per round trip, has
    # arrived.
    at3, at4, at5, at7, at8, at10 = delivered(scenario, 3.0, 3.2, 5.0, 7.2, 8.0, 10.0)
    payload = 20e6 / 8 * 1448 / 1500
    assert at4 == at5
    assert at7 - at5 > 0.7 * 2 * payload
    assert at10 - at8 == pytest.approx(2 * 2e6 / 8, rel=0.02)
    assert at3 > 0.7 * 3 * payload


def test_a_trickle_before_a_bulk_transfer() -> None:
    flow = sc.Flow("cubic", rate="100 kbps", steps=[("5 s", "bulk")])
    at5, at10 = delivered(PATH.scenario([flow], duration="10 s"), 5.0, 10.0)
    assert at5 == pytest.approx(5 * 1e5 / 8, rel=0.1)
    assert at10 - at5 > 0.8 * 5 * 20e6 / 8 * 1448 / 1500


def test_the_verifier_knows_pauses() -> None:
    flow = sc.Flow("cubic", rate="4 Mbps", write="20 kB", steps=[("1 s", "off"), ("2 s", "bulk"), ("3 s", "1 Mbps")])
    scenario = PATH.scenario([flow], duration="4 s", record=sc.Record(packets=True))
    result = scenario.run()
    tables = [pl.DataFrame(table) for table in (result.packets, result.flows, result.links)]
    record = Record(scenario.text, scenario.seed, tables[0], dict(result.summary), tables[1], tables[2], None)
    assert verify(record).violations == []


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([("3 s", "on")], "Flow.steps"),
        ([3], "Flow.steps: [3]; write pairs of a time and a rate"),
        ([("3 s", "off"), ("2 s", "bulk")], "not later than the step before"),
    ],
)
def test_wrong_steps_are_refused(steps: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(sc.ScenarioError) as refused:
        PATH.scenario([sc.Flow("cubic", steps=steps)], duration="5 s")
    assert said in str(refused.value)


# --- the state of models in the series
# --------------------------------------------------------------------------------------------------------


def test_columns_of_a_model() -> None:
    series = flow_series(PATH.scenario(["bbr3"], duration="4 s").run())
    last = series.row(-1, named=True)
    assert last["max_bw_bps"] == pytest.approx(20e6 * 1448 / 1500, rel=0.02)
    assert 0.040 <= last["min_rtt_s"] < 0.043
    # Nothing was lost: there are no bounds.
    assert all(np.isinf(last[each]) for each in ("bw_shortterm_bps", "inflight_shortterm_bytes"))


def test_flows_without_a_model_have_no_such_columns() -> None:
    alone = PATH.scenario(["cubic", "reno"], duration="1 s").run()
    assert not set(MODEL) & set(flow_series(alone).columns)
    beside = PATH.scenario(["cubic", "bbr3", "reno"], duration="1 s").run()
    for flow in ("flow1", "flow3"):
        assert all(flow_series(beside, flow)[each].is_nan().all() for each in MODEL)
    assert flow_series(beside, "flow2")["max_bw_bps"].is_finite().all()
    # The other columns are as without a model's samples.
    assert flow_series(beside, "flow2")["cwnd_bytes"].is_finite().all()


def test_models_of_a_divided_network_have_the_same_series() -> None:
    links = [sc.Link("10 Mbps", "10 ms", between=(f"{side}1", f"{side}2"), queue=sc.packets(50)) for side in ("a", "b")]
    flows = [sc.Flow(name, between=(f"{side}1", f"{side}2")) for side in ("a", "b") for name in ("cubic", "bbr3")]
    scenario = sc.Graph(links).scenario(flows, duration="3 s")
    one, two = (scenario.run(threads=threads) for threads in (1, 2))
    for name in scenario.flow_names:
        assert flow_series(one, name).equals(flow_series(two, name), null_equal=True)


# --- suites
# --------------------------------------------------------------------------------------------------------


def test_bbr3_on_some_of_the_drafts_tests() -> None:
    result = run_suite(SUITES["bbr"], "bbr3", tests=["B3", "B10", "B11", "B20"])
    assert {test.id: outcome.verdict for test, outcome in result.outcomes} == dict.fromkeys(
        ("B3", "B10", "B11", "B20"), "pass"
    ), [outcome.measured for _, outcome in result.outcomes]


def test_an_algorithm_without_phases_is_tested_by_its_behaviour(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("evaluate", "cubic", "--suite", "bbr", "--rows", "B1,B14", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert json.loads((tmp_path / "out/suite.json").read_text(encoding="utf-8")) == document
    first, tiny = document["tests"]
    assert (first["verdict"], first["measured"]) == ("not applicable", "the algorithm shows no phases")
    assert tiny["verdict"] in ("pass", "fail")
    assert "of the path" in tiny["measured"]


def test_wrong_use_of_a_suite(selfclock: Command) -> None:
    for arguments, said in (
        (("--suite", "bbr", "--rows", "B99"), "no test of the suite bbr is named 'B99'; there are B1 to X1"),
        (("--suite", "bbr", "--against", "reno"), "--against: a suite has no baselines"),
        (("--suite", "cubic"), "bbr"),
    ):
        done = selfclock("evaluate", "cubic", *arguments)
        assert done.returncode != 0
        assert said in done.stderr


def test_every_test_of_the_draft_is_there() -> None:
    tests = SUITES["bbr"].tests
    assert [test.id for test in tests] == [*(f"B{number}" for number in range(1, 23)), "X1"]
    assert len({test.title for test in tests}) == len(tests)


def test_the_page_has_every_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = run_suite(SUITES["bbr"], "cubic", tests=["B1"])
    monkeypatch.setattr(page, "run_suite", lambda *_arguments, **_options: few)
    monkeypatch.setattr(sys, "argv", ["page", str(tmp_path / "page.md"), "cubic"])
    page.main()
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert all(f"| {test.id} | {test.title} |" in text for test in SUITES["bbr"].tests)
    assert "| B1 | the algorithm shows no phases | not applicable |" in text


def test_spans_and_round_trips_of_a_trace() -> None:
    result = PATH.scenario(["bbr3"], duration="2 s", record=sc.Record("1 ms")).run()
    trace = Trace(result, EmptyPath(20, 40))
    assert isinstance(trace.spans[0], Span)
    # DOWN has nothing left to drain, and lasts for less than a sample.
    assert [span.phase for span in trace.spans[:3]] == ["startup", "drain", "probe cruise"]
    assert all(one.end == two.begin for one, two in zip(trace.spans, trace.spans[1:], strict=False))
    # Without a queue, a second has 25 round trips of 40 ms, less the time of transmissions.
    assert trace.rounds(1.0, 2.0) == pytest.approx(25, rel=0.1)
