"""A fork equals its scenario's run from the start."""

# ruff: noqa: ARG002 - methods of an algorithm have fixed arguments

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc
from conftest import SMALL
from selfclock.sweep import sharing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = SMALL.replace('duration = "2 s"', 'duration = "10 s"') + '\n[[flow]]\nstart = "6 s"\n'
LATER = "network.bottleneck.changes=[{ at = '5 s', rate = '400 kbps', delay = '30 ms' }]"


def everything(result: sc.Result) -> str:
    """Return all numbers as text: different bits give different text, and NaN is NaN."""
    tables = [pl.DataFrame(table) for table in (result.flows, result.links, result.packets)]
    return repr([{**result.summary, "cpu_s": 0.0}, *(table.to_dicts() for table in tables)])


@pytest.mark.parametrize("overrides", [[], [LATER], ["flow.2.congestion_control=bbr3", LATER]])
def test_a_fork_is_the_run_of_its_scenario(overrides: list[str]) -> None:
    scenario = sc.Scenario.parse(LONG, overrides=["record.packets=true"])
    run = scenario.at("5 s")
    for _ in range(2):
        fork = run.fork(overrides)
        assert everything(fork) == everything(scenario.with_overrides(overrides).run())
        assert fork.scenario.text == scenario.with_overrides(overrides).text


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("network.bottleneck.queue=9 packets", 'link "bottleneck" cannot differ'),
        ("network.bottleneck.changes=[{ at = '4 s', rate = '1 Mbps' }]", "differ from 4.000000 s on"),
        ("flow.0.congestion_control=cubic", "differ from 0.000000 s on"),
        ("flow.2.start=7 s", 'flow "flow3" cannot differ'),
        ("duration=11 s", "the duration cannot differ"),
        ("seed=9", "the seed cannot differ"),
    ],
)
def test_what_cannot_change_is_said_in_a_line(override: str, says: str) -> None:
    with pytest.raises(sc.ScenarioError, match=says) as refused:
        sc.Scenario.parse(LONG).at("5 s").fork([override])
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("time", ["0 s", "11 s", "1000000 h"])
def test_a_fork_is_within_the_run(time: str) -> None:
    with pytest.raises(sc.ScenarioError, match="allowed: after 0 s, up to 10 s"):
        sc.Scenario.parse(LONG).at(time)


@sc.algorithm("test-forked")
class Forked(sc.CongestionControl):
    """Grows according to a count in a separate object."""

    def __init__(self) -> None:
        self.seen = {"acks": 0}

    def on_ack(self, event: sc.Acknowledged) -> None:
        self.seen["acks"] += 1
        self.cwnd += 1 / (self.cwnd * (1 + self.seen["acks"] % 3))

    def on_loss(self, event: sc.LossDetected) -> None:
        self.cwnd /= 2

    def on_timeout(self, event: sc.Timeout) -> None:
        self.seen["acks"] = 0


@sc.algorithm("test-uncopied")
class Uncopied(sc.CongestionControl):
    """Holds an object that cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def on_ack(self, event: sc.Acknowledged) -> None:
        self.cwnd += 1 / self.cwnd

    def on_loss(self, event: sc.LossDetected) -> None:
        self.cwnd /= 2

    def on_timeout(self, event: sc.Timeout) -> None:
        pass


def test_an_algorithm_in_python_is_copied() -> None:
    scenario = sc.Scenario.parse(LONG, overrides=["flow.0.congestion_control=test-forked"])
    run = scenario.at("5 s")
    assert everything(run.fork([LATER])) == everything(scenario.with_overrides([LATER]).run())
    assert everything(run.fork()) == everything(scenario.run())


def test_an_algorithm_that_cannot_be_copied_fails_in_a_line() -> None:
    run = sc.Scenario.parse(LONG, overrides=["flow.0.congestion_control=test-uncopied"]).at("5 s")
    with pytest.raises(sc.RunError, match=r"flow1: test-uncopied failed .* cannot pickle") as failed:
        run.fork()
    assert len(str(failed.value).splitlines()) == 1


def grid(points: int, seeds: int = 2) -> sc.Grid:
    later = [[{"at": "5 s", "rate": f"{100 * number} kbps"}] for number in range(1, points + 1)]
    paths = {"network.bottleneck.queue": ["5 packets", "9 packets"], "network.bottleneck.changes": later}
    return sc.Grid.over(sc.Scenario.parse(LONG), {**paths, "flow.2.congestion_control": ["reno", "cubic"]}, seeds=seeds)


def rows(found: sc.Sweep) -> list[dict[str, Any]]:
    assert not found.errors
    return found.runs.drop("cpu_s").sort("key").to_dicts()


@pytest.fixture
def trunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Record the points of each shared beginning."""
    made: list[int] = []
    original = sharing._beginnings

    def counted(grid: sc.Grid, points: list[int]) -> list[tuple[set[int], int]]:
        found = original(grid, points)
        made.extend(len(members) for members, _ in found)
        return found

    monkeypatch.setattr(sharing, "_beginnings", counted)
    return made


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sweep_that_shares_beginnings_has_the_same_rows(
    tmp_path: Path, trunks: list[int], monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    shared = rows(sc.sweep(grid(3), tmp_path / "shared", threads=threads))
    assert trunks == [6, 6], "the queue differs from the beginning, everything else from 5 s on"
    monkeypatch.setattr(sharing, "WORTH_WHILE", 2.0)
    trunks.clear()
    assert rows(sc.sweep(grid(3), tmp_path / "alone", threads=threads)) == shared
    assert trunks == []


def test_a_sweep_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    ended = 0

    def interrupt(_done: float, _note: str) -> None:
        nonlocal ended
        ended += 1
        if ended == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sc.sweep(grid(3), tmp_path / "out", threads=2, progress=interrupt)
    found = sc.sweep(grid(3), tmp_path / "out", threads=2)
    assert 0 < found.done < 24
    assert rows(found) == rows(sc.sweep(grid(3), tmp_path / "whole"))


def test_own_algorithms_and_early_differences_share_nothing(tmp_path: Path, trunks: list[int]) -> None:
    scenario = sc.Scenario.parse(LONG, overrides=["flow.0.congestion_control=test-forked"])
    later = [[{"at": "5 s", "rate": "1 Mbps"}], [{"at": "5 s", "rate": "2 Mbps"}]]
    sc.sweep(sc.Grid.over(scenario, {"network.bottleneck.changes": later}), tmp_path / "own")
    early = [[{"at": "100 ms", "rate": "1 Mbps"}], [{"at": "100 ms", "rate": "2 Mbps"}]]
    sc.sweep(sc.Grid.over(sc.Scenario.parse(LONG), {"network.bottleneck.changes": early}), tmp_path / "early")
    assert trunks == []
