"""The commands, each imported when it is called, so that help and completion stay fast."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock import interrupts
from selfclock._core import end_at_second_interrupt
from selfclock.cli.completion import install_option, show_option
from selfclock.names import unknown
from selfclock.provenance import set_command, version_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Every command, with the first line of its help. Its module has `command` or `COMMANDS`, and
#: `EXAMPLES`.
COMMANDS = {
    "init": "Write a commented scenario to begin with, or copy an example.",
    "run": "Run a scenario: summary, figures and Parquet tables.",
    "lab": "Open the laboratory in a browser: drag a slider, watch the simulation redraw.",
    "emulate": "Run real programs over a scenario's links, in real time (Linux).",
    "compare": "Compare algorithms side by side on one path.",
    "reproduce": "Reproduce the papers: a table of claims and every figure, in one HTML report.",
    "evaluate": "Test an algorithm against RFC 9743, beside deployed ones: the scorecard.",
    "sweep": "Run every point of a grid with every seed, skipping runs already on record.",
    "algorithms": "List algorithms, queues and routers: parameters, units, defaults, sources.",
    "bench": "Measure the speed of the simulator on the standard cases.",
    "kernel": "Let algorithms control real TCP connections of Linux; record and replay them.",
    "verify": "Check a packet record for protocol and physical violations, without the engine.",
    "schema": "Print the JSON Schema of scenario files.",
}

CONTEXT = {"help_option_names": ["-h", "--help"]}


@contextmanager
def _interruption() -> Iterator[None]:
    """Say that a signal ended the command, before Click prints an empty line for it."""
    try:
        yield
    except KeyboardInterrupt as error:
        sys.stderr.write("selfclock: interrupted\n")
        raise Exit(interrupts.status(error)) from None


class Commands(click.Group):
    """A group that imports a command when it is called."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Read the options before the command."""
        with _interruption():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Import a command, read its arguments and run it."""
        with _interruption():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        from selfclock.cli.messages import guarded  # noqa: PLC0415

        module = importlib.import_module(f"selfclock.cli.{cmd_name}")
        about = f"{COMMANDS[cmd_name]}\n\n{getattr(module, 'command', module).__doc__ or ''}"
        examples = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES)
        if not hasattr(module, "COMMANDS"):
            made = click.command(cmd_name, help=about, epilog=examples, context_settings=CONTEXT)
            return made(guarded(module.command))
        group = click.Group(cmd_name, help=about, epilog=examples, context_settings=CONTEXT)
        for name, each in module.COMMANDS.items():
            group.add_command(click.command(name, help=each.__doc__, context_settings=CONTEXT)(guarded(each)))
        return group

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called."""
        found = self.get_command(ctx, args[0])
        if found is None and not ctx.resilient_parsing:
            ctx.fail(unknown("command", args[0], list(COMMANDS)))
        return args[0] if found else None, found, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"selfclock {version_text()}\n")
        raise Exit


@click.command("selfclock", cls=Commands, no_args_is_help=True, context_settings=CONTEXT)
@click.option(
    "--version", is_flag=True, callback=_version, is_eager=True, expose_value=False, help="Print the version."
)
@install_option
@show_option
def app() -> None:
    """A laboratory for congestion control."""


def _open_streams() -> None:
    """Write to nowhere what has no stream: cron jobs and daemons close standard output or error.

    The numbers of closed streams are taken first, so that no file of results gets one.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  open to the end


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: these arguments, or those of the process."""
    if arguments is None:
        interrupts.raise_exceptions()
        _open_streams()
    if arguments is None and not sys.flags.utf8_mode and sys.getfilesystemencoding() == "ascii":
        # In a non-ASCII-capable locale neither arguments nor file names could contain other
        # letters.
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606  itself
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Never fail on characters that the terminal cannot encode (Windows code pages).
        sys.stdout.reconfigure(errors="backslashreplace")
    # Unless the shell has told the command to ignore Ctrl-C.
    if arguments is None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        end_at_second_interrupt()
    arguments = sys.argv[1:] if arguments is None else arguments
    set_command(arguments)
    try:
        sys.exit(app.main(list(arguments), prog_name="selfclock", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        # Click converts an interruption between reading and running into its own exception.
        came = error.__cause__ if isinstance(error, click.Abort) else error
        sys.exit(interrupts.status(came) if isinstance(came, KeyboardInterrupt) else 1)
