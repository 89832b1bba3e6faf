"""Half an hour at 50 Mbit/s, in which neither memory nor lateness may grow: `make live-endurance`.

It prints a line per minute. The exit status is 1 if the memory of the process grew by more than its
series take, if the lateness of 99 % of the packets doubled, if more than 1 % were later than 1 ms,
or if the latest exceeded the machine's own longest stall by more than 10 ms.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from standstill import COUNTED_S, Standstill

import selfclock as sc
from selfclock.emulate.addresses import emulated_hosts
from selfclock.emulate.run import emulate
from selfclock.emulate.session import Command, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent

#: Bound on the growth of memory, MB per hour: samples of six links, ten per second, 100 bytes each,
#: in vectors that double.
GROWTH_MB_PER_HOUR = 6 * 36_000 * 100 * 2 / 1e6

#: Bounds of lateness, s: those of a valid emulation; the worst case excludes the machine's own
#: longest stall.
P99_S, BEYOND_S = 1e-3, 10e-3

#: The first tenth is not judged: memory is being allocated, and caches are cold.
WARM = 0.1


class Watch:
    """Memory and lateness, one line per minute."""

    def __init__(self) -> None:
        self.begun = self.said = time.monotonic()
        #: Time in s, memory in MB, lateness of 99 % and worst lateness so far, s.
        self.lines: list[tuple[float, float, float, float]] = []

    def __call__(self, status: Callable[[], str]) -> None:
        """Record the present state, once a minute or twenty times per run."""
        now = time.monotonic()
        if now < self.said + min(60.0, ARGUMENTS.seconds / 20):
            return
        self.said = now
        late = json.loads(status())["lateness"]
        self.lines.append((now - self.begun, memory_mb(), late["p99_s"], late["worst_s"]))
        passed, memory, p99, worst = self.lines[-1]
        print(
            f"{passed:6.0f} s  {memory:7.1f} MB  late 99 % {p99 * 1e3:.3f} ms, worst {worst * 1e3:.2f} ms", flush=True
        )


def memory_mb() -> float:
    """Return the resident memory of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1e3  # type: ignore[index]


def main() -> None:
    """Run and judge it."""
    scenario = sc.dumbbell(bottleneck="50 Mbps", rtt="40 ms", buffer="1 bdp", flows=["cubic"], duration="1 h")
    scenario = scenario.with_overrides(["record.interval=100 ms"])
    hosts = emulated_hosts(scenario)
    program = (sys.executable, str(HERE / "traffic.py"))
    seconds = ARGUMENTS.seconds
    commands = [
        Command(hosts[1], (*program, "receive", "5001")),
        Command(hosts[0], (*program, "send", "b", "5001", "--for", str(seconds), "--control", "cubic")),
    ]
    watch, standstill = Watch(), Standstill()
    result, status = emulate(scenario, hosts, commands, Settings(watch=watch))
    flow = max(result.summary["flows"], key=lambda flow: flow["delivered_bytes"])
    longest, count = standstill.finish()
    late = result.summary["emulation"]["lateness"]
    print(
        f"worst lateness {late['worst_s'] * 1e3:.1f} ms; the machine itself stood still for at most "
        f"{longest * 1e3:.1f} ms, {count} times for more than {COUNTED_S * 1e3:g} ms"
    )
    print(f"goodput {flow['goodput_bps'] / 1e6:.2f} Mbit/s over {result.summary['simulated_s']:.0f} s")
    warm = [line for line in watch.lines if line[0] > seconds * WARM]
    (begin, memory, p99, _), (end, memory_then, p99_then, _) = warm[0], warm[-1]
    allowed = GROWTH_MB_PER_HOUR * (end - begin) / 3600
    wrong = [
        f"1 % of the packets were late by more than {late['p99_s'] * 1e3:.2f} ms" if late["p99_s"] > P99_S else None,
        f"the latest was {(late['worst_s'] - longest) * 1e3:.1f} ms later than the machine's longest standstill"
        if late["worst_s"] > longest + BEYOND_S
        else None,
        f"the sender ended with status {status}" if status else None,
        f"memory grew from {memory:.1f} to {memory_then:.1f} MB; allowed: {allowed:.1f} MB more"
        if memory_then > memory + allowed
        else None,
        f"lateness of 99 % grew from {p99 * 1e3:.3f} to {p99_then * 1e3:.3f} ms" if p99_then > 2 * p99 else None,
    ]
    sys.exit("\n".join(line for line in wrong if line) or 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1800.0)
    ARGUMENTS = parser.parse_args()
    main()
