"""The simulator's algorithms control connections of a stock kernel, unchanged.

`run` decides in its own process, `load` in the kernel.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock.cli import kernel_resident
from selfclock.cli.edge import edge_command
from selfclock.cli.kernel_resident import complete, events_file, seconds_of, with_settings
from selfclock.cli.layout import Column, console, print_table
from selfclock.cli.messages import FAILED, UsageError, note, print_document
from selfclock.cli.options import PATH, json_option
from selfclock.cli.twin import twin_command
from selfclock.custom import load_algorithms
from selfclock.kernel import record as records
from selfclock.kernel.machine import Finding, check, unload
from selfclock.kernel.resident import unload_residents
from selfclock.kernel.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.table import Table

    from selfclock.kernel.session import Status

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock kernel check",
    "selfclock kernel load bbr3 --default",
    "selfclock kernel record results/native",
    "selfclock kernel run --algorithm bbr3 --name bbr3",
    "selfclock kernel run --algorithm my_aimd.py --record results/real",
    "selfclock kernel replay results/real",
    'selfclock kernel edge eth1 --rate "20 Mbps" --buffer "100 kB"',
    "selfclock kernel twin examples/one-flow.toml --for 20s",
    "selfclock kernel unload",
)

#: Default name of the congestion control.
NAME = "selfclock"
#: Shorter RTTs end before an answer arrives.
SHORT_RTT_US = 1000

#: Counters of TCP options.
OPTIONS = {
    "marked": "data segments sent with an option",
    "arrived": "data segments received with an option",
    "replied": "ACKs sent with an option",
    "heard": "ACKs received with an option",
    "apart": "pairs whose second segment did not follow at once",
    "bundled": "packets of several segments, not marked",
    "crowded": "segments without room for an option",
    "lost": "reports of options lost, the ring being full",
}

MARKS = {True: "yes", False: "no", None: "-"}


@json_option
def check_command(as_json: bool) -> None:
    """Report what this machine supports and what is missing.

    The kernel verifies the programs; none stays loaded.
    """
    findings = check()
    if as_json:
        print_document({"findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        print_table(
            [
                Column("needed", [finding.what for finding in findings], "name"),
                Column("there", [MARKS[finding.good] for finding in findings], "word"),
                Column("found", [finding.found for finding in findings], "text"),
            ]
        )
        sys.stdout.write(f"\n{_verdict(findings)}\n")
    if any(finding.good is False for finding in findings):
        raise Exit(FAILED)


def _verdict(findings: Sequence[Finding]) -> str:
    missing = [finding.what for finding in findings if finding.good is False]
    if missing:
        return f"selfclock kernel run cannot run here: {', '.join(missing)}"
    return "selfclock kernel run can run here"


@click.option(
    "--algorithm",
    "algorithm",
    required=True,
    metavar="NAME|FILE.py",
    help="Algorithm, with optional parameters (cubic:beta=0.8), or a Python file that registers one.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter; may be repeated.")
@click.option(
    "--name",
    default=NAME,
    show_default=True,
    metavar="NAME",
    help="Name by which sockets choose it, at most 15 characters.",
)
@click.option("--nap", default="200 us", show_default=True, metavar="TIME", help="Interval between polls for events.")
@click.option("--busy", is_flag=True, help="Poll continuously; takes a core.")
@click.option("--woken", is_flag=True, help="Wake up at every event; costs the kernel some 15 us each.")
@click.option("--realtime", is_flag=True, help="Take priority over all other processes (SCHED_FIFO).")
@click.option("--for", "lasts", metavar="TIME", help="End after this time.  [default: at Ctrl-C]")
@click.option(
    "--sent", metavar="DEVICE", help="Report each packet when this device takes it.  [default: with the next ACK]"
)
@click.option(
    "--options",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="CGROUP",
    help="Carry the algorithm's TCP options on new connections of the processes in this directory of cgroup v2.",
)
@click.option(
    "--record",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="Write events, decisions, series and a trace of each connection there.",
)
@json_option
def run_command(
    algorithm: str,
    settings: Sequence[str],
    name: str,
    nap: str,
    busy: bool,
    woken: bool,
    realtime: bool,
    lasts: str | None,
    sent: str | None,
    options: Path | None,
    record: Path | None,
    as_json: bool,
) -> None:
    """Let an algorithm control connections, from this process.

    Sockets choose it by its name, such as iperf3 -C NAME.
    """
    if busy and woken:
        raise UsageError("--busy and --woken are two ways to wait; choose one")
    label = _label(algorithm, settings)
    nap_us = None if woken else 0 if busy else max(1, round(seconds_of("--nap", nap) * 1e6))
    until = None if lasts is None else time.monotonic() + seconds_of("--for", lasts)
    events = None if record is None else events_file("--record", record)
    with Session(label, name, nap_us=nap_us, realtime=realtime, record=events, sent=sent, options=options) as session:
        if session.taken_over:
            note(f"{session.taken_over} connections of an earlier session are taken over")
        if not as_json:
            sys.stderr.write(f"{label} is registered as {name!r}; Ctrl-C ends it\n")
            sys.stderr.flush()
        with contextlib.suppress(KeyboardInterrupt):
            _watch(session, until, live=not as_json and sys.stdout.isatty())
        status = session.stop()
    document = {"algorithm": label, "name": name, **dataclasses.asdict(status)}
    _warn(status)
    if record is not None:
        complete(record, document)
    if as_json:
        print_document(document)
    else:
        _print_counts(status)


def _label(algorithm: str, settings: Sequence[str]) -> str:
    file, colon, rest = algorithm.partition(":")
    if file.endswith(".py"):
        names = load_algorithms(file)
        if len(names) > 1:
            raise UsageError(f"--algorithm: {file} registers {', '.join(names)}; a session has one")
        algorithm = names[0] + colon + rest
    return with_settings(algorithm, settings)


def _watch(session: Session, until: float | None, *, live: bool) -> None:
    """Wait for the end, with a table of the connections on a terminal."""
    if live:
        from rich.live import Live  # noqa: PLC0415

        with Live(console=console(), auto_refresh=False, transient=True) as screen:
            _until(session, until, lambda: screen.update(_table(session.status()), refresh=True))
    else:
        _until(session, until, lambda: None)


def _until(session: Session, until: float | None, show: Callable[[], None]) -> None:
    shown = 0.0
    while session.is_running and (until is None or time.monotonic() < until):
        time.sleep(0.1)
        if time.monotonic() - shown > 0.5:
            show()
            shown = time.monotonic()


def _table(status: Status) -> Table:
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    for heading in ("connection", "age s", "Mbit/s", "cwnd", "RTT ms", "retransmitted", "phase"):
        table.add_column(heading, justify="left" if heading in {"connection", "phase"} else "right")
    for flow in status.flows:
        rate = flow.acknowledged_bytes * 8e-6 / flow.age_s if flow.age_s > 0 else 0.0
        table.add_row(
            f"{flow.port} > {flow.peer}:{flow.peer_port}",
            f"{flow.age_s:.1f}",
            f"{rate:.2f}",
            f"{flow.cwnd}",
            f"{flow.srtt_us / 1000:.2f}",
            f"{flow.retransmissions}",
            "Reno: no decisions" if flow.fallback else flow.phase,
        )
    late = status.latency_us["p99"]
    said = "" if late is None else f", decided within {late:.0f} us (99 %)"
    table.caption = f"{status.events} events{said}, {status.fallbacks} fallbacks, {status.lost_events} events lost"
    return table


def _warn(status: Status) -> None:
    for failure in status.failures:
        note(
            f"flow {failure['flow']}: the algorithm failed after {failure['time_s']:.3f} s, and Reno took over: "
            f"{failure['reason']}"
        )
    if status.realtime_error:
        note(f"--realtime: {status.realtime_error}; the thread ran with normal priority")
    if status.record_error:
        note(f"--record: {status.record_error}; the record ends there")
    if status.asked_to_stop:
        note("selfclock kernel unload ended the session")
    if status.fallback_events:
        note(f"Reno controlled a connection at {status.fallback_events} of {status.events} events: late decisions")
    if status.without_slot:
        note(f"{status.without_slot} connections found no slot: Reno controlled them")
    if status.options is not None and status.options["bundled"]:
        note("packets of several segments were not marked: ip link set dev DEVICE gso_max_segs 1 splits them")
    if any(0 < flow.srtt_us < SHORT_RTT_US for flow in status.flows):
        note("RTTs below 1 ms end before a decision is available; --busy has the shortest delay")


def _print_counts(status: Status) -> None:
    latency = status.latency_us
    rows = [
        ("connections", f"{status.flows_so_far}"),
        ("events", f"{status.events}"),
        (
            "delay of decisions, p50 / p99 / p99.9",
            " / ".join(_microseconds(latency[key]) for key in ("p50", "p99", "p99.9")),
        ),
        ("ACKs under a decision", f"{_sum(status, 'applied')}"),
        ("ACKs whose decision missed the previous event", f"{_sum(status, 'late')}"),
        ("ACKs under Reno", f"{_sum(status, 'fallback_acks')}"),
        ("takeovers by Reno", f"{status.fallbacks}"),
        ("events lost to a full ring", f"{status.lost_events}"),
        ("connections without a slot", f"{status.without_slot}"),
        ("CPU time, s", f"{status.processor_s:.2f}"),
    ]
    if status.options is not None:
        rows += [(text, f"{status.options[key]}") for key, text in OPTIONS.items()]
    print_table([Column("session", [row[0] for row in rows], "name"), Column("", [row[1] for row in rows])])


def _sum(status: Status, key: str) -> int:
    return status.ended[key] + sum(flow.counts[key] for flow in status.flows)


def _microseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f} us"


@click.argument("name", required=False, metavar="[NAME]", help="Only this one.")
@json_option
def unload_command(name: str | None, as_json: bool) -> None:
    """Remove loaded algorithms, and end sessions of `run`.

    The names of stopped processes are removed, too.
    """
    gone, loaded = unload(name), unload_residents(name)
    if as_json:
        rows = [*map(dataclasses.asdict, gone), *map(dataclasses.asdict, loaded)]
        print_document({"unloaded": rows})
        return
    if not gone and not loaded and name is not None:
        raise UsageError(f"no congestion control of selfclock is named {name!r}")
    if not gone and not loaded:
        sys.stdout.write("nothing of selfclock is in the kernel\n")
    for each in gone:
        what = f"unloaded, of process {each.owner}" if each.registered else f"left by process {each.owner}"
        rest = f"; {each.flows} connections continue under Reno" if each.flows else ""
        sys.stdout.write(f"{each.name}: {what}{rest}\n")
    for one in loaded:
        sys.stdout.write(f"{one.name}: {kernel_resident.described(one)}\n")


@click.argument(
    "file", type=PATH, metavar="FILE|DIRECTORY", help="Record of `selfclock kernel record` or `run --record`."
)
@click.option(
    "--algorithm",
    "algorithm",
    metavar="NAME|FILE.py",
    help="Find the first event at which another algorithm decides differently.",
)
@click.option(
    "--load", "files", type=PATH, multiple=True, metavar="FILE.py", help="Python file of the algorithm on record."
)
@kernel_resident.program_option
@json_option
def replay_command(
    file: Path, algorithm: str | None, files: Sequence[Path], program: Path | None, as_json: bool
) -> None:
    """Replay a record and demand the same decisions.

    The events pass through the algorithm again, and every decision must match bit for bit.
    """
    if program is not None and (algorithm is not None or files):
        raise UsageError("--with: the program replays its own algorithm; leave out --algorithm and --load")
    load_algorithms(*files)
    done = records.replay(file, None if algorithm is None else _label(algorithm, ()), program)
    if as_json:
        print_document(dataclasses.asdict(done))
        return
    sys.stdout.write(
        f"{done.algorithm} ({done.about}): {done.events} events of {done.flows} connections, "
        f"{done.answers} decisions, all equal\n"
    )
    phases = [f"{count} {what}" for what, count in done.phases.items() if what not in {"begin", "end", "other"}]
    sys.stdout.write(f"{', '.join(phases) or 'nothing but ACKs without incident'}\n")


#: The commands of the group, by their names.
COMMANDS = {
    "check": check_command,
    **kernel_resident.COMMANDS,
    "run": run_command,
    "unload": unload_command,
    "replay": replay_command,
    "twin": twin_command,
    "edge": edge_command,
}
