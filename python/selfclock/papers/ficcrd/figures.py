"""Figures 3 to 6: goodput, sequence numbers, queue and drops, for tail drop and both kinds of feedback."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Claim
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.ficcrd import ambiguities, drawings, statements
from selfclock.papers.ficcrd.mechanisms import (
    ALL,
    BUCKET_TIMED,
    BY_NUMBER,
    PROPORTIONED,
    READ_OTHERWISE,
    TAIL_DROP,
    USUAL,
    Mechanism,
    names,
    random_runs,
)
from selfclock.papers.ficcrd.network import ACK_BUCKET, FLOWS, PAPER, RATE_MBPS, SECONDS, WINDOW, scenario
from selfclock.papers.ficcrd.readings import COLUMNS, draw, read
from selfclock.papers.ficcrd.statements import RANDOM, Runs, Tails
from selfclock.papers.ficcrd.verdicts import FAIR, REPEATED, overflow_verdict, unfair_verdict
from selfclock.papers.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.readings import Drawn, Reading
    from selfclock.scenario import Scenario

#: Spacings of the starts in the runs with ns-2, s.
APART_S = (0.1, 1.0)

#: Other interpretations, each a change of one thing: name, label, mechanism, settings.
VARIANTS: list[tuple[str, str, dict[str, object] | None, dict[str, Any]]] = [
    ("window-1-in-1", "window, an RD packet for each data packet", {**BY_NUMBER, "packets_per_discovery": 1}, {}),
    *((f"window-timed-apart-{apart:g}", f"window, timed, starts {apart:g} s apart", WINDOW, {"apart_s": apart})
      for apart in APART_S),
    ("window-timed-literal", "window, timed, Table 1 literally", {**WINDOW, "rule": "literal"}, {}),
    ("window-timed-icc", "window, timed, Table 1 as ICC", {**WINDOW, "rule": "icc"}, {}),
    ("ack-bucket-timed-100ms", "ACK bucket, timed, held for 100 ms at most", ACK_BUCKET, {}),
    ("ack-bucket-timed-500ms", "ACK bucket, timed, held for 500 ms at most",
     {**ACK_BUCKET, "longest_hold": "500 ms"}, {}),
    ("tail-drop-topology-a", "tail drop, topology A of the ns-2 runs", None, {"topology": "a"}),
    ("window-topology-a", "window, by number, topology A", BY_NUMBER, {"topology": "a"}),
    ("ack-bucket-topology-a", "ACK bucket, timed, topology A", BUCKET_TIMED, {"topology": "a"}),
    ("tail-drop-topology-b", "tail drop, topology B, queue of 200 at 10-11", None,
     {"topology": "b", "edge_queue": "200 packets"}),
    ("window-topology-b", "window, by number, topology B, queue of 200 at 10-11", BY_NUMBER,
     {"topology": "b", "edge_queue": "200 packets"}),
    ("window-classes", "window, timed, two classes of flows (DSCP)", {**WINDOW, "unit": "class"},
     {"flow_keys": {n: {"dscp": 46} for n in range(5)}}),
]  # fmt: skip


def _shown(scale: float) -> list[Scenario]:
    return [mechanism.scenario(seconds=SECONDS * scale, packets=True) for mechanism in ALL]


def _random(mechanism: Mechanism, scale: float) -> list[Scenario]:
    # Losses by flow are needed for tail drop only.
    return random_runs(mechanism, scale, packets=mechanism is TAIL_DROP)


def _apart(scale: float) -> list[Scenario]:
    return [USUAL.scenario(f"-apart-{apart:g}", apart_s=apart, seconds=SECONDS * scale) for apart in APART_S]


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs of the figures, those of the seeds by mechanism, spaced starts, other interpretations."""
    measure = partial(read, scale=scale)
    others = [scenario(f"ficcrd-{name}", router, seconds=SECONDS * scale, **keys) for name, _, router, keys in VARIANTS]
    return [
        Part(_shown(scale), partial(draw, scale=scale)),
        *(Part(_random(mechanism, scale), measure) for mechanism in (*ALL, *PROPORTIONED)),
        Part(_apart(scale), measure),
        Part([mechanism.scenario(seconds=SECONDS * scale) for mechanism in (*PROPORTIONED, *READ_OTHERWISE)], measure),
        Part(others, measure),
    ]


def findings(readings: Sequence[list[Any]], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge figures 3 to 6."""
    shown: list[Drawn] = readings[0]
    every = [*ALL, *PROPORTIONED]
    random: list[list[Reading]] = list(readings[1 : 1 + len(every)])
    apart, proportioned, others = readings[1 + len(every) :]
    seeds, tail = random[: len(ALL)], Tails(shown[0], random[0])
    claims = _tail_drop(shown[0], random[0], scale)
    alone = proportioned[: len(PROPORTIONED)]
    for mechanism, own, chance in zip(every[1:], [*shown[1:], *alone], random[1:], strict=True):
        runs = Runs(mechanism, (mechanism.scenario().name,), names(_random(mechanism, scale)))
        claims += statements.claims(runs, own, chance, tail, ambiguities.FAST)
    for mechanism, own in zip(READ_OTHERWISE, proportioned[len(PROPORTIONED) :], strict=True):
        runs = Runs(mechanism, (mechanism.scenario().name,), ())
        claims += statements.of_runs(runs, [own], [shown[0]], (ambiguities.AT_ONCE, ambiguities.FAST))
    spaced = Runs(USUAL, (), names(_apart(scale)))
    claims += statements.of_runs(spaced, apart, [shown[0]], (ambiguities.APART, ambiguities.FAST))
    figures = [
        drawings.figure_3(shown),
        *drawings.figure_4(shown, scale),
        drawings.figure_5(shown, scale),
        drawings.random_queue(seeds),
        drawings.figure_6(shown),
    ]
    chance_names = tuple(name for mechanism in ALL for name in names(_random(mechanism, scale)))
    figures = [replace(one, scenarios=chance_names if one.id == "figure-5-random" else names(_shown(scale)))
               for one in figures]  # fmt: skip
    return claims, figures, [_table(shown, proportioned, apart, others)]


def _tail_drop(shown: Drawn, seeds: list[Reading], scale: float) -> list[Claim]:
    own, random = TAIL_DROP.scenario().name, names(_random(TAIL_DROP, scale))
    hit = [sum(drops > 0 for drops in one.by_flow) for one in (shown, *seeds)]
    lossy = [one.lossy_seconds for one in (shown, *seeds)]
    chance = interval([one.jain for one in seeds])
    rates = [rate / (RATE_MBPS / FLOWS) for rate in shown.goodputs]
    return [
        Claim(
            PAPER,
            "figure-6-tail-drop",
            "section 3.2, figure 6",
            says="Under tail drop each flow has drops",
            printed='"each flow has packets dropping"',
            measured=f"{hit[0]} of {FLOWS} flows",
            verdict=_each(hit[:1]),
            note=f"Drops of each flow's data in {SECONDS:g} s, flow 0 first: {', '.join(map(str, shown.by_flow))}. All "
            f"links have one rate, so the same flow meets the full queue again and again: a phase effect, which "
            f"ns-2 has, too.",
            of="paper",
            criterion="our criterion: drops of each flow in 200 s; of all ten: reproduced; of any: direction",
            variant=f"{TAIL_DROP.variant}, all start at once",
            readings=(ambiguities.AT_ONCE,),
            figure="figure-6",
            scenarios=(own,),
        ),
        Claim(
            PAPER,
            "figure-6-tail-drop",
            "section 3.2, figure 6",
            says="Under tail drop each flow has drops",
            printed='"each flow has packets dropping"',
            measured=f"{min(hit[1:])} of {FLOWS} flows in the worst seed",
            verdict=_each(hit[1:]),
            note=f"Random delays take the phase effect of the row above away, as ns-2's manual says. "
            f"Drops of a flow: {min(min(one.by_flow) for one in seeds)} to {max(max(one.by_flow) for one in seeds)}.",
            of="paper",
            criterion="our criterion: of all ten flows in every seed: reproduced; of any: direction",
            variant=f"{TAIL_DROP.variant}, {RANDOM}",
            readings=(ambiguities.RANDOM,),
            figure="figure-6",
            scenarios=random,
        ),
        *(
            Claim(
                PAPER,
                "figure-5-tail-drop",
                "section 3.2, figure 5",
                says="Under tail drop the queue grows again and again until the buffer overflows",
                printed='"repeatedly exceed the buffer size"',
                measured=f"drops in {min(seconds)} of 150 s",
                verdict=overflow_verdict(min(seconds)),
                note=f"50 to 200 s, the run with the fewest. Longest queue {shown.queue_max} and one in transmission, "
                f"of 200; mean {shown.queue_mean:.0f}.",
                criterion=f"our criterion: drops in at least {REPEATED} different seconds of 50 to 200 s, in every "
                "run; direction: in two",
                variant=f"{TAIL_DROP.variant}, {statements.STARTS[start]}",
                readings=(start,),
                figure="figure-5",
                scenarios=runs,
            )
            for start, seconds, runs in (
                (ambiguities.AT_ONCE, lossy[:1], (own,)),
                (ambiguities.RANDOM, lossy[1:], random),
            )
        ),
        *(
            Claim(
                PAPER,
                "figure-3-tail-drop",
                "section 3.2, figure 3",
                says="Under tail drop the division is unfair",
                printed='"an unfair division of bandwidth when Droptail is used"',
                measured=f"Jain's index {text}",
                verdict=unfair_verdict(index),
                note=note,
                criterion=f"our criterion: Jain's index below {FAIR}; of ten seeds the 95 % t-interval of its mean; "
                "direction: the mean alone",
                variant=f"{TAIL_DROP.variant}, {statements.STARTS[start]}",
                readings=(start,),
                figure="figure-3",
                scenarios=runs,
            )
            for start, index, text, note, runs in (
                (
                    ambiguities.AT_ONCE,
                    Interval(shown.jain, 0.0),
                    f"{shown.jain:.4f}",
                    f"50 to 200 s. Flow 0 has {rates[0]:.2f} of its share C/N, the others {min(rates[1:]):.2f} to "
                    f"{max(rates[1:]):.2f}.",
                    (own,),
                ),
                (
                    ambiguities.RANDOM,
                    chance,
                    chance.text(4),
                    f"50 to 200 s; {min(one.jain for one in seeds):.4f} to {max(one.jain for one in seeds):.4f}. Part "
                    "of the unfairness without random delays is a phase effect, which favours the flow with the "
                    "longest round trip.",
                    random,
                ),
            )
        ),
    ]


def _each(hit: Sequence[int]) -> Any:  # noqa: ANN401 a verdict
    return "reproduced" if min(hit) == FLOWS else "direction" if max(hit) > 0 else "not reproduced"


def _table(
    shown: Sequence[Drawn], proportioned: Sequence[Reading], apart: Sequence[Reading], others: Sequence[Reading]
) -> Table:
    return Table(
        "FICCRD in other readings",
        "10 Mbit/s, 200 packets, ten flows, 50 to 200 s; drops of the whole run. The first rows are the runs of the "
        "figures.",
        ["run", *COLUMNS],
        [
            *([mechanism.label, *one.cells()] for mechanism, one in zip(ALL, shown, strict=True)),
            *([mechanism.label, *one.cells()]
              for mechanism, one in zip((*PROPORTIONED, *READ_OTHERWISE), proportioned, strict=True)),
            *([f"{USUAL.label}, starts {gap:g} s apart", *one.cells()]
              for gap, one in zip(APART_S, apart, strict=True)),
            *([label, *one.cells()] for (_, label, *_), one in zip(VARIANTS, others, strict=True)),
        ],
    )  # fmt: skip
