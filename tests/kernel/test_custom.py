"""A user's own crate, compiled, decides in the kernel: loaded with settings, recorded, replayed, unloaded."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab import Path2
from skips import UNJUDGED
from test_resident import CAPACITY, good, name, refused, resident, selfclock

from selfclock.kernel.build import BuildError, Built, build_crate, tools

EXAMPLE = Path(__file__).parents[2] / "examples/rust-algorithm"
__all__ = ["name"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Built]:
    """Build the example, if the compilers are there."""
    try:
        tools.find()
    except BuildError as error:
        pytest.skip(str(error))
    return build_crate(EXAMPLE, tmp_path_factory.mktemp("objects"))


def goodput(name: str, record: Path, program: Path) -> tuple[float, Path2]:
    """Send for 6 s while the command records, which replays the record by the program; return goodput and path."""
    command = [sys.executable, "-m", "selfclock", "kernel", "record", str(record), name, "--with", str(program)]
    with Path2() as path:
        recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while (there := resident(name)) is None or there.recorder is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        transfer = path.send(name, 6)
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=60)[1]
    assert "replayed bit for bit" in said
    return transfer.goodput(2), path


def fills_the_path(name: str, folder: Path, program: Path) -> Path:
    """Assert that goodput is 85 % of the capacity; return the record of the last attempt.

    AIMD with a factor of 0.7 and a buffer of one BDP keeps the path full; the rest is for a
    recovery from slow start that lasts beyond the seconds left out. On a path that was late the
    attempt is repeated, and after the third nothing is judged, which the summary says.
    """
    for attempt in range(3):
        record = folder.with_name(f"{folder.name}-{attempt}")
        found, path = goodput(name, record, program)
        if path.is_in_time:
            assert found > 0.85 * CAPACITY
            return record
    UNJUDGED.append(f"goodput of {folder.name}: {path.said}")
    return record


def test_the_example_decides_in_the_kernel(name: str, built: list[Built], tmp_path: Path) -> None:
    """A model and a window carry data; the record of each is replayed by its program, and by no other."""
    assert [each.algorithm for each in built] == ["my-aimd", "my-window"]
    records = []
    for each in built:
        label = f"{each.algorithm}:decrease=0.7"
        loaded = good("load", str(each.object), "--set", "decrease=0.7", "--name", name)
        assert loaded["algorithm"] == label
        there = resident(name)
        assert there is not None
        assert there.algorithm == label
        record = fills_the_path(name, tmp_path / each.algorithm, each.program)
        records.append(record)
        assert {"events.log", "flows.parquet", "kernel.json"} <= {it.name for it in record.iterdir()}
        replayed = selfclock("replay", str(record), "--with", str(each.program))
        assert replayed.returncode == 0, replayed.stderr
        assert "decisions, all equal" in replayed.stdout
        assert "--with names the program" in refused("replay", str(record))
        good("unload", name)
    other = refused("replay", str(records[0]), "--with", str(built[1].program))
    assert 'unknown algorithm "my-aimd"' in other


def test_settings_are_checked(name: str, built: list[Built]) -> None:
    """As those of built-in algorithms are, with the ranges that the crate declares."""
    file = str(built[0].object)
    assert "decrease: 7 is outside of 0.1 to 0.99" in refused("load", file, "--set", "decrease=7", "--name", name)
    assert "decreese" in refused("load", file, "--set", "decreese=0.7", "--name", name)
    assert resident(name) is None
