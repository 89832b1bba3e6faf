"""Limits of the mechanism: our statements, not the paper's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.drawing import PRINTED_LINE, bars, levels
from selfclock.papers.ficcrd.mechanisms import (
    BUCKET,
    BY_NUMBER,
    CONTROLLED,
    SEEDS,
    SEND_DELAY_MS,
    SENDERS,
    TAIL_DROP,
    USUAL,
    names,
    random_runs,
)
from selfclock.papers.ficcrd.network import BOTTLENECK, PAPER, RATE_MBPS, SECONDS, WINDOW, queue, scenario
from selfclock.papers.ficcrd.readings import COLUMNS, paired, read
from selfclock.papers.ficcrd.verdicts import (
    ALIKE,
    FAIR,
    NEAR_OFTEN,
    NEAR_RULE,
    USE_TOLERANCE,
    alike_verdict,
    all_verdict,
    close_verdict,
    near_verdict,
)
from selfclock.scenario.flow import Background
from selfclock.scenario.quantity import mbps, s
from selfclock.series import all_flows, between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.readings import Reading
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: One of two flows sends 0.3 of the capacity. The fluid, in which each flow sends resource
#: discovery packets in proportion to its rate, ends at this utilization.
LIMITED_PART = 0.3
FLUID_USE = {"outer-else": 0.754, "literal": 0.754, "icc": 1.0}

#: RD packets by number, or also timed.
_SENT = {"by number": BY_NUMBER, "timed": WINDOW}
#: Their styles.
_LOOKS = ("reno", "packet-pair")
_OFTEN: dict[str, object] = {**BY_NUMBER, "rule": "icc", "packets_per_discovery": 8}

#: An eighth of the paper's segments, and eight times as many wherever they are counted.
SMALL: dict[str, object] = {
    "mss": "512 B",
    "receive_window": "256 segments",
    "initial_ssthresh": "256 segments",
    "initial_window": "16 segments",
}
SMALL_PLACES = 1600

RD_LOSSES = (0.01, 0.05, 0.1, 0.2, 0.5)

#: Datagrams at three times the rate fill the queue, so that DPF is 0.
BLAST_S = (80.0, 90.0)
WITHOUT_FLOOR: dict[str, object] = {**BY_NUMBER, "floor": 0}

#: Half of the flows stop, and return.
AWAY_S = (80.0, 140.0)

#: Many flows: on the paper's link, and on one with as much per flow as the paper's ten have.
MANY, MANY_S, MANY_PLACES = 1000, 20.0, 20_000
MANY_SPAN_S = (5.0, MANY_S)


def _slug(text: str) -> str:
    return text.replace(" ", "-")


def _limited(scale: float) -> list[Scenario]:
    """Return Table 1's variants by the trigger of RD packets; then ICC with one per 8 data packets, none timed."""
    routers = {
        f"{rule}-{_slug(sent)}": {**router, "rule": rule} for rule in FLUID_USE for sent, router in _SENT.items()
    }
    keys = {0: {"rate": mbps(RATE_MBPS * LIMITED_PART)}}
    return [
        scenario(f"ficcrd-limited-{name}", router, topology="a", flows=2, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in {**routers, "icc-1-in-8": _OFTEN}.items()
    ]


def _small(scale: float) -> list[Scenario]:
    # An RD packet for as many bytes as with large segments.
    router = {**BY_NUMBER, "packets_per_discovery": 256}
    return [
        scenario(f"ficcrd-window-512-bytes-random-{seed}", router, seed=seed, send_delay_ms=SEND_DELAY_MS,
                 seconds=SECONDS * scale, transport=SMALL, buffer_packets=SMALL_PLACES)
        for seed in SEEDS
    ]  # fmt: skip


def _lossy(scale: float) -> list[Scenario]:
    faults = {"mechanism": "loss", "links": [BOTTLENECK, "12-11"], "kinds": ["resource-discovery"]}
    return [
        scenario(f"ficcrd-rd-loss-{_slug(sent)}-{loss:g}", router, more_routers=[{**faults, "probability": loss}],
                 seconds=SECONDS * scale, packets=True)
        for sent, router in _SENT.items()
        for loss in RD_LOSSES
    ]  # fmt: skip


def _blasted(scale: float) -> list[Scenario]:
    begin, end = BLAST_S
    blast = Background(mbps(RATE_MBPS), start=s(begin * scale), stop=s(end * scale))
    # Three datagram sources, each as fast as its own link.
    keys = dict.fromkeys((10, 11, 12), blast)
    return [
        scenario(f"ficcrd-blast-{name}", router, flows=13, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in (("floor", WINDOW), ("no-floor", WITHOUT_FLOOR))
    ]


def _leaving(scale: float) -> list[Scenario]:
    """Five flows stay; five others run before and after a gap."""
    gone, back = AWAY_S
    keys = {number: {"stop": s(gone * scale)} for number in range(5, 10)}
    keys |= {number: {"start": s(back * scale)} for number in range(10, 15)}
    return [
        scenario(f"ficcrd-leaving-{name}", router, flows=15, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in (("window", BY_NUMBER), ("ack-bucket", BUCKET))
    ]


def _encrypted(number: int, scale: float) -> list[Scenario]:
    return random_runs(CONTROLLED[number], scale, "-encrypted", transport={"encrypted": True})


def _many(scale: float, *, fast: bool) -> list[Scenario]:
    keys: dict[str, Any] = {"rate_mbps": RATE_MBPS * MANY / 10, "buffer_packets": MANY_PLACES} if fast else {}
    return [
        scenario(f"ficcrd-1000-flows-{'fast-' if fast else ''}{_slug(name)}", router, flows=MANY, topology="a",
                 seconds=MANY_S * scale, **keys)
        for name, router in (("tail-drop", None), *_SENT.items())
    ]  # fmt: skip


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs, kind by kind, in the order of `findings`."""
    measure = partial(read, scale=scale)
    return [
        Part(_limited(scale), measure),
        Part(_small(scale), partial(measure, target=SMALL_PLACES / 2)),
        Part(_lossy(scale), measure),
        Part(_blasted(scale), partial(_blast_reading, scale=scale)),
        Part(_leaving(scale), partial(_leaving_reading, scale=scale)),
        Part(random_runs(TAIL_DROP, scale, packets=True), measure),
        Part(_encrypted(0, scale), measure),
        Part(_encrypted(1, scale), measure),
        Part(_many(scale, fast=False), partial(measure, span_s=MANY_SPAN_S)),
        Part(_many(scale, fast=True), partial(measure, span_s=MANY_SPAN_S, target=MANY_PLACES / 2)),
    ]


def _acknowledged_mbps(result: Result, begin_s: float, end_s: float) -> float:
    """Bytes acknowledged to the TCP flows per second."""
    series = between(all_flows(result), begin_s, end_s)
    span = series.group_by("flow").agg(pl.col("acknowledged_bytes").max() - pl.col("acknowledged_bytes").min())
    return float(span["acknowledged_bytes"].sum()) * 8 / (end_s - begin_s) / 1e6


def _blast_reading(result: Result, scale: float) -> tuple[Reading, float]:
    """Goodput from 1 s to 21 s after the datagrams."""
    end = BLAST_S[1]
    return read(result, scale), _acknowledged_mbps(result, (end + 1) * scale, (end + 21) * scale)


def _leaving_reading(result: Result, scale: float) -> tuple[Reading, float, float, int]:
    """Goodput in the 10 s after half of the flows left, and from 30 s on; drops in the 20 s after the return."""
    gone, back = (moment * scale for moment in AWAY_S)
    use = [
        _acknowledged_mbps(result, gone + scale, gone + 11 * scale),
        _acknowledged_mbps(result, gone + 30 * scale, back),
    ]
    drops = queue(result, back, back + 20 * scale)["drops"]
    return read(result, scale), use[0], use[1], int(drops[-1] - drops[0])


def findings(readings: Sequence[list[Any]], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what is decidable, and list the rest."""
    limited, small, lossy, blasted, leaving, tails, hidden, hidden_timed, many, fast = readings
    rows: list[list[str]] = []

    def note(scenarios: Sequence[Scenario], found: Sequence[Reading]) -> None:
        rows.extend([run.name.removeprefix("ficcrd-"), *one.cells()] for run, one in zip(scenarios, found, strict=True))

    note(_limited(scale), limited)
    note(_small(scale)[:3], small[:3])
    note(_lossy(scale), lossy)
    note(_blasted(scale), [one for one, _ in blasted])
    note(_leaving(scale), [one for one, *_ in leaving])
    note(_encrypted(0, scale)[:3], hidden[:3])
    note(_encrypted(1, scale)[:3], hidden_timed[:3])
    note([*_many(scale, fast=False), *_many(scale, fast=True)], [*many, *fast])
    away = "; ".join(
        f"{name}: {soon:.2f} Mbit/s in the 10 s after five of ten flows left, {later:.2f} after 30 s, {drops} drops in "
        f"the 20 s of their return"
        for name, (_, soon, later, drops) in zip(("window", "ACK bucket"), leaving, strict=True)
    )
    grid = Table(
        "Limits of FICCRD",
        f"10 Mbit/s, 200 packets, 50 to 200 s (1000 flows: 5 to 20 s); drops of the whole run. Flows that send "
        f"datagrams or are away count in Jain's index; RD packets that are lost on purpose count as drops. {away}.",
        ["run", *COLUMNS],
        rows,
    )
    claims = [
        *_limited_claims(limited, scale), _whole_segments(small, scale), *_loss_claims(lossy, scale),
        _floor(blasted, scale), *_encrypted_claims(tails, [hidden, hidden_timed], scale), *_many_claims(many, fast),
    ]  # fmt: skip
    return claims, [_limited_figure(limited, scale), _loss_figure(lossy, scale)], [grid]


def _limited_claims(limited: Sequence[Reading], scale: float) -> list[Claim]:
    runs = names(_limited(scale))
    often = limited[-1].use
    claims = []
    for place, (rule, sent) in enumerate(_KEYS):
        found, fluid = limited[place].use, FLUID_USE[rule]
        verdict = close_verdict(found, fluid, USE_TOLERANCE)
        why = ""
        if verdict != "reproduced" and sent == "by number":
            why = (
                " The fluid's greedy flow has 0.454 of the link, 7.98 segments of 4136 B in its 58.2 ms; TCP sends 7 "
                "whole ones."
            )
        elif verdict != "reproduced":
            why = (
                f" Timed RD packets tell of both flows equally often, and the greedy one stops at 6 segments of 4096 B "
                f"in 58.2 ms: 1.15 of 6 are 6.9, and TCP sends whole segments. So all readings have the same use; "
                f"with ICC and one RD packet for 8 data packets, none timed, it is {often:.3f}."
            )
        claims.append(
            Claim(
                PAPER,
                f"limited-elsewhere-{rule}-{_slug(sent)}",
                "fluid of the loop",
                says=f"Two flows, one sends {LIMITED_PART} of the capacity: use of the link, Table 1 read as {rule}, "
                f"RD packets {sent}",
                printed=None,
                measured=round(found, 3),
                verdict=verdict,
                note=f"The fluid with RD packets in proportion to the rate has {fluid:g}.{why}",
                of="own",
                criterion=f"our criterion: within {USE_TOLERANCE} of the fluid's {fluid:g}: reproduced; "
                f"within three times that: direction",
                variant=f"FICCRD, feedback = window, rule = {rule}, "
                f"discovery_interval = {'off' if sent == 'by number' else '100 ms'}; {SENDERS}",
                figure="limited-elsewhere",
                scenarios=(runs[place],),
            )
        )
    return claims


_KEYS = [(rule, sent) for rule in FLUID_USE for sent in _SENT]


def _whole_segments(small: Sequence[Reading], scale: float) -> Claim:
    near = min(one.near for one in small)
    return Claim(
        PAPER,
        "whole-segments",
        "reason of figure-5-window-random",
        says="With segments of 512 bytes instead of 4096 the queue finds its target whatever the send delays",
        printed=None,
        measured=f"near it {near:.1%} of the time in the worst seed",
        verdict=near_verdict(near),
        note=f"Buffer of {SMALL_PLACES} packets, target {SMALL_PLACES // 2}, an RD packet for 256 data packets: as "
        "many bytes as in the paper. Over an empty queue a flow's share, 1 Mbit/s in 58 ms, is 14 segments of 512 "
        "bytes, which can grow by 1.15, but 1.8 of 4096.",
        of="own",
        criterion=f"{NEAR_RULE}, 800 instead of 100 packets; worst of ten seeds",
        variant=f"{USUAL.variant}, packets_per_discovery = 256, random send delays below {SEND_DELAY_MS:g} ms",
        figure="figure-5-random",
        scenarios=names(_small(scale)),
    )


def _held(one: Reading) -> bool:
    """Fair, no data lost after start-up, and a queue near its target."""
    return one.jain > FAIR and one.late_data == 0 and one.near >= NEAR_OFTEN


def _loss_claims(lossy: Sequence[Reading], scale: float) -> list[Claim]:
    claims = []
    runs = names(_lossy(scale))
    for place, sent in enumerate(_SENT):
        begin = place * len(RD_LOSSES)
        own = lossy[begin : begin + len(RD_LOSSES)]
        held = [_held(one) for one in own]
        # Success at 50 % is meaningless after a failure at 20 %.
        up_to = next((number for number, good in enumerate(held) if not good), len(held))
        claims.append(
            Claim(PAPER, f"rd-loss-{_slug(sent)}", "not in the paper",
                  says=f"Loss of RD packets, sent {sent}, up to which it stays fair, without loss of data and near the "
                  f"target", printed=None, measured="none" if up_to == 0 else f"{RD_LOSSES[up_to - 1]:.0%}",
                  verdict="reproduced" if up_to == len(held) else "direction" if up_to >= RD_LOSSES.index(0.1) + 1 else
                  "not reproduced",
                  note=f"At 1, 5, 10, 20 and 50 %, lost on the way out and again on the way back: near the target "
                  f"{', '.join(f'{one.near:.1%}' for one in own)} of the time; Jain's index at least "
                  f"{min(one.jain for one in own):.4f}.",
                  of="own", criterion=f"our criterion, settled when the five runs were known: at every probability up "
                  f"to it Jain's index above {FAIR}, no data dropped after the first 5 s, and near the target for "
                  f"{NEAR_OFTEN:.0%} of the time; up to 50 %: reproduced; up to 10 %: direction",
                  variant=CONTROLLED[place].variant, figure="rd-loss",
                  scenarios=runs[begin : begin + len(RD_LOSSES)])
        )  # fmt: skip
    return claims


def _floor(blasted: Sequence[tuple[Reading, float]], scale: float) -> Claim:
    (_, with_floor), (_, without) = blasted
    return Claim(
        PAPER,
        "no-floor",
        "fluid of the loop",
        says="After the queue was full (DPF = 0), sources without a smallest window and without timed RD packets stay "
        "stopped",
        printed=None,
        measured=f"{without:.2f} Mbit/s",
        verdict="reproduced"
        if without < RATE_MBPS / 2
        else "direction"
        if without < with_floor * 0.9
        else "not reproduced",
        note=f"Goodput from 1 s to 21 s after the datagrams; with both {with_floor:.2f} Mbit/s. A fluid stays stopped "
        "for ever. A TCP source does not: its retransmission timer and its window probes keep sending, and "
        f"their acknowledgements carry the window of the rate that is allowed then.",
        of="own",
        criterion="our criterion: below half of the rate: reproduced; below 0.9 of what it is with both: direction",
        variant=f"FICCRD, floor = 0, discovery_interval = off; {SENDERS}",
        figure="",
        scenarios=names(_blasted(scale)),
    )


def _encrypted_claims(tails: Sequence[Reading], hidden: Sequence[Sequence[Reading]], scale: float) -> list[Claim]:
    claims = []
    for place, (sent, found) in enumerate(zip(_SENT, hidden, strict=True)):
        ratio = paired(found, tails, lambda one: one.drops)
        why = (
            " Ten timed RD packets a second and flow take places in a queue that counts packets, and nobody obeys "
            "them: worse than tail drop." if sent == "timed" else ""
        )  # fmt: skip
        claims.append(
            Claim(
                PAPER,
                f"encrypted-{_slug(sent)}",
                "not in the paper",
                says=f"What it cannot read it cannot control: with encrypted transport headers and RD packets {sent} "
                "it drops as tail drop does",
                printed=None,
                measured=f"{ratio.text(2)} times",
                verdict=alike_verdict(ratio),
                note=f"Drops of 200 s, ratios seed by seed; Jain's index {min(one.jain for one in found):.4f} to "
                f"{max(one.jain for one in found):.4f}, tail drop {min(one.jain for one in tails):.4f} to "
                f"{max(one.jain for one in tails):.4f}.{why}",
                of="own",
                criterion=f"our criterion: 95 % t-interval of the ratio over ten paired seeds within "
                f"{ALIKE[0]} to {ALIKE[1]}: reproduced; its mean: direction",
                variant=f"{CONTROLLED[place].variant}, encrypted = true, random send delays below {SEND_DELAY_MS:g} ms",
                figure="",
                scenarios=(*names(_encrypted(place, scale)), *names(random_runs(TAIL_DROP, scale))),
            )
        )
    return claims


def _many_claims(many: Sequence[Reading], fast: Sequence[Reading]) -> list[Claim]:
    crowded, room = names(_many(1.0, fast=False)), names(_many(1.0, fast=True))
    claims = []
    low, high = ALIKE
    for place, sent in enumerate(_SENT):
        own, roomy = many[1 + place], fast[1 + place]
        ratio = own.drops / max(many[0].drops, 1)
        flood = f" {MANY} flows send 10 RD packets of 64 B a second each: 5.1 of 10 Mbit/s." if sent == "timed" else ""
        claims += [
            Claim(
                PAPER,
                f"1000-flows-{_slug(sent)}",
                "not in the paper",
                says=f"1000 flows on 10 Mbit/s, RD packets {sent}: the smallest windows alone, 2000 segments, are more "
                f"than the queue holds, so it drops as tail drop does",
                printed=None,
                measured=f"{ratio:.2f} times",
                verdict="reproduced"
                if low <= ratio <= high
                else "direction"
                if 0.5 <= ratio <= 2
                else "not reproduced",
                note=f"{own.drops} against {many[0].drops} drops in 20 s; Jain's index {own.jain:.3f} against "
                f"{many[0].jain:.3f}.{flood}",
                of="own",
                criterion=f"our criterion: ratio of drops {low} to {high}: reproduced; 0.5 to 2: direction",
                variant=CONTROLLED[place].variant,
                figure="",
                scenarios=(crowded[1 + place], crowded[0]),
            ),
            Claim(
                PAPER,
                f"1000-flows-fast-{_slug(sent)}",
                "not in the paper",
                says=f"1000 flows on 1 Gbit/s with {MANY_PLACES} places, RD packets {sent}: as the paper's ten, no "
                "drop, fair, queue at its target",
                printed=None,
                measured=f"{roomy.drops} drops, Jain's index {roomy.jain:.4f}, mean queue {roomy.queue_mean:.0f}",
                verdict=all_verdict(
                    roomy.drops == 0, roomy.jain > FAIR, abs(roomy.queue_mean / (MANY_PLACES / 2) - 1) < 0.2
                ),
                note=f"5 to 20 s, drops from the start on. Tail drop: {fast[0].drops} drops, {fast[0].jain:.4f}, "
                f"{fast[0].queue_mean:.0f}.",
                of="own",
                criterion=f"our criterion: no drop, Jain's index above {FAIR}, and a mean queue within a "
                f"fifth of {MANY_PLACES // 2}: reproduced; two of the three: direction",
                variant=CONTROLLED[place].variant,
                figure="",
                scenarios=(room[1 + place], room[0]),
            ),
        ]
    return claims


def _limited_figure(limited: Sequence[Reading], scale: float) -> Illustration:
    figure = Figure(
        title="Two flows, one of which sends 0.3 of the capacity", x="reading of Table 1", y="use of the link"
    )
    panel = figure.panel
    bars(panel, {
        f"RD packets {sent}": (style.look(name).colour, [
            one.use for (_, of), one in zip(_KEYS, limited, strict=False) if of == sent
        ])
        for sent, name in zip(_SENT, _LOOKS, strict=True)
    })  # fmt: skip
    levels(panel, list(FLUID_USE.values()), 0.9, "fluid", BLACK)
    panel.x.name(*FLUID_USE)
    panel.y.low = 0.0
    caption = "Where RD packets are timed, the greedy flow stops at six whole segments, whatever the reading."
    return Illustration("A flow that is limited elsewhere", caption, figure, id="limited-elsewhere",
                        scenarios=names(_limited(scale)))  # fmt: skip


def _loss_figure(lossy: Sequence[Reading], scale: float) -> Illustration:
    figure = Figure(
        title="Loss of RD packets", x="RD packets lost, each way (%)", y="queue near its target (% of time)"
    )
    panel = figure.panel
    for place, (sent, look) in enumerate(zip(_SENT, map(style.look, _LOOKS), strict=True)):
        own = lossy[place * len(RD_LOSSES) : (place + 1) * len(RD_LOSSES)]
        panel.line([100 * loss for loss in RD_LOSSES], [100 * one.near for one in own], marker=look.marker,
                   colour=look.colour, label=f"RD packets {sent}")  # fmt: skip
    panel.rule("y", 100 * NEAR_OFTEN, label="our criterion", **PRINTED_LINE)
    panel.y.low, panel.y.high = 0.0, 105.0
    worst, late = min(one.jain for one in lossy), max(one.late_data for one in lossy)
    caption = f"Data packets lost after the first 5 s: {late} at most. Jain's index: {worst:.4f} at least."
    return Illustration("Loss of RD packets", caption, figure, id="rd-loss", scenarios=names(_lossy(scale)))
