"""Arguments of Python calls: lists, and whole numbers of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TypeVar

from selfclock._core import ScenarioError

Item = TypeVar("Item")

#: Longer values are not repeated as an example.
LONGEST_SHOWN = 60


def items(given: Iterable[Item] | None, argument: str) -> list[Item]:
    """Return the items of a list, a generator or an array; one item alone, such as a text, is not a list."""
    if given is None:
        raise ScenarioError(f"{argument}: missing; write a list")
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        shown = repr(given)
        like = f" such as [{shown}]" if len(shown) <= LONGEST_SHOWN else ""
        raise ScenarioError(f"{argument}: {shown} is not a list; write a list{like}")
    return list(given)


def whole(given: object, argument: str, least: int, most: int) -> int:
    """Return a whole number, which may be NumPy's, within limits."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise ScenarioError(f"{argument}: {given!r} is not a whole number; allowed: {least:,} to {most:,}")
    number = int(given)
    if not least <= number <= most:
        raise ScenarioError(f"{argument}: {number:,} is out of range; allowed: {least:,} to {most:,}")
    return number
