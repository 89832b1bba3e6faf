"""`selfclock kernel build`: an algorithm in Rust of the user's own as an object that decides in the kernel."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from selfclock.cli.messages import FAILED, UsageError, fail
from selfclock.cli.options import PATH
from selfclock.kernel.build import BuildError, build, user_defined
from selfclock.kernel.build.parts import crate_name

#: The checkout that this is part of, if it is part of one.
CHECKOUT = Path(__file__).resolve().parents[3]


@click.argument("crate", type=PATH, metavar="CRATE")
@click.option(
    "--parameters", default="Parameters", metavar="PATH", help="Path of its parameters, such as window::Parameters."
)
@click.option("--part", type=click.Choice(["model", "window"]), default="model", help="What they are of.")
@click.option("--out", type=PATH, default=Path(), metavar="DIRECTORY", help="Where the object goes.")
@click.option("--source", type=PATH, default=CHECKOUT, metavar="DIRECTORY", help="A checkout of selfclock.")
def build_command(crate: Path, parameters: str, part: str, out: Path, source: Path) -> None:
    """Compile an algorithm in Rust of your own for the kernel; needs clang and LLVM 22, and Rust's sources."""
    manifest = crate / "Cargo.toml"
    if not manifest.is_file():
        raise UsageError(f"{crate}: there is no Cargo.toml; name the folder of a crate")
    name = crate_name(manifest)
    if name is None:
        raise UsageError(f"{manifest}: it names no package")
    with tempfile.TemporaryDirectory(prefix="selfclock-build-") as work:
        try:
            (built,) = build([user_defined(name, str(crate.resolve()), parameters, part)], source, Path(work), out)
        except BuildError as error:
            fail(str(error), FAILED)
    sys.stdout.write(f"{built}: {built.stat().st_size} bytes\n")
