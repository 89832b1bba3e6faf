"""Conditions under which a comparison fails, such as "goodput < 95 %".

A condition is judged by the runs of the seeds: it holds only if the whole confidence interval of
the measure, or of its paired difference from a part of the baseline, is beyond the bound. An
interval that has the bound in it is undecided, and more seeds narrow it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from selfclock._core import ScenarioError
from selfclock.catalogue import measures
from selfclock.compare.differences import difference
from selfclock.compare.measures import CONFIDENCE, ESTIMATED
from selfclock.errors import BadInputError
from selfclock.formatting import plural
from selfclock.names import unknown
from selfclock.repeats import Sameness, Trace, sameness
from selfclock.scenario.quantity import Rate, Time, one

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.compare.measures import Measures

#: Conditions, for messages.
EXAMPLES = '"goodput < 95 %" of the baseline, "rtt_p95 > 60 ms", "timeouts > 0"'

_WRITTEN = re.compile(r"\s*([A-Za-z][\w ]*?)\s*([<>])\s*(\S.*?)\s*")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_SUFFIX = re.compile(r"_(bps|s|packets|segments)$")

#: Measures in a unit, by the end of their names, and how a bound is read.
_READ: dict[str, Callable[[str, str], float]] = {
    "_bps": lambda text, where: one(text, Rate, where).bps,
    "_s": lambda text, where: one(text, Time, where).seconds,
}

Outcome = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Condition:
    """A measure below or above a bound."""

    #: As it was written.
    text: str
    #: Key of the measure in `Measures`.
    measure: str
    sign: Literal["<", ">"]
    #: In the measure's base unit, or a fraction of the baseline.
    bound: float
    is_relative: bool

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition: a measure, "<" or ">", and a bound in its unit or in percent of the baseline.

        >>> Condition.parse("goodput < 95 %").bound
        0.95
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise BadInputError(f"fail-if: {text!r} is no condition; write a measure, < or >, and a bound: {EXAMPLES}")
        measure, sign, written = _measure(match[1]), match[2], match[3]
        percent = _PERCENT.fullmatch(written)
        # A utilization is itself in percent.
        is_relative = percent is not None and measures()[measure].unit != "%"
        bound = float(percent[1]) / 100 if percent else _bound(measure, written, text)
        return cls(text.strip(), measure, "<" if sign == "<" else ">", bound, is_relative)


@dataclass(frozen=True)
class Judgement:
    """Outcome of a condition for an algorithm."""

    condition: Condition
    algorithm: str
    outcome: Outcome
    #: Mean of the measure, in its base unit, or over the baseline's; with half the width of its
    #: interval, None without one.
    mean: float
    half_width: float | None
    runs: int

    def __str__(self) -> str:
        """A line for a person: what was measured, and what that means."""
        scale, unit = _scale(self.condition)
        interval = "" if self.half_width is None else f" ± {self.half_width * scale:.4g}"
        measured = f"{self.mean * scale:.4g}{interval} {unit}".rstrip()
        seeds = plural(self.runs, "seed")
        more = "; more --seeds narrow the interval" if self.outcome == "undecided" else ""
        return f"{self.algorithm}: {self.condition.text} {self.outcome}: {measured}, {seeds}{more}"


def judge(
    conditions: Sequence[Condition], rows: Sequence[Measures], path: str, baseline: Mapping[str, Any] | None
) -> list[Judgement]:
    """Judge each condition for each algorithm, seed by seed.

    A fraction is of the same algorithm in the `baseline`, the document of an earlier comparison, or
    else of the first algorithm here, which is then not judged itself.
    """
    by_algorithm = _by_seed(rows)
    first = next(iter(by_algorithm))
    # "10Mbps" and "10 Mbps" are the same.
    if baseline is not None and str(baseline["path"]).replace(" ", "") != path.replace(" ", ""):
        raise BadInputError(f"baseline: it is of another path: {baseline['path']}; this is {path}")
    earlier = None if baseline is None else _by_seed(baseline["runs"])
    found = []
    for condition in conditions:
        if condition.is_relative and earlier is None and len(by_algorithm) == 1:
            raise BadInputError(f"fail-if: {condition.text!r} is relative: name a second algorithm or a baseline")
        for algorithm, own in by_algorithm.items():
            if not condition.is_relative:
                found.append(_judge(condition, algorithm, own, None))
            elif earlier is not None:
                if algorithm not in earlier:
                    raise BadInputError(f"baseline: {unknown('algorithm', algorithm, list(earlier))}")
                found.append(_judge(condition, algorithm, own, earlier[algorithm]))
            elif algorithm != first:
                found.append(_judge(condition, algorithm, own, by_algorithm[first]))
    return found


def load_baseline(given: str | Path) -> Mapping[str, Any]:
    """Read the document of an earlier comparison, from its directory or its file."""
    path = Path(given)
    path = path / "compare.json" if path.is_dir() else path
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        _by_seed(document["runs"])
    except OSError as error:
        raise BadInputError(f"baseline: {path}: {error.strerror}; name the results of selfclock compare") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"baseline: {path}: this is no document of selfclock compare") from error
    found: Mapping[str, Any] = document
    return found


def _by_seed(rows: Sequence[Measures]) -> dict[str, dict[int, Measures]]:
    found: dict[str, dict[int, Measures]] = {}
    for row in rows:
        found.setdefault(row["algorithm"], {})[row["seed"]] = row
    return found


def _judge(
    condition: Condition, algorithm: str, own: Mapping[int, Measures], base: Mapping[int, Measures] | None
) -> Judgement:
    seeds = [seed for seed in own if base is None or seed in base]
    if not seeds:
        raise BadInputError("baseline: it has none of these seeds, and runs are compared seed by seed")
    name = condition.measure
    values, bases = [], []
    for seed in seeds:
        value = own[seed][name]  # type: ignore[literal-required]
        other = base[seed][name] if base is not None else 1.0  # type: ignore[literal-required]
        if value is not None and other is not None:
            values.append(float(value))
            bases.append(float(other))
    if not values:
        raise BadInputError(f"fail-if: {condition.text!r}: {algorithm} has no {measures()[name].word} here")
    chance = sameness([Trace.of(own[seed]) for seed in seeds]) is Sameness.DIFFERENT
    excess = [value - condition.bound * part for value, part in zip(values, bases, strict=True)]
    beyond = difference(excess, CONFIDENCE, independent=chance)
    half = beyond["half_width"]
    low, high = beyond["mean"] - (half or 0.0), beyond["mean"] + (half or 0.0)
    holds, fails = (high < 0, low >= 0) if condition.sign == "<" else (low > 0, high <= 0)
    outcome: Outcome = "holds" if holds else "does not hold" if fails else "undecided"
    scale = sum(bases) / len(bases)
    mean = sum(values) / len(values)
    if scale == 0:
        raise BadInputError(f"fail-if: {condition.text!r}: the baseline's {measures()[name].word} is 0")
    return Judgement(condition, algorithm, outcome, mean / scale, None if half is None else half / scale, len(values))


def _measure(given: str) -> str:
    """Return the key that a name means: "goodput", "goodput_bps", or as tables say it, "mean RTT"."""
    wanted = given.lower().replace(" ", "_")
    by_name: dict[str, str] = {}
    for key in ESTIMATED:
        short = _SUFFIX.sub("", key)
        for name in (key, short, measures()[key].word.lower().replace(" ", "_")):
            by_name.setdefault(name, key)
    if wanted not in by_name:
        raise BadInputError(f"fail-if: {unknown('measure', given, [_SUFFIX.sub('', key) for key in ESTIMATED])}")
    return by_name[wanted]


def _bound(measure: str, written: str, text: str) -> float:
    read = next((read for end, read in _READ.items() if measure.endswith(end)), None)
    try:
        return read(written, f"fail-if {text!r}") if read else float(written)
    except ScenarioError as error:
        raise BadInputError(str(error)) from error
    except ValueError as error:
        raise BadInputError(f"fail-if: {text!r}: {written!r} is no number") from error


def _scale(condition: Condition) -> tuple[float, str]:
    """Return the factor and the unit in which a judgement is printed."""
    if condition.is_relative:
        return 100.0, "% of the baseline"
    if condition.measure.endswith("_bps"):
        return 1e-6, "Mbit/s"
    if condition.measure.endswith("_s"):
        return 1e3, "ms"
    return (100.0, "%") if measures()[condition.measure].unit == "%" else (1.0, "")
