"""What the thesis leaves as future work: several connections, other algorithms, round-trip times, errors of K."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.compare import jain
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.behaviour import drops
from selfclock.papers.inline_measurement.network import (
    COALESCING,
    PACKET_B,
    RTT_MS,
    Background,
    Flow,
    flow_series,
    goodput_gbps,
    link_series,
    mean_between,
    scenario,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Grid
from selfclock.species import limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: A tenth of the thesis's rate.
RATE_GBPS = 0.5
PRODUCT = round(RATE_GBPS * 1e9 * RTT_MS / 1e3 / (8 * PACKET_B))
SECONDS, SKIPPED_S = 60.0, 40.0
OWN: dict[str, object] = {"window": "lotka-volterra"}
#: Connections together; each joins two seconds after the one before.
NUMBERS = (2, 5, 10)
JOIN_S = 2.0
#: Without pacing; and spaced at twice the window over a round trip, which leaves the bursts of a measurement as they
#: are.
PACING = (None, 2.0)
#: Long enough for Reno and CUBIC to have losses.
BESIDE_SECONDS = 100.0
BESIDE = {"Reno": "reno", "CUBIC": "cubic"}
RTTS_MS = (60.0, 120.0)
K_ERRORS = (-0.2, 0.0, 0.2)
#: Half way the path becomes another: half of the rate, twice the round-trip time, two thirds of it. From then on the
#: link has so many Gbit/s.
CHANGE_S = 30.0
CHANGES: dict[str, tuple[dict[str, object], float]] = {
    "half of the rate": ({"rate": "250 Mbps"}, 0.25),
    "60 ms becomes 120 ms": ({"delay": "50 ms"}, 0.5),
    "60 ms becomes 40 ms": ({"delay": "10 ms"}, 0.5),
}
K_LOAD = 0.4
GAMMA = 0.9


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run."""
    own = [Flow(OWN)]
    made = [
        _scenario(
            f"{number}-together{'' if gain is None else '-paced'}",
            [Flow(OWN, start_s=JOIN_S * scale * i) for i in range(number)],
            SECONDS,
            scale,
            gain=gain,
        )
        for gain in PACING
        for number in NUMBERS
    ]
    made += [_scenario(f"beside-{name}", [*own, Flow(name)], BESIDE_SECONDS, scale) for name in BESIDE.values()]
    made.append(_scenario("round-trip-times", [Flow(OWN, rtt_ms=rtt) for rtt in RTTS_MS], SECONDS, scale))
    for error in K_ERRORS:
        rate = f"{RATE_GBPS * (1 + error):g} Gbps"
        control = {**OWN, "physical": "oracle", "physical_rate": rate}
        made.append(
            _scenario(f"k-error-{error:g}", [Flow(control)], SECONDS, scale, Background(((0.0, RATE_GBPS * K_LOAD),)))
        )
    for label, (change, _) in CHANGES.items():
        at = {"at": f"{CHANGE_S * scale:g} s", **change}
        made.append(_scenario(f"path-{label.replace(' ', '-')}", own, SECONDS, scale, changes=[at]))
    return made


def _scenario(
    name: str,
    flows: list[Flow],
    seconds: float,
    scale: float,
    udp: Background | None = None,
    gain: float | None = None,
    changes: Sequence[dict[str, object]] = (),
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
    """Sum of the mean windows over the product."""
    total = 0.0
    for flow in result.summary["flows"]:
        series = flow_series(result, flow["name"])
        total += mean_between(series, "cwnd_bytes", begin, end) / 1460 / PRODUCT
    return total


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Grid]]:
    """Judge what theory says, and show the rest."""
    claims, rows = [], []
    begin, end = SKIPPED_S * scale, SECONDS * scale
    where = "section 5, future work; equation 7"
    groups = [(number, gain) for gain in PACING for number in NUMBERS]
    for (number, gain), result in zip(groups, results, strict=False):
        paced, how = ("", "") if gain is None else ("-paced", ", spaced")
        shares, windows = _shares(result, begin, end), _windows(result, begin, end)
        wanted = limit(number, capacity=number, gamma=GAMMA)
        index = jain(shares) or 0.0
        claims += [
            Claim(
                PAPER,
                f"together-{number}{paced}",
                where,
                f"the windows of {number} connections{how} sum to n / (1 + gamma (n - 1)) products",
                round(wanted, 3),
                round(windows, 3),
                verdicts.within(windows, wanted, verdicts.MODEL_TOLERANCE),
                f"At most 1 / gamma = 1.11. Throughput together {sum(shares):.3f} of the link, {drops(result)} drops.",
                "products",
            ),
            Claim(
                PAPER,
                f"together-{number}{paced}-fair",
                where,
                f"{number} connections{how} share equally",
                "Jain's index 0.95 or more",
                round(index, 3),
                verdicts.at_least(index, 0.95),
                f"From {SKIPPED_S:g} to {SECONDS:g} s.",
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
    path = Grid(
        "A path that changes",
        f"One connection alone on {RATE_GBPS:g} Gbit/s; after {CHANGE_S:g} s the path becomes another. Throughput over "
        "the link's rate.",
        ["", "before", "0 to 2 s after", "2 to 5 s", "5 to 10 s", "20 to 30 s", "mean queue then", "drops"],
        changed,
    )
    grid = Grid(
        "Several connections, and errors of K",
        f"{RATE_GBPS:g} Gbit/s, 60 ms, buffer of one product. From {SKIPPED_S:g} to {SECONDS:g} s; beside Reno "
        f"and CUBIC from 20 to "
        f"{BESIDE_SECONDS:g} s. Errors of K: K is given, A is measured, 40 % load of UDP.",
        ["", "shares of the link", "together", "mean queue, packets", "drops", ""],
        rows,
    )
    return claims, [grid, path]


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
