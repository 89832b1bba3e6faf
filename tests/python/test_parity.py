"""The page of parity between TCP and QUIC stacks: its measurements of a run, and its text without stacks."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock import _core
from selfclock.evaluate.parity import Measured, main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_is_measured_and_compared() -> None:
    """Reno fills 20 Mbit/s with a buffer of one BDP: 1448 of every 1500 bytes are payload, after slow start."""
    result = sc.dumbbell(bottleneck="20 Mbps", rtt="40 ms", flows=["reno"], duration="60 s").run()
    measured = Measured.of(result)
    assert measured.goodput_mbps == pytest.approx(20 * 1448 / 1500, rel=0.03)
    # With one BDP the queue varies between empty and full: at most 40 ms, and on average neither
    # extreme.
    assert 5 < measured.delay_ms < 35
    assert measured.losses > 0
    # The window climbs from one BDP, 67 segments, to two, by one per round trip, which lasts 0.6 ms
    # per segment: 4.0 s. One more reduction ends slow start, and the last period is incomplete.
    assert abs(60 - (measured.reductions - 1) * sum(0.6e-3 * window for window in range(67, 134))) < 4.0
    assert dataclasses.replace(measured, reductions=16).period == "3.8 s"
    assert measured.agrees(measured)
    assert not measured.agrees(dataclasses.replace(measured, goodput_mbps=measured.goodput_mbps * 0.96))
    assert not measured.agrees(dataclasses.replace(measured, delay_ms=measured.delay_ms * 1.11))
    assert dataclasses.replace(measured, reductions=0).period == "-"


def test_without_stacks_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "stacks", lambda: "[]")
    monkeypatch.setattr(sys, "argv", ["parity", str(tmp_path / "page.md")])
    with pytest.raises(SystemExit, match="make quic"):
        main()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sys, "argv", ["parity"])
    with pytest.raises(SystemExit, match="name the file"):
        main()
