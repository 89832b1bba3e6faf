"""Algorithms that decide in the kernel, and need no process: docs/kernel-native.md."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock.algorithms import algorithms
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import FAILED, UsageError, fail, note, print_document
from selfclock.cli.options import PATH, json_option
from selfclock.kernel import record as records
from selfclock.kernel.build import build_crate
from selfclock.kernel.machine import KernelError
from selfclock.kernel.resident import (
    Recording,
    load,
    load_object,
    make_default,
    objects,
    residents,
    unload_residents,
    usual_name,
)
from selfclock.scenario.quantity import Time, one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.kernel.resident import Recorded, Resident

#: The words of `--default`.
NAMESPACE, HOST = "namespace", "host"


def with_settings(label: str, settings: Sequence[str]) -> str:
    """Return an algorithm with the settings of `--set`."""
    for setting in settings:
        if "=" not in setting:
            raise UsageError(f"--set {setting}: write NAME=VALUE, such as --set beta=0.8")
        label += ("," if ":" in label else ":") + setting
    return label


def seconds_of(option: str, text: str) -> float:
    """Return the seconds of a time above zero."""
    seconds = one(text, Time, option).seconds
    if seconds <= 0:
        raise UsageError(f"{option}: {text} is not above zero")
    return seconds


def events_file(option: str, directory: Path) -> Path:
    """Return the events file of a new record; the directory must not contain one."""
    if (directory / records.EVENTS).exists() or (directory / records.PARTIAL).exists():
        raise UsageError(f"{option}: {directory} has a record already; choose another directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{option}: {directory} is a file; name a directory") from None
    return directory / records.PARTIAL


def complete(directory: Path, document: dict[str, object], program: Path | None = None) -> None:
    """Complete a record, and print the extent of its replay."""
    try:
        done = records.complete(directory, document, program)
    except records.DifferenceError as error:
        fail(f"the record does not replay: {error}", FAILED)
    except records.UnknownAlgorithmError as error:
        note(f"not replayed: {error}")
        return
    sys.stderr.write(f"{directory}: {done.events} events of {done.flows} connections, replayed bit for bit\n")


@click.argument(
    "crate", type=PATH, metavar="CRATE", help="Folder of a crate with algorithms, such as examples/rust-algorithm."
)
@click.option("--out", type=PATH, default=Path(), metavar="DIRECTORY", help="Where the files go.  [default: here]")
@json_option
def build_command(crate: Path, out: Path, as_json: bool) -> None:
    """Compile a user's own algorithms in Rust: an object for the kernel, and a program that replays its records."""
    built = build_crate(crate, out)
    if as_json:
        rows = [{"algorithm": it.algorithm, "object": str(it.object), "program": str(it.program)} for it in built]
        print_document({"built": rows})
        return
    for each in built:
        size = each.object.stat().st_size / 1000
        sys.stdout.write(f"{each.algorithm}: {each.object}, {size:.0f} kB; {each.program} replays its records\n")


def _parts(label: str) -> list[str]:
    window, _, start = label.partition("+")
    return [window, start] if start else [window]


@json_option
def list_command(as_json: bool) -> None:
    """List the algorithms compiled for the kernel.

    The parameters are those that --set accepts.
    """
    known = {each.name: [parameter.name for parameter in each.parameters] for each in algorithms()}
    there = objects()
    parameters = [[name for part in _parts(each.algorithm) for name in known.get(part, [])] for each in there]
    if as_json:
        rows = [
            {**dataclasses.asdict(each), "name": usual_name(each.algorithm), "parameters": names}
            for each, names in zip(there, parameters, strict=True)
        ]
        print_document({"objects": rows})
        return
    print_table(
        [
            Column("algorithm", [each.algorithm for each in there], "name"),
            Column("name in the kernel", [usual_name(each.algorithm) for each in there], "name"),
            Column("kB", [f"{each.bytes / 1000:.0f}" for each in there]),
            Column("parameters", [", ".join(names) for names in parameters], "text"),
        ]
    )
    sys.stdout.write("\nselfclock algorithms NAME says what the parameters are.\n")


@click.argument(
    "algorithm",
    metavar="ALGORITHM|FILE.o",
    help="One of `selfclock kernel list`, with optional parameters, or an object of `selfclock kernel build`.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter; may be repeated.")
@click.option(
    "--name", metavar="NAME", help="Name by which sockets choose it, at most 15 characters.  [default: the algorithm's]"
)
@click.option(
    "--default",
    "scope",
    is_flag=False,
    flag_value=NAMESPACE,
    type=click.Choice([NAMESPACE, HOST]),
    help="Make it the default of new connections, until it is unloaded.  [namespace if no word follows]",
)
@json_option
def load_command(algorithm: str, settings: Sequence[str], name: str | None, scope: str | None, as_json: bool) -> None:
    """Load an algorithm that decides in the kernel itself.

    It stays until `selfclock kernel unload`; no process does.
    """
    label = with_settings(algorithm, settings)
    if algorithm.endswith(".o"):
        name, label = load_object(Path(algorithm), settings, name)
    else:
        name = load(label, name)
    before = None
    if scope is not None:
        try:
            before = make_default(name, host=scope == HOST)
        except KernelError:
            # Never leave half of the request in place.
            unload_residents(name)
            raise
    if as_json:
        print_document({"algorithm": label, "name": name, "default": scope, "default_before": before})
        return
    sys.stdout.write(f"{label} is loaded as {name!r}; selfclock kernel unload {name} removes it\n")
    if scope is not None:
        where = "the host" if scope == HOST else "this network namespace"
        sys.stdout.write(f"new connections of {where} have it; before they had {before!r}\n")


@json_option
def status_command(as_json: bool) -> None:
    """List the loaded algorithms with their connections and counters."""
    there = residents()
    if as_json:
        print_document({"loaded": [dataclasses.asdict(each) for each in there]})
        return
    if not there:
        sys.stdout.write("no algorithm is loaded; selfclock kernel check says what selfclock kernel run has there\n")
        return
    print_table(
        [
            Column("name", [each.name for each in there], "name"),
            Column("algorithm", [each.algorithm for each in there], "name"),
            Column("loaded", [_when(each) for each in there], "word", spare=2),
            Column("connections\nnow", [f"{each.flows}" for each in there]),
            Column("so far", [f"{each.flows_so_far}" for each in there], spare=1),
            Column("events", [f"{each.events}" for each in there]),
            Column("ACKs\nunder Reno", [f"{each.fallback_acks}" for each in there]),
            Column("default of", [", ".join(each.default_of) or "-" for each in there], "text"),
        ]
    )
    for each in there:
        _say_more(each)


def _when(each: Resident) -> str:
    return f"{each.loaded_at:%Y-%m-%d %H:%M}" if each.registered else "unloaded"


def _say_more(each: Resident) -> None:
    if each.recorder is not None:
        sys.stdout.write(f"{each.name}: process {each.recorder} records it\n")
    if each.recorded or each.lost_records:
        sys.stdout.write(f"{each.name}: {each.recorded} events recorded, {each.lost_records} lost\n")
    if each.without_state:
        note(f"{each.name}: no memory for the state of {each.without_state} connections; Reno controlled them")


program_option = click.option(
    "--with",
    "program",
    type=PATH,
    metavar="PROGRAM",
    help="Replay a user's own algorithm by this program of `selfclock kernel build`.",
)


@click.argument("directory", type=PATH, metavar="DIRECTORY", help="Where the record is written.")
@click.argument("name", required=False, metavar="[NAME]", help="Algorithm to record, if more than one is loaded.")
@click.option("--for", "lasts", metavar="TIME", help="End after this time.  [default: at Ctrl-C]")
@program_option
@json_option
def record_command(directory: Path, name: str | None, lasts: str | None, program: Path | None, as_json: bool) -> None:
    """Record events and decisions of new connections.

    At the end the record is replayed.
    """
    until = None if lasts is None else time.monotonic() + seconds_of("--for", lasts)
    fresh = not directory.exists()
    path = events_file("DIRECTORY", directory)
    try:
        recording = Recording(path, name)
    except KernelError:
        if fresh:
            directory.rmdir()
        raise
    with recording:
        if not as_json:
            sys.stderr.write(f"{recording.algorithm}, loaded as {recording.name!r}, is recorded; Ctrl-C ends it\n")
            sys.stderr.flush()
        with contextlib.suppress(KeyboardInterrupt):
            while recording.is_running and (until is None or time.monotonic() < until):
                time.sleep(0.1)
        recorded = recording.stop()
    document = {"algorithm": recording.algorithm, "name": recording.name, **dataclasses.asdict(recorded)}
    _warn(recorded)
    complete(directory, document, program)
    if as_json:
        print_document(document)
        return
    rows = [
        ("connections", recorded.flows),
        ("events", recorded.events),
        ("events lost to a full ring", recorded.lost),
        ("connections truncated at a lost event", recorded.cut),
        ("connections already established", recorded.earlier),
        ("events skipped", recorded.passed_over),
    ]
    print_table([Column("record", [row[0] for row in rows], "name"), Column("", [f"{row[1]}" for row in rows])])


def _warn(recorded: Recorded) -> None:
    if recorded.error is not None:
        note(f"{recorded.error}; the record ends there")
    if recorded.gone:
        note("the algorithm was unloaded, and its last connection has closed")
    if recorded.lost:
        note(f"{recorded.lost} events were lost: {recorded.cut} connections are recorded up to their first lost event")
    if not recorded.flows:
        note("no connection started: established connections cannot be recorded")


def described(each: Resident) -> str:
    """Describe the fate of an unloaded algorithm."""
    if not each.registered:
        return f"unloaded before; {each.flows} connections keep it until they close"
    rest = f"; {each.flows} connections keep it until they close" if each.flows else ""
    return f"unloaded, {each.algorithm}{''.join(_defaults(each))}{rest}"


def _defaults(each: Resident) -> Iterator[str]:
    """Say which default every namespace that had the algorithm's has now."""
    previous = [space.namespace for space in each.restored if space.previous]
    if previous:
        yield f"; {', '.join(previous)} {_has(previous)} the previous default again"
    others: dict[str, list[str]] = {}
    for space in each.restored:
        if not space.previous:
            others.setdefault(space.default or "", []).append(space.namespace)
    for name, places in others.items():
        if name:
            yield f"; {', '.join(places)} {_has(places)} {name} now: what was the default before is not known"
        else:
            yield f"; the default of {', '.join(places)} cannot be set, and connections there still get {each.name}"


def _has(places: Sequence[str]) -> str:
    return "has" if len(places) == 1 else "have"


#: The commands, by their names in the group.
COMMANDS = {
    "list": list_command,
    "build": build_command,
    "load": load_command,
    "status": status_command,
    "record": record_command,
}
