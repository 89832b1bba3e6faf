"""Figures 3 to 6: goodput, sequence numbers, queue and drops, for tail drop and both kinds of feedback."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.ficcrd import ambiguities, drawings
from selfclock.papers.ficcrd.declared import CLAIMS
from selfclock.papers.ficcrd.mechanisms import (
    ALL,
    BUCKET_TIMED,
    BY_NUMBER,
    PROPORTIONED,
    READ_OTHERWISE,
    TAIL_DROP,
    USUAL,
    Mechanism,
    random_names,
    random_runs,
)
from selfclock.papers.ficcrd.network import ACK_BUCKET, FLOWS, RATE_MBPS, SECONDS, WINDOW, scenario
from selfclock.papers.ficcrd.readings import COLUMNS, draw, read
from selfclock.papers.ficcrd.statements import STARTS, Group, of_pairs, of_runs
from selfclock.papers.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.papers.ficcrd.readings import Drawn, Reading

#: Spacings of the starts in the runs with ns-2, s.
APART_S = (0.1, 1.0)


@dataclass(frozen=True)
class Variant:
    """Another interpretation, a change of one thing."""

    name: str
    label: str
    router: Mapping[str, object] | None
    keys: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run_name(self) -> str:
        """Name of its run."""
        return f"ficcrd-{self.name}"


_TOPOLOGY_A: dict[str, Any] = {"topology": "a"}
_TOPOLOGY_B: dict[str, Any] = {"topology": "b", "edge_queue": "200 packets"}

VARIANTS = [
    Variant("window-1-in-1", "window, an RD packet for each data packet", {**BY_NUMBER, "packets_per_discovery": 1}),
    *(
        Variant(f"window-timed-apart-{gap:g}", f"window, timed, starts {gap:g} s apart", WINDOW, {"apart_s": gap})
        for gap in APART_S
    ),
    Variant("window-timed-literal", "window, timed, Table 1 literally", {**WINDOW, "rule": "literal"}),
    Variant("window-timed-icc", "window, timed, Table 1 as ICC", {**WINDOW, "rule": "icc"}),
    Variant("ack-bucket-timed-100ms", "ACK bucket, timed, held for 100 ms at most", ACK_BUCKET),
    Variant(
        "ack-bucket-timed-500ms",
        "ACK bucket, timed, held for 500 ms at most",
        {**ACK_BUCKET, "longest_hold": "500 ms"},
    ),
    Variant("tail-drop-topology-a", "tail drop, topology A of the ns-2 runs", None, _TOPOLOGY_A),
    Variant("window-topology-a", "window, by number, topology A", BY_NUMBER, _TOPOLOGY_A),
    Variant("ack-bucket-topology-a", "ACK bucket, timed, topology A", BUCKET_TIMED, _TOPOLOGY_A),
    Variant("tail-drop-topology-b", "tail drop, topology B, queue of 200 at 10-11", None, _TOPOLOGY_B),
    Variant("window-topology-b", "window, by number, topology B, queue of 200 at 10-11", BY_NUMBER, _TOPOLOGY_B),
    Variant(
        "window-classes",
        "window, timed, two classes of flows (DSCP)",
        {**WINDOW, "unit": "class"},
        {"flow_keys": {number: {"dscp": 46} for number in range(5)}},
    ),
]


#: Runs of `USUAL` with spaced starts, by spacing.
_APART = {apart: f"-apart-{apart:g}" for apart in APART_S}


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs of the figures, those of the seeds by mechanism, spaced starts, other interpretations."""
    measure, seconds = partial(read, scale=scale), SECONDS * scale
    chance = [
        # Losses by flow are needed for tail drop only.
        run
        for mechanism in (*ALL, *PROPORTIONED)
        for run in random_runs(mechanism, scale, packets=mechanism is TAIL_DROP)
    ]
    spaced = [USUAL.scenario(suffix, apart_s=apart, seconds=seconds) for apart, suffix in _APART.items()]
    alone = [mechanism.scenario(seconds=seconds) for mechanism in (*PROPORTIONED, *READ_OTHERWISE)]
    others = [scenario(one.run_name, one.router, seconds=seconds, **one.keys) for one in VARIANTS]
    return [
        Part([mechanism.scenario(seconds=seconds, packets=True) for mechanism in ALL], partial(draw, scale=scale)),
        Part([*chance, *spaced, *alone, *others], measure),
    ]


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge figures 3 to 6."""
    shown: list[Drawn] = runs.each(mechanism.run_name() for mechanism in ALL)
    tails: list[Reading] = runs.each(random_names(TAIL_DROP))

    def at_once(mechanism: Mechanism) -> Group:
        name = mechanism.run_name()
        return Group(mechanism, (name,), [runs[name]], shown[:1], ambiguities.AT_ONCE, ambiguities.FAST)

    def at_random(mechanism: Mechanism) -> Group:
        names = random_names(mechanism)
        return Group(mechanism, names, runs.each(names), tails, ambiguities.RANDOM, ambiguities.FAST)

    claims = _tail_drop(shown[0], tails)
    for mechanism in (*ALL[1:], *PROPORTIONED):
        chance = at_random(mechanism)
        claims += [*of_runs(at_once(mechanism)), *of_runs(chance), *of_pairs(chance)]
    for mechanism in READ_OTHERWISE:
        claims += of_runs(at_once(mechanism))
    apart = tuple(map(USUAL.run_name, _APART.values()))
    claims += of_runs(Group(USUAL, apart, runs.each(apart), shown[:1], ambiguities.APART, ambiguities.FAST))
    drawn = tuple(mechanism.run_name() for mechanism in ALL)
    every_seed = tuple(name for mechanism in ALL for name in random_names(mechanism))
    figures = [
        *(
            replace(one, scenarios=drawn)
            for one in (drawings.figure_3(shown), *drawings.figure_4(shown, scale), drawings.figure_5(shown, scale))
        ),
        replace(drawings.random_queue([runs.each(random_names(one)) for one in ALL]), scenarios=every_seed),
        replace(drawings.figure_6(shown), scenarios=drawn),
    ]
    return claims, figures, [_table(runs)]


def _tail_drop(shown: Drawn, seeds: list[Reading]) -> list[Claim]:
    """Judge tail drop in the run of the figures, and in the seeds."""
    alone = Ran(f"{TAIL_DROP.variant}, {STARTS[ambiguities.AT_ONCE]}", (TAIL_DROP.run_name(),), (ambiguities.AT_ONCE,))
    chance = Ran(f"{TAIL_DROP.variant}, {STARTS[ambiguities.RANDOM]}", random_names(TAIL_DROP), (ambiguities.RANDOM,))
    claims = []
    for ran, own in ((alone, [shown]), (chance, seeds)):
        hit = [sum(drops > 0 for drops in one.by_flow) for one in own]
        drops = [drops for one in own for drops in one.by_flow]
        claims.append(
            CLAIMS(
                "figure-6-tail-drop",
                ran,
                least=min(hit),
                most=max(hit),
                by_flow=shown.by_flow,
                fewest=min(drops),
                most_drops=max(drops),
            )
        )
    claims += [
        CLAIMS(
            "figure-5-tail-drop",
            ran,
            lossy_seconds=min(one.lossy_seconds for one in own),
            queue_max=shown.queue_max,
            queue_mean=shown.queue_mean,
        )
        for ran, own in ((alone, [shown]), (chance, seeds))
    ]
    first, *others = (rate / (RATE_MBPS / FLOWS) for rate in shown.goodputs)
    jains = [one.jain for one in seeds]
    return [
        *claims,
        CLAIMS(
            "figure-3-tail-drop",
            alone,
            index=Interval(shown.jain, 0.0),
            first=first,
            least=min(others),
            most=max(others),
        ),
        CLAIMS("figure-3-tail-drop", chance, index=interval(jains), least=min(jains), most=max(jains)),
    ]


def _table(runs: Runs) -> Table:
    rows = {
        **{mechanism.label: mechanism.run_name() for mechanism in (*ALL, *PROPORTIONED, *READ_OTHERWISE)},
        **{f"{USUAL.label}, starts {gap:g} s apart": USUAL.run_name(suffix) for gap, suffix in _APART.items()},
        **{one.label: one.run_name for one in VARIANTS},
    }
    return Table(
        "FICCRD in other readings",
        "10 Mbit/s, 200 packets, ten flows, 50 to 200 s; drops of the whole run. The first rows are the runs of the "
        "figures.",
        ["run", *COLUMNS],
        [[label, *runs[name].cells()] for label, name in rows.items()],
    )
