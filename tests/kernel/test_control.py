"""Algorithms in control of real connections, and what happens to the connections when they fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from lab import Path2, Run, available, names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = names("t")


@pytest.fixture
def name() -> str:
    """A unique name."""
    return next(NAMES)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Every test leaves the kernel as it found it."""
    yield
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and (left := own_maps()):
        time.sleep(0.1)
    assert not [name for name in available() if name.endswith(f"_{os.getpid()}"[:8])]
    assert not left, f"maps are left: {left}"


def own_maps() -> list[str]:
    """Return the maps that `selfclock kernel check` finds registered or left."""
    found = json.loads(selfclock("check", "--json").stdout)["findings"]
    registered = next(row["found"] for row in found if row["what"] == "registered")
    return [] if registered == "nothing" else [registered]


def selfclock(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the group."""
    return subprocess.run(
        [sys.executable, "-m", "selfclock", "kernel", *words], capture_output=True, text=True, check=False, timeout=120
    )


def goes_on(seconds: list[float], at_least: float = 5.0) -> bool:
    """Return whether every second had goodput: a quarter of the path's 20 Mbit/s."""
    return min(seconds[1:]) > at_least


def test_this_machine_is_fit() -> None:
    """The check loads the programs, registers nothing and says so."""
    before = available()
    checked = selfclock("check")
    assert checked.returncode == 0, checked.stdout
    assert "can run here" in checked.stdout
    assert available() == before


@pytest.mark.parametrize("wait", [[], ["--busy"], ["--woken"], ["--realtime"]])
def test_reno_fills_the_path(name: str, wait: list[str]) -> None:
    """At least 90 % of the payload rate of 20 Mbit/s on the wire, 1448 of 1500 bytes.

    After slow start Reno's window swings between half and all of the path's capacity, 67 segments:
    50 on average. The tolerance is a fifth, because a loaded machine delays packets and repeats
    losses.
    """
    with Path2() as path, Run(name, "reno", *wait) as run:
        transfer = path.send(name, 8)
        said = run.stop()
    assert transfer.control == name
    assert transfer.goodput(2) > 0.9 * 20 * 1448 / 1500
    assert transfer.mean(transfer.cwnd, 3) == pytest.approx(50, rel=0.2)
    assert said["events"] > 1000
    assert said["flows_so_far"] == 1
    assert said["lost_events"] == 0
    assert said["ended"]["applied"] > 0.5 * said["events"]


def test_paced_and_python(name: str, tmp_path: Path) -> None:
    """An algorithm in Python that paces at 8 Mbit/s on the wire, with 1448 bytes of payload in 1500, within 1.5 %.

    The kernel paces payload bytes: a wire rate applied to payload would be 3.6 % too fast.
    """
    file = tmp_path / "steady.py"
    file.write_text(
        "import selfclock\n"
        "@selfclock.algorithm('steady')\n"
        "class Steady(selfclock.CongestionControl):\n"
        "    def on_ack(self, event):\n"
        "        self.cwnd, self.pacing_bps = 100, 8e6\n"
        "    def on_loss(self, event):\n"
        "        pass\n"
        "    def on_timeout(self, event):\n"
        "        pass\n"
    )
    with Path2() as path, Run(name, str(file)) as run:
        transfer = path.send(name, 8)
        run.stop()
    assert transfer.goodput(2) == pytest.approx(8 * 1448 / 1500, rel=0.015)


def test_a_failing_algorithm_gives_up(name: str, tmp_path: Path) -> None:
    """An exception in an algorithm hands its connection to Reno at once, and the command says where it was raised."""
    file = tmp_path / "faulty.py"
    file.write_text(
        "import selfclock\n"
        "@selfclock.algorithm('faulty')\n"
        "class Faulty(selfclock.CongestionControl):\n"
        "    acks = 0\n"
        "    def on_ack(self, event):\n"
        "        self.acks += 1\n"
        "        self.cwnd = 20 / (self.acks < 50)\n"
        "    def on_loss(self, event):\n"
        "        pass\n"
        "    def on_timeout(self, event):\n"
        "        pass\n"
    )
    with Path2() as path, Run(name, str(file)) as run:
        transfer = path.send(name, 6)
        said = run.stop()
    assert goes_on(transfer.seconds())
    assert "division by zero (faulty.py, line 7, in on_ack)" in said["failures"][0]["reason"]
    assert said["ended"]["fallback_acks"] > 100


def test_killed_under_load_and_taken_over(name: str) -> None:
    """After kill -9 a new process takes the connection over; no second is without goodput."""
    with Path2() as path:
        with Run(name, "cubic") as run:
            number = path.begin(name, 14)
            time.sleep(4)
            run.process.send_signal(signal.SIGKILL)
            run.process.wait()
            time.sleep(0.2)
            assert name not in available(), "the name vanishes with the process"
        time.sleep(4)
        with Run(name, "cubic") as run:
            transfer = path.end(number)
            said = run.stop()
    assert goes_on(transfer.seconds()), transfer.seconds()
    assert said["adopted"] == 1
    assert said["ended"]["applied"] > 500
    assert said["fallbacks"] >= 1
    assert said["ended"]["fallback_acks"] > 500


def test_a_stopped_process(name: str) -> None:
    """SIGSTOP for 5 s: the connection continues under Reno, and the counters say so."""
    with Path2() as path, Run(name) as run:
        number = path.begin(name, 13)
        time.sleep(4)
        run.process.send_signal(signal.SIGSTOP)
        time.sleep(5)
        run.process.send_signal(signal.SIGCONT)
        transfer = path.end(number)
        said = run.stop()
    assert goes_on(transfer.seconds()), transfer.seconds()
    assert said["fallbacks"] >= 1
    assert said["ended"]["fallback_acks"] > 1000
    # Events waited in the ring: none was lost or skipped.
    assert said["lost_events"] == said["gaps"] == 0
    assert said["fallback_events"] > 1000


def test_names(name: str) -> None:
    """A name in use, an invalid name, a session ended from outside while stopped: one line each."""
    with Run(name) as run:
        twice = selfclock("run", "--algorithm", "reno", "--name", name, "--for", "1s")
        assert (twice.returncode, twice.stderr.count("\n")) == (2, 1)
        assert "is registered already; choose another name with --name" in twice.stderr
        kernels = selfclock("run", "--algorithm", "reno", "--name", "cubic", "--for", "1s")
        assert (kernels.returncode, kernels.stderr.count("\n")) == (2, 1), kernels.stderr
        long = selfclock("run", "--algorithm", "reno", "--name", "much-too-long-a-name", "--for", "1s")
        assert (long.returncode, long.stderr.count("\n")) == (2, 1)
        assert "1 to 15 letters" in long.stderr
        run.process.send_signal(signal.SIGSTOP)
        gone = selfclock("unload", name)
        assert gone.returncode == 0
        assert f"{name}: unloaded, of process" in gone.stdout
        assert name not in available()
        run.process.send_signal(signal.SIGCONT)
        out, _ = run.process.communicate(timeout=30)
        assert json.loads(out)["asked_to_stop"]
    unknown = selfclock("unload", "nobody")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "selfclock: no congestion control of selfclock is named 'nobody'\n",
    )
    assert selfclock("unload").stdout == "nothing of selfclock is in the kernel\n"


def test_without_privilege(name: str) -> None:
    """Without capabilities: one line says what is needed, and nothing is registered."""

    words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-m", "selfclock", "kernel"]
    words += ["run", "--algorithm", "reno", "--name", name, "--for", "1s"]
    refused = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "run it as root" in refused.stderr


def test_two_algorithms_and_a_default(name: str) -> None:
    """Two sessions side by side, one of them the default of the namespace."""
    other = next(NAMES)
    with Path2() as path, Run(name, "cubic") as first, Run(other, "bbr3") as second:
        path.hosts[0].end(path.hosts[0].begin("sysctl", name="tcp_congestion_control", value=other))
        numbers = [path.begin(control, 6) for control in (name, other)]
        both = [path.end(number) for number in numbers]
        path.hosts[0].end(path.hosts[0].begin("sysctl", name="tcp_congestion_control", value="reno"))
        said = [first.stop(), second.stop()]
    assert [transfer.control for transfer in both] == [name, other]
    assert sum(transfer.goodput(2) for transfer in both) > 0.85 * 19.3
    assert all(one["flows_so_far"] >= 1 and one["ended"]["applied"] > 100 for one in said)


def test_a_record_replays(name: str, tmp_path: Path) -> None:
    """The command itself demands bit-for-bit equality, and so does a later replay; traces and series exist.

    The record includes marks, an idle application and losses.
    """
    folder = tmp_path / "record"
    with Path2(mark_above=25_000) as path, Run(name, "cubic", "--record", str(folder)) as run:
        path.ecn()
        path.send(name, 4)
        path.send(name, 4, pause=0.5)
        said = run.stop()
    replayed = selfclock("replay", str(folder), "--json")
    assert replayed.returncode == 0, replayed.stderr
    done = json.loads(replayed.stdout)
    assert done["events"] == said["events"]
    assert done["flows"] == 2
    files = Counter(path.suffix for path in folder.iterdir())
    assert files == {".log": 1, ".trace": 2, ".parquet": 1, ".json": 1}
    other = selfclock("replay", str(folder), "--algorithm", "reno")
    assert other.returncode == 1
    assert "on record" in other.stderr


def test_more_connections_than_slots(name: str) -> None:
    """1024 connections have a slot; those beyond continue under Reno, and are counted."""
    code = (
        "import socket, sys, time\n"
        "listener = socket.create_server(('127.0.0.1', 0), backlog=2000)\n"
        "listener.setsockopt(6, socket.TCP_CONGESTION, b'reno')\n"
        "kept = []\n"
        "for _ in range(1100):\n"
        "    one = socket.socket()\n"
        "    one.setsockopt(6, socket.TCP_CONGESTION, sys.argv[1].encode())\n"
        "    one.connect(listener.getsockname())\n"
        "    one.send(b'x' * 1000)\n"
        "    kept += [one, listener.accept()[0]]\n"
        "time.sleep(1)\n"
        "got = [len(kept[at].recv(2000)) for at in range(1, 2200, 2)]\n"
        "assert got == [1000] * 1100, got\n"
    )
    with Run(name) as run:
        work = ["prlimit", "--nofile=4096", sys.executable, "-c", code, name]
        done = subprocess.run(work, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        said = run.stop()
    assert said["flows_so_far"] == 1024
    assert said["without_slot"] == 76


def test_a_full_ring(name: str) -> None:
    """A process is stopped while the ring overflows: events are lost and counted, and nothing stalls.

    Afterwards the algorithm restarts from the current window.
    """
    code = (
        "import socket, sys, threading, time\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "sender = socket.socket()\n"
        "sender.setsockopt(6, socket.TCP_CONGESTION, sys.argv[1].encode())\n"
        "sender.setsockopt(6, socket.TCP_NODELAY, 1)\n"
        "sender.connect(listener.getsockname())\n"
        "receiver, _ = listener.accept()\n"
        "receiver.setsockopt(6, socket.TCP_NODELAY, 1)\n"
        "print('connected', flush=True)\n"
        "for number in range(40000):\n"
        "    sender.send(b'x')\n"
        "    receiver.recv(1)\n"
        "    receiver.send(b'y')\n"
        "    sender.recv(1)\n"
        "print('over', flush=True)\n"
        "sys.stdin.readline()\n"
        "for number in range(2000):\n"
        "    sender.send(b'x')\n"
        "    receiver.recv(1)\n"
        "    receiver.send(b'y')\n"
        "    sender.recv(1)\n"
        "time.sleep(0.5)\n"
    )
    with Run(name) as run:
        words = [sys.executable, "-c", code, name]
        work: Any = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert work.stdout.readline() == "connected\n"
        run.process.send_signal(signal.SIGSTOP)
        assert work.stdout.readline() == "over\n"
        run.process.send_signal(signal.SIGCONT)
        time.sleep(1)
        work.communicate("\n", timeout=60)
        said = run.stop()
    assert work.returncode == 0
    assert said["lost_events"] > 1000
    assert said["gaps"] >= 1
    assert said["ended"]["applied"] > 500
