"""A row of the scorecard: what is run, what is measured, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.evaluate.judge import Judged
    from selfclock.evaluate.runs import Experiment, Lab
    from selfclock.evaluate.subject import Subject


@dataclass(frozen=True)
class Line:
    """A line of a row's small figure, of one algorithm."""

    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """What a row's small figure has on its axes."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    #: Values on the vertical axis that are marks.
    marks: tuple[float, ...] = ()
    #: Points are measured one by one, not sampled from a series.
    points: bool = False
    #: What stands at 0, 1, 2, ... on the horizontal axis, if not numbers.
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A test. Its marks are ours: the RFCs set none."""

    id: str
    title: str
    measure: str
    unit: str
    passes: str
    warns: str
    source: str
    #: What is run of the algorithm under test, and of every baseline.
    experiments: tuple[Experiment[Any], ...]
    judge: Callable[[Lab, Subject], Judged]
    panel: Panel
    lines: Callable[[Lab, Subject], list[Line]]
    #: Algorithms that the marks are relative to; the experiments are run of them, too.
    references: tuple[str, ...] = ()
    #: Experiments of the references alone.
    reference_experiments: tuple[Experiment[Any], ...] = ()
    #: Why it says nothing about an algorithm; none if it does.
    excludes: Callable[[Subject], str | None] = lambda _subject: None
