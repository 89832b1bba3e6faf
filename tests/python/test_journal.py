"""A sweep loses nothing that it acknowledged: the journal on a disk with faults, and damaged tables.

As TigerBeetle does it, a simulated disk fails at random: it writes a part, is full, reports EIO,
tears the last line, or flips bits. `make journal-faults` runs 10,000 histories; HISTORIES sets
their number.
"""

from __future__ import annotations

import errno
import io
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from selfclock.sweep import digest
from selfclock.sweep.dataset import JOURNAL, RUNS
from selfclock.sweep.journal import Journal, read

HISTORIES = int(os.environ.get("HISTORIES", "300"))


class Disk(io.RawIOBase):
    """A file that fails at random."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.contents = bytearray()
        self.dice = dice
        #: How often an operation fails.
        self.rate = dice.choice([0.0, 0.1, 0.5])

    def writable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        assert (offset, whence) == (0, os.SEEK_END)
        return len(self.contents)

    def truncate(self, size: int | None = None) -> int:
        assert size is not None
        if self.dice.random() < self.rate:
            raise OSError(errno.EIO, "Input/output error")
        del self.contents[size:]
        return size

    def write(self, data: Any) -> int:  # noqa: ANN401  as its base class
        data = bytes(data)
        if self.dice.random() < self.rate:
            # A part reaches the disk, said or not.
            part = self.dice.randrange(len(data))
            self.contents += data[:part]
            if self.dice.random() < 0.5:
                raise OSError(self.dice.choice([errno.ENOSPC, errno.EIO]), "no luck")
            return part
        self.contents += data
        return len(data)

    def close(self) -> None:
        """Stay open: the history goes on with the same contents."""


def lines_at(disk: Disk, at: int) -> bytes:
    """Return the line that a byte belongs to; a line's end belongs to the next one, too."""
    begin = disk.contents.rfind(b"\n", 0, at) + 1
    end = disk.contents.find(b"\n", at + 1)
    return bytes(disk.contents[begin : end if end >= 0 else len(disk.contents)])


def history(seed: int) -> None:
    """Append rows on a failing disk: what was acknowledged and not damaged later is read back, and nothing else."""
    dice = random.Random(seed)  # noqa: S311
    disk = Disk(dice)
    journal = Journal(Path("journal"), lambda _: disk)  # type: ignore[arg-type,return-value]
    appended: dict[str, dict[str, Any]] = {}
    acknowledged: set[str] = set()
    damaged = 0
    for number in range(dice.randrange(1, 12)):
        # One flipped bit does not make a key another row's.
        row = {"key": f"k{number}" * 3, "seed": number, "error": "x" * dice.randrange(60)}
        appended[row["key"]] = row
        try:
            journal.append(row)
            acknowledged.add(row["key"])
        except OSError:
            pass
        if dice.random() < 0.1:
            # A killed process: the next one opens the file again.
            journal = Journal(Path("journal"), lambda _: disk)  # type: ignore[arg-type,return-value]
        if disk.contents and dice.random() < 0.15:
            at = dice.randrange(len(disk.contents))
            hit = lines_at(disk, at)
            disk.contents[at] ^= 1 << dice.randrange(8)
            acknowledged -= {key for key in acknowledged if b'"%b"' % key.encode() in hit}
            damaged += 1
    if disk.contents and dice.random() < 0.3:
        # A torn tail, as after a power failure.
        lost = bytes(disk.contents[len(disk.contents) - dice.randrange(len(disk.contents)) :])
        del disk.contents[len(disk.contents) - len(lost) :]
        acknowledged = {key for key in acknowledged if b'"%b"' % key.encode() in disk.contents}
        tail = bytes(disk.contents[disk.contents.rfind(b"\n") + 1 :])
        acknowledged -= {key for key in acknowledged if b'"%b"' % key.encode() in tail}
    rows, skipped = read(bytes(disk.contents))
    found = {row["key"]: row for row in rows.select("key", "seed", "error").to_dicts()}
    assert acknowledged <= set(found), f"seed {seed}: lost {acknowledged - set(found)}"
    for key, row in found.items():
        assert row == appended[key], f"seed {seed}: {key} was changed"
    assert damaged or skipped <= len(appended), f"seed {seed}"


def test_histories_of_a_failing_disk() -> None:
    for seed in range(HISTORIES):
        history(seed)


def test_a_damaged_line_costs_that_line() -> None:
    """Any single bit, also one of a line's end."""
    disk = Disk(random.Random(0))  # noqa: S311
    disk.rate = 0.0
    journal = Journal(Path("journal"), lambda _: disk)  # type: ignore[arg-type,return-value]
    for number in range(3):
        journal.append({"key": f"k{number}", "seed": number})
    whole = bytes(disk.contents)
    assert read(whole)[0]["key"].to_list() == ["k0", "k1", "k2"]
    assert [json.loads(line)["seed"] for line in whole.splitlines()] == [0, 1, 2]
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            rows, _ = read(bytes(flipped))
            assert rows.height >= 2, (place, bit)
            assert set(rows["key"]) <= {"k0", "k1", "k2"}
    assert read(b"\0" * 999 + b"\n" + whole)[0].height == 3


def test_lines_of_earlier_versions_are_read() -> None:
    rows, damaged = read(
        b'{"key": "a", "seed": 1}\nnot json\n{"seed": 1}\n[1]\n{"key": "b", "seed": "y"}\n{"key": "cut'
    )
    assert (rows["key"].to_list(), damaged) == (["a"], 4)


def test_any_flipped_bit_of_a_table_is_noticed(tmp_path: Path) -> None:
    """Regression: of 400 flips 265 gave other rows unnoticed."""
    path, aside = tmp_path / RUNS, tmp_path / "aside"
    pl.DataFrame(
        {"key": [f"k{number}" for number in range(50)], "x": [number / 7 for number in range(50)]}
    ).write_parquet(aside)
    digest.put(aside, path)
    digest.check(path)
    whole = path.read_bytes()
    dice = random.Random(1)  # noqa: S311
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match="have changed since"):
            digest.check(path)
    path.write_bytes(whole)
    # Killed between the two names: the new digest is still beside its place.
    (tmp_path / f".{RUNS}.sha256").rename(tmp_path / f".{RUNS}.sha256.partial")
    (tmp_path / f".{RUNS}.sha256").write_text("00  old\n", encoding="utf-8")
    digest.check(path)
    digest.check(path)
    # sha256sum reads it.
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "-c", "--quiet", f".{RUNS}.sha256"], cwd=tmp_path, check=True)


GRID = """\
schema = 1
scenario = "small.toml"
seeds = 40

[grid]
"network.bottleneck.queue" = ["2 packets", "20 packets"]
"""


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk to fill: needs root of Linux"
)
@pytest.mark.parametrize(
    "words",
    [
        ("sweep", "grid.toml"),
        ("run", "small.toml", "--format", "", "--set", "record.packets=true", "--set", "duration=200 s"),
        ("run", "small.toml", "--format", "", "--pcap", "--set", "duration=200 s"),
        ("compare", "reno", "cubic", "--duration", "2s", "--format", ""),
    ],
    ids=lambda words: " ".join(words[:1] + words[4:5]),
)
def test_a_full_disk_ends_in_one_line(small: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """A real one: the line names a file and says what is kept, and after more room a sweep resumes."""
    (small.parent / "grid.toml").write_text(GRID, encoding="utf-8")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)], check=True)
    try:
        command = [sys.executable, "-m", "selfclock", *words, "--out", str(disk / "out")]
        done = subprocess.run(command, cwd=small.parent, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 2, done.stderr
        [line] = [each for each in done.stderr.splitlines() if "cannot write" in each]
        assert "Traceback" not in done.stderr
        # A run stops before the disk is full; its line names the table alone.
        assert str(disk / "out") in line or "packets.parquet" in line
        assert "kept" in line
        if words[0] == "sweep":
            subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
            again = subprocess.run(command, cwd=small.parent, capture_output=True, text=True, check=False, timeout=300)
            assert again.returncode == 0, again.stderr
            assert pl.read_parquet(disk / "out" / RUNS).height == 80
            assert not (disk / "out" / JOURNAL).exists()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
