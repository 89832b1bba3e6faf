"""Contents of the page of reproduced papers: rows, links, and the commands that repeat their runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from selfclock.claims import OF, VERDICTS
from selfclock.report.page import Page, render, script
from selfclock.reproduce import CHOICES_HEADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim, Of, Verdict
    from selfclock.page_parts import Illustration
    from selfclock.reproduce import PaperReport

#: Names shown in a row or a figure; the rest are folded.
MOST_NAMES = 3


@dataclass(frozen=True)
class Cell:
    """Claims of a paper with the same origin and verdict."""

    of: Of
    verdict: Verdict
    count: int
    #: Anchor in the page.
    anchor: str


@dataclass(frozen=True)
class ScenarioLink:
    """A scenario in the page."""

    name: str
    #: Number of its files: several if it has several seeds.
    files: int


@dataclass(frozen=True)
class Row:
    """A claim with its links."""

    claim: Claim
    anchor: str
    #: Identifier of the claims with its origin and verdict; only on the first of them.
    first_of: str
    #: Anchor of its figure; empty if no figure of the page shows it.
    figure: str
    scenarios: list[ScenarioLink]


@dataclass(frozen=True)
class Group:
    """The claims of a paper with the same origin."""

    of: Of
    heading: str
    #: Heading of the column of printed values.
    printed: str
    rows: list[Row]


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
        self.groups = [group for of in OF if (group := self._group(of)).rows]
        self.figures = [self._figure(name, illustration) for name, illustration in self._figures.items()]
        self.tables = [(f"{self.name}.table.{number}", table) for number, table in enumerate(report.findings.tables, 1)]
        self.files = sum(map(len, report.scenarios.values()))
        #: Text of every scenario file, as JSON for the page's script.
        self.scenarios_json = json.dumps(report.scenarios, ensure_ascii=False, separators=(",", ":"))

    @property
    def cells(self) -> dict[Of, list[Cell]]:
        """One cell per origin and verdict."""
        return {
            of: [Cell(of, verdict, count, self._cell(of, verdict)) for verdict, count in counts.items()]
            for of, counts in self.report.summary()["of"].items()
        }

    def _cell(self, of: Of, verdict: Verdict) -> str:
        return f"{self.name}.{of}.{verdict.replace(' ', '-')}"

    def _group(self, of: Of) -> Group:
        claims = [claim for claim in self.report.claims if claim.of == of]
        met: set[Verdict] = set()
        rows = []
        for claim in claims:
            rows.append(
                Row(
                    claim,
                    _anchor(self.name, "claim", claim.id),
                    "" if claim.verdict in met else self._cell(of, claim.verdict),
                    _anchor(self.name, "figure", claim.figure) if claim.figure in self._figures else "",
                    self._links(claim.scenarios),
                )
            )
            met.add(claim.verdict)
        printed = [claim.printed is not None for claim in claims]
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


def _sentence(sums: dict[Of, dict[Verdict, int]]) -> str:
    """Summarize the verdicts."""
    of = {verdict: sum(counts[verdict] for counts in sums.values()) for verdict in VERDICTS}
    return (
        f"Of {sum(of.values()):,} rows {of['reproduced']:,} are reproduced, {of['direction']:,} only in "
        f"direction, and {of['not reproduced']:,} are not."
    )


def _content(reports: Sequence[PaperReport]) -> dict[str, Any]:
    """Return the input of the page's template."""
    views = [PaperView(report) for report in reports]
    summaries = [report.summary()["of"] for report in reports]
    sums = {of: {verdict: sum(counts[of][verdict] for counts in summaries) for verdict in VERDICTS} for of in OF}
    return {
        "papers": views,
        "of": OF,
        "verdicts": VERDICTS,
        "sums": sums,
        "sentence": _sentence(sums),
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
