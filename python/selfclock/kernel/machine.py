"""Capabilities of this machine, and the parts of selfclock in its kernel."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable


class KernelError(BadInputError):
    """The kernel of this machine cannot do it, or does not allow it."""


def need_linux() -> None:
    """Refuse where the compiled part cannot control connections."""
    if not hasattr(_core, "KernelSession"):
        raise KernelError(f"algorithms control real connections on Linux 6.10 or later alone; this is {sys.platform}")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    #: `None`: it would be nice to have, and is missing.
    good: bool | None
    found: str


@dataclass(frozen=True)
class Left:
    """A congestion control of selfclock in the kernel."""

    name: str
    #: The process that registered it.
    owner: int
    #: Connections can be made under it; else it has those alone that a process left behind.
    registered: bool
    #: Connections now.
    flows: int
    flows_so_far: int
    #: Connections that found no slot: Reno controls them.
    without_slot: int
    #: Events for which the ring had no room.
    lost_events: int
    #: Times that Reno took over.
    fallbacks: int


def check() -> list[Finding]:
    """Look at everything that is needed, and let the kernel verify the programs without registering them."""
    need_linux()
    return [Finding(**row) for row in json.loads(_core.kernel_check())]


def registered() -> list[Left]:
    """Return the congestion controls of selfclock that the kernel has."""
    need_linux()
    return _rows(_core.kernel_list)


def unload(name: str | None = None) -> list[Left]:
    """Take the name of one away, or of all, and return what there was. Connections go on under Reno."""
    need_linux()
    return _rows(lambda: _core.kernel_unload(name))


def _rows(ask: Callable[[], str]) -> list[Left]:
    try:
        return [Left(**row) for row in json.loads(ask())]
    except PermissionError:
        raise KernelError("this needs the capability CAP_SYS_ADMIN: run it as root") from None
