"""`selfclock compare` and what stands behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_type_hints

import pytest

import selfclock as sc
from selfclock import style
from selfclock.algorithms import label_parts
from selfclock.own import registered
from selfclock.series import jain

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

SHORT = ("--rate", "5Mbps", "--rtt", "20ms", "--buffer", "1bdp", "--duration", "2s")


def test_a_table_a_figure_and_tables(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("compare", "reno", "cubic+hystart++", "--flows", 2, "--out", "out", *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("reno", "cubic+hystart++", "goodput", "Jain", "5Mbps"):
        assert word in done.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "compare.json",
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
        assert set(run) == set(get_type_hints(sc.Measures))
        assert run["goodput_bps"] == sum(flow["goodput_bps"] for flow in run["flows"])
        assert run["jain"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("renoo",), ["renoo", "did you mean 'reno'?"]),
        (("cubic+renoo",), ["cubic+renoo", "hystart++"]),
        ((), ["altcp", "adaptive"]),
        (("reno", "--rate", "10"), ["rate", "10", "100 Mbps"]),
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


def test_names() -> None:
    assert label_parts("cubic") == {"window": "cubic"}
    assert label_parts("hystart++") == {"start": "hystart++"}
    assert label_parts("cubic+hystart++") == {"window": "cubic", "start": "hystart++"}
    assert label_parts("reno+packet-pair") == {"window": "reno", "start": "packet-pair"}


def test_jain() -> None:
    assert jain([1.0, 1.0]) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain([0.0]) is None


def test_every_algorithm_has_a_look_of_its_own() -> None:
    built_in = [algorithm for algorithm in sc.algorithms() if algorithm.name not in registered()]
    looks = [style.LOOKS[algorithm.name] for algorithm in built_in]
    assert len({look.marker for look in looks}) == len(looks)
    assert len({(look.colour, look.line) for look in looks}) == len(looks)


def test_every_algorithm_can_be_compared() -> None:
    for algorithm in sc.algorithms():
        assert algorithm.name in label_parts(algorithm.name).values()
