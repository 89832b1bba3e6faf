"""`selfclock evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock import formatting
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import note, print_document, print_written
from selfclock.cli.options import (
    algorithm_option,
    complete_algorithm,
    complete_algorithms,
    completing,
    destination,
    format_option,
    json_or_files_option,
    listed,
    out_option,
    threads_option,
)
from selfclock.custom import load_algorithms
from selfclock.documents import scorecard_document, suite_document, write_document
from selfclock.evaluate import BASELINES, Scorecard, evaluate
from selfclock.evaluate.rows import ROWS
from selfclock.evaluate.suites import SUITES, run_suite
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_scorecard
from selfclock.save import file_stem, identity, parse_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock evaluate cubic",
    "selfclock evaluate vegas --against reno,cubic --rows S1,S5",
    "selfclock evaluate my-aimd --algorithm my_aimd.py",
    "selfclock evaluate bbr3 --suite bbr",
)


@click.argument(
    "name",
    metavar="ALGORITHM",
    help="For example cubic, packet-pair or cubic+hystart++.",
    shell_complete=complete_algorithm,
)
@click.option(
    "--against",
    multiple=True,
    metavar="ALGORITHM,...",
    help=f"Baselines, comma-separated or repeated.  [default: {','.join(BASELINES)}]",
    shell_complete=complete_algorithms,
)
@click.option(
    "--rows",
    multiple=True,
    metavar="ROW,...",
    help="Rows to run.  [default: all]",
    shell_complete=completing(lambda: [row.id for row in ROWS], several=True),
)
@click.option(
    "--suite",
    type=click.Choice(list(SUITES)),
    help="Instead of the scorecard, a published list of tests: bbr, the examples of draft-ietf-ccwg-bbr. "
    "--rows are then its tests.",
)
@threads_option
@out_option
@format_option
@algorithm_option
@json_or_files_option
def command(
    name: str,
    against: Sequence[str],
    rows: Sequence[str],
    suite: str | None,
    threads: int | None,
    out: Path | None,
    formats: str,
    algorithm_files: Sequence[Path],
    as_json: bool,
) -> None:
    """A whole scorecard takes about half a minute on two cores."""
    kinds = parse_formats(formats)
    load_algorithms(*algorithm_files)
    if suite is not None:
        _suite(name, suite, listed(rows), out, as_json=as_json, beside=bool(against))
        return
    default = Path("results") / file_stem(f"evaluate-{name}")
    directory = destination(out, default, only_printed=as_json and not kinds)
    with progress_bar(f"evaluate {name}") as progress:
        card = evaluate(
            name, listed(against) if against else BASELINES, rows=listed(rows), threads=threads, progress=progress
        )
    if directory is None:
        print_document(scorecard_document(card).made())
        return
    note(replaced(directory, "scorecard.json", identity(card.lab.scenarios)))
    written = publish_scorecard(card, directory, formats=kinds)
    if as_json:
        print_written(directory / "scorecard.json")
        return
    sys.stdout.write(f"{card.algorithm}: the thresholds are this project's, RFC 9743 sets none\n\n")
    print_table(_columns(card))
    sys.stdout.write(f"\nReport: {written}\n")


def _suite(name: str, suite: str, tests: Sequence[str], out: Path | None, *, as_json: bool, beside: bool) -> None:
    """Run a suite of tests, and print and write its results."""
    if beside:
        raise click.UsageError("--against: a suite has no baselines; leave it out, or the suite")
    directory = destination(out, Path("results") / file_stem(f"{suite}-suite-{name}"), only_printed=as_json)
    with progress_bar(f"evaluate {name}") as progress:
        result = run_suite(SUITES[suite], name, tests=tests, progress=progress)
    document = suite_document(result)
    if directory is None:
        print_document(document.made())
        return
    note(replaced(directory, document.name, document.run))
    directory.mkdir(parents=True, exist_ok=True)
    write_document(directory, document)
    if as_json:
        print_written(directory / document.name)
        return
    sys.stdout.write(f"{result.algorithm}: {result.suite.title}\n\n")
    print_table(
        [
            Column("id", [test.id for test, _ in result.outcomes], "word"),
            Column("test", [test.title for test, _ in result.outcomes], "text"),
            Column("measured", [outcome.measured for _, outcome in result.outcomes], "text"),
            Column("verdict", [outcome.verdict for _, outcome in result.outcomes], "word"),
        ]
    )
    sys.stdout.write(f"\nResults: {directory / document.name}\n")


def _columns(card: Scorecard) -> list[Column]:
    """Return the columns of the table: a row for each row of the scorecard."""
    columns = [
        Column("row", [line.row.id for line in card.lines], "word"),
        Column("test", [line.row.title.split(":")[0] for line in card.lines], "text"),
        Column("value", [formatting.number(line.found.value, line.row.unit) for line in card.lines]),
    ]
    for baseline in card.baselines:
        found = (line.baselines.get(baseline.label) for line in card.lines)
        columns.append(
            Column(baseline.label, ["-" if each is None else formatting.number(each.value) for each in found])
        )
    return [*columns, Column("verdict", [line.found.verdict for line in card.lines], "word")]
