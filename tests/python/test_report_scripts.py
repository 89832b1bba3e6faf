"""The scripts of reports are those that lab/src/report makes, and the kinds of packets are known to the verifier."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from selfclock import _core
from selfclock.hops import DELIVERED, DROPPED, FORWARDED, LOST, UNFINISHED, WORDS
from selfclock.verify.packet_lives import TOWARDS_SOURCE

LAB = Path(__file__).parents[2] / "lab"


@pytest.mark.skipif(
    shutil.which("node") is None or not (LAB / "node_modules" / "esbuild").is_dir(),
    reason="needs node and what `make report-scripts` installs",
)
def test_committed_scripts_are_fresh() -> None:
    checked = subprocess.run(["node", "build.mjs", "--check"], cwd=LAB, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_second_reader_knows_the_directions_of_packets() -> None:
    # The verifier has its own list, so that it finds mistakes of the engine.
    assert {name for name, _, back, _ in _core.packet_kinds() if back} == set(TOWARDS_SOURCE)
    assert list(WORDS) == [name for name, *_ in _core.packet_kinds()]


def test_fates_have_the_numbers_of_the_engine() -> None:
    import selfclock as sc  # noqa: PLC0415

    result = sc.dumbbell("1 Mbps", duration="200 ms", record={"packets": True}).run()
    hops, *_ = result._packet_hops((0.0, 0.2))
    names = hops.column("fate").names
    assert names is not None
    assert [names[fate] for fate in (FORWARDED, DROPPED, LOST, DELIVERED, UNFINISHED)] == [
        "forwarded", "dropped", "lost", "delivered", "unfinished",
    ]  # fmt: skip
