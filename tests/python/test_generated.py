"""Files that repeat the engine's catalogue agree with it; a total has one heading, unit and sum everywhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import pytest

import selfclock as sc
from selfclock import catalogue, summaries, tables
from selfclock.compare.table import table
from selfclock.verify.specification import rate_of, size_of, time_of

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def generated() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated", ROOT / "tests/generated.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def result() -> sc.Result:
    flows = [sc.Flow("cubic", size="200 kB"), sc.Background("1 Mbps")]
    return sc.Path(sc.Link("10 Mbps", "10 ms"), rtt="40 ms").scenario(flows, duration="2 s").run()


def test_every_written_file_is_fresh(generated: ModuleType) -> None:
    stale = [name for name, text in generated.FILES.items() if not generated.is_fresh(ROOT / name, text())]
    assert stale == [], "run python tests/generated.py"


def test_a_stale_file_is_seen(generated: ModuleType, tmp_path: Path) -> None:
    for text in generated.FILES.values():
        (tmp_path / "file").write_text(text().replace("e", "E", 1), encoding="utf-8")
        assert not generated.is_fresh(tmp_path / "file", text())


def test_a_summary_has_the_declared_totals(result: sc.Result) -> None:
    summary = result.summary
    for name, row in (("FlowSummary", summary["flows"][0]), ("LinkSummary", summary["links"][0])):
        declared = [each.name for each in catalogue.totals(name) if not each.omitted]
        assert list(row) == declared
    assert set(get_type_hints(summaries.RunFlow)) >= set(summary["flows"][0])


def test_what_udp_does_not_have_is_not_zero_in_tables(result: sc.Result) -> None:
    """The laboratory had a dash where pages and the terminal had 0."""
    udp = next(number for number, flow in enumerate(result.summary["flows"]) if flow["algorithm"] == "udp")
    for whole in (False, True):
        shown = tables.of_flows(result.summary["flows"], whole=whole)
        without = [shown.rows[udp][shown.columns.index(each)] for each in shown.columns if "etr" in each]
        assert without == ["-", "-"]


def test_the_tables_of_a_run_have_the_same_columns_everywhere(result: sc.Result) -> None:
    """`print(result)` had neither CE marks nor completion times, and other headings than the terminal."""
    short, long = (tables.of_flows(result.summary["flows"], whole=whole) for whole in (False, True))
    assert len(short.columns) == len(long.columns)
    assert result.tables()[0] == short
    assert "Completed after s" in long.columns


def test_the_verifier_reads_every_unit_of_the_catalogue() -> None:
    readers = {"a time": time_of, "a rate": rate_of, "a size": size_of}
    read = {
        (dimension, name): reader(f"3 {name}") == 3 * size
        for dimension, reader in readers.items()
        for name, size in catalogue.sizes(dimension).items()
    }
    assert len(read) > 20
    assert all(read.values()), read


def test_a_comparison_names_no_measure_that_is_not_declared() -> None:
    comparison = sc.compare(["reno"], rate="10 Mbps", rtt="20 ms", duration="1 s")
    shown = table(comparison.estimates, "bottleneck")
    assert all(heading and "{}" not in heading for heading in shown.columns)
