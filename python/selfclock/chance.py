"""User-defined algorithms whose runs may differ although scenario and seed are the same."""

from __future__ import annotations

import dis
import random
from types import FunctionType, ModuleType

#: Modules whose values differ from one call to the next: clocks, and generators that nobody seeds.
SOURCES = ("random", "time", "secrets", "uuid", "datetime", "numpy.random")

#: Their parts that are the same every time: generators with a seed of their own, and pauses.
FIXED = ("Random", "default_rng", "RandomState", "Generator", "PCG64", "seed", "sleep", "timedelta")


def undetermined(own: type, above: type) -> list[str]:
    """Return what the methods of a class read that no seed determines, such as "random.random" or "time.time".

    Inspects `own` and its base classes, down to `above`.
    """
    classes = [base for base in own.__mro__ if base not in above.__mro__]
    methods = [value for base in classes for value in vars(base).values() if isinstance(value, FunctionType)]
    return list(dict.fromkeys(name for method in methods for name in _read(method)))


def _read(method: FunctionType) -> list[str]:
    found = []
    value: object = None
    for instruction in dis.get_instructions(method):
        if instruction.opname == "LOAD_GLOBAL":
            value = method.__globals__.get(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = getattr(value, instruction.argval, None)
        else:
            continue
        name = _name(value)
        if name is not None:
            found.append(name)
    return found


def _name(value: object) -> str | None:
    """Return the full name of a function that no seed determines; `None` for anything else."""
    if isinstance(value, ModuleType) or not callable(value):
        return None
    name = getattr(value, "__name__", "")
    # The functions of `random` are methods of a hidden instance, and those of NumPy likewise.
    owner = getattr(value, "__self__", None)
    module = "random" if owner is random._inst else getattr(value, "__module__", None)
    if module is None and type(owner).__name__ == "RandomState":
        module = "numpy.random"
    return f"{module}.{name}" if module in SOURCES and name not in FIXED else None
