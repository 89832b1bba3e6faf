"""`make sweep-10000`: a sweep of 10,000 short runs, killed three times, then run to completion."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

SCENARIO = """\
schema = 1
duration = "2 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "1 Mbps", delay = "10 ms", queue = "5 packets" }
access = { rate = "10 Mbps", delay = "1 ms" }
[[flow]]
congestion_control = "reno"
[[flow]]
congestion_control = "packet-pair"
start_jitter = "100 ms"
"""
GRID = """\
schema = 1
scenario = "scenario.toml"
seeds = 100
[grid]
"network.bottleneck.queue" = { from = "1 packets", to = "50 packets", steps = 50 }
"flow.0.congestion_control" = ["reno", "cubic"]
"""
RUNS = 10_000


def journal_rows(directory: Path) -> int:
    """Count the complete lines."""
    journal = directory / "journal.jsonl"
    return journal.read_bytes().count(b"}\n") if journal.exists() else 0


def main() -> None:
    """Run it and report the result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
        (folder / "grid.toml").write_text(GRID, encoding="utf-8")
        command = [sys.executable, "-m", "selfclock", "sweep", str(folder / "grid.toml"), "--json", "--out"]

        killed = folder / "killed"
        stored = 0
        for until in (1500, 2500, 3500):
            with subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL) as process:
                while journal_rows(killed) < until and process.poll() is None:
                    time.sleep(0.002)
                process.send_signal(signal.SIGKILL)
            parquet = len(pl.read_parquet(killed / "runs.parquet"))
            stored = parquet + journal_rows(killed)
            sys.stdout.write(f"killed with {stored:,} runs stored\n")
        last = json.loads(subprocess.run([*command, str(killed)], stdout=subprocess.PIPE, check=True).stdout)
        resumed = pl.read_parquet(killed / "runs.parquet")

        whole = json.loads(subprocess.run([*command, str(folder / "whole")], stdout=subprocess.PIPE, check=True).stdout)
        runs = pl.read_parquet(folder / "whole" / "runs.parquet")
        cpu_s = runs["cpu_s"].sum()
        sys.stdout.write(
            f"resumed: {last['done_now']:,} runs more, {len(resumed):,} rows, {resumed['key'].n_unique():,} different\n"
            f"in one go: {RUNS:,} runs in {whole['seconds']:.2f} s, {RUNS / whole['seconds']:,.0f} runs/s; "
            f"{cpu_s:.2f} s of them simulation, on all threads\n"
        )
        assert last["done_now"] == RUNS - stored, "a stored run was run twice"
        assert len(resumed) == resumed["key"].n_unique() == RUNS, "a run was lost"
        assert resumed.drop("cpu_s").equals(runs.drop("cpu_s")), "what was interrupted has other results"


if __name__ == "__main__":
    main()
