"""`selfclock init`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock import examples
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import UsageError
from selfclock.cli.options import completing
from selfclock.names import unknown
from selfclock.save import on_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock init",
    "selfclock init my-network",
    "selfclock init --list",
    "selfclock init --example lte",
)


@click.argument(
    "name",
    default="scenario",
    metavar="[NAME]",
    help="The file is NAME.toml, or NAME if that ends in .toml.  [default: scenario]",
)
@click.option(
    "--example",
    "wanted",
    multiple=True,
    metavar="EXAMPLE",
    help="Copy an example instead.",
    shell_complete=completing(lambda: examples.EXAMPLES),
)
@click.option("--list", "listed", is_flag=True, help="List the examples without writing anything.")
def command(name: str, wanted: Sequence[str], listed: bool) -> None:
    """The scenario can be run unchanged: selfclock run scenario.toml. Existing files are never overwritten."""
    if listed:
        print_table(
            [
                Column("example", list(examples.EXAMPLES), "word"),
                Column("what it is", [each.about for each in examples.EXAMPLES.values()], "text"),
                Column("files", [", ".join(each.files) for each in examples.EXAMPLES.values()], "text"),
            ]
        )
        sys.stdout.write("\nselfclock init --example NAME copies one into this directory.\n")
        return
    for example in wanted:
        if example not in examples.EXAMPLES:
            raise UsageError(unknown("example", example, list(examples.EXAMPLES)))
    if wanted:
        files = {file: examples.text(file) for example in wanted for file in examples.EXAMPLES[example].files}
        _write({Path(file): content for file, content in files.items()})
        return
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    _write({path: examples.commented_scenario()})


def _write(files: dict[Path, str]) -> None:
    """Write all files or none, and print how to run them."""
    for path in files:
        if path.exists():
            raise UsageError(f"{path} already exists and is not overwritten: choose another name, or remove it")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: there is no such directory")
    for path, content in files.items():
        with on_disk(path), path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
    for path, content in files.items():
        how = "" if path.suffix != ".toml" else f": selfclock {'sweep' if '[grid]' in content else 'run'} {path}"
        sys.stdout.write(f"{path}{how}\n")
