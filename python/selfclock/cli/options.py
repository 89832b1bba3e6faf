"""Options and arguments that several commands have, and what a shell completes them with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfclock.algorithms import algorithms, queues, routers
from selfclock.runs import MOST_THREADS
from selfclock.save import FORMATS, check_writable

if TYPE_CHECKING:
    from collections.abc import Iterable


def _directory(text: str) -> Path:
    if not text.strip():
        raise typer.BadParameter("is empty; name a directory")
    return Path(text)


def destination(out: Path | None, default: Path, *, only_printed: bool = False) -> Path | None:
    """Return the directory of the results, which can be written; none if they are only printed."""
    if only_printed and out is None:
        return None
    directory = out or default
    check_writable(directory)
    return directory


def listed(written: Iterable[str]) -> list[str]:
    """Take names that are written with commas, one at a time, or both."""
    return [name.strip() for names in written for name in names.split(",")]


def completed_from(names: Iterable[str], begun: str) -> list[str]:
    """Return the names that begin so."""
    return [name for name in names if name.startswith(begun)]


def completed_list(names: Iterable[str], begun: str) -> list[str]:
    """Return lists of names with commas whose last name begins so."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in completed_from(names, last)]


def complete_algorithm(incomplete: str) -> list[str]:
    """Complete the name of an algorithm."""
    return completed_from((algorithm.name for algorithm in algorithms()), incomplete)


def complete_algorithms(incomplete: str) -> list[str]:
    """Complete names of algorithms with commas."""
    return completed_list((algorithm.name for algorithm in algorithms()), incomplete)


def complete_named(incomplete: str) -> list[str]:
    """Complete the name of an algorithm, a queue discipline or a router mechanism."""
    return completed_from((each.name for each in [*algorithms(), *queues(), *routers()]), incomplete)


Out = Annotated[
    Path | None,
    typer.Option(
        parser=_directory, metavar="DIRECTORY", help="Directory of the results.  [default: results/NAME]",
        show_default=False,
    ),
]  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

#: For commands that write results.
JsonOrFiles = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document and nothing else; files only with --out or --format."),
]

#: Files of congestion controls written in Python, for every command that names algorithms.
AlgorithmFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--algorithm", metavar="FILE.py", help="Python file that registers congestion controls; may be repeated."
    ),
]

Threads = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_THREADS, metavar="N", help="Runs at the same time.  [default: one per core]", show_default=False
    ),
]

#: Formats of the figures, for every command that writes some.
Formats = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMATS",
        help=f"Figures as files: {', '.join(FORMATS)}, several with commas.",
        show_default=False,
    ),
]
