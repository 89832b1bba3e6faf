"""At the limits of machine and model a run completes, or ends with a clear error, and leaves nothing half-written."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from conftest import LINUX
from load_cases import CASES, Case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_heavy_scenarios_run(case: Case) -> None:
    scenario = sc.Scenario.parse(case.text, overrides=[f"duration={case.short}", 'record.interval="off"'])
    summary = scenario.run().summary
    assert summary["simulated_s"] == scenario.duration_s
    assert sum(flow["sent_segments"] for flow in summary["flows"]) > 0 or case.name == "100,000 flows"
    if case.short == "24 h":
        assert summary["links"][0]["utilization"] > case.busy


def limited(command: list[str], directory: Path, limit: int, value: int) -> subprocess.CompletedProcess[str]:
    """Run a command with an upper limit on a resource."""
    return subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )


@pytest.mark.alone
@LINUX
@pytest.mark.parametrize("kilobytes", [1, 30, 300])
def test_a_full_disk_leaves_no_result(small: Path, tmp_path: Path, kilobytes: int) -> None:
    """A file size limit looks to a program like a full disk: a write fails."""
    command = [sys.executable, "-m", "selfclock", "run", str(small), "--out", "run", "--set", "record.packets=true"]
    done = limited(command, tmp_path, resource.RLIMIT_FSIZE, kilobytes * 1024)
    assert done.returncode in (1, 2), done
    assert done.stderr.startswith("selfclock: "), done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path != small] == []


@pytest.mark.alone
@LINUX
def test_no_memory_leaves_no_result(small: Path, tmp_path: Path) -> None:
    """Interpreter and libraries take some hundred MB of address space; this run's samples do not fit in the rest."""
    command = [
        sys.executable, "-m", "selfclock", "run", str(small), "--out", "run", "--set", "record.interval=1 us",
        "--set", "duration=10 s",
    ]  # fmt: skip
    done = limited(command, tmp_path, resource.RLIMIT_AS, 1500 * 2**20)
    assert done.returncode != 0, done
    assert "memory" in done.stderr.lower(), done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path != small] == []
