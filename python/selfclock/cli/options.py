"""Options and arguments shared by several commands, with their shell completion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock.algorithms import algorithms, queues, routers
from selfclock.cli.messages import UsageError
from selfclock.save import FORMATS, check_writable
from selfclock.scenario.quantity import Time, one
from selfclock.threads import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    Complete = Callable[[click.Context, click.Parameter, str], list[str]]


class _File(click.Path):
    """A file; "-" is standard input."""

    def convert(self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return Path("/dev/stdin" if str(value) == "-" else super().convert(value, param, ctx))  # type: ignore[arg-type]


#: A file or a directory, which need not exist; shells complete it.
PATH = _File(path_type=Path)


class _Directory(click.Path):
    """A directory of results."""

    def convert(self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, unless it is empty."""
        if not str(value).strip():
            self.fail("is empty; name a directory", param, ctx)
        return Path(value)


def destination(out: Path | None, default: Path, *, only_printed: bool = False) -> Path | None:
    """Return the directory of the results, checked for writing; None if they are only printed."""
    if only_printed and out is None:
        return None
    directory = out or default
    check_writable(directory)
    return directory


def listed(written: Iterable[str]) -> list[str]:
    """Accept names separated by commas, repeated, or both."""
    return [name.strip() for names in written for name in names.split(",")]


def completing(names: Callable[[], Iterable[str]], *, several: bool = False) -> Complete:
    """Return a completer of names; with `several`, of the last in a comma-separated list."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        before, comma, last = begun.rpartition(",") if several else ("", "", begun)
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def _names() -> list[str]:
    return [algorithm.name for algorithm in algorithms()]


complete_algorithm = completing(_names)
complete_algorithms = completing(_names, several=True)
#: For an algorithm, a queue discipline or a router mechanism.
complete_named = completing(lambda: [each.name for each in [*algorithms(), *queues(), *routers()]])

out_option = click.option(
    "--out",
    type=_Directory(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="Directory of the results.  [default: results/NAME]",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")

#: For commands that write results.
json_or_files_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document and nothing else; files only with --out or --format.",
)

#: Files of congestion controls written in Python, for every command that names algorithms.
algorithm_option = click.option(
    "--algorithm",
    "algorithm_files",
    type=PATH,
    multiple=True,
    metavar="[NAME=]FILE.py",
    help="Python file that registers congestion controls, or one under another name; may be repeated.",
)

threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MOST_THREADS),
    metavar="N",
    help="Number of concurrent runs.  [default: one per core]",
)

run_threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MOST_THREADS),
    default=1,
    metavar="N",
    help="Compute the run on up to N threads: same results, faster with thousands of flows.  [default: 1]",
)

#: Formats of the figures, for every command that writes some.
format_option = click.option(
    "--format",
    "formats",
    default="",
    metavar="FORMATS",
    help=f"Also write figures as files: {', '.join(FORMATS)}, comma-separated.",
)

set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Override a key: --set transport.mss='512 B'; may be repeated.",
)

seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="Seed of every random stream."
)


def lateness_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the bounds beyond which a run in real time is invalid."""
    for option, default, who in (
        ("--worst", "10 ms", "any packet is"),
        ("--p99", "1 ms", "more than 1 % of the packets are"),
    ):
        text = f"A run is invalid if {who} later than this."
        command = click.option(option, default=default, metavar="TIME", show_default=True, help=text)(command)
    return command


def span(text: str, option: str) -> float:
    """Return a time above 0 in seconds."""
    found = one(text, Time, option).seconds
    if found <= 0:
        raise UsageError(f"{option}: {text!r} is not a time above 0")
    return found
