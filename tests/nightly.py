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
#: Targets of the Makefile, the short ones first.
CHECKS = (
    "adapters", "oracles", "load", "live-test", "careless", "journal-faults", "oldest-rust", "golden", "kernel-float",
    "kernel-test", "lab-test", "scorecard-truths", "misbehaviour", "kernel-proof", "package", "verify", "rules",
    "sweep-10000", "quic-test", "adapters-s2n", "laws", "docs-long", "record-full", "live-endurance", "fuzz",
    "verify-night",
)  # fmt: skip
#: Why the other targets are not of a night.
_REASONS = {
    "a part of make test, of each change": "test begin lint rust-test python-test untested docs instructions",
    "builds, and checks nothing": "help prerequisites build quic lab lab-prerequisites clean",
    "updates files of the repository": "pins chart-library report-scripts figures record instructions-record",
    "updates objects, which make test compares": "kernel-object kernel-objects",
    "writes a page of measurements": "scorecards quic-scorecards quic-parity quic-others transports "
    "transports-kernel bbr-suite ns2-grid live-validation linux-suite",
    "measures, on an idle machine": "kernel-validation kernel-native-tables live-bench bench growth",
    "a part of kernel-test": "kernel-native-test",
    "downloads a kernel": "kernel-native-qemu",
    "needs a built clone of another repository": "packetdrill",
    "has the runs of record-full": "reproduce reproduce-full",
    "package, at a release": "release",
    "compares with a revision that is given": "semver",
    "lists lines, and judges nothing": "coverage",
    "tells in hours what each law is good for, and judges nothing": "faults",
    "takes days": "mutants",
    "this": "nightly",
}
OTHERS = {target: reason for reason, targets in _REASONS.items() for target in targets.split()}


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
