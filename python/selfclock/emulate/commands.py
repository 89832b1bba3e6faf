"""The commands of an emulation, as they are written on the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from selfclock.emulate.addresses import named
from selfclock.emulate.session import Command
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.emulate.addresses import EmulatedHost


def commands(words: Sequence[str], first_host: str | None, hosts: Sequence[EmulatedHost]) -> list[Command]:
    """Return the commands in the order in which they start; the emulation lasts as long as the last one.

    `words` is everything after the first `--`: a command, and after each `--host NAME --` another.
    The first runs on `first_host`; without it, on the first host, starting last. Without words it
    is the user's shell.
    """
    found = []
    host, rest = first_host, list(words)
    while True:
        at = _next(rest)
        found.append((host, tuple(rest[:at])))
        if at is None:
            break
        host, rest = rest[at + 1], rest[at + 3 :]
    if found == [(None, ())]:
        found = [(None, (os.environ.get("SHELL") or "/bin/sh",))]
    if found[0][0] is None:
        found = [*found[1:], found[0]] if found[0][1] else found[1:]
    if not all(command for _, command in found):
        name = next(name for name, command in found if not command)
        raise BadInputError(f"--host {name}: no command; write --host {name} -- COMMAND")
    chosen = [Command(hosts[0] if name is None else named(hosts, name), command) for name, command in found]
    names = [command.host.name for command in chosen]
    for name in names:
        if names.count(name) > 1:
            raise BadInputError(f"--host {name}: two commands on one host; write -- sh -c 'FIRST & SECOND'")
    return chosen


def _next(words: Sequence[str]) -> int | None:
    """Return where the next `--host NAME --` begins."""
    for at in range(len(words) - 2):
        if words[at] == "--host" and words[at + 2] == "--":
            return at
    return None
