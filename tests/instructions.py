"""Counts the instructions of short runs of the speed cases: make instructions.

A count is the same on a busy machine and on an idle one, so it shows a slower hot path where
seconds would not. It depends on the compiler: recorded counts are compared only under the compiler
that produced them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import left_out

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "tests/instructions.toml"
#: Case and simulated time, each under a second of CPU outside of valgrind: one flow, many flows,
#: losses, forwarding alone, many queues, short connections; then different RTTs, jitter, a managed
#: queue, pacing, ECN and packet records.
CASES = {
    "B1": "2 s",
    "A100": "2 s",
    "A100L": "3 s",
    "U100": "1 s",
    "P": "300 ms",
    "W": "500 ms",
    "H100": "2 s",
    "H1000": "400 ms",
    "J100": "2 s",
    "Q100": "2 s",
    "B100": "2 s",
    "L100": "2 s",
    "R1": "1 s",
}
#: A larger increase is a regression. Counts of two runs of one binary differ by less than 0.01 %.
TOLERANCE = 0.05
HEAD = f"""\
# Instructions of whole runs, set-up included, as callgrind counts them, with the compiler they were made with.
# Made by `make instructions-record`; `make instructions` fails at more than {TOLERANCE:.0%} above.
"""


def compiler() -> str:
    """Return the compiler and its target."""
    lines = subprocess.run(["rustc", "-vV"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return f"{lines[0]}, {next(line for line in lines if line.startswith('host'))}"


def build() -> Path:
    """Build the program that runs one scenario; return its path."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "selfclock-simulator", "--example", "speed"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release/examples/speed"


def instructions(program: Path, case: str) -> int:
    """Count the instructions of one case."""
    with tempfile.TemporaryDirectory() as folder:
        counted = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/counts",
                str(program),
                f"python/selfclock/benches/{case}.toml",
                f"duration={CASES[case]}",
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    if found is None:
        raise SystemExit(f"valgrind did not say how many instructions {case} took:\n{counted.stderr}")
    return int(found[1])


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="put the counts on record")
    record = parser.parse_args().record
    if shutil.which("valgrind") is None:
        left_out.note("instructions of the speed cases", "there is no valgrind")
        sys.stdout.write(f"instructions are not counted: that needs valgrind, {left_out.remedy('valgrind')}\n")
        return int(record)
    known = tomllib.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"instructions": {}}
    if not record and known.get("compiler") != compiler():
        reason = f"those on record are of {known.get('compiler')}, this is {compiler()}"
        left_out.note("instructions of the speed cases", reason)
        sys.stdout.write(f"instructions are not compared: {reason}\n")
        return 0
    program = build()
    counts = {case: instructions(program, case) for case in CASES}
    if record:
        lines = [f"{case} = {count}" for case, count in counts.items()]
        compiled = f"compiler = {json.dumps(compiler())}\n\n[instructions]\n"
        RECORD.write_text(HEAD + compiled + "\n".join(lines) + "\n", encoding="utf-8")
    slower = False
    for case, count in counts.items():
        was = known["instructions"].get(case)
        change = f"{count / was - 1:+.1%}" if was else "new"
        sys.stdout.write(f"{case}: {count / 1e6:.1f} million instructions in {CASES[case]}, {change}\n")
        slower |= was is not None and count > was * (1 + TOLERANCE)
    if slower and not record:
        sys.stderr.write(
            f"more than {TOLERANCE:.0%} more instructions than on record: find out why, or say in CHANGELOG.md what "
            "they buy and put them on record with make instructions-record\n"
        )
    return int(slower and not record)


if __name__ == "__main__":
    sys.exit(main())
