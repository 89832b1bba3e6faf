"""Tail drop beside ns-2.35: the same ten flows, packet by packet the same kind of network."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.papers.ficcrd.network import PAPER, SECONDS, jain, scenario
from selfclock.papers.ficcrd.verdicts import JAIN_TOLERANCE, close_verdict, measures
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """A run of ns-2.35: goodput of each flow in Mbit/s, drops and timeouts."""

    topology: str
    apart_s: float
    goodputs: tuple[float, ...]
    drops: int
    timeouts: int


ROWS = [
    Row("a", 0.0, (1.681, 0.818, 0.955, 0.959, 0.847, 0.858, 1.040, 1.055, 0.895, 0.796), 297, 62),
    Row("a", 0.1, (1.684, 1.026, 0.710, 0.887, 0.907, 1.097, 0.956, 0.683, 1.108, 0.840), 266, 61),
    Row("a", 1.0, (1.657, 0.932, 0.800, 0.992, 0.961, 0.892, 0.820, 1.020, 0.940, 0.887), 220, 46),
    Row("b", 0.0, (0.965, 0.993, 0.993, 0.993, 0.993, 0.993, 0.993, 0.994, 0.995, 0.993), 0, 0),
    Row("b", 0.1, (0.963, 0.993, 0.994, 0.996, 0.993, 0.993, 0.993, 0.993, 0.994, 0.993), 0, 0),
    Row("b", 1.0, (0.963, 0.993, 0.994, 0.993, 0.993, 0.993, 0.993, 0.997, 0.993, 0.993), 0, 0),
]

#: Topology A with a random delay of every packet below 10 ms (`overhead_ 0.01`), five seeds.
RANDOM = [0.9719, 0.9772, 0.9927, 0.9903, 0.9850]
SEEDS = range(1, 6)


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the rows, then the runs with a random delay."""
    plain = [
        scenario(f"ficcrd-ns2-{row.topology}-{row.apart_s:g}", topology=row.topology, apart_s=row.apart_s,
                 seconds=SECONDS * scale)
        for row in ROWS
    ]  # fmt: skip
    delayed = [
        scenario(f"ficcrd-ns2-delay-{seed}", topology="a", send_delay_ms=10.0, seed=seed, seconds=SECONDS * scale)
        for seed in SEEDS
    ]
    return [*plain, *delayed]


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Grid]]:
    """Compare Jain's indices, and row by row."""
    found = [measures(result, scale) for result in results]
    plain, delayed = found[: len(ROWS)], [one.jain for one in found[len(ROWS) :]]
    claims = []
    for topology, says in (
        ("a", "a phase effect favours flow 0"),
        ("b", "the queue stands elsewhere, and all is equal"),
    ):
        rows = [(row, one) for row, one in zip(ROWS, plain, strict=True) if row.topology == topology]
        theirs = statistics.mean(jain(row.goodputs) for row, _ in rows)
        ours = statistics.mean(one.jain for _, one in rows)
        favoured = ", ".join(f"{one.goodputs[0]:.3f} ({row.goodputs[0]:.3f})" for row, one in rows)
        claims.append(
            Claim(PAPER, f"ns2-tail-drop-{topology}", "ns-2.35, not in the paper",
                  f"Tail drop, topology {topology.upper()}: {says}; Jain's index, mean of three spacings of starts",
                  round(theirs, 4), round(ours, 4), close_verdict(ours, theirs, JAIN_TOLERANCE),
                  f"Within {JAIN_TOLERANCE}: reproduced; within three times that: direction. Flow 0 in Mbit/s, "
                  f"ns-2's in "
                  f"brackets: {favoured}.")
        )  # fmt: skip
    theirs, ours = statistics.mean(RANDOM), statistics.mean(delayed)
    without = plain[0].jain
    claims.append(
        Claim(PAPER, "ns2-tail-drop-random", "ns-2.35, not in the paper",
              "Tail drop, topology A, each packet of a source delayed at random below 10 ms: the phase effect is "
              "mostly "
              "gone; Jain's index, mean of five seeds",
              round(theirs, 4), round(ours, 4), close_verdict(ours, theirs, JAIN_TOLERANCE),
              f"Seed by seed {', '.join(f'{index:.4f}' for index in delayed)}; without the delay {without:.4f}.")
    )  # fmt: skip
    grid = Grid(
        "Tail drop beside ns-2.35",
        "50 to 200 s; drops and timeouts of the whole run. Which packet meets a full queue is decided by ties of "
        "times, so "
        "only sums compare.",
        ["topology", "starts apart", "flow 0, ns-2", "flow 0", "Jain, ns-2", "Jain", "drops, ns-2", "drops",
        "timeouts, ns-2",
         "timeouts"],
        [
            [row.topology.upper(), f"{row.apart_s:g} s", f"{row.goodputs[0]:.3f}", f"{one.goodputs[0]:.3f}",
             f"{jain(row.goodputs):.4f}", f"{one.jain:.4f}", str(row.drops),
             str(sum(link["drops"] for link in result.summary["links"])), str(row.timeouts), str(one.timeouts)]
            for row, one, result in zip(ROWS, plain, results, strict=False)
        ],
    )  # fmt: skip
    return claims, [grid]
