"""Algorithms that decide in the kernel, with real connections: loaded, recorded, unloaded, and nothing left."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from events import measure
from lab import Path2, Run, available, names

from selfclock import kernel
from selfclock.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = names("n")
CLONE_NEWNET = 0x40000000
DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")
#: Payload rate of a bottleneck of 20 Mbit/s.
CAPACITY = 20 * 1448 / 1500


@pytest.fixture
def name() -> Iterator[str]:
    """A unique name; afterwards everything loaded under it is removed."""
    own = next(NAMES)
    yield own
    kernel.unload_residents(own)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and resident(own) is not None:
        time.sleep(0.1)
    assert own not in available()
    assert resident(own) is None, "maps are left"


def resident(name: str) -> kernel.Resident | None:
    """Return the kernel's entry for this name."""
    return next((each for each in kernel.residents() if each.name == name), None)


def selfclock(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the group."""
    command = [sys.executable, "-m", "selfclock", "kernel", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def good(*words: str) -> dict[str, Any]:
    """Run a command that must succeed; return its document."""
    done = selfclock(*words, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def refused(*words: str) -> str:
    """Run a command that must be refused in one line; return the line."""
    done = selfclock(*words)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_no_process_is_needed(name: str) -> None:
    """A loaded algorithm fills the path without the command; unloaded, it disappears with its last connection."""
    assert good("load", "bbr3", "--name", name)["name"] == name
    assert name in available()
    with Path2() as path:
        transfer = path.send(name, 8)
    assert transfer.control == name
    # BBRv3 aims at 1 % below the bottleneck, and its start-up takes less than a second.
    assert transfer.goodput(2) > 0.9 * CAPACITY
    there = resident(name)
    assert there is not None
    assert (there.algorithm, there.registered) == ("bbr3", True)
    assert there.flows_so_far >= 1
    assert there.acks > 1000
    assert there.events > there.acks
    assert (there.without_state, there.recorded, there.lost_records) == (0, 0, 0)
    # The ACK of the handshake comes before the algorithm starts.
    assert there.fallback_acks <= there.flows_so_far
    status = selfclock("status")
    assert name in status.stdout
    assert good("unload", name)["unloaded"][0]["name"] == name


def test_every_algorithm_loads_by_its_label(name: str) -> None:
    """Each line of `kernel list` is an algorithm that this kernel's verifier accepts."""
    labels = [each.algorithm for each in kernel.objects()]
    assert {"highspeed", "reno+hystart++", "reno+limited"} <= set(labels)
    for label in labels:
        assert kernel.load(label, name) == name
        loaded = resident(name)
        assert loaded is not None
        assert loaded.algorithm == label
        kernel.unload_residents(name)


def test_parameters_reach_the_kernel(name: str, tmp_path: Path) -> None:
    """One object serves all parameters: the decisions match this beta, and not the default."""
    good("load", "cubic", "--set", "beta=0.3", "--name", name)
    with Path2() as path, kernel.Recording(tmp_path / "events", name) as recording:
        path.send(name, 5)
        recorded = recording.stop()
    assert (recorded.flows, recorded.lost) == (1, 0)
    assert kernel.replay(tmp_path / "events").algorithm == "cubic"
    assert kernel.replay(tmp_path / "events", "cubic:beta=0.3").events == recorded.events
    with pytest.raises(WorkError, match="on record"):
        kernel.replay(tmp_path / "events", "cubic")
    good("unload", name)


def test_twice_and_while_connections_run(name: str) -> None:
    """A second load is refused. After an unload the connection continues under the algorithm, and the name is free."""
    good("load", "bbr3", "--name", name)
    assert "is loaded already, with bbr3" in refused("load", "cubic", "--name", name)
    assert "is registered already" in refused("run", "--algorithm", "reno", "--name", name, "--for", "1s")
    with Path2() as path:
        # Longer than three commands take on a busy machine.
        number = path.begin(name, 25)
        time.sleep(3)
        gone = selfclock("unload", name)
        assert "1 connections keep it until they close" in gone.stdout
        assert name not in available()
        left = resident(name)
        assert left is not None
        assert not left.registered
        good("load", "cubic", "--name", name)
        assert len([each for each in kernel.residents() if each.name == name]) == 2
        transfer = path.end(number)
    assert min(transfer.seconds()[1:24]) > 0.25 * CAPACITY
    good("unload", name)


def test_names_of_others(name: str) -> None:
    """Algorithms of Linux are not replaced, and sessions of `run` are unaffected."""
    assert "'reno' is registered already" in refused("load", "cubic", "--name", "reno").replace('"', "'")
    bridge = next(NAMES)
    with Run(bridge, "reno") as run:
        good("load", "vegas", "--name", name)
        with Path2() as path:
            both = [path.end(number) for number in (path.begin(bridge, 5), path.begin(name, 5))]
        assert [transfer.control for transfer in both] == [bridge, name]
        assert sum(transfer.goodput(1) for transfer in both) > 0.8 * CAPACITY
        # Neither takes over the other's name, and each can be unloaded alone.
        assert [each["name"] for each in good("unload", name)["unloaded"]] == [name]
        assert bridge in available()
        good("load", "vegas", "--name", name)
        assert [each["name"] for each in good("unload", bridge)["unloaded"]] == [bridge]
        assert name in available()
        run.process.wait(10)
    good("unload", name)


def in_a_namespace(work: Any) -> None:  # noqa: ANN401
    """Run a function in a thread with its own network namespace."""
    failed: list[BaseException] = []

    def body() -> None:
        try:
            assert ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) == 0
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def test_default_of_a_namespace(name: str) -> None:
    """New connections of the namespace use it, those of the host do not; afterwards everything is as before."""
    host = DEFAULT.read_text()

    def work() -> None:
        # CUBIC cannot be the default in a namespace.
        DEFAULT.write_text("reno")
        done = good("load", "bbr3", "--name", name, "--default")
        assert (done["default"], done["default_before"]) == ("namespace", "reno")
        assert DEFAULT.read_text().strip() == name
        there = resident(name)
        assert there is not None
        assert len(there.default_of) == 1
        assert "the previous default again" in selfclock("unload", name).stdout
        assert DEFAULT.read_text().strip() == "reno"

    in_a_namespace(work)
    assert DEFAULT.read_text() == host


def test_default_that_cannot_be_set(name: str) -> None:
    """Then nothing is loaded: the request succeeds as a whole or not at all."""
    script = f"mount -o bind,ro /proc/sys /proc/sys && exec {sys.executable} -m selfclock kernel load bbr3 --default"
    words = ["unshare", "--net", "--mount", "sh", "-c", f"{script} --name {name}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "the default of this namespace cannot be set" in done.stderr
    assert resident(name) is None


def test_a_record_is_replayed(name: str, tmp_path: Path) -> None:
    """Connections that start while recording have every decision; one that started before is counted."""
    record = tmp_path / "record"
    good("load", "cubic", "--name", name)
    with Path2() as path:
        before = path.begin(name, 9)
        time.sleep(1)
        command = [sys.executable, "-m", "selfclock", "kernel", "record", str(record), name, "--json"]
        recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while (there := resident(name)) is None or there.recorder is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "records it already" in refused("record", str(tmp_path / "second"), name)
        path.send(name, 4)
        path.end(before)
        recorder.send_signal(signal.SIGINT)
        out, said = recorder.communicate(timeout=60)
    document = json.loads(out)
    assert "replayed bit for bit" in said
    assert (document["flows"], document["earlier"], document["lost"], document["cut"]) == (1, 1, 0, 0)
    assert document["events"] > 1000
    replayed = kernel.replay(record)
    assert (replayed.algorithm, replayed.events, replayed.flows) == ("cubic", document["events"], 1)
    assert replayed.answers == replayed.events - 1
    good("unload", name)


def test_pacing_is_what_was_decided(name: str, tmp_path: Path) -> None:
    """The rate sent while pacing alone limits BBRv3 is the decided one.

    It cannot exceed it by 1 %: the kernel shortens a wait only for a late timer. On a busy machine
    late timers cost up to 2 %. A rate of the wire in place of the payload would be 3.6 % higher.
    """
    good("load", "bbr3", "--name", name)
    log = tmp_path / "events"
    with Path2() as path, kernel.Recording(log, name) as recording:
        path.send(name, 10)
        recording.stop()
    measured = measure(log.read_bytes(), 2)
    assert measured.paced > 5000
    assert -0.025 < measured.pacing_error < 0.01
    # The relay's 20 ms, and the time of a segment on the wire.
    assert measured.rtt_ms > 20.6
    good("unload", name)


def test_a_recorder_is_killed(name: str, tmp_path: Path) -> None:
    """The ring fills, events are counted as lost and decisions continue; the next recording is complete."""
    good("load", "cubic", "--name", name)
    command = [sys.executable, "-m", "selfclock", "kernel", "record", str(tmp_path / "killed"), name]
    recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert recorder.stderr is not None
    assert "is recorded" in recorder.stderr.readline()
    recorder.send_signal(signal.SIGSTOP)
    with Path2(mbps=90, rtt_ms=4, buffer=100_000) as path:
        path.end(path.begin(name, 8, mss=256))
        recorder.kill()
        recorder.communicate()
        there = resident(name)
        assert there is not None
        assert there.recorder is None
        assert there.lost_records > 0
        assert "was killed" in refused("replay", str(tmp_path / "killed"))
        # Twice: when the first one's object disappears, it must not end the second.
        for number in range(2):
            with kernel.Recording(tmp_path / f"events{number}", name) as recording:
                path.send(name, 2)
                recorded = recording.stop()
            assert (recorded.flows, recorded.lost, recorded.cut) == (1, 0, 0)
            assert kernel.replay(tmp_path / f"events{number}").events == recorded.events
    good("unload", name)


def test_without_root(name: str, tmp_path: Path) -> None:
    """One line says what is needed, and nothing is loaded."""
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-m", "selfclock", "kernel"]
    for words in (["load", "bbr3", "--name", name], ["status"], ["record", str(tmp_path / "record")], ["unload", name]):
        done = subprocess.run([*prefix, *words], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "run it as root" in done.stderr
    assert name not in available()
    assert not (tmp_path / "record").exists()


def test_nothing_is_left() -> None:
    """No map, name or default of these tests remains."""
    own = [each.name for each in kernel.residents() if each.name.endswith(f"_{os.getpid()}"[:8])]
    assert not own
    assert kernel.check()[-1].what == "loaded"
