"""Numbers, arrays, quantities and lists in Python calls: each is taken everywhere, or refused in one message."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import selfclock as sc
from conftest import SMALL
from selfclock.errors import BadInputError
from selfclock.scenario.table import plain
from selfclock.series import flow_series, goodputs_bps, link_series
from selfclock.sweep.grid import place_of_seed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOSS, PACING = "network.bottleneck.loss.probability", "transport.pacing_gain"
LONG_AGO = "schema = 1\nscenario = 'small.toml'\n"


@pytest.fixture
def small() -> sc.Scenario:
    return sc.Scenario.parse(SMALL.replace('"2 s"', '"200 ms"'))


@pytest.mark.parametrize(
    ("written", "path", "values"),
    [
        (f'[grid]\n"{LOSS}" = [0, 0.0001, 0.001]', LOSS, [0.0, 0.0001, 0.001]),
        (f'[grid]\n"{PACING}" = [1, 1.5]', PACING, [1.0, 1.5]),
        (f'[grid]\n"{LOSS}" = {{ from = 0, to = 0.1, steps = 3 }}', LOSS, [0.0, 0.05, 0.1]),
        (f'[[point]]\n"{PACING}" = 1\n[[point]]\n"{PACING}" = 1.5', PACING, [1.0, 1.5]),
        (f'[grid]\n"{LOSS}" = [0, 1]', LOSS, [0, 1]),
    ],
)
def test_whole_numbers_beside_fractions_are_one_column(
    written: str, path: str, values: list[float], tmp_path: Path
) -> None:
    """Regression: polars refused the fractions, with a traceback."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "grid.toml").write_text(f"{LONG_AGO}{written}\n", encoding="utf-8")
    column = sc.Grid.load(tmp_path / "grid.toml").columns()[path]
    assert column.dtype.is_numeric()
    assert column.to_list() == values


@pytest.mark.parametrize(
    ("grid", "toml"),
    [
        ({LOSS: [0, 0.1]}, ["0", "0.1"]),
        ({LOSS: np.linspace(0, 0.1, 3)}, ["0.0", "0.05", "0.1"]),
        ({LOSS: np.array([0.1], dtype=np.float32)}, ["0.1"]),
        ({LOSS: (part for part in (0, np.float64(0.5)))}, ["0", "0.5"]),
        ({"network.bottleneck.rate": [sc.mbps(1), "2 Mbps"]}, ['"1 Mbps"', '"2 Mbps"']),
        ({"network.bottleneck.queue": [sc.packets(9), sc.Queue("codel", limit=sc.packets(9))]},
         ['"9 packets"', '{ discipline = "codel", limit = "9 packets" }']),
        ({"transport.timestamps": [np.bool_(True), False]}, ["true", "false"]),
    ],
)  # fmt: skip
def test_a_grid_takes_what_a_scenario_takes(small: sc.Scenario, grid: dict[str, Any], toml: list[str]) -> None:
    found = sc.Grid.over(small, grid)
    assert [found.settings(point)[0].toml for point in range(found.points)] == toml


def test_random_draws_and_points_too(small: sc.Scenario, tmp_path: Path) -> None:
    drawn = sc.Grid.over(small, random={LOSS: [0, 0.5]}, draws=np.int64(8))
    assert sorted(set(drawn.columns()[LOSS].to_list())) == [0.0, 0.5]
    assert sc.Grid.over(small, points=[{PACING: 1}, {PACING: 1.5}]).columns()[PACING].to_list() == [1.0, 1.5]
    found = sc.sweep(sc.Grid.over(small, {LOSS: [0, 0.1]}, seeds=np.int64(2)), tmp_path / "out")
    assert sorted(found.runs[LOSS].to_list()) == [0.0, 0.0, 0.1, 0.1]


@pytest.mark.parametrize("seeds", [3, np.int64(3), [1, 2, 3], np.arange(1, 4), range(1, 4), iter((1, 2, 3))])
def test_seeds_are_a_number_or_any_list(small: sc.Scenario, seeds: Any) -> None:  # noqa: ANN401
    assert sc.Grid.over(small, {PACING: [1]}, seeds=seeds).seeds == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("schema = 1\n[grid]\nseed = [1, 2]\n", "3:1: "),
        ('[[point]]\n"seed" = 1\n', "2:2: "),
        ("[random]\nseed = 7\nover = { seed = [1, 2] }\n", "3:10: "),
        ("[random]\nseed = 7\n", ""),
    ],
)
def test_the_place_of_a_seed(text: str, place: str) -> None:
    assert place_of_seed(text) == place


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.int64(5), 5), (np.uint8(5), 5), (np.float64(0.5), 0.5), (np.float32(0.1), 0.1), (np.bool_(False), False),
        (np.array(2), 2), (np.array([[1, 2]]), [[1, 2]]), (Decimal("0.1"), 0.1), (range(2), [0, 1]),
        (sc.ms(10), "10 ms"), ({"a": (np.int64(1), None)}, {"a": [1, None]}),
    ],
)  # fmt: skip
def test_a_value_becomes_what_a_file_has(value: Any, found: object) -> None:  # noqa: ANN401
    made = plain(value)
    assert (made, type(made)) == (found, type(found))


@pytest.mark.parametrize(
    "arguments",
    [
        {"rate": sc.mbps(10)}, {"rtt": sc.ms(20)}, {"buffer": sc.packets(20)}, {"buffer": sc.bdp(0.5)},
        {"duration": sc.s(0.1)}, {"flows": np.int64(2)}, {"seed": np.int64(3)}, {"seeds": np.int64(2)},
        {"buffer": "unlimited"},
    ],
    ids=str,
)  # fmt: skip
def test_a_comparison_takes_quantities(arguments: dict[str, Any]) -> None:
    assert sc.compare(["reno"], **({"duration": "100 ms"} | arguments)).measures[0]["goodput_bps"] > 0


def test_a_quantity_and_its_text_are_the_same() -> None:
    one = sc.compare(["reno"], rate=sc.mbps(10), rtt=sc.ms(20), duration=sc.s(0.2))
    other = sc.compare(["reno"], rate="10 Mbps", rtt="20 ms", duration="200 ms")
    assert one.measures[0]["goodput_bps"] == other.measures[0]["goodput_bps"]
    scenario = sc.dumbbell(duration="1 s")
    assert sc.compare(["reno"], scenario=scenario, duration=sc.s(0.2)).scenarios[0].duration_s == 0.2


@pytest.mark.parametrize(
    "built",
    [
        lambda: sc.dumbbell(seed=np.int64(5)),
        lambda: sc.dumbbell(flows=(name for name in ("reno", "cubic"))),
        lambda: sc.dumbbell(flows=np.array(["reno", "cubic"])),
        lambda: sc.dumbbell(loss=np.float32(0.25)),
        lambda: sc.Path("5 Mbps", "20 ms").scenario(("reno",), duration=sc.s(1), seed=np.uint32(4)),
    ],
)
def test_a_scenario_takes_them(built: Callable[[], sc.Scenario]) -> None:
    assert built().flow_names[0] == "flow1"


REFUSED: list[tuple[Callable[[sc.Scenario], object], str]] = [
    (lambda _: sc.compare("reno"), "algorithms: 'reno' is not a list; write a list such as ['reno']"),
    (lambda _: sc.compare(["reno"], rate=10), 'rate: 10 has no unit; write a rate such as "10 Mbps" or mbps(10)'),  # type: ignore[arg-type]
    (lambda _: sc.compare(["reno"], rate="10"), "rate: '10' is not a rate; write a rate such as \"10 Mbps\""),
    (lambda _: sc.compare(["reno"], rate=sc.ms(1)), "rate: Time('1 ms') is out of place"),  # type: ignore[arg-type]
    (lambda _: sc.compare(["reno"], seeds=0), "seeds: 0 is out of range; allowed: 1 to 1,000"),
    (lambda _: sc.compare(["reno"], seeds=1.5), "seeds: 1.5 is not a whole number"),  # type: ignore[arg-type]
    (lambda _: sc.evaluate("reno", rows="S2"), "rows: 'S2' is not a list; write a list such as ['S2']"),
    (lambda _: sc.dumbbell(flows=None), "flows: missing; write a list"),  # type: ignore[arg-type]
    (lambda _: sc.dumbbell(flows=3), "flows: 3 is not a list"),  # type: ignore[arg-type]
    (sc.run_many, "is not a list"),  # type: ignore[arg-type]
    (lambda _: sc.run_many(["base.toml"]), "scenarios[0]: 'base.toml' is not a Scenario"),  # type: ignore[list-item]
    (lambda _: sc.run_many("base.toml"), "scenarios: 'base.toml' is not a list"),  # type: ignore[arg-type]
    (lambda s: s.run(threads="2"), "threads: '2' is not a whole number; allowed: 1 to 1,024"),  # type: ignore[arg-type]
    (lambda s: s.with_overrides("duration=1 s"), "overrides: 'duration=1 s' is not a list"),
    (lambda _: sc.Scenario("schema = 1"), "write Scenario.parse(TEXT) or Scenario.load(FILE)"),  # type: ignore[arg-type]
    (lambda s: sc.Grid.over(s, {LOSS: {0, 1}}), "a scenario holds text, numbers"),  # type: ignore[dict-item]
    (lambda s: sc.Grid.over(s, [LOSS]), "is not a table"),  # type: ignore[arg-type]
    (lambda s: sc.Grid.over(s, {PACING: [1]}, name=".."), "name: not a name"),
    (lambda s: sc.Grid.over(s, {PACING: [1]}, name="."), "name: not a name"),
    (lambda s: sc.Grid.over(s, {"seed": [1, 2]}), "write seeds = [1, 2]"),
    (lambda s: s.with_overrides(["name=.."]), "name: not a name"),
    (lambda _: sc.algorithm(7), "7 is not a name"),  # type: ignore[arg-type]
    (lambda s: sc.sweep(sc.Grid.over(s, {PACING: [1]}), measures="jain"), "measures: 'jain' is not a list"),
    (lambda s: flow_series(s.run(), "nosuch"), "no flow is named 'nosuch'; there are flow1, flow2"),
    (lambda s: link_series(s.run(), "botleneck"), "did you mean 'bottleneck'?"),
    (lambda s: goodputs_bps(s.run(), 3, 1), "from 3 to 1 s there are not two samples"),
    (lambda s: goodputs_bps(s.run(), float("nan"), 1), "there are not two samples"),
    (lambda s: goodputs_bps(s.run(), 30, 40), "there are not two samples"),
    (lambda s: s.run().write_pcapng("bottleneck", "x.pcapng"), "set record.packets = true in its scenario"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_what_is_wrong_is_refused_in_one_message(
    call: Callable[[sc.Scenario], object], words: str, small: sc.Scenario
) -> None:
    """Regression: an empty table, an empty capture, or an error of the libraries below."""
    with pytest.raises((sc.ScenarioError, BadInputError)) as refused:
        call(small)
    assert words in str(refused.value)


def test_files_of_two_runs_are_told_apart(small: sc.Scenario, tmp_path: Path) -> None:
    """Regression: totals of one run stood beside the series of another."""
    one, other = tmp_path / "one", tmp_path / "other"
    sc.publish(small.run(), one)
    sc.publish(small.with_seed(9).run(), other)
    assert sc.Result.load(one).summary["seed"] == 1
    (one / "flows.parquet").write_bytes((other / "flows.parquet").read_bytes())
    with pytest.raises(BadInputError, match=r"flows\.parquet and links\.parquet are of different runs"):
        sc.Result.load(one)
    (one / "links.parquet").write_bytes((other / "links.parquet").read_bytes())
    with pytest.raises(BadInputError, match=r"summary\.json and flows\.parquet are of different runs"):
        sc.Result.load(one)


@pytest.mark.parametrize(
    ("habit", "meant"), [("pacing_rate", "pacing_bps"), ("cwnd_segments", "cwnd"), ("window", "cwnd")]
)
def test_a_name_of_another_simulator_is_refused(habit: str, meant: str) -> None:
    class Own(sc.CongestionControl):
        def on_ack(self, event: sc.Acknowledged) -> None:
            setattr(self, "unused", event)  # noqa: B010

        def on_loss(self, event: sc.LossDetected) -> None: ...

        def on_timeout(self, event: sc.Timeout) -> None: ...

    text = f"def on_ack(self, event):\n    self.{habit} = 4.0\n"
    made: dict[str, Any] = {}
    exec(text, made)  # noqa: S102  an assignment to a name of the table
    Own.on_ack = made["on_ack"]  # type: ignore[method-assign]
    with pytest.raises(
        sc.AlgorithmError, match=rf"self\.{habit} is assigned and never read; did you mean self\.{meant}"
    ):
        sc.algorithm("test-habit")(Own)


def test_results_say_what_they_are(small: sc.Scenario, tmp_path: Path) -> None:
    result, compared = small.run(), sc.compare(["reno", "cubic"], duration="100 ms")
    swept = sc.sweep(sc.Grid.over(small, {PACING: [1, 2]}), tmp_path)
    assert repr(result) == "<Result of 'small': 2 flows, 0.2 s, seed 1>"
    assert "packet-pair" in str(result)
    assert repr(compared).startswith("<Comparison of reno, cubic: 100 Mbps")
    assert "algorithm" in str(compared)
    assert repr(swept.grid) == "<Grid 'small': 2 points of transport.pacing_gain, 1 seed>"
    assert "pacing_gain" in str(swept)
    assert repr(result.plot.window()) == "<Figure 'small': 1 x 1 panels, 6.4 x 3.2 inches>"
    assert "window()" in repr(result.plot)
