"""Columns of tables as arrays: the same from a run and from its files, and the same as by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import selfclock as sc

if TYPE_CHECKING:
    from pathlib import Path


def test_every_column_is_that_of_the_arrow_table(small: Path, tmp_path: Path) -> None:
    result = sc.Scenario.load(small).run()
    sc.publish(result, tmp_path / "saved")
    saved = sc.Result.load(tmp_path / "saved")
    for name in ("flows", "links"):
        frame, table, again = pl.DataFrame(getattr(result, name)), getattr(result, name), getattr(saved, name)
        assert table.column_names
        for column in table.column_names:
            if frame[column].dtype in (pl.Categorical, pl.String):
                assert list(table[column]) == list(again[column]) == frame[column].cast(pl.String).to_list()
            else:
                np.testing.assert_array_equal(table[column], again[column])
                expected = frame[column].to_numpy()
                np.testing.assert_array_equal(table[column], expected)


def test_an_unknown_column_is_told_with_those_that_exist(small: Path, tmp_path: Path) -> None:
    result = sc.Scenario.load(small).run()
    sc.publish(result, tmp_path / "saved")
    for table in (result.flows, sc.Result.load(tmp_path / "saved").flows):
        with pytest.raises(KeyError, match=r"nosuch.*cwnd_bytes"):
            table["nosuch"]
