"""Runs the heaviest scenarios in full and reports their cost: make load."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))

import selfclock as sc  # noqa: E402
from load_cases import CASES  # noqa: E402


def run(name: str) -> bool:
    """Run one case and print its cost. Return whether it carried the load."""
    case = next(case for case in CASES if case.name == name)
    start = time.process_time()
    summary = sc.Scenario.parse(case.text, overrides=['record.interval="off"']).run().summary
    spent = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    busy = summary["links"][0]["utilization"]
    sent = sum(flow["sent_segments"] for flow in summary["flows"])
    sys.stdout.write(
        f"{name}: {summary['simulated_s']:g} s simulated, {sent:,} segments, {summary['packet_hops']:,} packet-hops, "
        f"first link {busy:.1%} busy (at least {case.busy:.0%}), {spent:.1f} s of CPU, {megabytes:.0f} MB\n"
    )
    return busy >= case.busy


def main() -> int:
    """Run each case in its own process, so that its memory can be measured."""
    if len(sys.argv) > 1:
        return 0 if run(sys.argv[1]) else 1
    ended = [subprocess.run([sys.executable, __file__, case.name], check=False).returncode for case in CASES]
    return int(any(ended))


if __name__ == "__main__":
    sys.exit(main())
