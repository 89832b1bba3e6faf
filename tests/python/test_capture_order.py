"""Captures of an emulation in order of time."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import pytest

from selfclock.emulate.capture_order import sort

if TYPE_CHECKING:
    from pathlib import Path


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def capture(times: list[int], order: str = "<") -> bytes:
    """A section, an interface with times in nanoseconds, and a packet for each time, which is also its content."""
    section = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    options = struct.pack(f"{order}HHB3xHH", 9, 1, 9, 0, 0)
    interface = block(1, struct.pack(f"{order}HHI", 1, 0, 0) + options, order)
    packets = [
        block(6, struct.pack(f"{order}IIIII", 0, time >> 32, time & 0xFFFFFFFF, 8, 8) + struct.pack("<q", time), order)
        for time in times
    ]
    return section + interface + b"".join(packets)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("times", "moved"),
    [
        ([], 0),
        ([1, 2, 3], 0),
        ([2, 1, 3], 1),
        # 181 µs back, as seen at a real host.
        ([10**9, 10**9 - 181_000, 3 * 10**9, 3 * 10**9 - 1], 2),
        ([5, 5, 4], 1),
    ],
)
def test_packets_are_sorted_by_time(times: list[int], moved: int, order: str, tmp_path: Path) -> None:
    path = tmp_path / "host.pcapng"
    path.write_bytes(capture(times, order))
    assert sort(path) == moved
    assert path.read_bytes() == capture(sorted(times), order)
    assert [each.name for each in tmp_path.iterdir()] == ["host.pcapng"]


def test_a_long_capture_is_sorted_in_one_pass(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311
    times = [number * 10**6 + chance.randrange(5 * 10**6) for number in range(20_000)]
    path = tmp_path / "host.pcapng"
    path.write_bytes(capture(times))
    assert sort(path) > 0
    assert path.read_bytes() == capture(sorted(times))
