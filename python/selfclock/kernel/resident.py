"""Algorithms that decide in the kernel: once loaded, they need no process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock.kernel.machine import KernelError, need_linux
from selfclock.kernel.thread import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from pathlib import Path

    from selfclock.scenario import Scenario

#: Linux's own names of congestion controls, modules included.
LINUX = frozenset(
    (
        *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno"),
        *("scalable", "vegas", "veno", "westwood", "yeah"),
    )
)
#: Maximum length of a congestion control's name.
LONGEST = 15


@dataclass(frozen=True)
class Object:
    """An algorithm compiled for the kernel."""

    algorithm: str
    bytes: int


@dataclass(frozen=True)
class Restored:
    """The default of a network namespace after an algorithm was unloaded."""

    namespace: str
    #: None if it cannot be set.
    default: str | None
    #: Whether that is the one it had before.
    previous: bool


@dataclass(frozen=True)
class Resident:
    """An algorithm in the kernel."""

    name: str
    #: With its parameters.
    algorithm: str
    #: Seconds since 1970.
    since: int
    #: Whether sockets can choose it; otherwise only connections from before it was unloaded use it.
    registered: bool
    flows: int
    flows_so_far: int
    #: Decided events, and ACKs among them.
    events: int
    acks: int
    #: Connections without state, and their ACKs: Reno controlled them.
    without_state: int
    fallback_acks: int
    #: Recorded events, and those lost because the ring was full.
    recorded: int
    lost_records: int
    #: The process that records it.
    recorder: int | None
    #: Network namespaces with this default.
    default_of: list[str]
    #: After an unload, the default that each of them has now.
    restored: tuple[Restored, ...]
    #: Whether the process that loaded it lives; None if that was in another PID namespace.
    loader_lives: bool | None

    @property
    def loaded_at(self) -> datetime:
        """When it was loaded."""
        return datetime.fromtimestamp(self.since, UTC).astimezone()


@dataclass(frozen=True)
class Recorded:
    """Counts of the recording so far."""

    events: int
    flows: int
    #: Earlier connections, which are not recorded.
    earlier: int
    #: Connections recorded up to their first lost event.
    cut: int
    #: Events lost because the ring was full.
    lost: int
    #: Skipped events: of earlier connections, or after a lost event.
    passed_over: int
    error: str | None
    #: The algorithm was unloaded meanwhile and its last connection has closed.
    gone: bool


def objects() -> list[Object]:
    """Return the algorithms that are compiled for the kernel."""
    need_linux()
    return [Object(**row) for row in json.loads(_core.kernel_objects())]


class NotCompiledError(KernelError):
    """An algorithm is not compiled for the kernel."""

    def __init__(self, what: str) -> None:
        """Say what is not, and what is."""
        there = ", ".join(each.algorithm for each in objects()) or "none"
        super().__init__(f"{what}; those that are: {there}. selfclock kernel run takes any")
        self.what = what


def usual_name(algorithm: str) -> str:
    """Return the default name in the kernel: the label, with the prefix "sc_" if Linux uses it, too."""
    label = algorithm.partition(":")[0].strip()
    name = "".join(letter if letter.isalnum() else "_" for letter in label).strip("_")
    return f"sc_{name}"[:LONGEST] if name in LINUX else name[:LONGEST].strip("_")


def load(algorithm: str | tuple[Scenario, int], name: str | None = None) -> str:
    """Load an algorithm such as "cubic+hystart++:beta=0.8", or that of a scenario's flow, by its index.

    Return the name by which sockets choose it. It decides in the kernel until unloaded, without a
    process.
    """
    need_linux()
    if name is None:
        name = usual_name(algorithm if isinstance(algorithm, str) else "selfclock")
    chosen = algorithm if isinstance(algorithm, str) else (algorithm[0]._core, algorithm[1])
    try:
        _core.kernel_load(chosen, name)
    except LookupError as error:
        raise NotCompiledError(str(error.args[0])) from None
    except ValueError as error:
        raise KernelError(f"algorithm: {error}") from None
    except OSError as error:
        raise KernelError(str(error)) from None
    return name


def load_object(file: Path, settings: Sequence[str] = (), name: str | None = None) -> tuple[str, str]:
    """Load an object of `selfclock kernel build`, with settings such as "beta=0.8".

    Return the name by which sockets choose it, and the algorithm with its settings.
    """
    need_linux()
    try:
        contents = file.read_bytes()
    except OSError as error:
        raise KernelError(f"{file}: {error.strerror or error}") from None
    described = _core.kernel_describe(contents)
    if described is None:
        raise KernelError(f"{file}: this is no object of selfclock kernel build")
    if name is None:
        name = usual_name(json.loads(described)["name"])
    try:
        return name, _core.kernel_load_object(contents, ",".join(settings), name)
    except (ValueError, OSError) as error:
        raise KernelError(f"{file}: {error}") from None


def make_default(name: str, *, host: bool = False) -> str:
    """Make a loaded algorithm the default of this network namespace, or of the host; return the former default."""
    need_linux()
    try:
        return _core.kernel_default(name, host)
    except LookupError as error:
        raise KernelError(error.args[0]) from None
    except OSError as error:
        where = "the host" if host else "this namespace"
        raise KernelError(f"the default of {where} cannot be set: {error.strerror or error}") from None


def residents() -> list[Resident]:
    """Return the algorithms that are in the kernel."""
    need_linux()
    return _rows(_core.kernel_residents)


def unload_residents(name: str | None = None) -> list[Resident]:
    """Unregister one by name, or all, and return what there was.

    Connections continue under them until they close. Each namespace's former default is restored.
    """
    need_linux()
    return _rows(lambda: _core.kernel_unload_residents(name))


def _rows(ask: Callable[[], str]) -> list[Resident]:
    try:
        return [
            Resident(**{**row, "restored": tuple(Restored(**each) for each in row["restored"])})
            for row in json.loads(ask())
        ]
    except PermissionError:
        raise KernelError("this needs the capability CAP_SYS_ADMIN: run it as root") from None


class Recording(Running[Recorded]):
    """Events and decisions of connections that begin from now on.

    Written until the end of a `with` block, or until the algorithm is gone.
    """

    def __init__(self, path: str | PathLike[str], name: str | None = None) -> None:
        """Record the loaded algorithm with this name, or the only one, into a file."""
        need_linux()
        try:
            self._core = _core.KernelRecorder(path, name)
        except LookupError as error:
            raise KernelError(f"{error.args[0]}; selfclock kernel status says what is") from None
        except PermissionError:
            raise KernelError("this needs the capability CAP_SYS_ADMIN: run it as root") from None
        except OSError as error:
            raise KernelError(f"record: {error.strerror or error}") from None
        self.name = self._core.name
        self.algorithm = self._core.algorithm
        super().__init__(self._core.run, self._core.stop, "selfclock-record")

    def status(self) -> Recorded:
        """Return what has been recorded so far."""
        return Recorded(**json.loads(self._core.status()))
