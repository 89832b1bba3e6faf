"""The bar shown to waiting users."""

from __future__ import annotations

import io
import sys

import pytest

from selfclock import progress


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience_s", "shown"), [(0.0, True), (60.0, False)])
def test_a_bar_is_drawn_for_who_waits(monkeypatch: pytest.MonkeyPatch, patience_s: float, shown: bool) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_S", patience_s)
    monkeypatch.setattr(progress, "REDRAW_S", 0.0)
    with progress.progress_bar("sweep") as update:
        update(0.25)
        update(0.5, "8 of 16 runs")
    drawn = terminal.getvalue()
    assert ("sweep: 8 of 16 runs" in drawn) == shown
    assert ("50%" in drawn) == shown


def test_nothing_is_drawn_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress_bar("sweep") as update:
        update(0.5, "8 of 16 runs")
    assert capsys.readouterr() == ("", "")
