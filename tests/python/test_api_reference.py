"""The reference of the Python interface has every exported name; the page on stability every column."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import selfclock as sc

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
STABLE = (ROOT / "docs/stable.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def api() -> Callable[[str], str]:
    sys.path.insert(0, str(ROOT / "docs/site"))
    import api as reference  # noqa: PLC0415  a module of the site, not of the package

    found: Callable[[str], str] = reference.api
    return found


def test_every_exported_name_has_one_entry_with_text(api: Callable[[str], str]) -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    groups = re.findall(r"<!-- api: (.+?) -->", page)
    text = "\n\n".join(map(api, groups))
    entries = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    names = [entry.partition("`\n")[0].strip("`") for entry in entries]
    assert sorted(names) == sorted(name for name in sc.__all__ if name != "__version__")
    bare = [name for name, entry in zip(names, entries, strict=True) if len(entry.split("\n\n")) < 2]
    assert bare == []


def test_examples_are_in_fences(api: Callable[[str], str]) -> None:
    """Outside of one, Markdown takes ">>>" for three quotations."""
    text = re.sub(r"```.*?```", "", api("the rest") + api("runs"), flags=re.DOTALL)
    assert ">>>" not in text


def columns(title: str) -> list[str]:
    section = STABLE.partition(f"### `{title}`")[2].partition("\n##")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_the_columns_told_are_those_of_a_run(tmp_path: Path) -> None:
    """Read from the files that a run writes; a model has columns of its own after those of every flow."""
    scenario = sc.dumbbell(flows=["bbr3", sc.Flow("reno", interval="100 ms", size="10 kB")], duration="1 s")
    sc.publish(scenario.run(), tmp_path)
    for name in ("flows", "links", "connections"):
        assert columns(f"{name}.parquet") == pl.read_parquet(tmp_path / f"{name}.parquet").columns


def test_the_keys_told_are_those_of_the_documents() -> None:
    comparison = sc.compare(["reno", "cubic"], rate="5 Mbps", duration="2 s", seeds=2)
    told = set(re.findall(r"^\| `(\w+)` \|", STABLE, re.MULTILINE))
    for row in [*comparison.measures, *comparison.estimates, *comparison.differences]:
        assert set(row) <= told
    for row in comparison.measures:
        for part in [*row["flows"], *row["links"]]:
            assert set(part) <= told
