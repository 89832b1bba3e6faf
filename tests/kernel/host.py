"""A host of a path: a process in its own network namespace, which ends with it.

`python host.py ADDRESS FD [CGROUP]`: sends its TUN device to the parent, then executes orders, one
JSON document per line. A socket belongs to the cgroup its process is in when the socket is made,
and an accepted connection to that of its listener: so the process joins its cgroup first.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
PORT = 5001
#: Sampling interval of a connection, s.
INTERVAL = 0.01
SO_MAX_PACING_RATE = 47
#: Offsets in struct tcp_info.
RTT, SSTHRESH, CWND, RETRANSMITS, PACING, ACKED = 68, 76, 80, 100, 104, 120

SYSCTLS = {"tcp_congestion_control": "reno", "tcp_no_metrics_save": "1"}


def device(address: str) -> int:
    """Create the namespace with a device that has this address, and return the device."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "a network namespace needs root")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    for words in (
        "link set lo up",
        f"addr add {address}/24 dev tun0",
        "link set tun0 up mtu 1500 txqueuelen 1000",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    for name, value in SYSCTLS.items():
        Path("/proc/sys/net/ipv4", name).write_text(value)
    return tun


def serve() -> None:
    """Accept connections and discard their data."""
    listener = socket.create_server(("0.0.0.0", PORT), backlog=64)  # noqa: S104  its own namespace

    def read(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while connection.recv(1 << 16):
                pass

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=read, args=[connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def send(order: dict[str, Any]) -> dict[str, Any]:
    """Send for this many seconds; return the kernel's reports on the connection meanwhile."""
    pause, size, bulk = order.get("pause", 0.0), order.get("block") or 1 << 16, order.get("bulk", 0.0)
    writes, period = order.get("writes") or (0, 1.0)
    wanted = 0
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, order["control"].encode())
        if order.get("paced"):
            connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("Q", 1 << 40))
        if order.get("mss"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, order["mss"])
        connection.connect((order["to"], PORT))
        connection.setblocking(False)
        samples: list[tuple[float, int, int, int, int, int, int]] = []
        whole, began = bytes(max(size, 1 << 16)), time.monotonic()
        sent, looked = 0, -1.0
        while (now := time.monotonic() - began) < order["seconds"]:
            if now - looked >= INTERVAL:
                looked = now
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                u32 = [struct.unpack_from("I", info, at)[0] for at in (RTT, SSTHRESH, CWND, RETRANSMITS)]
                u64 = [struct.unpack_from("Q", info, at)[0] for at in (ACKED, PACING)]
                samples.append((now, *u32, *u64))
            if writes:
                # A write falls due at once and then every period; what the socket refuses is kept.
                wanted = writes * (1 + int(now / period))
                with contextlib.suppress(BlockingIOError):
                    while sent < wanted:
                        sent += connection.send(whole[: wanted - sent])
                time.sleep(0.001)
                continue
            # With a pause: half a second of sending, then a silence of that length.
            if not pause or now % (0.5 + pause) < 0.5:
                with contextlib.suppress(BlockingIOError):
                    sent += connection.send(whole if now < bulk else whole[:size])
            time.sleep(0.002)
        control = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()
        # Unsent data is discarded.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return {"control": control, "sent": sent, "samples": samples}


def sysctl(order: dict[str, Any]) -> dict[str, Any]:
    """Set a value of the namespace."""
    Path("/proc/sys/net/ipv4", order["name"]).write_text(order["value"])
    return {}


def capture(order: dict[str, Any]) -> dict[str, Any]:
    """Return the TCP segments that the device takes within this time: whether sent here, payload, options, time."""
    every, outgoing = 0x0003, 4
    segments: list[tuple[bool, int, str, float]] = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(every)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        tap.bind(("tun0", every))
        tap.settimeout(0.1)
        end = time.monotonic() + order["seconds"]
        while time.monotonic() < end:
            try:
                packet, where = tap.recvfrom(1 << 16)
            except TimeoutError:
                continue
            ip = (packet[0] & 15) * 4
            if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
                continue
            header = (packet[ip + 12] >> 4) * 4
            payload = int.from_bytes(packet[2:4], "big") - ip - header
            options = packet[ip + 20 : ip + header].hex()
            segments.append((where[2] == outgoing, payload, options, time.monotonic()))
    return {"segments": segments}


def run(order: dict[str, Any]) -> dict[str, Any]:
    """Run a command in the namespace."""
    done = subprocess.run(order["command"].split(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{order['command']}: {done.stderr.strip()}")
    return {}


def main() -> None:
    """Execute orders until the other end is closed."""
    for cgroup in sys.argv[3:]:
        Path(cgroup, "cgroup.procs").write_text(str(os.getpid()))
    link = socket.socket(fileno=int(sys.argv[2]))
    tun = device(sys.argv[1])
    link.sendmsg([b"ready\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [tun]))])
    serve()
    answers = threading.Lock()

    def work(order: dict[str, Any]) -> None:
        try:
            done = {"send": send, "sysctl": sysctl, "run": run, "capture": capture}[order["do"]](order)
        except OSError as error:
            done = {"error": str(error)}
        with answers:
            link.sendall(json.dumps({"number": order["number"], **done}).encode() + b"\n")

    for line in link.makefile():
        threading.Thread(target=work, args=[json.loads(line)], daemon=True).start()


if __name__ == "__main__":
    main()
