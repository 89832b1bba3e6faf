"""A saved result equals the original: totals, tables, figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import selfclock as sc
from selfclock.saved import LoadError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def saved(small: Path, tmp_path: Path) -> tuple[sc.Result, Path]:
    """A run with packets recorded, and its directory."""
    result = sc.Scenario.load(small, ["record.packets=true", "duration=1 s"]).with_seed(7).run()
    sc.publish(result, tmp_path / "out")
    return result, tmp_path / "out"


def test_totals_tables_scenario_and_figures_are_those_of_the_run(saved: tuple[sc.Result, Path]) -> None:
    result, directory = saved
    loaded = sc.Result.load(directory)
    assert loaded.summary == result.summary
    assert loaded.scenario.resolved == result.scenario.resolved
    assert (loaded.scenario.name, loaded.scenario.seed) == ("small", 7)
    for name in ("flows", "links", "packets"):
        there, here = pl.DataFrame(getattr(loaded, name)), pl.DataFrame(getattr(result, name))
        assert there.height == getattr(loaded, name).num_rows > 0
        assert getattr(loaded, name).column_names == getattr(result, name).column_names
        assert repr(there.rows()) == repr(here.rows()), name
    columns = pl.DataFrame(loaded.packet_columns("time_s", "event"))
    assert columns.columns == ["time_s", "event"]
    sc.publish(result, directory, formats="svg")
    again = sc.publish(loaded, directory.with_name("again"), formats="svg")
    drawn = sorted(path.name for path in directory.glob("*.svg"))
    assert len(drawn) >= 2
    for name in drawn:
        assert (directory / name).read_bytes() == (again.parent / name).read_bytes(), name
    first, second = (json.loads((each / "summary.json").read_text("utf-8")) for each in (directory, again.parent))
    assert first["flows"] == second["flows"]
    assert first["made"]["run"] == second["made"]["run"]


def test_what_was_not_recorded_says_so(small: Path, tmp_path: Path) -> None:
    sc.publish(sc.Scenario.load(small, ["duration=1 s"]).run(), tmp_path / "out")
    loaded = sc.Result.load(str(tmp_path / "out"))
    assert loaded.connections.num_rows == 0
    with pytest.raises(LoadError, match=r"packets were not recorded; run it with --set record\.packets=true"):
        _ = loaded.packets
    with pytest.raises(LoadError, match="--pcap"):
        loaded.write_pcapng("bottleneck", tmp_path / "x.pcapng")


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("summary.json", None, r"holds no result of a run: there is no summary\.json"),
        ("summary.json", b"{", r"summary\.json: cannot be read"),
        ("summary.json", b'{"runs": []}', r"not the summary of a run"),
        ("flows.parquet", None, r"holds no flows\.parquet"),
        ("flows.parquet", b"PAR1", r"flows\.parquet: cannot be read"),
    ],
)
def test_what_is_no_result_is_one_message(
    saved: tuple[sc.Result, Path], file: str, content: bytes | None, words: str
) -> None:
    _, directory = saved
    (directory / file).unlink()
    if content is not None:
        (directory / file).write_bytes(content)
    with pytest.raises(LoadError, match=words) as refused:
        sc.Result.load(directory)
    assert "\n" not in str(refused.value)
