"""Figure 3 is "normalised by the bottleneck fair share (0.15 Mbits/s)", which ten flows on 10 Mbit/s do not have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import COLOURS, PRINTED_LINE
from selfclock.papers.ficcrd import ambiguities
from selfclock.papers.ficcrd.declared import CLAIMS, PRINTED_SHARE
from selfclock.papers.ficcrd.drawings import name_mechanisms
from selfclock.papers.ficcrd.mechanisms import (
    ALL,
    CONTROLLED,
    PROPORTIONED,
    SEEDS,
    SEND_DELAY_MS,
    TAIL_DROP,
    USUAL,
    random_names,
    random_runs,
)
from selfclock.papers.ficcrd.network import FLOWS
from selfclock.papers.ficcrd.readings import COLUMNS, read
from selfclock.papers.ficcrd.statements import STARTS, Group, of_pairs, of_runs
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Reading
    from selfclock.papers.intervals import Interval

#: The link on which ten flows have the printed share, Mbit/s.
SLOW_MBPS = PRINTED_SHARE * FLOWS

_SUFFIX = f"-{SLOW_MBPS:g}-mbps"
_RANDOM = f"bottleneck of {SLOW_MBPS:g} Mbit/s, random send delays below {SEND_DELAY_MS:g} ms, ten seeds"


def _slow_names(mechanism: Mechanism) -> tuple[str, ...]:
    return random_names(mechanism, _SUFFIX)


def parts(scale: float = 1.0) -> list[Part]:
    """Return tail drop and FICCRD on the link that the printed share fits."""
    slow = [
        run
        for mechanism in (*ALL, *PROPORTIONED)
        for run in random_runs(mechanism, scale, _SUFFIX, bottleneck_mbps=SLOW_MBPS)
    ]
    return [Part(slow, partial(read, scale=scale))]


def findings(runs: Runs) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the number, and the claims on the link that it fits."""
    by_mechanism: dict[str, list[Reading]] = {
        mechanism.name: runs.each(_slow_names(mechanism)) for mechanism in (*ALL, *PROPORTIONED)
    }
    tails, windows = by_mechanism[TAIL_DROP.name], by_mechanism[USUAL.name]
    timed = next(one for one in CONTROLLED if ambiguities.TIMED in one.readings and ambiguities.WINDOW in one.readings)
    rates = [rate for one in windows for rate in one.goodputs]
    own, tail_drop = USUAL.run_name(), TAIL_DROP.run_name()

    def index(mechanism: Mechanism) -> Interval:
        return interval([one.jain for one in by_mechanism[mechanism.name]])

    claims = [
        CLAIMS(
            "fair-share",
            Ran(f"{USUAL.variant}, {STARTS[ambiguities.AT_ONCE]}", (own, tail_drop), (ambiguities.FAST,)),
            share=runs[own].total / FLOWS,
            tail_drop=runs[tail_drop].total / FLOWS,
        ),
        CLAIMS(
            "fair-share",
            Ran(f"{USUAL.variant}, {_RANDOM}", _slow_names(USUAL), (ambiguities.SLOW,)),
            rates=rates,
            least=min(rates),
            most=max(rates),
            index=index(USUAL),
            tail_drop=index(TAIL_DROP),
            timed=index(timed),
        ),
    ]
    for mechanism in (*ALL[1:], *PROPORTIONED):
        found = by_mechanism[mechanism.name]
        group = Group(mechanism, _slow_names(mechanism), found, tails, ambiguities.RANDOM, ambiguities.SLOW)
        claims += [*of_runs(group), *of_pairs(group)]
    grid = Table(
        f"The printed fair share as the true one: a bottleneck of {SLOW_MBPS:g} Mbit/s",
        "Seeds 1 to 3 of ten, 50 to 200 s; drops of the whole run.",
        ["run", *COLUMNS],
        [
            [f"{mechanism.label}, seed {seed}", *one.cells()]
            for mechanism in ALL
            for seed, one in zip(SEEDS, by_mechanism[mechanism.name][:3], strict=False)
        ],
    )
    return claims, [_figure(by_mechanism)], [grid]


def _figure(by_mechanism: Mapping[str, Sequence[Reading]]) -> Illustration:
    figure = Figure(title=f"Goodput of each flow on {SLOW_MBPS:g} Mbit/s, 50 to 200 s", y="goodput (Mbit/s)")
    panel = figure.panel
    for place, mechanism in enumerate(ALL):
        seeds = by_mechanism[mechanism.name]
        for seed, one in enumerate(seeds):
            at = [place + (seed - (len(seeds) - 1) / 2) * 0.07] * len(one.goodputs)
            panel.points(at, one.goodputs, marker=".", colour=COLOURS[0], label="a flow in a seed")
    panel.rule("y", PRINTED_SHARE, label="printed: 0.15 Mbit/s", **PRINTED_LINE)
    name_mechanisms(panel)
    panel.y.low = 0.0
    caption = "Ten flows and ten seeds, a column of points for each seed."
    names = tuple(name for mechanism in ALL for name in _slow_names(mechanism))
    return Illustration("The printed fair share", caption, figure, id="fair-share", scenarios=names)
