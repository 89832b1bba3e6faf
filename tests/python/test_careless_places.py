"""Careless users and their environments: disks, directories, damaged results, locales, memory, signals."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl
import pytest

import namespaces
import selfclock as sc
from careless_cases import GRID, OWN, SCENARIO
from conftest import LINUX, POSIX, SMALL
from selfclock import interrupts, save
from selfclock.cli.app import Commands, main
from selfclock.documents import Document, write_document
from selfclock.provenance import replaced
from selfclock.sweep.dataset import EARLIER, JOURNAL, RUNS

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: Slow: `make careless` runs it.
LONG = pytest.mark.careless


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A correct scenario, grid and algorithm."""
    for name, text in (("small.toml", SCENARIO), ("grid.toml", GRID), ("own.py", OWN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def refused(done: subprocess.CompletedProcess[str], *words: str, status: int = 2) -> None:
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    messages = [line for line in done.stderr.splitlines() if not line.startswith(("note: ", "Usage: ", "Try "))]
    assert sum(line.startswith(("selfclock: ", "Error: ")) for line in messages) == 1
    for word in words:
        assert word in done.stderr


def whole(directory: Path) -> bool:
    """Return whether no temporary file is left."""
    return not list(directory.rglob(".*.partial"))


# c4: files in the way, read-only places, disks, terminals


@pytest.mark.parametrize("words", [("run", "small.toml"), ("compare", "reno", "--duration", "1s"),
                                   ("sweep", "grid.toml"), ("evaluate", "reno", "--rows", "S1", "--against", "reno")],
                         ids=lambda words: words[0])  # fmt: skip
@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("", "--out"),
        ("  ", "--out"),
        ("small.toml", "not a directory"),
        ("small.toml/deeper", "not a directory"),
        ("/proc/none", "/proc"),
    ],
)
def test_a_place_that_takes_no_results(
    command: Command, files: Path, words: tuple[str, ...], out: str, said: str
) -> None:
    before = sorted(files.iterdir())
    refused(command(*words, "--out", out), said)
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("name", ["summary.json", "report.html", "flows.parquet"])
def test_a_directory_in_the_way_of_a_file_moves_nothing(command: Command, files: Path, name: str) -> None:
    """Regression: some new files used to stand beside the old ones."""
    assert command("run", "small.toml", "--out", "out", "--format", "").returncode == 0
    (files / "out" / name).unlink()
    (files / "out" / name).mkdir()
    before = {path.name: path.stat().st_mtime_ns for path in (files / "out").iterdir()}
    refused(command("run", "small.toml", "--out", "out", "--format", "", "--seed", 2), f"cannot write out/{name}")
    assert {path.name: path.stat().st_mtime_ns for path in (files / "out").iterdir()} == before
    assert whole(files)


@pytest.mark.parametrize("words", [("run", "small.toml"), ("compare", "reno", "--duration", "1s")],
                         ids=lambda words: words[0])  # fmt: skip
def test_a_full_disk_names_the_file(
    command: Command, files: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: it said "input or output: No space left on device"."""

    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = command(*words, "--out", "out", "--format", "")
    refused(done, "cannot write out/report.html: No space left on device", "MB are free")
    assert whole(files)
    assert not (files / "out").exists()


@LINUX
def test_standard_output_that_is_full(files: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "selfclock", "run", "small.toml", "--json", "--format", ""],
            cwd=files, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@POSIX
@pytest.mark.parametrize(
    ("words", "closed", "status"),
    [
        ("run small.toml", ">&-", 0),
        ("run small.toml --json", ">&-", 0),
        ("run none.toml", "2>&-", 2),
        ("run small.toml", ">&- 2>&- <&-", 0),
        ("run none.toml", ">&- 2>&- <&-", 2),
    ],
)
def test_streams_that_are_closed(files: Path, words: str, closed: str, status: int) -> None:
    """Regression: daemons and cron jobs got a traceback, or another status."""
    done = subprocess.run(  # noqa: S602  a shell closes streams
        f"exec {shlex.quote(sys.executable)} -m selfclock {words} --out out {closed}",
        shell=True, cwd=files, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if status == 0:
        document = json.loads((files / "out/summary.json").read_text(encoding="utf-8"))
        assert document["made"]["files"]


def test_arguments_that_are_not_utf_8(command: Command, files: Path) -> None:
    """Regression: a traceback. A shell in Latin-1 passes bytes, which Python keeps apart."""
    refused(command("run", "small.toml", "--set", "title=caf\udce9"), r"'title=caf\xe9' is not in UTF-8")
    assert whole(files)


@LINUX
def test_a_directory_whose_name_is_not_utf_8(command: Command, files: Path) -> None:
    assert command("run", "small.toml", "--out", "caf\udce9").returncode == 0
    assert (files / "caf\udce9" / "report.html").is_file()


def test_a_byte_order_mark_is_read_by_every_command(command: Command, files: Path) -> None:
    (files / "small.toml").write_text("\ufeff" + SCENARIO.replace("[[flow]]", "[record]\npackets = true\n[[flow]]", 1),
                                      encoding="utf-8")  # fmt: skip
    for words in ("run small.toml --out out", "compare reno --scenario small.toml", "verify out"):
        done = command(*words.split())
        assert done.returncode == 0, done.stderr


@POSIX
def test_a_link_to_nothing_is_no_place_for_results(command: Command, files: Path) -> None:
    """Regression: the message named a hidden file."""
    (files / "out").symlink_to("nowhere")
    refused(command("run", "small.toml", "--out", "out"), "out: it is a link to nowhere, which is not there")


@LINUX
def test_standard_input_is_a_scenario(files: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "selfclock", "run", "-", "--out", "out"], input=SCENARIO,
        cwd=files, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", [("compare", "reno", "--duration", "1s"), ("run", "small.toml")])
def test_a_sweep_says_what_it_replaces(command: Command, files: Path, first: tuple[str, ...]) -> None:
    """Regression: the comparison was gone, and nothing was said."""
    assert command(*first, "--out", "out", "--format", "").returncode == 0
    done = command("sweep", "grid.toml", "--out", "out", "--format", "")
    assert done.returncode == 0
    assert done.stderr.startswith("note: out holds another result, which this one replaces: ")
    assert not list((files / "out").glob("*-flows.parquet"))
    # The runs of a sweep stay.
    assert command("sweep", "grid.toml", "--out", "out", "--format", "").stderr == ""


def test_a_twin_replaces_an_earlier_result_whole(command: Command, files: Path) -> None:
    """Regression: summary.json and flows.parquet of a run stayed beside the report of a twin."""
    assert command("run", "small.toml", "--out", "out", "--format", "").returncode == 0
    with save.staged(files / "out") as aside:
        (aside / "report.html").write_text("", encoding="utf-8")
        write_document(aside, Document("twin.json", {}, "digest", {}))
    assert sorted(path.name for path in (files / "out").iterdir()) == ["report.html", "twin.json"]
    assert "twin.json of " in (replaced(files / "out", "summary.json", "other") or "")


def test_what_a_killed_process_left_is_removed(command: Command, files: Path) -> None:
    """A lock tells whose process ended; of earlier versions, whose folders have none, the process number does."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for number in (ended.pid, os.getpid(), "0badcafe"):
        (files / f".out.{number}.partial").mkdir()
        (files / f".out.{number}.partial" / "flows.parquet").touch()
    (files / ".out.0badcafe.partial.lock").touch()
    running = files / f".out.{os.getppid()}.partial"
    running.mkdir()
    assert command("run", "small.toml", "--out", "out", "--format", "").returncode == 0
    assert list(files.glob(".*.partial*")) == [running]


@LINUX
def test_another_containers_work_is_left_alone(files: Path) -> None:
    """Two processes of the same number in two PID namespaces: the second used to remove the first one's folder."""
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    code = """
import sys, time
from pathlib import Path
from selfclock.save import staged
with staged(Path("out")) as aside:
    (aside / "a").write_text(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
"""
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    started = [
        subprocess.Popen([*inside, str(number)], cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(2)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.communicate("end\n", timeout=60)
        assert process.returncode == 0
    assert (files / "out" / "a").exists()
    assert not list(files.glob(".*.partial*"))


@pytest.mark.parametrize("columns", [1, 10, 40, 80, 200])
@pytest.mark.usefixtures("files")
def test_a_terminal_of_any_width_has_names_in_one_piece(
    command: Command, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: ten columns used to show single letters one below the other."""
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = command("run", "small.toml", "--out", "out", "--format", "")
    assert shown.returncode == 0
    assert "bottleneck" in shown.stdout
    assert len(shown.stdout.splitlines()) < 40


def test_many_flows_are_not_all_listed(command: Command, files: Path) -> None:
    shown = command("run", "small.toml", "--format", "", "--set", "flow.0.count=2000", "--set", "duration=10 ms")
    assert shown.returncode == 0
    assert "… 1,981 more flows: results/small/summary.json" in shown.stdout
    assert len(shown.stdout.splitlines()) < 60
    assert (files / "results" / "small" / "summary.json").exists()


LOCALES = [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "POSIX"}, {"PYTHONUTF8": "0"}]


@pytest.mark.parametrize("locale", [LOCALES[0], *(pytest.param(each, marks=LONG) for each in LOCALES[1:])])
def test_letters_of_any_alphabet_in_any_locale(files: Path, locale: dict[str, str]) -> None:
    """Regression: a setting with an umlaut gave a traceback where the locale is ASCII."""
    words = ["run", "small.toml", "--set", "flow.0.name=größe", "--out", "größe", "--format", ""]
    done = subprocess.run(
        [sys.executable, "-m", "selfclock", *words], cwd=files, env={**os.environ, **locale}, capture_output=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert (files / "größe" / "summary.json").exists()
    assert "größe" in (files / "größe" / "summary.json").read_text(encoding="utf-8")


# c5: signals


def ready(at: Path, process: subprocess.Popen[str]) -> None:
    while not at.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if sys.platform != "win32" else [signal.SIGINT]
LENGTHY = ["--set", "duration=2000 h", "--set", "record.interval=off", "--format", ""]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", *LENGTHY],
        pytest.param(["sweep", "long.toml"], marks=LONG),
        pytest.param(["compare", "reno", "cubic", "--duration", "2000h", "--rate", "1Mbps"], marks=LONG),
        pytest.param(["evaluate", "cubic"], marks=LONG),
        pytest.param(["reproduce", "ficcrd"], marks=LONG),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else None,
)
def test_a_signal_leaves_nothing_half_written(files: Path, words: list[str], number: signal.Signals) -> None:
    (files / "long.toml").write_text(GRID.replace("[grid]", '[set]\nduration = "2000 h"\n[grid]'), encoding="utf-8")
    # A file signals that the command line is running: earlier signals belong to another test.
    script = "import pathlib; from selfclock.cli import main; pathlib.Path('ready').touch(); main()\n"
    (files / "selfclock").write_text(script, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "selfclock", *words, "--out", "out"], cwd=files, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ready(files / "ready", process)
    time.sleep(1.0)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert (out, err) == ("", "selfclock: interrupted\n")
    assert whole(files)
    left = {path.name for path in (files / "out").iterdir()} if (files / "out").exists() else set()
    assert left <= {RUNS, f".{RUNS}.sha256", ".lock"}


#: A module during whose import a signal comes, where Python makes an exception a `RuntimeError`.
INTERRUPTED_IMPORT = """\
import os, sys
class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), int(sys.argv[1]))
        sum(each for each in range(10_000))
        while ENDLESS: pass
class Owner:
    named = Named()
"""

#: Imports it, then waits for the exception.
IMPORTING = """\
import sys, time
from selfclock import interrupts
interrupts.LONGEST_IMPORT_S = float(sys.argv[2])
interrupts.raise_exceptions()
try:
    import interrupted
    time.sleep(30)
except KeyboardInterrupt as error:
    print("whole", interrupts.status(error))
except RuntimeError as error:
    print("broken", interrupts.status(error.__cause__))
"""


@POSIX
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("endless", [False, True])
def test_a_signal_waits_for_an_import_but_not_for_ever(tmp_path: Path, number: signal.Signals, endless: bool) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IMPORT.replace("ENDLESS", str(endless)), encoding="utf-8")
    (tmp_path / "importing.py").write_text(IMPORTING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "importing.py", str(int(number)), "0.2" if endless else "60"], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{'broken' if endless else 'whole'} {128 + number}\n", "")


#: Files that pip installs, and one that signals that the package is being imported: before that,
#: Python itself handles signals.
STARTED = """\
import importlib.abc, pathlib, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "selfclock._core":
            pathlib.Path("ready").touch()
sys.meta_path.insert(0, Finder())
from selfclock.cli import main
main()
"""


@POSIX
@pytest.mark.parametrize("delay_s", [0.0, 0.1, *(pytest.param(each / 20, marks=LONG) for each in range(3, 20, 2))])
def test_ctrl_c_while_it_starts_is_no_traceback(files: Path, delay_s: float) -> None:
    """Regression: in its first 0.4 s it printed where it was importing."""
    (files / "selfclock").write_text(STARTED, encoding="utf-8")
    process = subprocess.Popen([sys.executable, "selfclock", "run", "small.toml", *LENGTHY], cwd=files,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    ready(files / "ready", process)
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT, err
    assert out == ""
    assert err in ("", "selfclock: interrupted\n")
    assert whole(files)


@pytest.mark.parametrize("step", ["make_context", "get_command"])
def test_ctrl_c_while_arguments_are_read_is_said(
    step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Click prints an empty line for it."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*((click.Command, step) if step == "make_context" else (Commands, step)), interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["run", "small.toml"])
    assert ended.value.code == 128 + signal.SIGINT
    assert capsys.readouterr().err == "selfclock: interrupted\n"


def test_importing_the_library_leaves_the_signals_alone() -> None:
    code = "import signal, selfclock; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert not interrupts.is_command_line()


@POSIX
def test_a_signal_waits_while_files_are_moved(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    put = save._put

    def moved(aside: Path, directory: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        put(aside, directory)
        seen.append((directory / "flows.parquet").exists())

    monkeypatch.setattr(save, "_put", moved)
    result = sc.Scenario.load(files / "small.toml").run()
    with pytest.raises(KeyboardInterrupt):
        sc.publish(result, files / "out")
    assert seen == [True]
    assert whole(files)


# c6, c11: damaged results


def damaged(content: bytes, kind: str) -> bytes:
    if kind == "flipped":
        return bytes(byte ^ 0xFF if 100 < place < len(content) - 100 and place % 97 == 0 else byte
                     for place, byte in enumerate(content))  # fmt: skip
    return {"empty": b"", "cut": content[: len(content) // 2], "words": b"not a table\n", "zeros": bytes(1000)}[kind]


@pytest.mark.parametrize("kind", ["empty", "cut", "words", "zeros", "flipped", "directory"])
@pytest.mark.parametrize("name", [RUNS, EARLIER])
def test_a_damaged_dataset_is_named(command: Command, files: Path, name: str, kind: str) -> None:
    """Regression: each gave a traceback of the library that reads it."""
    assert command("sweep", "grid.toml", "--out", "out").returncode == 0
    path = files / "out" / name
    content = (files / "out" / RUNS).read_bytes()
    path.unlink(missing_ok=True)
    if kind == "directory":
        path.mkdir()
    else:
        path.write_bytes(damaged(content, kind))
    before = sorted(each.name for each in (files / "out").iterdir())
    done = command("sweep", "grid.toml", "--out", "out")
    if name == RUNS and kind != "directory":
        refused(done, f"out/{name}: is damaged", "remove it, and up to 2 runs are repeated")
    else:
        refused(done, f"out/{name}: is ", "remove it" if kind != "directory" else "a directory")
    assert sorted(each.name for each in (files / "out").iterdir()) == before
    shutil.rmtree(path) if kind == "directory" else path.unlink()
    again = command("sweep", "grid.toml", "--out", "out", "--json")
    assert json.loads(again.stdout)["failed"] == 0
    assert pl.read_parquet(files / "out" / RUNS).height == 2


@pytest.mark.parametrize(
    ("line", "is_damage"),
    [
        ("not json\n", True),
        ("{}\n", True),
        ('{"key": "x", "seed": "y"}\n', True),
        ('{"seed": 1}\n', True),
        ("[1, 2]\n", True),
        ("\0\0\0\n", True),
        ('{"crc": "00000000", "key": "x", "seed": 1}\n', True),
        ('{"key": "x", "seed": 1', False),
    ],
)
def test_a_damaged_line_of_a_journal_costs_that_line(command: Command, files: Path, line: str, is_damage: bool) -> None:
    """A truncated last line is what a kill leaves; an unreadable complete line is damage, and a note says so.

    Regression: one damaged line cost the whole journal.
    """
    assert command("sweep", "grid.toml", "--out", "out").returncode == 0
    (files / "out" / JOURNAL).write_text(line, encoding="utf-8")
    done = command("sweep", "grid.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert ("journal.jsonl: 1 line had been damaged" in done.stderr + done.stdout) is is_damage
    assert not (files / "out" / JOURNAL).exists()
    assert pl.read_parquet(files / "out" / RUNS).height == 2


FOREIGN = [b"", b"{", b"[]", b'{"made": 1}', b'{"made": {"files": 1}}', b"\xff",
           b'{"made": {"files": ["../small.toml", "/etc/passwd", "grid.toml/", 1]}}']  # fmt: skip


@pytest.mark.parametrize("content", FOREIGN)
def test_a_foreign_document_removes_nothing(command: Command, files: Path, content: bytes) -> None:
    (files / "out").mkdir()
    (files / "out" / "summary.json").write_bytes(content)
    (files / "out" / "keep.txt").touch()
    assert command("run", "small.toml", "--out", "out", "--format", "").returncode == 0
    assert (files / "out" / "keep.txt").exists()
    assert (files / "small.toml").exists()


# c8: memory


def limited(files: Path, megabytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    import resource  # noqa: PLC0415

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, "-m", "selfclock", *words], cwd=files, capture_output=True, text=True, check=False,
        timeout=300, preexec_fn=limit,
    )  # fmt: skip


HUGE = [
    ["flow.0.count=300000"],
    ["record.packets=true", "record.interval=off", "duration=100 s", "network.bottleneck.rate=10 Gbps",
     "network.access.rate=100 Gbps", "network.bottleneck.queue=1 bdp"],
]  # fmt: skip


@LINUX
@pytest.mark.parametrize("settings", [HUGE[0], pytest.param(HUGE[1], marks=LONG)], ids=["flows", "packets"])
def test_the_estimate_asks_what_memory_there_is(files: Path, settings: list[str]) -> None:
    """Regression: both aborted, because the estimate allowed 16 GiB whatever the machine had."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = limited(files, 2000, "run", "small.toml", "--format", "", *words)
    refused(done, "of memory", "by the limit of address space (ulimit -v)")
    assert whole(files)


@LINUX
@LONG
@pytest.mark.parametrize("megabytes", [2000, 1000, 600])
def test_little_memory_is_enough_or_said(files: Path, megabytes: int) -> None:
    done = limited(files, megabytes, "run", "small.toml", "--format", "")
    assert done.returncode == 0 or (done.returncode == 1 and "selfclock: " in done.stderr), done.stderr
    assert "Traceback (most" not in done.stderr
    assert whole(files)


@LONG
@pytest.mark.parametrize("flows", [100_000, 160_000])
def test_many_flows_come_to_an_end(files: Path, flows: int) -> None:
    """Regression: 160,000 flows wrote results, and then a table that took minutes."""
    words = ["run", "small.toml", "--format", "", "--set", f"flow.0.count={flows}", "--set", "duration=10 ms"]
    done = subprocess.run([sys.executable, "-m", "selfclock", *words], cwd=files, capture_output=True, text=True,
                          check=False, timeout=300)  # fmt: skip
    assert done.returncode in (0, 2), done.stderr
    assert done.returncode == 0 or "GiB" in done.stderr


# c9: Python callers


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bottleneck": 10}, "bottleneck: 10 has no unit"),
        ({"rtt": 40}, "rtt: 40 has no unit"),
        ({"buffer": 1}, "buffer: 1 has no unit"),
        ({"duration": 5}, "duration: 5 has no unit"),
        ({"access": 5}, "access: 5 has no unit"),
        ({"bottleneck": "10"}, "bottleneck"),
        ({"flows": "reno"}, "write a list such as ['reno']"),
        ({"flows": ["renoo"]}, 'did you mean "reno"?'),
        ({"loss": 2.0}, "2 is out of range"),
        ({"loss": float("nan")}, "not a finite number"),
        ({"profile": "modren"}, 'did you mean "modern"?'),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_dumbbell_that_cannot_be_built(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(sc.ScenarioError, match=words.replace("[", r"\[").replace("?", r"\?")):
        sc.dumbbell(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1_000_000])
def test_a_number_of_threads_that_no_machine_has(threads: int) -> None:
    scenario = sc.Scenario.parse(SMALL)
    with pytest.raises(sc.ScenarioError, match="allowed: 1 to 1,024"):
        sc.run_many([scenario], threads=threads)
    with pytest.raises(sc.ScenarioError, match="allowed: 1 to 1,024"):
        sc.run_stream([scenario], lambda *_: None, threads=threads)


def test_one_of_a_kind_is_singular(command: Command, files: Path) -> None:
    (files / "grid.toml").write_text(GRID.replace(', "20 packets"', ""), encoding="utf-8")
    shown = command("sweep", "grid.toml", "--out", "out").stdout
    assert "1 point, 1 seed" in shown
    assert "1 run in" in shown
