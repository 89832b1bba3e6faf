"""`selfclock kernel` without root: checks, records and their replay. `make kernel-test` has the rest."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from selfclock import _core, kernel
from selfclock.cli import main
from selfclock.cli.kernel import OPTIONS
from selfclock.kernel.record import EVENTS, PARTIAL, SERIES, SUMMARY, complete
from selfclock.provenance import set_command

sys.path.insert(0, str(Path(__file__).parents[1] / "kernel"))

import events

LOGS = Path(__file__).parents[2] / "crates/kernel/tests/logs"

linux_only = pytest.mark.skipif(not hasattr(_core, "KernelSession"), reason="the kernel is Linux")


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run a command of the group; return its status and output."""
    with pytest.raises(SystemExit) as ended:
        main(["kernel", *words])
    set_command([])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The group lists its commands, and each has a help text."""
    status, out, _ = command(capsys, "--help")
    assert status == 0
    for name in ("check", "list", "build", "load", "status", "record", "run", "unload", "replay", "twin", "edge"):
        assert f"\n  {name} " in out
        status, about, _ = command(capsys, name, "--help")
        assert status == 0
        assert len(about) > 200


def test_replay(capsys: pytest.CaptureFixture[str]) -> None:
    """A record of real connections: the same decisions, to the bit; other decisions under another algorithm."""
    status, out, _ = command(capsys, "replay", str(LOGS / "reno.log"))
    assert status == 0
    assert out.startswith("reno (")
    assert "all equal" in out
    status, out, _ = command(capsys, "replay", str(LOGS / "reno.log"), "--json")
    done = json.loads(out)
    assert done["answers"] < done["events"] <= done["answers"] + done["flows"]
    status, _, said = command(capsys, "replay", str(LOGS / "reno.log"), "--algorithm", "cubic:beta=0.8")
    assert status == 1
    # The recorded decision, the replayed one, and the full state of both algorithms.
    for line in (
        "before, both: window",
        "on record:    window",
        "replayed:     window",
        "event: ",
        "Reno {",
        "Cubic {",
    ):
        assert line in said


def test_events_are_read_independently() -> None:
    """The reader of the kernel's tests, which shares no code with the library, counts what a replay counts."""
    log = (LOGS / "in-kernel-bbr3.log").read_bytes()
    done = kernel.replay(LOGS / "in-kernel-bbr3.log")
    read = list(events.events(log))
    assert len(read) == done.events
    assert sum(event["state"] < 3 <= event["new_state"] for event in read if event["kind"] == 2) >= 1
    series = _core.kernel_series(log, 0.01)
    last = max(event["number"] for event in read if event["id"] == series["flow"][-1])
    assert read[-1]["number"] == last
    measured = events.measure(log)
    # The path has 20 ms.
    assert 20 < measured.rtt_ms < 100


def test_what_is_no_record(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One line each, with status 2."""
    (tmp_path / "text").write_text("no record")
    whole = (LOGS / "reno.log").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-100])
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / PARTIAL).write_bytes(whole[:-100])
    for name, complaint in (
        ("text", "this is no record of kernel events"),
        ("cut", "the record ends in the middle, after "),
        ("killed", "the session was killed"),
        (".", "No such file or directory"),
    ):
        status, _, said = command(capsys, "replay", str(tmp_path / name))
        assert (status, said.count("\n")) == (2, 1), said
        assert complaint in said
    status, _, said = command(capsys, "replay", str(LOGS / "reno.log"), "--algorithm", "renoo")
    assert status == 2
    assert "did you mean 'reno'?" in said


def test_a_record_is_completed(tmp_path: Path) -> None:
    """A trace of each connection, the series and the summary stand beside the events, which get their final name."""
    (tmp_path / PARTIAL).write_bytes((LOGS / "bbr3.log").read_bytes())
    done = complete(tmp_path, {"name": "test"})
    assert kernel.replay(tmp_path) == done
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".trace"} == {EVENTS, SERIES, SUMMARY}
    assert len(list(tmp_path.glob("*.trace"))) == done.flows
    table = pl.read_parquet(tmp_path / SERIES)
    assert {"time_s", "cwnd_bytes", "srtt_s", "pacing_bps", "acknowledged_bytes", "phase"} <= set(table.columns)
    assert table.height > 100
    # It paces, mostly at the path's capacity: 8 Mbit/s.
    assert table["pacing_bps"].drop_nans().median() == pytest.approx(8e6, rel=0.3)


@linux_only
def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever this machine allows is described in words, and the status says whether it suffices."""
    found = kernel.check()
    status, out, _ = command(capsys, "check")
    assert status == int(any(finding.good is False for finding in found))
    assert ("can run here" in out) == (status == 0)
    status, out, _ = command(capsys, "check", "--json")
    assert [row["what"] for row in json.loads(out)["findings"]] == [finding.what for finding in found]


@linux_only
def test_unload_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Without privilege it says what it needs; with it, that there is no such name."""
    status, _, said = command(capsys, "unload", "no-such-name")
    assert status == 2
    # In a container without /sys, the types of the kernel are missing.
    right = ("CAP_SYS_ADMIN", "no congestion control of selfclock is named 'no-such-name'", "/sys/kernel/btf/vmlinux")
    assert any(words in said for words in right), said
    try:
        assert all(each.flows >= 0 for each in kernel.registered())
    except kernel.KernelError as error:
        assert "root" in str(error) or right[2] in str(error)  # noqa: PT017  it depends on who runs the test, and where


def test_other_systems(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On systems other than Linux every command that needs a kernel says so in one line."""
    monkeypatch.delattr(_core, "KernelSession", raising=False)
    orders = "check", "unload", "run --algorithm reno", "list", "load bbr3", "status", f"record {tmp_path / 'none'}"
    for words in map(str.split, orders):
        status, _, said = command(capsys, *words)
        assert (status, said.count("\n")) == (2, 1), said
        assert "Linux 6.10 or later" in said


class FakeSession:
    """The compiled part from a session's point of view, for machines without root."""

    taken_over = 2

    def __init__(self, *arguments: object) -> None:
        if arguments[1] == "taken":
            raise OSError("a congestion control named 'taken' is registered already")
        self.arguments, self._ended = arguments, threading.Event()

    def run(self) -> None:
        """Wait for the end."""
        self._ended.wait()

    def stop(self) -> None:
        """End."""
        self._ended.set()

    def status(self) -> str:
        """One connection, and an algorithm that failed."""
        counts = dict.fromkeys(("fallbacks", "fallback_acks", "lost_events", "applied", "torn", "late"), 3)
        flow = {
            "id": 1, "port": 5000, "peer": "10.0.0.2", "peer_port": 80, "age_s": 2.0, "acknowledged_bytes": 10**6,
            "cwnd": 20, "ssthresh": 10, "srtt_us": 500, "mss_bytes": 1448, "pacing_bytes_per_s": 0,
            "retransmissions": 4, "phase": "slow start", "fallback": False, "counts": counts,
        }  # fmt: skip
        return json.dumps(
            {
                "flows": [flow], "events": 100, "flows_so_far": 2, "adopted": 1, "gaps": 0, "fallback_events": 7,
                "without_slot": 5, "lost_events": 0, "fallbacks": 1, "ended": counts,
                "options": dict.fromkeys(OPTIONS, 77),
                "latency_us": {"p50": 50.0, "p99": 120.0, "p99.9": None, "max": 130.0}, "processor_s": 0.5,
                "events_s": 0.1, "failures": [{"flow": 1, "time_s": 0.5, "reason": "ValueError: no"}],
                "record_error": "disk full", "realtime_error": "not permitted", "asked_to_stop": True,
            }
        )  # fmt: skip


def test_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in a thread until the block ends, and reports its counters."""
    monkeypatch.setattr(_core, "KernelSession", FakeSession, raising=False)
    with kernel.Session("cubic", "mine", nap_us=None) as session:
        assert session.is_running
        assert session.taken_over == 2
        assert session.status().flows[0].peer == "10.0.0.2"
    assert not session.is_running
    with pytest.raises(kernel.KernelError, match="registered already"):
        kernel.Session("cubic", "taken")


def test_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings about a session's figures appear beside them."""
    monkeypatch.setattr(_core, "KernelSession", FakeSession, raising=False)
    status, out, said = command(capsys, "run", "--algorithm", "reno", "--set", "halved=window", "--for", "300 ms")
    assert status == 0
    assert "reno:halved=window is registered as 'selfclock'" in said
    for note in (
        "2 connections of an earlier session are taken over",
        "the algorithm failed after 0.500 s, and Reno took over: ValueError: no",
        "--realtime: not permitted",
        "--record: disk full",
        "kernel unload ended the session",
        "Reno controlled a connection at 7 of 100 events",
        "5 connections found no slot",
        "RTTs below 1 ms",
        "gso_max_segs 1 splits them",
    ):
        assert note in said
    assert "50 us / 120 us / -" in out
    # Of the completed connection and the ongoing one.
    assert "ACKs under a decision" in out
    assert out.count("77\n") == len(OPTIONS)
    assert "6\n" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--algorithm", "reno", "--busy", "--woken"], "two ways to wait"),
        (["--algorithm", "reno", "--nap", "5"], "is not a time"),
        (["--algorithm", "reno", "--for", "0 s"], "not above zero"),
        (["--algorithm", "reno", "--set", "beta"], "write NAME=VALUE"),
        (["--algorithm", "nowhere.py"], "there is no such file"),
        (["--algorithm", "reno", "--name", "taken"], "registered already"),
    ],
)
def test_wrong_arguments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], complaint: str
) -> None:
    """One line that says what is allowed, before anything is loaded."""
    monkeypatch.setattr(_core, "KernelSession", FakeSession, raising=False)
    status, _, said = command(capsys, "run", *words)
    assert (status, said.count("\n")) == (2, 1), said
    assert complaint in said


def test_a_record_is_not_overwritten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A directory with a record is refused."""
    monkeypatch.setattr(_core, "KernelSession", FakeSession, raising=False)
    (tmp_path / EVENTS).write_bytes(b"")
    status, _, said = command(capsys, "run", "--algorithm", "reno", "--record", str(tmp_path))
    assert status == 2
    assert "has a record already" in said


class FakeEdge:
    """The compiled part from an edge's point of view, for machines without root."""

    def __init__(self, *arguments: object) -> None:
        if arguments[1] == "nope0":
            raise OSError('device "nope0": No such device (os error 19)')
        self._ended = threading.Event()

    def run(self, limits: bool) -> None:
        """Wait for the end; fail if there are no limits."""
        self._ended.wait()
        if not limits:
            raise OSError(1, "Operation not permitted")

    def stop(self) -> None:
        """End."""
        self._ended.set()

    def status(self) -> str:
        """A limited flow, and one of which nothing is known."""
        flow = {
            "source": "10.0.0.1", "port": 5000, "receiver": "10.0.0.2", "receiver_port": 80, "data_bytes": 10**6,
            "acks": 20, "acks_lowered": 5, "window_bytes": 30_000, "rate_bps": 8e6, "allowed_bps": 9e6,
            "allowed_window_bytes": 30_000, "rtt_s": 0.025,
        }  # fmt: skip
        unknown = dict.fromkeys(("rate_bps", "allowed_bps", "allowed_window_bytes", "rtt_s"))
        return json.dumps({"queue_bytes": 1500.0, "flows": [flow, {**flow, **unknown}]})


def test_an_edge(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of the passing traffic; errors take one line."""
    monkeypatch.setattr(_core, "KernelSession", FakeSession, raising=False)
    monkeypatch.setattr(_core, "KernelEdge", FakeEdge, raising=False)
    words = ["edge", "eth1", "--rate", "20 Mbps", "--buffer", "100 kB"]
    status, out, said = command(capsys, *words, "--for", "300 ms", "--set", "beta=0.1")
    assert (status, said) == (0, "ficcrd is at eth1; Ctrl-C ends it\n")
    assert "10.0.0.1:5000 > 10.0.0.2:80" in out
    assert "5 of 20" in out
    assert "25.0" in out
    status, out, _ = command(capsys, *words, "--for", "300 ms", "--json")
    assert json.loads(out)["flows"][1]["rtt_s"] is None
    for more, complaint in (
        (["--set", "betta=1"], "did you mean"),
        (["--for", "0 s"], "not above zero"),
        (["--rate", "20"], "has no unit"),
    ):
        status, _, said = command(capsys, *words, *more)
        assert status == 2
        assert complaint in said
    status, _, said = command(capsys, "edge", "nope0", *words[2:])
    assert (status, said) == (2, 'selfclock: device "nope0": No such device (os error 19)\n')
    status, _, said = command(capsys, *words, "--only-watch", "--for", "200 ms")
    assert "the limits cannot be written" in said
    with kernel.Edge(kernel.router("1 Mbps", "10 kB"), "eth1") as edge:
        assert edge.is_running
        assert edge.status().queue_bytes == 1500
