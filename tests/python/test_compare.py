"""`selfclock compare` and its parts."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, get_type_hints

import numpy as np
import pytest

import selfclock as sc
from selfclock.algorithms import control
from selfclock.compare.figures import ellipse
from selfclock.figure import Line, Points, Shape
from selfclock.series import flow_series, jain

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/packet-pair-vs-reno.toml"

SHORT = ("--rate", "5Mbps", "--rtt", "20ms", "--buffer", "1bdp", "--duration", "2s")


def test_a_table_a_figure_and_tables(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("compare", "reno", "cubic+hystart++", "--flows", 2, "--out", "out", *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("reno", "cubic+hystart++", "goodput", "Jain", "5Mbps"):
        assert word in done.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "compare.json",
        "runs.csv",
        "report.html",
        "reno-flows.parquet",
        "reno-links.parquet",
        "cubic+hystart++-flows.parquet",
        "cubic+hystart++-links.parquet",
    }


def test_json_has_a_summary_per_algorithm(selfclock: Command) -> None:
    done = selfclock("compare", "packet-pair", "reno", "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["algorithm"] for run in runs] == ["packet-pair", "reno"]
    for run in runs:
        assert set(run) == set(get_type_hints(sc.Measures)) - {"emulation", "measure_from_s"}
        assert run["goodput_bps"] == sum(flow["goodput_bps"] for flow in run["flows"])
        assert run["jain"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("renoo",), ["renoo", "did you mean 'reno'?"]),
        (("cubic+renoo",), ["cubic+renoo", "hystart++"]),
        ((), ["altcp", "adaptive"]),
        (("reno", "--rate", "10"), ["rate", "10", 'such as "10 Mbps"']),
        (("reno", "--rate", "10 furlong"), ["furlong", "Mbps"]),
        (("reno", "--buffer", "3"), ["buffer", "1 bdp"]),
        (("reno", "--flows", "0"), ["flows"]),
    ],
)
def test_bad_usage_is_one_message(
    selfclock: Command, tmp_path: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    done = selfclock("compare", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "results").exists()


def test_the_start_times_are_those_of_every_algorithm() -> None:
    comparison = sc.compare(["reno", "bic"], rate="5 Mbps", flows=3, duration="1 s")
    first, second = (result.scenario.text for result in comparison.results.values())
    assert first.replace("reno", "bic") == second
    assert [len(row["flows"]) for row in comparison.measures] == [3, 3]


def test_an_algorithm_alone_is_what_run_says() -> None:
    comparison = sc.compare(["reno"], rate="5 Mbps", duration="2 s")
    (row,) = comparison.measures
    (flow,) = comparison.results["reno"].summary["flows"]
    assert (row["goodput_bps"], row["rtt_mean_s"], row["timeouts"]) == pytest.approx(
        (flow["goodput_bps"], flow["rtt_mean_s"], flow["timeouts"])
    )


def test_runs_have_the_names_of_their_algorithms_or_of_the_scenario() -> None:
    comparison = sc.compare(["reno", "cubic:beta=0.8"], rate="5 Mbps", duration="100 ms")
    assert [row["scenario"] for row in comparison.measures] == ["reno", "cubic:beta=0.8"]
    comparison = sc.compare(["reno"], scenario=EXAMPLE, overrides=["duration=100 ms"])
    assert comparison.measures[0]["scenario"] == "packet-pair-vs-reno"


def test_names() -> None:
    assert control("cubic") == {"window": "cubic"}
    assert control("hystart++") == {"start": "hystart++"}
    assert control("cubic+hystart++") == {"window": "cubic", "start": "hystart++"}
    assert control("reno+packet-pair") == {"window": "reno", "start": "packet-pair"}


def test_jain() -> None:
    assert jain([1.0, 1.0]) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain([0.0]) is None


def test_every_algorithm_can_be_compared() -> None:
    for algorithm in sc.algorithms():
        assert algorithm.name in control(algorithm.name).values()


def test_a_scenario_is_compared_as_it_is_run() -> None:
    """Both flows of the file use the algorithm; nothing else changes."""
    file = sc.Scenario.load(EXAMPLE, ["duration=5 s"])
    comparison = sc.compare(["reno", "cubic"], scenario=EXAMPLE, duration="5 s")
    for name, result in comparison.results.items():
        alone = file.with_overrides([f"flow.*.congestion_control={name}"]).run()
        assert result.summary | {"cpu_s": 0} == alone.summary | {"cpu_s": 0}
    assert comparison.flows == ("packet-pair", "reno")
    assert comparison.path == "Packet pair against Reno on a 500 kbit/s bottleneck"


def test_one_flow_of_a_scenario_is_compared() -> None:
    comparison = sc.compare(["bic"], scenario=EXAMPLE, flow=["reno"], overrides=["duration=5 s"])
    [row] = comparison.measures
    assert [flow["algorithm"] for flow in row["flows"]] == ["packet-pair", "bic"]
    assert row["goodput_bps"] == row["flows"][1]["goodput_bps"]
    assert comparison.flows == ("reno",)


def test_udp_keeps_its_protocol() -> None:
    udp = {"protocol": "udp", "traffic": {"rate": "1 Mbps"}}
    scenario = sc.dumbbell("5 Mbps", flows=["reno", udp, {"congestion_control": "reno", "count": 2}], duration="1 s")
    comparison = sc.compare(["cubic"], scenario=scenario)
    assert [flow["algorithm"] for flow in comparison.measures[0]["flows"]] == ["cubic", "udp", "cubic", "cubic"]
    assert comparison.flows == ("flow1", "flow3-1", "flow3-2")


def test_parameters_are_compared() -> None:
    comparison = sc.compare(["cubic", "cubic:beta=0.9"], rate="10 Mbps", duration="10 s")
    usual, other = comparison.results.values()
    assert usual.scenario.with_overrides(['flow.0.congestion_control={window="cubic",beta=0.9}']).settings == (
        other.scenario.settings
    )
    # A loss takes less of the window, so losses are more frequent.
    assert other.summary["flows"][0]["retransmitted_segments"] > usual.summary["flows"][0]["retransmitted_segments"]


def test_a_queue_keeps_the_buffer() -> None:
    comparison = sc.compare(["cubic"], rate="10 Mbps", buffer="3 bdp", queue="codel:target=10ms", duration="5 s")
    [result] = comparison.results.values()
    link = next(link for link in result.scenario.network.links if link.name == "bottleneck")
    assert link.discipline == "codel"
    assert link.limit_bytes == 3 * 10e6 * 0.04 / 8
    other = sc.compare(["cubic"], rate="10 Mbps", queue="codel:limit=7 packets", duration="1 s")
    [result] = other.results.values()
    assert next(link for link in result.scenario.network.links if link.name == "bottleneck").limit_packets == 7


def test_a_queue_without_a_buffer_has_the_limit_of_its_discipline() -> None:
    # One BDP of a path of 10 ms is below the target of both, which made three equal rows. They aim
    # at 15 ms (RFC 8033, section 4.2; RFC 9332, appendix A.1).
    waits = {}
    for word in ("drop-tail", "pie", "dualpi2"):
        comparison = sc.compare(["cubic"], rate="50 Mbps", rtt="10 ms", flows=4, queue=word, duration="20 s")
        [result] = comparison.results.values()
        waits[word] = result.summary["links"][0]["queue_mean_s"]
        assert comparison.notes == []
        assert comparison.path.endswith("buffer 1 bdp" if word == "drop-tail" else " packets")
    assert waits["drop-tail"] < 0.010
    assert 0.013 < waits["pie"] < 0.018
    assert 0.013 < waits["dualpi2"] < 0.018
    assert waits["pie"] != waits["dualpi2"]
    # A given buffer stays, also one that is set, and is noted.
    given = sc.compare(["cubic"], rate="50 Mbps", rtt="10 ms", buffer="1 bdp", queue="pie", duration="1 s")
    assert any("pie aims at 15 ms" in note for note in given.notes)
    own = sc.compare(
        ["cubic"], rate="50 Mbps", overrides=['network.bottleneck.queue="40 packets"'], queue="pie", duration="1 s"
    )
    assert own.scenarios[0].network.links[0].limit_packets == 40


def test_a_queue_of_a_graph_is_that_of_the_tightest_link() -> None:
    comparison = sc.compare(["reno"], scenario=ROOT / "examples/two-paths-graph.toml", queue="fq-codel", duration="2 s")
    network = comparison.scenarios[0].network
    changed = {link.name for link in network.links if link.discipline == "fq-codel"}
    # One table of the file describes a link of both directions.
    assert comparison.link in changed
    assert len(changed) <= 2


def test_each_algorithm_gets_the_marks_that_it_responds_to() -> None:
    comparison = sc.compare(["prague", "cubic", "bbr3"], rate="20 Mbps", queue="dualpi2", ecn="auto", duration="40 s")
    assert comparison.notes == []
    marks = {row["algorithm"]: row["ce_marks"] for row in comparison.measures}
    # Prague is marked continually, because it responds to the fraction of marks; CUBIC
    # occasionally, once slow start has ended in a queue that holds it.
    assert marks["prague"] > 5 * marks["cubic"] > 0
    assert marks["bbr3"] == 0
    rtts = {row["algorithm"]: row["rtt_p95_s"] or 0.0 for row in comparison.measures}
    assert rtts["prague"] < rtts["cubic"]


def test_an_algorithm_without_its_marks_says_so(selfclock: Command) -> None:
    done = selfclock("compare", "prague", "cubic", *SHORT)
    assert done.returncode == 0, done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("note: prague: ")
    assert "--ecn auto --queue dualpi2" in line


def test_seeds_have_means_and_intervals(selfclock: Command) -> None:
    done = selfclock("compare", "reno", "--seeds", 4, "--seed", 11, "--flows", 2, "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [run["seed"] for run in document["runs"]] == [11, 12, 13, 14]
    values = [run["goodput_bps"] for run in document["runs"]]
    [estimate] = [each["measures"]["goodput_bps"] for each in document["estimates"]]
    assert estimate["mean"] == pytest.approx(fmean(values))
    # Student's t for 3 degrees of freedom and 95 %: 3.182.
    assert estimate["half_width"] == pytest.approx(3.182 * stdev(values) / 2, rel=1e-3)
    assert estimate["runs"] == 4


def test_an_ellipse_of_known_covariance() -> None:
    """Four points at the ends of semi-axes 2 and 1, rotated by 30 degrees: variances 2 and 1/2 along them."""
    angle = np.pi / 6
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = turn @ np.array([[2.0, -2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]) + np.array([[10.0], [20.0]])
    x, y = ellipse(points[0], points[1])
    back = turn.T @ np.stack([x - 10.0, y - 20.0])
    np.testing.assert_allclose(back[0] ** 2 / 2 + back[1] ** 2 / 0.5, 1.0)
    assert back[0].max() == pytest.approx(np.sqrt(2), rel=1e-3)


def test_the_scatter_shows_every_run_and_the_means() -> None:
    comparison = sc.compare(["reno", "cubic"], rate="10 Mbps", duration="3 s", flows=2, seeds=3)
    figure = comparison.scatter()
    assert figure.panel.x.label == "95th percentile of the RTT (ms)"
    runs, outline, mean = figure.panel.elements[:3]
    assert isinstance(runs, Points)
    assert isinstance(outline, Shape)
    assert isinstance(mean, Points)
    own = [row for row in comparison.measures if row["algorithm"] == "reno"]
    assert list(runs.x) == pytest.approx([row["rtt_p95_s"] * 1e3 for row in own if row["rtt_p95_s"]])
    assert list(mean.y) == pytest.approx([fmean(row["goodput_bps"] for row in own) / 1e6])
    assert mean.label == "reno"
    alone = sc.compare(["reno"], rate="10 Mbps", duration="1 s").scatter()
    assert not any(isinstance(element, Shape) for element in alone.panel.elements)


def test_columns_have_one_scale_and_go_on_below() -> None:
    names = [algorithm.name for algorithm in sc.algorithms() if algorithm.part == "window"][:7]
    comparison = sc.compare(names, rate="5 Mbps", duration="2 s")
    figure = comparison.figure()
    assert len(figure.panels) == 8
    assert [panel.title for panel in (*figure.panels[0], *figure.panels[4])] == [*names, ""]
    for row in range(4):
        scales = {(panel.y.low, panel.y.high) for line in figure.panels[row::4] for panel in line}
        assert len(scales) == 1, "a quantity has one scale"
    delay = figure.panels[2][0]
    [line] = [element for element in delay.elements if isinstance(element, Line)]
    series = flow_series(next(iter(comparison.results.values())))
    np.testing.assert_allclose(line.y, series["srtt_s"].to_numpy() * 1e3)


def test_completion_times_and_marks_have_a_column_if_there_are_any() -> None:
    sized = sc.dumbbell("10 Mbps", flows=[{"congestion_control": "reno", "traffic": {"size": "1 MB"}}], duration="5 s")
    comparison = sc.compare(["reno"], scenario=sized)
    [row] = comparison.measures
    assert row["completion_mean_s"] == row["flows"][0]["completion_s"]
    assert any("complete" in column for column in comparison.table().columns)
    bulk = sc.compare(["reno"], rate="5 Mbps", duration="1 s").table()
    assert not any("complete" in column or "CE" in column for column in bulk.columns)
