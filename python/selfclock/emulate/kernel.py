"""Linux system calls without a function in Python 3.11.

Constants are those of the kernel's headers (`linux/sched.h`, `linux/mount.h`, `linux/prctl.h`).
"""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x2, 0x4, 0x8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 0x2

_PR_SET_PDEATHSIG = 1
_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library; raise what `errno` says if it fails."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def unshare(flags: int) -> None:
    """Move this process into new namespaces; a PID namespace is that of the children to come."""
    _call("unshare", ctypes.c_int(flags))


def is_administrator() -> bool:
    """Return whether this process may make namespaces and set up devices: root of a container may not."""
    needed = 1 << _CAP_SYS_ADMIN | 1 << _CAP_NET_ADMIN
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) & needed == needed
    return os.geteuid() == 0


def own_user_namespace() -> None:
    """Move into a user namespace with the same user and group as outside, and every capability in it.

    A command executed there has none of them: programs that refuse to run as root, such as
    browsers, run.
    """
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    # An unprivileged process may map its group only after giving up setgroups (user_namespaces(7)).
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def mount(source: str, target: str, kind: str = "", flags: int = 0) -> None:
    """Mount a file system, or bind a file to another place."""
    _call("mount", os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), None)


def unmount(target: str) -> None:
    """Unmount what is mounted last there."""
    _call("umount2", os.fsencode(target), ctypes.c_int(MNT_DETACH))


def set_host_name(name: str) -> None:
    """Name the host of this UTS namespace."""
    encoded = name.encode()
    _call("sethostname", encoded, ctypes.c_size_t(len(encoded)))


def die_with_parent() -> None:
    """Have this process killed when its parent ends. A change of credentials cancels this (prctl(2))."""
    _call("prctl", ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(signal.SIGKILL), *[ctypes.c_ulong(0)] * 3)
