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
    """The kernel of this machine does not support or allow it."""


def need_linux() -> None:
    """Refuse if the compiled part cannot control connections."""
    if not hasattr(_core, "KernelSession"):
        raise KernelError(f"algorithms control real connections on Linux 6.10 or later alone; this is {sys.platform}")


@dataclass(frozen=True)
class Finding:
    """One check and its result."""

    what: str
    #: `None` if an optional feature is missing.
    good: bool | None
    found: str


@dataclass(frozen=True)
class Left:
    """A congestion control of selfclock in the kernel."""

    name: str
    #: The process that registered it.
    owner: int
    #: Whether new connections can use it; otherwise only those left behind by a process do.
    registered: bool
    #: Connections now.
    flows: int
    flows_so_far: int
    #: Connections without a slot: Reno controls them.
    without_slot: int
    #: Events lost because the ring was full.
    lost_events: int
    #: Number of fallbacks to Reno.
    fallbacks: int


def check() -> list[Finding]:
    """Check all requirements, and let the kernel verify the programs without registering them."""
    need_linux()
    return [Finding(**row) for row in json.loads(_core.kernel_check())]


def registered() -> list[Left]:
    """Return selfclock's congestion controls in the kernel."""
    need_linux()
    return _rows(_core.kernel_list)


def unload(name: str | None = None) -> list[Left]:
    """Unregister one by name, or all, and return what there was. Connections continue under Reno."""
    need_linux()
    return _rows(lambda: _core.kernel_unload(name))


def _rows(ask: Callable[[], str]) -> list[Left]:
    try:
        return [Left(**row) for row in json.loads(ask())]
    except PermissionError:
        raise KernelError("this needs the capability CAP_SYS_ADMIN: run it as root") from None
