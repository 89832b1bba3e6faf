"""`selfclock sweep`: every point once, despite interruptions; means with confidence intervals."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest

import selfclock as sc
from conftest import SMALL
from selfclock.confidence import half_width, quantile
from selfclock.figure import Intervals, Line, Points
from selfclock.sweep.dataset import JOURNAL, RUNS
from selfclock.sweep.figure import figure
from selfclock.sweep.measures import MEASURES, USUAL
from selfclock.sweep.workers import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selfclock.figure import Panel

    Command = Callable[..., subprocess.CompletedProcess[str]]

GRID = """\
schema = 1
scenario = "small.toml"
seeds = 4

[grid]
"network.bottleneck.queue" = ["2 packets", "20 packets"]
"flow.0.congestion_control" = ["reno", "cubic"]
"""


#: A user-defined algorithm.
HALVING = """\
import selfclock as sc

@sc.algorithm("test-halving")
class Halving(sc.CongestionControl):
    def on_ack(self, event):
        if not event.recovering:
            self.cwnd += 2 / self.cwnd
    def on_loss(self, event):
        self.cwnd /= 2
    def on_timeout(self, event):
        pass
"""


@pytest.fixture
def grid(small: Path) -> Path:
    """A grid of four points with four seeds."""
    path = small.with_name("grid.toml")
    path.write_text(GRID, encoding="utf-8")
    return path


def test_a_row_per_point_and_seed_is_what_run_says(selfclock: Command, grid: Path, small: Path, tmp_path: Path) -> None:
    done = selfclock("sweep", grid, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert (document["runs"], document["done_now"], document["failed"]) == (16, 16, 0)
    runs = pl.read_parquet(tmp_path / "results" / "grid" / RUNS)
    assert runs.select("point", "seed").rows() == [(point, seed) for point in range(4) for seed in (1, 2, 3, 4)]
    assert runs["network.bottleneck.queue [packets]"].to_list() == [2.0] * 8 + [20.0] * 8
    row = runs.row(13, named=True)
    assert (row["network.bottleneck.queue"], row["flow.0.congestion_control"]) == ("20 packets", "cubic")
    overrides = ["network.bottleneck.queue=20 packets", "flow.0.congestion_control=cubic"]
    summary = sc.Scenario.load(small, overrides).with_seed(2).run().summary
    # A table has a column for failures and delays even if no run has any.
    assert row["flows"] == [{**flow, "delays": None, "failure": None} for flow in summary["flows"]]
    assert row["links"] == [{**link, "waits": None} for link in summary["links"]]
    assert row["goodput_bps"] == sum(flow["goodput_bps"] for flow in summary["flows"])
    assert (row["busiest_link"], row["drops"]) == ("bottleneck", sum(link["drops"] for link in summary["links"]))
    point = document["points"][3]
    assert point["settings"] == {"network.bottleneck.queue": "20 packets", "flow.0.congestion_control": "cubic"}
    values = runs.filter(pl.col("point") == 3)["goodput_bps"].to_list()
    estimate = point["measures"]["goodput_bps"]
    assert estimate["mean"] == pytest.approx(statistics.mean(values))
    # 3.182: in every table of Student's t, 95 %, 3 degrees of freedom.
    assert estimate["half_width"] == pytest.approx(3.182 * statistics.stdev(values) / 2, rel=2e-4)


def test_the_dataset_is_for_duckdb_too(grid: Path, tmp_path: Path) -> None:
    found = sc.sweep(grid, tmp_path / "out")
    query = f"""select "flow.0.congestion_control", count(*), max(flow.delivered_bytes)
                from (select *, unnest(flows) as flow from '{found.path}') group by 1 order by 1"""  # noqa: S608
    with duckdb.connect() as database:
        rows = database.sql(query).fetchall()
    best = max(flow["delivered_bytes"] for row in found.runs["flows"] for flow in row)
    assert [(name, count) for name, count, _ in rows] == [("cubic", 16), ("reno", 16)]
    assert max(row[2] for row in rows) == best


def test_the_table_names_points_and_intervals(selfclock: Command, grid: Path) -> None:
    shown = selfclock("sweep", grid, "--format", "svg").stdout
    for word in ("4 points, 4 seeds, 95 % confidence", "16 runs", "20 packets", "cubic", "±", "runs.parquet"):
        assert word in shown
    left = {path.name for path in (grid.parent / "results" / "grid").iterdir() if not path.name.startswith(".")}
    assert left == {"report.html", "runs.parquet", "summary.json", "sweep.svg"}


def lines_of(panel: Panel) -> list[Line]:
    return [element for element in panel.elements if isinstance(element, Line)]


def test_the_figure_has_a_line_for_each_of_the_other_settings(tmp_path: Path) -> None:
    """The path with the most values is the axis, logarithmic if it grows by factors; bars are the intervals."""
    paths = {"flow.*.congestion_control": ["reno", "cubic"], "network.bottleneck.queue": ["1 bdp", "4 bdp", "16 bdp"]}
    network = sc.dumbbell(duration="1 s", flows=[{"start_jitter": "500 ms"}])
    found = sc.sweep(sc.Grid.over(network, paths, seeds=3), tmp_path / "out")
    drawn = figure(found)
    assert len(drawn.column) == len(USUAL)
    for panel, (name, factor) in zip(drawn.column, ((name, MEASURES[name].factor) for name in USUAL), strict=True):
        assert [line.label for line in lines_of(panel)] == ["reno", "cubic"]
        strokes = [element for element in panel.elements if isinstance(element, Intervals)]
        for number, line in enumerate(lines_of(panel)):
            measured = [point["measures"][name] for point in found.points[3 * number : 3 * number + 3]]
            means = [factor * one["mean"] for one in measured]
            halves = [factor * (one["half_width"] or 0.0) for one in measured]
            assert line.x.tolist() == [1, 4, 16]
            assert line.y == pytest.approx(means)
            if any(halves):
                stroke = next(each for each in strokes if each.colour == line.colour)
                assert (stroke.high - stroke.low) / 2 == pytest.approx(halves)
                # Side by side: neither covers the other's.
                assert stroke.x.tolist() == pytest.approx([1, 4, 16], rel=0.02)
                assert all((stroke.x < line.x) == (number == 0))
    along = drawn.column[-1].x
    assert (along.log, along.label, list(along.names)) == (True, "queue (bdp)", [1, 4, 16])
    words = sc.sweep(sc.Grid.over(network, {"flow.*.congestion_control": ["reno", "cubic"]}), tmp_path / "words")
    assert list(figure(words).column[-1].x.names.values()) == ["reno", "cubic"]


def test_chosen_measures_are_shown(selfclock: Command, grid: Path) -> None:
    done = selfclock("sweep", grid, "--measure", "jain,rtt_p95_s", "--measure", "drops")
    assert done.returncode == 0, done.stderr
    heading = " ".join(done.stdout.partition("\n\n")[2].split())
    assert "Jain" in heading
    assert "95 %" in heading
    assert "busy" not in heading
    loaded = sc.Grid.load(grid)
    found = sc.sweep(loaded, grid.parent / "results" / "grid", measures=["jain", "rtt_p95_s", "drops"])
    assert found.done == 0
    drawn = figure(found)
    assert [panel.y.label for panel in drawn.column[:3]] == ["Jain", "95 % RTT\n(ms)", "drops"]
    # In the unit of the axis.
    measured = [point["measures"]["rtt_p95_s"]["mean"] * 1e3 for point in found.points]
    assert sorted(value for line in lines_of(drawn.column[1]) for value in line.y) == pytest.approx(sorted(measured))
    page = (grid.parent / "results" / "grid" / "report.html").read_text(encoding="utf-8")
    assert ">95 % RTT\nms</th>" in page


def test_a_measure_that_there_is_not(selfclock: Command, grid: Path) -> None:
    done = selfclock("sweep", grid, "--measure", "goodput")
    assert done.returncode == 2
    assert done.stderr.startswith("selfclock: no measure is named 'goodput'; did you mean 'goodput_bps'?")
    assert done.stderr.count("\n") == 1
    assert not (grid.parent / "results").exists()


def test_every_measure_is_one_of_a_run(grid: Path, tmp_path: Path) -> None:
    """Every measure of the dataset can be shown, each with its own name."""
    found = sc.sweep(grid, tmp_path / "out")
    assert set(MEASURES) <= set(found.runs.columns)
    assert len({measure.heading for measure in MEASURES.values()}) == len(MEASURES)
    point = found.points[0]
    assert {name for name in MEASURES if name not in point["measures"]} <= {"completion_mean_s"}


def test_lines_are_told_apart_or_stand_in_columns_or_are_said_not_to_be(tmp_path: Path) -> None:
    network = sc.dumbbell(duration="100 ms")
    queues, rates = [f"{number} packets" for number in (5, 10, 20)], ["5 Mbps", "10 Mbps"]
    delays = [f"{number} ms" for number in (5, 10, 20, 40, 80)]
    paths = {"network.bottleneck.queue": queues, "network.bottleneck.rate": rates, "network.bottleneck.delay": delays,
             "flow.*.congestion_control": ["reno", "cubic", "vegas"]}  # fmt: skip
    for left, columns, lines in (({}, 2, 9), ({"network.bottleneck.queue"}, 1, 6)):
        grid = sc.Grid.over(network, {path: values for path, values in paths.items() if path not in left})
        drawn = figure(sc.sweep(grid, tmp_path / f"{columns}"))
        assert len(drawn.panels[0]) == columns
        for panel in itertools.chain(*drawn.panels):
            own = lines_of(panel)
            assert len(own) == len({line.label for line in own}) == len({(line.colour, line.marker) for line in own})
            assert len(own) == lines
    drawn_at_random = {"network.bottleneck.rate": {"from": "1 Mbps", "to": "9 Mbps"},
                       "network.bottleneck.delay": {"from": "1 ms", "to": "90 ms"}}  # fmt: skip
    alike = figure(sc.sweep(sc.Grid.over(network, random=drawn_at_random, draws=20), tmp_path / "random"))
    assert "too many" in alike.notes[0]
    assert not lines_of(alike.panel)
    [points] = [element for element in alike.panel.elements if isinstance(element, Points)]
    assert (len(points.x), points.label) == (20, "")


def test_a_sweep_says_who_got_what(tmp_path: Path) -> None:
    """Two flows of two algorithms each have their goodput and its interval; the sum agrees with the total."""
    network = sc.dumbbell(duration="2 s", flows=[
        {"congestion_control": "cubic", "start_jitter": "200 ms"},
        {"congestion_control": "reno", "start_jitter": "200 ms"},
    ])  # fmt: skip
    found = sc.sweep(sc.Grid.over(network, {"network.bottleneck.queue": ["5 packets", "50 packets"]}, seeds=3),
                     tmp_path / "out")  # fmt: skip
    drawn = figure(found)
    assert drawn.column[-1].y.label.startswith("goodput, each flow")
    lines = {line.label: line for line in lines_of(drawn.column[-1])}
    assert list(lines) == ["flow1 (cubic)", "flow2 (reno)"]
    for number, name in enumerate(("flow1", "flow2")):
        line = lines[f"{name} ({('cubic', 'reno')[number]})"]
        for point in (0, 1):
            own = found.runs.filter(pl.col("point") == point)["flows"].to_list()
            goodputs = [flow["goodput_bps"] for flows in own for flow in flows if flow["name"] == name]
            assert line.y[point] == pytest.approx(statistics.mean(goodputs) / 1e6)
            share = found.points[point]["shares"][line.label]["goodput_bps"]
            assert share["half_width"] == pytest.approx(4.303 * statistics.stdev(goodputs) / 3**0.5, rel=2e-4)
    total = sum(line.y for line in lines.values())
    assert total == pytest.approx(lines_of(drawn.panel)[0].y)
    assert figure(sc.sweep(sc.Grid.over(sc.dumbbell(duration="1 s"), {"network.bottleneck.rate": ["1 Mbps", "2 Mbps"]}),
                           tmp_path / "one")).column[-1].y.label == MEASURES["queue_mean_packets"].axis  # fmt: skip


def test_many_flows_have_shares_by_algorithm(tmp_path: Path) -> None:
    flows = [{"congestion_control": "cubic", "count": 3}, {"congestion_control": "vegas", "count": 2}]
    grid = sc.Grid.over(sc.dumbbell(duration="1 s", flows=flows), {"network.bottleneck.queue": ["5 packets", "1 bdp"]})
    found = sc.sweep(grid, tmp_path / "out")
    own = found.runs["flows"][0]
    for name in ("cubic", "vegas"):
        expected = statistics.mean(flow["goodput_bps"] for flow in own if flow["algorithm"] == name)
        assert found.points[0]["shares"][name]["goodput_bps"]["mean"] == pytest.approx(expected)
    assert list(found.points[0]["shares"]) == ["cubic", "vegas"]


def test_only_what_is_missing_is_run(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = sc.sweep(grid, out).runs
    assert sc.sweep(grid, out).done == 0
    grid.write_text(GRID.replace("seeds = 4", "seeds = 6"), encoding="utf-8")
    more = sc.sweep(grid, out)
    assert (more.done, len(more.runs)) == (8, 24)
    # A comment or another spelling of a quantity is the same scenario; another value is not.
    grid.write_text(GRID.replace('"20 packets"', '"20  packets"'), encoding="utf-8")
    same = sc.sweep(grid, out)
    assert (same.done, len(same.runs)) == (0, 16)
    assert same.runs["key"].to_list() == first["key"].to_list()
    # Runs of an earlier grid are neither in this one's dataset nor lost.
    grid.write_text(GRID.replace("seeds = 4", "seeds = 6").replace('"20 packets"', '"9 packets"'), encoding="utf-8")
    other = sc.sweep(grid, out)
    assert (other.done, len(other.runs)) == (12, 24)
    assert other.runs["network.bottleneck.queue"].unique(maintain_order=True).to_list() == ["2 packets", "9 packets"]
    grid.write_text(GRID.replace("seeds = 4", "seeds = 6"), encoding="utf-8")
    back = sc.sweep(grid, out)
    assert back.done == 0
    assert back.runs.equals(more.runs)


def _start(grid: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "selfclock", "sweep", str(grid), "--out", str(grid.parent / "out"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _wait_for_rows(journal: Path, rows: int) -> None:
    give_up = time.monotonic() + 30
    while not journal.exists() or journal.read_bytes().count(b"}\n") < rows:
        assert time.monotonic() < give_up, "the sweep does not get on"
        time.sleep(0.005)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_goes_on_where_it_was(grid: Path, stop: signal.Signals) -> None:
    # A second or more of work, of which the test awaits the start.
    grid.write_text(GRID.replace("seeds = 4", 'seeds = 200\nset = { duration = "100 s" }'), encoding="utf-8")
    out = grid.parent / "out"
    with _start(grid) as process:
        _wait_for_rows(out / JOURNAL, 50)
        process.send_signal(stop)
        _, message = process.communicate(timeout=30)
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert message == "selfclock: interrupted\n"
        before = pl.read_parquet(out / RUNS)["key"].to_list()
    else:
        lines = (out / JOURNAL).read_bytes().split(b"\n")[:-1]
        before = [json.loads(line)["key"] for line in lines]
        # As left by a machine that lost power.
        with (out / JOURNAL).open("ab") as journal:
            journal.write(b'{"key": "cut in the mid')
    assert 50 <= len(before) < 800
    assert len(set(before)) == len(before)
    with _start(grid, "--json") as process:
        printed, message = process.communicate(timeout=60)
    assert process.returncode == 0, message
    assert json.loads(printed)["done_now"] == 800 - len(before)
    runs = pl.read_parquet(out / RUNS)
    assert runs.select("point", "seed").rows() == [(point, seed) for point in range(4) for seed in range(1, 201)]
    assert set(before) <= set(runs["key"])
    assert {path.name for path in out.iterdir()} == {RUNS, f".{RUNS}.sha256", "report.html", "summary.json", ".lock"}


def test_two_sweeps_do_not_write_to_one_directory(grid: Path, selfclock: Command) -> None:
    seconds = []

    def progress(_: float, __: str) -> None:
        # The first continues when this returns, so it cannot end before the second starts, however
        # fast it is.
        if not seconds:
            seconds.append(selfclock("sweep", grid, "--out", grid.parent / "out"))

    first = sc.sweep(grid, grid.parent / "out", progress=progress)
    assert seconds[0].returncode == 2
    assert "another sweep" in seconds[0].stderr
    assert (first.done, len(first.errors)) == (16, 0)


def test_a_point_that_fails_is_recorded_and_the_others_run(selfclock: Command, grid: Path, tmp_path: Path) -> None:
    # Each value is valid with another one of the other path: only the combination is not.
    axes = '"flow.0.start" = ["0 s", "1 s"]\n"flow.0.stop" = ["500 ms", "2 s"]\n'
    grid.write_text(GRID[: GRID.index("[grid]")] + f"[grid]\n{axes}", encoding="utf-8")
    done = selfclock("sweep", grid, "--out", "out")
    assert done.returncode == 1
    assert "4 of 16 runs failed" in done.stderr
    assert "stops before it starts" in done.stderr
    runs = pl.read_parquet(tmp_path / "out" / RUNS)
    failed = runs.filter(pl.col("error").is_not_null())
    assert failed["point"].unique().to_list() == [2]
    assert failed.select(list(MEASURES)).null_count().row(0) == (4,) * len(MEASURES)
    assert runs.filter(pl.col("error").is_null())["goodput_bps"].min() > 0  # type: ignore[operator]
    assert sc.sweep(grid, tmp_path / "out").done == 0
    assert sc.sweep(grid, tmp_path / "out", retry=True).done == 4


def test_a_value_that_no_point_accepts_stops_the_sweep(selfclock: Command, grid: Path, tmp_path: Path) -> None:
    """Regression: the others used to run first, and the message named an option that was not given."""
    grid.write_text(GRID.replace('"20 packets"]', '"20 packets", "0 packets"]'), encoding="utf-8")
    done = selfclock("sweep", grid, "--out", "out")
    assert done.returncode == 2
    assert "grid.toml:6:58: network.bottleneck.queue: a queue must hold something" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_that_fails_midway_is_recorded() -> None:
    # Too many flows for their packets to be recorded would be such an error, but a sweep records
    # none: a stream reports it instead.
    ended: dict[int, object] = {}
    good = sc.Scenario.parse(SMALL).unrecorded()
    huge = ["network.bottleneck.rate=10 Gbps", "network.access.rate=100 Gbps", "network.bottleneck.queue=1 bdp"]
    bad = sc.Scenario.parse(SMALL, overrides=[*huge, "duration=100 s", "record.packets=true", "record.interval=off"])
    sc.run_stream([good, bad, good], ended.__setitem__, threads=2)
    assert isinstance(ended[1], sc.RunError)
    assert "packet events" in str(ended[1])
    assert ended[0].summary == ended[2].summary  # type: ignore[attr-defined]


def test_a_stream_ends_with_what_its_consumer_raises() -> None:
    scenario = sc.Scenario.parse(SMALL).unrecorded()
    taken = 0

    def endless() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield scenario

    ended = 0

    def stop(_: int, __: object) -> None:
        # Counted as they end: the machine may delay any of them.
        nonlocal ended
        ended += 1
        if ended == 11:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sc.run_stream(endless(), stop, threads=2)  # type: ignore[arg-type]
    # Bounded: at most this many scenarios are taken for the threads.
    assert taken <= 10 + 2 * 4


def test_random_points_lie_in_their_range_and_are_the_same_again() -> None:
    scenario = sc.Scenario.parse(SMALL)
    over = {
        "network.bottleneck.rate": {"from": "1 Mbps", "to": "100 Mbps", "scale": "log"},
        "network.bottleneck.queue": {"from": "2 packets", "to": "9 packets"},
        "flow.*.congestion_control": ["reno", "cubic"],
    }
    grid = sc.Grid.over(scenario, random=over, draws=400, draw_seed=3)
    table = grid.columns()
    rates = table["network.bottleneck.rate [Mbps]"]
    assert rates.is_between(1, 100).all()
    # Log-uniform: half of the draws are below the geometric mean; four standard deviations of 400
    # coin tosses are 40.
    assert abs((rates < 10).sum() - 200) < 40
    assert set(table["network.bottleneck.queue"]) == {f"{packets} packets" for packets in range(2, 10)}
    assert set(table["flow.*.congestion_control"]) == {"reno", "cubic"}
    assert table.equals(sc.Grid.over(scenario, random=over, draws=400, draw_seed=3).columns())
    assert not table.equals(sc.Grid.over(scenario, random=over, draws=400, draw_seed=4).columns())


def test_points_and_ranges_combine() -> None:
    grid = sc.Grid.over(
        sc.Scenario.parse(SMALL),
        {"transport.initial_window": {"from": "1 segments", "to": "8 segments", "steps": 4, "scale": "log"}},
        points=[{"flow.0.start": "1 s"}, {"flow.0.start": "500 ms"}],
        seeds=[7, 9],
    )
    assert (grid.points, grid.runs) == (8, 16)
    assert grid.columns()["transport.initial_window [segments]"].to_list() == [1, 2, 4, 8] * 2
    assert [job.seed for job in grid.jobs()][:2] == [7, 9]
    assert grid.scenario_at(5).resolved != grid.scenario_at(1).resolved


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("[grid]", "[gird]"), 5, ["gird", "grid"]),
        (("network.bottleneck.queue", "network.bottleneck.quue"), 6, ["quue", "queue"]),
        (('"2 packets", "20 packets"', '"2", "3"'), 6, ["unit", "packets"]),
        (('["reno", "cubic"]', '["renoo"]'), 7, ["renoo", "reno"]),
        (("seeds = 4", "seeds = 4.5"), 3, ["integer"]),
        (("small.toml", "none.toml"), None, ["none.toml"]),
        (("seeds = 4", 'set = { "duration" = "5" }'), 3, ["duration", "unit"]),
    ],
)
def test_a_bad_grid_is_one_located_message(
    selfclock: Command, grid: Path, change: tuple[str, str], line: int | None, words: list[str]
) -> None:
    grid.write_text(GRID.replace(*change), encoding="utf-8")
    done = selfclock("sweep", grid, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert f"grid.toml:{line}:" in done.stderr or line is None
    for word in words:
        assert word in done.stderr
    assert not (grid.parent / "results").exists()


@pytest.mark.parametrize("on", ["dask://127.0.0.1:1", "ssh://somewhere"])
def test_a_place_that_cannot_run_it(selfclock: Command, grid: Path, on: str) -> None:
    done = selfclock("sweep", grid, "--on", on)
    assert done.returncode == (1 if on.startswith("dask") else 2)
    assert on in done.stderr
    assert "Traceback" not in done.stderr


def test_the_grid_schema_is_json(selfclock: Command) -> None:
    properties = json.loads(selfclock("schema", "--grid").stdout)["properties"]
    assert {"scenario", "seeds", "confidence", "set", "grid", "point", "random"} <= set(properties)


def test_student() -> None:
    # Printed tables (NIST/SEMATECH handbook 1.3.6.7.2), two-sided.
    for confidence, degrees, printed in [(0.95, 1, 12.706), (0.95, 9, 2.262), (0.99, 4, 4.604), (0.90, 30, 1.697),
                                         (0.998, 2, 22.327)]:  # fmt: skip
        assert quantile(confidence, degrees) == pytest.approx(printed, abs=6e-4)
    # The limit is the normal distribution.
    assert quantile(0.95, 10**6) == pytest.approx(statistics.NormalDist().inv_cdf(0.975), abs=1e-5)
    assert half_width(1.0, 1, 0.95) is None
    # 4.303, 2 degrees of freedom.
    assert half_width(1.0, 3, 0.95) == pytest.approx(4.303 / 3**0.5, rel=1e-3)


@pytest.mark.alone
def test_a_run_costs_less_than_a_millisecond_more_than_its_simulation(tmp_path: Path) -> None:
    grid = sc.Grid.over(sc.Scenario.parse(SMALL, overrides=["duration=200 ms"]), seeds=1000)
    # CPU time of all threads, so that a busy machine does not matter.
    began = time.process_time()
    found = sc.sweep(grid, tmp_path / "out")
    spent = time.process_time() - began
    assert found.done == 1000
    assert (spent - found.runs["cpu_s"].sum()) / 1000 < 1e-3


def test_a_killed_worker_of_a_cluster_loses_nothing(grid: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    grid.write_text(GRID.replace("seeds = 4", "seeds = 200"), encoding="utf-8")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        silence_logs="CRITICAL",
    ) as cluster:  # fmt: skip
        victim = cluster.workers[0].process.pid
        killed_at = []

        def progress(fraction: float, _: str) -> None:
            if fraction > 0.2 and not killed_at:
                os.kill(victim, signal.SIGKILL)
                killed_at.append(fraction)

        address = cluster.scheduler_address.replace("tcp", "dask")
        found = sc.sweep(grid, tmp_path / "out", on=address, progress=progress)
    assert killed_at[0] < 0.5
    assert (found.done, len(found.errors)) == (800, 0)
    assert found.runs.select("point", "seed").n_unique() == 800
    here = sc.sweep(grid, tmp_path / "here").runs
    assert found.runs.drop("cpu_s").equals(here.drop("cpu_s"))


def test_a_result_that_does_not_come_is_made_again(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask waits half a minute for a worker lost after announcing a result."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    result, asked = distributed.Future.result, []

    def late(future: object, timeout: float | None = None) -> object:
        asked.append(timeout)
        if len(asked) == 1:
            raise TimeoutError
        return result(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", late)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        protocol="tcp", silence_logs="CRITICAL",
    ) as cluster:  # fmt: skip
        found = sc.sweep(grid, tmp_path / "out", on=cluster.scheduler_address.replace("tcp", "dask"))
    assert len(asked) == 2
    assert min(asked) > 0
    assert (found.done, found.errors) == (16, [])
    here = sc.sweep(grid, tmp_path / "here").runs
    assert found.runs.drop("cpu_s").equals(here.drop("cpu_s"))


def test_a_cluster_has_the_algorithms_of_files(tmp_path: Path) -> None:
    """Regression: workers knew no user-defined algorithm, so every run failed."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    file = tmp_path / "halving.py"
    file.write_text(HALVING, encoding="utf-8")
    sc.load_algorithms(file)
    paths = {"flow.*.congestion_control": ["reno", "test-halving"]}
    grid = sc.Grid.over(sc.Scenario.parse(SMALL), paths, seeds=3)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        silence_logs="CRITICAL",
    ) as cluster:  # fmt: skip
        found = sc.sweep(grid, tmp_path / "out", on=cluster.scheduler_address.replace("tcp", "dask"))
    assert (found.done, found.errors) == (6, [])
    here = sc.sweep(grid, tmp_path / "here").runs
    assert found.runs.drop("cpu_s").equals(here.drop("cpu_s"))
    of = found.runs.group_by("flow.*.congestion_control", maintain_order=True).agg(pl.col("goodput_bps").mean())
    assert of["goodput_bps"][0] != of["goodput_bps"][1]


def test_a_killed_scheduler_ends_the_sweep(grid: Path, tmp_path: Path) -> None:
    """Regression: the sweep waited for ever. What had finished is kept."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    grid.write_text(GRID.replace("seeds = 4", "seeds = 2000"), encoding="utf-8")
    port = _free_port()
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*program, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nworkers", "1",
         "--nthreads", "1", "--no-dashboard", "--no-nanny"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    killed = False

    def progress(fraction: float, _: str) -> None:
        nonlocal killed
        if not killed and fraction > 0.001:
            scheduler.kill()
            killed = True

    try:
        _wait_for_port(port, scheduler)
        with pytest.raises(ClusterError, match="no longer answers; the finished runs are kept"):
            sc.sweep(grid, tmp_path / "out", on=f"dask://127.0.0.1:{port}", progress=progress)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert killed
    assert 0 < pl.read_parquet(tmp_path / "out" / RUNS).height < 8000


def test_an_encrypted_cluster_has_dasks_certificates(grid: Path, tmp_path: Path) -> None:
    """Every connection is TLS, with keys of Dask's own configuration; without them it says so in one line."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    if shutil.which("openssl") is None:
        pytest.skip("the keys are made by openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    tls = {"distributed.comm.tls.ca-file": str(certificate)}
    for role in ("client", "scheduler", "worker"):
        tls |= {f"distributed.comm.tls.{role}.cert": str(certificate), f"distributed.comm.tls.{role}.key": str(key)}
    import dask  # noqa: PLC0415

    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tls://127\.0\.0\.1:1"):
        sc.sweep(grid, tmp_path / "none", on="tls://127.0.0.1:1")
    with dask.config.set(tls), distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        protocol="tls", security=distributed.Security(require_encryption=True), silence_logs="CRITICAL",
    ) as cluster:  # fmt: skip
        assert cluster.scheduler_address.startswith("tls://")
        found = sc.sweep(grid, tmp_path / "out", on=cluster.scheduler_address)
    assert (found.done, found.errors) == (16, [])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        else:
            return
