"""A row of the scorecard: runs, measurement, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock._core import ScenarioError
from selfclock.figure import Axis, Line, Panel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from selfclock.evaluate.judge import Judged
    from selfclock.evaluate.runs import Experiment, Lab
    from selfclock.evaluate.subject import Subject
else:
    from selfclock.lazy import np


def panel(
    x: str,
    y: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    thresholds: Sequence[float] = (),
    names: Sequence[str] = (),
) -> Panel:
    """Return the panel of a row's small figure without curves; `names` label the points 0, 1, 2, and so on."""
    empty = Panel(Axis(x, log=log_x), Axis(y, log=log_y))
    empty.x.name(*names)
    for threshold in thresholds:
        empty.rule("y", threshold, label="threshold")
    return empty


def curve(x: Sequence[float], y: Sequence[float]) -> Line:
    """Return a line of a row's small figure, of one algorithm, before it gets that algorithm's style."""
    return Line(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))


@dataclass(frozen=True)
class Row:
    """A test. Its thresholds are ours: the RFCs set none."""

    id: str
    title: str
    measure: str
    unit: str
    passes: str
    warns: str
    source: str
    #: Runs of the algorithm under test, and of every baseline.
    experiments: tuple[Experiment[Any], ...]
    judge: Callable[[Lab, Subject], Judged]
    #: Axes of its small figure; its rules are the thresholds.
    panel: Panel
    lines: Callable[[Lab, Subject], list[Line]]
    #: Whether the lines' points are measured individually instead of sampled from a series.
    points: bool = False
    #: Algorithms that the thresholds are relative to; the experiments run with them, too.
    references: tuple[str, ...] = ()
    #: Experiments of the references alone.
    reference_experiments: tuple[Experiment[Any], ...] = ()
    #: Why it does not apply to an algorithm; None if it does.
    excludes: Callable[[Subject], str | None] = lambda _subject: None

    def leaves_out(self, subject: Subject) -> str | None:
        """Return why the row does not apply to an algorithm; None if it does."""
        why = self.excludes(subject)
        if why is None and subject.in_stack:
            try:
                for experiment in self.experiments:
                    experiment.scenarios(subject)
            except ScenarioError:
                return "it changes a setting that a QUIC stack does not expose"
        return why
