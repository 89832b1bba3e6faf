"""`selfclock evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from selfclock import cells
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import note, print_document, print_written
from selfclock.cli.options import (
    AlgorithmFiles,
    Formats,
    JsonOrFiles,
    Out,
    Threads,
    complete_algorithm,
    complete_algorithms,
    completed_list,
    destination,
    listed,
)
from selfclock.documents import scorecard_document
from selfclock.evaluate import BASELINES, Scorecard, evaluate
from selfclock.evaluate.rows import ROWS
from selfclock.own import load_algorithms
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_scorecard
from selfclock.save import file_stem, identity, parse_formats

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock evaluate cubic",
    "selfclock evaluate vegas --against reno,cubic --rows S1,S5",
    "selfclock evaluate my-aimd --algorithm my_aimd.py",
)


def _complete_row(incomplete: str) -> list[str]:
    return completed_list((row.id for row in ROWS), incomplete)


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM",
            help="Such as cubic, packet-pair or cubic+hystart++.",
            show_default=False,
            autocompletion=complete_algorithm,
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALGORITHM,...",
            help="Baselines, with commas or one at a time.  [default: cubic,bbr3,reno]",
            autocompletion=complete_algorithms,
        ),
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            "--rows", metavar="ROW,...", help="Only these rows.  [default: all of them]", autocompletion=_complete_row
        ),
    ] = None,
    threads: Threads = None,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: JsonOrFiles = False,
) -> None:
    """A whole scorecard takes about half a minute on two cores."""
    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    default = Path("results") / file_stem(f"evaluate-{name}")
    directory = destination(out, default, only_printed=as_json and not kinds)
    with progress_bar(f"evaluate {name}") as progress:
        card = evaluate(
            name, listed(against) if against else BASELINES, rows=listed(rows or []), threads=threads, progress=progress
        )
    if directory is None:
        print_document(scorecard_document(card).made())
        return
    note(replaced(directory, "scorecard.json", identity(card.lab.scenarios)))
    written = publish_scorecard(card, directory, formats=kinds)
    if as_json:
        print_written(directory / "scorecard.json")
        return
    sys.stdout.write(f"{card.algorithm}: the marks are this project's, RFC 9743 sets none\n\n")
    print_table(_columns(card))
    sys.stdout.write(f"\nReport: {written}\n")


def _columns(card: Scorecard) -> list[Column]:
    """Return the columns of the table: a row for each row of the scorecard."""
    columns = [
        Column("row", [line.row.id for line in card.lines], "word"),
        Column("test", [line.row.title.split(":")[0] for line in card.lines], "text"),
        Column("value", [cells.number(line.found.value, line.row.unit) for line in card.lines]),
    ]
    for baseline in card.baselines:
        found = (line.baselines.get(baseline.label) for line in card.lines)
        columns.append(Column(baseline.label, ["-" if each is None else cells.number(each.value) for each in found]))
    return [*columns, Column("verdict", [line.found.verdict for line in card.lines], "word")]
