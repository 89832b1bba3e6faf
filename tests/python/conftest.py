"""Shared by the tests."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = """\
schema = 1
name = "small"
duration = "2 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "1 Mbps", delay = "10 ms", queue = "5 packets" }
access = { rate = "10 Mbps", delay = "1 ms" }

[[flow]]
congestion_control = "reno"

[[flow]]
congestion_control = "packet-pair"
start_jitter = "100 ms"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file that runs in milliseconds and loses packets."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def selfclock(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line in an empty directory."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "selfclock", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    return run
