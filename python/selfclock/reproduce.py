"""Reproducing papers: claims, verdicts, figures."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Protocol, TypedDict

from selfclock.claims import OF, OUTCOMES, VERDICTS, reading_faults, statements
from selfclock.errors import BadInputError
from selfclock.names import unknown
from selfclock.paper_runs import run_studies
from selfclock.papers.mutants import Rules
from selfclock.progress import progress_bar
from selfclock.scenario_files import ScenarioFiles, scenario_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Ambiguity, Claim, Findings, Of, Outcome, Statement, Verdict
    from selfclock.paper_runs import Study

#: Heading, in the README of a paper's package, of the choices influenced by its results.
CHOICES_HEADING = "Choices made after a result was seen"

#: Heading of its table of values under every combination of readings, which `make record` writes.
MEASURED_HEADING = "Measured under each combination of readings"

#: Heading of its summary, which opens the paper on the page.
SHORT_HEADING = "In short"

#: Command-line name and package of every paper.
PAPERS = {
    "packet-pair": "selfclock.papers.packet_pair",
    "adaptive-layered": "selfclock.papers.adaptive_layered",
    "ficcrd": "selfclock.papers.ficcrd",
    "inline-measurement": "selfclock.papers.inline_measurement",
    "swift-start": "selfclock.papers.swift_start",
}


class PaperSummary(TypedDict):
    """Numbers of a paper's statements and claims, as `selfclock reproduce --json` prints it."""

    paper: str
    #: A claim is a statement under one combination of readings.
    claims: int
    #: The paper's own statements that are reproduced under every, under some or under no reading.
    statements: dict[Outcome, int]
    #: How many of them are from recorded runs.
    recorded: int
    #: Claims with each verdict.
    of: dict[Of, dict[Verdict, int]]


class PaperModule(Protocol):
    """The contents of a paper's package."""

    TITLE: str
    REFERENCE: str
    AMBIGUITIES: Sequence[Ambiguity]

    def study(self, *, full: bool = False) -> Study:
        """Return every experiment; with `full` also those that take minutes."""


@dataclass(frozen=True)
class PaperReport:
    """A reproduced paper."""

    name: str
    title: str
    reference: str
    #: README of the paper's package: ambiguities and how they were resolved. Markdown.
    readings: str
    findings: Findings
    #: Verdicts on record.
    recorded: dict[str, Verdict] = field(repr=False)
    #: Total CPU time of its runs.
    cpu_s: float
    #: Every run as a scenario file, including those of recorded claims.
    scenarios: ScenarioFiles = field(default_factory=dict, repr=False)
    #: Where its text can be read in several ways.
    ambiguities: Sequence[Ambiguity] = ()
    #: Which of its rules fail under which mutant, on record.
    rules: Rules = field(default_factory=Rules, repr=False)

    @property
    def claims(self) -> list[Claim]:
        """The claims with their verdicts: a statement has one under each combination of readings."""
        return self.findings.claims

    @property
    def statements(self) -> list[Statement]:
        """The claims by statement."""
        return statements(self.claims, self.ambiguities)

    @property
    def in_short(self) -> str:
        """The README's summary of what came out; empty if there is none."""
        return section(self.readings, SHORT_HEADING)

    @property
    def rest(self) -> str:
        """The README without that summary."""
        return self.readings.replace(f"### {SHORT_HEADING}\n\n{self.in_short}\n", "", 1)

    @property
    def choices(self) -> str:
        """The README's list of choices made after a result was seen; empty if there is none."""
        return section(self.readings, CHOICES_HEADING)

    def outcomes(self) -> dict[Of, dict[Outcome, int]]:
        """Count the statements by source and by outcome."""
        counts: dict[Of, dict[Outcome, int]] = {of: dict.fromkeys(OUTCOMES, 0) for of in OF}
        for statement in self.statements:
            counts[statement.claim.of][statement.outcome] += 1
        return counts

    def summary(self) -> PaperSummary:
        """Count the paper's statements by outcome, and the claims by source and by verdict."""
        counts: dict[Of, dict[Verdict, int]] = {of: dict.fromkeys(VERDICTS, 0) for of in OF}
        for claim in self.claims:
            counts[claim.of][claim.verdict] += 1
        made_earlier = sum(claim.recorded for claim in self.claims)
        return PaperSummary(
            paper=self.name,
            claims=len(self.claims),
            statements=self.outcomes()["paper"],
            recorded=made_earlier,
            of=counts,
        )

    def faults(self) -> list[str]:
        """List the claims that lack a criterion, a variant or a verdict, or name what does not exist."""
        figures = {illustration.id for illustration in self.findings.figures}
        found = [f"{self.name} {fault}" for fault in reading_faults(self.claims, self.ambiguities)]
        for claim in self.claims:
            missing = [name for name in ("criterion", "variant") if not getattr(claim, name).strip()]
            found += [f"{self.name} {claim.key}: no {name}" for name in missing]
            if claim.figure and claim.figure not in figures:
                found.append(f"{self.name} {claim.key}: no figure {claim.figure!r}")
            found += [
                f"{self.name} {claim.key}: no scenario {name!r}"
                for name in claim.scenarios
                if name not in self.scenarios
            ]
        for illustration in self.findings.figures:
            if not illustration.id:
                found.append(f"{self.name}: figure {illustration.title!r} has no id")
            found += [
                f"{self.name} {illustration.id}: no scenario {name!r}"
                for name in illustration.scenarios
                if name not in self.scenarios
            ]
        ids = [illustration.id for illustration in self.findings.figures if illustration.id]
        return found + [
            f"{self.name}: two figures {name!r}" for name in sorted({one for one in ids if ids.count(one) > 1})
        ]

    def differences(self) -> list[str]:
        """Report verdicts that differ from the recorded ones."""
        now: dict[str, Verdict] = {claim.key: claim.verdict for claim in self.claims}
        return [
            f"{self.name} {claim}: {now.get(claim, 'no such claim')}; on record: {self.recorded.get(claim, 'none')}"
            for claim in sorted(now.keys() | self.recorded.keys())
            if now.get(claim) != self.recorded.get(claim)
        ]


class UnknownPaperError(BadInputError):
    """No paper has this name."""


def find(names: Sequence[str]) -> list[str]:
    """Return the named papers, or all if none is named; underscores may replace hyphens."""
    names = [name.replace("_", "-").lower() for name in names]
    for name in names:
        if name not in PAPERS:
            raise UnknownPaperError(unknown("paper", name, list(PAPERS)))
    return list(dict.fromkeys(names)) or list(PAPERS)


def section(markdown: str, heading: str) -> str:
    """Return the text below a heading, up to the next one of the same or a higher level; empty if there is none."""
    begin = re.search(rf"^(#+)[ \t]+{re.escape(heading)}[ \t]*$", markdown, re.MULTILINE)
    if begin is None:
        return ""
    rest = markdown[begin.end() :]
    end = re.search(rf"^#{{1,{len(begin[1])}}}[ \t]", rest, re.MULTILINE)
    return rest[: end.start() if end else None].strip()


def paper_scenarios(paper: str, *, full: bool = False) -> ScenarioFiles:
    """Return the runs of a paper as scenario files; with `full` also those that take minutes."""
    return scenario_files(_module(paper).study(full=full))


def reproduce(names: Sequence[str], *, full: bool = False, threads: int | None = None) -> list[PaperReport]:
    """Run the experiments of papers in one pool, on all cores or on this many threads.

    With `full` the experiments that take minutes run, too; otherwise their claims are the recorded
    ones.
    """
    papers = [_module(name) for name in names]
    with progress_bar("reproduce") as progress:
        studies = [paper.study(full=full) for paper in papers]
        studied = run_studies(studies, progress, threads)
    every = zip(names, papers, studies, studied, strict=True)
    return [_report(name, paper, study, *own) for name, paper, study, own in every]


def _module(paper: str) -> PaperModule:
    module: PaperModule = importlib.import_module(PAPERS[paper])
    return module


def _report(name: str, paper: PaperModule, study: Study, findings: Findings, cpu_s: float) -> PaperReport:
    folder = resources.files(PAPERS[name])
    # Recorded claims name runs that were not made now.
    every = paper.study(full=True) if any(claim.recorded for claim in findings.claims) else study
    return PaperReport(
        name=name,
        title=paper.TITLE,
        reference=paper.REFERENCE,
        readings=(folder / "README.md").read_text(encoding="utf-8"),
        findings=findings,
        recorded=json.loads((folder / "verdicts.json").read_text(encoding="utf-8")),
        cpu_s=cpu_s,
        scenarios=scenario_files(every),
        ambiguities=paper.AMBIGUITIES,
        rules=Rules.recorded(PAPERS[name]),
    )
