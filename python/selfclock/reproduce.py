"""Reproducing papers: claims, verdicts, figures."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from selfclock.progress import progress_bar
from selfclock.studies import run_studies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from selfclock.studies import Study

Verdict = Literal["reproduced", "direction", "not reproduced"]

#: Name on the command line and package of every paper.
PAPERS = {
    "packet-pair": "selfclock.papers.packet_pair",
    "adaptive-layered": "selfclock.papers.adaptive_layered",
    "ficcrd": "selfclock.papers.ficcrd",
    "inline-measurement": "selfclock.papers.inline_measurement",
    "swift-start": "selfclock.papers.swift_start",
}


class ClaimRow(TypedDict):
    """A claim as `selfclock reproduce --json` prints it."""

    paper: str
    id: str
    source: str
    says: str
    printed: float | str
    measured: float | str | None
    verdict: Verdict
    note: str


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what was measured."""

    paper: str
    id: str
    source: str
    says: str
    printed: float | str
    measured: float | str | None
    verdict: Verdict
    note: str
    unit: str = ""

    def row(self) -> ClaimRow:
        """Return the claim as `--json` prints it."""
        return ClaimRow(
            paper=self.paper,
            id=self.id,
            source=self.source,
            says=self.says,
            printed=self.printed,
            measured=self.measured,
            verdict=self.verdict,
            note=self.note,
        )

    @property
    def printed_text(self) -> str:
        """The printed figure with its unit."""
        return self._text(self.printed)

    @property
    def measured_text(self) -> str:
        """The measured figure with its unit."""
        return "none" if self.measured is None else self._text(self.measured)

    def _text(self, value: float | str) -> str:
        number = value if isinstance(value, str) else f"{value:g}"
        return f"{number} {self.unit}".rstrip()


@dataclass(frozen=True)
class Illustration:
    """A figure and what it shows."""

    title: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Grid:
    """A table of texts."""

    title: str
    caption: str
    columns: list[str]
    rows: list[list[str]]
    #: Columns of text, from the left; the others are numbers.
    texts: int = 1000


@dataclass(frozen=True)
class Findings:
    """What a paper's package returns."""

    claims: list[Claim]
    figures: list[Illustration]
    tables: list[Grid]


class PaperModule(Protocol):
    """What a paper's package has."""

    TITLE: str
    REFERENCE: str

    def study(self) -> Study:
        """Return every experiment."""


@dataclass(frozen=True)
class PaperReport:
    """A reproduced paper."""

    name: str
    title: str
    reference: str
    #: README of the paper's package: what is ambiguous, and how it was read. Markdown.
    readings: str
    findings: Findings
    #: Verdicts on record.
    recorded: dict[str, Verdict] = field(repr=False)
    #: How long its runs took together.
    cpu_s: float

    @property
    def claims(self) -> list[Claim]:
        """The claims with their verdicts."""
        return self.findings.claims

    def differences(self) -> list[str]:
        """Say where a verdict is not the one on record."""
        now: dict[str, Verdict] = {claim.id: claim.verdict for claim in self.claims}
        return [
            f"{self.name} {claim}: {now.get(claim, 'no such claim')}; on record: {self.recorded.get(claim, 'none')}"
            for claim in sorted(now.keys() | self.recorded.keys())
            if now.get(claim) != self.recorded.get(claim)
        ]


class UnknownPaperError(Exception):
    """No paper has this name."""


def find(names: list[str]) -> list[str]:
    """Return the named papers, all if none is named; underscores are as good as hyphens."""
    names = [name.replace("_", "-") for name in names]
    for name in names:
        if name not in PAPERS:
            raise UnknownPaperError(f"no paper is named {name!r}; there are {', '.join(PAPERS)}")
    return list(dict.fromkeys(names)) or list(PAPERS)


def reproduce(names: Sequence[str], found: Callable[[Findings], object] = lambda _: None) -> list[PaperReport]:
    """Run the experiments of papers, all of them in one pool.

    `found` is called with what was found in one of them, beside the runs of the others.
    """
    papers: list[PaperModule] = [importlib.import_module(PAPERS[name]) for name in names]
    with progress_bar("reproduce") as progress:
        studied = run_studies([paper.study() for paper in papers], progress, found)
    return [_report(name, paper, *own) for name, paper, own in zip(names, papers, studied, strict=True)]


def _report(name: str, paper: PaperModule, findings: Findings, cpu_s: float) -> PaperReport:
    folder = resources.files(PAPERS[name])
    return PaperReport(
        name=name,
        title=paper.TITLE,
        reference=paper.REFERENCE,
        readings=(folder / "README.md").read_text(encoding="utf-8"),
        findings=findings,
        recorded=json.loads((folder / "verdicts.json").read_text(encoding="utf-8")),
        cpu_s=cpu_s,
    )


def within(measured: float, printed: float, tolerance: float) -> bool:
    """Tell whether two figures agree; the tolerance itself still does."""
    return abs(measured - printed) <= tolerance * (1 + 1e-9)
