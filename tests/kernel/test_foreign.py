"""Whose objects and processes are whose: names, numbers and pages that other programs wrote are not believed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import maps
import pytest
from lab import Path2, available
from test_resident import DEFAULT, NAMES, good, in_a_namespace, name, refused, resident, selfclock

from selfclock import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["name"]

#: Capabilities with which programs can be loaded.
LOADING = "+bpf,+perfmon,+net_admin"


@contextlib.contextmanager
def attack(kind: str, *prefix: str) -> Iterator[None]:
    """Make the maps of an attack by a process that holds them."""
    # A copy: another user may not read this folder.
    program = [*prefix, "/usr/bin/env", "python3", "-c", Path(maps.__file__).read_text(encoding="utf-8"), kind]
    process = subprocess.Popen(program, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.communicate("", timeout=30)


#: As a user who may make maps, and nothing else.
CAP_BPF_ALONE = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all,+bpf",
                 "--ambient-caps=-all,+bpf", "--bounding-set=-all,+bpf")  # fmt: skip


@pytest.mark.parametrize("prefix", [(), CAP_BPF_ALONE], ids=["root", "CAP_BPF"])
@pytest.mark.parametrize("kind", ["foreign", "forged"])
def test_maps_of_others_are_passed_over(name: str, kind: str, prefix: tuple[str, ...]) -> None:
    """Maps of our names: neither read, nor acted on, nor in the way of what is ours.

    Regression: a process with CAP_BPF alone corrupted the memory of root's `status`, as the kernel
    writes value_size bytes for each CPU of a per-CPU map (bpf_map_value_size); `unload` deleted
    another program's row.
    """
    good("load", "vegas", "--name", name)
    with attack(kind, *prefix):
        for _ in range(2):
            status = good("status")
            assert name in [each["name"] for each in status["loaded"]]
            assert "forged" not in json.dumps(status)
        assert selfclock("check").returncode == 0
        assert "no congestion control of selfclock is named 'forged'" in refused("unload", "forged")
        for victim in maps.named(maps.VICTIM):
            assert maps.keys(victim, 4) == [bytes(4)]
            os.close(victim)
        assert [each["name"] for each in good("unload", name)["unloaded"]] == [name]
    assert name not in available()


def test_loading_needs_what_unloading_needs(name: str) -> None:
    """Regression: with three capabilities it loaded, and what it loaded could not be removed (bpf(2))."""
    prefix = ["setpriv", f"--bounding-set=-all,{LOADING}", "--inh-caps=-all", sys.executable, "-m", "selfclock"]
    done = subprocess.run(
        [*prefix, "kernel", "load", "vegas", "--name", name], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "CAP_SYS_ADMIN" in done.stderr
    assert name not in available()


def test_defaults_of_ten_namespaces(name: str) -> None:
    """Each gets its own former default back; what was set by hand is not known, and the message says so.

    Regression: eight were remembered, the others had Reno, and the message named all of them.
    """
    good("load", "vegas", "--name", name)
    # `reno` is what every namespace may have; the former one shows that it is not a guess.
    former = next(NAMES)
    good("load", "scalable", "--name", former)
    spaces = []
    try:
        for _ in range(10):
            holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
            spaces.append(holder)
            inside = ["nsenter", "-t", str(holder.pid), "-n"]
            deadline = time.monotonic() + 10
            while Path(f"/proc/{holder.pid}/comm").read_text() != "sleep\n":
                assert time.monotonic() < deadline
                time.sleep(0.02)
            write = ["sh", "-c", f"echo {former} > {DEFAULT}"]
            subprocess.run([*inside, *write], check=True)
            code = f"from selfclock import kernel; kernel.make_default({name!r})"
            subprocess.run([*inside, sys.executable, "-c", code], check=True)
        [gone] = kernel.unload_residents(name)
        assert len(gone.restored) == 10
        assert {(each.default, each.previous) for each in gone.restored} == {(former, True)}
    finally:
        for holder in spaces:
            holder.kill()
            holder.wait()
        kernel.unload_residents(former)


def test_a_default_set_by_hand_is_not_called_the_previous_one(name: str) -> None:
    good("load", "vegas", "--name", name)

    def work() -> None:
        DEFAULT.write_text("reno")
        DEFAULT.write_text(name)
        said = selfclock("unload", name).stdout
        assert "reno now: what was the default before is not known" in said
        assert "previous default again" not in said
        assert DEFAULT.read_text().strip() == "reno"

    in_a_namespace(work)


def _recorder(folder: Path, name: str, *prefix: str) -> subprocess.Popen[str]:
    command = [*prefix, sys.executable, "-m", "selfclock", "kernel", "record", str(folder), name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "is recorded" in process.stderr.readline()
    return process


def test_a_killed_recorder_records_no_more(name: str, tmp_path: Path) -> None:
    """Regression: events went to the ring, unseen, until the next recorder came."""
    good("load", "cubic", "--name", name)
    recorder = _recorder(tmp_path / "killed", name)
    recorder.send_signal(signal.SIGKILL)
    recorder.communicate()
    deadline = time.monotonic() + 10
    while (there := resident(name)) is None or there.recorder is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with Path2() as path:
        path.send(name, 2)
    there = resident(name)
    assert there is not None
    assert there.acks > 100
    assert (there.recorded, there.lost_records, there.recorder) == (0, 0, None)
    good("unload", name)


def test_a_recorder_of_another_pid_namespace(name: str, tmp_path: Path) -> None:
    """It lives, although its number means nothing here; and when its namespace is killed, it does not.

    Regression: its number was looked up here, and its ring was taken from it.
    """
    good("load", "cubic", "--name", name)
    container = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    recorder = _recorder(tmp_path / "inside", name, *container)
    assert "records it already" in refused("record", str(tmp_path / "outside"), name)
    # Everything of the namespace ends at once, the guard, too.
    recorder.kill()
    recorder.communicate()
    with kernel.Recording(tmp_path / "events", name) as recording:
        with Path2() as path:
            path.send(name, 2)
        recorded = recording.stop()
    assert recorded.flows == 1
    assert recorded.error is None
    good("unload", name)


def test_a_record_does_not_follow_a_planted_link(name: str, tmp_path: Path) -> None:
    """Regression: root's `run --record` created the file that a link in another user's folder named."""
    folder = tmp_path / "record"
    folder.mkdir()
    (folder / "events.log.partial").symlink_to(tmp_path / "target")
    done = selfclock("run", "--algorithm", "reno", "--name", name, "--record", str(folder), "--for", "0.2s")
    assert not (tmp_path / "target").exists()
    assert done.stderr.count("Traceback") == 0
    good("load", "cubic", "--name", name)
    selfclock("record", str(folder), name, "--for", "0.2s")
    assert not (tmp_path / "target").exists()
    good("unload", name)


def test_a_window_limit_ends_with_its_flow() -> None:
    """Regression: the next connection between the same ports began with the last one's limit."""
    from test_edge import Host, Site  # noqa: PLC0415

    with Path2() as path, contextlib.closing(Host("10.7.0.1")) as source:
        site = Site(path, source)
        process = site.edge("--for", "12 s")
        try:
            number = site.begin(5)
            time.sleep(4)
            [limits] = maps.named("sc_limits")
            assert len(maps.keys(limits, struct.calcsize("=IIHH"))) == 1
            site.end(number)
            deadline = time.monotonic() + 5
            while maps.keys(limits, 12):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            os.close(limits)
        finally:
            process.communicate(timeout=60)
