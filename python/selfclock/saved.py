"""Saved runs: the directories that `selfclock run --out` and `publish` write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from selfclock._core import ENGINE, VERSION
from selfclock.errors import BadInputError
from selfclock.save import identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import polars as pl
    from numpy.typing import NDArray
    from typing_extensions import CapsuleType

    from selfclock._core import Column
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import pl


class LoadError(BadInputError, ValueError):
    """A directory holds no result of a run, a damaged one, or lacks the requested part."""


@dataclass(frozen=True)
class SavedColumn:
    """A column of numbers, or of names as indices into a list, with the interface of `_core.Column`."""

    numbers: NDArray[Any]
    names: list[str] | None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface."""
        return self.numbers.__array_interface__

    def __len__(self) -> int:
        return len(self.numbers)


def values_of(column: Column | SavedColumn) -> NDArray[Any]:
    """Return a column as an array of numbers, or of names."""
    import numpy as np  # noqa: PLC0415  only who reads values needs it

    values = np.asarray(column)
    return values if column.names is None else np.array(column.names, dtype=object)[values]


class SavedTable:
    """A table from a file, with the Arrow PyCapsule interface of a run's tables."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def column(self, name: str) -> SavedColumn:
        """Return one column for NumPy."""
        column = self._frame[name]
        if column.dtype in (pl.Categorical, pl.String):
            texts = column.cast(pl.String)
            names = texts.unique(maintain_order=True)
            places = texts.replace_strict(names, range(len(names)), return_dtype=pl.UInt32)
            return SavedColumn(places.to_numpy(), names.to_list())
        return SavedColumn(column.to_numpy(), None)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one column as an array of numbers, or of names."""
        if name not in self._frame.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._frame.columns)}")
        return values_of(self.column(name))

    def write_parquet(self, path: str | PathLike[str], metadata: Sequence[tuple[str, str]]) -> None:
        """Write the table as Parquet with its metadata."""
        self._frame.write_parquet(Path(path), metadata=dict(metadata))

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        return cast("CapsuleType", self._frame.__arrow_c_stream__(requested_schema))

    def __len__(self) -> int:
        return self._frame.height

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._frame.columns

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._frame.height

    def __repr__(self) -> str:
        return f"<SavedTable {self.num_rows} rows: {', '.join(self.column_names)}>"


def _run_of(about: dict[str, str]) -> tuple[str | None, str | None]:
    return about.get("selfclock.scenario"), about.get("selfclock.seed")


class SavedOutcome:
    """A run saved in a directory, with the interface of `_core.Outcome`."""

    #: The threads of a run are not saved: they do not affect results.
    undivided: None = None

    def __init__(self, directory: str | PathLike[str]) -> None:
        self.directory = Path(directory)
        self.document = self._document()
        about = self._metadata()
        try:
            #: The scenario as run, and its seed.
            self.scenario, self.seed = about["selfclock.scenario"], int(about["selfclock.seed"])
        except (KeyError, ValueError):
            raise LoadError(f"{self.directory / 'flows.parquet'}: not a table of a run: it names none") from None
        for name in ("links.parquet", "connections.parquet"):
            if (self.directory / name).is_file() and _run_of(self._metadata(name)) != _run_of(about):
                raise LoadError(f"{self.directory}: flows.parquet and {name} are of different runs")
        #: Names of the user-defined algorithms that ran.
        self.algorithms = sorted(
            name.removeprefix("selfclock.digest.") for name in about if name.startswith("selfclock.digest.")
        )

    def _document(self) -> dict[str, Any]:
        path = self.directory / "summary.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise LoadError(f"{self.directory} holds no result of a run: there is no summary.json") from None
        except (OSError, ValueError) as error:
            raise LoadError(f"{path}: cannot be read: {error}") from None
        if not isinstance(document, dict) or "flows" not in document or "links" not in document:
            raise LoadError(
                f"{path}: not the summary of a run; Result.load reads the directory that selfclock run writes"
            )
        return document

    def check(self, scenario: Scenario) -> None:
        """Refuse totals of another run than that of the tables, if this version wrote them."""
        made = self.document.get("made")
        if not isinstance(made, dict) or (made.get("version"), made.get("engine")) != (VERSION, ENGINE):
            return
        if made.get("run") != identity([scenario]):
            raise LoadError(f"{self.directory}: summary.json and flows.parquet are of different runs")

    def _metadata(self, name: str = "flows.parquet") -> dict[str, str]:
        path = self._path(name)
        try:
            return dict(pl.read_parquet_metadata(path))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise LoadError(f"{path}: cannot be read: {error}") from None

    def _path(self, name: str) -> Path:
        path = self.directory / name
        if not path.is_file():
            raise LoadError(f"{self.directory} holds no {name}")
        return path

    def _table(self, name: str, columns: Sequence[str] | None = None) -> SavedTable:
        path = self._path(name)
        try:
            return SavedTable(pl.read_parquet(path, columns=None if columns is None else list(columns)))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise LoadError(f"{path}: cannot be read: {error}") from None

    @property
    def summary(self) -> str:
        """Totals, as JSON text."""
        return json.dumps(self.document)

    @property
    def cpu_s(self) -> float:
        """CPU time of the run, on its machine."""
        return float(self.document["cpu_s"])

    @cached_property
    def flow_series(self) -> SavedTable:
        """Series of every flow."""
        return self._table("flows.parquet")

    @cached_property
    def link_series(self) -> SavedTable:
        """Series of every link."""
        return self._table("links.parquet")

    @cached_property
    def connections(self) -> SavedTable:
        """Every short connection; empty if none has started."""
        if not (self.directory / "connections.parquet").exists():
            return SavedTable(pl.DataFrame())
        return self._table("connections.parquet")

    @property
    def packet_file(self) -> Path:
        """The file of every packet."""
        path = self.directory / "packets.parquet"
        if not path.exists():
            raise LoadError(f"{self.directory}: packets were not recorded; run it with --set record.packets=true")
        return path

    def packets(self, columns: Sequence[str] | None = None) -> SavedTable:
        """Return every packet, in all columns or the requested ones."""
        return self._table(self.packet_file.name, columns)

    @property
    def packet_events(self) -> int:
        """Rows of the packet record; 0 if packets were not recorded."""
        if not (self.directory / "packets.parquet").exists():
            return 0
        rows: int = pl.scan_parquet(self._path("packets.parquet")).select(pl.len()).collect().item()
        return rows

    def write_pcapng(self, kind: str, name: str, path: str | PathLike[str]) -> None:
        """Refuse: captures need packets in memory."""
        raise LoadError(f"{path}: no capture of {kind} {name} is made from files; run it again with --pcap")
