"""`selfclock evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from selfclock import cells
from selfclock.cli import tables
from selfclock.cli.messages import note, print_document
from selfclock.cli.options import AlgorithmFiles, Formats, Json, Out, complete_algorithm, listed
from selfclock.evaluate import BASELINES, evaluate
from selfclock.own import load_algorithms
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_scorecard
from selfclock.save import check_writable, file_stem, identity, parse_formats

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock evaluate cubic",
    "selfclock evaluate vegas --against reno,cubic --rows S1,S5",
    "selfclock evaluate my-aimd --algorithm my_aimd.py",
)


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
            metavar="ALGORITHM,...", help="Baselines, with commas or one at a time.  [default: cubic,bbr3,reno]"
        ),
    ] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--rows", metavar="ROW,...", help="Only these rows.  [default: all of them]")
    ] = None,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """A whole scorecard takes about half a minute on two cores."""
    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = out or Path("results") / file_stem(f"evaluate-{name}")
    check_writable(directory)
    with progress_bar(f"evaluate {name}") as progress:
        card = evaluate(name, listed(against) if against else BASELINES, rows=listed(rows or []), progress=progress)
    note(replaced(directory, "scorecard.json", identity(card.lab.scenarios)))
    written = publish_scorecard(card, directory, formats=kinds)
    if as_json:
        print_document(directory / "scorecard.json")
        return
    table = tables.table("row", "test", "value", *(each.label for each in card.baselines), "verdict", left=2)
    for line in card.lines:
        others = (line.baselines.get(each.label) for each in card.baselines)
        table.add_row(
            line.row.id,
            line.row.title.split(":")[0],
            cells.number(line.found.value, line.row.unit),
            *("-" if other is None else cells.number(other.value) for other in others),
            line.found.verdict,
        )
    console = tables.console()
    console.print(f"{card.algorithm}: the marks are this project's, RFC 9743 sets none\n", highlight=False)
    console.print(table)
    sys.stdout.write(f"\nReport: {written}\n")
