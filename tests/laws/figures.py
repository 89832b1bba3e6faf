"""Figures of `compare`, `sweep`, the scorecard and the browser against the runs that they are made
of.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import selfclock as sc
from laws.generator import anything, controls, names, path
from laws.law import Document, equal, holds, law, require, within
from laws.measure import bps, run, seconds, to_toml

if TYPE_CHECKING:
    from laws.draw import Draw

ROOT = Path(__file__).parent.parent.parent
#: The simulator as WebAssembly, and the program that runs a file with it in node: `make lab`.
BROWSER, NODE = ROOT / "lab/core/selfclock.wasm", ROOT / "tests/laws/browser.mjs"


def compared(draw: Draw) -> Document:
    """Return a path to compare two algorithms on."""
    one, other = draw.turn([each for each in controls() if each not in ("xcp", "prague")]), draw.pick(names("window"))
    made = path(f"{draw.pick([5, 20])} Mbps", draw.pick([20, 50]), draw.pick(["1 bdp", "30 packets"]), duration="6 s",
                flows=[{"count": draw.whole(1, 3)}], seed=draw.whole(1, 99), interval="100 ms")  # fmt: skip
    made["title"] = f"{one} {other if other != one else 'reno' if one != 'reno' else 'cubic'}"
    return made


@law(compared)
def compare_row(document: Document) -> None:
    """A row of a comparison is the run of its scenario: sums, means, Jain's index, the link's own
    numbers.

    Source: the definitions in docs/commands.md, recomputed from a run made separately.
    """
    comparison = sc.compare(document["title"].split(), scenario=sc.Scenario.parse(to_toml(document)), threads=1)
    for row in comparison.measures:
        alone = comparison.results[row["algorithm"]].scenario.run().summary
        flows = alone["flows"]
        rates = [each["goodput_bps"] for each in flows]
        within(row["goodput_bps"], sum(rates), "goodput, bit/s", relative=1e-12)
        jain = sum(rates) ** 2 / len(rates) / sum(each * each for each in rates)
        within(row["jain"], jain, "Jain's index", relative=1e-9)
        require(1 / len(rates) - 1e-9 <= row["jain"] <= 1 + 1e-9, "Jain's index", row["jain"], f"1/{len(rates)} to 1")
        bottleneck = next(each for each in alone["links"] if each["name"] == "bottleneck")
        for key in ("utilization", "queue_mean_packets", "ce_marks"):
            equal(row[key], bottleneck[key], key)
        for key in ("retransmitted_segments", "timeouts"):
            equal(row[key], sum(each[key] for each in flows), key)
        require(
            row["goodput_bps"] <= bottleneck["rate_bps"] * 1448 / 1500 * 1.001,
            "goodput, bit/s",
            row["goodput_bps"],
            "the payload's share of the link",
        )


@law(compared, share=0.5)
def compare_balance(document: Document) -> None:
    """Flows and link of a row agree: goodput and retransmissions are the busy part of the link, and
    the queue is at most its limit.

    Condition: packets of 1500 B with 1448 B of payload; 7 % and 2 % of the rate for the first round
    trip and the segments under way; a retransmission that is lost did not cross.
    Source: conservation: utilization x rate = payload and headers of all that crosses.
    """
    length, bottleneck = 6.0, document["network"]["bottleneck"]
    rate, limit = bps(bottleneck["rate"]), bottleneck["queue"]
    for row in sc.compare(document["title"].split(), scenario=sc.Scenario.parse(to_toml(document)), threads=1).measures:
        carried = row["goodput_bps"] * 1500 / 1448 + row["retransmitted_segments"] * 12_000 / length
        busy = row["utilization"] * rate
        paid = row["goodput_bps"] * 1500 / 1448
        require(0.93 * busy <= carried + 0.02 * rate and paid <= busy + 0.02 * rate,
                f"{row['algorithm']}, bit/s of its flows on the wire", carried, f"busy {busy}")  # fmt: skip
        product = rate * (2 * seconds(bottleneck["delay"]) + 0.004) / 12_000
        most = int(limit.split()[0]) if "packets" in limit else product
        require(row["queue_mean_packets"] <= 0.98 * most, "mean queue, packets", row["queue_mean_packets"],
                f"below the limit, {most}")  # fmt: skip


@law(compared, share=0.7)
def compare_with_itself(document: Document) -> None:
    """An algorithm compared alone has the row that it has beside another.

    Source: a run does not know what it is compared with.
    """
    words = document["title"].split()
    given = sc.Scenario.parse(to_toml(document))
    both = sc.compare(words, scenario=given, threads=2).measures
    for place, word in enumerate(words):
        alone = dict(sc.compare([word], scenario=given, threads=1).measures[0])
        equal({**alone, "cpu_s": 0}, {**both[place], "cpu_s": 0}, word)


def swept(draw: Draw) -> Document:
    """Return a scenario for a sweep over two values."""
    made = path(
        "10 Mbps",
        draw.pick([20, 50]),
        "20 packets",
        duration="3 s",
        flows=[{"congestion_control": draw.turn(names("window")), "count": draw.whole(1, 3), "start_jitter": "300 ms"}],
    )
    made["name"] = "swept"
    return made


@law(swept, share=0.7)
def sweep_row(document: Document) -> None:
    """Each row of a sweep is the run with its settings and seed.

    Source: a run made separately with the same overrides.
    """
    given = sc.Scenario.parse(to_toml(document))
    grid = sc.Grid.over(given, {"network.bottleneck.rate": ["5 Mbps", "12 Mbps"]}, seeds=[1, 2])
    with tempfile.TemporaryDirectory() as folder:
        rows = sc.sweep(grid, Path(folder) / "sweep", threads=1).runs.to_dicts()
    require(len(rows) == 4, "rows", len(rows), 4)
    for row in rows:
        rate = next(value for key, value in row.items() if "rate" in key and isinstance(value, str))
        alone = given.with_overrides([f"network.bottleneck.rate={rate}"]).with_seed(row["seed"]).run().summary
        within(
            row["goodput_bps"],
            sum(each["goodput_bps"] for each in alone["flows"]),
            f"goodput at {rate}, bit/s",
            relative=1e-12,
        )


def scored(draw: Draw) -> Document:
    """Return an algorithm for the cheap rows of the scorecard."""
    made = path()
    made["title"] = draw.turn(names("window"))
    return made


@law(scored, share=0.4)
def scorecard_ranges(document: Document) -> None:
    """Numbers of a scorecard are finite and in the range of their unit: shares 0 to 1, times and
    rates not negative.

    Condition: the row of start-up, the cheapest.
    Source: definitions of share, Jain's index, time and rate.
    """
    card = sc.evaluate(document["title"], against=["reno"], rows=["S1"], threads=1)
    for where, value in _numbers(card.document):
        require(math.isfinite(value), f"{where}", value, "finite")
        if any(word in where for word in ("share", "jain", "utilization")):
            require(-1e-9 <= value <= 1 + 1e-9, where, value, "0 to 1")
        if where.endswith(("_s", "_bps", "_bytes")):
            require(value >= 0, where, value, "not negative")


def _numbers(value: Any, where: str = "") -> list[tuple[str, float]]:  # noqa: ANN401
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [(where, float(value))]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [each for key, part in parts for each in _numbers(part, f"{where}.{key}".strip("."))]


@cache
def browser() -> str:
    """Return why the browser's build cannot be tried; empty if it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not BROWSER.exists():
        return f"{BROWSER.relative_to(ROOT)} is not built: make lab"
    return "" if NODE.exists() else f"{NODE.relative_to(ROOT)} is missing"


def any_case(draw: Draw) -> Document:
    """Return a scenario of anything."""
    return anything(draw)


@law(any_case, share=0.5)
def browser_build(document: Document) -> None:
    """The simulator in a browser has the results of the native one, to the bit.

    Condition: `make lab` has built it, and node is installed.
    Source: determinism on every machine.
    """
    holds(not browser(), browser())
    done = subprocess.run(["node", str(NODE), str(BROWSER)], input=to_toml(document), capture_output=True, text=True,
                          check=True, timeout=60)  # fmt: skip
    told = json.loads(done.stdout)
    mine = run(document).summary
    equal(told["flows"], json.loads(json.dumps(mine["flows"])), "flows")
    equal(told["links"], json.loads(json.dumps(mine["links"])), "links")
