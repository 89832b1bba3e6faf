"""Choices of a case: pairs are walked through by counting, the rest is left to chance."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
U = TypeVar("U")


class Draw:
    """The choices of one case, which depend on seed, law and number alone."""

    def __init__(self, seed: int, law: str, number: int) -> None:
        self.seed, self.law, self.number = seed, law, number
        #: Whether the case is one of anything, and may be shrunk; a directed one is short.
        self.wide = False
        self.random = random.Random(f"{seed} {law} {number}")  # noqa: S311 - not for secrets

    def pair(self, first: Sequence[T], second: Sequence[U]) -> tuple[T, U]:
        """Return the next of all pairs, each once, before any comes a second time."""
        pairs = list(itertools.product(first, second))
        turn, place = divmod(self.number, len(pairs))
        random.Random(f"{self.seed} {self.law} {pairs[0]} {turn}").shuffle(pairs)  # noqa: S311
        return pairs[place]

    def turn(self, values: Sequence[T]) -> T:
        """Return the next value, each once, before any comes a second time."""
        return self.pair(values, [None])[0]

    def pick(self, values: Sequence[T]) -> T:
        """Return any value."""
        return self.random.choice(values)

    def chance(self, of: int) -> bool:
        """Return true once in `of` cases."""
        return self.random.randrange(of) == 0

    def whole(self, least: int, most: int) -> int:
        """Return a number between two, inclusive."""
        return self.random.randint(least, most)

    def ms(self, least: float, most: float) -> str:
        """Return a time, sometimes with a fraction of a millisecond."""
        value = self.random.uniform(least, most)
        return f"{value:.3f} ms" if self.chance(2) else f"{round(value)} ms"
