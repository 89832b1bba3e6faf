"""Mutants of a paper's runs: its mechanism off, another constant, another algorithm.

A rule that no mutant makes fall judges nothing. `make rules` judges every paper under its mutants
and records in `rules.json` which statement falls under which.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from selfclock.algorithms import algorithms
from selfclock.claims import VERDICTS
from selfclock.paper_runs import Part, Study

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario

#: A flow's congestion control as a scenario has it, changed; `None` leaves it.
Control = dict[str, Any]


@dataclass(frozen=True)
class Mutant:
    """One change of every run of a paper that it applies to."""

    id: str
    #: For readers: what runs instead.
    does: str
    #: Another control of a flow; `None` if the flow stays.
    control: Callable[[Control], Control | None] | None = None
    #: Overrides of a scenario, given as a table.
    overrides: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    #: Claims of a computation without runs, with its change.
    computed: Callable[[], Sequence[Claim]] | None = None

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the changed run."""
        table = tomllib.loads(scenario.text)
        changes = list(self.overrides(table)) if self.overrides else []
        for number, flow in enumerate(table.get("flow", [])):
            own = flow.get("congestion_control")
            if self.control is None or own is None:
                continue
            other = self.control(_table(own) if isinstance(own, str) else dict(own))
            # Only one algorithm forms groups, so their flows keep it.
            if other is not None and ("group" not in flow or algorithm(other, "adaptive")):
                changes.append(f"flow.{number}.congestion_control={_inline(other)}")
        return scenario.with_overrides(changes) if changes else scenario

    def study(self, study: Study, runs: Runs, names: Collection[str]) -> Study:
        """Return the study with the named runs changed; those that stay the same are `runs`."""

        def changed(part: Part) -> list[Scenario]:
            others = [(one, self.scenario(one)) for one in part.scenarios if one.name in names]
            return [other for one, other in others if other.settings != one.settings]

        parts = [Part(changed(part), part.read) for part in study.parts]
        return Study(parts, lambda measured: study.findings(runs.with_others(measured)))


def _table(name: str) -> Control:
    """Return the control with this one algorithm."""
    return {next(each.part for each in algorithms() if each.name == name): name}


def _inline(table: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def algorithm(control: Control, *names: str) -> bool:
    """Tell whether a control has one of these parts."""
    return any(control.get(part) in names for part in ("window", "start", "model", "estimate"))


@dataclass(frozen=True)
class Rules:
    """Which statement falls under which mutant, on record."""

    #: Each mutant's change, for readers.
    mutants: dict[str, str] = field(default_factory=dict)
    #: Mutants by statement.
    falls: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def recorded(cls, package: str) -> Rules:
        """Return what the last `make rules` found."""
        path = resources.files(package) / "rules.json"
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else cls()


def fallen(claims: Sequence[Claim], mutated: Sequence[Claim]) -> set[str]:
    """Return the statements with a worse verdict under a mutant, in any reading."""
    other = {claim.key: claim.verdict for claim in mutated}
    return {
        claim.id
        for claim in claims
        if claim.key in other and VERDICTS.index(other[claim.key]) > VERDICTS.index(claim.verdict)
    }


def unfalsified(claims: Sequence[Claim], falls: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the statements whose rule fails under no mutant, and under no reading on record either."""
    by_id: dict[str, list[Claim]] = {}
    for claim in claims:
        by_id.setdefault(claim.id, []).append(claim)
    return [
        name
        for name, own in by_id.items()
        if not falls.get(name) and all(claim.verdict != "not reproduced" for claim in own)
    ]
