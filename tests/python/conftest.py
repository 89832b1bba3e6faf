"""Shared fixtures."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from selfclock import cli
from selfclock.kernel.build import BuildError, tools

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1]))
from skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

#: Other systems do not enforce these limits on a process, or have no such files.
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process and files of Linux")
#: Windows cannot send SIGINT to a single process, or hold signals back.
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A shell starts background processes with SIGINT ignored, which is inherited; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# So does `nohup` with SIGHUP.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

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


#: One link of a graph of three nodes: c cannot be reached.
GRAPH = """\
schema = 1
duration = "1 s"
[network]
topology = "graph"
nodes = ["a", "b", "c"]
[[network.link]]
from = "a"
to = "b"
rate = "1 Mbps"
delay = "1 ms"
[[flow]]
from = "a"
to = "b"
"""


@cache
def without_bpf_compilers() -> str:
    """Return why this machine cannot compile algorithms for the kernel; "" if it can."""
    try:
        tools.find()
    except BuildError as error:
        return str(error)
    return ""


@cache
def built_in_schema() -> dict[str, Any]:
    """Return the schema of scenarios without algorithms registered by other tests in this process."""
    done = subprocess.run([sys.executable, "-m", "selfclock", "schema"], capture_output=True, text=True, check=True)
    schema: dict[str, Any] = json.loads(done.stdout)
    return schema


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


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line in this process, in an empty directory, without the second that imports take."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main(words)
                status = 0
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())

    return run
