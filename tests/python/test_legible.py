"""The check of figures finds the faults it is meant to find, and the figures of the documentation pass it."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from legible import figure_faults
from selfclock.figure import Figure

if TYPE_CHECKING:
    from types import ModuleType


def documentation() -> ModuleType:
    """Return the module that draws the figures of the documentation."""
    path = Path(__file__).parents[2] / "docs" / "site" / "figures.py"
    spec = importlib.util.spec_from_file_location("documentation_figures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def whole() -> Figure:
    figure = Figure(x="time (s)", y="window (segments)")
    figure.panel.line([0, 1], [1, 2], label="one", colour="#0072B2")
    figure.panel.line([0, 1], [2, 3], label="two", colour="#0072B2", dash="--")
    return figure


def test_a_whole_figure_has_no_fault() -> None:
    assert list(figure_faults(whole())) == []


def test_faults_are_found() -> None:
    figure = whole()
    figure.panel.y.label = "window"
    assert list(figure_faults(figure)) == ["axis 'window' without a unit"]
    figure = whole()
    figure.panel.line([0, 1], [4, 5], label="three", colour="#0072B2")
    assert list(figure_faults(figure)) == ["['one', 'three'] look alike"]
    figure = whole()
    figure.panel.line([0, 1], [4, 5], label="one", colour="#D55E00")
    assert list(figure_faults(figure)) == ["'one' has several looks"]
    for nothing in ([], [math.nan, math.nan]):
        figure = whole()
        figure.panel.line([0, 1][: len(nothing)], nothing, label="none", colour="#D55E00")
        assert "Line 'none' shows nothing" in list(figure_faults(figure))


@pytest.mark.parametrize("name", ["clock", "sawtooth", "species", "overshoot"])
def test_figures_of_the_documentation(name: str) -> None:
    assert list(figure_faults(documentation().FIGURES[name]())) == []
