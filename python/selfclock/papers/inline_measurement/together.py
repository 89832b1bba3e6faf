"""The thesis's future work: several connections, other algorithms, other RTTs, errors in K."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.drawing import COLOURS, along, dashes, label_sides
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.mechanisms import CORRECTED
from selfclock.papers.inline_measurement.network import (
    COALESCING,
    EPSILON,
    GAMMA,
    PACKET_B,
    RTT_MS,
    drops,
    goodput_gbps,
    scenario,
    sender,
    udp_at,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.scenario.link import Change
from selfclock.scenario.quantity import s
from selfclock.series import flow_series, jain, link_series, mean_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.flow import Background, Flow

#: A tenth of the thesis's rate.
RATE_GBPS = 0.5
PRODUCT = round(RATE_GBPS * 1e9 * RTT_MS / 1e3 / (8 * PACKET_B))
SECONDS, SKIPPED_S = 60.0, 40.0
OWN: dict[str, object] = {"window": "lotka-volterra"}
#: Numbers of connections; each joins two seconds after the previous one.
NUMBERS = (2, 5, 10)
JOIN_S = 2.0
#: No pacing, and pacing at twice the window per round trip, which keeps the bursts of a measurement
#: intact.
PACING = (None, 2.0)
#: Long enough for losses of Reno and CUBIC.
BESIDE_SECONDS = 100.0
BESIDE = {"Reno": "reno", "CUBIC": "cubic"}
RTTS_MS = (60.0, 120.0)
K_ERRORS = (-0.2, 0.0, 0.2)
#: Halfway, the path changes to half the rate, twice the RTT, or two thirds of it. Rate of the link
#: from then on, Gbit/s.
CHANGE_S = 30.0
CHANGES: dict[str, tuple[dict[str, str], float]] = {
    "half of the rate": ({"rate": "250 Mbps"}, 0.25),
    "60 ms becomes 120 ms": ({"delay": "50 ms"}, 0.5),
    "60 ms becomes 40 ms": ({"delay": "10 ms"}, 0.5),
}
K_LOAD = 0.4
#: Two paced connections; the second joins with a small window after the first has settled.
SHARING_GAMMAS = (0.5, 0.7, 0.9)
SHARING_JOINS_S, SHARING_S = (10.0, 10.1, 10.2, 10.3, 10.4), 50.0
#: For the second connection. The first has the BDP, so that it has settled by then.
SHARING_SSTHRESH = f"{PRODUCT // 5} segments"
#: "Converged": the smaller window is at least this fraction of the larger.
EQUAL = 0.9
VARIANT = f"lotka-volterra, {CORRECTED.text}; 0.5 Gbit/s, buffer of one product in packets, NICs coalesce for 100 us"


def measured_limit(number: int, gamma: float = GAMMA) -> float:
    """Return the sum of the windows of equal connections on a full link, in BDPs.

    The bandwidth used by others, K - A, is (1 - 1/n) K, so each connection has (1 - gamma + gamma /
    n) K tau.
    """
    return number * (1 - gamma) + gamma


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run."""
    own = [sender(OWN)]
    made = [
        _scenario(
            f"{number}-together{'' if gain is None else '-paced'}",
            [sender(OWN, start_s=JOIN_S * scale * i) for i in range(number)],
            SECONDS,
            scale,
            gain=gain,
        )
        for gain in PACING
        for number in NUMBERS
    ]
    made += [_scenario(f"beside-{name}", [*own, sender(name)], BESIDE_SECONDS, scale) for name in BESIDE.values()]
    made.append(_scenario("round-trip-times", [sender(OWN, rtt_ms=rtt) for rtt in RTTS_MS], SECONDS, scale))
    for error in K_ERRORS:
        rate = f"{RATE_GBPS * (1 + error):g} Gbps"
        control = {**OWN, "physical": "oracle", "physical_rate": rate}
        made.append(
            _scenario(f"k-error-{error:g}", [sender(control)], SECONDS, scale, udp_at(((0.0, RATE_GBPS * K_LOAD),)))
        )
    for label, (change, _) in CHANGES.items():
        changes = [Change(s(CHANGE_S * scale), **change)]
        made.append(_scenario(f"path-{label.replace(' ', '-')}", own, SECONDS, scale, changes=changes))
    for gamma in SHARING_GAMMAS:
        control = {**OWN, "gamma": gamma}
        first = sender(control, transport={"initial_ssthresh": f"{PRODUCT} segments"})
        for join in SHARING_JOINS_S:
            late = sender(control, start_s=join * scale, transport={"initial_ssthresh": SHARING_SSTHRESH})
            name = f"sharing-gamma-{gamma:g}-from-{join:g}"
            made.append(_scenario(name, [first, late], SHARING_S, scale, gain=PACING[1]))
    return made


def _scenario(
    name: str,
    flows: list[Flow],
    seconds: float,
    scale: float,
    udp: Background | None = None,
    gain: float | None = None,
    changes: Sequence[Change] = (),
) -> Scenario:
    return scenario(
        name,
        flows,
        seconds=seconds * scale,
        samples_s=0.1 * scale,
        rate_gbps=RATE_GBPS,
        udp=udp,
        ssthresh=PRODUCT // len(flows),
        coalescing=COALESCING,
        changes=changes,
        transport=None if gain is None else {"pacing_gain": gain},
    )


def _shares(result: Result, begin: float, end: float) -> list[float]:
    flows = [flow for flow in result.summary["flows"] if flow["algorithm"] != "udp"]
    return [goodput_gbps(flow_series(result, flow["name"]), begin, end) / RATE_GBPS for flow in flows]


def _windows(result: Result, begin: float, end: float) -> float:
    """Sum of the mean windows, in BDPs."""
    total = 0.0
    for flow in result.summary["flows"]:
        series = flow_series(result, flow["name"])
        total += mean_between(series, "cwnd_bytes", begin, end) / 1460 / PRODUCT
    return total


def findings(runs: Mapping[str, Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what the theory predicts, and report the rest."""
    results = [runs[made.name] for made in scenarios(scale)]
    claims, rows = [], []
    begin, end = SKIPPED_S * scale, SECONDS * scale
    where = "equation 8 with a measured A; section 5, future work"
    groups = [(number, gain) for gain in PACING for number in NUMBERS]
    for (number, gain), result in zip(groups, results, strict=False):
        paced, how = ("", "") if gain is None else ("-paced", ", spaced")
        shares, windows = _shares(result, begin, end), _windows(result, begin, end)
        wanted = measured_limit(number)
        variant = f"{VARIANT}; {'no pacing' if gain is None else f'pacing_gain = {gain:g}'}"
        index = jain(shares) or 0.0
        claims += [
            Claim(
                PAPER,
                f"together-{number}{paced}",
                where,
                says=f"the windows of {number} connections{how} sum to n (1 - gamma) + gamma products",
                printed=round(wanted, 3),
                measured=round(windows, 3),
                verdict=verdicts.within(windows, wanted, verdicts.MODEL_TOLERANCE),
                note="On a full link K - A, what the others carry, is (1 - 1/n) K, so equation 14 gives each 1 - gamma "
                f"+ gamma/n products. Throughput together {sum(shares):.3f} of the link, {drops(result)} drops.",
                unit="products",
                of="own",
                criterion="within 5 %; direction within 10 %",
                variant=variant,
                figure="together",
                scenarios=(result.scenario.name,),
            ),
            Claim(
                PAPER,
                f"together-{number}{paced}-fair",
                where,
                says=f"{number} connections{how} share equally",
                printed=None,
                measured=round(index, 3),
                verdict=verdicts.at_least(index, 0.95),
                note=f"From {SKIPPED_S:g} to {SECONDS:g} s.",
                of="own",
                criterion="Jain's index 0.95 or more; direction from 0.9",
                variant=variant,
                figure="together",
                scenarios=(result.scenario.name,),
            ),
        ]
        rows.append(
            _row(
                f"{number} together{how}",
                result,
                shares,
                begin,
                end,
                f"sum of windows {windows:.3f} products, Jain {index:.3f}",
            )
        )
    index = len(groups)
    for label in BESIDE:
        rows.append(
            _row(
                f"beside {label}",
                results[index],
                _shares(results[index], 20 * scale, BESIDE_SECONDS * scale),
                20 * scale,
                BESIDE_SECONDS * scale,
                "the mechanism first",
            )
        )
        index += 1
    rows.append(
        _row("round-trip times 60 and 120 ms", results[index], _shares(results[index], begin, end), begin, end, "")
    )
    index += 1
    for error in K_ERRORS:
        free = (1 - K_LOAD) * RATE_GBPS
        note = f"{free / RATE_GBPS:.0%} of the link is available"
        rows.append(_row(f"K {error:+.0%}", results[index], _shares(results[index], begin, end), begin, end, note))
        index += 1
    changed = []
    for label, (_, rate) in CHANGES.items():
        series = flow_series(results[index])
        spans = ((-10, 0, RATE_GBPS), (0, 2, rate), (2, 5, rate), (5, 10, rate), (20, 30, rate))
        parts = [
            f"{goodput_gbps(series, (CHANGE_S + begin) * scale, (CHANGE_S + end) * scale) / link_gbps:.3f}"
            for begin, end, link_gbps in spans
        ]
        queue = mean_between(link_series(results[index]), "queue_packets", (CHANGE_S + 20) * scale, SECONDS * scale)
        changed.append([label, *parts, f"{queue:.0f}", str(drops(results[index]))])
        index += 1
    claims.append(_sharing(results[index:], scale))
    path = Table(
        "A path that changes",
        f"One connection alone on {RATE_GBPS:g} Gbit/s; after {CHANGE_S:g} s the path becomes another. Throughput "
        "over the link's rate.",
        ["", "before", "0 to 2 s after", "2 to 5 s", "5 to 10 s", "20 to 30 s", "mean queue then", "drops"],
        changed,
    )
    grid = Table(
        "Several connections, and errors of K",
        f"{RATE_GBPS:g} Gbit/s, 60 ms, buffer of one product. From {SKIPPED_S:g} to {SECONDS:g} s; beside Reno and "
        f"CUBIC from 20 to {BESIDE_SECONDS:g} s. Errors of K: K is given, A is measured, 40 % load of UDP.",
        ["", "shares of the link", "together", "mean queue, packets", "drops", ""],
        rows,
    )
    grouped, late = results[: len(groups)], results[index:]
    return claims, [_together_illustration(groups, grouped), _sharing_illustration(late)], [grid, path]


def _together_illustration(groups: Sequence[tuple[int, float | None]], results: Sequence[Result]) -> Illustration:
    return Illustration(
        "Several connections",
        "Windows of each connection (grey) and their sum, in products of 2500 packets. Marks: n (1 - gamma) + gamma. "
        "Left without pacing, right with pacing_gain = 2; each connection joins 2 s after the one before.",
        _together_figure(groups, results),
        id="together",
        scenarios=tuple(result.scenario.name for result in results),
    )


def _together_figure(groups: Sequence[tuple[int, float | None]], results: Sequence[Result]) -> Figure:
    figure = Figure(len(NUMBERS), len(PACING), height=6.0, same_scale=True)
    label_sides(figure, "time (s)", "window\n(products)")
    for (number, gain), result in zip(groups, results, strict=True):
        panel = figure.panels[NUMBERS.index(number)][PACING.index(gain)]
        total: list[float] = []
        for flow in result.summary["flows"]:
            series = flow_series(result, flow["name"])
            times = series["time_s"].to_list()
            own = [float(value or 0) / 1460 / PRODUCT for value in series["cwnd_bytes"]]
            total = [a + b for a, b in zip(total, own, strict=True)] if total else own
            panel.line(times, own, colour="#999999", width=0.5, label="one")
        panel.line(times, total, colour=COLOURS[0], label="sum")
        joined = [time for time in along(SECONDS) if time > JOIN_S * number]
        dashes(panel, joined, [measured_limit(number)] * len(joined), "n (1 - gamma) + gamma")
        panel.title = f"{number} connections{'' if gain is None else ', spaced'}"
        panel.y.low, panel.y.high = 0.0, 2.5
    return figure


def _sharing_illustration(results: Sequence[Result]) -> Illustration:
    return Illustration(
        "Gamma and the sharing of two connections",
        "Windows of the connection that was there and of the one that joins at 10 s (dashed).",
        _sharing_figure(results[:: len(SHARING_JOINS_S)]),
        id="sharing",
        scenarios=tuple(result.scenario.name for result in results[:: len(SHARING_JOINS_S)]),
    )


def _sharing_figure(results: Sequence[Result]) -> Figure:
    figure = Figure(len(SHARING_GAMMAS), x="time (s)", y="window\n(1000 packets)", height=5.4)
    for panel, gamma, result in zip(figure.column, SHARING_GAMMAS, results, strict=True):
        panel.rule("x", SHARING_JOINS_S[0], colour="#999999", dash="--", width=0.6)
        for name, colour, label in (("flow1", COLOURS[0], "first"), ("flow2", COLOURS[1], "second")):
            series = flow_series(result, name)
            panel.line(series["time_s"], series["cwnd_bytes"] / 1.46e6, colour=colour, label=label)
        panel.title = f"gamma {gamma:g}"
        panel.y.low = 0.0
    return figure


def equal_s(result: Result, join_s: float, scale: float) -> float:
    """Time from the start of the second connection to a second in which the smaller window is `EQUAL` of the larger.

    If that never happens, the time to the end of the run.
    """
    first, second = (flow_series(result, name) for name in ("flow1", "flow2"))
    start = join_s + 1.0
    while start + 1.0 <= SHARING_S:
        means = [mean_between(each, "cwnd_bytes", start * scale, (start + 1.0) * scale) for each in (first, second)]
        if min(means) >= EQUAL * max(means):
            return start + 1.0 - join_s
        start += 0.5
    return SHARING_S - join_s


def _sharing(results: Sequence[Result], scale: float) -> Claim:
    count = len(SHARING_JOINS_S)
    times = [
        [
            equal_s(result, join, scale)
            for result, join in zip(results[count * i : count * (i + 1)], SHARING_JOINS_S, strict=True)
        ]
        for i in range(len(SHARING_GAMMAS))
    ]
    medians = [statistics.median(each) for each in times]
    constants = ", ".join(f"{1 / (EPSILON * (1 - gamma)):.1f}" for gamma in SHARING_GAMMAS)
    spans = ", ".join(f"{min(each):.1f} to {max(each):.1f}" for each in times)
    return Claim(
        PAPER,
        "gamma-sharing",
        "section 4.2.1",
        says="greater gamma makes several connections converge more slowly",
        printed="greater γ causes larger convergence time especially when multiple TCP connections share the "
        "bottleneck link",
        measured=", ".join(f"{time:.1f}" for time in medians),
        verdict=verdicts.order(medians, rising=True),
        note=f"Median of five starts, 0.1 s apart, for gamma {', '.join(f'{gamma:g}' for gamma in SHARING_GAMMAS)} "
        f"({spans}): time to a second in which the smaller window is {EQUAL:.0%} of the larger. With a measured A a "
        f"difference of windows decays with 1 / {{epsilon (1 - gamma)}}, {constants} s, whatever their number; alone "
        "the rate is epsilon {1 - gamma (1 - A/K)}, which gamma hardly changes.",
        unit="s",
        criterion="our criterion: medians 5 % longer with every step; direction: from the smallest to the largest "
        "gamma",
        variant=f"{VARIANT}; two connections, pacing_gain = {PACING[1]:g}, the second with initial_ssthresh = "
        f"{SHARING_SSTHRESH}",
        figure="sharing",
        scenarios=tuple(result.scenario.name for result in results),
    )


def _row(label: str, result: Result, shares: list[float], begin: float, end: float, note: str) -> list[str]:
    series = link_series(result)
    queue = mean_between(series, "queue_packets", begin, end)
    return [
        label,
        ", ".join(f"{share:.3f}" for share in shares),
        f"{sum(shares):.3f}",
        f"{queue:.0f}",
        str(drops(result)),
        note,
    ]
