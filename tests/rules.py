"""Judges every paper under its mutants, and records which statement falls under which: `make rules`.

`rules.json` in the paper's package is what the page shows. A statement that falls under no mutant,
and that no reading fails either, has a rule that cannot fail, which is an error. With `--check`
nothing is written, and a difference from the record is an error too. `--scale=X` shortens the runs
to this fraction: a trial of the mutants themselves, which writes nothing and judges nothing.
"""

from __future__ import annotations

import importlib
import importlib.resources
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.claims import VERDICTS, statements
from selfclock.paper_runs import Study, run_studies
from selfclock.papers.mutants import Rules, fallen, unfalsified
from selfclock.reproduce import PAPERS, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Findings
    from selfclock.paper_runs import Runs
    from selfclock.papers.mutants import Mutant


def judge(name: str, scale: float | None = None) -> tuple[Rules, list[str]]:
    """Return what falls under the mutants of a paper, and the statements that fall under none."""
    package = PAPERS[name]
    paper, listed = importlib.import_module(package), importlib.import_module(f"{package}.mutants")
    mutants: Sequence[Mutant] = listed.MUTANTS
    # A shorter run tells a mutant from the mechanism as well, where minutes would be needed.
    scale = getattr(listed, "SCALE", None) if scale is None else scale
    study: Study = paper.study() if scale is None else paper.study(scale)
    kept: list[Runs] = []

    def keep(runs: Runs) -> Findings:
        kept.append(runs)
        return study.findings(runs)

    [(findings, _)] = run_studies([Study(study.parts, keep)])
    # Of each statement the best verdict, which has most to lose, and its runs.
    best = [
        min(statement.claims, key=lambda claim: VERDICTS.index(claim.verdict))
        for statement in statements(findings.claims, paper.AMBIGUITIES)
    ]
    names = {scenario for claim in best for scenario in claim.scenarios}
    running = [mutant for mutant in mutants if mutant.computed is None]
    mutated = run_studies([mutant.study(study, kept[0], names) for mutant in running])
    found = {mutant.id: list(own.claims) for mutant, (own, _) in zip(running, mutated, strict=True)}
    found |= {mutant.id: list(mutant.computed()) for mutant in mutants if mutant.computed is not None}
    # What is only recorded has no run to change.
    claims = [claim for claim in best if not claim.recorded]
    falls: dict[str, list[str]] = {claim.id: [] for claim in claims}
    for mutant in mutants:
        for identity in sorted(fallen(claims, found[mutant.id])):
            falls[identity].append(mutant.id)
    return Rules({mutant.id: mutant.does for mutant in mutants}, falls), unfalsified(claims, falls)


def main() -> int:
    """Judge the named papers, or all."""
    check = "--check" in sys.argv[1:]
    scales = [float(word.partition("=")[2]) for word in sys.argv[1:] if word.startswith("--scale=")]
    failed = False
    for name in find([word for word in sys.argv[1:] if not word.startswith("--")]):
        rules, never = judge(name, *scales)
        if scales:
            sys.stdout.write(f"{name}: {len(rules.mutants)} mutants ran\n")
            continue
        path = Path(str(importlib.resources.files(PAPERS[name]))) / "rules.json"
        text = json.dumps({"mutants": rules.mutants, "falls": rules.falls}, indent=2, ensure_ascii=False) + "\n"
        if check and text != path.read_text(encoding="utf-8"):
            sys.stderr.write(f"{name}: other rules fall than on record; make rules\n")
            failed = True
        if not check:
            path.write_text(text, encoding="utf-8")
        sys.stdout.write(
            f"{name}: {len(rules.mutants)} mutants; of {len(rules.falls)} rules "
            f"{sum(bool(own) for own in rules.falls.values())} fail under one of them\n"
        )
        for identity in never:
            sys.stderr.write(f"{name} {identity}: fails under no mutant\n")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
