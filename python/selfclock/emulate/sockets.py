"""Which congestion control the sockets of a host run: asked of its kernel, as `ss -i` does.

Constants and structures are those of `linux/sock_diag.h`, `linux/inet_diag.h` and
`net/tcp_states.h`.
"""

from __future__ import annotations

import errno
import socket
import struct
import threading
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How often a host is asked, s: a connection that lives less may be missed. Asking takes 0.1 ms.
ASK_S, ASK_S_PER_HOST = 0.05, 0.01

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_NLM_F_REQUEST, _NLM_F_DUMP, _NLMSG_ERROR, _NLMSG_DONE = 0x1, 0x300, 2, 3
_INET_DIAG_CONG = 4
#: Bits of the states that have an algorithm: all but SYN_RECV, TIME_WAIT, CLOSE, LISTEN.
_STATES = sum(1 << state for state in (1, 2, 4, 5, 8, 9, 11))
#: struct nlmsghdr; of struct inet_diag_msg what comes before the addresses, and its length.
_HEADER = struct.Struct("=IHHII")
_IDENTITY = struct.Struct("!4xHH16s16s")
_MESSAGE_BYTES = 72

#: Address and port.
End = tuple[str, int]


def open_diag() -> socket.socket:
    """Return a socket that answers about the network namespace in which it was made, wherever it is used."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)


def default_algorithm() -> str:
    """Return the congestion control of new sockets in this process's network namespace."""
    return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()


def algorithms(diag: socket.socket) -> list[tuple[End, End, str]]:
    """Return own end, peer and congestion control of the TCP connections of a namespace."""
    found: list[tuple[End, End, str]] = []
    for family in (socket.AF_INET, socket.AF_INET6):
        body = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_CONG - 1), _STATES)
        head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST | _NLM_F_DUMP, 1, 0)
        diag.send(head + body)
        while _read(diag.recv(1 << 18), found):
            pass
    return found


def _read(answer: bytes, found: list[tuple[End, End, str]]) -> bool:
    """Add the sockets of a part of an answer; return whether more parts follow."""
    at = 0
    while at + _HEADER.size <= len(answer):
        length, kind, _, _, _ = _HEADER.unpack_from(answer, at)
        if kind == _NLMSG_DONE:
            return False
        if kind == _NLMSG_ERROR:
            (error,) = struct.unpack_from("=i", answer, at + _HEADER.size)
            raise OSError(-error, "the kernel lists no sockets", errno.errorcode.get(-error, ""))
        message = answer[at + _HEADER.size : at + length]
        name = _attribute(message[_MESSAGE_BYTES:], _INET_DIAG_CONG)
        if name is not None:
            port, peer_port, own, peer = _IDENTITY.unpack_from(message)
            ends = (_address(message[0], own), port), (_address(message[0], peer), peer_port)
            found.append((*ends, name.rstrip(b"\0").decode("ascii", "replace")))
        at += (length + 3) & ~3
    return True


def _attribute(rest: bytes, wanted: int) -> bytes | None:
    """Return the value of a struct rtattr among these."""
    at = 0
    while at + 4 <= len(rest):
        length, kind = struct.unpack_from("=HH", rest, at)
        if kind == wanted:
            return rest[at + 4 : at + length]
        at += max(4, (length + 3) & ~3)
    return None


def _address(family: int, raw: bytes) -> str:
    """Return an address; one of IPv4 in a socket of IPv6 as it is on the path."""
    if family == socket.AF_INET:
        return str(ip_address(raw[:4]))
    found = IPv6Address(raw)
    return str(found.ipv4_mapped or found)


class Asker:
    """Asks hosts from time to time, in a thread of its own, and remembers the last answer for each connection."""

    def __init__(self, hosts: Mapping[str, socket.socket]) -> None:
        self._hosts = hosts
        self._known: dict[tuple[End, End], str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sockets", daemon=True)

    def __enter__(self) -> Asker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ask for the last time."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        every_s = max(ASK_S, ASK_S_PER_HOST * len(self._hosts))
        while True:
            last = self._ended.wait(every_s)
            for address, diag in list(self._hosts.items()):
                self._ask(address, diag)
            if last:
                return

    def _ask(self, address: str, diag: socket.socket) -> None:
        try:
            # Of the machine's many sockets only those on the path.
            self._known |= {(own, peer): name for own, peer, name in algorithms(diag) if own[0] == address}
        except OSError:
            # A kernel without inet_diag (CONFIG_INET_DIAG): flows keep the defaults.
            self._hosts = {}

    def found(self) -> list[tuple[End, End, str]]:
        """Return own end, peer and congestion control of the connections seen."""
        return [(own, peer, name) for (own, peer), name in self._known.items()]
