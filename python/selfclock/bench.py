"""The standard speed cases, each in a process of its own so that its memory can be told."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.result import Result

#: In the order in which they are reported.
CASES = ("B1", "A1", "A100", "A100L", "U100", "C10k", "D100G", "P", "W")

#: What is divided by less than this tells more of the page size and the allocator than of flows or packets.
FEWEST_FLOWS = 1000
FEWEST_PACKETS = 10_000


class Case(TypedDict):
    """One measured case.

    `events_per_packet` is for a data packet with its acknowledgement. `bytes_per_flow` is what a run takes before
    anything has happened, with the hosts' own links and the scenario itself; `bytes_per_packet_in_flight` what it takes
    beyond that, series included, for each packet that the senders have in flight at most. Both are differences of the
    peak of a process, and null where there are too few to tell.
    """

    case: str
    packet_hops: int
    events: int
    cpu_s: float
    packet_hops_per_cpu_s: float
    peak_rss_bytes: int
    events_per_packet: float
    bytes_per_flow: float | None
    bytes_per_packet_in_flight: float | None


class BenchError(Exception):
    """A case did not run."""


def _peak_rss() -> int:
    # Linux counts in ru_maxrss what the process was before it became this program; VmHWM begins with the program.
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _most_in_flight(result: Result) -> float:
    """Return the most packets that the TCP senders have had in flight together at a sample time."""
    series = pl.DataFrame(result.flows)
    if series.is_empty():
        return 0.0
    packet = 1500
    together = series.group_by("time_s").agg(pl.col("in_flight_bytes").sum())
    return float(max(together["in_flight_bytes"].to_list())) / packet


def measure(case: str) -> Case:
    """Run a case in this process."""
    text = (resources.files("selfclock") / "benches" / f"{case}.toml").read_text(encoding="utf-8")
    before = _peak_rss()
    idle = Scenario.parse(text, f"{case}.toml", ["duration=1 ps"]).run()
    flows = len(idle.summary["flows"])
    del idle
    built = _peak_rss()
    result = Scenario.parse(text, f"{case}.toml").run()
    peak = _peak_rss()
    summary = result.summary
    sent = sum(flow["sent_segments"] for flow in summary["flows"])
    in_flight = _most_in_flight(result)
    return Case(
        case=case,
        packet_hops=summary["packet_hops"],
        events=summary["events"],
        cpu_s=summary["cpu_s"],
        packet_hops_per_cpu_s=summary["packet_hops"] / max(summary["cpu_s"], 1e-9),
        peak_rss_bytes=peak,
        events_per_packet=summary["events"] / max(sent, 1),
        bytes_per_flow=(built - before) / flows if flows >= FEWEST_FLOWS else None,
        bytes_per_packet_in_flight=(peak - built) / in_flight if in_flight >= FEWEST_PACKETS else None,
    )


def bench(cases: Sequence[str], progress: Callable[[float], object]) -> list[Case]:
    """Run every case in a fresh process."""
    measured: list[Case] = []
    for number, case in enumerate(cases):
        progress(number / len(cases))
        command = [sys.executable, "-m", "selfclock.bench", case]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            raise BenchError(f"case {case}: {done.stderr.strip()}")
        measured.append(json.loads(done.stdout))
    return measured


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1])))
