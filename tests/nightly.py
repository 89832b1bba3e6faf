"""Runs every long check, one after another: `make nightly`.

A check that passed on the same sources is not run again, so an interrupted night is continued by
the same command. The report, target/nightly/report.md, has result and time of each.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
STATE = ROOT / "target/nightly"
#: Targets of the Makefile, the short ones first. `mutants` takes days, and is not of a night;
#: kernel-native-qemu downloads a kernel; the figures of docs/ need an idle machine (make help).
CHECKS = (
    "adapters", "oracles", "load", "live-test", "careless", "journal-faults", "golden", "kernel-float", "kernel-test",
    "lab-test", "scorecard-truths", "misbehaviour", "package", "verify", "rules", "sweep-10000", "quic-test",
    "adapters-s2n", "docs-long", "record-full", "fuzz", "verify-night",
)  # fmt: skip


def sources() -> str:
    """Return a digest of the commit and of everything that differs from it."""
    digest = hashlib.sha256()
    for words in (["rev-parse", "HEAD"], ["diff", "HEAD"], ["status", "--porcelain"]):
        digest.update(subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout)
    return digest.hexdigest()[:16]


def run(check: str, results: dict[str, dict[str, object]], of: str) -> None:
    """Run one check, with its output in a file."""
    began = time.monotonic()
    log = STATE / f"{check}.log"
    with log.open("wb") as out:
        done = subprocess.run(["make", check], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False)
    seconds = round(time.monotonic() - began)
    results[check] = {"sources": of, "status": done.returncode, "seconds": seconds}
    (STATE / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{check}: {'pass' if not done.returncode else f'FAILS, see {log}'}, {seconds} s\n")
    sys.stdout.flush()


def report(results: dict[str, dict[str, object]], of: str) -> int:
    """Write the table; return the number of checks that did not pass."""
    rows = ["| check | result | s |", "|---|---|---|"]
    failed = 0
    for check in CHECKS:
        found = results.get(check)
        here = found is not None and found["sources"] == of
        result = "not run" if found is None or not here else "pass" if found["status"] == 0 else "FAILS"
        failed += result != "pass"
        rows.append(f"| `make {check}` | {result} | {found['seconds'] if found is not None and here else ''} |")
    (STATE / "report.md").write_text("\n".join(rows) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(rows) + "\n")
    return failed


def main() -> int:
    """Run from the command line; words choose checks."""
    STATE.mkdir(parents=True, exist_ok=True)
    kept = STATE / "results.json"
    results: dict[str, dict[str, object]] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    of = sources()
    wanted = sys.argv[1:] or list(CHECKS)
    for check in wanted:
        if check not in CHECKS:
            sys.exit(f"{check} is no long check; there are {', '.join(CHECKS)}")
        found = results.get(check)
        if found is None or found["sources"] != of or found["status"] != 0:
            run(check, results, of)
    return int(report(results, of) > 0)


if __name__ == "__main__":
    sys.exit(main())
