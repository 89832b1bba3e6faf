"""A machine without node or the wasm target: what `make` says, and that the two commands of the README need neither."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Programs that the makefile asks before anything is built.
TOOLS = ("cargo", "cat", "cut", "find", "ls", "make", "rustup", "sed", "sh")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A PATH of its own, without node and npm, and with a compiler that has no wasm target."""
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / tool).symlink_to(found)
    # Not what PATH has, which may be a script that needs more.
    (tmp_path / "python3").symlink_to(Path(sys.executable).resolve())
    rustc = tmp_path / "rustc"
    real = shutil.which("rustc")
    rustc.write_text(f'#!/bin/sh\ncase "$*" in *target-libdir*) echo /nowhere ;; *) exec {real} "$@" ;; esac\n')
    rustc.chmod(0o755)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # As from a terminal, even if a makefile runs this test.
    inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    environment = {**inherited, "PATH": str(folder)}
    return subprocess.run(
        [folder / "make", *arguments], cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )


def test_make_lab_says_what_to_install(folder: Path) -> None:
    done = make(folder, "lab", "PYTHON=python3")
    assert done.returncode != 0
    said, *rest = done.stderr.splitlines()
    assert said == (
        "make lab needs the wasm target (rustup target add wasm32-unknown-unknown), "
        "and node >= 20 with npm (https://nodejs.org)"
    )
    assert all("make: ***" in line for line in rest), "the line of make itself, and no other"


def test_node_alone_is_named_if_the_target_is_there(folder: Path) -> None:
    (folder / "rustc").write_text(f'#!/bin/sh\nexec {shutil.which("rustc")} "$@"\n')
    said = make(folder, "lab", "PYTHON=python3").stderr.splitlines()[0]
    assert said == "make lab needs node >= 20 with npm (https://nodejs.org)"


def test_an_old_node_is_none(folder: Path) -> None:
    for name, code in (("node", "exit 1"), ("npm", "exit 0")):
        (folder / name).write_text(f"#!/bin/sh\n{code}\n")
        (folder / name).chmod(0o755)
    assert "node >= 20" in make(folder, "lab", "PYTHON=python3").stderr.splitlines()[0]


@pytest.mark.parametrize("target", ["reproduce", "test"])
def test_the_commands_of_the_readme_need_neither(folder: Path, target: str) -> None:
    done = make(folder, "--dry-run", target)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith(("node ", "npm ", "cd lab")) or " npm " in line]
    left_out = [line for line in lines if "browser laboratory is omitted" in line]
    assert len(left_out) == (target == "test")
