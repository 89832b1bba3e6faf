"""A twin of a scenario: its runs, and that nothing remains, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab import available

SCENARIO = """\
schema = 1
duration = "6 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "20 Mbps", delay = "8 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
congestion_control = { window = "reno", counting = "per-byte", halved = "window", threshold = "whole-segments" }
"""

#: A busy machine is late; these tests check results, not times.
ANY_TIME = ("--p99", "1 min", "--worst", "1 min")


def begin(folder: Path) -> subprocess.Popen[str]:
    """Start a twin."""
    (folder / "path.toml").write_text(SCENARIO, encoding="utf-8")
    words = [sys.executable, "-m", "selfclock", "kernel", "twin", str(folder / "path.toml"), "--out"]
    words += [str(folder / "out"), *ANY_TIME, "--json"]
    # A killed twin leaves its temporary folder, so each test has its own.
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def own_names() -> list[str]:
    """Return the names registered by a twin."""
    return [name for name in available() if name.startswith("sc")]


def test_four_runs(tmp_path: Path) -> None:
    """The simulator, the library's Reno in both ways, and the kernel's Reno reach the same goodput on real links."""
    process = begin(tmp_path)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    runs = {run["run"]: run for run in json.loads(out)["runs"]}
    assert set(runs) == {"simulated", "bridge", "resident", "own"}
    goodputs = {key: run["flows"][0]["goodput_bps"] for key, run in runs.items()}
    assert goodputs["bridge"] == pytest.approx(goodputs["simulated"], rel=0.05)
    assert goodputs["own"] == pytest.approx(goodputs["simulated"], rel=0.05)
    assert goodputs["resident"] == pytest.approx(goodputs["simulated"], rel=0.05)
    assert runs["bridge"]["acks_answered"] > 1000
    assert runs["resident"]["acks_answered"] > 1000
    # The ACK of the SYN is handled before the kernel initializes the algorithm (tcp_rcv_synsent).
    assert runs["resident"]["acks_fallback"] <= 1
    assert "Side by side" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert own_names() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left(tmp_path: Path, number: signal.Signals) -> None:
    """Interrupted during the run in the kernel: no name, no host, no partial result remains."""
    process = begin(tmp_path)
    deadline = time.monotonic() + 60
    while not own_names():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(number)
    process.communicate(timeout=30)
    deadline = time.monotonic() + 20
    while own_names() or hosts():
        assert time.monotonic() < deadline, (own_names(), hosts())
        time.sleep(0.1)
    assert not (tmp_path / "out").exists()
    if number == signal.SIGTERM:
        assert not list(tmp_path.glob("selfclock-twin-*"))


def hosts() -> list[str]:
    """Return the processes of hosts that run a twin's programs."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if "twin/traffic.py" in words:
            found.append(words)
    return found
