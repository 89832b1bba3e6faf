"""The runs of a paper as files: `selfclock run` accepts them, and their results are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.claims import Findings
from selfclock.paper_runs import Part, Study
from selfclock.scenario_files import AmbiguousNameError, scenario_files, write_scenarios

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli import Command


def study(*scenarios: sc.Scenario) -> Study:
    return Study([Part([scenario]) for scenario in scenarios], lambda _: Findings([], [], []))


def short(name: str, **more: object) -> sc.Scenario:
    # Start times are drawn from the seed.
    return sc.dumbbell("5 Mbps", flows=[{"start_jitter": "1 s"}], duration="2 s", name=name, **more)  # type: ignore[arg-type]


def test_seed_and_recording_that_the_text_does_not_have_are_written(tmp_path: Path) -> None:
    packets = short("packets", record={"packets": True})
    parts = [packets.with_seed(7), short("bare").with_seed(8).unrecorded()]
    files = scenario_files(study(*parts))
    assert list(files) == ["packets", "bare"]
    assert write_scenarios(files, tmp_path / "all") == ["packets.toml", "bare.toml"]
    for original in parts:
        written = sc.Scenario.load(tmp_path / "all" / f"{original.name}.toml")
        assert written.settings == original.settings
        assert written.name == original.name
        assert written.run().summary["flows"] == original.run().summary["flows"]
    assert packets.with_seed(7).run().summary["flows"] != packets.run().summary["flows"]


def test_a_name_with_several_seeds_has_a_file_for_each() -> None:
    one = short("drawn")
    files = scenario_files(study(one.with_seed(3), one.with_seed(4), one.with_seed(3)))
    assert list(files["drawn"]) == ["drawn-seed-3", "drawn-seed-4"]
    for seed, (stem, text) in zip((3, 4), files["drawn"].items(), strict=True):
        written = sc.Scenario.parse(text)
        assert (written.name, written.seed) == (stem, seed)
        assert written.settings == one.with_seed(seed).settings


def test_a_name_that_is_no_file_name() -> None:
    assert list(scenario_files(study(short("figure 9: slow")))["figure 9: slow"]) == ["figure_9_slow"]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (short("a", buffer="2 bdp"), "two scenarios named 'a' have seed 1 and differ"),
        (short("a", record={"packets": True}), "two scenarios named 'a' have seed 1 and differ"),
        (short("a", buffer="2 bdp", seed=2), "scenarios named 'a' differ in more than the seed"),
        (short("A", buffer="2 bdp"), "'a' and 'A' would have the same file"),
    ],
)
def test_one_name_stands_for_one_set_of_settings(second: sc.Scenario, message: str) -> None:
    with pytest.raises(AmbiguousNameError, match=message):
        scenario_files(study(short("a"), second))


def test_the_command_writes_what_run_takes(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("reproduce", "inline-measurement", "--scenarios", "scenarios")
    assert done.returncode == 0, done.stderr
    assert "scenarios" in done.stdout
    folder = tmp_path / "scenarios" / "inline-measurement"
    assert len(list(folder.glob("*.toml"))) > 10
    assert not (tmp_path / "results").exists(), "it runs nothing"
    for path in folder.glob("*.toml"):
        assert sc.Scenario.load(path).name == path.stem
