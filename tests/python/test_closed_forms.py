"""Queues against the Pollaczek-Khinchine formula: mixes of packet sizes, from a single size to nearly exponential."""

from __future__ import annotations

import math

import pytest

import selfclock as sc

RATE = 100e6
PACKETS = 2_000_000


def tolerance(load: float) -> float:
    """Return four standard errors, set before the first run; at least 1.5 %.

    The relative standard error of the mean wait of M/M/1 after `PACKETS` packets is about 2 / ((1 -
    load) sqrt(PACKETS)): 0.7 % at a load of 0.8.
    """
    return max(0.015, 8 / ((1 - load) * math.sqrt(PACKETS)))


MIXES: dict[str, list[tuple[int, float]]] = {
    "M/D/1": [(1000, 1.0)],
    "simple IMIX": [(40, 7.0), (576, 4.0), (1500, 1.0)],
    # A geometric distribution with steps of 50 B and a mean of some 500 B: service times are nearly
    # exponential.
    "M/M/1": [(size, math.exp(-size / 500)) for size in range(50, 6001, 50)],
}


@pytest.mark.parametrize("load", [0.1, 0.3, 0.6, 0.8, 0.9])
@pytest.mark.parametrize("mix", MIXES)
def test_mean_wait(mix: str, load: float) -> None:
    sizes = MIXES[mix]
    total = sum(weight for _, weight in sizes)
    service = [(size * 8 / RATE, weight / total) for size, weight in sizes]
    first, second = (sum(time**power * part for time, part in service) for power in (1, 2))
    # Mean rate on the wire; the intervals between packets are exponential.
    duration = PACKETS * first / load
    # Weights must be at least 0.001.
    weights = [round(weight * 1e6, 3) if mix == "M/M/1" else round(weight, 6) for _, weight in sizes]
    source = sc.Background(
        sc.kbps(round(load * RATE / 1e3)),
        arrivals="poisson",
        packet=[(sc.nbytes(size), weight) for (size, _), weight in zip(sizes, weights, strict=True)],
        between=("a", "b"),
    )
    network = sc.Graph([sc.Link(sc.bps(RATE), "0 s", queue="unlimited", between=("a", "b"))])
    scenario = network.scenario([source], duration=sc.s(duration).rounded("us"), record=sc.Record("off"))
    (link, _) = scenario.run().summary["links"]
    wait = load / first * second / (2 * (1 - load))
    deviation = link["queue_mean_s"] / wait - 1
    print(f"{mix}, load {load}: {deviation:+.4f}")
    assert abs(deviation) < tolerance(load)
    assert abs(link["utilization"] / load - 1) < 0.0075
    # Little's law: the number waiting is the packet rate times the mean wait.
    assert link["queue_mean_packets"] == pytest.approx(link["queue_mean_s"] * link["packets"] / duration, rel=1e-3)


@pytest.mark.parametrize("queue", [None, "codel", "pie", "fq-codel"])
def test_the_mean_wait_of_a_growing_queue(queue: str | None) -> None:
    # Twice the rate of the link for T: what arrives at t leaves at 2 t, so that it has waited
    # min(t, T - t) at the end, T/4 on average over all that was let in. A discipline that never
    # acts is the same queue: its mean was over the departures, twice as long.
    seconds = 4.0
    unlimited: dict[str, object] = {"queue": "unlimited"}
    if queue is not None:
        unlimited = {"queue": sc.Queue(queue, limit="unlimited", target="1000 s")}
    network = sc.Graph([sc.Link("10 Mbps", "0 s", between=("a", "b"), **unlimited)])
    source = sc.Background("20 Mbps", packet="1000 B", between=("a", "b"))
    scenario = network.scenario([source], duration=sc.s(seconds), record=sc.Record("off"))
    (link, _) = scenario.run().summary["links"]
    # A packet more or less of 10,000.
    assert link["queue_mean_s"] == pytest.approx(seconds / 4, rel=1e-3)
    assert link["queue_mean_packets"] == pytest.approx(link["queue_mean_s"] * 20e6 / 8000, rel=1e-3)
