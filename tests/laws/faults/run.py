"""Which check sees which seeded fault: `make faults`, `python tests/laws/faults/run.py [FAULT...]`.

Faults of the Rust sources are in one build, each behind a switch (`switched.py`); those of Python
are patched into a copy. Each fault meets the laws that were expected to see it, the verifier over
random scenarios, until its time is over all other laws, the closed forms of tests/python, and the
scripts of the simulator's scripted peer. What has been tried is kept in results/faults.json, and
not tried again unless it is named; with other seconds more laws meet it, and are added.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from laws.law import Document

ROOT = Path(__file__).parent.parent.parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT / "tests")]

#: Cases of a law, of the verifier, and for it of each law that was expected to see the fault.
CASES, VERIFIED, DIRECTED = 40, 40, 9
#: Events of a record that the verifier is given here: some seconds of computing.
MOST_EVENTS = 60_000
#: Closed forms: theory of queues, windows and buckets.
FORMS = ("test_laws.py", "test_closed_forms.py")


def look(expected: list[str], seconds: float) -> dict[str, Any]:
    """Run within the process of a fault: return what sees it."""
    from laws.draw import Draw  # noqa: PLC0415
    from laws.generator import anything  # noqa: PLC0415
    from laws.law import LAWS, Broken, Skipped  # noqa: PLC0415
    from laws.run import KINDS  # noqa: PLC0415

    for kind in KINDS:
        importlib.import_module(f"laws.{kind}")
    begun = time.process_time()
    seen: list[str] = []

    def breaks(name: str, cases: int, span: float) -> bool:
        end = time.process_time() + span
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
            if time.process_time() > end:
                break
        return False

    seen += [name for name in expected if name in LAWS and breaks(name, CASES, seconds / 2)]
    directed = [(name, number) for number in range(DIRECTED) for name in expected if name in LAWS]
    documents = itertools.chain(
        (LAWS[name].make(Draw(1, name, number)) for name, number in directed),
        (anything(Draw(1, "verify", number)) for number in range(VERIFIED)),
    )
    verifier = verified(documents, seconds / 3)
    tried = [name for name in expected if name in LAWS]
    for name in sorted(LAWS, key=lambda name: -LAWS[name].share):
        if time.process_time() - begun > seconds:
            break
        if name not in tried:
            tried.append(name)
            if breaks(name, 4, 2.0):
                seen.append(name)
    return {"laws": seen, "tried": len(tried), "verifier": verifier}


def verified(documents: Iterable[Document], seconds: float) -> list[str]:
    """Return the rules of the verifier that the first scenario breaks which breaks any."""
    import polars as pl  # noqa: PLC0415

    from laws.measure import scenario  # noqa: PLC0415
    from selfclock.verify import Record, verify  # noqa: PLC0415

    end = time.process_time() + seconds
    for document in documents:
        document["record"]["packets"] = True
        given = scenario(document)
        result = given.run()
        if time.process_time() > end:
            return []
        if result.packets.num_rows > MOST_EVENTS:
            continue
        connections = pl.DataFrame(result.connections) if result.connections.num_rows else None
        record = Record(given.text, given.seed, pl.DataFrame(result.packets), dict(result.summary),
                        pl.DataFrame(result.flows), pl.DataFrame(result.links), connections)  # fmt: skip
        rules = sorted({each.rule for each in verify(record).violations})
        if rules or time.process_time() > end:
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
    forms = closed_forms(environment)
    scripts = scripted_peer(environment) if fault.is_rust else []
    command = [sys.executable, __file__, "--look", json.dumps(fault.expected), "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200 * seconds)
    if done.returncode:
        return {"laws": [], "tried": 0, "verifier": [], "died": done.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "forms": forms, "scripts": scripts}


def closed_forms(environment: dict[str, str]) -> list[str]:
    """Return the first test of a closed form that fails."""
    files = [str(ROOT / "tests/python" / name) for name in FORMS]
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "--tb=no", "-rf", *files]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    found = {line.split("::")[1].split("[")[0].split()[0] for line in done.stdout.splitlines() if "FAILED" in line}
    return sorted(found)


def scripted_peer(environment: dict[str, str]) -> list[str]:
    """Return the scripts whose segments, windows or states are others."""
    from laws.faults.switched import PEER  # noqa: PLC0415

    command = [str(PEER), "sender::packetdrill", "--test-threads", "1"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    words = [line.split() for line in done.stdout.splitlines() if line.endswith("FAILED")]
    return sorted({word[1].rpartition("::")[2] for word in words if len(word) > 2 and word[0] == "test"})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of computing, for each fault")
    parser.add_argument("--look", help=argparse.SUPPRESS)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="only these")
    arguments = parser.parse_args()
    if arguments.look is not None:
        sys.stdout.write(json.dumps(look(json.loads(arguments.look), arguments.seconds)) + "\n")
        return
    from laws.faults import switched  # noqa: PLC0415

    results = switched.RESULTS
    python = ROOT / "target/faults/tree/python"
    if not ((python / "selfclock/_core.abi3.so").exists() and switched.PEER.exists()) or os.environ.get("FAULTS_BUILD"):
        python = switched.build()
    # What judges is that of the present sources.
    shutil.copytree(
        ROOT / "python", python, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__", "static")
    )
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    named = arguments.faults
    due = [each for each in switched.faults() if (each.name in named if named else each.name not in known)]

    def attempt(fault: switched.Fault) -> None:
        found = one(fault, python, arguments.seconds)
        sys.stdout.write(f"{fault.name}: {found}\n")
        sys.stdout.flush()
        if "died" in found:
            return
        before = known.get(fault.name, {})
        for check in ("laws", "verifier", "forms", "scripts"):
            found[check] = [*found[check], *(each for each in before.get(check, []) if each not in found[check])]
        known[fault.name] = {"what": fault.what.rstrip("."), **found}
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(attempt, due))
    number = {name: sightings(found) for name, found in known.items()}
    for least, word in ((1, "not seen"), (2, "seen once")):
        rest = [name for name, seen in number.items() if seen == least - 1]
        sys.stdout.write(f"{word}: {', '.join(rest) or 'none'}\n")


def sightings(found: dict[str, Any]) -> int:
    """Return how many checks saw a fault: each law and rule, and the closed forms and scripts once."""
    return len(found["laws"]) + len(found["verifier"]) + bool(found["forms"]) + bool(found["scripts"])


if __name__ == "__main__":
    main()
