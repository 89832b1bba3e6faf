"""Hints on files given to the wrong command."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Larger files are not searched for a hint.
LARGEST = 1 << 20


def _keys(path: Path) -> set[str]:
    """The top-level keys of a TOML file; empty if unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return set()
        return set(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return set()


def for_run(path: Path) -> str | None:
    """Return a hint on a file that `run` cannot read as a scenario; None without one."""
    if path.suffix == ".py":
        return f"{path} is Python: give it with --algorithm {path}, beside a scenario that names its algorithm"
    keys = _keys(path)
    if "scenario" in keys and "network" not in keys:
        return f"{path} is a grid: selfclock sweep {path}"
    return None


def for_sweep(path: Path) -> str | None:
    """Return a hint on a file that `sweep` cannot read as a grid; None without one."""
    if path.suffix == ".py":
        return f"{path} is Python: give it with --algorithm {path}, beside a grid that names its algorithm"
    keys = _keys(path)
    if "network" in keys and "scenario" not in keys:
        return f"{path} is a scenario: selfclock run {path}; a sweep takes a grid file, which names a scenario"
    return None
