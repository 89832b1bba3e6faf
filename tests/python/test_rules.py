"""Rules that can fail: mutants of runs, and the record of what falls under them."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

import selfclock as sc
from selfclock.claims import Claim, Findings
from selfclock.paper_runs import Part, Runs, Study, run_studies
from selfclock.papers.mutants import Mutant, Rules, algorithm, fallen, unfalsified
from selfclock.papers.on_record import long_claims, long_row, on_record, row
from selfclock.reproduce import PAPERS

if TYPE_CHECKING:
    from selfclock.papers.mutants import Control


def claim(name: str, verdict: Any, *readings: str) -> Claim:  # noqa: ANN401
    return Claim("paper", name, "1", says="says", printed=None, measured=1.0, verdict=verdict, note="",
                 criterion="ours", variant="by default", readings=readings)  # fmt: skip


def _cubic(control: Control) -> Control | None:
    return {"window": "cubic"} if algorithm(control, "reno") else None


def test_a_mutant_changes_the_named_runs_alone() -> None:
    short = {"duration": "1 s", "bottleneck": "10 Mbps"}
    one = sc.dumbbell(name="one", flows=["reno"], **short)
    two, other = one.with_overrides(["name=two", "seed=2"]), sc.dumbbell(name="other", flows=["vegas"], **short)
    read = []

    def findings(runs: Runs) -> Findings:
        read.append(runs)
        return Findings([claim("a", "reproduced")], [], [])

    study = Study([Part([one, two]), Part([other])], findings)
    mutant = Mutant("cubic", "CUBIC", control=_cubic)
    known = Runs({("one", 1): "first", ("two", 2): "second", ("other", 1): "third"})
    changed = mutant.study(study, known, {"two", "other"})
    # Vegas is not changed, and "one" is not named.
    assert [[run.name for run in part.scenarios] for part in changed.parts] == [["two"], []]
    run_studies([changed])
    [runs] = read
    assert (runs["one"], runs["other"]) == ("first", "third")
    second = runs["two"]
    assert second.summary["flows"][0]["algorithm"] == "cubic"
    assert second.scenario.seed == 2


def test_a_row_falls_if_a_verdict_is_worse_in_its_reading() -> None:
    claims = [claim("a", "reproduced", "one"), claim("b", "direction"), claim("c", "direction")]
    mutated = [claim("a", "direction", "one"), claim("b", "direction"), claim("c", "reproduced")]
    assert fallen(claims, mutated) == {"a"}
    assert fallen(claims, [claim("a", "not reproduced", "two")]) == set()
    # What fails in a run itself needs no mutant.
    claims += [claim("d", "not reproduced"), claim("a", "not reproduced", "two")]
    assert unfalsified(claims, {"b": ["off"]}) == ["c"]


def test_no_rule_on_record_cannot_fail() -> None:
    tried = {name: rules for name, package in PAPERS.items() if (rules := Rules.recorded(package)).mutants}
    assert tried
    for name, rules in tried.items():
        folder = resources.files(PAPERS[name])
        verdicts = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
        long = {one.key for one in long_claims(PAPERS[name])}
        rows = [row for row in on_record(PAPERS[name]) if row.key not in long]
        made = [claim(row.declared.id, verdicts[row.key], *row.readings) for row in rows]
        assert {one.id for one in made} <= rules.falls.keys(), name
        assert unfalsified(made, rules.falls) == [], name
        assert {mutant for own in rules.falls.values() for mutant in own} <= rules.mutants.keys()


@pytest.mark.parametrize("package", PAPERS.values())
def test_what_is_read_from_the_record_is_written_as_it_was(package: str) -> None:
    folder = resources.files(package)
    written = folder / "full.json"
    long = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else []
    assert [long_row(claim) for claim in long_claims(package)] == long
    # The long ones are on record in both files, and in one of them as texts.
    short = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    by_id = {(one["id"], *one["readings"]): one for one in short}
    for claim in long_claims(package):
        assert row(claim, package) == by_id[claim.id, *claim.readings]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_mutants(paper: str) -> None:
    module = __import__(f"{PAPERS[paper]}.mutants", fromlist=["MUTANTS"])
    names = [mutant.id for mutant in module.MUTANTS]
    assert len(names) == len(set(names)) >= 5
    assert all(mutant.does for mutant in module.MUTANTS)
