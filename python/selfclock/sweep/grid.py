"""The points of a sweep."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from selfclock import _core
from selfclock._core import ENGINE, VERSION, ScenarioError
from selfclock.arguments import items
from selfclock.custom import registered, sources, undetermined_among
from selfclock.formatting import plural
from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    import polars as pl
else:
    from selfclock.lazy import pl


#: The path that `seeds` sets.
SEED = "seed"


class Setting(NamedTuple):
    """A path of the scenario with one value."""

    path: str
    toml: str
    #: As shown in a table: text, number or boolean; anything else as TOML.
    value: str | float | bool


class Job(NamedTuple):
    """One run: a point with one seed."""

    key: str
    point: int
    seed: int
    #: The user-defined algorithms, each with the digest of its sources: "my-aimd 0123456789abcdef".
    algorithms: str = ""


class Grid:
    """A scenario, and the changes to it; `load` reads a file, `over` takes Python values."""

    def __init__(self, core: _core.Grid) -> None:
        self._core = core
        if SEED in core.paths:
            where = place_of_seed(core.text)
            raise ScenarioError(
                f"{core.source_name}:{where}seed: the seed is no axis; "
                "write seeds = [1, 2] at the top of the grid, or seeds = 10 for the first ten"
            )

    def __repr__(self) -> str:
        points, seeds = plural(self.points, "point"), plural(len(self.seeds), "seed")
        return f"<Grid {self.name!r}: {points} of {', '.join(self.paths)}, {seeds}>"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Grid:
        """Read a grid file and the scenario that it names."""
        return cls(_core.Grid.load(path))

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
        document = {
            "schema": 1,
            **({} if name is None else {"name": name}),
            "scenario": scenario.name,
            "confidence": confidence,
            **({} if seeds is None else {"seeds": seeds}),
            **({} if grid is None else {"grid": _table(grid, "grid")}),
            **({"point": places} if (places := items(points, "points")) else {}),
            **(
                {}
                if random is None
                else {"random": {"draws": draws, "seed": draw_seed, "over": _table(random, "random")}}
            ),
        }
        text = "".join(f"{key} = {to_toml_value(value)}\n" for key, value in document.items())
        return cls(_core.Grid.over(scenario._core, text, f"grid {name or scenario.name!r}", name or scenario.name))

    def __reduce__(self) -> tuple[Callable[..., Grid], tuple[Scenario, str, str, str]]:
        return _restore, (self.scenario, self.text, self._core.source_name, self.name)

    @property
    def name(self) -> str:
        """Name in reports."""
        return self._core.name

    @cached_property
    def scenario(self) -> Scenario:
        """The settings common to all points."""
        return Scenario(self._core.scenario)

    @property
    def text(self) -> str:
        """The grid as TOML."""
        return self._core.text

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of each point."""
        return self._core.seeds

    @property
    def confidence(self) -> float:
        """Probability that an interval covers the mean."""
        return self._core.confidence

    @cached_property
    def notes(self) -> list[str]:
        """Notes on the scenario at the first points: settings without effect."""
        text = f"{self.scenario.text}\n{self.text}"
        return [*self._core.notes, *undetermined_among(name for name in registered() if name in text)]

    @property
    def runs(self) -> int:
        """Number of points times number of seeds."""
        return self._core.runs

    @property
    def points(self) -> int:
        """Number of points."""
        return self._core.points

    @cached_property
    def paths(self) -> list[str]:
        """The settings that differ between points, in the order of the file."""
        return self._core.paths

    def settings(self, point: int) -> list[Setting]:
        """Return the settings of a point; the last path changes fastest."""
        return [Setting(*row) for row in self._core.settings(point)]

    def scenario_at(self, point: int) -> Scenario:
        """Return the scenario of a point; it records only its summary."""
        return Scenario(self._core.scenario_at(point))

    def jobs(self) -> Iterator[Job]:
        """Return every run with a key of its inputs: resolved scenario, seed, engine, and the algorithms' sources."""
        for point in range(self.points):
            try:
                scenario = self.scenario_at(point)
            except ScenarioError:
                # A point that cannot run is identified by its intended settings, with the
                # algorithms that it names.
                settings = [f"{path}={toml}" for path, toml, _ in self.settings(point)]
                text = "\n".join([self.scenario.text, *settings])
                own = [source.digest for name, source in sources(registered()).items() if name in text]
                for seed in self.seeds:
                    yield Job(_digest(text, str(seed), *own), point, seed)
            else:
                algorithms = ", ".join(f"{name} {source.digest}" for name, source in scenario.sources.items())
                for seed in self.seeds:
                    # A resolved scenario includes the sources of its algorithms.
                    yield Job(_digest(scenario.with_seed(seed).resolved), point, seed, algorithms)

    def columns(self) -> pl.DataFrame:
        """Return the points as a table: the index, and the value of each path.

        If all values of a path are numbers with one unit, a further column holds the numbers.
        """
        rows = [self.settings(point) for point in range(self.points)]
        columns: dict[str, pl.Series] = {"point": pl.Series(range(self.points), dtype=pl.Int64)}
        for number, path in enumerate(self.paths):
            values = [row[number].value for row in rows]
            if len({_kind(value) for value in values}) > 1:
                values = [value if isinstance(value, str) else row[number].toml
                          for value, row in zip(values, rows, strict=True)]  # fmt: skip
            # Whole numbers beside fractions are numbers of one kind.
            mixed = {type(value) for value in values} == {int, float}
            columns[path] = pl.Series([float(value) for value in values] if mixed else values)
            quantities = [_quantity(value) for value in values]
            units = {quantity[1] for quantity in quantities if quantity is not None}
            if None not in quantities and len(units) == 1:
                numbers = [quantity[0] for quantity in quantities if quantity is not None]
                columns[f"{path} [{units.pop()}]"] = pl.Series(numbers, dtype=pl.Float64)
        return pl.DataFrame(columns)


def _table(given: Mapping[str, object], argument: str) -> dict[str, object]:
    if not isinstance(given, Mapping):
        raise ScenarioError(f'{argument}: {given!r} is not a table; write {{"network.bottleneck.rate": ["5 Mbps"]}}')
    return dict(given)


def place_of_seed(text: str) -> str:
    r"""Return line and column of the first `seed` that a grid changes, as "3:1: "; "" if it is not on a line.

    >>> place_of_seed("[random]\nseed = 7\n[grid]\nseed = [1, 2]\n")
    '4:1: '
    """
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        heading = re.match(r"\s*\[+\s*([\w.]+)", line)
        section = heading[1] if heading else section
        # `[random]` has a seed of its own.
        written = r"\bover\s*=.*?[{,]\s*\"?(seed)\"?\s*=" if section == "random" else r"(?:^|[{,])\s*\"?(seed)\"?\s*="
        found = re.search(written, line)
        if found and section:
            return f"{number}:{found.start(1) + 1}: "
    return ""


def _restore(scenario: Scenario, text: str, source_name: str, name: str) -> Grid:
    return Grid(_core.Grid.over(scenario._core, text, source_name, name, checked=True))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join([VERSION, ENGINE, *parts]).encode()).hexdigest()


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
