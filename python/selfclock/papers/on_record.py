"""Measurements of a paper's last run, joined with the statements that its package declares.

`claims.json` has a row for each verdict: identifier, readings, measured value and note, and the
printed one where it follows from a run. `full.json` has those of the experiments that take minutes,
with their verdicts and runs, and `full_data.json` the numbers of their figures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from selfclock.papers.declared import Declared, claims_of

if TYPE_CHECKING:
    from selfclock.claims import Claim, Verdict


class Row(TypedDict):
    """A verdict in `claims.json`, as texts."""

    id: str
    readings: list[str]
    measured: str
    note: str
    printed: NotRequired[str]


class LongRow(TypedDict):
    """A verdict in `full.json`."""

    id: str
    readings: list[str]
    measured: float | str | None
    verdict: Verdict
    note: str
    variant: str
    scenarios: list[str]


@dataclass(frozen=True)
class Recorded:
    """A verdict on record, with its statement under its readings."""

    declared: Declared
    readings: tuple[str, ...]
    printed: str
    measured: str
    note: str

    @property
    def key(self) -> str:
        """Identifier of the verdict, as `Claim.key`."""
        return f"{self.declared.id} [{', '.join(self.readings)}]" if self.readings else self.declared.id


def row(claim: Claim, package: str) -> Row:
    """Return a verdict as `claims.json` has it."""
    made = Row(id=claim.id, readings=list(claim.readings), measured=claim.measured_text, note=claim.note)
    if claims_of(package).declared[claim.id].reading(claim.readings).printed_text != claim.printed_text:
        made["printed"] = claim.printed_text
    return made


def long_row(claim: Claim) -> LongRow:
    """Return a verdict as `full.json` has it."""
    return LongRow(
        id=claim.id,
        readings=list(claim.readings),
        measured=claim.measured,
        verdict=claim.verdict,
        note=claim.note,
        variant=claim.variant,
        scenarios=list(claim.scenarios),
    )


def _read(package: str, name: str, without: Any) -> Any:  # noqa: ANN401 as JSON has it
    path = resources.files(package) / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else without


def on_record(package: str) -> list[Recorded]:
    """Return the verdicts of the last run, by statement, the one under the default readings first."""
    statements = claims_of(package).declared
    rows: list[Row] = _read(package, "claims.json", [])
    found = []
    for each in rows:
        readings = tuple(each["readings"])
        declared = statements[each["id"]].reading(readings)
        printed = each.get("printed", declared.printed_text)
        found.append(Recorded(declared, readings, printed, each["measured"], each["note"]))
    return found


def long_claims(package: str) -> list[Claim]:
    """Return the claims whose runs take minutes, from the last run with `full`."""
    paper = claims_of(package)
    rows: list[LongRow] = _read(package, "full.json", [])
    return [
        replace(
            paper.declared[each["id"]].judged(paper.paper, each["readings"], each["verdict"]),
            measured=each["measured"],
            note=each["note"],
            variant=each["variant"],
            scenarios=tuple(each["scenarios"]),
            long=True,
            recorded=True,
        )
        for each in rows
    ]


def long_data(package: str) -> dict[str, Any]:
    """Return the numbers of long runs from the last run with `full`; empty without one."""
    held: dict[str, Any] = _read(package, "full_data.json", {})
    return held


def by_readings(package: str) -> str:
    """Return the statements of `in_readme` under every combination of readings, as a table for the README."""
    paper = claims_of(package)
    names = {one.id: one.name for each in paper.ambiguities for one in each.readings if one is not each.default}
    rows = [one for one in on_record(package) if one.declared.id in paper.in_readme]
    # A statement on which fewer readings bear has one value under several combinations.
    most = max((len(one.readings) for one in rows), default=0)
    combinations = list(dict.fromkeys(one.readings for one in rows if len(one.readings) == most))
    heads = [paper.declared[name] for name in paper.in_readme]
    lines = [
        ["readings", *(f"`{each.id}`" for each in heads)],
        ["---"] * (1 + len(heads)),
        ["printed", *("-" if isinstance(each.printed, str) else each.printed_text for each in heads)],
    ]
    for combination in combinations:
        label = ", ".join(names[name] for name in combination if name in names) or "the defaults"
        cells = [
            next(
                (one.measured for one in rows if one.declared.id == each.id and set(one.readings) <= set(combination)),
                "-",
            )
            for each in heads
        ]
        lines.append([label, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
