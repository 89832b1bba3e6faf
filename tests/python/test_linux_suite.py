"""The suite of paths beside Linux: its scenarios are accepted, and its verdicts are what the page says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import selfclock as sc

sys.path.insert(0, str(Path(__file__).parents[1] / "live"))

import suite
from suite_rows import GROUPS

PATHS = [path for paths in GROUPS.values() for path in paths]


def test_every_path_is_a_scenario() -> None:
    names = [path.name for path in PATHS]
    assert len(names) == len(set(names)) > 50
    for path in PATHS:
        for control in suite.ALGORITHMS.values():
            scenario = sc.Scenario.parse(path.scenario(control, 3, seconds=600, start_s=1.5))
            assert (scenario.seed, scenario.duration_s) == (3, 601.5)


@pytest.mark.parametrize(
    ("what", "kernel", "simulator", "is_random", "verdict"),
    [
        # Pairs: each within 5 %, though the runs differ by a third.
        ("goodput", [6.0, 9.0, 12.0], [6.2, 8.8, 12.5], False, "agrees"),
        ("goodput", [6.0, 9.0, 12.0], [6.5, 9.6, 12.1], False, "**differs**"),
        # 10 % and a millisecond.
        ("1 segment", [40.0], [44.9], False, "agrees"),
        ("1 segment", [40.0], [45.1], False, "**differs**"),
        ("1 segment", [0.4], [1.3], False, "agrees"),
        ("1 segment", [0.4], [40.2], False, "**differs**"),
        ("20 segments, 80 %", [180.0, 190.0], [120.0, 130.0, 185.0], True, "within the spread of the runs"),
        ("20 segments, 80 %", [180.0, 190.0], [120.0, 130.0, 150.0], True, "**differs**"),
    ],
)
def test_verdicts(what: str, kernel: list[float], simulator: list[float], is_random: bool, verdict: str) -> None:
    path = next(path for path in PATHS if path.name == "clean")
    assert suite.Line(path, "reno", what, kernel, simulator, 0, is_random).verdict == verdict


def test_a_named_cause_is_shown() -> None:
    path = next(path for path in PATHS if path.name == "outage-data")
    assert suite.Line(path, "reno", "goodput", [11.9], [13.2], 0).verdict.startswith("known: Linux adds its 200 ms")
    assert suite.Line(path, "reno", "goodput", [11.9], [12.0], 0).verdict == "agrees"
