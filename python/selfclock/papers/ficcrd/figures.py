"""Figures 3 to 6: goodput, sequence numbers, queue and drops, for tail drop and both kinds of feedback."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.claims import Claim
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.ficcrd import drawings
from selfclock.papers.ficcrd.mechanisms import (
    ALL,
    BUCKET_TIMED,
    BY_NUMBER,
    CONTROLLED,
    PRINTED,
    SEEDS,
    SEND_DELAY_MS,
    TAIL_DROP,
    Mechanism,
    names,
    random_runs,
)
from selfclock.papers.ficcrd.network import ACK_BUCKET, FLOWS, PAPER, RATE_MBPS, SECONDS, WINDOW, scenario
from selfclock.papers.ficcrd.readings import COLUMNS, STARTED_S, draw, paired, read
from selfclock.papers.ficcrd.verdicts import (
    FAIR,
    NEAR_RULE,
    REGULAR,
    REPEATED,
    SIGNIFICANT,
    fair_verdict,
    gain_verdict,
    near_verdict,
    no_drop_verdict,
    overflow_verdict,
    regular_verdict,
    unfair_verdict,
)
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.readings import Drawn, Reading
    from selfclock.scenario import Scenario

#: Spacings of the starts in the runs with ns-2, s.
APART_S = (0.1, 1.0)

#: Other interpretations, each a change of one thing: name, label, mechanism, settings.
VARIANTS: list[tuple[str, str, dict[str, object] | None, dict[str, Any]]] = [
    *((f"window-1-in-{n}", f"window, by number, an RD packet for {n} data packets",
       {**BY_NUMBER, "packets_per_discovery": n}, {}) for n in (1, 2, 4, 8, 16)),
    ("window-literal", "window, by number, Table 1 literally", {**BY_NUMBER, "rule": "literal"}, {}),
    ("window-icc", "window, by number, Table 1 as ICC", {**BY_NUMBER, "rule": "icc"}, {}),
    ("window-base-rtt", "window of the base round-trip time, by number", {**BY_NUMBER, "rtt": "base"}, {}),
    ("window-k-1s", "window, by number, K = 1 s", {**BY_NUMBER, "rate_constant": "1 s"}, {}),
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

_RANDOM = f"random send delays below {SEND_DELAY_MS:g} ms, seeds {SEEDS[0]} to {SEEDS[-1]}"


def _shown(scale: float) -> list[Scenario]:
    return [mechanism.scenario(seconds=SECONDS * scale, packets=True) for mechanism in ALL]


def _random(mechanism: Mechanism, scale: float) -> list[Scenario]:
    # Losses by flow are needed for tail drop only.
    return random_runs(mechanism, scale, packets=mechanism is TAIL_DROP)


def _apart(scale: float) -> list[Scenario]:
    return [PRINTED.scenario(f"-apart-{apart:g}", apart_s=apart, seconds=SECONDS * scale) for apart in APART_S]


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs of the figures, those of the seeds by mechanism, spaced starts, other interpretations."""
    measure = partial(read, scale=scale)
    others = [scenario(f"ficcrd-{name}", router, seconds=SECONDS * scale, **keys) for name, _, router, keys in VARIANTS]
    return [
        Part(_shown(scale), partial(draw, scale=scale)),
        *(Part(_random(mechanism, scale), measure) for mechanism in ALL),
        Part(_apart(scale), measure),
        Part(others, measure),
    ]


def findings(readings: Sequence[list[Any]], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge figures 3 to 6."""
    shown: list[Drawn] = readings[0]
    seeds: list[list[Reading]] = list(readings[1 : 1 + len(ALL)])
    apart, others = readings[1 + len(ALL) :]
    claims = _tail_drop(shown[0], seeds[0], scale)
    for mechanism, own, chance in zip(CONTROLLED, shown[1:], seeds[1:], strict=True):
        claims += _controlled(mechanism, own, chance, shown[0], seeds[0], scale)
    claims += [_spaced(apart, shown[0], scale), *_random_queue(seeds, scale)]
    figures = [
        drawings.figure_3(shown),
        *drawings.figure_4(shown, scale),
        drawings.figure_5(shown, scale),
        drawings.random_queue(seeds),
        drawings.figure_6(shown),
    ]
    random = tuple(name for mechanism in ALL for name in names(_random(mechanism, scale)))
    figures = [replace(one, scenarios=random if one.id == "figure-5-random" else names(_shown(scale)))
               for one in figures]  # fmt: skip
    return claims, figures, [_table(shown, apart, others)]


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
            figure="figure-6",
            scenarios=(own,),
        ),
        Claim(
            PAPER,
            "figure-6-tail-drop-random",
            "section 3.2, figure 6",
            says="Under tail drop each flow has drops, when packets are sent with random delays",
            printed='"each flow has packets dropping"',
            measured=f"{min(hit[1:])} of {FLOWS} flows in the worst seed",
            verdict=_each(hit[1:]),
            note=f"Random delays take the phase effect of the row above away, as ns-2's manual says. "
            f"Drops of a flow: {min(min(one.by_flow) for one in seeds)} to {max(max(one.by_flow) for one in seeds)}.",
            of="paper",
            criterion="our criterion: of all ten flows in every seed: reproduced; of any: direction",
            variant=f"{TAIL_DROP.variant}, {_RANDOM}",
            figure="figure-6",
            scenarios=random,
        ),
        Claim(
            PAPER,
            "figure-5-tail-drop",
            "section 3.2, figure 5",
            says="Under tail drop the queue grows again and again until the buffer overflows",
            printed='"repeatedly exceed the buffer size"',
            measured=f"drops in {lossy[0]} of 150 s",
            verdict=overflow_verdict(min(lossy)),
            note=f"50 to 200 s. Longest queue {shown.queue_max} and one in transmission, of 200; mean "
            f"{shown.queue_mean:.0f}. In the seeds {min(lossy[1:])} to {max(lossy[1:])} of 150 s.",
            of="paper",
            criterion=f"our criterion: drops in at least {REPEATED} different seconds of 50 to 200 s, "
            "in the run and in every seed: reproduced; in two: direction",
            variant=f"{TAIL_DROP.variant}; all start at once, and {_RANDOM}",
            figure="figure-5",
            scenarios=(own, *random),
        ),
        Claim(
            PAPER,
            "figure-3-tail-drop",
            "section 3.2, figure 3",
            says="Under tail drop the division is unfair",
            printed='"an unfair division of bandwidth when Droptail is used"',
            measured=f"Jain's index {shown.jain:.4f}",
            verdict=unfair_verdict(shown.jain, chance),
            note=f"50 to 200 s. Flow 0 has {rates[0]:.2f} of its share C/N, the others {min(rates[1:]):.2f} to "
            f"{max(rates[1:]):.2f}. Seeds: {chance.text(4)}, {min(one.jain for one in seeds):.4f} to "
            f"{max(one.jain for one in seeds):.4f}: part of the unfairness is the phase effect, which here favours "
            f"the flow with the longest round trip.",
            of="paper",
            criterion=f"our criterion: Jain's index below {FAIR} in the run, and the 95 % t-interval of "
            f"its mean over ten seeds, too: reproduced; one of the two: direction",
            variant=f"{TAIL_DROP.variant}; all start at once, and {_RANDOM}",
            figure="figure-3",
            scenarios=(own, *random),
        ),
    ]


def _each(hit: Sequence[int]) -> Any:  # noqa: ANN401 a verdict
    return "reproduced" if min(hit) == FLOWS else "direction" if max(hit) > 0 else "not reproduced"


def _controlled(
    mechanism: Mechanism, own: Drawn, seeds: list[Reading], tail: Drawn, tails: list[Reading], scale: float
) -> list[Claim]:
    name, label = mechanism.name, mechanism.label
    runs = (mechanism.scenario().name, *names(_random(mechanism, scale)))
    beside = (*runs, TAIL_DROP.scenario().name, *names(_random(TAIL_DROP, scale)))
    variant = f"{mechanism.variant}; all start at once, and {_RANDOM}"
    fair_share = RATE_MBPS / FLOWS
    drops = max(one.drops for one in (own, *seeds))
    late = max(one.drops - one.early_drops for one in (own, *seeds))
    worst = min(one.jain for one in (own, *seeds))
    gain, rough = paired(seeds, tails, lambda one: one.total), paired(seeds, tails, lambda one: one.roughness)
    why = (
        " An RD packet for 32 data packets leaves a source's edge only after its first whole window of 32 segments: "
        "ten windows, 320 packets, meet 200 places before any rate is known. For spaced starts see "
        "figure-6-window-apart."
        if drops
        else ""
    )
    return [
        Claim(
            PAPER,
            f"figure-6-{name}",
            "section 3.2, figure 6",
            says=f"{label}: no packet is dropped at the bottleneck",
            printed='"no packets dropping"',
            measured=f"{own.drops}, {own.drops - own.early_drops} of them after {STARTED_S:g} s",
            verdict=no_drop_verdict(drops, tail.drops),
            note=f"Data and RD packets, the whole run. In the seeds {min(one.drops for one in seeds)} to "
            f"{max(one.drops for one in seeds)}, after {STARTED_S:g} s at most {late}. Tail drop: {tail.drops}, "
            f"{tail.drops - tail.early_drops} of them after {STARTED_S:g} s.{why}",
            of="paper",
            criterion="our criterion: drops of 0 to 200 s in the worst of the run and ten seeds; none: "
            "reproduced; below a tenth of tail drop's: direction",
            variant=variant,
            figure="figure-6",
            scenarios=beside,
        ),
        Claim(
            PAPER,
            f"figure-5-{name}",
            "section 3.2, figure 5",
            says=f"{label}: the queue oscillates at its target of 100 packets with narrow range",
            printed='"at our target queue length with narrow range"',
            measured=f"near it {own.near:.1%} of the time",
            verdict=near_verdict(own.near),
            note=f"50 to 200 s, all packets counted; mean {own.queue_mean:.0f}, longest {own.queue_max}. Tail drop: "
            f"{tail.near:.1%}, mean {tail.queue_mean:.0f}. For the seeds see figure-5-{name}-random.",
            of="paper",
            criterion=NEAR_RULE,
            variant=f"{mechanism.variant}, all start at once",
            figure="figure-5",
            scenarios=(runs[0], TAIL_DROP.scenario().name),
        ),
        Claim(
            PAPER,
            f"figure-3-{name}",
            "section 3.2, figure 3",
            says=f"{label}: goodput is shared equally although one flow has 2.5 times the round-trip time",
            printed='"fairly distributed among connections"',
            measured=f"Jain's index {own.jain:.4f}",
            verdict=fair_verdict(worst, tail.jain),
            note=f"50 to 200 s; flow 0 has {own.goodputs[0] / fair_share:.3f} of its share C/N, the others "
            f"{min(own.goodputs[1:]) / fair_share:.3f} to {max(own.goodputs[1:]) / fair_share:.3f}. Least of the "
            f"seeds: {min(one.jain for one in seeds):.4f}. Tail drop: {tail.jain:.4f}, flow 0 "
            f"{tail.goodputs[0] / fair_share:.3f}.",
            of="paper",
            criterion=f"our criterion: Jain's index above {FAIR} in the worst of the run and ten seeds: "
            f"reproduced; above tail drop's: direction",
            variant=variant,
            figure="figure-3",
            scenarios=beside,
        ),
        Claim(
            PAPER,
            f"figure-3-{name}-gain",
            "sections 3.2 and 4",
            says=f"{label}: higher goodput than tail drop",
            printed='"significantly improve in throughput"',
            measured=f"{gain.text(4)} times",
            verdict=gain_verdict(gain),
            note=f"Without random delays {own.total:.3f} against {tail.total:.3f} Mbit/s. Tail drop with 200 places "
            f"keeps the link busy all the time (use {tail.use:.4f}), and its drops are retransmitted over links that "
            "are idle: there is nothing to gain. RD packets cost what they take of the link, and an empty queue idles.",
            of="paper",
            criterion=f"our criterion: 95 % t-interval of the ratio over ten paired seeds from "
            f"{SIGNIFICANT} on: reproduced; from 1 on: direction",
            variant=f"{mechanism.variant}, {_RANDOM}",
            figure="figure-3",
            scenarios=beside,
        ),
        Claim(
            PAPER,
            f"figure-4-{name}",
            "section 3.2, figure 4",
            says=f"{label}: the sending rate is more regular than under tail drop",
            printed='"more regulated than in Droptail"',
            measured=f"{rough.text()} of tail drop's roughness",
            verdict=regular_verdict(rough),
            note="Roughness: standard deviation over mean of what a flow sends in a second, 50 to 200 s. Without "
            f"random delays {own.roughness:.3f} against {tail.roughness:.3f}.",
            of="paper",
            criterion=f"our criterion: 95 % t-interval of the ratio over ten paired seeds below "
            f"{REGULAR}: reproduced; below 1: direction",
            variant=f"{mechanism.variant}, {_RANDOM}",
            figure="figure-4",
            scenarios=beside,
        ),
    ]


def _spaced(apart: list[Reading], tail: Drawn, scale: float) -> Claim:
    drops, near = [one.drops for one in apart], [one.near for one in apart]
    return Claim(
        PAPER,
        "figure-6-window-apart",
        "section 3.2, figure 6",
        says=f"{PRINTED.label}: no packet is dropped at the bottleneck, when the sources start one after the other",
        printed='"no packets dropping"',
        measured=" and ".join(map(str, drops)),
        verdict=no_drop_verdict(max(drops), tail.drops),
        note=f"0 to 200 s, starts {' and '.join(f'{one:g}' for one in APART_S)} s apart, the spacings of the runs with "
        f"ns-2. The queue is near its target {' and '.join(f'{one:.1%}' for one in near)} of the time. The paper does "
        f"not say when its sources start; this row was added after the one with common starts was seen.",
        of="paper",
        criterion="our criterion: drops of 0 to 200 s; none: reproduced; below a tenth of tail drop's: direction",
        variant=f"{PRINTED.variant}, starts spaced",
        figure="",
        scenarios=names(_apart(scale)),
    )


def _random_queue(seeds: Sequence[list[Reading]], scale: float) -> list[Claim]:
    claims = []
    for mechanism, readings in zip(CONTROLLED, seeds[1:], strict=True):
        near = sorted(one.near for one in readings)
        low, middle, high = statistics.quantiles(near, n=4)
        means = [one.queue_mean for one in readings]
        why = (
            " Two segments of 4 KB, the smallest window, times the a = 1.15 of an empty queue are 2.3: TCP sends whole "
            "segments, so windows below 1 / 0.15 = 7 segments never grow, and a queue that was ever empty stays so. "
            "See whole-segments." if middle < 0.5 else ""
        )  # fmt: skip
        claims.append(
            Claim(
                PAPER,
                f"figure-5-{mechanism.name}-random",
                "section 3.2, figure 5",
                says=f"{mechanism.label}: the same, when packets are sent with random delays",
                printed='"at our target queue length with narrow range"',
                measured=f"near it {middle:.1%} of the time, median ({low:.1%} to {high:.1%})",
                verdict=near_verdict(middle),
                note=f"50 to 200 s; quartiles of ten seeds. Mean queues {min(means):.0f} to {max(means):.0f}.{why}",
                of="paper",
                criterion=f"{NEAR_RULE}; median of ten seeds",
                variant=f"{mechanism.variant}, {_RANDOM}",
                figure="figure-5-random",
                scenarios=names(_random(mechanism, scale)),
            )
        )
    return claims


def _table(shown: Sequence[Drawn], apart: Sequence[Reading], others: Sequence[Reading]) -> Table:
    return Table(
        "FICCRD in other readings",
        "10 Mbit/s, 200 packets, ten flows, 50 to 200 s; drops of the whole run. The first rows are the runs of the "
        "figures.",
        ["run", *COLUMNS],
        [
            *([mechanism.label, *one.cells()] for mechanism, one in zip(ALL, shown, strict=True)),
            *([f"{PRINTED.label}, starts {gap:g} s apart", *one.cells()]
              for gap, one in zip(APART_S, apart, strict=True)),
            *([label, *one.cells()] for (_, label, *_), one in zip(VARIANTS, others, strict=True)),
        ],
    )  # fmt: skip
