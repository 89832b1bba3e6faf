"""`claims.toml` of a paper's package: what the paper says, by which rule each statement is judged, and its readings.

Python measures; every word, number and rule of a statement is data. `papers/README.md` describes
the file.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from selfclock.claims import Ambiguity, Claim, Of, Reading
from selfclock.papers.rules import Rule, holds

if TYPE_CHECKING:
    from selfclock.claims import Verdict

#: A text with fields in braces, or parts of it: one that stands always, or under a condition.
Text = str | Sequence[str | Mapping[str, Any]]


class _Formatter(string.Formatter):
    """`str.format`, which writes each element of a list in a field's format.

    A list's format can begin with a separator other than a comma, `and` or `/`, and end with what
    follows each element: `{times:.1f| s}` is "1.0 s, 2.0 s", and `{peaks:and .0f}` is "3 and 4".
    """

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 whatever was measured
        if not isinstance(value, (list, tuple)):
            return format(value, format_spec)
        form, _, suffix = format_spec.partition("|")
        between = ", "
        for word in ("and", "/"):
            if form.startswith(f"{word} ") or form == word:
                form, between = form.removeprefix(word).lstrip(), f" {word} "
        return between.join(f"{format(one, form)}{suffix}" for one in value) or "none"


def written(text: Text, values: Mapping[str, Any]) -> str:
    """Return a text with its fields."""
    parts = [text] if isinstance(text, str) else text
    chosen = []
    for part in parts:
        if isinstance(part, str):
            chosen.append(part)
        else:
            when = [part["when"]] if isinstance(part["when"], str) else part["when"]
            held = all(holds(condition, values) for condition in when)
            chosen.append(part["text"] if held else part.get("otherwise", ""))
    return _Formatter().vformat("".join(chosen), (), values)


@dataclass(frozen=True)
class Ran:
    """The runs of a claim: their mechanism, the readings that bear on it, and their names."""

    variant: str
    scenarios: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declared:
    """A statement as its package declares it."""

    id: str
    source: str
    says: str
    criterion: str
    rule: Rule
    #: A figure; with a unit it is the only field, whose format rounds it.
    measured: Text
    note: Text = ""
    printed: float | str | None = None
    unit: str = ""
    of: Of = "paper"
    figure: str = ""
    #: Numbers of the file, and values of this statement of a family.
    given: tuple[tuple[str, Any], ...] = ()
    #: Other texts or figures under a reading.
    under: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @classmethod
    def read(cls, name: str, table: Mapping[str, Any], numbers: Mapping[str, Any]) -> list[Declared]:
        """Return the statements of a table, one for each entry of `each`."""
        table = dict(table)
        each = table.pop("each", [{}])
        names = {field.name for field in fields(cls)}
        found = []
        for member in each:
            own = {**table, **{key: value for key, value in member.items() if key in names}}
            given = {**numbers, **{key: value for key, value in member.items() if key not in names}}
            own = {"id": name, "rule": {}, **own}
            unknown = own.keys() - names
            if unknown:
                raise ValueError(f"{name}: no key {', '.join(sorted(unknown))}; allowed are {', '.join(sorted(names))}")
            own["rule"] = Rule.read(own["rule"])
            own["under"] = tuple(own.get("under", {}).items())
            found.append(cls(**own, given=tuple(given.items()))._written())
        return found

    def _written(self) -> Declared:
        """Write the values of its family into what does not depend on a run."""
        values = {"printed": self.printed, **dict(self.given)}
        texts = {name: written(getattr(self, name), values) for name in ("id", "source", "says", "criterion", "figure")}
        return replace(self, **texts)  # type: ignore[arg-type]

    def reading(self, readings: Sequence[str]) -> Declared:
        """Return it as it is under these readings."""
        changed = self
        for name, other in self.under:
            if name in readings:
                changes = {**other, **({"rule": Rule.read(other["rule"])} if "rule" in other else {})}
                changed = replace(changed, **changes)._written()
        return changed

    @property
    def printed_text(self) -> str:
        """The printed figure with its unit; empty if none is printed."""
        if self.printed is None:
            return ""
        return f"{self.printed if isinstance(self.printed, str) else format(self.printed, 'g')} {self.unit}".rstrip()

    def judged(self, paper: str, readings: Sequence[str], verdict: Verdict) -> Claim:
        """Return the claim of a verdict under these readings, without what a run measured."""
        now = self.reading(readings)
        return Claim(
            paper,
            now.id,
            now.source,
            says=now.says,
            printed=now.printed,
            measured=None,
            verdict=verdict,
            note="",
            unit=now.unit,
            of=now.of,
            criterion=now.criterion,
            readings=tuple(readings),
            figure=now.figure,
        )

    def claim(self, paper: str, ran: Ran, values: Mapping[str, Any], *, long: bool) -> Claim:
        """Judge measured values."""
        now = self.reading(ran.readings)
        every = {"printed": now.printed, **dict(now.given), **values}
        verdict, printed = now.rule.judge(every), every["printed"]
        return replace(
            self.judged(paper, ran.readings, verdict),
            printed=written(printed, every) if isinstance(printed, str) else printed,
            measured=_measured(now.measured, every),
            # A note can tell why it is not reproduced.
            note=written(now.note, {**every, "missed": verdict != "reproduced"}),
            variant=ran.variant,
            scenarios=ran.scenarios,
            long=long,
        )


def _measured(text: Text, values: Mapping[str, Any]) -> float | str | None:
    """Return a text, or the number that it is: `"{share}"` alone is a value, `"{share:.3f}"` a rounded one."""
    if isinstance(text, str) and text.startswith("{") and text.endswith("}") and text.count("{") == 1:
        name, _, form = text[1:-1].partition(":")
        value = _Formatter().get_field(name, (), values)[0]
        if value is None or (isinstance(value, (int, float)) and not form):
            return value
        if isinstance(value, (int, float)) and form.endswith("f"):
            return round(value, int(form[1:-1]))
    return written(text, values)


@dataclass(frozen=True)
class Claims:
    """The file of a paper."""

    paper: str
    declared: Mapping[str, Declared]
    ambiguities: tuple[Ambiguity, ...]
    #: Numbers of the rules that also drawings and other measurements need.
    numbers: Mapping[str, Any]
    #: Statements whose values the README has under every combination of readings.
    in_readme: tuple[str, ...] = ()

    def __call__(self, name: str, ran: Ran, *, long: bool = False, **values: Any) -> Claim:  # noqa: ANN401
        """Judge a statement by its measured values, under the readings of its runs."""
        return self.declared[name].claim(self.paper, ran, values, long=long)

    def value(self, name: str, value: str) -> Any:  # noqa: ANN401
        """Return a value of a statement of a family."""
        return dict(self.declared[name].given)[value]

    def printed(self, name: str) -> float:
        """Return the figure that is printed for a statement."""
        printed = self.declared[name].printed
        if not isinstance(printed, (int, float)):
            raise TypeError(f"{name}: no figure is printed")
        return printed

    @cached_property
    def readings(self) -> Mapping[str, Reading]:
        """The readings by identifier."""
        return {one.id: one for each in self.ambiguities for one in each.readings}


@cache
def claims_of(package: str) -> Claims:
    """Return the file of a package."""
    table = tomllib.loads((resources.files(package) / "claims.toml").read_text(encoding="utf-8"))
    numbers = table.get("numbers", {})
    every = [one for name, each in table["claim"].items() for one in Declared.read(name, each, numbers)]
    return Claims(
        table["paper"],
        {one.id: one for one in every},
        tuple(
            Ambiguity(
                name,
                each["source"],
                asks=each["asks"],
                default_by=each["default_by"],
                readings=tuple(
                    Reading(
                        one["id"],
                        one["name"],
                        does=one["does"],
                        allowed_by=one["allowed_by"],
                        against=one.get("against", ""),
                        options=one["options"],
                    )
                    for one in each["reading"]
                ),
            )
            for name, each in table.get("ambiguity", {}).items()
        ),
        numbers,
        tuple(table.get("in_readme", ())),
    )
