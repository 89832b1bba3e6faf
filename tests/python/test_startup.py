"""A command imports only what it uses. The test asserts modules, not times."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.cli.app import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: Each takes as long to import as the shorter commands take in total.
HEAVY = {"jinja2", "markdown_it", "matplotlib", "numpy", "plotly", "polars"}


def _imported(code: str, folder: Path) -> set[str]:
    """Return the top-level modules that a fresh interpreter has imported when it ends."""
    script = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint()\nprint(*sys.modules)"
    # Without coverage, which has imports of its own.
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def _command(*words: object) -> str:
    return f"from selfclock.cli import main; main({list(map(str, words))!r})"


def test_the_package_itself_is_nearly_nothing(tmp_path: Path) -> None:
    imported = _imported("import selfclock", tmp_path)
    assert "selfclock" in imported
    assert not imported & (HEAVY | {"click", "json", "rich"})


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["runn"]])
def test_what_no_command_answers_imports_no_command(tmp_path: Path, words: list[str]) -> None:
    imported = _imported(_command(*words), tmp_path)
    assert "click" in imported
    assert not imported & (HEAVY | {"rich"})


@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", "--json"],
        ["compare", "reno", "--duration", "1s", "--json"],
        ["algorithms", "--json"],
        ["schema"],
        ["sweep", "--help"],
        ["evaluate", "--help"],
        ["reproduce", "--help"],
    ],
)
def test_what_prints_a_document_imports_nothing_that_draws(tmp_path: Path, small: Path, words: list[str]) -> None:
    assert small.exists()
    assert not _imported(_command(*words), tmp_path) & (HEAVY | {"rich"})


@pytest.mark.parametrize(
    ("words", "name"),
    [(["run", "small.toml"], "small"), (["compare", "reno", "cubic", "--duration", "1s"], "compare")],
)
def test_a_page_of_runs_imports_no_data_frames(tmp_path: Path, small: Path, words: list[str], name: str) -> None:
    """Data frames, matplotlib and run-time type readers take longer to import than such a run takes in total."""
    assert small.exists()
    imported = _imported(_command(*words), tmp_path)
    assert (tmp_path / "results" / name / "report.html").exists()
    assert imported & HEAVY == {"jinja2", "numpy"}
    assert not imported & {"annotated_types", "pydantic", "typer"}


def test_public_names_are_those_that_type_checkers_see() -> None:
    """Each is listed twice: as an import for type checkers, and by its module for the interpreter."""
    tree = ast.parse(Path(sc.__file__).read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == sc._HOME
    assert set(sc.__all__) == {"__version__", *seen}
    for name in sc.__all__:
        assert getattr(sc, name) is not None
    assert set(sc.__all__) <= set(dir(sc))
    with pytest.raises(AttributeError, match="no attribute 'compares'"):
        _ = sc.compares  # type: ignore[attr-defined]


def test_an_imported_module_does_not_take_the_place_of_a_function(tmp_path: Path) -> None:
    """`selfclock.compare` is also a module, which Python would bind to the function's name."""
    modules = "selfclock.compare, selfclock.sweep.grid, selfclock.evaluate.rows, selfclock.algorithms"
    code = f"import {modules}; import selfclock as sc"
    check = "assert all(map(callable, [sc.compare, sc.sweep, sc.evaluate, sc.algorithms]))"
    assert "selfclock" in _imported(f"{code}; {check}", tmp_path)


def test_help_lists_every_command_with_its_purpose(command: Command) -> None:
    listed = command("--help").stdout
    for name, about in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(about.split()[0])}", listed, re.MULTILINE), name
