"""Tail drop compared with ns-2.35: the same ten flows on the same network."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.ficcrd.declared import CLAIMS
from selfclock.papers.ficcrd.mechanisms import TAIL_DROP
from selfclock.papers.ficcrd.network import SECONDS, scenario
from selfclock.papers.ficcrd.readings import read
from selfclock.papers.intervals import interval
from selfclock.series import jain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.papers.ficcrd.readings import Reading


@dataclass(frozen=True)
class Row:
    """A run of ns-2.35: goodput of each flow in Mbit/s, drops and timeouts."""

    topology: str
    apart_s: float
    goodputs: tuple[float, ...]
    drops: int
    timeouts: int

    @property
    def name(self) -> str:
        """Name of the run here."""
        return f"ficcrd-ns2-{self.topology}-{self.apart_s:g}"

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


#: Name of the run with a random delay, by seed.
_DELAYED = {seed: f"ficcrd-ns2-delay-{seed}" for seed in SEEDS}


def parts(scale: float = 1.0) -> list[Part]:
    """Return a run for each row, and those with a random delay."""
    seconds = SECONDS * scale
    plain = [scenario(row.name, topology=row.topology, apart_s=row.apart_s, seconds=seconds) for row in ROWS]
    delayed = [
        scenario(name, topology="a", send_delay_ms=10.0, seed=seed, seconds=seconds) for seed, name in _DELAYED.items()
    ]
    return [Part([*plain, *delayed], partial(read, scale=scale))]


def findings(runs: Runs) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Compare Jain's indices, and row by row."""
    found: dict[Row, Reading] = {row: runs[row.name] for row in ROWS}
    delayed = [one.jain for one in runs.each(_DELAYED.values())]
    claims = []
    for topology in ("a", "b"):
        rows = [row for row in ROWS if row.topology == topology]
        theirs = statistics.mean(row.jain for row in rows)
        claims.append(
            CLAIMS(
                f"ns2-tail-drop-{topology}",
                Ran(TAIL_DROP.variant, tuple(row.name for row in rows)),
                printed=round(theirs, 4),
                theirs=theirs,
                index=statistics.mean(found[row].jain for row in rows),
                favoured=", ".join(f"{found[row].goodputs[0]:.3f} ({row.goodputs[0]:.3f})" for row in rows),
            )
        )
    theirs_delayed = interval(RANDOM)
    claims.append(
        CLAIMS(
            "ns2-tail-drop-random",
            Ran(f"{TAIL_DROP.variant}, random send delays below 10 ms", tuple(_DELAYED.values())),
            printed=round(theirs_delayed.mean, 4),
            theirs=theirs_delayed,
            index=interval(delayed),
            seeds=delayed,
            undelayed=found[ROWS[0]].jain,
        )
    )
    return claims, [_figure([*(one.jain for one in found.values()), *delayed])], [_table(found)]


def _table(found: Mapping[Row, Reading]) -> Table:
    return Table(
        "Tail drop beside ns-2.35",
        "50 to 200 s; drops and timeouts of the whole run. Which packet meets a full queue is decided by ties of "
        "times, so only sums compare.",
        [
            "topology",
            "starts apart",
            "flow 0, ns-2",
            "flow 0",
            "Jain, ns-2",
            "Jain",
            "drops, ns-2",
            "drops",
            "timeouts, ns-2",
            "timeouts",
        ],
        [
            [
                row.topology.upper(),
                f"{row.apart_s:g} s",
                f"{row.goodputs[0]:.3f}",
                f"{one.goodputs[0]:.3f}",
                f"{row.jain:.4f}",
                f"{one.jain:.4f}",
                str(row.drops),
                str(one.drops),
                str(row.timeouts),
                str(one.timeouts),
            ]
            for row, one in found.items()
        ],
    )


def _figure(ours: Sequence[float]) -> Illustration:
    names = (*(row.name for row in ROWS), *_DELAYED.values())
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
