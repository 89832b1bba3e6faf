"""The provenance of a result: the scenario, the engine, and the sources of its algorithms."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc
from conftest import SMALL
from selfclock import _core
from selfclock.algorithm_sources import of_file
from selfclock.sweep.dataset import EARLIER, JOURNAL, RUNS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: An algorithm that reads its pace from a second file.
OWN = """\
import selfclock as sc
from pace import step

@sc.algorithm("test-paced")
class Paced(sc.CongestionControl):
    def on_ack(self, event):
        if not event.recovering:
            self.cwnd += step(self.cwnd)
    def on_loss(self, event):
        self.cwnd /= 2
    def on_timeout(self, event):
        pass
"""
PACE = """\
def step(cwnd):
    return GAIN / cwnd

GAIN = 1
"""
GRID = """\
schema = 1
scenario = "small.toml"
seeds = 3

[grid]
"network.bottleneck.queue" = ["2 packets", "20 packets"]
"flow.0.congestion_control" = ["reno", "test-paced"]
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A scenario, a grid, and an algorithm of two files."""
    for name, text in (("small.toml", SMALL), ("grid.toml", GRID), ("own.py", OWN), ("pace.py", PACE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def rows(directory: Path) -> pl.DataFrame:
    return pl.read_parquet(directory / RUNS).drop("cpu_s")


def sweep(command: Command, out: str, status: int = 0) -> dict[str, object]:
    done = command("sweep", "grid.toml", "--algorithm", "own.py", "--out", out, "--json")
    assert done.returncode == status, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("edited", ["own.py", "pace.py"])
def test_an_edit_between_two_sweeps_leaves_what_a_new_directory_has(command: Command, files: Path, edited: str) -> None:
    """Regression: rows of both versions used to be kept together and averaged."""
    before = sweep(command, "out")
    text = (files / edited).read_text(encoding="utf-8")
    # The same size, within the same second: neither size nor modification time reveals the change.
    changed = text.replace("GAIN = 1", "GAIN = 4") if edited == "pace.py" else text.replace("/= 2", "/= 8")
    (files / edited).write_text(changed, encoding="utf-8")
    after = sweep(command, "out")
    new = sweep(command, "new")
    # The built-in half of the grid is unchanged.
    assert (before["done_now"], after["done_now"], after["set_aside"], new["done_now"]) == (12, 6, 6, 12)
    assert rows(files / "out").equals(rows(files / "new"))
    assert after["points"] != before["points"]
    drop = "cpu_s"
    for mine, fresh in zip(after["points"], new["points"], strict=True):  # type: ignore[call-overload]
        assert {**mine, "measures": {**mine["measures"], drop: 0}} == {
            **fresh,
            "measures": {**fresh["measures"], drop: 0},
        }
    old = pl.read_parquet(files / "out" / EARLIER)
    (was,), (now,) = (table["algorithms"].drop_nulls().unique().to_list() for table in (old, rows(files / "out")))
    assert was != now
    assert was.startswith("test-paced ")
    # Back again: the rows set aside are reused.
    (files / edited).write_text(text, encoding="utf-8")
    assert (sweep(command, "out")["done_now"], rows(files / "out")["key"].n_unique()) == (0, 12)


def test_a_journal_of_an_earlier_version_is_set_aside(command: Command, files: Path) -> None:
    """A killed sweep leaves rows that are not in a Parquet file yet."""
    sweep(command, "out")
    row = pl.read_parquet(files / "out" / RUNS).filter(pl.col("algorithms").is_not_null()).row(0, named=True)
    (files / "out" / RUNS).unlink()
    (files / "out" / JOURNAL).write_text(json.dumps({"key": row["key"], "seed": 1}) + "\n", encoding="utf-8")
    (files / "pace.py").write_text(PACE.replace("GAIN = 1", "GAIN = 4"), encoding="utf-8")
    assert sweep(command, "out")["set_aside"] == 1
    assert sweep(command, "new")["points"] is not None
    assert rows(files / "out").equals(rows(files / "new"))


def test_an_algorithm_that_raised_and_was_repaired_is_run_again(command: Command, files: Path) -> None:
    """Regression: it was reported as failed for good."""
    (files / "own.py").write_text(OWN.replace("self.cwnd /= 2", "raise ValueError('boom')"), encoding="utf-8")
    assert sweep(command, "out", status=1)["failed"] == 6
    (files / "own.py").write_text(OWN, encoding="utf-8")
    assert sweep(command, "out")["failed"] == 0
    sweep(command, "new")
    assert rows(files / "out").equals(rows(files / "new"))


def test_sources_are_the_file_and_what_it_imports_of_its_folder(tmp_path: Path) -> None:
    texts = {
        "main.py": "import json, a\nfrom pack import deep\nfrom pack.near import x\nimport selfclock\n",
        "a.py": "def late():\n    import b\n",
        "b.py": "import a\n",
        "unused.py": "",
        "pack/__init__.py": "from . import near\n",
        "pack/near.py": "from ..a import late\n",
        "pack/deep.py": "",
        "selfclock.py": "",
        "json.txt": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    source = of_file(tmp_path / "main.py")
    assert set(source.files) == {"main.py", "a.py", "b.py", "pack/__init__.py", "pack/near.py", "pack/deep.py"}
    assert next(iter(source.files)) == "main.py"
    (tmp_path / "unused.py").write_text("x = 1", encoding="utf-8")
    assert of_file(tmp_path / "main.py").digest == source.digest
    (tmp_path / "b.py").write_text("import a, sys\n", encoding="utf-8")
    assert of_file(tmp_path / "main.py").digest != source.digest


def test_helpers_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for folder, gain in (("one", 1), ("two", 7)):
        (tmp_path / folder).mkdir()
        own = OWN.replace("test-paced", f"test-{folder}")
        (tmp_path / folder / "own.py").write_text(own, encoding="utf-8")
        (tmp_path / folder / "pace.py").write_text(PACE.replace("GAIN = 1", f"GAIN = {gain}"), encoding="utf-8")
        sc.load_algorithms(tmp_path / folder / "own.py")
    settings = ["network.bottleneck.queue=unlimited", "flow.1.congestion_control=reno"]
    windows: list[Any] = []
    for folder in ("one", "two"):
        found = sc.Scenario.parse(SMALL, overrides=[*settings, f"flow.0.congestion_control=test-{folder}"]).run()
        own = pl.DataFrame(found.flows).filter(pl.col("flow").cast(pl.String) == "flow1")
        windows.append(own["cwnd_bytes"].max())
    assert windows[0] < windows[1]


def test_every_result_names_version_commit_date_command_and_digest(command: Command, files: Path) -> None:
    own = ("--algorithm", "own.py", "--format", "")
    at_once = ("--duration", "1s", "--rate", "5Mbps")
    setting = ("--set", "flow.0.congestion_control=test-paced")
    for out, document, words in (
        ("run", "summary.json", ("run", "small.toml", *setting, *own)),
        ("compare", "compare.json", ("compare", "test-paced", *at_once, *own)),
        ("sweep", "summary.json", ("sweep", "grid.toml", *own)),
        ("evaluate", "scorecard.json", ("evaluate", "test-paced", "--rows", "S1", "--against", "reno", *own)),
    ):
        done = command(*words, "--out", out)
        assert done.returncode == 0, done.stderr
        made = json.loads((files / out / document).read_text(encoding="utf-8"))["made"]
        digest = of_file(files / "own.py").digest
        assert made["algorithms"] == {"test-paced": digest}
        assert (made["version"], made["engine"], made["commit"]) == (sc.VERSION, _core.ENGINE, _core.COMMIT or None)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["date"])
        assert made["command"].startswith(f"selfclock {words[0]} ")
        page = (files / out / "report.html").read_text(encoding="utf-8")
        for word in (sc.VERSION, _core.COMMIT, digest, "own.py"):
            assert word in page[page.index("<footer>") :]
        for table in (files / out).glob("*.parquet"):
            carried = pl.read_parquet_metadata(table)
            assert (carried["selfclock.version"], carried["selfclock.commit"]) == (sc.VERSION, _core.COMMIT)
            assert digest in carried.get("selfclock.digest.test-paced", carried.get("selfclock.algorithms", ""))


def test_only_date_and_command_differ_between_two_runs(command: Command, small: Path) -> None:
    """Same scenario and seed, same bytes; the exceptions are in one place of the document, and in the footer."""
    for out in ("one", "two"):
        assert command("run", small, "--out", out, "--pcap").returncode == 0
    one, two = (small.with_name(out) for out in ("one", "two"))
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in two.iterdir()}
    differ = {name for name in names if (one / name).read_bytes() != (two / name).read_bytes()}
    assert differ <= {"summary.json", "report.html"}
    documents = [json.loads((out / "summary.json").read_text(encoding="utf-8")) for out in (one, two)]
    for document in documents:
        del document["cpu_s"], document["made"]["date"], document["made"]["command"]
    assert documents[0] == documents[1]
    pages = [(out / "report.html").read_text(encoding="utf-8") for out in (one, two)]
    # The nonce of the page's scripts is a digest of its text, date and command included.
    nonces = [re.findall(r"'nonce-([0-9a-f]{32})'", page) for page in pages]
    assert [len(each) for each in nonces] == [1, 1]
    pages = [page.replace(nonce, "") for page, [nonce] in zip(pages, nonces, strict=True)]
    first, second = (re.sub(r'<p id="made">.*?</p>', "", page) for page in pages)
    assert first == second


def test_another_result_in_the_same_directory_is_replaced_whole_and_said(command: Command, small: Path) -> None:
    """Regression: captures of the earlier run used to remain beside the tables of the later one."""
    results = small.with_name("results") / "small"
    assert command("run", small, "--pcap").stderr == ""
    (results / "mine.txt").write_text("kept", encoding="utf-8")
    again = command("run", small, "--pcap")
    assert again.stderr == ""
    later = command("run", small, "--set", "duration=1 s", "--json", "--out", "results/small")
    assert later.stderr.startswith("note: results/small holds another result, which this one replaces: summary.json of")
    assert later.stderr.count("\n") == 1
    assert json.loads(later.stdout)["notes"] == [later.stderr.removeprefix("note: ").rstrip()]
    left = {path.name for path in results.iterdir()}
    assert "mine.txt" in left
    assert not [name for name in left if name.endswith(".pcapng")]
    assert not left & {"packets.parquet"}
    compared = command("compare", "reno", "--duration", "1s", "--rate", "5Mbps", "--out", results, "--format", "")
    assert "note: " in compared.stderr
    names = {"compare.json", "runs.csv", "report.html", "reno-flows.parquet", "reno-links.parquet", "mine.txt"}
    assert {path.name for path in results.iterdir()} == names


def test_a_run_does_not_write_into_a_sweep(command: Command, files: Path) -> None:
    (files / "own.py").write_text(OWN, encoding="utf-8")
    sweep(command, "out")
    refused = command("run", "small.toml", "--out", "out")
    assert refused.returncode == 2
    assert "out holds the runs of a sweep: choose another directory with --out" in refused.stderr


def test_the_version_has_the_commit(command: Command) -> None:
    shown = command("--version").stdout
    assert shown == (f"selfclock {sc.VERSION} ({_core.COMMIT})\n" if _core.COMMIT else f"selfclock {sc.VERSION}\n")
