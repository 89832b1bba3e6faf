"""`selfclock reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfclock.claims import OF, VERDICTS
from selfclock.cli import tables
from selfclock.cli.messages import FAILED, fail, print_document, print_json
from selfclock.cli.options import Formats, Json, Out, completed_from
from selfclock.report.publish import publish_papers
from selfclock.reproduce import PAPERS, find, paper_scenarios, reproduce
from selfclock.save import check_writable, parse_formats
from selfclock.scenario_files import write_scenarios

if TYPE_CHECKING:
    from selfclock.reproduce import PaperReport

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock reproduce packet-pair",
    "selfclock reproduce --full --out results/everything",
    "selfclock reproduce swift-start --scenarios scenarios",
)


def _complete(incomplete: str) -> list[str]:
    return completed_from(PAPERS, incomplete)


def command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(help="Papers; all if none is named.", show_default=False, autocompletion=_complete),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run the experiments that take minutes, too; otherwise they are on record.")
    ] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Run nothing: write every scenario as DIRECTORY/PAPER/NAME.toml, for selfclock run.",
            show_default=False,
        ),
    ] = None,
    out: Out = None,
    formats: Formats = "",
    as_json: Json = False,
) -> None:
    """Exit status 1 if a verdict is not the one on record."""
    kinds = parse_formats(formats)
    chosen = find(papers or [])
    if scenarios is not None:
        _write_scenarios(chosen, scenarios, full=full, as_json=as_json)
        return
    directory = out or Path("results/reproduction")
    check_writable(directory)
    reports = reproduce(chosen, full=full)
    written = publish_papers(reports, directory, formats=kinds)
    if as_json:
        print_document(directory / "claims.json")
    else:
        print_reports(reports)
        sys.stdout.write(f"\nReport: {written}\n")
    changed = [line for report in reports for line in report.differences()]
    if changed:
        fail("verdicts differ from those on record:\n  " + "\n  ".join(changed), FAILED)
    faults = [line for report in reports for line in report.faults()]
    if faults:
        fail("claims are incomplete:\n  " + "\n  ".join(faults), FAILED)


def _write_scenarios(papers: list[str], directory: Path, *, full: bool, as_json: bool) -> None:
    check_writable(directory)
    written = {}
    for paper in papers:
        written[paper] = write_scenarios(paper_scenarios(paper, full=full), directory / paper)
    if as_json:
        print_json({"scenarios": [f"{paper}/{name}" for paper, names in written.items() for name in names]})
    else:
        sys.stdout.writelines(f"{directory / paper}: {len(names):,} scenarios\n" for paper, names in written.items())


def print_reports(reports: list[PaperReport]) -> None:
    """Print the claims of each paper, and at the end how many have which verdict."""
    console = tables.console()
    for report in reports:
        table = tables.table("claim", "printed", "measured", "verdict", left=4)
        for column in (0, 3):
            table.columns[column].no_wrap = True
        for claim in report.claims:
            verdict = f"{claim.verdict}{' *' if claim.recorded else ''}"
            table.add_row(claim.id, claim.printed_text or "-", claim.measured_text, verdict)
        console.print(f"{report.name}\n", style="bold", highlight=False)
        console.print(table)
        sys.stdout.write("\n")
    table = tables.table("paper", "of", *VERDICTS, "all", left=2)
    for report in reports:
        for of, counts in report.summary()["of"].items():
            if total := sum(counts.values()):
                table.add_row(report.name, of, *(str(count or "-") for count in counts.values()), str(total))
    console.print(table)
    sys.stdout.writelines(f"\n{of:6}  {text}" for of, text in OF.items())
    sys.stdout.write("\n")
    if any(claim.recorded for report in reports for claim in report.claims):
        sys.stdout.write("\n* recorded, not run now: selfclock reproduce --full runs them\n")
