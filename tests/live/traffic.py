"""The programs that the live tests run on emulated hosts: a TCP sender that samples TCP_INFO, receivers, UDP probes.

    python traffic.py receive PORT
    python traffic.py send HOST PORT --for 5 --control cubic [--samples FILE.json]
    python traffic.py transfers HOST PORT --bytes 1448,2896 --repeats 5 --gap 0.05 [--poisson SEED]
    python traffic.py echo PORT
    python traffic.py probe HOST PORT --for 5 [--every 0.003]

A program ends with status 0 when it has done what it should.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import random
import selectors
import socket
import struct
import sys
import termios
import time
from pathlib import Path

#: Sampling interval of TCP_INFO, s.
SAMPLE_S = 0.02

#: How often transfers look whether their data has been acknowledged, s: only their closing waits
#: for it, not what is measured on the path.
LOOK_S = 0.002

#: How long transfers may go on after the last has begun, s.
PATIENCE_S = 20.0

#: Fields of the kernel's `struct tcp_info` (linux/tcp.h): offset and format.
FIELDS = {
    "state": (0, "B"),
    "ca_state": (1, "B"),
    "unacked": (24, "I"),
    "lost": (32, "I"),
    "srtt_us": (68, "I"),
    "ssthresh": (76, "I"),
    "cwnd": (80, "I"),
    "total_retrans": (100, "I"),
    "bytes_acked": (120, "Q"),
    "min_rtt_us": (148, "I"),
    "rwnd_limited_us": (176, "Q"),
    "sndbuf_limited_us": (184, "Q"),
}


def tcp_info(connection: socket.socket) -> dict[str, int]:
    """Return the kernel's information on a connection."""
    read = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    return {name: struct.unpack_from(kind, read, at)[0] for name, (at, kind) in FIELDS.items()}


def receive(port: int) -> None:
    """Receive from connections until ended."""
    chooser = selectors.DefaultSelector()
    listener = socket.create_server(("", port))
    chooser.register(listener, selectors.EVENT_READ)
    taken = bytearray(1 << 20)
    while True:
        for key, _ in chooser.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                chooser.register(connection, selectors.EVENT_READ)
            else:
                assert isinstance(key.fileobj, socket.socket)
                try:
                    more = key.fileobj.recv_into(taken)
                except ConnectionResetError:
                    # The sender has ended with data in flight.
                    more = 0
                if more == 0:
                    chooser.unregister(key.fileobj)
                    key.fileobj.close()


def send(host: str, port: int, seconds: float, control: str, samples: Path | None) -> None:
    """Send as much as fits; sample the state of the connection meanwhile."""
    connection = socket.socket()
    # Before connecting: a socket that started under a pacing algorithm stays paced.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    connection.connect((host, port))
    connection.setblocking(False)
    chooser = selectors.DefaultSelector()
    chooser.register(connection, selectors.EVENT_WRITE)
    block, found = b"x" * (1 << 18), []
    begun = time.monotonic()
    following = begun
    while (now := time.monotonic()) < begun + seconds:
        if now >= following:
            found.append({"time_s": round(now - begun, 6), **tcp_info(connection)})
            following += SAMPLE_S
        if chooser.select(max(0.0, following - now)):
            try:
                connection.send(block)
            except BlockingIOError:
                continue
    if samples is not None:
        samples.write_text(json.dumps(found), encoding="utf-8")
    # Data still in the buffer is discarded.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class _Transfer:
    """A connection that sends some bytes, and closes when they have been acknowledged.

    A FIN behind the last byte would make the receiver acknowledge that byte at once.
    """

    def __init__(self, address: tuple[str, int], size: int, control: str) -> None:
        self.left = size
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        self.socket.setblocking(False)
        self.socket.connect_ex(address)

    def send(self) -> bool:
        """Send what fits; return whether everything is with the kernel. Raises OSError when the connection failed."""
        try:
            self.left -= self.socket.send(bytes(self.left))
        except BlockingIOError:
            return False
        return self.left == 0

    def is_acknowledged(self) -> bool:
        """Return whether the kernel holds nothing more (SIOCOUTQ)."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4)))[0] == 0


def transfers(host: str, port: int, planned: list[tuple[int, float]], control: str) -> None:
    """Begin a transfer of each size, bytes, and wait that long, s, before the next; wait until all have ended."""
    address = (socket.gethostbyname(host), port)
    chooser = selectors.DefaultSelector()
    sent: list[_Transfer] = []
    following = time.monotonic()
    until = following + sum(gap_s for _, gap_s in planned) + PATIENCE_S
    waiting = list(reversed(planned))
    while (waiting or sent or chooser.get_map()) and time.monotonic() < until:
        if waiting and time.monotonic() >= following:
            size, gap_s = waiting.pop()
            one = _Transfer(address, size, control)
            chooser.register(one.socket, selectors.EVENT_WRITE, one)
            following += gap_s
        for key, _ in chooser.select(min(LOOK_S, max(0.0, following - time.monotonic())) if waiting else LOOK_S):
            try:
                done = key.data.send()
            except OSError:
                chooser.unregister(key.fileobj)
                continue
            if done:
                chooser.unregister(key.fileobj)
                sent.append(key.data)
        for one in [one for one in sent if one.is_acknowledged()]:
            sent.remove(one)
            one.socket.close()


def echo(port: int) -> None:
    """Echo datagrams until ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("", port))
        while True:
            data, sender = here.recvfrom(2048)
            here.sendto(data, sender)


def probe(host: str, port: int, seconds: float, every: float) -> None:
    """Send datagrams and print quantiles of their round-trip times, in ms."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.connect((host, port))
        here.settimeout(1.0)
        begun = time.monotonic()
        number = 0
        while (now := time.monotonic()) < begun + seconds:
            here.send(struct.pack("Id", number, now))
            try:
                answer, sent = struct.unpack("Id", here.recv(2048))
                if answer == number:
                    times.append(time.monotonic() - sent)
            except TimeoutError:
                pass
            number += 1
            time.sleep(max(0.0, begun + number * every - time.monotonic()))
    times.sort()
    if not times:
        sys.exit("no datagram came back")
    quantiles = {f"p{percent}": times[min(len(times) - 1, len(times) * percent // 100)] for percent in (50, 90, 99)}
    sys.stdout.write(
        json.dumps({"sent": number, "back": len(times), "least": times[0], **quantiles, "worst": times[-1]})
    )


def main() -> None:
    """Run one of the programs with real-time priority: a starved one would measure the machine."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    parser = argparse.ArgumentParser()
    programs = parser.add_subparsers(dest="program", required=True)
    for name in ("receive", "echo"):
        programs.add_parser(name).add_argument("port", type=int)
    for name in ("send", "transfers", "probe"):
        one = programs.add_parser(name)
        one.add_argument("host")
        one.add_argument("port", type=int)
        if name != "transfers":
            one.add_argument("--for", dest="seconds", type=float, required=True)
        if name != "probe":
            one.add_argument("--control", default="cubic")
        if name == "send":
            one.add_argument("--samples", type=Path)
        elif name == "probe":
            one.add_argument("--every", type=float, default=0.003)
        else:
            one.add_argument("--bytes", type=lambda text: [int(size) for size in text.split(",")], required=True)
            one.add_argument("--repeats", type=int, default=1)
            one.add_argument("--gap", type=float, required=True)
            one.add_argument("--poisson", type=int, help="seed of random gaps; without it they are equal")
    given = parser.parse_args()
    if given.program == "receive":
        receive(given.port)
    elif given.program == "echo":
        echo(given.port)
    elif given.program == "send":
        send(given.host, given.port, given.seconds, given.control, given.samples)
    elif given.program == "transfers":
        gaps = random.Random(given.poisson)  # noqa: S311  a schedule, no secret
        sizes = given.bytes * given.repeats
        at = [given.gap if given.poisson is None else gaps.expovariate(1 / given.gap) for _ in sizes]
        transfers(given.host, given.port, list(zip(sizes, at, strict=True)), given.control)
    else:
        probe(given.host, given.port, given.seconds, given.every)


if __name__ == "__main__":
    main()
