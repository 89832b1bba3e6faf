"""Verdicts: a number against its thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Verdict = Literal["pass", "warn", "fail", "report", "not applicable"]

#: From the best to the worst.
_ORDER: tuple[Verdict, ...] = ("not applicable", "report", "pass", "warn", "fail")


@dataclass(frozen=True)
class Case:
    """One of the numbers behind a row."""

    name: str
    value: float | None
    verdict: Verdict = "report"
    #: Smallest and largest value over the seeds.
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class Judged:
    """The result of a test."""

    value: float | None
    verdict: Verdict
    cases: tuple[Case, ...] = ()
    note: str = ""

    def with_note(self, said: str) -> Judged:
        """Return it with an additional sentence."""
        return replace(self, note=f"{self.note} {said}".strip()) if said else self


@dataclass(frozen=True)
class Thresholds:
    """Thresholds to pass and to warn; by default smaller values are better."""

    passes: float
    warns: float | None = None
    larger_is_better: bool = False

    def verdict(self, value: float) -> Verdict:
        """Judge a number. The threshold itself passes, with a tolerance of 1e-9 for rounding."""
        if math.isnan(value):
            return "fail"
        for threshold, verdict in ((self.passes, "pass"), (self.warns, "warn")):
            if threshold is not None and self._holds(value, threshold):
                return verdict  # type: ignore[return-value]
        return "fail"

    def _holds(self, value: float, threshold: float) -> bool:
        slack = 1e-9 * abs(threshold)
        return value >= threshold - slack if self.larger_is_better else value <= threshold + slack


@dataclass(frozen=True)
class Samples:
    """One number from several seeds."""

    values: tuple[float, ...] = field(default_factory=tuple)

    @classmethod
    def of(cls, values: Iterable[float]) -> Samples:
        """Return samples with these values."""
        return cls(tuple(values))

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return sum(self.values) / len(self.values)

    @property
    def median(self) -> float:
        """Median over the seeds, for values that may be infinite."""
        ordered = sorted(self.values)
        return ordered[len(ordered) // 2]

    @property
    def spread(self) -> tuple[float, float] | None:
        """Smallest and largest; None with one seed."""
        return (min(self.values), max(self.values)) if len(self.values) > 1 else None


def case(name: str, samples: Samples | float, thresholds: Thresholds | None = None, *, median: bool = False) -> Case:
    """Judge the mean, or the median, of a number."""
    if not isinstance(samples, Samples):
        samples = Samples((samples,))
    value = samples.median if median else samples.mean
    verdict: Verdict = thresholds.verdict(value) if thresholds else "report"
    return Case(name, value, verdict, samples.spread)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict."""
    return max(verdicts, key=_ORDER.index, default="not applicable")


def of_cases(cases: Sequence[Case], *, larger_is_better: bool = False, note: str = "") -> Judged:
    """A row is as good as the worst of its cases, and has that case's number."""
    verdict = worst(each.verdict for each in cases)
    values = [each.value for each in cases if each.verdict == verdict and each.value is not None]
    value = (min(values) if larger_is_better else max(values)) if values else None
    return Judged(value, verdict, tuple(cases), note)


def not_applicable(why: str) -> Judged:
    """Return that a row does not apply to an algorithm."""
    return Judged(None, "not applicable", (), why)
