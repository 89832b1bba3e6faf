"""Limits of the mechanism: our statements, not the paper's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import PRINTED_LINE, bars, levels
from selfclock.papers.ficcrd.declared import CLAIMS, FAIR, NEAR_OFTEN
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
    random_names,
    random_runs,
)
from selfclock.papers.ficcrd.network import BOTTLENECK, RATE_MBPS, SECONDS, WINDOW, queue, scenario
from selfclock.papers.ficcrd.readings import COLUMNS, paired, read
from selfclock.scenario.flow import Background
from selfclock.scenario.quantity import mbps, s
from selfclock.series import all_flows, between

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Reading
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: One of two flows sends this part of the capacity.
LIMITED_PART = 0.3
#: Readings of table 1, as the option has them.
_RULES = ("outer-else", "literal", "icc")

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


#: The mechanism of each kind of RD packets, by window.
_MECHANISMS: dict[str, Mechanism] = dict(zip(_SENT, CONTROLLED, strict=False))
#: Table 1's variants by the trigger of RD packets: the rest of a run's name, and of a claim's.
_LIMITED = {(rule, sent): f"{rule}-{_slug(sent)}" for rule in _RULES for sent in _SENT}
#: ICC with an RD packet for 8 data packets, none timed.
_OFTEN_RUN = "ficcrd-limited-icc-1-in-8"
_SMALL = {seed: f"ficcrd-window-512-bytes-random-{seed}" for seed in SEEDS}
_FLOOR, _NO_FLOOR = "ficcrd-blast-floor", "ficcrd-blast-no-floor"
_LEAVING = {"window": "ficcrd-leaving-window", "ACK bucket": "ficcrd-leaving-ack-bucket"}
_ENCRYPTED = "-encrypted"


def _lossy_names(sent: str) -> dict[float, str]:
    """Return the names of the runs by the probability of a loss."""
    return {loss: f"ficcrd-rd-loss-{_slug(sent)}-{loss:g}" for loss in RD_LOSSES}


def _many_name(what: str, *, fast: bool) -> str:
    return f"ficcrd-1000-flows-{'fast-' if fast else ''}{_slug(what)}"


def _limited(scale: float) -> list[Scenario]:
    routers = {f"ficcrd-limited-{name}": {**_SENT[sent], "rule": rule} for (rule, sent), name in _LIMITED.items()}
    keys = {0: {"rate": mbps(RATE_MBPS * LIMITED_PART)}}
    return [
        scenario(name, router, topology="a", flows=2, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in {**routers, _OFTEN_RUN: _OFTEN}.items()
    ]


def _small(scale: float) -> list[Scenario]:
    # An RD packet for as many bytes as with large segments.
    router = {**BY_NUMBER, "packets_per_discovery": 256}
    keys: dict[str, Any] = {"send_delay_ms": SEND_DELAY_MS, "transport": SMALL, "buffer_packets": SMALL_PLACES}
    return [scenario(name, router, seed=seed, seconds=SECONDS * scale, **keys) for seed, name in _SMALL.items()]


def _lossy(scale: float) -> list[Scenario]:
    faults = {"mechanism": "loss", "links": [BOTTLENECK, "12-11"], "kinds": ["resource-discovery"]}
    return [
        scenario(name, router, more_routers=[{**faults, "probability": loss}], seconds=SECONDS * scale, packets=True)
        for sent, router in _SENT.items()
        for loss, name in _lossy_names(sent).items()
    ]


def _blasted(scale: float) -> list[Scenario]:
    begin, end = BLAST_S
    blast = Background(mbps(RATE_MBPS), start=s(begin * scale), stop=s(end * scale))
    # Three datagram sources, each as fast as its own link.
    keys = dict.fromkeys((10, 11, 12), blast)
    return [
        scenario(name, router, flows=13, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in ((_FLOOR, WINDOW), (_NO_FLOOR, WITHOUT_FLOOR))
    ]


def _leaving(scale: float) -> list[Scenario]:
    """Five flows stay; five others run before and after a gap."""
    gone, back = AWAY_S
    keys = {number: {"stop": s(gone * scale)} for number in range(5, 10)}
    keys |= {number: {"start": s(back * scale)} for number in range(10, 15)}
    return [
        scenario(name, router, flows=15, flow_keys=keys, seconds=SECONDS * scale)
        for name, router in zip(_LEAVING.values(), (BY_NUMBER, BUCKET), strict=True)
    ]


def _encrypted(scale: float) -> list[Scenario]:
    return [
        run
        for mechanism in _MECHANISMS.values()
        for run in random_runs(mechanism, scale, _ENCRYPTED, transport={"encrypted": True})
    ]


def _many(scale: float, *, fast: bool) -> list[Scenario]:
    keys: dict[str, Any] = {"rate_mbps": RATE_MBPS * MANY / 10, "buffer_packets": MANY_PLACES} if fast else {}
    return [
        scenario(_many_name(what, fast=fast), router, flows=MANY, topology="a", seconds=MANY_S * scale, **keys)
        for what, router in {"tail-drop": None, **_SENT}.items()
    ]


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs, kind by kind."""
    measure = partial(read, scale=scale)
    return [
        Part([*_limited(scale), *_lossy(scale), *_encrypted(scale)], measure),
        Part(_small(scale), partial(measure, target=SMALL_PLACES / 2)),
        Part(_blasted(scale), partial(_blast_reading, scale=scale)),
        Part(_leaving(scale), partial(_leaving_reading, scale=scale)),
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


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what is decidable, and list the rest."""
    claims = [
        *_limited_claims(runs),
        _whole_segments(runs),
        *_loss_claims(runs),
        _floor(runs),
        *_encrypted_claims(runs),
        *_many_claims(runs),
    ]
    return claims, [_limited_figure(runs), _loss_figure(runs)], [_table(runs, scale)]


def _table(runs: Runs, scale: float) -> Table:
    """Return every run; of those with seeds the first three."""
    away = "; ".join(
        f"{what}: {soon:.2f} Mbit/s in the 10 s after five of ten flows left, {later:.2f} after 30 s, {drops} drops in "
        f"the 20 s of their return"
        for what, (_, soon, later, drops) in zip(_LEAVING, runs.each(_LEAVING.values()), strict=True)
    )
    by_name: dict[str, Reading] = {}
    for name in (*names(_limited(scale)), *list(_SMALL.values())[:3], *names(_lossy(scale))):
        by_name[name] = runs[name]
    for name in (_FLOOR, _NO_FLOOR, *_LEAVING.values()):
        by_name[name] = runs[name][0]
    for mechanism in _MECHANISMS.values():
        by_name |= {name: runs[name] for name in random_names(mechanism, _ENCRYPTED)[:3]}
    by_name |= {name: runs[name] for fast in (False, True) for name in names(_many(scale, fast=fast))}
    return Table(
        "Limits of FICCRD",
        f"10 Mbit/s, 200 packets, 50 to 200 s (1000 flows: 5 to 20 s); drops of the whole run. Flows that send "
        f"datagrams or are away count in Jain's index; RD packets that are lost on purpose count as drops. {away}.",
        ["run", *COLUMNS],
        [[name.removeprefix("ficcrd-"), *one.cells()] for name, one in by_name.items()],
    )


def _limited_claims(runs: Runs) -> list[Claim]:
    often = runs[_OFTEN_RUN].use
    claims = []
    for (rule, sent), name in _LIMITED.items():
        run = f"ficcrd-limited-{name}"
        interval = "off" if sent == "by number" else "100 ms"
        ran = Ran(f"FICCRD, feedback = window, rule = {rule}, discovery_interval = {interval}; {SENDERS}", (run,))
        claims.append(CLAIMS(f"limited-elsewhere-{name}", ran, use=runs[run].use, often=often))
    return claims


def _whole_segments(runs: Runs) -> Claim:
    variant = f"{USUAL.variant}, packets_per_discovery = 256, random send delays below {SEND_DELAY_MS:g} ms"
    seeds = tuple(_SMALL.values())
    return CLAIMS("whole-segments", Ran(variant, seeds), near=min(one.near for one in runs.each(seeds)))


def _held(one: Reading) -> bool:
    """Fair, no data lost after start-up, and a queue near its target."""
    return one.jain > FAIR and one.late_data == 0 and one.near >= NEAR_OFTEN


def _loss_claims(runs: Runs) -> list[Claim]:
    claims = []
    for sent, mechanism in _MECHANISMS.items():
        by_loss: dict[float, Reading] = {loss: runs[name] for loss, name in _lossy_names(sent).items()}
        up_to = 0.0
        for loss, one in by_loss.items():
            # Success at 50 % is meaningless after a failure at 20 %.
            if not _held(one):
                break
            up_to = loss
        claims.append(
            CLAIMS(
                f"rd-loss-{_slug(sent)}",
                Ran(mechanism.variant, tuple(_lossy_names(sent).values())),
                up_to=up_to,
                near=[one.near for one in by_loss.values()],
                index=min(one.jain for one in by_loss.values()),
            )
        )
    return claims


def _floor(runs: Runs) -> Claim:
    (_, with_both), (_, goodput) = runs[_FLOOR], runs[_NO_FLOOR]
    ran = Ran(f"FICCRD, floor = 0, discovery_interval = off; {SENDERS}", (_FLOOR, _NO_FLOOR))
    part = goodput / with_both if with_both else None
    return CLAIMS("no-floor", ran, goodput=goodput, with_both=with_both, part_of_both=part)


def _encrypted_claims(runs: Runs) -> list[Claim]:
    claims = []
    tails: list[Reading] = runs.each(random_names(TAIL_DROP))
    tail_jains = [one.jain for one in tails]
    for sent, mechanism in _MECHANISMS.items():
        own = random_names(mechanism, _ENCRYPTED)
        found: list[Reading] = runs.each(own)
        jains = [one.jain for one in found]
        variant = f"{mechanism.variant}, encrypted = true, random send delays below {SEND_DELAY_MS:g} ms"
        claims.append(
            CLAIMS(
                f"encrypted-{_slug(sent)}",
                Ran(variant, (*own, *random_names(TAIL_DROP))),
                ratio=paired(found, tails, lambda one: one.drops),
                least=min(jains),
                most=max(jains),
                least_tail=min(tail_jains),
                most_tail=max(tail_jains),
            )
        )
    return claims


def _many_claims(runs: Runs) -> list[Claim]:
    claims = []
    for sent, mechanism in _MECHANISMS.items():
        for fast, kind in ((False, "1000-flows"), (True, "1000-flows-fast")):
            own_name, tail_name = _many_name(sent, fast=fast), _many_name("tail-drop", fast=fast)
            own, tail = runs[own_name], runs[tail_name]
            claims.append(
                CLAIMS(
                    f"{kind}-{_slug(sent)}",
                    Ran(mechanism.variant, (own_name, tail_name)),
                    ratio=own.drops / max(tail.drops, 1),
                    drops=own.drops,
                    index=own.jain,
                    queue=own.queue_mean,
                    tail_drops=tail.drops,
                    tail_index=tail.jain,
                    tail_queue=tail.queue_mean,
                )
            )
    return claims


def _limited_figure(runs: Runs) -> Illustration:
    figure = Figure(
        title="Two flows, one of which sends 0.3 of the capacity", x="reading of Table 1", y="use of the link"
    )
    panel = figure.panel
    uses = {
        f"RD packets {sent}": (
            style.look(name).colour,
            [runs[f"ficcrd-limited-{_LIMITED[rule, sent]}"].use for rule in _RULES],
        )
        for sent, name in zip(_SENT, _LOOKS, strict=True)
    }
    bars(panel, uses)
    fluid = [CLAIMS.value(f"limited-elsewhere-{rule}-by-number", "fluid") for rule in _RULES]
    levels(panel, fluid, 0.9, "fluid", BLACK)
    panel.x.name(*_RULES)
    panel.y.low = 0.0
    caption = "Where RD packets are timed, the greedy flow stops at six whole segments, whatever the reading."
    shown = (*(f"ficcrd-limited-{name}" for name in _LIMITED.values()), _OFTEN_RUN)
    return Illustration("A flow that is limited elsewhere", caption, figure, id="limited-elsewhere", scenarios=shown)


def _loss_figure(runs: Runs) -> Illustration:
    figure = Figure(
        title="Loss of RD packets", x="RD packets lost, each way (%)", y="queue near its target (% of time)"
    )
    panel = figure.panel
    shown: dict[str, Reading] = {}
    for sent, look in zip(_SENT, map(style.look, _LOOKS), strict=True):
        own = {name: runs[name] for name in _lossy_names(sent).values()}
        panel.line(
            [100 * loss for loss in RD_LOSSES],
            [100 * one.near for one in own.values()],
            marker=look.marker,
            colour=look.colour,
            label=f"RD packets {sent}",
        )
        shown |= own
    panel.rule("y", 100 * NEAR_OFTEN, label="our criterion", **PRINTED_LINE)
    panel.y.low, panel.y.high = 0.0, 105.0
    worst, late = min(one.jain for one in shown.values()), max(one.late_data for one in shown.values())
    caption = f"Data packets lost after the first 5 s: {late} at most. Jain's index: {worst:.4f} at least."
    return Illustration("Loss of RD packets", caption, figure, id="rd-loss", scenarios=tuple(shown))
