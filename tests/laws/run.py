"""Runs the laws for a time, on all cores: `make laws`, `python tests/laws/run.py --help`.

Cases depend on the seed, the law and their number alone. A run that is interrupted continues where
it stopped, with its seed; a broken law leaves a folder with the shrunk scenario, the sentence, the
two numbers, and the command that shows it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import sys
import time
import tomllib
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
if __name__ == "__main__":  # the folder of this file would hide modules of other packages
    sys.path[:1] = [str(ROOT / "tests"), str(ROOT / "python")]

from laws.coverage import Coverage  # noqa: E402
from laws.draw import Draw  # noqa: E402
from laws.law import LAWS, Broken, Document, Law, Skipped  # noqa: E402
from laws.page import write as write_page  # noqa: E402
from laws.shrink import broken, shrunk  # noqa: E402
from selfclock.scenario.toml import to_toml, to_toml_value  # noqa: E402

#: The modules with laws, one a kind.
KINDS = (
    "symmetries", "topologies", "reductions", "physics", "transport", "formulas", "queues", "windows", "relations",
    "figures",
)  # fmt: skip
for kind in KINDS:
    importlib.import_module(f"laws.{kind}")

OUT = ROOT / "results/laws"
#: Seconds of a batch, after which a worker takes the next law.
BATCH = 1.0
#: Findings of a law that are shrunk; the rest are counted.
SHOWN = 3


@dataclass
class Tally:
    """Cases of a law so far."""

    next: int = 0
    judged: int = 0
    broken: int = 0
    seconds: float = 0.0
    skipped: dict[str, int] = field(default_factory=dict)


def batch(name: str, seed: int, first: int, span: float, shown: int) -> dict[str, Any]:
    """Try cases of a law for some time, at least one."""
    law, clock = LAWS[name], time.monotonic()
    found: dict[str, Any] = {"law": name, "judged": 0, "skipped": Counter(), "findings": [], "errors": []}
    coverage, number = Coverage(), first
    while number == first or time.monotonic() - clock < span:
        document: Document = {}
        draw = Draw(seed, name, number)
        try:
            document = law.make(draw)
            law.check(document)
            found["judged"] += 1
            coverage.add(document)
        except Skipped as why:
            found["skipped"][str(why)] += 1
        except Broken as how:
            found["judged"] += 1
            coverage.add(document)
            found["findings"].append((number, document if draw.wide else None, str(how)))
        except Exception:  # a case that cannot be judged is reported, and the next tried
            found["errors"].append((number, document, traceback.format_exc(limit=4)))
        number += 1
    found["next"], found["seconds"] = number, time.monotonic() - clock
    for place, (case, wide, how) in enumerate(found["findings"]):
        if shown + place < SHOWN:
            write(law, seed, case, law.make(Draw(seed, name, case)), how, small=wide is None)
    found["findings"] = [(case, how) for case, _, how in found["findings"]]
    found["errors"] = [(case, how) for case, _, how in found["errors"]]
    found["coverage"] = coverage.document()
    return found


def compact(document: Document) -> str:
    """Write a scenario in some ten lines."""
    text = to_toml({key: value for key, value in document.items() if key not in ("network", "record", "transport")})
    head, _, rest = text.partition("\n\n")
    inline = [f"{key} = {to_toml_value(document[key])}" for key in ("record", "transport") if key in document]
    network = [f"{key} = {to_toml_value(value)}" for key, value in document["network"].items()]
    return "\n".join([head, *inline, "", "[network]", *network, "", rest.strip(), ""])


def write(law: Law, seed: int, number: int, document: Document, how: str, *, small: bool) -> None:
    """Write the folder of a finding; a directed case is small already, and nothing of it optional."""
    small_one = document if small else shrunk(law, document)
    told = broken(law, small_one) or how
    where = OUT / f"{law.name}-{seed}.{number}"
    where.mkdir(parents=True, exist_ok=True)
    (where / "scenario.toml").write_text(compact(small_one), encoding="utf-8")
    (where / "original.toml").write_text(compact(document), encoding="utf-8")
    command = f"python tests/laws/run.py --show {where.relative_to(ROOT)}"
    text = (
        f"law: {law.name} ({law.kind})\n{law.sentence}\nCondition: {law.condition}\nSource: {law.source}\n\n"
        f"{told}\n\nShow it: {command}\nSeed {seed}, case {number}; original.toml: {how}\n"
    )
    (where / "finding.txt").write_text(text, encoding="utf-8")


def show(folder: Path) -> int:
    """Check the law of a finding again."""
    name = folder.name.rpartition("-")[0]
    document = tomllib.loads((folder / "scenario.toml").read_text(encoding="utf-8"))
    law = LAWS[name]
    sys.stdout.write(f"{law.sentence}\n")
    try:
        law.check(document)
    except Broken as how:
        sys.stdout.write(f"broken: {how}\n")
        return 1
    except Skipped as why:
        sys.stdout.write(f"the condition does not hold: {why}\n")
        return 0
    sys.stdout.write("holds\n")
    return 0


class Campaign:
    """The tallies of a seed, kept in a file."""

    def __init__(self, seed: int, laws: list[str]) -> None:
        self.seed, self.laws = seed, laws
        self.file = OUT / f"progress-{seed}.json"
        stored = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.tallies = {name: Tally(**stored.get("laws", {}).get(name, {})) for name in LAWS}
        self.coverage = Coverage(stored.get("coverage"))
        self.wall = float(stored.get("wall", 0.0))
        self.findings: list[str] = list(stored.get("findings", []))
        self.errors: list[str] = list(stored.get("errors", []))

    def take(self, found: dict[str, Any]) -> None:
        """Add a batch."""
        tally = self.tallies[found["law"]]
        tally.next = max(tally.next, found["next"])
        tally.judged += found["judged"]
        tally.broken += len(found["findings"])
        tally.seconds += found["seconds"]
        tally.skipped = dict(Counter(tally.skipped) + Counter(found["skipped"]))
        self.coverage.merge(found["coverage"])
        self.findings += [f"{found['law']}, case {case}: {how}" for case, how in found["findings"]]
        self.errors += [f"{found['law']}, case {case}: {how}" for case, how in found["errors"]]

    def save(self) -> None:
        """Write the file."""
        OUT.mkdir(parents=True, exist_ok=True)
        kept = {
            "seed": self.seed, "wall": self.wall, "laws": {name: asdict(each) for name, each in self.tallies.items()},
            "coverage": self.coverage.document(), "findings": self.findings, "errors": self.errors,
        }  # fmt: skip
        aside = self.file.with_suffix(".new")
        aside.write_text(json.dumps(kept), encoding="utf-8")
        aside.replace(self.file)

    def due(self, busy: set[str]) -> str | None:
        """Return the law with the least time for its share."""
        free = [name for name in self.laws if name not in busy]
        return min(free, key=lambda name: self.tallies[name].seconds / LAWS[name].share, default=None)

    def run(self, seconds: float, workers: int) -> None:
        """Try cases until this much time has passed."""
        begun = time.monotonic()
        busy: dict[Any, str] = {}
        saved, before = begun, self.wall
        with ProcessPoolExecutor(workers) as pool:
            while True:
                left = seconds - (time.monotonic() - begun)
                while left > 0 and len(busy) < workers:
                    name = self.due(set(busy.values()))
                    if name is None:
                        break
                    tally = self.tallies[name]
                    span = min(BATCH * LAWS[name].share, left)
                    busy[pool.submit(batch, name, self.seed, tally.next, span, tally.broken)] = name
                if not busy:
                    break
                for done in wait(busy, return_when=FIRST_COMPLETED).done:
                    del busy[done]
                    self.take(done.result())
                self.wall = before + time.monotonic() - begun
                if time.monotonic() - saved > 5:
                    saved = time.monotonic()
                    self.save()
        self.save()

    def report(self) -> list[str]:
        """Return the result, as lines."""
        lines = [f"seed {self.seed}, {self.wall:.0f} s"]
        for name in self.laws:
            tally = self.tallies[name]
            skipped = sum(tally.skipped.values())
            often = f", {skipped} skipped ({max(tally.skipped, key=tally.skipped.get)})" if skipped else ""
            lines.append(f"  {name}: {tally.judged} cases, {tally.broken} broken{often}")
        judged = sum(each.judged for each in self.tallies.values())
        lines += ["", *self.coverage.table(), ""]
        lines += [f"not reached: {each}" for each in self.coverage.missing()]
        lines += [f"never judged: {name}" for name in self.laws if not self.tallies[name].judged]
        lines += [f"BROKEN: {each}" for each in self.findings] + [f"ERROR: {each}" for each in self.errors]
        count = len(self.findings)
        return [*lines, f"{len(self.laws)} laws, {judged:,} cases: {count or 'no'} violation{'s' * (count != 1)}"]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("LAWS_SECONDS", "1200")))
    parser.add_argument("--seed", type=int, help="of the cases; any, and printed, if not given")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=Path, metavar="FOLDER", help="check the law of a finding")
    parser.add_argument("--page", action="store_true", help="write the tables of docs/how-we-know.md afterwards")
    parser.add_argument("--tables", action="store_true", help="write those that need no run, and nothing else")
    parser.add_argument("laws", nargs="*", metavar="LAW", help="only these")
    arguments = parser.parse_args()
    if arguments.show is not None:
        sys.exit(show(arguments.show.resolve()))
    if arguments.tables:
        write_page()
        return
    unknown = [name for name in arguments.laws if name not in LAWS]
    if unknown:
        parser.error(f"{unknown[0]} is no law; there are: {', '.join(LAWS)}")
    latest = OUT / "seed"
    seed = arguments.seed
    if seed is None:  # one that was interrupted continues
        seed = int(latest.read_text()) if latest.exists() else random.SystemRandom().randrange(2**31)
    OUT.mkdir(parents=True, exist_ok=True)
    latest.write_text(str(seed))
    campaign = Campaign(seed, arguments.laws or list(LAWS))
    sys.stdout.write(f"seed {seed}, {arguments.seconds:.0f} s in all, {campaign.wall:.0f} s done\n")
    sys.stdout.flush()
    campaign.run(max(arguments.seconds - campaign.wall, 0.0), arguments.workers)
    sys.stdout.write("\n".join(campaign.report()) + "\n")
    latest.unlink()
    if arguments.page:
        write_page(campaign)
    sys.exit(1 if campaign.findings or campaign.errors else 0)


if __name__ == "__main__":
    main()
