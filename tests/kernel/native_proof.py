"""Proof that the kernel makes the library's decisions: `make kernel-proof`, as root, on Linux 6.10 or later.

Algorithms are loaded, their events and decisions recorded while connections meet all the conditions
of the paths below, and replayed on this machine: equal to the bit, or the script ends with the
event that differs. `--corpora` writes the small records that `make test` replays.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from lab import Path2, names
from validation import head, row, stalled

from selfclock import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = names("q")
LOGS = Path(__file__).parents[2] / "crates/kernel/tests/logs"
ALGORITHMS = ("reno", "cubic", "bbr3", "prague", "altcp")
#: Kinds of events that a proof must contain.
WANTED = (
    "fast recovery",
    "timeout",
    "repeated timeout",
    "reduction for a mark",
    "undo",
    "restart from idle",
    "echo of a mark",
    "application-limited ACK",
    "ACK with SACK",
)
#: The loopback device as a bottleneck: segments of half a kilobyte, one at a time, produce many
#: ACKs.
LOOPBACK = ("ip link set lo mtu 576 gso_max_segs 1", "tc qdisc replace dev lo root tbf rate {} burst 20kb limit 60000")


@contextmanager
def loaded(label: str) -> Iterator[str]:
    """Load an algorithm into the kernel, under its own name, until the end of the block."""
    name = kernel.load(label, next(NAMES))
    try:
        yield name
    finally:
        kernel.unload_residents(name)


def incidents(name: str) -> None:
    """ECN, idle periods, an application-limited sender, and a path that stalls."""
    with Path2(8, 20, 40_000, mark_above=12_000) as path:
        path.ecn()
        numbers = [path.begin(name, 7, pause=pause, block=block) for pause, block in ((0.0, 0), (0.7, 0), (0.0, 500))]
        for number in numbers:
            path.end(number)
    stalled(name)


def many(name: str, rate: str, connections: int, seconds: float) -> None:
    """Connections over a loopback device with a bottleneck that drops segments."""
    with Path2() as path:
        host = path.hosts[0]
        for command in LOOPBACK:
            host.end(host.begin("run", command=command.format(rate)))
        numbers = [host.begin("send", control=name, seconds=seconds, to="127.0.0.1") for _ in range(connections)]
        for number in numbers:
            host.end(number)


def prove(label: str, events: int, rate: str) -> None:
    """Record at least this many events of an algorithm, and replay them."""
    phases: Counter[str] = Counter()
    replayed = answers = flows = lost = cut = rounds = 0
    began = time.monotonic()
    with loaded(label) as name:
        while replayed < events:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder, "events.log")
                with kernel.Recording(log, name) as recording:
                    if rounds == 0:
                        incidents(name)
                    else:
                        many(name, rate, 4, 10)
                    recorded = recording.stop()
                done = kernel.replay(log)
            rounds += 1
            phases.update(done.phases)
            replayed, answers, flows = replayed + done.events, answers + done.answers, flows + done.flows
            lost, cut = lost + recorded.lost, cut + recorded.cut
            if rounds > 1 and done.events < 1000:
                raise SystemExit(f"{label}: no traffic over the loopback device")
    row(
        label,
        replayed,
        answers,
        flows,
        lost,
        cut,
        *(phases[what] for what in WANTED),
        f"{time.monotonic() - began:.0f}",
    )
    missing = [what for what in WANTED if not phases[what]]
    if missing:
        raise SystemExit(f"{label}: there was no {', no '.join(missing)}")


def corpora(labels: list[str]) -> None:
    """Write a small record of the kernel's decisions for each algorithm compiled for it."""
    head("algorithm", "events", "bytes", *WANTED)
    for label in labels or [each.algorithm for each in kernel.objects()]:
        with loaded(label) as name, tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "events.log")
            with kernel.Recording(log, name) as recording:
                brief(name)
                recorded = recording.stop()
            if recorded.lost:
                raise SystemExit(f"{label}: {recorded.lost} events were lost; nothing is written")
            done = kernel.replay(log)
            (LOGS / f"in-kernel-{label}.log").write_bytes(log.read_bytes())
            row(label, done.events, log.stat().st_size, *(done.phases.get(what, 0) for what in WANTED))


def brief(name: str) -> None:
    """Some two thousand events of every kind."""
    with Path2(3, 20, 15_000, mark_above=5_000) as path:
        path.ecn()
        path.end(path.begin(name, 2, pause=0.5))
        path.end(path.begin(name, 1, block=200))
    with Path2(3, 20, 12_000) as path:
        number = path.begin(name, 5)
        for wait, pause in ((1.5, 0.5), (0.5, 1.5)):
            time.sleep(wait)
            path.relay.send_signal(19)
            time.sleep(pause)
            path.relay.send_signal(18)
        path.end(number)


def main() -> None:
    """Run the proof, or write the corpora."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithms", nargs="*", help=f"labels; {', '.join(ALGORITHMS)} if none is named")
    parser.add_argument("--events", type=int, default=1_000_000, help="events of each, at least")
    parser.add_argument("--rate", default="200mbit", help="rate of the loopback device")
    parser.add_argument("--corpora", action="store_true", help="write crates/kernel/tests/logs/in-kernel-*.log")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("needs root")
    load = os.getloadavg()[0]
    sys.stdout.write(f"Linux {os.uname().release}, {os.cpu_count()} cores, load {load:.1f}\n")
    if arguments.corpora:
        corpora(arguments.algorithms)
        return
    head("algorithm", "events", "decisions, all equal", "connections", "events lost", "cut", *WANTED, "seconds")
    for label in arguments.algorithms or ALGORITHMS:
        prove(label, arguments.events, arguments.rate)


if __name__ == "__main__":
    main()
