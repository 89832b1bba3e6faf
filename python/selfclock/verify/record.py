"""The files of a run, as read by the verifier."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock.errors import BadInputError
from selfclock.verify.specification import SECOND, time_of

if TYPE_CHECKING:
    from pathlib import Path

#: Columns of a packet record, in the order of a row.
COLUMNS = (
    "time_s", "event", "link", "flow", "connection", "kind", "ecn", "ece", "cwr", "marked_bytes", "retransmission",
    "packet",
    "sequence", "payload_bytes", "size_bytes", "acknowledgement", "receive_window_bytes", "timestamp_us",
    "timestamp_echo_us",
    "sack", "option",
)  # fmt: skip


class UnreadableError(BadInputError):
    """There is no record to verify, or it is damaged."""


@dataclass
class Record:
    """A run's packet record, summary and series. Missing parts are not compared."""

    scenario: str
    seed: int
    packets: pl.DataFrame
    summary: dict[str, Any] | None = None
    flows: pl.DataFrame | None = None
    links: pl.DataFrame | None = None
    connections: pl.DataFrame | None = None


def load(path: Path) -> Record:
    """Read a run's directory, or its packets.parquet alone."""
    table = path / "packets.parquet" if path.is_dir() else path
    if not path.exists():
        raise UnreadableError(f"{path}: there is no such file or directory")
    if not table.exists():
        raise UnreadableError(f"{path} holds no packets.parquet: run the scenario with --set record.packets=true")
    packets = _table(table)
    missing = [name for name in COLUMNS if name not in packets.columns]
    if missing:
        raise UnreadableError(f"{table} is not a packet record: it has no column {missing[0]!r}")
    metadata = pl.read_parquet_metadata(table)
    try:
        scenario, seed = metadata["selfclock.scenario"], int(metadata["selfclock.seed"])
    except (KeyError, ValueError) as error:
        raise UnreadableError(f"{table} does not name its scenario and seed") from error
    _check_whole(table, scenario)
    record = Record(scenario, seed, packets)
    if not path.is_dir():
        return record
    summary = path / "summary.json"
    if summary.exists():
        try:
            record.summary = json.loads(summary.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UnreadableError(f"{summary} is damaged: {error}") from error
    for name in ("flows", "links", "connections"):
        file = path / f"{name}.parquet"
        if file.exists():
            setattr(record, name, _table(file))
    return record


def _check_whole(table: Path, scenario: str) -> None:
    """Refuse the record of a time span: packets that arrive in it may have left earlier."""
    document = tomllib.loads(scenario.removeprefix("\ufeff"))
    recorded, whole = document.get("record", {}), document["duration"]
    begin, end = recorded.get("packets_from", "0 s"), recorded.get("packets_until", whole)
    if time_of(begin) > 0 or time_of(end) < time_of(whole):
        raise UnreadableError(
            f"{table} holds the packets of {begin} to {end} only: verify needs those of the whole run"
        )


def _table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnreadableError(f"{path} is damaged or not a Parquet file: {str(error).splitlines()[0]}") from error


def picoseconds(seconds: pl.Series) -> list[int]:
    """Return a column of times in whole picoseconds, which are exactly the engine's for about two hours."""
    values: list[int] = (seconds * float(SECOND)).round().cast(pl.Int64).to_list()
    return values
