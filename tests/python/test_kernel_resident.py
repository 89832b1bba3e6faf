"""Algorithms that decide in the kernel, without root: list, errors, names. Root: `make kernel-native-test`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from selfclock import _core, kernel
from selfclock.cli import kernel_resident, main
from selfclock.kernel import record as records
from selfclock.kernel import resident
from selfclock.provenance import set_command

pytestmark = pytest.mark.skipif(not hasattr(_core, "KernelSession"), reason="the kernel is Linux")

LOADED = {
    "name": "bbr3",
    "algorithm": "bbr3:beta=0.8",
    "since": 1_700_000_000,
    "registered": True,
    "flows": 2,
    "flows_so_far": 7,
    "events": 1234,
    "acks": 1200,
    "without_state": 0,
    "fallback_acks": 0,
    "recorded": 0,
    "lost_records": 0,
    "recorder": None,
    "default_of": [],
    "restored": [],
    "loader_lives": None,
}


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run a command of the group; return its status and what it says."""
    with pytest.raises(SystemExit) as ended:
        main(["kernel", *words])
    set_command([])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, *rows: dict[str, Any]) -> None:
    """Make a function of the compiled part return these rows."""
    monkeypatch.setattr(_core, name, lambda *_: json.dumps(rows))


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Every object is listed with its parameters, and its label is one that the simulator reads."""
    status, out, _ = command(capsys, "list")
    assert status == 0
    status, document, _ = command(capsys, "list", "--json")
    rows = json.loads(document)["objects"]
    assert [row["algorithm"] for row in rows] == [each.algorithm for each in kernel.objects()]
    for wanted in ("bbr3", "cubic", "vegas"):
        row = next(row for row in rows if row["algorithm"] == wanted)
        assert wanted in out
        assert row["bytes"] > 10_000
        assert row["parameters"]
    both = next(row for row in rows if row["algorithm"] == "cubic+hystart++")
    assert {"beta", "css_rounds"} <= set(both["parameters"])
    # A name that sockets can choose, of at most 15 letters, and not one of Linux's.
    for row in rows:
        assert row["name"].replace("_", "a").isalnum()
        assert len(row["name"]) <= 15
        assert row["name"] not in resident.LINUX


def test_usual_names() -> None:
    """The label, unless Linux has an algorithm of that name."""
    names = {label: resident.usual_name(label) for label in ("bbr3", "cubic", "cubic+hystart++:beta=0.8", "vegas")}
    assert list(names.values()) == ["bbr3", "sc_cubic", "cubic_hystart", "sc_vegas"]


def test_what_cannot_be_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, with status 2, and nothing is loaded, for any user."""
    for words, complaint in (
        (["bbr33"], "did you mean 'bbr3'?"),
        (["bbr3", "--set", "bta=1"], "unknown parameter of bbr3"),
        (["cubic", "--set", "beta=7"], "beta: 7 is outside of"),
        (["cubic", "--set", "beta"], "write NAME=VALUE"),
        (["lotka-volterra"], "is not compiled for the kernel; those that are: "),
        (["bbr3", "--name", "a-name"], "cannot name a congestion control"),
        (["bbr3", "--default", "moon"], "'moon' is not one of"),
    ):
        status, out, said = command(capsys, "load", *words)
        assert (status, out) == (2, ""), said
        assert complaint in said, said
        assert said.count("\n") == 1 or "Usage" in said, said


def test_load_says_what_it_did(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports algorithm, parameters and former default; if the default cannot be set, nothing remains."""
    loaded: list[tuple[str, str]] = []
    monkeypatch.setattr(_core, "kernel_load", lambda algorithm, name: loaded.append((algorithm, name)))
    monkeypatch.setattr(_core, "kernel_default", lambda _name, host: "bbr" if host else "cubic")
    status, out, _ = command(capsys, "load", "cubic", "--set", "beta=0.8", "--default")
    assert (status, loaded) == (0, [("cubic:beta=0.8", "sc_cubic")])
    assert out.splitlines() == [
        "cubic:beta=0.8 is loaded as 'sc_cubic'; selfclock kernel unload sc_cubic removes it",
        "new connections of this network namespace have it; before they had 'cubic'",
    ]
    status, out, _ = command(capsys, "load", "bbr3", "--default", "host", "--json")
    assert json.loads(out)["default_before"] == "bbr"

    def refuse(_name: str, _host: bool) -> str:
        raise PermissionError(1, "Operation not permitted")

    gone: list[str | None] = []
    monkeypatch.setattr(_core, "kernel_default", refuse)
    monkeypatch.setattr(_core, "kernel_unload_residents", lambda name: gone.append(name) or "[]")
    status, _, said = command(capsys, "load", "bbr3", "--default")
    assert (status, gone) == (2, ["bbr3"])
    assert said == "selfclock: the default of this namespace cannot be set: Operation not permitted\n"


def test_status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The status names loaded objects, their counters and what was out of order."""
    stand_in(monkeypatch, "kernel_residents")
    status, out, _ = command(capsys, "status")
    assert (status, out.startswith("no algorithm is loaded")) == (0, True)
    odd = {**LOADED, "name": "left", "registered": False, "without_state": 3, "fallback_acks": 40, "recorder": 77}
    stand_in(monkeypatch, "kernel_residents", {**LOADED, "default_of": ["the host"], "recorded": 5}, odd)
    status, out, said = command(capsys, "status")
    assert status == 0
    for text in ("bbr3:beta=0.8", "1234", "the host", "process 77 records it", "5 events recorded, 0 lost"):
        assert text in out
    assert "no memory for the state of 3 connections" in said
    status, out, _ = command(capsys, "status", "--json")
    assert [row["name"] for row in json.loads(out)["loaded"]] == ["bbr3", "left"]


def test_unload_of_both_kinds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of `run` and algorithms of `load` share one command."""
    stand_in(monkeypatch, "kernel_unload")
    now = [
        {"namespace": "the host", "default": "cubic", "previous": True},
        {"namespace": "namespace a", "default": "bic", "previous": True},
        {"namespace": "namespace b", "default": "reno", "previous": False},
        {"namespace": "namespace c", "default": None, "previous": False},
    ]
    rows = {**LOADED, "restored": now}, {**LOADED, "registered": False, "name": "old"}
    stand_in(monkeypatch, "kernel_unload_residents", *rows)
    status, out, _ = command(capsys, "unload")
    assert status == 0
    assert out.splitlines() == [
        "bbr3: unloaded, bbr3:beta=0.8; the host, namespace a have the previous default again; namespace b has reno "
        "now: what was the default before is not known; the default of namespace c cannot be set, and connections "
        "there still get bbr3; 2 connections keep it until they close",
        "old: unloaded before; 2 connections keep it until they close",
    ]
    status, out, _ = command(capsys, "unload", "--json")
    assert len(json.loads(out)["unloaded"]) == 2


def test_nothing_to_record(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a loaded algorithm one line, and no directory remains; a directory with a record is refused."""

    def nothing(*_: object) -> None:
        raise LookupError("no algorithm is loaded")

    monkeypatch.setattr(_core, "KernelRecorder", nothing)
    status, _, said = command(capsys, "record", str(tmp_path / "new"))
    assert (status, said.count("\n")) == (2, 1)
    assert "no algorithm is loaded; selfclock kernel status says what is" in said
    assert not (tmp_path / "new").exists()
    (tmp_path / records.EVENTS).touch()
    status, _, said = command(capsys, "record", str(tmp_path))
    assert status == 2
    assert "has a record already" in said
    status, _, said = command(capsys, "record", str(tmp_path / records.EVENTS / "below"))
    assert (status, said.count("\n")) == (2, 1)


def test_a_recording(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Events written by the compiled part are completed and replayed; missing ones are reported."""
    log = (Path(__file__).parents[2] / "crates/kernel/tests/logs/reno.log").read_bytes()
    status = {"events": 9, "flows": 2, "earlier": 1, "cut": 1, "lost": 4, "passed_over": 8, "error": None, "gone": True}

    class Recorder:
        name, algorithm = "sc_reno", "reno"

        def __init__(self, path: Path, _name: str | None) -> None:
            path.write_bytes(log)

        def run(self) -> None: ...

        def stop(self) -> None: ...

        def status(self) -> str:
            return json.dumps(status)

    monkeypatch.setattr(_core, "KernelRecorder", Recorder)
    ended, out, said = command(capsys, "record", str(tmp_path / "record"))
    assert ended == 0, said
    assert "4 events were lost: 1 connections are recorded up to their first lost event" in said
    assert "replayed bit for bit" in said
    assert "events lost to a full ring" in out
    assert kernel.replay(tmp_path / "record").algorithm == "reno"
    assert json.loads((tmp_path / "record" / records.SUMMARY).read_text())["lost"] == 4


def test_refusals_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A refusal by the system is one error with a remedy."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    for name in ("kernel_residents", "KernelRecorder", "kernel_default", "kernel_load"):
        monkeypatch.setattr(_core, name, refuse)
    for work in (
        kernel.residents,
        lambda: kernel.Recording(tmp_path / "events"),
        lambda: kernel.make_default("bbr3", host=True),
        lambda: kernel.load("bbr3"),
    ):
        with pytest.raises(kernel.KernelError):
            work()
    row = resident.Resident(**LOADED)
    assert row.loaded_at.year == 2023
    assert kernel_resident.described(row).startswith("unloaded, bbr3:beta=0.8; 2 connections")
