"""The path between two hosts: a bottleneck with a drop-tail buffer towards the second, a delay both ways.

`python relay.py JSON FD FD`: reads packets from one TUN device and writes them to the other, in
real time.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from dataclasses import dataclass, field

#: Size of the largest packet, bytes.
PACKET = 2048
#: Packets read at a time.
BATCH = 64
#: An ACK that is held back for more leaves after this time, s: as of a receiver's timer.
ACK_TIMER = 0.025
ACK_ALONE, PUSH = 0x10, 0x08
#: A packet that leaves this long after its time is late, s: some four packet times at 20 Mbit/s.
LATE = 0.002


@dataclass
class Direction:
    """Packets in transit from one host to the other."""

    source: int
    sink: int
    #: One way, s.
    delay: float
    #: Bit/s on the wire; 0 means no limit.
    rate: float = 0.0
    buffer: int = 0
    #: Packets that meet more queued bytes than this are CE-marked if ECN-capable; 0 disables
    #: marking.
    mark_above: int = 0
    #: Of the ACKs without data that are new, one leaves for this many segments.
    ack_every: int = 1
    segment: int = 1448
    #: The newest ACK held back, and since when; the last number that was let through.
    held: bytes = b""
    held_since: float = 0.0
    acknowledged: int | None = None
    #: Time from which the transmitter is free.
    free: float = 0.0
    #: Packets sent, and those sent later than LATE.
    packets: int = 0
    late: int = 0
    #: Sum of the lateness of all packets, s.
    lateness: float = 0.0
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)

    def take(self, packet: bytes, now: float) -> None:
        """Queue a packet, or drop it."""
        if self.ack_every > 1:
            number = plain_ack(packet)
            if number is None:
                self.give_up_held(now)
            elif self.acknowledged is not None and 0 < (number - self.acknowledged) % 2**32 < 2**31:
                if (number - self.acknowledged) % 2**32 < self.ack_every * self.segment:
                    self.held_since = self.held_since if self.held else now
                    self.held = packet
                    return
                self.held = b""
            if number is not None:
                self.acknowledged = number
        self.enter(packet, now)

    def give_up_held(self, now: float) -> None:
        """Let the ACK that is held back leave."""
        if self.held:
            packet, self.held = self.held, b""
            self.acknowledged = plain_ack(packet)
            self.enter(packet, now)

    def enter(self, packet: bytes, now: float) -> None:
        """Queue a packet, or drop it."""
        due = now
        if self.rate:
            self.free = max(self.free, now)
            queued = (self.free - now) * self.rate / 8
            if queued + len(packet) > self.buffer:
                return
            if self.mark_above and queued > self.mark_above and packet[1] & 3 in {1, 2}:
                packet = marked(packet)
            self.free += len(packet) * 8 / self.rate
            due = self.free
        self.waiting.append((due + self.delay, packet))

    def release(self, now: float) -> None:
        """Send the packets that are due."""
        if self.held and now - self.held_since >= ACK_TIMER:
            self.give_up_held(now)
        while self.waiting and self.waiting[0][0] <= now:
            due, packet = self.waiting.popleft()
            self.packets += 1
            self.late += now - due > LATE
            self.lateness += now - due
            try:
                os.write(self.sink, packet)
            except OSError:
                # The host has gone, or its device is full.
                return


def plain_ack(packet: bytes) -> int | None:
    """Return the number of a segment that is an ACK and nothing else: no data, no SACK block."""
    ip = (packet[0] & 15) * 4
    if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP or packet[ip + 13] & ~PUSH != ACK_ALONE:
        return None
    header = (packet[ip + 12] >> 4) * 4
    # With timestamps, and no further option.
    if header > 32 or len(packet) > ip + header:
        return None
    return int.from_bytes(packet[ip + 8 : ip + 12], "big")


def marked(packet: bytes) -> bytes:
    """Return an IPv4 packet with a CE mark."""
    header = bytearray(packet[: (packet[0] & 15) * 4])
    header[1] |= 3
    header[10:12] = b"\0\0"
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = (0xFFFF - total).to_bytes(2, "big")
    return bytes(header) + packet[len(header) :]


def main() -> None:
    """Relay until the parent ends it."""
    settings, *fds = sys.argv[1:]
    path, (first, second) = json.loads(settings), map(int, fds)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_blocking(first, False)
    os.set_blocking(second, False)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    there = Direction(first, second, path["delay"], path["rate"], path["buffer"], path["mark_above"])
    back = Direction(second, first, path["delay"], ack_every=path.get("ack_every", 1))
    directions = (there, back)
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while os.getppid() == path["parent"] and not ended:
        now = time.monotonic()
        for direction in directions:
            direction.release(now)
        nearest = min((one.waiting[0][0] for one in directions if one.waiting), default=now + 0.1)
        nearest = min([nearest, *(one.held_since + ACK_TIMER for one in directions if one.held)])
        ready, _, _ = select.select([first, second], [], [], max(0.0, nearest - time.monotonic()))
        for direction in directions:
            if direction.source in ready:
                for _ in range(BATCH):
                    try:
                        packet = os.read(direction.source, PACKET)
                    except BlockingIOError:
                        break
                    direction.take(packet, time.monotonic())
    counts = {"packets": sum(one.packets for one in directions), "late": sum(one.late for one in directions)}
    # Of a round trip.
    lateness = sum(one.lateness / max(one.packets, 1) for one in directions)
    sys.stdout.write(json.dumps({**counts, "lateness": lateness}))


if __name__ == "__main__":
    main()
