"""The programs on the hosts of a twin: a sender that samples its connection, and a receiver.

    python traffic.py receive PORT
    python traffic.py send JSON

It imports only the standard library: it is run as a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

#: Time between two samples of a connection, s.
INTERVAL_S = 0.01

#: `struct tcp_info` (linux/tcp.h): column, offset and format.
FIELDS = (
    ("srtt_us", 68, "I"),
    ("cwnd", 80, "I"),
    ("retransmissions", 100, "I"),
    ("acknowledged_bytes", 120, "Q"),
)

#: The socket is refilled when less than this is unsent: its remaining data is still sent when a
#: flow stops.
NOT_SENT_BYTES = 1 << 18

#: Time for attempts to connect, s: the receiver may not listen yet.
PATIENCE_S = 10.0


def receive(port: int) -> None:
    """Discard incoming data until this process is ended."""
    chooser = selectors.DefaultSelector()
    listener = socket.create_server(("", port))
    chooser.register(listener, selectors.EVENT_READ)
    taken = bytearray(1 << 20)
    while True:
        for key, _ in chooser.select():
            if key.fileobj is listener:
                chooser.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            assert isinstance(key.fileobj, socket.socket)
            read = 0
            with contextlib.suppress(ConnectionResetError):
                read = key.fileobj.recv_into(taken)
            if read == 0:
                chooser.unregister(key.fileobj)
                key.fileobj.close()


def wait_for(file: Path, number: int) -> float:
    """Report that this sender is ready, and return the start of the run, on the monotonic clock."""
    file.with_name(f"ready-{number}").touch()
    while True:
        with contextlib.suppress(OSError, ValueError):
            return float(file.read_text(encoding="ascii"))
        time.sleep(0.02)


def connect(order: dict[str, Any]) -> socket.socket:
    """Return a connection under the requested congestion control."""
    began = time.monotonic()
    while True:
        connection = socket.socket()
        # Before connecting: a socket that began under a pacing algorithm stays paced.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, order["control"].encode())
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if order["segment"] is not None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, order["segment"])
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOT_SENT_BYTES)
        try:
            connection.connect((order["to"], order["port"]))
        except OSError:
            connection.close()
            if time.monotonic() > began + PATIENCE_S:
                raise
            time.sleep(0.05)
        else:
            return connection


def send(order: dict[str, Any]) -> None:
    """Send as the flow does, and write the kernel's state of the connection every 10 ms."""
    epoch = wait_for(Path(order["go"]), order["number"])
    time.sleep(max(0.0, epoch + order["start_s"] - time.monotonic()))
    opened = time.monotonic() - epoch
    connection = connect(order)
    connection.setblocking(False)
    chooser = selectors.DefaultSelector()
    chooser.register(connection, selectors.EVENT_WRITE)
    end = epoch + order["end_s"]
    stop = end if order["stop_s"] is None else epoch + order["stop_s"]
    begun = following = time.monotonic()
    block, sent = memoryview(bytes(NOT_SENT_BYTES)), 0
    rows: list[list[float]] = []
    while (now := time.monotonic()) < end:
        if now >= following:
            rows.append([now - epoch, *described(connection)])
            following = max(following + INTERVAL_S, now)
        room = allowed(order, now - begun, sent) if now < stop else 0
        if room <= 0:
            time.sleep(max(0.0, min(following, end) - now))
        elif chooser.select(max(0.0, following - now)):
            with contextlib.suppress(BlockingIOError):
                sent += connection.send(block[:room])
    rows.append([order["end_s"], *described(connection)])
    columns = ["time_s", *(name for name, _, _ in FIELDS)]
    document = {"opened_s": opened, "columns": dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))}
    partial = Path(order["samples"] + ".partial")
    partial.write_text(json.dumps(document), encoding="ascii")
    partial.rename(order["samples"])
    # Unsent data is discarded.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    # The emulation lasts as long as the last sender: the others write their rows meanwhile.
    time.sleep(0.5)


def allowed(order: dict[str, Any], after_s: float, sent: int) -> int:
    """Return how many bytes the application has to send by now."""
    room = NOT_SENT_BYTES
    if order["bytes"] is not None:
        room = min(room, order["bytes"] - sent)
    if order["rate_bps"] is not None:
        produced = int(after_s * order["rate_bps"] / 8)
        if order["write_bytes"] is not None:
            produced = (produced // order["write_bytes"] + 1) * order["write_bytes"]
        room = min(room, produced - sent)
    return room


def described(connection: socket.socket) -> list[int]:
    """Return the kernel's state of a connection."""
    read = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    return [struct.unpack_from(kind, read, at)[0] for _, at, kind in FIELDS]


def main() -> None:
    """Run one of the programs with real-time priority: a starved sender would measure the machine."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    if sys.argv[1] == "receive":
        receive(int(sys.argv[2]))
    else:
        send(json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()
