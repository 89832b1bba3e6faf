"""Pages that need a QUIC stack, its driver, or root: their measurements and tables without these."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING

import pytest

from selfclock import _core
from selfclock.errors import BadInputError
from selfclock.evaluate import quic_others, transports

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_beside_a_stack_is_measured_and_compared() -> None:
    """Reno fills 20 Mbit/s with a buffer of one BDP, which delays by 0 to 40 ms; 1448 of 1500 bytes are payload."""
    situation = quic_others.Situation("clean", 60, begin=10)
    measured = quic_others.Measured.of(situation, situation.scenario("reno").run())
    assert measured.goodput_mbps == pytest.approx(20 * 1448 / 1500, rel=0.01)
    assert 5 < measured.delay_ms < 35
    assert measured.lost > 0
    # Between one BDP and two.
    assert 100 <= measured.window_kb <= 200
    assert measured.agrees(measured)
    assert not measured.agrees(dataclasses.replace(measured, goodput_mbps=1.06 * measured.goodput_mbps))
    assert not measured.agrees(dataclasses.replace(measured, delay_ms=1.16 * measured.delay_ms + 1))


def test_without_stacks_no_page_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "stacks", lambda: "[]")
    monkeypatch.setattr(sys, "argv", ["quic_others", str(tmp_path / "page.md")])
    with pytest.raises(SystemExit, match="make quic"):
        quic_others.main()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sys, "argv", ["quic_others"])
    with pytest.raises(SystemExit, match="name the file"):
        quic_others.main()


def test_the_column_of_real_connections_is_kept_or_replaced(tmp_path: Path) -> None:
    """Whoever makes the page without root keeps what root measured."""
    page, measured = tmp_path / "page.md", tmp_path / "real.json"
    assert transports.kernels(None, page) == {}
    measured.write_text(json.dumps([{"situation": "a pause", "algorithm": "reno", "window": 14480.0, "runs": 3}]))
    assert transports.kernels(str(measured), page) == {("a pause", "reno"): "10.0"}
    page.write_text(transports.COLUMNS + "| a pause | `reno` | 9.9 | 9.8 | -1.0% | 2% | 10.0 |\n")
    assert transports.kernels(None, page) == {("a pause", "reno"): "10.0"}


def test_transports_names_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["transports"])
    with pytest.raises(SystemExit, match="driver_flow"):
        transports.main()


def test_a_driver_that_differs_writes_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver of the same words as the example's that prints a window: the simulated one, and twice as much."""
    situation = transports.Situation("slow start", ("reno",), 0.236, 0.02, "whole packets", mbps=100, paced=False)
    monkeypatch.setattr(transports, "SITUATIONS", (situation,))
    [window] = transports.simulated([(situation, "reno")])
    # Ten segments, doubled in each of six round trips: RFC 5681 with growth by bytes. The path and
    # its queue hold 334.
    assert 160 <= window / transports.PACKET <= 334
    for factor, allowed in ((1, True), (2, False)):
        driver = tmp_path / "driver"
        driver.write_text(f"#!/bin/sh\ncase \"$*\" in 'reno packet=1448 '*print) echo 0 {factor * window} 0 0;; esac\n")
        driver.chmod(0o755)
        if allowed:
            page = transports.write(str(driver), {("slow start", "reno"): "9.9"})
            assert "| slow start | `reno` |" in page
            assert page.count("| +0.0% | 2% | 9.9 |") == 1
        else:
            with pytest.raises(BadInputError, match="the transports differ: slow start, reno"):
                transports.write(str(driver), {})
