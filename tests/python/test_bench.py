"""Comparisons of `selfclock bench`: mechanisms with drop-tail, memory per unit, Python with the engine."""

from __future__ import annotations

import time

import pytest

from selfclock import bench
from selfclock.bench import MECHANISMS, bench_mechanisms
from selfclock.scenario import Scenario


def test_mechanisms_are_measured_beside_drop_tail() -> None:
    plain, queues = bench_mechanisms(lambda _: None, ["drop-tail", "fq-codel"])
    # The same case twice, alternating; a factor of ten between them is impossible.
    assert 0.1 < plain["of_drop_tail"] < 10
    # FQ-CoDel hashes and queues each packet, and needs additional events.
    assert queues["of_drop_tail"] > 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_known(name: str) -> None:
    scenario = Scenario.parse(bench._ROUTED, "mechanism", [*MECHANISMS[name], "duration=50 ms"])
    assert scenario.run().summary["packet_hops"] > 0


def test_memory_of_a_packet_in_flight() -> None:
    """A packet takes 64 bytes in transit and 24 at its sender, in rings with at most an eighth to spare."""
    memory = bench._in_a_process("--memory", "B1")
    if memory is None:
        pytest.skip("the system does not say what is in memory")
    before, packets, then = memory
    assert packets > 20_000
    # Part of it may be in pages that the process already had.
    assert 80 <= (then - before) / packets <= 100


@pytest.mark.alone
def test_python_adds_little_to_a_run() -> None:
    """Python's overhead is the CPU time of the process minus the engine's."""
    text = """
        schema = 1
        name = "long"
        duration = "60 s"
        flow = [{ congestion_control = "cubic" }]
        [network]
        topology = "dumbbell"
        bottleneck = { rate = "1 Gbps", delay = "10 ms" }
        access = { rate = "10 Gbps", delay = "5 ms" }
    """
    began = time.process_time()
    result = Scenario.parse(text).run(progress=lambda _: None)
    _ = result.summary, result.flows, result.links
    whole = time.process_time() - began
    # 5 % of a one-second run would be 50 ms; this one takes some tenths of a second.
    assert whole - result.summary["cpu_s"] < 0.05 * max(1.0, result.summary["cpu_s"])
