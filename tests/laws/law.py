"""A law: a sentence, its condition and source, a generator of cases, and a check."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from laws.draw import Draw

Document = dict[str, Any]


class Broken(AssertionError):  # noqa: N818 - a law is broken, not in error
    """A law does not hold: the quantity, and the two values that should agree."""

    def __init__(self, what: str, found: object, right: object) -> None:
        super().__init__(f"{what}: found {found}, right {right}")
        self.what, self.found, self.right = what, found, right


class Skipped(Exception):  # noqa: N818 - not an error
    """The condition of the law does not hold for a case."""


@dataclass(frozen=True)
class Law:
    """A law and its cases."""

    name: str
    kind: str
    #: The statement, the condition under which it holds, and where it comes from.
    sentence: str
    condition: str
    source: str
    make: Callable[[Draw], Document]
    check: Callable[[Document], None]
    #: Share of the time, relative to the others.
    share: float


#: Every law, by name, in the order of the modules.
LAWS: dict[str, Law] = {}


def law(make: Callable[[Draw], Document], share: float = 1.0) -> Callable[[Callable[[Document], None]], Law]:
    """Register a function as a law. Its docstring has the sentence, "Condition: ..." and "Source:
    ...".
    """

    def register(check: Callable[[Document], None]) -> Law:
        parts = {"": ""}
        section = ""
        for line in inspect.cleandoc(check.__doc__ or "").splitlines():
            word, _, rest = line.partition(":")
            if word in ("Condition", "Source"):
                section = word
            text = rest if word in ("Condition", "Source") else line
            parts[section] = f"{parts.get(section, '')} {text.strip()}".strip()
        name = check.__name__.replace("_", "-")
        assert name not in LAWS, f"{name}: two laws of this name"
        kind = check.__module__.rpartition(".")[2]
        made = Law(name, kind, parts[""], parts.get("Condition", "none"), parts["Source"], make, check, share)
        LAWS[name] = made
        return made

    return register


def holds(condition: object, why: str) -> None:
    """Skip a case unless the condition of the law holds."""
    if not condition:
        raise Skipped(why)


def require(condition: object, what: str, found: object, right: object) -> None:
    """Break the law unless the condition holds."""
    if not condition:
        raise Broken(what, found, right)


def within(found: float, right: float, what: str, *, relative: float = 0.0, absolute: float = 0.0) -> None:
    """Break the law unless two numbers agree."""
    if not abs(found - right) <= absolute + relative * abs(right):
        raise Broken(what, found, f"{right} within {f'{relative:g} of it' if relative else f'{absolute:g}'}")


def equal(found: object, right: object, what: str) -> None:
    """Break the law unless two values agree to the bit; name the first part that differs."""
    if isinstance(found, dict) and isinstance(right, dict):
        for key in {**found, **right}:
            equal(found.get(key, "absent"), right.get(key, "absent"), f"{what}, {key}")
    elif isinstance(found, list) and isinstance(right, list) and len(found) == len(right):
        for number, (one, other) in enumerate(zip(found, right, strict=True)):
            equal(one, other, f"{what}, {number}")
    elif found != right and not (
        isinstance(found, float) and isinstance(right, float) and math.isnan(found) and math.isnan(right)
    ):
        raise Broken(what, found, right)
