"""Which check sees which seeded fault: `make faults`, `python tests/laws/faults/run.py [FAULT...]`.

Faults of the Rust sources are in one build, each behind a switch (`switched.py`); those of Python
are patched into a copy. Each fault meets the laws that were expected to see it, the verifier over
random scenarios, and, until its time is over, all other laws. What has been tried is kept in
results/faults.json and not tried again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT / "tests")]

#: Cases of a law, and of the verifier.
CASES, VERIFIED = 40, 40


def look(expected: list[str], seconds: float) -> dict[str, Any]:
    """Run within the process of a fault: return what sees it."""
    from laws.draw import Draw  # noqa: PLC0415
    from laws.generator import anything  # noqa: PLC0415
    from laws.law import LAWS, Broken, Skipped  # noqa: PLC0415
    from laws.run import KINDS  # noqa: PLC0415

    for kind in KINDS:
        importlib.import_module(f"laws.{kind}")
    begun = time.monotonic()
    seen: list[str] = []

    def breaks(name: str, cases: int, span: float) -> bool:
        end = time.monotonic() + span
        for number in range(cases):
            try:
                LAWS[name].check(LAWS[name].make(Draw(1, name, number)))
            except Skipped:
                pass
            except Broken:
                return True
            except BaseException as error:  # a panic of the simulator is a sighting, too
                if isinstance(error, KeyboardInterrupt):
                    raise
                return True
            if time.monotonic() > end:
                break
        return False

    seen += [name for name in expected if name in LAWS and breaks(name, CASES, seconds / 2)]
    verifier = verified(lambda number: anything(Draw(1, "verify", number)), seconds / 4)
    tried = [name for name in expected if name in LAWS]
    for name in sorted(LAWS, key=lambda name: -LAWS[name].share):
        if time.monotonic() - begun > seconds:
            break
        if name not in tried:
            tried.append(name)
            if breaks(name, 4, 2.0):
                seen.append(name)
    return {"laws": seen, "tried": len(tried), "verifier": verifier}


def verified(make: Any, seconds: float) -> list[str]:  # noqa: ANN401
    """Return the rules of the verifier that random scenarios break."""
    import polars as pl  # noqa: PLC0415

    from laws.measure import scenario  # noqa: PLC0415
    from selfclock.verify import Record, verify  # noqa: PLC0415

    end = time.monotonic() + seconds
    for number in range(VERIFIED):
        document = make(number)
        document["record"]["packets"] = True
        given = scenario(document)
        result = given.run()
        connections = pl.DataFrame(result.connections) if result.connections.num_rows else None
        record = Record(given.text, given.seed, pl.DataFrame(result.packets), dict(result.summary),
                        pl.DataFrame(result.flows), pl.DataFrame(result.links), connections)  # fmt: skip
        rules = sorted({each.rule for each in verify(record).violations})
        if rules or time.monotonic() > end:
            return rules
    return []


def one(fault: Any, python: Path, seconds: float) -> dict[str, Any]:  # noqa: ANN401
    """Try a fault in a process of its own."""
    where = python
    if not fault.is_rust:
        where = ROOT / f"target/faults/{fault.name}/python"
        shutil.copytree(python, where, dirs_exist_ok=True)
        file = where.parent / fault.file
        # The verifier and the laws are those of the sources; the fault is in what they judge.
        file.write_text(file.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(where), "SELFCLOCK_FAULT": str(fault.number if fault.is_rust else 0)}
    command = [sys.executable, __file__, "--look", json.dumps(fault.expected), "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=20 * seconds)
    if done.returncode:
        return {"laws": [], "tried": 0, "verifier": [], "died": done.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each fault")
    parser.add_argument("--look", help=argparse.SUPPRESS)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="only these")
    arguments = parser.parse_args()
    if arguments.look is not None:
        sys.stdout.write(json.dumps(look(json.loads(arguments.look), arguments.seconds)) + "\n")
        return
    from laws.faults import switched  # noqa: PLC0415

    results = switched.RESULTS
    python = ROOT / "target/faults/tree/python"
    if not (python / "selfclock/_core.abi3.so").exists() or os.environ.get("FAULTS_BUILD"):
        python = switched.build()
    # What judges is that of the present sources.
    shutil.copytree(
        ROOT / "python", python, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__", "static")
    )
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    due = [
        each for each in switched.faults() if each.name not in known and each.name in (arguments.faults or [each.name])
    ]

    def attempt(fault: switched.Fault) -> None:
        found = one(fault, python, arguments.seconds)
        sys.stdout.write(f"{fault.name}: {found}\n")
        sys.stdout.flush()
        if "died" in found:
            return
        known[fault.name] = {"what": fault.what.rstrip("."), **found}
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(attempt, due))
    missed = [name for name, found in known.items() if not found["laws"] and not found["verifier"]]
    sys.stdout.write(f"{len(known)} faults, {len(known) - len(missed)} seen; not seen: {', '.join(missed) or 'none'}\n")


if __name__ == "__main__":
    main()
