"""The thesis's future work: several connections, other algorithms, other RTTs, errors in K."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import COLOURS, along, dashes, label_sides
from selfclock.papers.inline_measurement.declared import CLAIMS
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
from selfclock.scenario.link import Change
from selfclock.scenario.quantity import s
from selfclock.series import flow_series, jain, link_series, mean_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
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


@dataclass(frozen=True)
class Group:
    """Connections that join one after another, paced or not."""

    number: int
    gain: float | None

    @property
    def name(self) -> str:
        """Name of its run."""
        return f"{self.number}-together{'' if self.gain is None else '-paced'}"

    @property
    def label(self) -> str:
        """For readers."""
        return f"{self.number} connections{'' if self.gain is None else ', spaced'}"


GROUPS = [Group(number, gain) for gain in PACING for number in NUMBERS]
_ROUND_TRIPS = "round-trip-times"


def _beside(algorithm: str) -> str:
    return f"beside-{algorithm}"


def _k_error(error: float) -> str:
    return f"k-error-{error:g}"


def _path(label: str) -> str:
    return f"path-{label.replace(' ', '-')}"


def _sharing_name(gamma: float, join_s: float) -> str:
    return f"sharing-gamma-{gamma:g}-from-{join_s:g}"


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run."""
    own = [sender(OWN)]
    made = [
        _scenario(
            group.name,
            [sender(OWN, start_s=JOIN_S * scale * i) for i in range(group.number)],
            SECONDS,
            scale,
            gain=group.gain,
        )
        for group in GROUPS
    ]
    made += [_scenario(_beside(name), [*own, sender(name)], BESIDE_SECONDS, scale) for name in BESIDE.values()]
    made.append(_scenario(_ROUND_TRIPS, [sender(OWN, rtt_ms=rtt) for rtt in RTTS_MS], SECONDS, scale))
    for error in K_ERRORS:
        rate = f"{RATE_GBPS * (1 + error):g} Gbps"
        control = {**OWN, "physical": "oracle", "physical_rate": rate}
        made.append(_scenario(_k_error(error), [sender(control)], SECONDS, scale, udp_at(((0.0, RATE_GBPS * K_LOAD),))))
    for label, (change, _) in CHANGES.items():
        made.append(_scenario(_path(label), own, SECONDS, scale, changes=[Change(s(CHANGE_S * scale), **change)]))
    for gamma in SHARING_GAMMAS:
        control = {**OWN, "gamma": gamma}
        first = sender(control, transport={"initial_ssthresh": f"{PRODUCT} segments"})
        for join in SHARING_JOINS_S:
            late = sender(control, start_s=join * scale, transport={"initial_ssthresh": SHARING_SSTHRESH})
            made.append(_scenario(_sharing_name(gamma, join), [first, late], SHARING_S, scale, gain=PACING[1]))
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


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge what the theory predicts, and report the rest."""
    claims = [claim for group in GROUPS for claim in _group_claims(group, runs[group.name], scale)]
    grid = Table(
        "Several connections, and errors of K",
        f"{RATE_GBPS:g} Gbit/s, 60 ms, buffer of one product. From {SKIPPED_S:g} to {SECONDS:g} s; beside Reno and "
        f"CUBIC from 20 to {BESIDE_SECONDS:g} s. Errors of K: K is given, A is measured, 40 % load of UDP.",
        ["", "shares of the link", "together", "mean queue, packets", "drops", ""],
        _rows(runs, scale),
    )
    path = Table(
        "A path that changes",
        f"One connection alone on {RATE_GBPS:g} Gbit/s; after {CHANGE_S:g} s the path becomes another. Throughput "
        "over the link's rate.",
        ["", "before", "0 to 2 s after", "2 to 5 s", "5 to 10 s", "20 to 30 s", "mean queue then", "drops"],
        [_change_row(label, rate, runs[_path(label)], scale) for label, (_, rate) in CHANGES.items()],
    )
    return (
        [*claims, _sharing(runs, scale)],
        [_together_illustration(runs), _sharing_illustration(runs)],
        [grid, path],
    )


def _group_claims(group: Group, result: Result, scale: float) -> list[Claim]:
    shares, windows, index = _of_group(result, scale)
    wanted = measured_limit(group.number)
    variant = f"{VARIANT}; {'no pacing' if group.gain is None else f'pacing_gain = {group.gain:g}'}"
    ran = Ran(variant, (group.name,))
    name = f"together-{group.number}{'' if group.gain is None else '-paced'}"
    return [
        CLAIMS(
            name,
            ran,
            share=sum(shares),
            drops=drops(result),
            printed=round(wanted, 3),
            wanted=wanted,
            windows=windows,
        ),
        CLAIMS(f"{name}-fair", ran, index=index),
    ]


def _of_group(result: Result, scale: float) -> tuple[list[float], float, float]:
    """Return the shares, the sum of the windows, and Jain's index."""
    begin, end = SKIPPED_S * scale, SECONDS * scale
    shares = _shares(result, begin, end)
    return shares, _windows(result, begin, end), jain(shares) or 0.0


def _rows(runs: Runs, scale: float) -> list[list[str]]:
    begin, end = SKIPPED_S * scale, SECONDS * scale
    rows = []
    for group in GROUPS:
        shares, windows, index = _of_group(runs[group.name], scale)
        label = f"{group.number} together{'' if group.gain is None else ', spaced'}"
        note = f"sum of windows {windows:.3f} products, Jain {index:.3f}"
        rows.append(_row(label, runs[group.name], shares, begin, end, note))
    others = [
        (f"beside {label}", _beside(name), 20 * scale, BESIDE_SECONDS * scale, "the mechanism first")
        for label, name in BESIDE.items()
    ]
    others.append(("round-trip times 60 and 120 ms", _ROUND_TRIPS, begin, end, ""))
    note = f"{1 - K_LOAD:.0%} of the link is available"
    others += [(f"K {error:+.0%}", _k_error(error), begin, end, note) for error in K_ERRORS]
    for label, name, first, last, note in others:
        rows.append(_row(label, runs[name], _shares(runs[name], first, last), first, last, note))
    return rows


def _change_row(label: str, rate_gbps: float, result: Result, scale: float) -> list[str]:
    """Return the use of the link around the change of a path."""
    series = flow_series(result)
    spans = ((-10, 0, RATE_GBPS), (0, 2, rate_gbps), (2, 5, rate_gbps), (5, 10, rate_gbps), (20, 30, rate_gbps))
    parts = [
        f"{goodput_gbps(series, (CHANGE_S + begin) * scale, (CHANGE_S + end) * scale) / link_gbps:.3f}"
        for begin, end, link_gbps in spans
    ]
    queue = mean_between(link_series(result), "queue_packets", (CHANGE_S + 20) * scale, SECONDS * scale)
    return [label, *parts, f"{queue:.0f}", str(drops(result))]


def _together_illustration(runs: Runs) -> Illustration:
    return Illustration(
        "Several connections",
        "Windows of each connection (grey) and their sum, in products of 2500 packets. Marks: n (1 - gamma) + gamma. "
        "Left without pacing, right with pacing_gain = 2; each connection joins 2 s after the one before.",
        _together_figure(runs),
        id="together",
        scenarios=tuple(group.name for group in GROUPS),
    )


def _together_figure(runs: Runs) -> Figure:
    figure = Figure(len(NUMBERS), len(PACING), height=6.0, same_scale=True)
    label_sides(figure, "time (s)", "window\n(products)")
    for group in GROUPS:
        panel, result = figure.panels[NUMBERS.index(group.number)][PACING.index(group.gain)], runs[group.name]
        total: list[float] = []
        for flow in result.summary["flows"]:
            series = flow_series(result, flow["name"])
            times = series["time_s"].to_list()
            own = [float(value or 0) / 1460 / PRODUCT for value in series["cwnd_bytes"]]
            total = [a + b for a, b in zip(total, own, strict=True)] if total else own
            panel.line(times, own, colour="#999999", width=0.5, label="one")
        panel.line(times, total, colour=COLOURS[0], label="sum")
        joined = [time for time in along(SECONDS) if time > JOIN_S * group.number]
        dashes(panel, joined, [measured_limit(group.number)] * len(joined), "n (1 - gamma) + gamma")
        panel.title = group.label
        panel.y.low, panel.y.high = 0.0, 2.5
    return figure


def _sharing_illustration(runs: Runs) -> Illustration:
    names = {gamma: _sharing_name(gamma, SHARING_JOINS_S[0]) for gamma in SHARING_GAMMAS}
    return Illustration(
        "Gamma and the sharing of two connections",
        "Windows of the connection that was there and of the one that joins at 10 s (dashed).",
        _sharing_figure({gamma: runs[name] for gamma, name in names.items()}),
        id="sharing",
        scenarios=tuple(names.values()),
    )


def _sharing_figure(results: Mapping[float, Result]) -> Figure:
    figure = Figure(len(SHARING_GAMMAS), x="time (s)", y="window\n(1000 packets)", height=5.4)
    for panel, (gamma, result) in zip(figure.column, results.items(), strict=True):
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


def _sharing(runs: Runs, scale: float) -> Claim:
    times = [
        [equal_s(runs[_sharing_name(gamma, join)], join, scale) for join in SHARING_JOINS_S] for gamma in SHARING_GAMMAS
    ]
    variant = (
        f"{VARIANT}; two connections, pacing_gain = {PACING[1]:g}, the second with initial_ssthresh = "
        f"{SHARING_SSTHRESH}"
    )
    names = tuple(_sharing_name(gamma, join) for gamma in SHARING_GAMMAS for join in SHARING_JOINS_S)
    return CLAIMS(
        "gamma-sharing",
        Ran(variant, names),
        medians=[statistics.median(each) for each in times],
        spans=[f"{min(each):.1f} to {max(each):.1f}" for each in times],
        constants=[1 / (EPSILON * (1 - gamma)) for gamma in SHARING_GAMMAS],
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
