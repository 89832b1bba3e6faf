"""`selfclock emulate`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock import file_hints
from selfclock._core import EmulationError, ScenarioError
from selfclock.cli.messages import FAILED, UsageError, fail, hinted, note
from selfclock.cli.options import (
    PATH,
    algorithm_option,
    format_option,
    lateness_options,
    out_option,
    seed_option,
    set_option,
    span,
)
from selfclock.cli.tables import print_summary
from selfclock.custom import load_algorithms
from selfclock.emulate import sysctl
from selfclock.emulate.addresses import emulated_hosts, named
from selfclock.emulate.commands import commands
from selfclock.emulate.lateness import complaint
from selfclock.emulate.live_line import SHELLS
from selfclock.emulate.outside import clean, free_network
from selfclock.emulate.run import emulate, recorded_files
from selfclock.emulate.sandbox import CommandError
from selfclock.emulate.session import Settings
from selfclock.provenance import replaced
from selfclock.report.publish import write_run
from selfclock.save import identity, parse_formats, staged
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.emulate.addresses import EmulatedHost
    from selfclock.emulate.session import Command
    from selfclock.result import Result

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock emulate examples/one-flow.toml",
    "selfclock emulate examples/one-flow.toml --host b -- python3 -m http.server 80 --host a -- curl -O http://b/file",
    "selfclock emulate examples/lte.toml --record --for 60s --host b -- iperf3 -s --host a -- iperf3 -c b -t 60",
)


@click.argument("scenario", type=PATH, required=False, metavar="SCENARIO.toml", help="Scenario file (TOML).")
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]", help="Command on the first host.  [default: your shell]")
@click.option("--host", metavar="NAME", help="Host of the command that follows: --host b -- COMMAND; may be repeated.")
@set_option
@seed_option
@click.option("--for", "lasts", metavar="TIME", help="End after this time.")
@out_option
@click.option("--record", is_flag=True, help="Record packets, and write a capture for each host.")
@click.option("--outside", metavar="NAME", help="Make this machine, with its servers, this host; needs root.")
@click.option("--internet", is_flag=True, help="Let hosts reach the Internet through --outside; needs iptables or nft.")
@click.option(
    "--sysctl", "sysctls", multiple=True, metavar="NAME=VALUE", help="Kernel setting on every host; may be repeated."
)
@click.option("--as-root", is_flag=True, help="Under sudo, run the commands as root.  [default: as the calling user]")
@lateness_options
@click.option("--live/--no-live", default=None, help="Show a status line.  [default: unless the command is a shell]")
@click.option("--clean", "tidy", is_flag=True, help="Undo the changes of a killed emulation with --internet, and exit.")
@algorithm_option
@format_option
def command(
    scenario: Path | None,
    words: Sequence[str],
    host: str | None,
    overrides: Sequence[str],
    seed: int | None,
    lasts: str | None,
    out: Path | None,
    record: bool,
    outside: str | None,
    internet: bool,
    sysctls: Sequence[str],
    as_root: bool,
    p99: str,
    worst: str,
    live: bool | None,
    tidy: bool,
    algorithm_files: Sequence[Path],
    formats: str,
) -> None:  # fmt: skip
    """The run ends with the last command, whose exit status is returned. Tables go to standard error."""
    note(*(f"removed after a killed emulation: {line}" for line in clean()))
    if tidy:
        return
    if scenario is None:
        raise UsageError("SCENARIO.toml is missing; selfclock init writes one")
    if internet and outside is None:
        raise UsageError("--internet: needs --outside NAME, the host that is this machine")
    kinds = parse_formats(formats)
    load_algorithms(*algorithm_files)
    loaded = _loaded(scenario, [*overrides, *(["record.packets=true"] if record else [])], seed)
    hosts = emulated_hosts(loaded) if outside is None else emulated_hosts(loaded, free_network())
    chosen = commands(words, host, hosts)
    how = Settings(
        seconds=None if lasts is None else span(lasts, "--for"),
        outside=None if outside is None else _machine(outside, hosts, chosen),
        internet=internet,
        sysctls=dict(map(_setting, sysctls)),
        live=_is_quiet(chosen) if live is None else live,
        bound_p99_s=span(p99, "--p99"),
        bound_worst_s=span(worst, "--worst"),
        as_root=as_root,
    )
    directory = out or Path("results") / loaded.name
    note(*loaded.notes, replaced(directory, "summary.json", identity([loaded])))
    try:
        result, status = _emulated(loaded, hosts, chosen, how, directory, record=record, kinds=kinds)
    except CommandError as error:
        fail(str(error), error.status)
    except EmulationError as error:
        fail(str(error), FAILED)
    with contextlib.redirect_stdout(sys.stderr):
        print_summary(result.summary, result.scenario, directory / "summary.json")
        sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")
    note(*result.summary["emulation"]["notes"])
    wrong = complaint(result)
    if wrong is not None:
        sys.stderr.write(f"selfclock: {wrong}\n")
    if status or wrong:
        raise Exit(status or FAILED)


def _loaded(path: Path, settings: Sequence[str], seed: int | None) -> Scenario:
    try:
        found = Scenario.load(path, settings)
    except ScenarioError as error:
        raise hinted(error, file_hints.for_run(path)) from None
    return found if seed is None else found.with_seed(seed)


def _machine(name: str, hosts: Sequence[EmulatedHost], chosen: Sequence[Command]) -> str:
    """Return the name of the host that is the machine, and print its address."""
    host = named(hosts, name, "--outside")
    if host in [each.host for each in chosen]:
        raise UsageError(f"--outside {name}: it is this machine; start its programs yourself")
    note(f"{host.name} is this machine, at {host.address}: servers that listen on every address can be reached there")
    return host.name


def _emulated(
    scenario: Scenario,
    hosts: Sequence[EmulatedHost],
    chosen: Sequence[Command],
    how: Settings,
    directory: Path,
    *,
    record: bool,
    kinds: Sequence[str],
) -> tuple[Result, int]:
    """Run the commands and write the result; return it and the exit status of the last command."""
    with staged(directory) as aside:
        result, status = emulate(scenario, hosts, chosen, how, aside if record else None)
        write_run(result, aside, formats=kinds, also=recorded_files(scenario) if record else {})
    return result, status


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise UsageError(f"--sysctl: {text!r}; write NAME=VALUE, such as net.ipv4.tcp_congestion_control=reno")
    try:
        sysctl.parts(name.strip())
    except sysctl.SysctlError as error:
        raise UsageError(f"--sysctl {error}") from None
    return name.strip(), value.strip()


def _is_quiet(chosen: Sequence[Command]) -> bool:
    """Tell whether the command with this terminal draws no prompts: an interactive shell does."""
    name, *words = chosen[-1].words
    return Path(name).name not in SHELLS or not all(word.startswith("-") and word != "-c" for word in words)
