"""The tables of docs/kernel-native.md: `make kernel-native-tables`, as root, on an idle machine; about 12 minutes.

`python tests/kernel/native_tables.py [PART...] [--seconds N]` makes some of them.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

import polars as pl
from events import Measured, measure
from lab import Path2
from native_proof import loaded
from validation import head, row

import selfclock as sc
from selfclock import _core, kernel
from selfclock.kernel.build.tools import LLVM

if TYPE_CHECKING:
    from collections.abc import Iterator

STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
#: Number of bpf(2) on each architecture, and its commands.
SYSTEM_CALL = {"x86_64": 321, "aarch64": 280}
NEXT_PROGRAM, PROGRAM_BY_ID, INFORMATION = 11, 13, 15
#: Offsets in struct bpf_prog_info.
INFORMATION_BYTES, NAME, RUN_NS, RUNS, VERIFIED = 232, 64, 192, 200, 216
#: Operations that an ACK calls.
ON_ACK = ("cong_control", "cong_avoid", "in_ack_event", "pkts_acked")
#: The kernel's own algorithms, called from BPF.
SOURCE = Path(__file__).with_name("kernels_own.bpf.c")
#: Uniform delay variation in the simulator, to which a real path is compared.
JITTER_MS = (0.2, 0.5, 1.0)
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
    """Return the time of an object's programs per ACK, ns: one with `cong_control`, three without."""
    return sum(time for name in ON_ACK if not math.isnan(time := mean_time(own, name)))


def mean_time(own: set[int], *names: str) -> float:
    """Return the sum of the mean times of these programs, ns."""
    total = 0.0
    for name in names:
        ours = [each for number, each in programs().items() if number in own and each.name == name]
        runs = sum(each.runs for each in ours)
        total += sum(each.run_ns for each in ours) / runs if runs else float("nan")
    return total


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


@contextmanager
def kernels_own(which: str) -> Iterator[tuple[str, set[int]]]:
    """Register an algorithm of the kernel behind BPF programs that only call it; yield its name and their numbers."""
    name = f"own_{which}_{os.getpid()}"[:15]
    before, setting = set(programs()), STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "own.o")
            clang = [f"clang-{LLVM}", "-O2", "-g", "-target", "bpf", "-mcpu=v3", f"-D{which.upper()}"]
            subprocess.run([*clang, f'-DNAME="{name}"', "-c", SOURCE, "-o", file], check=True)
            done = subprocess.run(
                ["bpftool", "struct_ops", "register", file], capture_output=True, text=True, check=True
            )
        try:
            yield name, set(programs()) - before
        finally:
            number = (done.stdout + done.stderr).split()[-1]
            subprocess.run(["bpftool", "struct_ops", "unregister", "id", number], capture_output=True, check=True)
    finally:
        STATISTICS.write_text(setting)


def loopback(name: str, seconds: float) -> float:
    """Send over the loopback device at full speed; return Gbit/s."""
    code = (
        "import socket, sys, threading, time\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "def read():\n"
        "    one, _ = listener.accept()\n"
        "    while one.recv(1 << 20):\n"
        "        pass\n"
        "threading.Thread(target=read, daemon=True).start()\n"
        "one = socket.socket()\n"
        "one.setsockopt(6, socket.TCP_CONGESTION, sys.argv[1].encode())\n"
        "one.connect(listener.getsockname())\n"
        "block, sent, began = bytes(1 << 20), 0, time.monotonic()\n"
        "while time.monotonic() - began < float(sys.argv[2]):\n"
        "    sent += one.send(block)\n"
        "print(sent * 8e-9 / (time.monotonic() - began))\n"
    )
    words = [sys.executable, "-c", code, name, str(seconds)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def rates(_seconds: float) -> None:
    """The unlimited loopback device, and the time of the kernel's own algorithms beside that of ours."""
    head("algorithm", "Gbit/s", "ns per ACK")
    for own in ("cubic", "bbr", "reno"):
        row(f"{own} (kernel's)", f"{loopback(own, 5):.1f}", "")
    empty = 0.0
    for own, called in (
        ("cubic", ("cong_avoid", "pkts_acked")),
        ("bbr", ("cong_control", "min_tso_segs")),
        ("reno", ("cong_avoid",)),
    ):
        with kernels_own(own) as (name, programs_of_own):
            speed = loopback(name, 5)
            row(f"{own} (kernel's, called from BPF)", f"{speed:.1f}", f"{mean_time(programs_of_own, *called):.0f}")
            if own == "reno":
                empty = mean_time(programs_of_own, "pkts_acked")
    row("an empty program", "", f"{empty:.0f}")
    for label in ("cubic", "bbr3", "reno"):
        with measured(label) as (name, own_programs):
            speed = loopback(name, 5)
            row(label, f"{speed:.1f}", f"{time_per_ack(own_programs):.0f}")


def simulated(path: tuple[float, float, int], seconds: float, jitter: float = 0.0) -> dict[str, float]:
    """Return the summary of BBRv3 in the simulator."""
    mbps, rtt, buffer = path
    scenario = sc.dumbbell(
        bottleneck=f"{mbps:g} Mbps", rtt=f"{rtt:g} ms", buffer=f"{buffer} B", flows=["bbr3"], duration=f"{seconds:g} s"
    )
    changed = sc.Scenario.parse(scenario.text, "bbr3", [f'network.bottleneck.jitter="{jitter:g} ms"'])
    flow: dict[str, float] = changed.run().summary["flows"][0]
    return flow


@dataclass(frozen=True)
class Real:
    """BBRv3 decided in the kernel, on one path."""

    goodput: float
    #: Mean of the smoothed RTT, sampled every 10 ms.
    smoothed_ms: float
    events: Measured
    #: Median pacing rate in cruise, of which BBR leaves 1 %, relative to the rate of the path.
    estimate: float
    lateness_ms: float


def real(path: tuple[float, float, int], seconds: float, *, single: bool) -> Real:
    """Run BBRv3 in the kernel and record it; `single` limits super-packets to one segment."""
    mbps, rtt, buffer = path
    with tempfile.TemporaryDirectory() as folder, loaded("bbr3") as name:
        log = Path(folder, "events.log")
        with Path2(mbps, rtt, buffer) as lab:
            if single:
                lab.single_segments()
            with kernel.Recording(log, name) as recording:
                transfer = lab.send(name, seconds)
                recording.stop()
        kernel.replay(log)
        record = log.read_bytes()
    series = pl.DataFrame(_core.kernel_series(record, 0.01))
    cruise = series.filter(pl.col("phase") == "probe cruise")["pacing_bps"].median()
    estimate = float(cruise or float("nan")) / 0.99 / (mbps * 1e6)  # type: ignore[arg-type]
    smoothed = transfer.mean(transfer.rtt_us) / 1000
    return Real(transfer.goodput(0), smoothed, measure(record), estimate, lab.lateness * 1000)


def simulator(seconds: float) -> None:
    """BBRv3 in the kernel against BBRv3 in the simulator, and the parts of the difference."""
    rows: list[tuple[str, Real, Real, dict[str, float], list[float]]] = []
    for path in PATHS:
        usual, single = (real(path, seconds, single=single) for single in (False, True))
        ideal = simulated(path, seconds)
        jitter = [simulated(path, seconds, jitter)["rtt_mean_s"] * 1000 for jitter in JITTER_MS]
        rows.append((f"{path[0]:g} Mbit/s, {path[1]:g} ms, {path[2] // 1000} kB", usual, single, ideal, jitter))
    columns = ("goodput Mbit/s, kernel", "simulator", "difference", "mean RTT ms, kernel", "simulator", "difference")
    head("path", *columns)
    for what, usual, _, ideal, _ in rows:
        pairs = (usual.goodput, ideal["goodput_bps"] / 1e6), (usual.events.rtt_ms, ideal["rtt_mean_s"] * 1000)
        cells = [cell for own, other in pairs for cell in (f"{own:.2f}", f"{other:.2f}", f"{own / other - 1:+.1%}")]
        row(what, *cells)
    head("path", "smoothed, every 10 ms", "mean of samples", "single segments", "simulator",
         *(f"simulator, jitter {jitter:g} ms" for jitter in JITTER_MS))  # fmt: skip
    for what, usual, single, ideal, jitter in rows:
        figures = (usual.smoothed_ms, usual.events.rtt_ms, single.events.rtt_ms, ideal["rtt_mean_s"] * 1000, *jitter)
        row(what, *(f"{figure:.2f}" for figure in figures))
    head(
        "path",
        "bandwidth estimate",
        "with single segments",
        "pacing",
        "with single segments",
        "lateness, ms a round trip",
    )
    for what, usual, single, _, _ in rows:
        pacing = (f"{one.events.pacing_error:+.2%}" for one in (usual, single))
        row(what, f"{usual.estimate - 1:+.1%}", f"{single.estimate - 1:+.1%}", *pacing, f"{usual.lateness_ms:.2f}")


def vegas(seconds: float) -> None:
    """Vegas in the simulator under jitter, on the path of the objects."""
    head("jitter, ms", "goodput Mbit/s", "mean RTT ms")
    for jitter in (0.0, *JITTER_MS):
        scenario = sc.dumbbell(
            bottleneck="20 Mbps", rtt="40 ms", buffer="100 kB", flows=["vegas"], duration=f"{seconds:g} s"
        )
        changed = sc.Scenario.parse(scenario.text, "vegas", [f'network.bottleneck.jitter="{jitter:g} ms"'])
        flow = changed.run().summary["flows"][0]
        row(f"{jitter:g}", f"{flow['goodput_bps'] / 1e6:.2f}", f"{flow['rtt_mean_s'] * 1000:.2f}")


PARTS = {"objects": objects, "rates": rates, "simulator": simulator, "vegas": vegas}


def main() -> None:
    """Make the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds of each transfer")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root")
    missing = [program for program in (f"clang-{LLVM}", "bpftool") if shutil.which(program) is None]
    if missing and "rates" in (arguments.parts or PARTS):
        sys.exit(f"rates: needs {', '.join(missing)}")
    sys.stdout.write(f"Linux {os.uname().release}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for part in arguments.parts or PARTS:
        PARTS[part](arguments.seconds)


if __name__ == "__main__":
    main()
