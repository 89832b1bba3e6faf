"""Typos in user-defined algorithms: attributes that are assigned, never read, and nearly named like real ones."""

from __future__ import annotations

import dis
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Shorter names resemble others by chance.
SHORTEST = 4

#: Names in Linux, ns-3 and RFC 9002, with the attribute that is meant.
HABITS = {
    "pacing_rate": "pacing_bps", "sk_pacing_rate": "pacing_bps", "cwnd_segments": "cwnd", "window": "cwnd",
    "snd_cwnd": "cwnd", "m_cWnd": "cwnd_bytes", "congestion_window": "cwnd_bytes",
    "snd_ssthresh": "ssthresh", "m_ssThresh": "ssthresh",
}  # fmt: skip


def near_miss(own: type, above: type, known: Sequence[str]) -> str | None:
    """Return a message about the first assignment to a misspelt attribute of `known`, or `None`.

    Inspects the methods of `own` and of its base classes, down to `above`. An attribute that is
    read anywhere in them, or declared in a class body, is intended.
    """
    classes = [base for base in own.__mro__ if base not in above.__mro__]
    codes = [code for base in classes for value in vars(base).values() for code in _codes(value)]
    meant = {name for base in classes for name in (*vars(base), *vars(base).get("__annotations__", {}))}
    assigned: dict[str, str] = {}
    for code in codes:
        # A name in a string may be an argument of getattr.
        meant.update(constant for constant in code.co_consts if isinstance(constant, str))
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            line = (instruction.positions.lineno if instruction.positions else None) or line
            if instruction.opname == "STORE_ATTR":
                assigned.setdefault(instruction.argval, f"{Path(code.co_filename).name}, line {line}")
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                meant.add(instruction.argval)
    for name, place in assigned.items():
        if name in known or name in meant or hasattr(above, name):
            continue
        near = [other for other in known if _is_near(name, other) or HABITS.get(name) == other]
        if near:
            return f"{own.__qualname__} ({place}): self.{name} is assigned and never read; did you mean self.{near[0]}?"
    return None


def _codes(value: object) -> Iterator[CodeType]:
    """The code of a method, and of the functions defined inside it."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    waiting = [value.__code__] if isinstance(value, FunctionType) else []
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _is_near(name: str, other: str) -> bool:
    """Return whether one letter is wrong, missing, extra or swapped with the next; case does not count.

    Trailing digits and underscores make another name: cwnd_2 is not cwnd.
    """
    if len(other) < SHORTEST or name.rstrip("_0123456789") == other:
        return False
    a, b = name.lower(), other.lower()
    if a == b:
        return True
    if len(a) == len(b):
        first = next(place for place in range(len(a)) if a[place] != b[place])
        swapped = a[first : first + 2] == b[first : first + 2][::-1] and a[first + 2 :] == b[first + 2 :]
        return swapped or a[first + 1 :] == b[first + 1 :]
    short, long = sorted((a, b), key=len)
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
