"""The base of every part of a scenario: a table of keys, checked on construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from os import PathLike, fspath
from typing import ClassVar

from selfclock.scenario.quantity import Quantity, quantity

#: The value of a setting of a queue discipline, a router or an algorithm.
Setting = str | float | bool | Quantity

#: The quantities that a key accepts, and the keywords allowed in their place.
Kinds = dict[str, tuple[tuple[type[Quantity], ...], tuple[str, ...]]]


@dataclass(frozen=True)
class Table:
    """A table of a scenario file: each field is a key; `None` is omitted, so that the file's default applies."""

    #: The fields that are quantities.
    QUANTITIES: ClassVar[Kinds] = {}
    #: Fields that are written elsewhere than under their name.
    APART: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, (kinds, words) in self.QUANTITIES.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, quantity(value, kinds, f"{type(self).__name__}.{name}", words))

    def table(self) -> dict[str, object]:
        """Return the keys that are set, as in a scenario file."""
        given = ((name, value) for name, value in vars(self).items() if value is not None)
        return {name: plain(value) for name, value in given if name not in self.APART}


class Named:
    """A table with a registered name, which determines its settings."""

    #: The key of the name.
    KEY: ClassVar[str]

    def __init__(self, name: str, keys: Mapping[str, object], settings: Mapping[str, Setting]) -> None:
        given = {key: value for key, value in keys.items() if value is not None}
        # A key that is a Python keyword has an underscore appended: `from_`.
        self._table = {self.KEY: name, **given, **{key.removesuffix("_"): value for key, value in settings.items()}}

    def table(self) -> dict[str, object]:
        """Return the table of a scenario file."""
        return {key: plain(value) for key, value in self._table.items()}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.table() == other.table()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        name, *rest = self._table.items()
        return f"{type(self).__name__}({', '.join([repr(name[1]), *(f'{key}={value!r}' for key, value in rest)])})"


#: Values written unchanged.
_SCALARS = (str, bool, int, float, type(None))


def plain(value: object) -> object:
    """Return a value as texts, numbers, lists and tables.

    Numbers and arrays of NumPy, and other iterables, become numbers and lists.
    """
    if type(value) in _SCALARS:
        return value
    if isinstance(value, (Table, Named)):
        return value.table()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    # A set has no order. An array of one number without an axis is a number.
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Set)) and getattr(value, "ndim", None) != 0:
        return [plain(item) for item in value]
    return _scalar(value)


def _scalar(value: object) -> object:
    match value:
        case Quantity():
            return str(value)
        case PathLike():
            return fspath(value)
        case Real() | Decimal():
            return _number(value)
    # NumPy's truth values, and its arrays without an axis.
    return plain(value.item()) if getattr(value, "ndim", None) == 0 else value  # type: ignore[attr-defined]


def _number(value: Real | Decimal) -> int | float:
    """Return a number of any kind as Python's own; a float of few bits as it is printed, so that 0.1 is a tenth."""
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, float) or not hasattr(value, "dtype") else float(str(value))
