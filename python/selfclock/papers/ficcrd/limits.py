"""Where the mechanism does not work, or stops to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.ficcrd.figures import LONG_HOLD, drops_by_flow
from selfclock.papers.ficcrd.network import BOTTLENECK, PAPER, RATE_MBPS, SECONDS, WINDOW, cell, queue, scenario
from selfclock.papers.ficcrd.verdicts import COLUMNS, FAIR, USE_TOLERANCE, close_verdict, measures
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: Of two flows one sends 0.3 of the capacity. The fluid, in which each flow sends resource discovery packets in
#: proportion
#: to its rate, ends at this use of the link.
LIMITED_PART = 0.3
FLUID_USE = {"outer-else": 0.754, "literal": 0.754, "icc": 1.0}
BY_NUMBER: dict[str, object] = {**WINDOW, "discovery_interval": "off"}

RD_LOSSES = (0.01, 0.05, 0.1, 0.2, 0.5)

#: A blast of datagrams at three times the rate fills the queue, so that DPF is 0.
BLAST_S = (80.0, 90.0)
WITHOUT_FLOOR: dict[str, object] = {**WINDOW, "floor": 0, "discovery_interval": "off"}

#: Half of the flows stop, and come back.
AWAY_S = (80.0, 140.0)

#: Many flows: on the paper's link, and on one with as much for each flow as the paper's ten have.
MANY = 1000
MANY_S = 20.0


def _limited(rule: str, router: dict[str, object], scale: float) -> Scenario:
    return scenario(
        f"ficcrd-limited-{rule}",
        {**router, "rule": rule},
        topology="a",
        flows=2,
        flow_keys={0: {"traffic": {"rate": f"{RATE_MBPS * LIMITED_PART:g} Mbps"}}},
        seconds=SECONDS * scale,
    )


def _lossy(loss: float, scale: float) -> Scenario:
    faults = {"mechanism": "loss", "links": [BOTTLENECK, "12-11"], "probability": loss, "kinds": ["resource-discovery"]}
    return scenario(f"ficcrd-rd-loss-{loss:g}", WINDOW, more_routers=[faults], seconds=SECONDS * scale, packets=True)


def _blasted(name: str, router: dict[str, object], scale: float) -> Scenario:
    begin, end = BLAST_S
    blast = {
        "protocol": "udp",
        "congestion_control": None,
        "start": f"{begin * scale:g} s",
        "stop": f"{end * scale:g} s",
        "traffic": {"rate": f"{RATE_MBPS:g} Mbps", "packet": "1500 B"},
    }
    # Three datagram sources, each as fast as its own link.
    return scenario(f"ficcrd-blast-{name}", router, flows=13, flow_keys=dict.fromkeys((10, 11, 12), blast),
                    seconds=SECONDS * scale)  # fmt: skip


def _leaving(name: str, router: dict[str, object], scale: float) -> list[Scenario]:
    """Five flows stay; five others run before and after a gap."""
    gone, back = AWAY_S
    keys: dict[int, dict[str, object]] = {number: {"stop": f"{gone * scale:g} s"} for number in range(5, 10)}
    keys |= {number: {"start": f"{back * scale:g} s"} for number in range(10, 15)}
    return [scenario(f"ficcrd-leaving-{name}", router, flows=15, flow_keys=keys, seconds=SECONDS * scale)]


def _many(scale: float) -> list[Scenario]:
    return [
        scenario("ficcrd-1000-flows", WINDOW, flows=MANY, topology="a", seconds=MANY_S * scale),
        scenario("ficcrd-1000-flows-fast", WINDOW, flows=MANY, topology="a", rate_mbps=RATE_MBPS * MANY / 10,
                 buffer_packets=20_000, seconds=MANY_S * scale),
    ]  # fmt: skip


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return all runs, in the order in which `findings` takes them."""
    return [
        *(_limited(rule, router, scale) for rule in FLUID_USE for router in (BY_NUMBER, WINDOW)),
        *(_lossy(loss, scale) for loss in RD_LOSSES),
        _blasted("floor", WINDOW, scale),
        _blasted("no-floor", WITHOUT_FLOOR, scale),
        *_leaving("window", WINDOW, scale),
        *_leaving("bucket", LONG_HOLD, scale),
        scenario("ficcrd-encrypted", WINDOW, transport={"encrypted": True}, seconds=SECONDS * scale),
        scenario("ficcrd-plain", None, seconds=SECONDS * scale),
        *_many(scale),
    ]


def _sent_mbps(result: Result, begin_s: float, end_s: float) -> float:
    """What the ten TCP flows had acknowledged per second."""
    series = pl.DataFrame(result.flows).filter(pl.col("time_s").is_between(begin_s, end_s))
    span = series.group_by("flow").agg(pl.col("acknowledged_bytes").max() - pl.col("acknowledged_bytes").min())
    return float(span["acknowledged_bytes"].sum()) * 8 / (end_s - begin_s) / 1e6


def _drops(result: Result, begin_s: float, end_s: float) -> int:
    drops = queue(result, begin_s, end_s)["drops"]
    return int(drops[-1] - drops[0])


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Grid]]:
    """Judge what can be judged, and list the rest."""
    runs = iter(results)
    claims, rows = [], []

    def note(label: str, result: Result) -> None:
        span = (5.0, MANY_S) if "1000" in label else (50.0, SECONDS)
        rows.append([label, *measures(result, scale, span).cells()])

    for rule, fluid in FLUID_USE.items():
        use = []
        for timed in ("RD packets only by number", "and timed"):
            result = next(runs)
            note(f"one of two flows sends {LIMITED_PART} of the capacity, {rule}, {timed}", result)
            use.append(cell(queue(result, 50 * scale, SECONDS * scale)["utilization"].mean()))
        claims.append(
            Claim(PAPER, f"limited-elsewhere-{rule}", "not in the paper",
                  f"Two flows, one sends {LIMITED_PART} of the capacity: use of the link, reading {rule}",
                  fluid, round(use[0], 3), close_verdict(use[0], fluid, USE_TOLERANCE),
                  f"Printed is the solution of the fluid, in which RD packets are in proportion to the rate. Within "
                  f"{USE_TOLERANCE}: reproduced; within three times that: direction. With one in 100 ms at "
                  f"least, which tell "
                  f"of both flows as often: {use[1]:.3f}.")
        )  # fmt: skip
    worst = 0.0
    for loss in RD_LOSSES:
        result = next(runs)
        note(f"RD packets lost with probability {loss:g}, each way", result)
        # The packets that are lost on purpose are not drops of the queue.
        lost = sum(drops_by_flow(result))
        rows[-1][3] = f"{lost} of data"
        if lost == 0 and measures(result, scale).jain > FAIR:
            worst = max(worst, loss)
    claims.append(
        Claim(PAPER, "rd-loss", "not in the paper",
        "Loss of resource discovery packets that leaves it fair and without a drop",
              "50 %", f"{worst:.0%}",
              "reproduced" if worst == max(RD_LOSSES) else "direction" if worst > 0 else "not reproduced",
              "The largest of 1, 5, 10, 20 and 50 %, lost on the way out and again on the way back, for which "
              "Jain's index is "
              "above 0.99 and no data is dropped."),
    )  # fmt: skip
    after = (BLAST_S[1] * scale + 1 * scale, BLAST_S[1] * scale + 21 * scale)
    blasted = []
    for label in ("with floor and timed RD packets", "without either"):
        result = next(runs)
        note(f"datagrams fill the queue for 10 s, {label}", result)
        blasted.append(_sent_mbps(result, *after))
    claims.append(
        Claim(PAPER, "no-floor", "not in the paper",
              "After the queue was full (DPF = 0), sources without a smallest window and without timed RD "
              "packets stay stopped",
              "below half of the rate", f"{blasted[1]:.2f} Mbit/s",
              "reproduced" if blasted[1] < RATE_MBPS / 2 else
              "direction" if blasted[1] < blasted[0] * 0.9 else "not reproduced",
              f"Goodput from 1 s to 21 s after the datagrams; with both {blasted[0]:.2f} Mbit/s. A fluid stays "
              f"stopped for ever. A "
              f"TCP source does not: its retransmission timer and its probes of a closed window send again, and their "
              f"acknowledgements carry the window of the rate that is allowed then."),
    )  # fmt: skip
    for label in ("window", "ACK bucket"):
        result = next(runs)
        note(f"five of ten flows away from 80 to 140 s, {label}", result)
        gone, back = (moment * scale for moment in AWAY_S)
        use = [_sent_mbps(result, gone + 1 * scale, gone + 11 * scale), _sent_mbps(result, gone + 30 * scale, back)]
        drops = _drops(result, back, back + 20 * scale)
        rows[-1][0] += (
            f": {use[0]:.2f} Mbit/s in the 10 s after they left, {use[1]:.2f} after 30 s; {drops} drops in 20 s "
            f"of return"
        )
    encrypted, plain = next(runs), next(runs)
    note("transport header encrypted, window", encrypted)
    note("no mechanism", plain)
    with_it, without = measures(encrypted, scale), measures(plain, scale)
    claims.append(
        Claim(PAPER, "encrypted", "not in the paper", "What it cannot read it cannot control: drops as under tail drop",
              without.drops, with_it.drops,
              "reproduced" if with_it.drops > without.drops / 2 else "direction" if with_it.drops else "not reproduced",
              f"After 5 s; Jain's index {with_it.jain:.4f}, tail drop {without.jain:.4f}. At least half as many: "
              f"reproduced."),
    )  # fmt: skip
    crowded, fast = next(runs), next(runs)
    note("1000 flows on the paper's link", crowded)
    note("1000 flows on 1 Gbit/s with a buffer of 20 000 packets", fast)
    span = (5.0, MANY_S)
    many, room = measures(crowded, scale, span), measures(fast, scale, span)
    claims.append(
        Claim(PAPER, "1000-flows", "not in the paper",
              "1000 flows on 10 Mbit/s: the smallest windows alone, 2000 segments, are more than the queue holds",
              "drops", f"{many.drops} drops", "reproduced" if many.drops > 0 else "not reproduced",
              f"5 to 20 s, Jain's index {many.jain:.3f}. On 1 Gbit/s with 20 000 places, where each flow has "
              f"what the paper's "
              f"ten have: {room.drops} drops, Jain's index {room.jain:.4f}, mean queue {room.queue_mean:.0f}."),
    )  # fmt: skip
    grid = Grid(
        "Limits of FICCRD",
        "10 Mbit/s, 200 packets, 50 to 200 s (1000 flows: 5 to 20 s). Flows that send datagrams or are away "
        "count as such in "
        "Jain's index.",
        ["run", *COLUMNS],
        rows,
    )
    return claims, [grid]
