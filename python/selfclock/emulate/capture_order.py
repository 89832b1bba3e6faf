"""Captures of an emulation in order of time.

A packet is written when its fate is known: at a host, a packet that the kernel was late to send or
to deliver follows later ones. The record has its true time, so sorting needs no more than the
packets of the longest such delay.
"""

from __future__ import annotations

import heapq
import struct
from typing import TYPE_CHECKING

from selfclock.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

#: Block types of pcapng (draft-ietf-opsawg-pcapng): section header, interface description, enhanced
#: packet.
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6

#: A section header begins with its type, its length and this, in the byte order of the file.
_ORDER = 0x1A2B3C4D

#: The option of an interface with the resolution of its times, and the default, ticks a second.
_RESOLUTION, _PER_S = 9, 1_000_000

#: Packets older than the newest by more than this many seconds are written: no packet is that late
#: in a valid run.
LATEST_S = 1.0


def sort(path: Path) -> int:
    """Rewrite a capture in order of time; return how many packets stood after a later one."""
    aside = path.with_name(f"{path.name}.sorted")
    with path.open("rb") as read, aside.open("wb") as written:
        moved = _sorted(read, written)
    if moved:
        aside.replace(path)
    else:
        aside.unlink()
    return moved


def _sorted(read: BinaryIO, written: BinaryIO) -> int:
    waiting: list[tuple[int, int, bytes]] = []
    moved = number = newest = 0
    per_s: list[int] = []
    for order, kind, block in _blocks(read):
        if kind == _INTERFACE:
            per_s.append(_ticks(order, block))
        if kind != _PACKET:
            # Whatever describes later packets stays before them.
            written.writelines(each for _, _, each in sorted(waiting))
            waiting.clear()
            written.write(block)
            continue
        if len(set(per_s)) > 1:
            raise WorkError("a capture with times of several resolutions cannot be sorted")
        high, low = struct.unpack_from(f"{order}II", block, 12)
        time = high << 32 | low
        moved += time < newest
        newest = max(newest, time)
        heapq.heappush(waiting, (time, number, block))
        number += 1
        while waiting[0][0] < newest - LATEST_S * per_s[0]:
            written.write(heapq.heappop(waiting)[2])
    written.writelines(each for _, _, each in sorted(waiting))
    return moved


def _blocks(read: BinaryIO) -> Iterator[tuple[str, int, bytes]]:
    """Yield byte order, type and bytes of every block."""
    order = "<"
    while len(head := read.read(12)) == 12:
        if struct.unpack_from("<I", head)[0] == _SECTION:
            order = "<" if struct.unpack_from("<I", head, 8)[0] == _ORDER else ">"
        kind, length = struct.unpack_from(f"{order}II", head)
        yield order, kind, head + read.read(length - 12)


def _ticks(order: str, block: bytes) -> int:
    """Return the ticks a second of an interface's times."""
    at = 16
    while at + 4 <= len(block) - 4:
        code, length = struct.unpack_from(f"{order}HH", block, at)
        if code == _RESOLUTION:
            power = block[at + 4]
            ticks: int = 2 ** (power & 0x7F) if power & 0x80 else 10**power
            return ticks
        if code == 0:
            break
        at += 4 + (length + 3) // 4 * 4
    return _PER_S
