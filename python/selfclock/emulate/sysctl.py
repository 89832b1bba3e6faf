"""Kernel settings of a network namespace: names below net., resolved in the namespace's own /proc/sys/net.

Everything else below /proc/sys belongs to the machine. Of the names below net., too, the machine
keeps some for itself: other namespaces then lack the file, or may only read it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

#: Where the kernel shows the settings of the reader's network namespace.
ROOT = "/proc/sys/net"

#: Read-only in the machine's own namespace, too: lists, counts and sizes that the kernel reports
#: (mode 0444 in net/ipv4/sysctl_net_ipv4.c, net/ipv4/devinet.c, net/ipv6/addrconf.c,
#: net/mptcp/ctrl.c and net/netfilter/nf_conntrack_standalone.c of Linux 6.18).
_REPORTS = {
    "tcp_available_congestion_control", "tcp_available_ulp", "tcp_ehash_entries", "udp_hash_entries", "mc_forwarding",
    "available_schedulers", "available_path_managers", "nf_conntrack_count",
}  # fmt: skip

#: A part of a name. As in sysctl(8), '/' may separate the parts, for devices with '.' in their
#: name.
_PART = re.compile(r"[A-Za-z0-9_@:.-]+")


class SysctlError(ValueError):
    """A setting is none of a network namespace; the message says what is allowed."""


def parts(name: str) -> list[str]:
    """Return the parts of a name such as net.ipv4.tcp_rmem, without the first."""
    slash, dot = name.find("/"), name.find(".")
    separator = "/" if 0 <= slash < dot or dot < 0 else "."
    first, *rest = name.split(separator)
    if first != "net" or not rest:
        raise SysctlError(
            f"{name}: is none of a network namespace; allowed: names below net., such as net.ipv4.tcp_rmem"
        )
    for part in rest:
        if part in {".", ".."} or not _PART.fullmatch(part):
            raise SysctlError(f"{name}: {part!r} is no part of a name; allowed: letters, digits and '_' between dots")
    return rest


def write(name: str, value: str) -> None:
    """Write a setting of this process's network namespace. No link is followed, and nothing outside is reached."""
    *folders, last = parts(name)
    missing = f"{name}: there is none of that name in a network namespace"
    try:
        at = os.open(ROOT, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                inner = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
                os.close(at)
                at = inner
            found = os.stat(last, dir_fd=at, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                raise SysctlError(missing)
            # The kernel takes write permission from settings that all namespaces share
            # (ipv4_sysctl_init_net, nf_conntrack_standalone_init_sysctl).
            if not found.st_mode & 0o222:
                if last in _REPORTS:
                    raise SysctlError(f"{name}: only the kernel itself sets it; allowed: settings that can be written")
                raise SysctlError(
                    f"{name}: it belongs to the machine, not to a host; set it there: sysctl -w {name}='{value}'"
                )
            file = os.open(last, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
        finally:
            os.close(at)
    except (FileNotFoundError, NotADirectoryError):
        raise SysctlError(missing) from None
    except OSError as error:
        raise SysctlError(f"{name}: {error.strerror}") from None
    try:
        os.write(file, value.encode())
    except OSError as error:
        raise SysctlError(f"{name}={value}: {_refusal(name, value, error)}") from None
    finally:
        os.close(file)


#: The sysctl of the machine that lists what a namespace may choose (net/ipv4/tcp_cong.c), and the
#: one of what the kernel has.
_ALLOWED, _AVAILABLE = "net.ipv4.tcp_allowed_congestion_control", "net.ipv4.tcp_available_congestion_control"


def _refusal(name: str, value: str, error: OSError) -> str:
    """Return why the kernel refused a value, and what helps."""
    if name == "net.ipv4.tcp_congestion_control":
        there = _words(_AVAILABLE)
        if value not in there:
            return f"this kernel has no algorithm of that name; loaded are {', '.join(there)} ({_AVAILABLE})"
        if error.errno == errno.EPERM:
            allowed = _words(_ALLOWED)
            return (
                f"a network namespace may choose {', '.join(allowed)}; allow it on the machine: "
                f"sysctl -w {_ALLOWED}='{' '.join([*allowed, value])}'"
            )
    return error.strerror or str(error)


def _words(name: str) -> list[str]:
    return Path("/proc/sys", *name.split(".")).read_text(encoding="utf-8").split()
