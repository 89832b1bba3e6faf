"""Rows of the reports, recomputed by other code from the output of `selfclock run` for the written scenarios.

The report's text is that of `claims.json`. The last digit must agree: engine, records and both
computations are exact.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from selfclock.reproduce import PAPERS

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Returns the table with this name from the run of this scenario.
    Tables = Callable[[str, str], pl.DataFrame]

ROOT = Path(__file__).parents[2]

FIGURE_5 = "packet-pair-figure-05"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recomputed")
    command("reproduce", *{paper for paper, *_ in ROWS}, "--scenarios", path / "scenarios")
    return path


def command(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "selfclock", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def sent(packets: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return packets of a kind as they leave the host that creates them."""
    words = packets.with_columns(pl.col("event", "kind").cast(pl.String), pl.col("option").fill_null(""))
    return words.filter((pl.col("event") == "send") & (pl.col("kind") == kind))


def departure(option: str, printed: float) -> Callable[[Tables], str]:
    """When the data segment with such an option (hexadecimal) leaves that is nearest to a printed time."""

    def measured(tables: Tables) -> str:
        rows = sent(tables(FIGURE_5, "packets"), "data").select("time_s", "option").rows()[1:]
        times = [time for time, text in rows if re.fullmatch(option, text)]
        return f"{round(min(times, key=lambda time: abs(time - printed)), 4):g} s"

    return measured


def first_interval(tables: Tables) -> str:
    """The last sixteen bits of the first reply: kind 6, length 6, type 3, pair, interval."""
    texts = sent(tables(FIGURE_5, "packets"), "ack")["option"].to_list()
    return f"{next(int(found[1], 16) for text in texts if (found := re.search('060603..(....)', text)))} ticks"


def transfer(tables: Tables, scenario: str) -> str:
    """From the first packet to the arrival of the last ACK: the path carries nothing else."""
    packets = tables(scenario, "packets").with_columns(pl.col("event").cast(pl.String))
    return f"{packets.filter(pl.col('event') == 'deliver')['time_s'].max():.2f} s"


def second_round_trip(tables: Tables, scenario: str) -> int:
    """Segments that leave more than one and at most two round trips of 470 ms after the first."""
    times = sent(tables(scenario, "packets"), "data")["time_s"]
    # Half a packet time at the bottleneck separates one round trip from the next.
    length = 0.470 + 1500 * 8 / 49.5e6 / 2
    return int((((times - times[0]) / length).floor() == 1).sum())


def flows_with_drops(tables: Tables) -> str:
    packets = tables("ficcrd-tail-drop", "packets").with_columns(pl.col("event", "kind", "flow").cast(pl.String))
    lost = packets.filter((pl.col("event") == "drop") & (pl.col("kind") == "data"))
    return f"{lost['flow'].n_unique()} of 10 flows"


def goodput_of_figure_6(tables: Tables) -> str:
    """Acknowledged bytes from 5 to 60 s, 1460 of every 1500, over 5 Gbit/s."""
    rows = tables("figure-6-lotka-volterra", "flows").filter(pl.col("time_s") > 5 - 1e-6)
    begin, end = rows.row(0, named=True), rows.row(-1, named=True)
    rate = (
        (end["acknowledged_bytes"] - begin["acknowledged_bytes"]) / 1460 * 1500 * 8 / (end["time_s"] - begin["time_s"])
    )
    return f"{round(rate / 5e9, 4):g} of the link"


def same_samples(tables: Tables) -> str:
    """Every column except the name of the algorithm, if there is one."""
    first, second = (tables(name, "flows").drop("algorithm", strict=False) for name in ("identity-k1", "identity-reno"))
    columns = ["time_s", "cwnd_bytes", "ssthresh_bytes", "sent_bytes", "acknowledged_bytes"]
    return "identical" if first.select(columns).equals(second.select(columns)) else "different"


ROWS: list[tuple[str, str, Callable[[Tables], str]]] = [
    ("packet-pair", "figure-5-pair-0.540", departure("(01)*060402..", 0.540)),
    ("packet-pair", "figure-5-pair-0.780", departure("(01)*060402..", 0.780)),
    ("packet-pair", "figure-5-shaped-0.580", departure("", 0.580)),
    ("packet-pair", "figure-5-timer-value", first_interval),
    ("swift-start", "figure-2-transfer",
     lambda tables: f"{transfer(tables, 'figure-2-swift-start')} against {transfer(tables, 'figure-2-slow-start')}"),
    ("swift-start", "figure-3-second-round-trip",
     lambda tables: f"{second_round_trip(tables, 'figure-2-slow-start')} and "
     f"{second_round_trip(tables, 'figure-2-swift-start')} segments"),
    ("swift-start", "figure-8-order",
     lambda tables: f"{transfer(tables, 'figure-8-modified-swift-start')} against "
     f"{transfer(tables, 'figure-8-slow-start')}"),
    ("ficcrd", "figure-6-tail-drop", flows_with_drops),
    ("inline-measurement", "figure-6-throughput icim-corrected", goodput_of_figure_6),
    ("adaptive-layered", "k-1-is-tcp", same_samples),
]  # fmt: skip


@pytest.mark.parametrize(("paper", "claim", "compute"), ROWS, ids=[claim for _, claim, _ in ROWS])
def test_a_row_from_the_tables_of_its_scenarios(
    folder: Path, paper: str, claim: str, compute: Callable[[Tables], str]
) -> None:
    def table(scenario: str, name: str) -> pl.DataFrame:
        stem = re.sub(r"[^\w.+-]+", "_", scenario)
        out = folder / paper / stem
        if not out.exists():
            command("run", folder / "scenarios" / paper / f"{stem}.toml", "--out", out, "--format", "")
        return pl.read_parquet(out / f"{name}.parquet")

    record = ROOT / "python" / PAPERS[paper].replace(".", "/") / "claims.json"
    rows = json.loads(record.read_text(encoding="utf-8"))
    # Without the name of a reading, the default ones, which come first.
    name, *readings = claim.split()
    reported = (row["measured"] for row in rows if row["id"] == name and set(readings) <= set(row["readings"]))
    assert compute(table) == next(reported)
