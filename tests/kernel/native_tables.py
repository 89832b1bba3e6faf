"""The tables of docs/kernel-native.md: `make kernel-native-tables`, as root, on an idle machine; about 10 minutes.

`python tests/kernel/native_tables.py [PART...] [--seconds N]` makes some of them.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import struct
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from lab import Path2
from native_proof import loaded
from validation import head, loopback, row

import selfclock as sc
from selfclock import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
#: Number of bpf(2) on each architecture, and its commands.
SYSTEM_CALL = {"x86_64": 321, "aarch64": 280}
NEXT_PROGRAM, PROGRAM_BY_ID, INFORMATION = 11, 13, 15
#: Offsets in struct bpf_prog_info.
INFORMATION_BYTES, NAME, RUN_NS, RUNS, VERIFIED = 232, 64, 192, 200, 216
#: Mbit/s, ms, bytes of buffer: 0.5 to 4 BDP.
PATHS = (
    (8.0, 20.0, 20_000),
    (8.0, 80.0, 80_000),
    (20.0, 20.0, 50_000),
    (20.0, 40.0, 50_000),
    (20.0, 40.0, 400_000),
    (40.0, 20.0, 100_000),
)


@dataclass(frozen=True)
class Program:
    """A program in the kernel."""

    number: int
    name: str
    run_ns: int
    runs: int
    verified: int


def _bpf(command: int, attributes: bytearray) -> int:
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    return int(ctypes.CDLL(None).syscall(SYSTEM_CALL[platform.machine()], command, buffer, len(attributes)))


def programs() -> dict[int, Program]:
    """Return the programs in the kernel."""
    found: dict[int, Program] = {}
    number = 0
    while True:
        attributes = bytearray(struct.pack("III", number, 0, 0))
        if _bpf(NEXT_PROGRAM, attributes):
            return found
        number = struct.unpack_from("I", attributes, 4)[0]
        fd = _bpf(PROGRAM_BY_ID, bytearray(struct.pack("III", number, 0, 0)))
        if fd < 0:
            continue
        told = ctypes.create_string_buffer(INFORMATION_BYTES)
        good = _bpf(INFORMATION, bytearray(struct.pack("IIQ", fd, len(told), ctypes.addressof(told)))) == 0
        os.close(fd)
        if good:
            raw = told.raw
            name = raw[NAME : NAME + 16].split(b"\0")[0].decode()
            numbers = struct.unpack_from("QQ", raw, RUN_NS)
            found[number] = Program(number, name, *numbers, struct.unpack_from("I", raw, VERIFIED)[0])


@contextmanager
def measured(label: str) -> Iterator[tuple[str, set[int]]]:
    """Load an algorithm and measure its programs' time; yield its name and their numbers."""
    before, setting = set(programs()), STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        with loaded(label) as name:
            yield name, set(programs()) - before
    finally:
        STATISTICS.write_text(setting)


def time_per_ack(own: set[int]) -> float:
    """Return the mean time of `cong_control`, ns."""
    ours = [each for number, each in programs().items() if number in own and each.name == "cong_control"]
    runs = sum(each.runs for each in ours)
    return sum(each.run_ns for each in ours) / runs if runs else float("nan")


def objects(seconds: float) -> None:
    """Each object at 20 Mbit/s."""
    head("object", "kB", "instructions verified, largest program", "ns per ACK", "goodput Mbit/s", "mean RTT ms")
    for each in kernel.objects():
        with measured(each.algorithm) as (name, own), Path2(20, 40, 100_000) as path:
            transfer = path.send(name, seconds)
            verified = max(one.verified for number, one in programs().items() if number in own)
            row(
                each.algorithm,
                f"{each.bytes / 1000:.0f}",
                f"{verified:,}",
                f"{time_per_ack(own):.0f}",
                f"{transfer.goodput(2):.2f}",
                f"{transfer.mean(transfer.rtt_us, 2) / 1000:.1f}",
            )


def rates(_seconds: float) -> None:
    """The unlimited loopback device, in Gbit/s: the time of the kernel's own algorithms cannot be measured."""
    head("algorithm", "Gbit/s", "ns per ACK in cong_control")
    for own in ("cubic", "bbr", "reno"):
        row(f"{own} (kernel's)", f"{loopback(own, 5):.1f}", "")
    for label in ("cubic", "bbr3", "reno"):
        with measured(label) as (name, own_programs):
            speed = loopback(name, 5)
            row(label, f"{speed:.1f}", f"{time_per_ack(own_programs):.0f}")


def simulator(seconds: float) -> None:
    """BBRv3 in the kernel against BBRv3 in the simulator."""
    columns = ("goodput Mbit/s, kernel", "simulator", "difference", "mean RTT ms, kernel", "simulator", "difference")
    head("path", *columns)
    for mbps, rtt, buffer in PATHS:
        scenario = sc.dumbbell(
            bottleneck=f"{mbps:g} Mbps",
            rtt=f"{rtt:g} ms",
            buffer=f"{buffer} B",
            flows=["bbr3"],
            duration=f"{seconds:g} s",
        )
        flow = scenario.run().summary["flows"][0]
        with loaded("bbr3") as name, Path2(mbps, rtt, buffer) as path:
            transfer = path.send(name, seconds)
        goodputs = transfer.goodput(0), flow["goodput_bps"] / 1e6
        rtts = transfer.mean(transfer.rtt_us) / 1000, flow["rtt_mean_s"] * 1000
        row(
            f"{mbps:g} Mbit/s, {rtt:g} ms, {buffer // 1000} kB",
            *(
                cell
                for own, other in (goodputs, rtts)
                for cell in (f"{own:.2f}", f"{other:.2f}", f"{own / other - 1:+.1%}")
            ),
        )


PARTS = {"objects": objects, "rates": rates, "simulator": simulator}


def main() -> None:
    """Make the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds of each transfer")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root")
    sys.stdout.write(f"Linux {os.uname().release}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for part in arguments.parts or PARTS:
        PARTS[part](arguments.seconds)


if __name__ == "__main__":
    main()
