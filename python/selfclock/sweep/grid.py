"""The points of a sweep."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock import _core
from selfclock._core import VERSION, ScenarioError
from selfclock.dumbbell import to_toml_value
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    import polars as pl
else:
    from selfclock.lazy import pl

#: More than any sweep has time for; a slip of the keyboard is soon beyond it.
MOST_RUNS = 10_000_000

#: Points tried before a path that no point accepts so far is called a mistake.
PATIENCE = 10_000


@dataclass(frozen=True)
class Setting:
    """A path of the scenario with one value, as TOML."""

    path: str
    toml: str

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
        fixed = [Setting(one["path"], one["value"]) for one in said["fixed"]]
        scenario = _set(scenario, fixed, said["fixed"], source)
        factors: list[list[tuple[Setting, ...]]] = []
        if said["points"]:
            factors.append([tuple(Setting(one["path"], one["value"]) for one in point) for point in said["points"]])
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
        lines = {one["path"]: one["line"] for axis in [*said["points"], said["axes"], said["drawn"]] for one in axis}
        grid._check(source, lines)
        return grid

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
        """Every run, with the key of what it depends on: the scenario as resolved, the seed, the version."""
        for point in range(self.points):
            try:
                scenario = self.scenario_at(point)
            except ScenarioError:
                # A point that cannot be run is known by what it was meant to be.
                settings = [setting.override for setting in self.settings(point)]
                for seed in self.seeds:
                    yield Job(_digest(self.scenario.text, *settings, str(seed)), point, seed)
            else:
                for seed in self.seeds:
                    yield Job(_digest(scenario.with_seed(seed).resolved), point, seed)

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

    def _check(self, source: str, lines: Mapping[str, int]) -> None:
        """Refuse a path that no point accepts; one that some points accept is for those to fail."""
        for factor in self.factors:
            refusals = [self._refusal(alternative) for alternative in factor[:PATIENCE]]
            if None in refusals:
                continue
            points = range(0, self.points, -(-self.points // PATIENCE))
            if any(self._refusal(self.settings(point)) is None for point in points):
                continue
            path = next((setting.path for setting in factor[0] if self._refusal([setting])), factor[0][0].path)
            raise ScenarioError(f"{source}:{lines[path]}: {path}: no point can be run\n{refusals[0]}")

    def _refusal(self, settings: Sequence[Setting]) -> str | None:
        try:
            self.scenario.with_overrides([setting.override for setting in settings])
        except ScenarioError as error:
            return str(error)
        return None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join([VERSION, *parts]).encode()).hexdigest()


def _set(scenario: Scenario, fixed: list[Setting], said: list[dict[str, Any]], source: str) -> Scenario:
    for setting, one in zip(fixed, said, strict=True):
        try:
            scenario = scenario.with_overrides([setting.override])
        except ScenarioError as error:
            raise ScenarioError(f"{source}:{one['line']}: {setting.path}: {error}") from None
    return scenario


def _spread(axis: dict[str, Any]) -> list[Setting]:
    """Return the values of a path of the grid, each once."""
    ends = axis["range"]
    if ends is None:
        return [Setting(axis["path"], value) for value in axis["values"]]
    steps = ends["steps"]
    written = [_between(ends, step / (steps - 1)) for step in range(steps)]
    return [Setting(axis["path"], value) for value in dict.fromkeys(written)]


def _draw(axes: list[dict[str, Any]], draws: int, seed: int) -> list[tuple[Setting, ...]]:
    """Return so many random points. The same seed gives the same points, in any version of Python."""
    source = random.Random(seed)  # noqa: S311

    def one(axis: dict[str, Any]) -> Setting:
        fraction = source.random()
        if axis["range"] is None:
            return Setting(axis["path"], axis["values"][int(fraction * len(axis["values"]))])
        return Setting(axis["path"], _between(axis["range"], fraction))

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
