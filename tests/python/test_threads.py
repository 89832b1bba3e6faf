"""One run on several threads: the same bytes, or one line that explains the single thread."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import polars as pl
import pytest

import selfclock as sc
from conftest import SMALL

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: Flows with losses, some round trips long: 25,000 packet-hops within the delay of the access
#: links.
MANY = """
schema = 1
name = "many"
duration = "200 ms"
record = { interval = "10 ms" }
[network]
topology = "dumbbell"
bottleneck = { rate = "5 Gbps", delay = "5 ms", queue = "1000 packets" }
access = { rate = "1 Gbps", delay = "10 ms" }
[[flow]]
count = 1000
congestion_control = "cubic"
start_jitter = "20 ms"
"""

SEVERAL_CORES = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="with one core there is one thread")


def everything(result: sc.Result) -> str:
    """Return all numbers as text: different bits give different text, and NaN is NaN."""
    tables = [pl.DataFrame(table) for table in (result.flows, result.links)]
    return repr([{**result.summary, "cpu_s": 0.0}, *(table.to_dicts() for table in tables)])


@SEVERAL_CORES
def test_threads_change_no_byte() -> None:
    scenario = sc.Scenario.parse(MANY)
    alone = scenario.run()
    assert alone.undivided is None
    done: list[float] = []
    divided = scenario.run(done.append, threads=2)
    assert divided.undivided is None
    assert everything(divided) == everything(alone)
    assert sum(flow["fast_retransmits"] + flow["timeouts"] for flow in alone.summary["flows"]) > 100
    assert done == sorted(done)
    assert 0.0 < done[0] <= done[-1] <= 1.0


@SEVERAL_CORES
def test_a_run_on_threads_can_be_stopped() -> None:
    def stop(_done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sc.Scenario.parse(MANY).run(stop, threads=2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SMALL, "one thread is quicker"),
        (SMALL + '\n[[router]]\nmechanism = "quick-start"\n', "router mechanisms"),
        (SMALL.replace("[network]", "[record]\npackets = true\n[network]"), "packet records"),
    ],
)
def test_a_run_that_is_not_divided_says_why(text: str, reason: str) -> None:
    scenario = sc.Scenario.parse(text)
    result = scenario.run(threads=2)
    assert result.undivided is not None
    assert reason in result.undivided
    assert everything(result) == everything(scenario.run())


def test_records_in_a_directory_are_written_by_one_thread(tmp_path: Path) -> None:
    scenario = sc.Scenario.parse(SMALL, overrides=["record.packets=true"])
    result = scenario.run(packets=tmp_path / "records", threads=2)
    assert result.undivided is not None
    assert pl.DataFrame(result.packets).equals(pl.DataFrame(scenario.run().packets))


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_a_number_of_threads_out_of_range_is_refused(threads: int) -> None:
    with pytest.raises(sc.ScenarioError, match=r"^threads: .* is out of range; allowed: 1 to 1,024$"):
        sc.Scenario.parse(SMALL).run(threads=threads)


def test_the_command_says_why_it_was_one_thread(command: Command, small: Path) -> None:
    alone, allowed = command("run", small, "--json"), command("run", small, "--json", "--threads", 2)
    assert (alone.returncode, allowed.returncode) == (0, 0)
    assert "--threads" not in alone.stderr
    assert "note: --threads 2: one thread, because one thread is quicker with so few packets" in allowed.stderr
    # The document is that of one thread: only the command shows how it was computed.
    documents = [json.loads(done.stdout) for done in (alone, allowed)]
    for document in documents:
        document.pop("made")
        document.pop("cpu_s")
    assert documents[0] == documents[1]


def test_the_command_refuses_a_wrong_number_of_threads(command: Command, small: Path) -> None:
    refused = command("run", small, "--threads", 0)
    assert refused.returncode == 2
    assert "--threads" in refused.stderr
    assert "Traceback" not in refused.stderr
