"""Whether hosts of emulations can be created here, and how a test becomes root in its own namespaces.

    python namespaces.py COMMAND...

runs a command as root of a user namespace, with an empty network and an empty /run: its changes are
gone afterwards.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from selfclock.emulate import kernel, tun
from selfclock.emulate.host import Setup
from selfclock.emulate.sandbox import SandboxError, sandboxes


def setup(name: str, address: str, **other: object) -> Setup:
    """Return the setup of a host in its own user namespace, which needs no root."""
    usual = {"hosts": "10.201.0.1 a\n10.201.0.2 b\n", "unprivileged": True, "way_out": False, "sysctls": {}}
    return Setup(**{**usual, "resolver": None, "name": name, "address": address, **other})  # type: ignore[arg-type]


@cache
def obstacle() -> str | None:
    """Return why no host can be created on this machine; `None` if one can."""
    if not sys.platform.startswith("linux"):
        return "namespaces are of Linux"
    try:
        with sandboxes([setup("a", "10.201.0.1")]):
            return None
    except SandboxError as error:
        return str(error)


def main() -> None:
    """Run a command as root of a user namespace."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET | kernel.CLONE_NEWNS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/run", "tmpfs")
    tun.bring_up("lo")
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606


def living(mark: str) -> list[int]:
    """Return the processes with a mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main()
