"""Typed names: the message on an unknown one, with a suggestion."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Minimum similarity of two names, as `difflib` measures it.
LIKENESS = 0.6

#: Longer lists of names are omitted if one is near.
LISTED = 12


def nearest(given: str, names: Iterable[str]) -> str | None:
    """Return the closest name, whatever its case; None if none is near."""
    by_lower = {name.lower().replace("_", "-"): name for name in names}
    near = difflib.get_close_matches(given.strip().lower().replace("_", "-"), by_lower, 1, LIKENESS)
    return by_lower[near[0]] if near else None


def unknown(what: str, given: str, names: Sequence[str], near: str | None = None) -> str:
    """Return the message on an unknown name of this kind, with a suggestion and the known ones."""
    near = near or nearest(given, names)
    listed = f"there are {', '.join(names)}"
    if near is None:
        return f"no {what} is named {given!r}; {listed}"
    more = f" ({listed})" if len(names) <= LISTED else ""
    return f"no {what} is named {given!r}; did you mean {near!r}?{more}"
