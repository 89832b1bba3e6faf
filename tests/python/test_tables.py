"""Tables for readers: their width, their rows, and no name broken in two."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

import selfclock as sc
from selfclock import formatting, tables
from selfclock.cli.layout import Column, elided, fitted
from selfclock.units import RATES, written

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("changes", "rate"),
    [
        ([], "24 Mbit/s"),
        ([(1, 12)], "24 to 12 Mbit/s"),
        ([(1, 0.9)], "24 Mbit/s to 900 kbit/s"),
        ([(1, 12), (1.5, 9)], "24 … 9 Mbit/s"),
        ([(1, 24), (5, 12)], "24 Mbit/s"),
    ],
)
def test_a_rate_that_changes_is_named_first_and_last(changes: list[tuple[float, float]], rate: str) -> None:
    """The table of links had the last rate alone. A change after the end of the run, at 2 s, is none."""
    made = [sc.Change(sc.s(at), rate=sc.mbps(to)) for at, to in changes]
    result = (
        sc.Path(sc.Link("24 Mbps", "10 ms", changes=made or None), rtt="40 ms")
        .scenario(["cubic"], duration="2 s")
        .run()
    )
    bottleneck = result.summary["links"][0]
    changed = result.scenario.network.changed_rates(result.summary["simulated_s"])
    assert formatting.rate_of(bottleneck, changed, lambda bps: written(bps, RATES)) == rate
    assert tables.of_links([bottleneck], changed).rows[0][1] == rate
    assert tables.of_links([bottleneck], changed, whole=True).rows[0][1] == formatting.rate_of(
        bottleneck, changed, lambda bps: formatting.digits(bps / 1e6)
    )


@pytest.mark.parametrize("name", ["packet-pair", "a" * 100, "漢字" * 20, "x"])
@pytest.mark.parametrize("width", [4, 9, 16, 40])
def test_an_elided_name_has_its_begin_and_its_end(name: str, width: int) -> None:
    short = elided(name, width)
    assert cell_len(short) <= width
    if cell_len(name) <= width:
        assert short == name
    else:
        begin, end = short.split("…")
        assert name.startswith(begin)
        assert name.endswith(end)
        # Wide letters may leave one column free.
        assert cell_len(short) >= width - 1


def test_spare_columns_go_before_names_are_cut_short() -> None:
    columns = [
        Column("flow", ["a-name-of-25-letters-at-all"], "name"),
        Column("one", ["1" * 10], spare=1),
        Column("two", ["2" * 10], spare=2),
        Column("stays", ["3" * 10]),
    ]
    assert [column.heading for column in fitted(columns, 80)] == ["flow", "one", "two", "stays"]
    assert [column.heading for column in fitted(columns, 45)] == ["flow", "one", "stays"]
    [flow, stays] = fitted(columns, 28)
    assert stays.cells == ["3" * 10]
    assert cell_len(flow.cells[0]) == 16
    [flow, _] = fitted(columns, 20)
    assert cell_len(flow.cells[0]) == 8


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.000012, "0.000012"),
        (1.23456, "1.235"),
        (9999.4, "9999"),
        (9999.6, "10,000"),
        (4e10, "40,000,000,000"),
    ],
)
def test_no_number_has_an_exponent(value: float, text: str) -> None:
    assert formatting.digits(value) == text


LONG = """\
schema = 1
name = "long"
duration = "200 ms"
[network]
topology = "dumbbell"
bottleneck = { rate = "100 Mbps", delay = "1 ms", queue = { discipline = "dualpi2", limit = "1000 packets" } }
access = { rate = "40 Gbps", delay = "1 ms" }
[transport]
ecn = "classic"
[[flow]]
name = "a [bold]name that nobody would want to type"
congestion_control = { window = "cubic", start = "hystart++" }
count = 3000
"""


def test_tables_have_eighty_columns_and_twenty_rows(command: Command, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    done = command("run", "long.toml", "--set", "record.interval=off", "--format", "")
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert max(map(cell_len, lines)) <= 80
    flows = [line for line in lines if line.startswith("a [bold]")]
    assert len(flows) == 20
    assert all(re.match(r"a \[bold\].*….*-\d+ +cubic\+hystart\+\+ ", line) for line in flows)
    assert "… 2,980 more flows: results/long/summary.json" in lines
    assert "1e+" not in done.stdout
    links = json.loads((tmp_path / "results/long/summary.json").read_text(encoding="utf-8"))["links"]
    [bottleneck] = [line for line in lines if line.startswith("bottleneck ")]
    assert "100 Mbit/s" in bottleneck
    assert "40 Gbit/s" in done.stdout
    marks = next(link["ce_marks"] for link in links if link["name"] == "bottleneck")
    assert marks > 0
    assert f" {marks:,} " in bottleneck
    # The links shown are the busiest of all.
    busiest = sorted((link["utilization"] for link in links), reverse=True)[:20]
    begin = next(number for number, line in enumerate(lines) if line.startswith("link "))
    shown = {line.split()[0] for line in lines[begin + 1 : begin + 21]}
    assert sorted((link["utilization"] for link in links if link["name"] in shown), reverse=True) == busiest


def test_short_connections_have_a_row_for_each_size(command: Command, tmp_path: Path) -> None:
    web = '{ load = "5 Mbps", size = { distribution = "exponential", mean = "20 kB" } }'
    (tmp_path / "web.toml").write_text(LONG.replace("count = 3000", f"traffic = {web}"), encoding="utf-8")
    done = command("run", "web.toml", "--set", "duration=5 s", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    [flow] = json.loads((tmp_path / "out/summary.json").read_text(encoding="utf-8"))["flows"]
    rows = done.stdout[done.stdout.index("short") :].splitlines()
    total = flow["connections"]
    assert any(f" all {total['completed']:,} {total['started']:,}" in re.sub(" +", " ", row) for row in rows)
    sizes = [size for size in total["by_size"] if size["completed"]]
    assert sizes
    for size in sizes:
        mean = f"{size['mean_s'] * 1e3:.4g}"
        assert any(f" {size['completed']:,} " in row and f" {mean}" in row for row in rows), size
