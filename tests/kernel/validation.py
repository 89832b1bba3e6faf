"""The figures of docs/kernel.md: `make kernel-validation`, as root, on an idle machine; about 12 minutes.

`python tests/kernel/validation.py [PART...] [--runs N] [--seconds N]` makes some of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

from lab import MSS, Path2, Run, Transfer, names, period
from simulated import simulate

from selfclock.algorithms import algorithms
from selfclock.custom import load_algorithms
from selfclock.kernel import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMES = names("v")
#: File for the samples of the comparison, one line of JSON per run.
KEPT: Path | None = None
#: The kernel's own algorithms, and the library's. Linux counts segments, halves whole windows, and
#: grows slow start by all acknowledged data.
PAIRS = (
    ("reno", "reno:counting=per-byte,threshold=whole-segments,halved=window,segments_per_ack=1000"),
    ("cubic", "cubic+hystart++"),
    ("cubic", "cubic:segments_per_ack=1000"),
)
#: The library's as a scenario has them.
CONTROLS = {
    PAIRS[0][1]: '{ window = "reno", counting = "per-byte", threshold = "whole-segments", halved = "window", '
    "segments_per_ack = 1000 }",
    PAIRS[1][1]: '{ start = "hystart++", window = "cubic" }',
}
#: Mbit/s, ms, bytes of buffer: about one bandwidth-delay product.
PATHS = ((20.0, 20.0, 50_000), (50.0, 40.0, 250_000))


def row(*cells: object) -> None:
    """Print a table row."""
    sys.stdout.write("| " + " | ".join(str(cell) for cell in cells) + " |\n")
    sys.stdout.flush()


def head(*cells: str) -> None:
    """Print a table header."""
    sys.stdout.write("\n")
    row(*cells)
    row(*["---"] * len(cells))


def fallbacks(said: dict[str, Any]) -> str:
    """Describe how many events fell back to Reno."""
    return f"{said['fallback_events']}/{said['events']}"


def compare(runs: int, seconds: float) -> None:
    """The crate's Reno and CUBIC against the kernel's own, alternating."""
    head("path", "algorithm", "goodput Mbit/s", "mean window", "the same from 15 s on", "period s", "retransmissions",
         "ACKs under Reno", "packets late")  # fmt: skip
    for mbps, rtt, buffer in PATHS:
        for own, label in PAIRS:
            tried: dict[str, list[Tried]] = {f"{own} (kernel's)": [], label: []}
            for _ in range(runs):
                tried[f"{own} (kernel's)"].append(one_run((mbps, rtt, buffer), own, None, seconds))
                tried[label].append(one_run((mbps, rtt, buffer), label, next(NAMES), seconds))
            for what, each in tried.items():
                row(f"{mbps:g} Mbit/s, {rtt:g} ms", what, *measures(each))


@dataclass(frozen=True)
class Tried:
    """One run of a comparison."""

    transfer: Transfer
    fallback_events: int
    packets: int
    late: int


def one_run(where: tuple[float, float, int], what: str, name: str | None, seconds: float) -> Tried:
    """Send under the kernel's algorithm, or a named one of the library."""
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(Path2(*where))
        run = stack.enter_context(Run(name, what, "--realtime")) if name else None
        transfer = path.send(name or what, seconds)
        fallback = run.stop()["fallback_events"] if run else 0
    if KEPT is not None:
        with KEPT.open("a", encoding="ascii") as file:
            document = {"path": where, "what": what, "late": path.late, **asdict(transfer)}
            file.write(json.dumps(document) + "\n")
    return Tried(transfer, fallback, path.packets, path.late)


def measures(tried: Sequence[Tried]) -> list[str]:
    """Return the cells of runs: medians, and the mean period."""
    transfers = [one.transfer for one in tried]
    mean = period(transfers)
    return [
        f"{statistics.median(one.goodput(2) for one in transfers):.2f}",
        f"{statistics.median(one.mean(one.cwnd, 5) for one in transfers):.1f}",
        f"{statistics.median(one.mean(one.cwnd, 15) for one in transfers):.1f}" if transfers[0].time[-1] > 16 else "-",
        "-" if mean is None else f"{mean:.2f}",
        " ".join(str(one.retransmits[-1]) for one in transfers),
        str(sum(one.fallback_events for one in tried)),
        f"{sum(one.late for one in tried)}/{sum(one.packets for one in tried)}",
    ]


def senders(_runs: int, seconds: float) -> None:
    """Every sender of the crate in control of a connection at 20 Mbit/s, and the replay of all of them."""
    head("sender", "goodput Mbit/s", "mean RTT ms", "retransmissions", "fallbacks", "events under Reno", "replayed")
    total = 0
    for each in algorithms():
        if each.part == "estimate":
            continue
        label, name = each.name, next(NAMES)
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder, "record")
            with Path2() as path, Run(name, label, "--record", str(record)) as run:
                transfer = path.send(name, seconds)
                said = run.stop()
            done = replay(record)
        total += done.answers
        row(
            label,
            f"{transfer.goodput(2):.2f}",
            f"{transfer.mean(transfer.rtt_us, 2) / 1000:.1f}",
            transfer.retransmits[-1],
            said["fallbacks"],
            fallbacks(said),
            done.answers,
        )
    sys.stdout.write(f"\n{total} decisions replayed, all equal\n")


def million(_runs: int, seconds: float) -> None:
    """Replay of a million real events over ten algorithms: segments of 256 bytes produce many ACKs."""
    head("algorithm", "goodput Mbit/s", "decisions replayed, all equal", "events under Reno")
    total = 0
    for label in ("reno", "cubic+hystart++", "bbr3", "altcp", "vegas", "bic", "fast", "highspeed", "prague", "ltcp"):
        name = next(NAMES)
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder, "record")
            with Path2(16, 20, 40_000) as path, Run(name, label, "--record", str(record)) as run:
                transfer = path.end(path.begin(name, seconds, mss=268))
                said = run.stop()
            done = replay(record)
        total += done.answers
        row(label, f"{transfer.goodput(2):.2f}", done.answers, fallbacks(said))
    sys.stdout.write(f"\n{total} decisions replayed, all equal\n")


def program_time() -> tuple[int, int]:
    """Return total time (ns) of the programs at ACKs, and the number of ACKs: with kernel.bpf_stats_enabled."""
    listed = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True).stdout
    every = json.loads(listed)
    own = [one for one in every if one.get("name") in {"cong_control", "cong_avoid", "in_ack_event", "pkts_acked"}]
    # One of these per ACK.
    acks = [one for one in own if one["name"] in {"cong_control", "pkts_acked"}]
    return sum(one.get("run_time_ns", 0) for one in own), sum(one.get("run_cnt", 0) for one in acks)


def rate(_runs: int, seconds: float) -> None:
    """The highest event rate: segments of 256 bytes over 5 ms, at rising rates until the relay is the limit.

    The loopback device gives fewer events: a sender that is not limited by its window holds its
    socket, and the kernel merges the ACKs that arrive meanwhile.
    """
    head("path", "wait", "events/s", "events lost", "events under Reno", "p50 / p99 / p99.9", "goodput, Mbit/s",
         "process time per event", "core", "packets late")  # fmt: skip
    for mbps in (20.0, 80.0, 160.0):
        for what, options in (("nap 200 us", []), ("nap 200 us, realtime", ["--realtime"])):
            name = next(NAMES)
            with Path2(mbps, 5.0, int(mbps * 5000)) as path, Run(name, "reno", *options) as run:
                transfer = path.end(path.begin(name, seconds, mss=268))
                said = run.stop()
            row(
                f"{mbps:g} Mbit/s",
                what,
                f"{said['events'] / seconds:,.0f}",
                said["lost_events"],
                f"{said['fallback_events'] / said['events']:.1%}",
                " / ".join(microseconds(said["latency_us"][part]) for part in ("p50", "p99", "p99.9")),
                f"{transfer.goodput(1):.1f}",
                f"{said['events_s'] * 1e6 / said['events']:.1f} us",
                f"{said['processor_s'] / seconds:.0%}",
                f"{path.late}/{path.packets}",
            )


def microseconds(span: float) -> str:
    """Write a latency as the page does."""
    return f"{span:.0f} us" if span < 1000 else f"{span / 1000:.1f} ms"


def simulator(runs: int, seconds: float) -> None:
    """The simulator beside the kernel: one deterministic run, and medians of the kernel's, for Reno and CUBIC."""
    head("path", "algorithm", "run", "goodput, Mbit/s", "mean window", "period, s", "retransmissions", "packets late")
    for where in PATHS:
        mbps, rtt, buffer = where
        for own, label in PAIRS[:2]:
            place = f"{mbps:g} Mbit/s, {rtt:g} ms, {buffer / 1000:g} kB"
            tried: dict[str, list[Tried]] = {"library in control": [], "the kernel's own": []}
            for _ in range(runs):
                tried["library in control"].append(one_run(where, label, next(NAMES), seconds))
                tried["the kernel's own"].append(one_run(where, own, None, seconds))
            row(place, own, "simulated", *compared([simulate(where, CONTROLS[label], seconds)]), "-")
            for what, each in tried.items():
                late = f"{sum(one.late for one in each)}/{sum(one.packets for one in each)}"
                row("", "", what, *compared([one.transfer for one in each]), late)


def compared(transfers: Sequence[Transfer]) -> list[str]:
    """Return goodput, mean window, period and retransmissions: medians, the mean period, and the range of the last."""
    mean = period(transfers)
    lost = sorted(one.retransmits[-1] for one in transfers)
    return [
        f"{statistics.median(one.goodput(2) for one in transfers):.2f}",
        f"{statistics.median(one.mean(one.cwnd, 5) for one in transfers):.1f}",
        "-" if mean is None else f"{mean:.2f}",
        f"{lost[0]}" if lost[0] == lost[-1] else f"{lost[0]} to {lost[-1]}",
    ]


def cubic(_runs: int, _seconds: float) -> None:
    """CUBIC's period by three rules on the same simulated path, and no root: 120 s."""
    head("path", "rule", "goodput, Mbit/s", "mean window", "period, s", "retransmissions")
    load_algorithms(Path(__file__).parent / "linux_cubic.py")
    rules = {
        "RFC 9438, the library's": '{ window = "cubic", segments_per_ack = 1000 }',
        "the same after HyStart++": '{ start = "hystart++", window = "cubic" }',
        "Linux's": '{ model = "linux-cubic" }',
        "Linux's, count renewed at every ACK": '{ model = "linux-cubic", at_once = true }',
    }
    for mbps, rtt, buffer in PATHS:
        for what, control in rules.items():
            row(f"{mbps:g} Mbit/s, {rtt:g} ms", what, *compared([simulate((mbps, rtt, buffer), control, 120)]))


def cost(_runs: int, seconds: float) -> None:
    """Latency and cost of the three ways to wait."""
    ways: dict[str, Sequence[str]] = {
        "nap 200 us": [],
        "nap 200 us, realtime": ["--realtime"],
        "busy": ["--busy"],
        "woken": ["--woken"],
    }
    has_bpftool = subprocess.run(["which", "bpftool"], capture_output=True, check=False).returncode == 0
    statistics_switch = Path("/proc/sys/kernel/bpf_stats_enabled")
    earlier = statistics_switch.read_text() if has_bpftool else ""
    if has_bpftool:
        statistics_switch.write_text("1")
    try:
        head("wait", "p50", "p99", "p99.9", "kernel time per ACK", "process time per event", "core")
        for what, options in ways.items():
            name = next(NAMES)
            with Path2() as path, Run(name, "reno", *options) as run:
                before = program_time() if has_bpftool else (0, 0)
                path.send(name, seconds)
                after = program_time() if has_bpftool else (0, 0)
                said = run.stop()
            latency, acks = said["latency_us"], after[1] - before[1]
            row(
                what,
                *(microseconds(latency[part]) for part in ("p50", "p99", "p99.9")),
                f"{(after[0] - before[0]) / 1000 / acks:.1f} us" if acks else "- (needs bpftool)",
                f"{said['events_s'] * 1e6 / said['events']:.1f} us",
                f"{said['processor_s'] / seconds:.0%}",
            )
    finally:
        if has_bpftool:
            statistics_switch.write_text(earlier)


def corpus(_runs: int, _seconds: float) -> None:
    """Rewrite the corpora of `crates/kernel/tests/logs`: short connections with every kind of event."""
    folder = Path(__file__).parents[2] / "crates/kernel/tests/logs"
    folder.mkdir(exist_ok=True)
    situations: dict[str, Callable[[str], None]] = {
        "reno": plain,
        "cubic-hystart": plain,
        "bbr3": application_limited,
        "altcp": plain,
        "vegas": plain,
        "bic": stalled,
        "highspeed": plain,
        "fast": plain,
        "prague": marked,
        "scalable": marked,
        "ltcp": stalled,
        "reno-marked": marked,
    }
    labels = {"cubic-hystart": "cubic+hystart++", "reno-marked": "reno"}
    for title, situation in situations.items():
        name = next(NAMES)
        with tempfile.TemporaryDirectory() as temporary:
            record = Path(temporary, "record")
            with Run(name, labels.get(title, title), "--record", str(record)) as run:
                situation(name)
                run.stop()
            (folder / f"{title}.log").write_bytes((record / "events.log").read_bytes())
        row(title, (folder / f"{title}.log").stat().st_size)


def plain(name: str) -> None:
    """A small path with losses."""
    with Path2(8, 20, 25_000) as path:
        path.send(name, 5)


def application_limited(name: str) -> None:
    """Half a second of data, then silence, twice."""
    with Path2(8, 20, 25_000) as path:
        path.send(name, 3.5, pause=0.7)


def marked(name: str) -> None:
    """ECN."""
    with Path2(8, 20, 40_000, mark_above=12_000) as path:
        path.ecn()
        path.send(name, 5)


def stalled(name: str) -> None:
    """The path stalls for half a second, which causes a spurious timeout, and for two, with a second timeout."""
    with Path2(8, 20, 25_000) as path:
        number = path.begin(name, 8)
        for wait, pause in ((1.5, 0.5), (1.5, 2.0)):
            time.sleep(wait)
            path.relay.send_signal(19)
            time.sleep(pause)
            path.relay.send_signal(18)
        path.end(number)


PARTS = {
    "compare": compare,
    "senders": senders,
    "cost": cost,
    "rate": rate,
    "simulator": simulator,
    "cubic": cubic,
    "million": million,
    "corpus": corpus,
}


def main() -> None:
    """Make the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; the first four if none is named")
    parser.add_argument("--runs", type=int, default=3, help="runs of each algorithm of the comparison")
    parser.add_argument("--seconds", type=float, help="seconds of each transfer")
    parser.add_argument("--keep", type=Path, help="file to which the samples of the comparison are added")
    arguments = parser.parse_args()
    global KEPT  # noqa: PLW0603
    KEPT = arguments.keep
    if os.geteuid() != 0 and arguments.parts != ["cubic"]:
        sys.exit("needs root")
    load = os.getloadavg()[0]
    sys.stdout.write(f"Linux {os.uname().release}, {os.cpu_count()} cores, load {load:.1f}, segments of {MSS} bytes\n")
    seconds = {"compare": 15.0, "senders": 6.0, "cost": 10.0, "rate": 5.0, "simulator": 30.0, "million": 32.0}
    for part in arguments.parts or ("compare", "senders", "cost", "rate"):
        PARTS[part](arguments.runs, arguments.seconds or seconds.get(part, 0.0))


if __name__ == "__main__":
    main()
