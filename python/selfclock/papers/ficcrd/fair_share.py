"""Figure 3 is "normalised by the bottleneck fair share (0.15 Mbits/s)", which ten flows on 10 Mbit/s do not have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.drawing import COLOURS, PRINTED_LINE
from selfclock.papers.ficcrd import ambiguities, statements
from selfclock.papers.ficcrd.drawings import name_mechanisms
from selfclock.papers.ficcrd.mechanisms import (
    ALL,
    PROPORTIONED,
    SEEDS,
    SEND_DELAY_MS,
    TAIL_DROP,
    USUAL,
    names,
    random_runs,
)
from selfclock.papers.ficcrd.network import FLOWS, PAPER, RATE_MBPS, SECONDS
from selfclock.papers.ficcrd.readings import COLUMNS, read
from selfclock.papers.ficcrd.statements import Runs, Tails
from selfclock.papers.ficcrd.verdicts import FAIR, RATE_TOLERANCE, all_verdict, close_verdict
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Reading
    from selfclock.scenario import Scenario

#: The printed fair share, Mbit/s, and the link on which ten flows have it.
PRINTED_SHARE = 0.15
SLOW_MBPS = PRINTED_SHARE * FLOWS

_SUFFIX = f"-{SLOW_MBPS:g}-mbps"
_RANDOM = f"bottleneck of {SLOW_MBPS:g} Mbit/s, random send delays below {SEND_DELAY_MS:g} ms, ten seeds"


def _slow(mechanism: Mechanism, scale: float) -> list[Scenario]:
    return random_runs(mechanism, scale, _SUFFIX, bottleneck_mbps=SLOW_MBPS)


def parts(scale: float = 1.0) -> list[Part]:
    """Return both networks under tail drop and FICCRD."""
    measure = partial(read, scale=scale)
    return [
        Part([mechanism.scenario(seconds=SECONDS * scale, packets=True) for mechanism in (TAIL_DROP, USUAL)],
             measure),
        *(Part(_slow(mechanism, scale), measure) for mechanism in (*ALL, *PROPORTIONED)),
    ]  # fmt: skip


def findings(readings: Sequence[list[Any]], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the number, and the claims on the link that it fits."""
    tail_own, window_own = readings[0]
    seeds: list[list[Reading]] = list(readings[1:])
    tails, windows = seeds[0], seeds[1 + ALL[1:].index(USUAL)]
    share, tail_share = window_own.total / FLOWS, tail_own.total / FLOWS
    runs = names(_slow(USUAL, scale))
    rates = [rate for one in windows for rate in one.goodputs]
    jains = [interval([one.jain for one in of]) for of in seeds]
    claims = [
        Claim(
            PAPER,
            "fair-share",
            "section 3.2, figure 3",
            says="The bottleneck's fair share is 0.15 Mbit/s",
            printed=PRINTED_SHARE,
            measured=round(share, 3),
            verdict=close_verdict(share, PRINTED_SHARE, RATE_TOLERANCE * PRINTED_SHARE),
            note=f"Mean goodput of a flow, 50 to 200 s; tail drop {tail_share:.3f}. Section 3.1 has ten flows on "
            f"{RATE_MBPS:g} Mbit/s: {RATE_MBPS / FLOWS:g} Mbit/s each. The two numbers exclude each other; figure 3 "
            f"is drawn over {RATE_MBPS / FLOWS:g} Mbit/s.",
            unit="Mbit/s",
            of="paper",
            criterion=f"our criterion: within {RATE_TOLERANCE:.0%}: reproduced; within three times that: direction",
            variant=f"{USUAL.variant}, all start at once",
            readings=(ambiguities.FAST,),
            figure="figure-3",
            scenarios=(USUAL.scenario().name, TAIL_DROP.scenario().name),
        ),
        Claim(
            PAPER,
            "fair-share",
            "section 3.2, figure 3",
            says="The bottleneck's fair share is 0.15 Mbit/s",
            printed=PRINTED_SHARE,
            measured=f"{min(rates):.3f} to {max(rates):.3f}",
            verdict=all_verdict(
                jains[1].low > FAIR, all(abs(rate / PRINTED_SHARE - 1) <= RATE_TOLERANCE for rate in rates)
            ),
            note=f"Least and most of a flow, ten seeds; Jain's index {jains[1].text(4)}, tail drop {jains[0].text(4)}, "
            f"timed RD packets {jains[2].text(4)}, which take 0.05 of 1.5 Mbit/s.",
            unit="Mbit/s",
            of="paper",
            criterion=f"our criterion: every flow within {RATE_TOLERANCE:.0%} in every seed, and the "
            f"95 % t-interval of Jain's index above {FAIR}: reproduced; one of the two: direction",
            variant=f"{USUAL.variant}, {_RANDOM}",
            readings=(ambiguities.SLOW,),
            figure="fair-share",
            scenarios=runs,
        ),
    ]
    for mechanism, own in zip((*ALL[1:], *PROPORTIONED), seeds[1:], strict=True):
        judged = Runs(mechanism, (), names(_slow(mechanism, scale)))
        claims += statements.claims(judged, None, own, Tails(None, tails), ambiguities.SLOW)
    grid = Table(
        f"The printed fair share as the true one: a bottleneck of {SLOW_MBPS:g} Mbit/s",
        "Seeds 1 to 3 of ten, 50 to 200 s; drops of the whole run.",
        ["run", *COLUMNS],
        [
            [f"{mechanism.label}, seed {seed}", *one.cells()]
            for mechanism, of in zip(ALL, seeds[: len(ALL)], strict=True)
            for seed, one in zip(SEEDS, of[:3], strict=False)
        ],
    )
    return claims, [_figure(seeds[: len(ALL)], scale)], [grid]


def _figure(seeds: Sequence[list[Reading]], scale: float) -> Illustration:
    figure = Figure(title=f"Goodput of each flow on {SLOW_MBPS:g} Mbit/s, 50 to 200 s", y="goodput (Mbit/s)")
    panel = figure.panel
    for place, readings in enumerate(seeds):
        for seed, one in enumerate(readings):
            at = [place + (seed - (len(readings) - 1) / 2) * 0.07] * len(one.goodputs)
            panel.points(at, one.goodputs, marker=".", colour=COLOURS[0], label="a flow in a seed")
    panel.rule("y", PRINTED_SHARE, label="printed: 0.15 Mbit/s", **PRINTED_LINE)
    name_mechanisms(panel)
    panel.y.low = 0.0
    caption = "Ten flows and ten seeds, a column of points for each seed."
    runs = tuple(name for mechanism in ALL for name in names(_slow(mechanism, scale)))
    return Illustration("The printed fair share", caption, figure, id="fair-share", scenarios=runs)
