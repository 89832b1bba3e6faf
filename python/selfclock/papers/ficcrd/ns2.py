"""Tail drop compared with ns-2.35: the same ten flows on the same network."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.ficcrd.mechanisms import TAIL_DROP
from selfclock.papers.ficcrd.network import PAPER, SECONDS, scenario
from selfclock.papers.ficcrd.readings import read
from selfclock.papers.ficcrd.verdicts import JAIN_TOLERANCE, close_verdict
from selfclock.papers.intervals import interval
from selfclock.series import jain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.readings import Reading
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """A run of ns-2.35: goodput of each flow in Mbit/s, drops and timeouts."""

    topology: str
    apart_s: float
    goodputs: tuple[float, ...]
    drops: int
    timeouts: int

    @property
    def jain(self) -> float:
        """Jain's index of the goodputs."""
        return jain(self.goodputs) or 0.0


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


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs."""
    return [Part(scenarios(scale), partial(read, scale=scale))]


def findings(
    readings: Sequence[list[Reading]], scale: float = 1.0
) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Compare Jain's indices, and row by row."""
    [found] = readings
    names = tuple(one.name for one in scenarios(scale))
    plain, delayed = found[: len(ROWS)], [one.jain for one in found[len(ROWS) :]]
    rule = f"our criterion: within {JAIN_TOLERANCE}: reproduced; within three times that: direction"
    claims = []
    for topology, says in (
        ("a", "a phase effect favours flow 0"),
        ("b", "the queue stands elsewhere, and all is equal"),
    ):
        rows = [(row, one) for row, one in zip(ROWS, plain, strict=True) if row.topology == topology]
        theirs = statistics.mean(row.jain for row, _ in rows)
        ours = statistics.mean(one.jain for _, one in rows)
        favoured = ", ".join(f"{one.goodputs[0]:.3f} ({row.goodputs[0]:.3f})" for row, one in rows)
        claims.append(
            Claim(
                PAPER,
                f"ns2-tail-drop-{topology}",
                "ns-2.35, not in the paper",
                says=f"Tail drop, topology {topology.upper()}: {says}; Jain's index, mean of three spacings of starts",
                printed=round(theirs, 4),
                measured=round(ours, 4),
                verdict=close_verdict(ours, theirs, JAIN_TOLERANCE),
                note=f"Flow 0 in Mbit/s, ns-2's in brackets: {favoured}.",
                of="oracle",
                criterion=rule,
                variant=TAIL_DROP.variant,
                figure="ns2",
                scenarios=tuple(name for name, row in zip(names, ROWS, strict=False) if row.topology == topology),
            )
        )
    theirs_random, ours_random = interval(RANDOM), interval(delayed)
    claims.append(
        Claim(PAPER, "ns2-tail-drop-random", "ns-2.35, not in the paper",
              says="Tail drop, topology A, each packet of a source delayed at random below 10 ms: the phase effect is "
              "mostly gone; Jain's index, mean of five seeds",
              printed=round(theirs_random.mean, 4), measured=round(ours_random.mean, 4),
              verdict=close_verdict(ours_random.mean, theirs_random.mean, JAIN_TOLERANCE),
              note=f"95 % t-intervals: {ours_random.text(4)}, ns-2 {theirs_random.text(4)}. Seed by seed "
              f"{', '.join(f'{index:.4f}' for index in delayed)}; without the delay {plain[0].jain:.4f}.",
              of="oracle", criterion=rule, variant=f"{TAIL_DROP.variant}, random send delays below 10 ms",
              figure="ns2", scenarios=names[len(ROWS) :])
    )  # fmt: skip
    grid = Table(
        "Tail drop beside ns-2.35",
        "50 to 200 s; drops and timeouts of the whole run. Which packet meets a full queue is decided by ties of "
        "times, so only sums compare.",
        ["topology", "starts apart", "flow 0, ns-2", "flow 0", "Jain, ns-2", "Jain", "drops, ns-2", "drops",
         "timeouts, ns-2", "timeouts"],
        [
            [row.topology.upper(), f"{row.apart_s:g} s", f"{row.goodputs[0]:.3f}", f"{one.goodputs[0]:.3f}",
             f"{row.jain:.4f}", f"{one.jain:.4f}", str(row.drops), str(one.drops), str(row.timeouts),
             str(one.timeouts)]
            for row, one in zip(ROWS, plain, strict=True)
        ],
    )  # fmt: skip
    return claims, [_figure([one.jain for one in found], names)], [grid]


def _figure(ours: Sequence[float], names: tuple[str, ...]) -> Illustration:
    figure = Figure(title="Tail drop: topology and spacing of starts, or random send delays", y="Jain's index")
    panel = figure.panel
    theirs = [*(row.jain for row in ROWS), *RANDOM]
    panel.points(range(len(ours)), ours, colour=TAIL_DROP.colour, label="selfclock")
    panel.points(range(len(theirs)), theirs, marker="x", label="printed by ns-2.35")
    panel.x.name(
        *(f"{row.topology.upper()}, {row.apart_s:g} s" for row in ROWS), *(f"A, seed {seed}" for seed in SEEDS)
    )
    panel.y.low, panel.y.high = 0.85, 1.03
    caption = "The seeds of the two programs have nothing in common but their number."
    return Illustration("Tail drop beside ns-2.35", caption, figure, id="ns2", scenarios=names)
