"""The points of a sweep."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock import _core
from selfclock._core import ENGINE, VERSION, ScenarioError
from selfclock.dumbbell import to_toml_value
from selfclock.own import registered, sources
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    import polars as pl
else:
    from selfclock.lazy import pl

#: More than any sweep has time for; a slip of the keyboard is soon beyond it.
MOST_RUNS = 10_000_000

#: Points tried for values that are refused alone; what is not settled then is for the runs to say.
PATIENCE = 10_000

#: Points that are looked at for notes.
NOTED = 100

Span = tuple[int, int]


@dataclass(frozen=True)
class Setting:
    """A path of the scenario with one value, as TOML."""

    path: str
    toml: str
    #: Bytes of the grid's text where the value stands, or the path of its range.
    span: Span = field(default=(0, 0), compare=False)

    @cached_property
    def override(self) -> str:
        """The setting, as `--set` takes it."""
        return f"{self.path}={self.toml}"

    @cached_property
    def value(self) -> str | float | bool:
        """The value as a table shows it: text, number, true or false; anything else as TOML."""
        value = tomllib.loads(f"value = {self.toml}")["value"]
        return value if isinstance(value, str | int | float | bool) else self.toml


@dataclass(frozen=True, slots=True)
class Job:
    """One run: a point with one seed."""

    key: str
    point: int
    seed: int
    #: The user-defined algorithms, each with the digest of its sources: "my-aimd 0123456789abcdef".
    algorithms: str = ""


@dataclass(frozen=True)
class Grid:
    """A scenario, and what to change in it; `load` reads a file, `over` takes Python values."""

    name: str
    scenario: Scenario
    #: Text of the grid file.
    text: str
    seeds: list[int]
    #: Probability with which an interval holds the mean.
    confidence: float
    #: Factors of the product that the points are: each a list of alternatives, each alternative some settings.
    factors: list[list[tuple[Setting, ...]]]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Grid:
        """Read a grid file and the scenario that it names."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ScenarioError(f"{path}: is not UTF-8 text: byte {error.start} is invalid") from None
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror}") from None
        said = json.loads(_core.grid(text, str(path)))
        try:
            scenario = Scenario.load(path.parent / said["scenario"])
        except ScenarioError as error:
            raise ScenarioError(f"{path}: scenario: {error}") from None
        return cls._from(said, text, str(path), path.stem, scenario)

    @classmethod
    def over(
        cls,
        scenario: Scenario,
        grid: Mapping[str, Sequence[object] | Mapping[str, object]] | None = None,
        *,
        points: Sequence[Mapping[str, object]] = (),
        random: Mapping[str, Sequence[object] | Mapping[str, object]] | None = None,
        draws: int = 1,
        draw_seed: int = 1,
        seeds: int | Sequence[int] | None = None,
        confidence: float = 0.95,
        name: str | None = None,
    ) -> Grid:
        """Build a grid from Python values; they mean what they mean in a grid file.

        >>> import selfclock as sc
        >>> grid = sc.Grid.over(sc.dumbbell(), {"flow.*.congestion_control": ["reno", "cubic"]}, seeds=5)
        >>> grid.runs
        10
        """
        name = name or scenario.name
        document = {
            "schema": 1,
            "scenario": scenario.name,
            "confidence": confidence,
            **({} if seeds is None else {"seeds": seeds if isinstance(seeds, int) else list(seeds)}),
            **({} if grid is None else {"grid": dict(grid)}),
            **({"point": list(points)} if points else {}),
            **({} if random is None else {"random": {"draws": draws, "seed": draw_seed, "over": dict(random)}}),
        }
        text = "".join(f"{key} = {to_toml_value(value)}\n" for key, value in document.items())
        source = f"grid {name!r}"
        return cls._from(json.loads(_core.grid(text, source)), text, source, name, scenario)

    @classmethod
    def _from(cls, said: dict[str, Any], text: str, source: str, stem: str, scenario: Scenario) -> Grid:
        scenario = _set(scenario, [_setting(one) for one in said["fixed"]], text, source)
        factors: list[list[tuple[Setting, ...]]] = []
        if said["points"]:
            factors.append([tuple(map(_setting, point)) for point in said["points"]])
        factors += [[(setting,) for setting in _spread(axis)] for axis in said["axes"]]
        if said["drawn"]:
            factors.append(_draw(said["drawn"], said["draws"], said["draw_seed"]))
        grid = cls(
            name=said["name"] or stem,
            scenario=scenario,
            text=text,
            seeds=said["seeds"] or [scenario.seed],
            confidence=said["confidence"],
            factors=factors,
        )
        if grid.runs > MOST_RUNS:
            raise ScenarioError(f"{source}: {grid.runs:,} runs; allowed: at most {MOST_RUNS:,}")
        grid._check(source, {axis["path"]: _span(axis["span"]) for axis in [*said["axes"], *said["drawn"]]})
        return grid

    @cached_property
    def notes(self) -> list[str]:
        """What the scenario cannot mean as it stands at a point among the first."""
        notes: dict[str, None] = {}
        for point in range(min(self.points, NOTED)):
            try:
                notes |= dict.fromkeys(self.scenario_at(point).notes)
            except ScenarioError:
                continue
        return list(notes)

    @property
    def runs(self) -> int:
        """Number of points times number of seeds."""
        return self.points * len(self.seeds)

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(len(factor) for factor in self.factors)

    @cached_property
    def paths(self) -> list[str]:
        """What differs between points, in the order of the file."""
        return [setting.path for factor in self.factors for setting in factor[0]]

    def settings(self, point: int) -> list[Setting]:
        """Return what is set at a point; the last factor changes fastest."""
        chosen: list[tuple[Setting, ...]] = []
        for factor in reversed(self.factors):
            point, which = divmod(point, len(factor))
            chosen.append(factor[which])
        return [setting for settings in reversed(chosen) for setting in settings]

    def scenario_at(self, point: int) -> Scenario:
        """Return the scenario of a point; what it records is only its summary."""
        overrides = [setting.override for setting in self.settings(point)]
        return self.scenario.with_overrides(overrides).unrecorded()

    def jobs(self) -> Iterator[Job]:
        """Every run, with the key of what it depends on: scenario as resolved, seed, engine, algorithms' sources."""
        for point in range(self.points):
            try:
                scenario = self.scenario_at(point)
            except ScenarioError:
                # A point that cannot be run is known by what it was meant to be, with the algorithms that it names.
                settings = [setting.override for setting in self.settings(point)]
                text = "\n".join([self.scenario.text, *settings])
                own = [source.digest for name, source in sources(registered()).items() if name in text]
                for seed in self.seeds:
                    yield Job(_digest(text, str(seed), *own), point, seed)
            else:
                algorithms = ", ".join(f"{name} {source.digest}" for name, source in scenario.sources.items())
                for seed in self.seeds:
                    # The sources of its algorithms are in what a scenario resolves to.
                    yield Job(_digest(scenario.with_seed(seed).resolved), point, seed, algorithms)

    def columns(self) -> pl.DataFrame:
        """Return the points as a table: the number, and the value of each path.

        Where all values of a path are numbers with one unit, a further column has the numbers.
        """
        rows = [self.settings(point) for point in range(self.points)]
        columns: dict[str, pl.Series] = {"point": pl.Series(range(self.points), dtype=pl.Int64)}
        for number, path in enumerate(self.paths):
            values = [row[number].value for row in rows]
            if len({_kind(value) for value in values}) > 1:
                values = [value if isinstance(value, str) else row[number].toml
                          for value, row in zip(values, rows, strict=True)]  # fmt: skip
            columns[path] = pl.Series(values)
            quantities = [_quantity(value) for value in values]
            units = {quantity[1] for quantity in quantities if quantity is not None}
            if None not in quantities and len(units) == 1:
                numbers = [quantity[0] for quantity in quantities if quantity is not None]
                columns[f"{path} [{units.pop()}]"] = pl.Series(numbers, dtype=pl.Float64)
        return pl.DataFrame(columns)

    def _check(self, source: str, paths: Mapping[str, Span]) -> None:
        """Refuse a value that no point accepts; one that some points accept is for the others to fail."""
        tries = PATIENCE
        for number, factor in enumerate(self.factors):
            for which, alternative in enumerate(factor[:PATIENCE]):
                refusal = self._refusal(alternative)
                if refusal is None:
                    continue
                points = list(itertools.islice(self._points_with(number, which), tries))
                tries -= len(points)
                if tries > 0 and all(self._refusal(self.settings(point)) for point in points):
                    setting = next((each for each in alternative if self._refusal([each])), alternative[0])
                    refusal = self._refusal([setting]) or refusal
                    span = setting.span
                    if getattr(refusal, "parts", ("", "", ""))[1].startswith(("unknown key", "what is before")):
                        span = paths.get(setting.path, span)
                    raise ScenarioError(_placed(refusal, self.text, source, setting.path, span))

    def _points_with(self, number: int, which: int) -> Iterator[int]:
        """The points that have one alternative of a factor."""
        below = math.prod(len(factor) for factor in self.factors[number + 1 :])
        size = len(self.factors[number])
        for high in range(self.points // (below * size)):
            for low in range(below):
                yield (high * size + which) * below + low

    def _refusal(self, settings: Sequence[Setting]) -> ScenarioError | None:
        try:
            self.scenario.with_overrides([setting.override for setting in settings])
        except ScenarioError as error:
            return error
        return None


def _placed(error: ScenarioError, text: str, source: str, path: str, span: Span) -> str:
    """Return the message of an error of a scenario at the place in the grid that it comes from."""
    if not hasattr(error, "parts"):
        return f"{source}: {path}: {error}"
    key, message, more = error.parts
    return _core.error_at(text, source, span, key or path, message, more)


def _setting(said: Mapping[str, Any]) -> Setting:
    return Setting(said["path"], said["value"], _span(said["span"]))


def _span(said: Mapping[str, int]) -> Span:
    return said["start"], said["end"]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join([VERSION, ENGINE, *parts]).encode()).hexdigest()


def _set(scenario: Scenario, fixed: list[Setting], text: str, source: str) -> Scenario:
    for setting in fixed:
        try:
            scenario = scenario.with_overrides([setting.override])
        except ScenarioError as error:
            raise ScenarioError(_placed(error, text, source, setting.path, setting.span)) from None
    return scenario


def _spread(axis: dict[str, Any]) -> list[Setting]:
    """Return the values of a path of the grid, each once."""
    ends = axis["range"]
    if ends is None:
        spans = map(_span, axis["spans"])
        return [Setting(axis["path"], value, span) for value, span in zip(axis["values"], spans, strict=True)]
    steps = ends["steps"]
    written = [_between(ends, step / (steps - 1)) for step in range(steps)]
    return [Setting(axis["path"], value, _span(axis["span"])) for value in dict.fromkeys(written)]


def _draw(axes: list[dict[str, Any]], draws: int, seed: int) -> list[tuple[Setting, ...]]:
    """Return so many random points. The same seed gives the same points, in any version of Python."""
    source = random.Random(seed)  # noqa: S311

    def one(axis: dict[str, Any]) -> Setting:
        fraction = source.random()
        if axis["range"] is None:
            which = int(fraction * len(axis["values"]))
            return Setting(axis["path"], axis["values"][which], _span(axis["spans"][which]))
        return Setting(axis["path"], _between(axis["range"], fraction), _span(axis["span"]))

    return [tuple(one(axis) for axis in axes) for _ in range(min(draws, MOST_RUNS + 1))]


def _between(ends: dict[str, Any], fraction: float) -> str:
    """Return the value at a fraction of a range, as TOML, with six significant digits inside it."""
    low, high = ends["from"], ends["to"]
    if fraction in (0.0, 1.0):
        number = high if fraction else low
    elif ends["logarithmic"]:
        number = float(f"{low * math.exp(fraction * math.log(high / low)):.6g}")
    else:
        number = float(f"{low + fraction * (high - low):.6g}")
    text = str(round(number)) if ends["whole"] else format(Decimal(repr(number)).normalize(), "f")
    return f'"{text} {ends["unit"]}"' if ends["unit"] else text


def _kind(value: str | float | bool) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _quantity(value: str | float | bool) -> tuple[float, str] | None:
    """Return number and unit of a text such as "10 Mbps"."""
    if not isinstance(value, str):
        return None
    digits = "".join(itertools.takewhile(lambda letter: letter.isdecimal() or letter == ".", value.strip()))
    unit = value.strip().removeprefix(digits).strip()
    try:
        return (float(digits), unit) if unit else None
    except ValueError:
        return None
