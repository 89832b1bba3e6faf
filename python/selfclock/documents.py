"""The JSON documents of results: totals and provenance."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import provenance
from selfclock.alike import unequal
from selfclock.save import digests, identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from selfclock.compare import Comparison
    from selfclock.evaluate import Scorecard
    from selfclock.evaluate.suites import SuiteResult
    from selfclock.reproduce import PaperReport
    from selfclock.result import Result


@dataclass(frozen=True)
class Document:
    """Results as JSON, and their provenance."""

    #: Name of its file.
    name: str
    content: Mapping[str, object]
    #: Digest of what was run.
    run: str
    #: Digests of the user-defined algorithms, by name.
    algorithms: Mapping[str, str]

    def made(self, files: Iterable[str] = ()) -> dict[str, object]:
        """Return the document with its provenance, as of now, together with these files."""
        return {**self.content, "made": provenance.made(self.run, self.algorithms, files)}


def write_document(aside: Path, document: Document, files: Iterable[str] = ()) -> None:
    """Write a document as the last file of its result; `files` are additional ones, written later."""
    written = {path.name for path in aside.iterdir()} | {document.name, *files}
    text = json.dumps(document.made(written), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (aside / document.name).write_text(text, encoding="utf-8")


def run_document(result: Result) -> Document:
    """Return the document of `selfclock run --json`."""
    scenarios = [result.scenario]
    content = {**result.summary, "notes": [*result.scenario.notes, *unequal(result)]}
    return Document("summary.json", content, identity(scenarios), digests(scenarios))


def comparison_document(comparison: Comparison) -> Document:
    """Return the document of `selfclock compare --json`."""
    content = {
        "path": comparison.path,
        "seeds": comparison.seeds,
        "confidence": comparison.confidence,
        "runs": comparison.measures,
        "estimates": comparison.estimates,
        "differences": comparison.differences,
        "notes": comparison.notes,
    }
    return Document("compare.json", content, identity(comparison.scenarios), digests(comparison.scenarios))


def scorecard_document(card: Scorecard) -> Document:
    """Return the document of `selfclock evaluate --json`."""
    scenarios = card.lab.scenarios
    # The rows make scenarios for the algorithm, with its partners: there is nothing to note.
    return Document("scorecard.json", {**card.document, "notes": []}, identity(scenarios), digests(scenarios))


def suite_document(result: SuiteResult) -> Document:
    """Return the document of `selfclock evaluate --suite`."""
    scenarios = result.scenarios
    return Document("suite.json", {**result.document, "notes": []}, identity(scenarios), digests(scenarios))


def papers_document(reports: list[PaperReport]) -> Document:
    """Return the document of `selfclock reproduce --json`."""
    claims = [claim.row() for report in reports for claim in report.claims]
    content = {
        "claims": claims,
        "statements": [statement.row() for report in reports for statement in report.statements],
        "readings": [each.row(report.name) for report in reports for each in report.ambiguities],
        "papers": [report.summary() for report in reports],
        "notes": [],
    }
    names = " ".join(report.name for report in reports)
    return Document("claims.json", content, f"{provenance.version_text()} {names}", {})
