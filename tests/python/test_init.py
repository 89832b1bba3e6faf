"""`selfclock init`: initial files, which run unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfclock.examples import EXAMPLES, commented_scenario, text

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]


def test_a_commented_scenario_runs(command: Command, tmp_path: Path) -> None:
    done = command("init")
    assert (done.returncode, done.stdout) == (0, "scenario.toml: selfclock run scenario.toml\n")
    ran = command("run", "scenario.toml", "--json")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert [flow["algorithm"] for flow in json.loads(ran.stdout)["flows"]] == ["cubic", "hystart++"]
    assert command("init", "mine").stdout == "mine.toml: selfclock run mine.toml\n"
    assert (tmp_path / "mine.toml").read_bytes() == (tmp_path / "scenario.toml").read_bytes()


@pytest.mark.parametrize(
    ("comment", "setting"),
    [
        ("# mss", "mss"),
        ("# ecn", "ecn"),
        ("# count", "count"),
        ("# traffic", "traffic"),
        ("# bottleneck", "bottleneck"),
    ],
)
def test_what_is_commented_out_may_be_commented_in(
    command: Command, tmp_path: Path, comment: str, setting: str
) -> None:
    changed = commented_scenario()
    if setting == "bottleneck":
        changed = "".join(line for line in changed.splitlines(keepends=True) if not line.startswith("bottleneck"))
        changed = changed.replace("# bottleneck", "bottleneck", 1)
    else:
        assert changed.count(comment) == 1
        changed = changed.replace(comment, setting)
    (tmp_path / "changed.toml").write_text(changed, encoding="utf-8")
    done = command("run", "changed.toml", "--json", "--set", "duration=1 s")
    assert done.returncode == 0, done.stderr


def test_nothing_is_overwritten(command: Command, tmp_path: Path) -> None:
    (tmp_path / "lte.trace").write_text("mine", encoding="utf-8")
    done = command("init", "--example", "lte", "--example", "one-flow")
    assert done.returncode == 2
    assert done.stderr.startswith("selfclock: lte.trace already exists and is not overwritten")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["lte.trace"]
    assert (tmp_path / "lte.trace").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--example", "ltee"], "did you mean 'lte'?"), (["no/where"], "no: there is no such directory")],
)
def test_bad_usage_is_one_message(command: Command, tmp_path: Path, words: list[str], said: str) -> None:
    done = command("init", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_examples_are_those_of_the_repository_and_run(command: Command) -> None:
    listed = command("init", "--list").stdout
    for name, example in EXAMPLES.items():
        assert name in listed
        for file in example.files:
            assert text(file) == (ROOT / "examples" / file).read_text(encoding="utf-8")
    files = {file for example in EXAMPLES.values() for file in example.files}
    shown = {path.name for path in (ROOT / "examples").iterdir() if path.suffix in {".toml", ".trace"}}
    assert shown <= files
    assert command("init", "--example", "lte", "--example", "buffers").returncode == 0
    assert (
        command("run", "lte.toml", "--json", "--set", "network.bottleneck.delivery_trace=train.trace").returncode == 0
    )
