"""TUN devices: made, addressed and brought up by ioctl, without external programs.

Constants are those of `linux/if_tun.h`, `linux/sockios.h` and `linux/if.h`.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

DEVICE = "/dev/net/tun"

#: Packets as large as on the Internet.
MTU = 1500

#: Device queue in front of the emulator, which reads at once; a device that drops would lose
#: packets unseen by the scenario's queues.
TX_QUEUE_PACKETS = 10_000

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_SIOCADDRT, _SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x890B, 0x8913, 0x8914
_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFMTU = 0x8916, 0x891C, 0x8922
_IFF_UP, _RTF_UP = 0x1, 0x1
_RTM_SETLINK, _NLM_F_REQUEST, _NLM_F_ACK, _IFLA_TXQLEN = 19, 0x1, 0x4, 13


def open_tun(name: str) -> int:
    """Make a TUN device in this network namespace and return its descriptor, which keeps it alive.

    A read is one IP packet: without the virtio header the kernel passes no segments larger than the
    MTU.
    """
    return open_numbered(name)[0]


def open_numbered(pattern: str) -> tuple[int, str]:
    """Make a TUN device whose name has the first free number in place of "%d"; return its descriptor and name."""
    found = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        asked = struct.pack("16sH22x", pattern.encode(), _IFF_TUN | _IFF_NO_PI)
        given = fcntl.ioctl(found, _TUNSETIFF, asked)
        fcntl.ioctl(found, _TUNSETOFFLOAD, 0)
    except OSError:
        os.close(found)
        raise
    return found, given[:16].rstrip(b"\0").decode()


def bring_up(name: str, address: str | None = None, netmask: str = "255.255.0.0") -> None:
    """Bring a device up; one with an address also has the route to its network, and its MTU and queue set."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        if address is not None:
            _set_queue(name, TX_QUEUE_PACKETS)
            _set(control, _SIOCSIFMTU, name, struct.pack("i", MTU))
            _set(control, _SIOCSIFADDR, name, _socket_address(address))
            _set(control, _SIOCSIFNETMASK, name, _socket_address(netmask))
        asked = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16s24x", name.encode()))
        (flags,) = struct.unpack_from("H", asked, 16)
        _set(control, _SIOCSIFFLAGS, name, struct.pack("H", flags | _IFF_UP))


def route_everything(name: str) -> None:
    """Send everything that has no other route through a device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        device = ctypes.create_string_buffer(name.encode())
        nothing = _socket_address("0.0.0.0")  # noqa: S104  the destination "anywhere"
        # struct rtentry; beside what is 0: destination, gateway, netmask, flags, name of the
        # device.
        entry = struct.pack(
            "@L16s16s16sHhLLhPLLH", 0, nothing, nothing, nothing, _RTF_UP, 0, 0, 0, 0, ctypes.addressof(device), 0, 0, 0
        )
        fcntl.ioctl(control, _SIOCADDRT, entry)


def turn_off_ipv6(*devices: str) -> None:
    """Turn IPv6 off for these devices: router solicitations would be packets on the emulated path."""
    for device in devices:
        switch = Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6")
        if switch.exists():
            switch.write_text("1", encoding="ascii")


def _set_queue(name: str, packets: int) -> None:
    """Set the length of a device's queue: by netlink, because the ioctl needs privileges outside the user namespace."""
    attribute = struct.pack("HHI", 8, _IFLA_TXQLEN, packets)
    # struct nlmsghdr: length, type, flags, number, port; struct ifinfomsg: family, type, index,
    # flags, mask of flags.
    kind = _NLM_F_REQUEST | _NLM_F_ACK
    body = struct.pack("BxHiII", socket.AF_UNSPEC, 0, socket.if_nametoindex(name), 0, 0) + attribute
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.send(struct.pack("IHHII", 16 + len(body), _RTM_SETLINK, kind, 1, 0) + body)
        (error,) = struct.unpack_from("i", netlink.recv(4096), 16)
    if error:
        raise OSError(-error, os.strerror(-error))


def _set(control: socket.socket, request: int, name: str, value: bytes) -> None:
    fcntl.ioctl(control, request, struct.pack("16s24s", name.encode(), value))


def _socket_address(address: str) -> bytes:
    return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
