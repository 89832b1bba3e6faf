"""Results on disk. Nothing half-written gets the name of a result: write to a temporary file, then rename."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import secrets
import shutil
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from selfclock import provenance
from selfclock._core import COMMIT, ENGINE, VERSION
from selfclock.errors import BadInputError
from selfclock.locks import try_lock
from selfclock.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from selfclock.result import Table
    from selfclock.scenario import Scenario

FORMATS = ("png", "svg", "pdf")
#: A capture covers what a host sends and receives, or what crosses a link.
CaptureKind = Literal["host", "link"]
#: Files with a sweep's runs.
SWEEP_FILES = ("runs.parquet", "journal.jsonl")
#: Errors of a full disk.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: The table of packet events.
PACKETS = "packets.parquet"


class UnwritableError(BadInputError):
    """Results cannot be written to the given place."""


class FormatError(BadInputError):
    """No figure format has this name."""


def parse_formats(names: str, argument: str = "--format") -> tuple[str, ...]:
    """Return the formats in a text such as "png,pdf"; an empty text has none. A message names the argument."""
    chosen = tuple(dict.fromkeys(name.strip().lower() for name in names.split(",") if name.strip()))
    for name in chosen:
        if name not in FORMATS:
            near = nearest(name, FORMATS)
            meant = f"did you mean {near!r}? " if near else ""
            raise FormatError(f"{argument}: {name!r}; {meant}allowed: {', '.join(FORMATS)}, several with commas")
    return chosen


def forget_figures(directory: Path, names: Iterable[str], formats: Sequence[str]) -> None:
    """Remove figures of an earlier run in formats that this one does not write: they could be mistaken for its own."""
    for name in names:
        for kind in set(FORMATS) - set(formats):
            (directory / f"{name}.{kind}").unlink(missing_ok=True)


def check_writable(directory: Path, *, sweep: bool = False) -> None:
    """Refuse early if results could not be written after the run; only a sweep may write into a sweep's directory."""
    if directory.is_symlink() and not directory.exists():
        raise UnwritableError(
            f"cannot write results to {directory}: it is a link to {directory.readlink()}, which is not there"
        )
    nearest = next(parent for parent in (directory, *directory.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        raise UnwritableError(f"cannot write results to {directory}: {nearest} is not a directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UnwritableError(f"cannot write results to {directory}: no permission to write in {nearest}")
    if not sweep and any((directory / name).exists() for name in SWEEP_FILES):
        raise UnwritableError(f"{directory} holds the runs of a sweep: choose another directory with --out")


def number_of(error: OSError) -> int | None:
    """Return the system's number of an error; libraries in Rust have it in the text alone."""
    if error.errno is not None:
        return error.errno
    found = re.search(r"\(os error (\d+)\)", str(error))
    return None if found is None else int(found[1])


@contextmanager
def on_disk(path: Path, kept: str = "") -> Iterator[None]:
    """Add the file and the free space on its disk to an error that names neither; `kept` says what is not lost."""
    try:
        yield
    except OSError as error:
        number = number_of(error)
        if error.filename is not None and number not in FULL:
            raise
        said = error.strerror or (os.strerror(number) if number is not None else str(error))
        rest = f"; {kept}" if kept else ""
        raise UnwritableError(f"cannot write {path}: {said}{room(path)}{rest}") from None


def room(path: Path) -> str:
    """Return the free space on the disk of a file, as a remark."""
    nearest = next(parent for parent in path.absolute().parents if parent.exists())
    try:
        free = shutil.disk_usage(nearest).free
    except OSError:
        return ""
    return f" ({free / 1e6:,.1f} MB are free on the disk of {nearest})"


@contextmanager
def staged(directory: Path, *, sweep: bool = False) -> Iterator[Path]:
    """Yield an empty directory beside `directory`; its contents at the end are moved there.

    If the work fails or is interrupted, nothing of it remains. Files already in `directory` that
    the work did not write stay, so it is safe to name a directory with other contents; but files
    that an earlier result lists as its own are removed, if this result has such a list.
    """
    check_writable(directory, sweep=sweep)
    directory.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(directory)
    with _claimed(directory) as aside:
        with on_disk(aside):
            aside.mkdir()
        try:
            try:
                yield aside
            except OSError as error:
                if number_of(error) not in FULL:
                    raise
                written = max(aside.rglob("*"), key=lambda path: path.stat().st_mtime_ns, default=aside)
                left = "what was there before is kept" if directory.exists() else "nothing of this result is kept"
                with on_disk(directory / written.name if written != aside else directory, left):
                    raise
            with uninterrupted():
                _put(aside, directory)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _claimed(directory: Path) -> Iterator[Path]:
    """Yield a name for work in progress, with a locked file beside it: `remove_abandoned` leaves it alone."""
    while True:
        aside = directory.parent / f".{directory.name}.{secrets.token_hex(4)}.partial"
        mark = _mark(aside)
        with on_disk(mark), mark.open("xb") as file:
            # A file system without locks: nobody removes it, then.
            with suppress(OSError):
                try_lock(file)
            if not _is_same(file, mark):
                # Removed by another process between its creation and its lock.
                continue
            try:
                yield aside
            finally:
                mark.unlink(missing_ok=True)
            return


def _mark(aside: Path) -> Path:
    return aside.with_name(f"{aside.name}.lock")


def _is_same(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _put(aside: Path, directory: Path) -> None:
    """Move written files to their place; all or none."""
    if not directory.exists():
        aside.replace(directory)
        return
    names = sorted(path.name for path in aside.iterdir())
    for name in names:
        if (directory / name).is_dir():
            raise UnwritableError(f"cannot write {directory / name}: a directory has that name")
    listed = set().union(*map(provenance.files_of, provenance.earlier(directory).values()))
    replaces = provenance.earlier(aside)
    for name in names:
        (aside / name).replace(directory / name)
    if replaces:
        kept = set(names).union(*map(provenance.files_of, replaces.values()))
        for name in listed - kept:
            (directory / name).unlink(missing_ok=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signals that end the program until the block is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def remove_abandoned(directory: Path) -> None:
    """Remove the remains of killed processes beside a directory."""
    stem = f".{glob.escape(directory.name)}"
    for mark in directory.parent.glob(f"{stem}.*.partial.lock"):
        left = mark.with_name(mark.name.removesuffix(".lock"))
        with suppress(OSError), mark.open("ab") as file:
            if try_lock(file):
                shutil.rmtree(left, ignore_errors=True)
                mark.unlink(missing_ok=True)
    for left in directory.parent.glob(f"{stem}.*.partial"):
        # Of versions that had no locks: the number of the process.
        number = left.name.removesuffix(".partial").rpartition(".")[2]
        if not _mark(left).exists() and number.isdecimal() and not _is_running(int(number)):
            shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    # A process has one such directory at a time: another one with its number belongs to a process
    # that is gone.
    if process == os.getpid():
        return False
    if os.name == "nt":
        # On Windows, signal 0 would end the process.
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def digests(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return the digests of the user-defined algorithms of scenarios, by name."""
    return {name: source.digest for scenario in scenarios for name, source in scenario.sources.items()}


def identity(scenarios: Sequence[Scenario]) -> str:
    """Return a digest of runs: their scenarios, seeds and algorithms, and the engine."""
    parts = [VERSION, ENGINE, *(f"{scenario.seed}\n{scenario.text}" for scenario in scenarios)]
    parts += sorted(digests(scenarios).values())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def metadata(scenario: Scenario) -> dict[str, str]:
    """Return the metadata that suffice to recompute a table."""
    own = {
        f"selfclock.algorithm.{name}" + (f"/{file}" if number else ""): text
        for name, source in scenario.sources.items()
        for number, (file, text) in enumerate(source.files.items())
    }
    return {
        "selfclock.version": VERSION,
        "selfclock.commit": COMMIT,
        "selfclock.engine": ENGINE,
        "selfclock.scenario": scenario.text,
        "selfclock.seed": str(scenario.seed),
        **{f"selfclock.digest.{name}": digest for name, digest in digests([scenario]).items()},
        **own,
    }


def write_table(table: Table, path: Path, scenario: Scenario) -> None:
    """Write a table as Parquet with its provenance. The same scenario and seed give the same bytes."""
    table.write_parquet(path, list(metadata(scenario).items()))


def file_stem(name: str) -> str:
    """Return a name in characters valid in every file system."""
    return re.sub(r"[^\w.+-]+", "_", name)


def captures(scenario: Scenario, kinds: Sequence[CaptureKind]) -> list[tuple[CaptureKind, str, str]]:
    """Return kind, name and file name of the capture of each host, of each link, or both."""
    found: dict[str, tuple[CaptureKind, str, str]] = {}
    places: dict[CaptureKind, list[str]] = {"host": scenario.host_names, "link": scenario.link_names}
    for kind in dict.fromkeys(kinds):
        for name in places[kind]:
            stem = ("link-" if kind == "link" else "") + re.sub(r"[^\w.-]+", "_", name)
            # Names may differ only in characters that are not valid in file names.
            file = next(
                file
                for number in range(len(found) + 1)
                if (file := f"{stem}{f'-{number + 1}' if number else ''}.pcapng") not in found
            )
            found[file] = kind, name, file
    return list(found.values())
