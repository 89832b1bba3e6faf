"""Pairs of segments, marked at the sender and timed at the receiver, by TCP options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab import Path2, Run, available, names

if TYPE_CHECKING:
    from pathlib import Path

NAMES = names("p")


@pytest.mark.parametrize(
    "algorithm",
    ["reno+modified-swift-start", "reno+packet-pair:tick=100 us", "reno+packet-pair:tick=100 us,probing=both-sides"],
)
def test_pairs_are_timed(tmp_path: Path, algorithm: str) -> None:
    """The receiver's intervals reach the algorithm, the flow fills the path, and the record replays bit for bit."""
    name = next(NAMES)
    record = tmp_path / "record"
    with Path2() as path:
        path.one_segment_a_packet()
        with Run(name, algorithm, "--pairs", "--record", str(record)) as run:
            receiver = path.hosts[1]
            receiver.end(receiver.begin("accept", control=name))
            found = path.send(name, 6)
            said = run.stop()
    assert found.control == name
    assert found.goodput(2) > 15
    assert said["pair_reports"] > 0
    assert said["lost_events"] == 0
    assert name not in available()


def test_super_packets_are_not_marked() -> None:
    """An option would be on each of their segments; the flow is that of slow start."""
    name = next(NAMES)
    with Path2() as path, Run(name, "reno+modified-swift-start", "--pairs") as run:
        found = path.send(name, 4)
        said = run.stop()
    assert found.goodput(2) > 15
    assert said["lost_events"] == 0
