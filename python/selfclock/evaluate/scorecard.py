"""Evaluates algorithms: runs, verdicts, scorecards."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from selfclock import formatting, notebook
from selfclock._core import VERSION, ScenarioError
from selfclock.arguments import items
from selfclock.evaluate.judge import Judged, Verdict, not_applicable
from selfclock.evaluate.rows import ROWS
from selfclock.evaluate.runs import Lab
from selfclock.evaluate.subject import Subject
from selfclock.names import unknown
from selfclock.page_parts import Table
from selfclock.plain_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from selfclock.evaluate.row import Row
    from selfclock.evaluate.runs import Experiment

BASELINES = ("cubic", "bbr3", "reno")


class CaseDocument(TypedDict):
    """One of the numbers of a row."""

    case: str
    value: float | None
    verdict: Verdict
    #: Smallest and largest value over the seeds; null for never, which JSON cannot express.
    spread: tuple[float | None, float | None] | None


class BaselineDocument(TypedDict):
    """A row of a baseline."""

    value: float | None
    verdict: Verdict


class RowDocument(TypedDict):
    """A row as `--json` prints it."""

    id: str
    test: str
    measure: str
    unit: str
    value: float | None
    verdict: Verdict
    passes: str
    warns: str
    source: str
    note: str
    cases: list[CaseDocument]
    baselines: dict[str, BaselineDocument]


class ScorecardDocument(TypedDict):
    """A scorecard as `--json` prints it."""

    algorithm: str
    version: str
    marks: str
    rows: list[RowDocument]


@dataclass(frozen=True)
class RowResult:
    """A row of a scorecard: the test, its result, and the results of the baselines."""

    row: Row
    found: Judged
    baselines: dict[str, Judged]

    def document(self) -> RowDocument:
        """Return it as `--json` prints it."""
        row, found = self.row, self.found
        return RowDocument(
            id=row.id,
            test=row.title,
            measure=row.measure,
            unit=row.unit,
            value=_finite(found.value),
            verdict=found.verdict,
            passes=row.passes,
            warns=row.warns,
            source=row.source,
            note=found.note,
            cases=[
                CaseDocument(
                    case=each.name,
                    value=_finite(each.value),
                    verdict=each.verdict,
                    spread=None if each.spread is None else (_finite(each.spread[0]), _finite(each.spread[1])),
                )
                for each in found.cases
            ],
            baselines={
                name: BaselineDocument(value=_finite(judged.value), verdict=judged.verdict)
                for name, judged in self.baselines.items()
            },
        )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True, repr=False)
class Scorecard:
    """The rows' findings about an algorithm."""

    subject: Subject
    baselines: tuple[Subject, ...]
    lines: list[RowResult]
    lab: Lab
    #: Wall-clock time, including other algorithms evaluated together.
    seconds: float

    @property
    def algorithm(self) -> str:
        """The algorithm as it was named."""
        return self.subject.label

    @property
    def document(self) -> ScorecardDocument:
        """Return it as `--json` prints it."""
        return ScorecardDocument(
            algorithm=self.algorithm,
            version=VERSION,
            marks="The thresholds are this project's: RFC 9743 sets none.",
            rows=[line.document() for line in self.lines],
        )

    def table(self) -> Table:
        """Return the rows as texts: values of the algorithm and its baselines, and the verdict."""
        rows = [
            [line.row.id, line.row.title.split(":")[0], formatting.number(line.found.value, line.row.unit),
             *(formatting.number(None if other is None else other.value) for other in others), line.found.verdict]
            for line in self.lines
            for others in [[line.baselines.get(each.label) for each in self.baselines]]
        ]  # fmt: skip
        columns = ["row", "test", "value", *(each.label for each in self.baselines), "verdict"]
        return Table("", "", columns, rows, texts=2)

    def __repr__(self) -> str:
        against = ", ".join(each.label for each in self.baselines)
        return f"<Scorecard of {self.algorithm} against {against}: {formatting.plural(len(self.lines), 'row')}>"

    def __str__(self) -> str:
        return as_text(f"Scorecard of {self.algorithm}", [self.table()])

    def _repr_html_(self) -> str:
        return notebook.shown(f"Scorecard of {self.algorithm}", [self.table()])

    def failures(self, row: Row) -> list[str]:
        """Return a sentence for each connection of a row that failed."""
        return [] if row.leaves_out(self.subject) is not None else _failures(row, self.lab, self.subject)

    def verdicts(self) -> dict[Verdict, int]:
        """Count the verdicts."""
        kinds: tuple[Verdict, ...] = ("pass", "warn", "fail", "report", "not applicable")
        return {kind: sum(line.found.verdict == kind for line in self.lines) for kind in kinds}


def evaluate(
    algorithm: str,
    against: Iterable[str] = BASELINES,
    *,
    rows: Iterable[str] = (),
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Scorecard:
    """Run the scorecard of an algorithm, with its baselines; optionally of some rows only.

    A name is as for `compare`: a window algorithm, a start, both as "cubic+hystart++", a model, or
    a user-defined algorithm.

    >>> import selfclock as sc
    >>> card = sc.evaluate("vegas", against=["reno"], rows=["S1"])
    >>> [line.found.verdict for line in card.lines]
    ['pass']
    """
    (card,) = evaluate_all([algorithm], against, rows=rows, threads=threads, progress=progress)
    return card


def evaluate_all(
    algorithms: Sequence[str],
    against: Iterable[str] = BASELINES,
    *,
    rows: Iterable[str] = (),
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[Scorecard]:
    """Run the scorecards of several algorithms; shared runs run once."""
    begun = time.monotonic()
    subjects = [Subject.named(name) for name in dict.fromkeys(algorithms)]
    baselines = tuple(Subject.named(name) for name in dict.fromkeys(against))
    chosen = _chosen(rows)
    lab = Lab()
    lab.run(_wanted(chosen, subjects, baselines), progress, threads)
    seconds = time.monotonic() - begun
    return [
        Scorecard(subject, baselines, [_line(row, lab, subject, baselines) for row in chosen], lab, seconds)
        for subject in subjects
    ]


def _chosen(given: Iterable[str]) -> list[Row]:
    names = items(given, "rows")
    known = {row.id: row for row in ROWS}
    for name in names:
        if name not in known:
            # Any row is near any other: only case can be meant.
            near = name.upper() if name.upper() in known else None
            listed = f"there are {', '.join(known)}"
            raise ScenarioError(
                unknown("row", name, list(known), near) if near else f"no row is named {name!r}; {listed}"
            )
    return [row for row in ROWS if not names or row.id in names]


def _wanted(
    rows: Sequence[Row], subjects: Sequence[Subject], baselines: Sequence[Subject]
) -> list[tuple[Experiment[Any], Subject]]:
    """Every experiment with every algorithm that needs it, once."""
    wanted: dict[tuple[str, str], tuple[Experiment[Any], Subject]] = {}
    for row in rows:
        concerned = [subject for subject in subjects if row.leaves_out(subject) is None]
        if not concerned:
            continue
        compared = [each for each in (*concerned, *baselines) if row.leaves_out(each) is None]
        references = [Subject.named(name) for name in row.references]
        for experiment in row.experiments:
            for subject in (*compared, *references):
                wanted.setdefault((experiment.name, subject.label), (experiment, subject))
        for experiment in row.reference_experiments:
            for subject in references:
                wanted.setdefault((experiment.name, subject.label), (experiment, subject))
    return list(wanted.values())


def _line(row: Row, lab: Lab, subject: Subject, baselines: Sequence[Subject]) -> RowResult:
    why = row.leaves_out(subject)
    if why is not None:
        return RowResult(row, not_applicable(why), {})
    others = {each.label: row.judge(lab, each) for each in baselines if row.leaves_out(each) is None}
    found = row.judge(lab, subject)
    return RowResult(row, found.with_note(_failed(_failures(row, lab, subject))), others)


def _failures(row: Row, lab: Lab, subject: Subject) -> list[str]:
    """Return a sentence for each connection of a row that failed."""
    return [said for experiment in row.experiments for said in lab.failures(experiment, subject)]


def _failed(failures: Sequence[str]) -> str:
    """Say which connections of a row failed."""
    if not failures:
        return ""
    more = f" And {formatting.plural(len(failures) - 1, 'other connection')} failed." if len(failures) > 1 else ""
    return f"{failures[0]}{more}"
