"""The standard speed cases, each in a process of its own so that its memory can be told."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from typing import TYPE_CHECKING, TypedDict

from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: In the order in which they are reported.
CASES = ("B1", "A1", "A100", "A100L", "U100")


class Case(TypedDict):
    """One measured case."""

    case: str
    packet_hops: int
    events: int
    cpu_s: float
    packet_hops_per_cpu_s: float
    #: None where the system does not tell (Windows).
    peak_rss_bytes: int | None


class BenchError(Exception):
    """A case did not run."""


def measure(case: str) -> Case:
    """Run a case in this process."""
    file = resources.files("selfclock") / "benches" / f"{case}.toml"
    summary = Scenario.parse(file.read_text(encoding="utf-8"), f"{case}.toml").run().summary
    return Case(
        case=case,
        packet_hops=summary["packet_hops"],
        events=summary["events"],
        cpu_s=summary["cpu_s"],
        packet_hops_per_cpu_s=summary["packet_hops"] / max(summary["cpu_s"], 1e-9),
        peak_rss_bytes=_peak_rss_bytes(),
    )


def _peak_rss_bytes() -> int | None:
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


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
