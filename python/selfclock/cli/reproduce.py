"""`selfclock reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock.claims import OF, OUTCOMES
from selfclock.cli.layout import Column, console, print_table
from selfclock.cli.messages import FAILED, fail, print_document, print_json, print_written
from selfclock.cli.options import (
    PATH,
    completing,
    destination,
    format_option,
    json_or_files_option,
    out_option,
    threads_option,
)
from selfclock.documents import papers_document
from selfclock.report.publish import publish_papers
from selfclock.reproduce import PAPERS, find, paper_scenarios, reproduce
from selfclock.save import check_writable, parse_formats
from selfclock.scenario_files import write_scenarios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.reproduce import PaperReport

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock reproduce packet-pair",
    "selfclock reproduce --full --out results/everything",
    "selfclock reproduce swift-start --scenarios scenarios",
)


@click.argument(
    "papers",
    nargs=-1,
    metavar="[PAPER]...",
    help="Papers.  [default: all]",
    shell_complete=completing(lambda: PAPERS),
)
@click.option(
    "--full", is_flag=True, help="Also run the experiments that take minutes; otherwise recorded values are shown."
)
@click.option(
    "--scenarios",
    type=PATH,
    metavar="DIRECTORY",
    help="Run nothing; write every scenario as DIRECTORY/PAPER/NAME.toml for selfclock run.",
)
@threads_option
@out_option
@format_option
@json_or_files_option
def command(
    papers: Sequence[str],
    full: bool,
    scenarios: Path | None,
    threads: int | None,
    out: Path | None,
    formats: str,
    as_json: bool,
) -> None:
    """The exit status is 1 if a verdict differs from the one on record."""
    kinds = parse_formats(formats)
    chosen = find(papers)
    if scenarios is not None:
        check_writable(scenarios)
        _write_scenarios(chosen, scenarios, full=full, as_json=as_json)
        return
    directory = destination(out, Path("results/reproduction"), only_printed=as_json and not kinds)
    reports = reproduce(chosen, full=full, threads=threads)
    if directory is None:
        print_document(papers_document(reports).made())
    else:
        written = publish_papers(reports, directory, formats=kinds)
        if as_json:
            print_written(directory / "claims.json")
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
    written = {}
    for paper in papers:
        written[paper] = write_scenarios(paper_scenarios(paper, full=full), directory / paper)
    if as_json:
        print_json({"scenarios": [f"{paper}/{name}" for paper, names in written.items() for name in names]})
    else:
        sys.stdout.writelines(f"{directory / paper}: {len(names):,} scenarios\n" for paper, names in written.items())


def print_reports(reports: list[PaperReport]) -> None:
    """Print the statements of each paper, and finally how many are reproduced under how many readings."""
    screen = console()
    for report in reports:
        statements = report.statements
        claims = [statement.claim for statement in statements]
        screen.print(f"{report.name}\n", style="bold", highlight=False)
        print_table(
            [
                # Whole: it identifies a claim.
                Column("claim", [claim.id for claim in claims], "word"),
                Column("printed", [claim.printed_text or "-" for claim in claims], "text"),
                Column("measured", [claim.measured_text for claim in claims], "text"),
                Column("verdict", [f"{claim.verdict}{' *' if claim.recorded else ''}" for claim in claims], "word"),
                # How many combinations of readings reproduce it.
                Column("of readings", [statement.share for statement in statements], "number"),
            ]
        )
        sys.stdout.write("\n")
    rows = [
        [report.name, of, *(str(count or "-") for count in counts.values()), str(sum(counts.values()))]
        for report in reports
        for of, counts in report.outcomes().items()
        if sum(counts.values())
    ]
    # Readings under which a statement is reproduced.
    headings = ["paper", "of", *(outcome.removeprefix("under ").split()[0] for outcome in OUTCOMES), "all"]
    print_table(
        [
            Column(heading, column, "name" if number < 2 else "number")
            for number, (heading, column) in enumerate(zip(headings, zip(*rows, strict=True), strict=True))
        ]
    )
    sys.stdout.writelines(f"\n{of:6}  {text}" for of, text in OF.items())
    sys.stdout.write("\n")
    if any(claim.recorded for report in reports for claim in report.claims):
        sys.stdout.write("\n* recorded, not run now: selfclock reproduce --full runs them\n")
