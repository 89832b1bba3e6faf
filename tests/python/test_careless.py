"""Inputs of careless users: one message that says what is allowed, an exit status, and nothing half-written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from careless_cases import GRID, OWN, SCENARIO, TABLE, Case

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A correct scenario, grid and algorithm."""
    for name, text in (("small.toml", SCENARIO), ("grid.toml", GRID), ("own.py", OWN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def check(done: subprocess.CompletedProcess[str], directory: Path, case: Case) -> None:
    """Assert what holds for every command and input."""
    said = done.stderr
    assert done.returncode == case.status, said
    for word in case.words:
        assert word in said
    assert "panicked" not in said
    assert case.own_traceback or "Traceback" not in said
    lines = said.splitlines()
    if case.status == 0:
        assert all(line.startswith("note: ") for line in lines), said
        assert bool(lines) == any("note: " in word for word in case.words)
    else:
        assert done.stdout == ""
        # Usage errors begin with the command's usage.
        assert sum(line.startswith(("selfclock: ", "Error: ")) for line in lines) == 1, said
        assert case.status != 2 or not (directory / "results").exists()
    assert not list(directory.rglob(".*.partial"))
    assert not list(directory.rglob("__pycache__"))


def test_there_are_no_two_cases_of_one_name() -> None:
    names = [(case.group, case.name) for case in TABLE]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.group}: {case.name}"[:70])
def test_what_is_typed(command: Command, files: Path, case: Case) -> None:
    for name, content in case.files:
        (files / name).write_bytes(content.encode() if isinstance(content, str) else content)
    check(command(*case.arguments), files, case)
