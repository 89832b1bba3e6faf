"""Packet records written during the run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pytest

import selfclock as sc
from conftest import LINUX, SMALL
from selfclock import recording
from selfclock.errors import BadInputError
from selfclock.save import PACKETS, captures, staged
from selfclock.verify import verify_path

if TYPE_CHECKING:
    from pathlib import Path

#: Losses, SACK blocks, options of an algorithm, short connections.
LOSSY = (
    SMALL.replace('duration = "2 s"', 'duration = "6 s"')
    + """
[[flow]]
traffic = { load = "200 kbps", size = "20 kB" }
[record]
packets = true
"""
)


def lossy(*overrides: str) -> sc.Scenario:
    return sc.Scenario.parse(LOSSY, overrides=overrides)


#: Some hundred thousand events: the run is checked several times.
LONG = ("network.bottleneck.rate=20 Mbps", "network.access.rate=100 Mbps")


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def test_a_record_in_a_directory_is_that_in_memory(tmp_path: Path) -> None:
    scenario = lossy()
    in_memory, in_file = scenario.run(), scenario.run(packets=tmp_path / "out")
    table = plain(pl.DataFrame(in_memory.packets))
    assert table.height == in_memory.packet_events == in_file.packet_events > 5000
    assert table["sack"].list.len().max() > 0
    assert plain(pl.read_parquet(tmp_path / "out" / PACKETS)).equals(table)
    assert plain(pl.DataFrame(in_file.packets)).equals(table)
    assert pl.DataFrame(in_file.packet_columns("packet", "size_bytes")).equals(table.select("packet", "size_bytes"))
    assert pl.read_parquet_metadata(tmp_path / "out" / PACKETS)["selfclock.scenario"] == scenario.text
    again = tmp_path / "again"
    scenario.run(packets=again)
    assert (again / PACKETS).read_bytes() == (tmp_path / "out" / PACKETS).read_bytes(), "the same run, the same bytes"


def test_captures_are_those_of_the_record_in_memory(tmp_path: Path) -> None:
    scenario = lossy()
    recording.record(scenario, tmp_path, pcap=["host", "link"])
    in_memory = scenario.run()
    files = captures(scenario, ["host", "link"])
    assert len(files) == len(scenario.host_names) + len(scenario.link_names)
    for kind, name, file in files:
        write = in_memory.write_host_pcapng if kind == "host" else in_memory.write_pcapng
        write(name, tmp_path / "one")
        assert (tmp_path / file).read_bytes() == (tmp_path / "one").read_bytes(), file
    with pytest.raises(BadInputError, match="packets in memory"):
        scenario.run(packets=tmp_path / "file").write_pcapng("bottleneck", tmp_path / "one")


def test_the_verifier_reads_what_was_written(tmp_path: Path) -> None:
    lossy().run(packets=tmp_path / "out")
    assert not verify_path(tmp_path / "out").violations


def test_a_directory_for_packets_needs_packets(tmp_path: Path) -> None:
    with pytest.raises(sc.ScenarioError, match=r"needs record\.packets = true"):
        sc.Scenario.parse(SMALL).run(packets=tmp_path / "out")
    assert not list(tmp_path.iterdir())


class Disk(NamedTuple):
    """The return value of `shutil.disk_usage`."""

    total: int
    used: int
    free: int


def test_a_record_that_fills_the_disk_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "PATIENCE_S", 0.0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**12, 10**12 - 10**8, 10**8))
    with pytest.raises(BadInputError, match="fills the disk: 100 MB are free"):
        lossy(*LONG).run(packets=tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_record_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(_done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lossy(*LONG).run(interrupt, packets=tmp_path / "out")
    assert not list(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt), staged(tmp_path / "out") as aside:
        recording.record(lossy(*LONG), aside, pcap=["link"], progress=interrupt)
    assert not list(tmp_path.iterdir())


PEAK = """
import resource, sys, selfclock as sc
from pathlib import Path
text, seconds, where = sys.argv[1:]
scenario = sc.Scenario.parse(text, overrides=[f"duration={seconds} s", "record.interval=off", "record.packets=true"])
result = scenario.run(packets=Path(where))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, result.packet_events)
"""


@pytest.mark.alone
@LINUX
def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """In memory the second run would take 48 bytes for each of a million additional packet events."""
    text = SMALL.replace("1 Mbps", "200 Mbps").replace("10 Mbps", "1 Gbps").replace("5 packets", "1 bdp")
    peaks = []
    for seconds in (4, 12):
        command = [sys.executable, "-c", PEAK, text, str(seconds), str(tmp_path / str(seconds))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        kilobytes, events = map(int, done.stdout.split())
        peaks.append((kilobytes * 1024, events))
    (one, events), (other, more) = peaks
    assert more - events > 1_000_000
    assert other - one < 10 * (more - events)
