"""`selfclock emulate`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfclock import hints
from selfclock._core import ScenarioError
from selfclock.cli.messages import FAILED, UsageError, fail, hinted, note
from selfclock.cli.options import Formats, Out, destination
from selfclock.cli.tables import print_summary
from selfclock.emulate.addresses import emulated_hosts, named
from selfclock.emulate.commands import commands
from selfclock.emulate.lateness import complaint
from selfclock.emulate.live_line import SHELLS
from selfclock.emulate.outside import clean, free_network
from selfclock.emulate.run import emulate
from selfclock.emulate.sandbox import CommandError
from selfclock.emulate.session import Settings
from selfclock.provenance import replaced
from selfclock.report.publish import write_run
from selfclock.save import identity, parse_formats, staged
from selfclock.scenario import Scenario
from selfclock.scenario.quantity import Time, one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.emulate.addresses import EmulatedHost
    from selfclock.emulate.session import Command
    from selfclock.result import Result

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock emulate examples/one-flow.toml --host b -- python3 -m http.server 80 --host a -- curl -o page http://b/",
    "selfclock emulate examples/lte.toml --host b -- iperf3 -s --host a -- iperf3 -c b",
    "selfclock emulate examples/one-flow.toml",
)


def command(
    scenario: Annotated[
        Path | None, typer.Argument(metavar="SCENARIO.toml", help="Scenario file (TOML).", show_default=False)
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...", help="Command on the first host.  [default: your shell]", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Host of the command that follows: --host b -- COMMAND; may be repeated."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Another value for a key: --set transport.mss='512 B'."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed of every random stream.")
    ] = None,
    lasts: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="End after this time, whatever runs.", show_default=False),
    ] = None,
    out: Out = None,
    record: Annotated[
        bool, typer.Option("--record", help="Record packets, and write a capture for each host.")
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            "--outside", metavar="NAME", help="Host that is this machine itself, with its servers. Needs root."
        ),
    ] = None,
    internet: Annotated[
        bool, typer.Option("--internet", help="Reach the Internet through the machine; needs iptables or nft.")
    ] = False,
    sysctls: Annotated[
        list[str] | None,
        typer.Option("--sysctl", metavar="NAME=VALUE", help="Setting of the kernel on every host; may be repeated."),
    ] = None,
    p99: Annotated[
        str, typer.Option(metavar="TIME", help="A run is invalid if more than 1 % of the packets are later than this.")
    ] = "1 ms",
    worst: Annotated[
        str, typer.Option(metavar="TIME", help="A run is invalid if a packet is later than this.")
    ] = "10 ms",
    live: Annotated[
        bool | None,
        typer.Option("--live/--no-live", help="A line says what goes on.  [default: unless the command is a shell]"),
    ] = None,
    tidy: Annotated[
        bool, typer.Option("--clean", help="Undo what an emulation with --internet left that was killed, and end.")
    ] = False,
    formats: Formats = "",
) -> None:
    """It lasts as long as the last command, and passes on its exit status. Tables go to standard error."""
    undone = clean()
    note(*(f"undone, of an emulation that was killed: {line}" for line in undone))
    if tidy:
        return
    if scenario is None:
        raise UsageError("SCENARIO.toml is missing; selfclock init writes one")
    if internet and machine is None:
        raise UsageError("--internet: needs --outside NAME, the host that is this machine")
    kinds = parse_formats(formats)
    settings = [*(overrides or []), *(["record.packets=true"] if record else [])]
    try:
        loaded = Scenario.load(scenario, settings)
    except ScenarioError as error:
        raise hinted(error, hints.for_run(scenario)) from None
    if seed is not None:
        loaded = loaded.with_seed(seed)
    hosts = emulated_hosts(loaded) if machine is None else emulated_hosts(loaded, free_network())
    chosen = commands(words or [], host, hosts)
    outer = None if machine is None else named(hosts, machine, "--outside")
    if outer is not None and outer in [each.host for each in chosen]:
        raise UsageError(f"--outside {outer.name}: it is this machine; start its programs yourself")
    directory = destination(out, Path("results") / loaded.name)
    note(*loaded.notes, replaced(directory, "summary.json", identity([loaded])) if directory else None)
    assert directory is not None
    if outer is not None:
        note(
            f"{outer.name} is this machine, at {outer.address}: it is reached on ports that listen there or everywhere"
        )
    how = Settings(
        seconds=None if lasts is None else one(lasts, Time, "--for").seconds,
        outside=None if outer is None else outer.name,
        internet=internet,
        sysctls=dict(map(_setting, sysctls or [])),
        live=_is_quiet(chosen) if live is None else live,
        bound_p99_s=one(p99, Time, "--p99").seconds,
        bound_worst_s=one(worst, Time, "--worst").seconds,
    )
    try:
        result, status = _emulated(loaded, hosts, chosen, how, directory, record=record, kinds=kinds)
    except CommandError as error:
        fail(str(error), error.status)
    with contextlib.redirect_stdout(sys.stderr):
        print_summary(result.summary, directory / "summary.json")
        sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")
    wrong = complaint(result)
    if wrong is not None:
        sys.stderr.write(f"selfclock: {wrong}\n")
    if status or wrong:
        raise typer.Exit(status or FAILED)


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
        write_run(result, aside, formats=kinds, pcap=["host"] if record else [])
    return result, status


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise UsageError(f"--sysctl: {text!r}; write NAME=VALUE, as net.ipv4.tcp_congestion_control=reno")
    return name.strip(), value.strip()


def _is_quiet(chosen: Sequence[Command]) -> bool:
    """Tell whether the command whose terminal this is draws no prompts: an interactive shell does."""
    name, *words = chosen[-1].words
    return Path(name).name not in SHELLS or not all(word.startswith("-") and word != "-c" for word in words)
