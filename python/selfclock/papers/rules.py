"""The rules of the verdicts, as `claims.toml` has them: relations between measured values.

A rule is two lists of conditions. If all of `reproduced` hold, the verdict is that; if all of
`direction` hold, that; otherwise "not reproduced". Conditions are written

    near >= 0.95
    share within 5 % of printed
    error within 0.01 of 0
    gain.low > 1
    ratio between 0.5 and 2
    queues rises by 5 %
    windows falls by 5 %
    order_holds

with numbers, or names of values; a dot reads an attribute of a value, such as the end of an
interval. A list has to hold in all its values, or with `some` before its name in one. A comparison
with a missing value does not hold, whatever it compares. In place of
conditions `direction` can have the number of those of `reproduced` that suffice: `"1 of them"` or
`"half of them"`.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from selfclock.claims import within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.claims import Verdict

_VALUE = r"[\w.+-]+"
_ORDERED = re.compile(rf"({_VALUE}) (rises|falls|ends higher|ends lower) by ({_VALUE}) %")
_SOME = re.compile(r"(\d+|half) of them")

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}


class RuleError(ValueError):
    """A rule that cannot be read, or that names a value which is not measured."""


def value_of(name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 whatever was measured
    """Return a number as written, or a value by name, with its attributes after dots."""
    try:
        return float(name)
    except ValueError:
        first, *attributes = name.split(".")
    if first not in values:
        raise RuleError(f"no value {first!r}; measured are {', '.join(sorted(values))}")
    found = values[first]
    for attribute in attributes:
        found = None if found is None else getattr(found, attribute)
    return found


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds."""
    if found := _ORDERED.fullmatch(condition):
        name, way, percent = found.groups()
        listed = list(value_of(name, values))
        return _ordered(listed if way in {"rises", "ends higher"} else listed[::-1], way, float(percent) / 100)
    for form, read in _FORMS.items():
        if found := form.fullmatch(condition.removeprefix("some ")):
            holds_for = read(found, values)
            break
    else:
        raise RuleError(f"no condition: {condition!r}; see {__name__}")
    every = _each(value_of(found[1], values))
    return any(map(holds_for, every)) if condition.startswith("some ") else all(map(holds_for, every))


def _compared(found: re.Match[str], values: Mapping[str, Any]) -> Callable[[Any], bool]:
    relation, limit = _RELATIONS[found[2]], value_of(found[3], values)
    return lambda own: None not in (own, limit) and relation(own, limit)


def _within(found: re.Match[str], values: Mapping[str, Any]) -> Callable[[Any], bool]:
    allowed, middle = value_of(found[2], values), value_of(found[4], values)
    if found[3] and middle is not None:
        # A part of 0 is 0: there the tolerance is absolute.
        allowed *= (abs(middle) or 1.0) / 100
    return lambda own: None not in (own, middle) and within(own, middle, allowed)


def _between(found: re.Match[str], values: Mapping[str, Any]) -> Callable[[Any], bool]:
    low, high = value_of(found[2], values), value_of(found[3], values)
    return lambda own: own is not None and low <= own <= high


def _true(_: re.Match[str], __: Mapping[str, Any]) -> Callable[[Any], bool]:
    return bool


#: How a condition is read; its first word is the name of what is judged.
_FORMS: dict[re.Pattern[str], Callable[[re.Match[str], Mapping[str, Any]], Callable[[Any], bool]]] = {
    re.compile(rf"({_VALUE}) (<=|>=|<|>|==) ({_VALUE})"): _compared,
    re.compile(rf"({_VALUE}) within ({_VALUE})( %)? of ({_VALUE})"): _within,
    re.compile(rf"({_VALUE}) between ({_VALUE}) and ({_VALUE})"): _between,
    re.compile(rf"({_VALUE})"): _true,
}


def _each(value: Any) -> Sequence[Any]:  # noqa: ANN401 whatever was measured
    return value if isinstance(value, (list, tuple)) else [value]


def _ordered(rising: Sequence[float], way: str, margin: float) -> bool:
    """Tell whether each value exceeds the one before by the margin, or only the last the first."""
    steps = pairwise(rising) if way in {"rises", "falls"} else [(rising[0], rising[-1])]
    return all(later > earlier and later >= earlier * (1 + margin) for earlier, later in steps)


@dataclass(frozen=True)
class Rule:
    """Conditions of the verdicts."""

    reproduced: tuple[str, ...]
    #: None: no such verdict.
    direction: tuple[str, ...] = ()
    #: If this does not hold, nothing is reproduced.
    only_if: tuple[str, ...] = ()

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Rule:
        """Return the rule of a table of `claims.toml`."""
        unknown = table.keys() - {"reproduced", "direction", "only_if"}
        if unknown or "reproduced" not in table:
            raise RuleError(f"a rule has reproduced, direction and only_if, not {', '.join(sorted(unknown)) or 'none'}")
        return cls(**{key: (value,) if isinstance(value, str) else tuple(value) for key, value in table.items()})

    def judge(self, values: Mapping[str, Any]) -> Verdict:
        """Return the verdict of measured values."""
        if not all(holds(condition, values) for condition in self.only_if):
            return "not reproduced"
        held = [holds(condition, values) for condition in self.reproduced]
        if all(held):
            return "reproduced"
        return "direction" if self.direction and self._roughly(held, values) else "not reproduced"

    def _roughly(self, held: Sequence[bool], values: Mapping[str, Any]) -> bool:
        if some := _SOME.fullmatch(self.direction[0]):
            return 2 * sum(held) >= len(held) if some[1] == "half" else sum(held) >= int(some[1])
        return all(holds(condition, values) for condition in self.direction)
