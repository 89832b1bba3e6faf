"""Quantities: a decimal number and a unit, exact, as scenario files have them.

>>> import selfclock as sc
>>> sc.ms(40) / 4 + sc.us(500)
Time('10.5 ms')
>>> 1.5 * sc.mbps(10)
Rate('15 Mbps')
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import ClassVar, Self, SupportsFloat, TypeVar

from selfclock._core import ScenarioError
from selfclock.catalogue import sizes

#: Enough digits for picoseconds in 213 days times any reasonable factor.
_EXACT = Context(prec=50, rounding=ROUND_HALF_EVEN)

_WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([^\W\d].*?)\s*")

#: Factors of a quantity, including NumPy's numbers.
Number = SupportsFloat


def decimal(number: Number, where: str) -> Decimal:
    """Return a number exactly as printed: 0.1 is a tenth."""
    if isinstance(number, (str, bool, Quantity)):
        raise ScenarioError(f"{where}: {number!r} is not a number")
    found = Decimal(number) if isinstance(number, int) else Decimal(repr(float(number)))
    if not found.is_finite():
        raise ScenarioError(f"{where}: {number!r} is not a finite number")
    return found


class Quantity:
    """A number of base units. Quantities of one kind add, subtract and compare; any number multiplies and divides."""

    __slots__ = ("_base",)

    #: Its name in messages, "a rate", and an example.
    KIND: ClassVar[str]
    EXAMPLE: ClassVar[str]
    #: Size of each unit used in output, the largest first; the last is the base unit.
    UNITS: ClassVar[dict[str, int]]
    #: Size of each unit accepted in input.
    READ: ClassVar[dict[str, int]]
    #: Whether fractions of the base unit are rounded to it, as the simulator does.
    ROUNDED: ClassVar[bool] = False

    _base: Decimal

    def __init_subclass__(cls) -> None:
        cls.READ = sizes(cls.KIND)
        cls.UNITS = dict(sorted(sizes(cls.KIND, "text").items(), key=lambda unit: -unit[1]))

    def __init__(self, text: str | Self) -> None:
        """Read a text such as "10 Mbps"."""
        base = text._base if isinstance(text, type(self)) else self._parse(text)
        object.__setattr__(self, "_base", base)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name}")

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    @classmethod
    def _parse(cls, text: object) -> Decimal:
        match = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            example = cls.EXAMPLE.partition(" or ")[0] if isinstance(text, str) else cls.EXAMPLE
            raise ScenarioError(f"{text!r} has no unit; write {cls.KIND} such as {example}")
        size = cls.READ.get(match[2])
        if size is None:
            raise ScenarioError(f"{text!r} has the unknown unit {match[2]!r}; allowed units: {', '.join(cls.READ)}")
        return _EXACT.multiply(Decimal(match[1]), Decimal(size))

    @classmethod
    def of(cls, number: Number, unit: str) -> Self:
        """Return this number of units; the number is taken as printed, so that 0.1 is a tenth."""
        return cls._of(_EXACT.multiply(decimal(number, unit), Decimal(cls.READ[unit])))

    @classmethod
    def _of(cls, base: Decimal) -> Self:
        made = cls.__new__(cls)
        object.__setattr__(made, "_base", base)
        return made

    def _in(self, unit: str) -> float:
        return float(_EXACT.divide(self._base, Decimal(self.UNITS[unit])))

    def rounded(self, unit: str) -> Self:
        """Return it as a whole number of a unit."""
        size = Decimal(self.UNITS[unit])
        whole = _EXACT.divide(self._base, size).to_integral_value(ROUND_HALF_EVEN, _EXACT)
        return self._of(_EXACT.multiply(whole, size))

    @property
    def is_negative(self) -> bool:
        """Whether it is negative: allowed for a difference, but not in a scenario."""
        return self._base.is_signed()

    def __str__(self) -> str:
        base = self._base.to_integral_value(ROUND_HALF_EVEN, _EXACT) if self.ROUNDED else self._base
        least = list(self.UNITS)[-1]
        unit = next((unit for unit, size in self.UNITS.items() if abs(base) >= size), least)
        digits = format(_EXACT.divide(base, Decimal(self.UNITS[unit])), "f")
        return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits} {unit}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __hash__(self) -> int:
        return hash((type(self), self._base))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._base == other._base

    def __lt__(self, other: Self) -> bool:
        return self._base < self._same(other)

    def __le__(self, other: Self) -> bool:
        return self._base <= self._same(other)

    def __gt__(self, other: Self) -> bool:
        return self._base > self._same(other)

    def __ge__(self, other: Self) -> bool:
        return self._base >= self._same(other)

    def __add__(self, other: Self) -> Self:
        return self._of(_EXACT.add(self._base, self._same(other)))

    def __sub__(self, other: Self) -> Self:
        return self._of(_EXACT.subtract(self._base, self._same(other)))

    def __mul__(self, factor: Number) -> Self:
        return self._of(_EXACT.multiply(self._base, decimal(factor, "factor")))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Self:
        return self._of(_EXACT.divide(self._base, decimal(divisor, "divisor")))

    def _same(self, other: Quantity) -> Decimal:
        if type(other) is not type(self):
            raise ScenarioError(f"{other!r} is not {self.KIND}, such as {self.EXAMPLE}")
        return other._base


class Time(Quantity):
    """A length of time."""

    KIND, EXAMPLE, ROUNDED = "a time", '"40 ms" or ms(40)', True

    @property
    def seconds(self) -> float:
        """In seconds."""
        return self._in("s")

    @property
    def picoseconds(self) -> int:
        """In whole picoseconds, the simulator's unit."""
        return int(self._base.to_integral_value(ROUND_HALF_EVEN, _EXACT))


class Rate(Quantity):
    """A number of bits per second."""

    KIND, EXAMPLE, ROUNDED = "a rate", '"10 Mbps" or mbps(10)', True

    @property
    def bps(self) -> float:
        """In bits per second."""
        return self._in("bps")


class Size(Quantity):
    """A number of bytes."""

    KIND, EXAMPLE = "a size", '"64 kB" or kbytes(64)'

    @property
    def bytes(self) -> float:
        """In bytes."""
        return self._in("B")


class Packets(Quantity):
    """A number of packets of any size."""

    KIND, EXAMPLE = "a number of packets", '"50 packets" or packets(50)'

    @property
    def count(self) -> float:
        """The number."""
        return self._in("packets")


class Segments(Quantity):
    """A number of segments of the flow's MSS."""

    KIND, EXAMPLE = "a number of segments", '"10 segments" or segments(10)'

    @property
    def count(self) -> float:
        """The number."""
        return self._in("segments")


class Bdp(Quantity):
    """A multiple of the bandwidth-delay product of a link and the flows that cross it."""

    KIND, EXAMPLE = "a bandwidth-delay product", '"1 bdp" or bdp(1)'

    @property
    def count(self) -> float:
        """The multiple."""
        return self._in("bdp")


Kind = TypeVar("Kind", bound=Quantity)


def one(value: object, kind: type[Kind], where: str) -> Kind:
    """Return a quantity of a kind, parsed if it is a text; an error names the argument and what is allowed."""
    found = quantity(value, (kind,), where)
    return found if isinstance(found, kind) else kind(str(found))


def quantity(
    value: object, kinds: tuple[type[Quantity], ...], where: str, words: tuple[str, ...] = ()
) -> Quantity | str:
    """Return a quantity of one of these kinds, or a keyword allowed in its place."""
    if isinstance(value, kinds):
        if value.is_negative:
            raise ScenarioError(f"{where}: {value} is negative")
        return value
    if isinstance(value, str):
        if value in words:
            return value
        refusals = []
        for kind in kinds:
            try:
                return kind(value)
            except ScenarioError as refusal:
                refusals.append(str(refusal))
        if len(kinds) == 1 and not words and "unknown unit" in refusals[0]:
            raise ScenarioError(f"{where}: {refusals[0]}")
        problem = f"{value!r} is not {' or '.join(kind.KIND for kind in kinds)}"
    else:
        problem = f"{value!r} has no unit" if isinstance(value, (int, float)) else f"{value!r} is out of place"
        problem = "missing" if value is None else problem
    # Who wrote a text, as on a command line, writes texts.
    examples = [kind.EXAMPLE.partition(" or ")[0] if isinstance(value, str) else kind.EXAMPLE for kind in kinds]
    allowed = examples + [f'"{word}"' for word in words]
    raise ScenarioError(f"{where}: {problem}; write {kinds[0].KIND} such as {', '.join(allowed)}")


def bps(number: Number) -> Rate:
    """Bits per second."""
    return Rate.of(number, "bps")


def kbps(number: Number) -> Rate:
    """Thousands of bits per second."""
    return Rate.of(number, "kbps")


def mbps(number: Number) -> Rate:
    """Millions of bits per second."""
    return Rate.of(number, "Mbps")


def gbps(number: Number) -> Rate:
    """Thousands of millions of bits per second."""
    return Rate.of(number, "Gbps")


def us(number: Number) -> Time:
    """Microseconds."""
    return Time.of(number, "us")


def ms(number: Number) -> Time:
    """Milliseconds."""
    return Time.of(number, "ms")


def s(number: Number) -> Time:
    """Seconds."""
    return Time.of(number, "s")


def nbytes(number: Number) -> Size:
    """Bytes."""
    return Size.of(number, "B")


def kbytes(number: Number) -> Size:
    """Thousands of bytes."""
    return Size.of(number, "kB")


def mbytes(number: Number) -> Size:
    """Millions of bytes."""
    return Size.of(number, "MB")


def packets(number: Number) -> Packets:
    """Packets of any size."""
    return Packets.of(number, "packets")


def segments(number: Number) -> Segments:
    """Segments of the flow's MSS."""
    return Segments.of(number, "segments")


def bdp(multiple: Number) -> Bdp:
    """Bandwidth-delay products of a link: its rate times the largest base RTT of its TCP flows."""
    return Bdp.of(multiple, "bdp")
