"""Contents of the page of reproduced papers: rows, links, and the commands that repeat their runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from selfclock.claims import OF, OUTCOMES
from selfclock.report.page import Page, render, script
from selfclock.reproduce import CHOICES_HEADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Ambiguity, Claim, Of, Outcome, Reading, Statement
    from selfclock.page_parts import Illustration
    from selfclock.reproduce import PaperReport

#: Names shown in a row or a figure; the rest are folded.
MOST_NAMES = 3


#: Outcomes: name in an address, class of a mark, and heading of a column.
OUTCOME_NAMES: dict[Outcome, tuple[str, str, str]] = {
    "under every reading": ("every", "reproduced", "every reading"),
    "under some readings": ("some", "some", "some readings"),
    "under no reading": ("none", "not-reproduced", "no reading"),
}


@dataclass(frozen=True)
class Cell:
    """Statements of a paper with the same origin and outcome."""

    of: Of
    outcome: Outcome
    count: int
    #: Anchor in the page.
    anchor: str

    @property
    def mark(self) -> str:
        """Its class."""
        return OUTCOME_NAMES[self.outcome][1]


@dataclass(frozen=True)
class ScenarioLink:
    """A scenario in the page."""

    name: str
    #: Number of its files: several if it has several seeds.
    files: int


@dataclass(frozen=True)
class Under:
    """A verdict under one combination of readings."""

    claim: Claim
    #: Names of those readings that are not defaults.
    readings: list[str]


@dataclass(frozen=True)
class Row:
    """A statement with its links."""

    statement: Statement
    anchor: str
    #: Anchor of the statements with its origin and outcome; again, only on the first of them.
    cell: str
    first_of: str
    #: Anchor of its figure; empty if no figure of the page shows it.
    figure: str
    scenarios: list[ScenarioLink]
    under: list[Under]
    #: Under which readings it is reproduced, if under some.
    which: str
    #: The mutants under which its rule fails.
    falls: list[str]

    @property
    def claim(self) -> Claim:
        """The verdict under the default readings."""
        return self.statement.claim

    @property
    def mark(self) -> str:
        """Class of its outcome."""
        if self.statement.outcome == "under no reading" and self.statement.best == "direction":
            return "direction"
        return OUTCOME_NAMES[self.statement.outcome][1]

    @property
    def word(self) -> str:
        """Its outcome in a word or two."""
        if self.mark == "some":
            return f"under {self.statement.share}"
        return self.mark.replace("-", " ")


@dataclass(frozen=True)
class Group:
    """The statements of a paper with the same origin."""

    of: Of
    heading: str
    #: Heading of the column of printed values.
    printed: str
    rows: list[Row]


@dataclass(frozen=True)
class Open:
    """A reading, and how the rows that were judged under it came out."""

    ambiguity: Ambiguity
    reading: Reading
    reproduced: int
    rows: int


@dataclass(frozen=True)
class FigureView:
    """A figure with its links."""

    illustration: Illustration
    anchor: str
    rows: list[Row]
    scenarios: list[ScenarioLink]
    #: Shell commands that repeat its runs.
    commands: str


class PaperView:
    """A paper as shown in the page."""

    def __init__(self, report: PaperReport) -> None:
        self.report = report
        self.name = report.name
        self._figures = {
            illustration.id or f"{number}": illustration
            for number, illustration in enumerate(report.findings.figures, 1)
        }
        #: Names of the readings that are not defaults.
        self._names = {
            one.id: one.name for each in report.ambiguities for one in each.readings if one is not each.default
        }
        self.groups = [group for of in OF if (group := self._group(of)).rows]
        self.figures = [self._figure(name, illustration) for name, illustration in self._figures.items()]
        self.schemes = [(_anchor(self.name, "scheme", scheme.id), scheme) for scheme in report.findings.schemes]
        self.tables = [(f"{self.name}.table.{number}", table) for number, table in enumerate(report.findings.tables, 1)]
        self.files = sum(map(len, report.scenarios.values()))
        #: Text of every scenario file, as JSON for the page's script.
        self.scenarios_json = json.dumps(report.scenarios, ensure_ascii=False, separators=(",", ":"))

    @property
    def cells(self) -> dict[Of, list[Cell]]:
        """One cell per origin and outcome."""
        return {
            of: [Cell(of, outcome, count, self._cell(of, outcome)) for outcome, count in counts.items()]
            for of, counts in self.report.outcomes().items()
        }

    @property
    def sentence(self) -> str:
        """Summarize the outcomes of the paper's own statements."""
        return _sentence(self.report.outcomes()["paper"])

    @property
    def ambiguities(self) -> list[list[Open]]:
        """The readings of each ambiguity."""
        claims = [claim for claim in self.report.claims if claim.of == "paper"]
        found = []
        for each in self.report.ambiguities:
            of = [(one, [claim for claim in claims if one.id in claim.readings]) for one in each.readings]
            found.append([
                Open(each, one, sum(claim.verdict == "reproduced" for claim in own), len(own)) for one, own in of
            ])  # fmt: skip
        return found

    def _cell(self, of: Of, outcome: Outcome) -> str:
        return f"{self.name}.{of}.{OUTCOME_NAMES[outcome][0]}"

    def _group(self, of: Of) -> Group:
        own = [statement for statement in self.report.statements if statement.claim.of == of]
        met: set[Outcome] = set()
        rows = []
        for statement in sorted(own, key=lambda one: OUTCOMES.index(one.outcome)):
            claim, cell = statement.claim, self._cell(of, statement.outcome)
            rules = self.report.rules
            rows.append(
                Row(
                    statement,
                    _anchor(self.name, "claim", claim.id),
                    cell,
                    "" if statement.outcome in met else cell,
                    _anchor(self.name, "figure", claim.figure) if claim.figure in self._figures else "",
                    self._links(claim.scenarios),
                    [
                        Under(each, [self._names[name] for name in each.readings if name in self._names])
                        for each in statement.claims
                    ],
                    statement.which(self.report.ambiguities),
                    [rules.mutants[name] for name in rules.falls.get(claim.id, [])],
                )
            )
            met.add(statement.outcome)
        printed = [row.claim.printed is not None for row in rows]
        heading = "Printed" if all(printed) else "Printed, or criterion (ours)" if any(printed) else "Criterion (ours)"
        return Group(of, OF[of], heading, rows)

    def _links(self, names: Sequence[str]) -> list[ScenarioLink]:
        files = self.report.scenarios
        return [ScenarioLink(name, len(files[name])) for name in names if name in files]

    def _figure(self, name: str, illustration: Illustration) -> FigureView:
        anchor = _anchor(self.name, "figure", name)
        rows = [row for group in self.groups for row in group.rows if row.figure == anchor]
        return FigureView(
            illustration, anchor, rows, self._links(illustration.scenarios), self._commands(illustration.scenarios)
        )

    def _commands(self, names: Sequence[str]) -> str:
        """Return the commands that repeat these runs; empty without scenarios."""
        known = [name for name in names if name in self.report.scenarios]
        if not known:
            return ""
        # Scenarios that only a recorded claim has were run with `--full`.
        now = {name for claim in self.report.claims if not claim.recorded for name in claim.scenarios}
        later = {name for claim in self.report.claims if claim.recorded for name in claim.scenarios}
        full = " --full" if set(known) & (later - now) else ""
        folder = f"scenarios/{self.name}"
        runs = [f"selfclock run {folder}/{stem}.toml" for name in known for stem in self._stems(name)]
        if len(runs) > 2 * MOST_NAMES:
            stems = " ".join(contracted([stem for name in known for stem in self._stems(name)]))
            runs = [f"for name in {stems}; do", f"  selfclock run {folder}/$name.toml", "done"]
        return "\n".join([f"selfclock reproduce {self.name}{full} --scenarios scenarios", *runs])

    def _stems(self, name: str) -> list[str]:
        return list(self.report.scenarios[name])


def papers_page(reports: Sequence[PaperReport], files: Mapping[str, str] | None = None) -> Page:
    """Return the report of reproduced papers."""
    text = render("reproduce.html.j2", rows_script=script("rows.js"), files=files or {}, **_content(reports))
    figures = {
        f"{report.name}-{illustration.id or number}": illustration.figure
        for report in reports
        for number, illustration in enumerate(report.findings.figures, 1)
    }
    return Page(text, figures)


def _sentence(counts: Mapping[Outcome, int], of: str = "") -> str:
    """Summarize how many statements are reproduced under how many readings."""
    every, some, none = counts.values()
    return (
        f"{every + some + none:,} statements{of}: {every:,} reproduced under every reading of the text, {some:,} "
        f"under some, {none:,} under none."
    )


def _content(reports: Sequence[PaperReport]) -> dict[str, Any]:
    """Return the input of the page's template."""
    views = [PaperView(report) for report in reports]
    outcomes = [report.outcomes() for report in reports]
    sums = {of: {outcome: sum(counts[of][outcome] for counts in outcomes) for outcome in OUTCOMES} for of in OF}
    of = "" if len(reports) == 1 else f" of {len(reports)} papers"
    return {
        "papers": views,
        "of": OF,
        "outcomes": OUTCOME_NAMES,
        "sums": sums,
        "sentence": _sentence(sums["paper"], of),
        "most_names": MOST_NAMES,
        "choices_heading": CHOICES_HEADING,
    }


def _anchor(paper: str, kind: str, name: str) -> str:
    """Return an identifier that needs no escaping in an address."""
    return f"{paper}.{kind}.{quote(name, safe='')}".replace("%", "_")


def contracted(stems: Sequence[str]) -> list[str]:
    """Write stems that differ in a final number in the shell's brace expansion: run-1 run-2 run-3 as run-{1..3}."""
    found: list[str] = []
    begun: tuple[str, int, int] | None = None

    def end() -> None:
        if begun is not None:
            head, first, last = begun
            found.append(f"{head}{first}" if first == last else f"{head}{{{first}..{last}}}")

    for stem in stems:
        parts = re.fullmatch(r"(.*?)(0|[1-9]\d*)", stem)
        if parts is not None and begun is not None and begun[0] == parts[1] and begun[2] + 1 == int(parts[2]):
            begun = (begun[0], begun[1], begun[2] + 1)
            continue
        end()
        begun = None
        if parts is None:
            found.append(stem)
        else:
            begun = (parts[1], int(parts[2]), int(parts[2]))
    end()
    return found
