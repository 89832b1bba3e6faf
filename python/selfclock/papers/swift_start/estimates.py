"""Accuracy of two packet pairs: on an idle path, with thinned ACKs, and with traffic in either direction."""

from __future__ import annotations

import math
import statistics
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.drawing import PRINTED_LINE
from selfclock.papers.swift_start import verdicts
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    OC1_MBPS,
    PACKET_B,
    THINNING,
    TRANSPORT,
    reported_us,
    scenario,
    sender,
)
from selfclock.papers.swift_start.verdicts import PAPER
from selfclock.series import flow_series, packet_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RTT_MS = 274.0

#: The second segment of a pair carries an option of 8 bytes.
SECOND_B = PACKET_B + 8

#: Loads of the ACK path and of the data path.
LOADS = (0.25, 0.5, 0.9)

#: Seeds for loads of the ACK path, for the original with half its load, and for loads of the data
#: path.
SEEDS, MANY_SEEDS, FORWARD_SEEDS = range(1, 12), range(1, 101), range(1, 201)

#: Rates of the access links: behind the slower one, the two segments of a pair are farther apart at
#: the bottleneck.
ACCESS_MBPS = {"1 Gbit/s": 1000.0, "100 Mbit/s": 100.0}

#: Bottleneck rates at which an interval in whole microseconds is judged.
RATES_MBPS = (1.544, OC1_MBPS, 155.0, 622.0, 2488.0)

#: "Small interval" of ACK compression: below and above the 244 us between the ACKs of a pair.
THINNINGS = ("100 us", "300 us", "1 ms", "5 ms")

#: The forwarding rate of the paper's routers, each of which forwards data and ACKs.
FORWARDING: list[Mapping[str, object]] = [
    {"mechanism": "forwarding-limit", "links": ["bottleneck", "left-source1"], "packets_per_second": 5000},
    {"mechanism": "forwarding-limit", "links": ["reverse", "right-sink1"], "packets_per_second": 5000},
]

_IDLE: list[tuple[str, str, Mapping[str, object], Sequence[Mapping[str, object]]]] = [
    ("estimate-idle", "without delayed acknowledgements", {}, ()),
    ("estimate-delayed-ack", "with delayed acknowledgements", DELAYED_ACK, ()),
    ("estimate-thinned", "with delayed and thinned acknowledgements", DELAYED_ACK, (THINNING,)),
    ("estimate-forwarding", "through two routers of 5000 packets/s", DELAYED_ACK, FORWARDING),
]

_NEITHER = '"the actual capacity without neither over estimation nor under estimation"'

#: The original, configured so that its estimate can be read from the window.
_ORIGINAL = {"start": "swift-start", "swift_alpha": 1.0, "no_estimate": "freeze"}
_MODIFIED = {"start": "modified-swift-start", "jump_bound": "none"}
_VARIANT = {
    "original": "swift-start, swift_alpha = 1, no_estimate = freeze",
    "modified": "modified-swift-start, swift_alpha = 1 (default), jump_bound = none",
}


def _run(
    name: str,
    control: Mapping[str, object],
    transport: Mapping[str, object] = TRANSPORT,
    routers: Sequence[Mapping[str, object]] = (),
    *,
    seconds: float = 0.85,
    rate_mbps: float = OC1_MBPS,
    **more: float,
) -> Scenario:
    # The handshake, the first round trip and a little more; the start is random, too.
    return scenario(f"estimate-{name}", rate_mbps, RTT_MS, [sender(control, "1 MB", start_s=0.2)], seconds=seconds,
                    transport=transport, routers=routers, samples="1 ms", packets=True, **more)  # type: ignore[arg-type] # fmt: skip


def _idle(which: str) -> list[Scenario]:
    control = _ORIGINAL if which == "original" else _MODIFIED
    return [_run(f"{name.removeprefix('estimate-')}-{which}", control, {**TRANSPORT, **transport}, routers)
            for name, _, transport, routers in _IDLE]  # fmt: skip


def _rates() -> list[Scenario]:
    transport = {**TRANSPORT, **DELAYED_ACK}
    return [_run(f"{rate:g}-mbps", _MODIFIED, transport, (THINNING,), seconds=0.65, rate_mbps=rate)
            for rate in RATES_MBPS]  # fmt: skip


def _compressed() -> list[Scenario]:
    return [_run(f"compressed-{interval}", _ORIGINAL, TRANSPORT, ({**THINNING, "interval": interval},))
            for interval in THINNINGS]  # fmt: skip


def _reverse(which: str, load: float, seeds: Sequence[int]) -> list[Scenario]:
    control = _ORIGINAL if which == "original" else _MODIFIED
    return [_run(f"reverse-{load:g}-{which}-{seed}", control, reverse_load=load, seed=seed) for seed in seeds]


def _forward(access: str, load: float) -> list[Scenario]:
    # The run ends when the report has left the receiver, whose own clock is examined.
    return [_run(f"forward-{load:g}-{access}-{seed}", _MODIFIED, seconds=0.65, load=load, seed=seed,
                 access_mbps=ACCESS_MBPS[access]) for seed in FORWARD_SEEDS]  # fmt: skip


def _waiting() -> list[Scenario]:
    """Return a run in which only a timer sends the first ACK, at a rate that identifies the timer."""
    transport = {**TRANSPORT, "delayed_ack": {"every": 100, "timer": "200 ms", "quick": False}}
    flow = sender({"start": "modified-swift-start"}, "20 kB")
    return [scenario("figure-7-receiver", 1.544, 348, [flow], seconds=1.5, transport=transport, packets=True)]


def parts() -> list[Part]:
    """Return the runs, grouped in the order of `findings`."""
    modified = partial(_modified_error, rate_mbps=OC1_MBPS)
    return [
        Part(_idle("original"), _original_error),
        Part(_idle("modified"), modified),
        *(Part([run], partial(_modified_error, rate_mbps=rate))
          for run, rate in zip(_rates(), RATES_MBPS, strict=True)),
        Part(_compressed(), _original_error),
        *(Part(_reverse("original", load, MANY_SEEDS if load == LOADS[1] else SEEDS), _original_error)
          for load in LOADS),
        *(Part(_reverse("modified", load, SEEDS), modified) for load in LOADS),
        *(Part(_forward(access, load), modified) for access in ACCESS_MBPS for load in LOADS),
        Part(_waiting(), _waits_ms),
    ]  # fmt: skip


def _original_error(result: Result) -> float | None:
    """Error of the original's capacity, which is its window in the paced round trip."""
    paced = flow_series(result).filter(pl.col("phase") == "paced start")
    if len(paced) == 0:
        return None
    segments = float(paced["cwnd_bytes"][0]) / 1460
    rtt = result.summary["flows"][0]["rtt_min_s"]
    return None if rtt is None else segments * PACKET_B * 8 / rtt / OC1_MBPS / 1e6 - 1


def _modified_error(result: Result, rate_mbps: float) -> float | None:
    """Error of the rate in the receiver's first report."""
    reports = [interval for interval in reported_us(result) if interval > 0]
    return SECOND_B * 8 / reports[0] / rate_mbps - 1 if reports else None


def _waits_ms(result: Result) -> tuple[float, float]:
    """Times from the First and from the Second of the pair to the ACK with the interval, ms; infinite without one."""
    packets = packet_record(result, "time_s", "event", "kind", "sequence", "option")
    arrived = packets.filter((pl.col("event") == "deliver") & (pl.col("kind") == "data")).sort("sequence")["time_s"]
    answers = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "ack") & pl.col("option").is_not_null())
    if len(answers) == 0:
        return math.inf, math.inf
    left = float(answers["time_s"][0])
    return 1e3 * (left - float(arrived[0])), 1e3 * (left - float(arrived[1]))


def findings(readings: Sequence[list]) -> tuple[list[Claim], list[Illustration], list[Table]]:  # type: ignore[type-arg]
    """Judge the estimates."""
    rest = iter(readings)
    original, modified = next(rest), next(rest)
    rates = [next(rest)[0] for _ in RATES_MBPS]
    compressed = next(rest)
    reverse = {which: {load: next(rest) for load in LOADS} for which in ("original", "modified")}
    forward = {access: {load: next(rest) for load in LOADS} for access in ACCESS_MBPS}
    [waits] = next(rest)
    claims = [
        *_by_construction(original, modified, reverse["modified"]), _whole_microseconds(rates),
        *(_on_the_way(access, forward[access]) for access in ACCESS_MBPS), _compression(compressed),
        _ack_path(reverse["original"][LOADS[1]]), _figure_7(waits),
    ]  # fmt: skip
    rows = [
        *([f"idle, {what}", _percent(own), _percent(other)]
          for (_, what, *_), own, other in zip(_IDLE, original, modified, strict=True)),
        *([f"idle, {rate:g} Mbit/s", "", _percent(error)] for rate, error in zip(RATES_MBPS, rates, strict=True)),
        *([f"idle, acknowledgements thinned within {interval}", _percent(error), ""]
          for interval, error in zip(THINNINGS, compressed, strict=True)),
        *([f"{load:.0%} of the ACK path taken", _spread(reverse["original"][load]), _spread(reverse["modified"][load])]
          for load in LOADS),
        *([f"{load:.0%} of the data's way taken, access {access}", "", _spread(forward[access][load])]
          for access in ACCESS_MBPS for load in LOADS),
    ]  # fmt: skip
    grid = Table(
        "Error of the estimate",
        f"Estimated over true rate of the link, less one; 49.5 Mbit/s unless another rate is named. Loaded: median, "
        f"least and most of {len(SEEDS)} runs ({len(MANY_SEEDS)} of the original at 50 %, {len(FORWARD_SEEDS)} on the "
        f"data's way); the load is a Poisson stream of {PACKET_B}-byte packets. Where every acknowledgement covers two "
        f"segments the original makes no estimate.",
        ["path", "Swift Start", "modified Swift Start"],
        rows,
    )
    return claims, [_figure(reverse["original"][LOADS[1]], forward)], [grid]


def _by_construction(
    original: Sequence[float | None], modified: Sequence[float | None], reverse: Mapping[float, Sequence[float | None]]
) -> list[Claim]:
    why = (
        "By construction: the receiver's clock is exact, and on an idle link two segments leave it a packet time "
        "apart, whatever happens to acknowledgements. Not counted as a result of the paper."
    )
    criterion = f"our criterion: within {verdicts.ESTIMATE_TOLERANCE:.0%}"
    runs = [run.name for run in _idle("modified")]
    claims = [
        Claim(
            PAPER,
            identity,
            "section 3.2",
            says=f"the estimated capacity is the actual capacity, {what}",
            printed=None,
            measured=_percent(error),
            verdict=verdicts.estimate(error),
            note=f"{why} The original: {_percent(other)}.",
            of="own",
            criterion=criterion,
            variant=_VARIANT["modified"],
            figure="",
            scenarios=(run,),
        )
        for (identity, what, *_), error, other, run in zip(_IDLE[:3], modified, original, runs, strict=False)
    ]
    worst = max((abs(error) for errors in reverse.values() for error in errors if error is not None), default=None)
    none = sum(error is None for errors in reverse.values() for error in errors)
    return [
        *claims,
        Claim(
            PAPER,
            "estimate-ack-path",
            "section 3.2",
            says="queueing on the ACK path does not falsify the estimate",
            printed=None,
            measured=_percent(worst),
            verdict=verdicts.estimate(worst),
            note=f"Largest error of {len(SEEDS)} runs at each of 25, 50 and 90 % load; {none} runs without a report. "
            f"{why}",
            of="own",
            criterion=criterion,
            variant=_VARIANT["modified"],
            figure="",
            scenarios=tuple(run.name for load in LOADS for run in _reverse("modified", load, SEEDS)),
        ),
    ]


def _whole_microseconds(errors: Sequence[float | None]) -> Claim:
    worst = max(errors, key=lambda error: float("inf") if error is None else abs(error))
    each = ", ".join(f"{rate:g} Mbit/s {_percent(error)}" for rate, error in zip(RATES_MBPS, errors, strict=True))
    return Claim(
        PAPER,
        "estimate-microseconds",
        "section 3.2, equation 2",
        says="the estimated capacity is the actual capacity, with the interval reported in microseconds",
        printed=_NEITHER,
        measured=_percent(worst),
        verdict=verdicts.estimate(worst),
        note=f"Worst of five rates, idle path, delayed and thinned acknowledgements: {each}. 1508 B take 4.85 us at "
        "2488 Mbit/s: whole microseconds are too coarse for the fast networks that the paper is about.",
        of="paper",
        criterion=f"our criterion: within {verdicts.ESTIMATE_TOLERANCE:.0%} at every rate",
        variant=_VARIANT["modified"],
        figure="",
        scenarios=tuple(run.name for run in _rates()),
    )


def _wrong(errors: Sequence[float | None]) -> int:
    return sum(verdicts.estimate(error) != "reproduced" for error in errors)


def _on_the_way(access: str, errors: Mapping[float, Sequence[float | None]]) -> Claim:
    parts = {load: _wrong(of) / len(of) for load, of in errors.items()}
    worst = max(parts, key=lambda load: parts[load])
    low, high = verdicts.wilson(_wrong(errors[worst]), len(errors[worst]))
    each = ", ".join(f"{load:.0%} load {part:.1%}" for load, part in parts.items())
    known = [error for of in errors.values() for error in of if error is not None]
    return Claim(
        PAPER,
        f"estimate-forward-{access.lower().replace(' ', '-').replace('bit/s', 'bps')}",
        "section 3.2",
        says=f"neither over nor under estimation, with cross traffic on the forward path, hosts on {access}",
        printed=_NEITHER,
        measured=f"{parts[worst]:.1%} of the reports wrong",
        verdict=verdicts.seldom_wrong(parts[worst]),
        note=f"At the worst of three loads, {worst:.0%}; 95 % interval {low:.1%} to {high:.1%}. {each}; errors "
        f"{min(known, default=0.0):+.0%} to {max(known, default=0.0):+.0%}. "
        f"A packet between the two segments of the pair doubles the "
        f"interval; they are {8e3 * SECOND_B / ACCESS_MBPS[access] / 1e3:.0f} us apart when they reach the bottleneck.",
        of="paper",
        criterion=f"our criterion: first report off by more than {verdicts.ESTIMATE_TOLERANCE:.0%} in at "
        f"most {verdicts.FEW_WRONG:.0%} of {len(FORWARD_SEEDS)} seeds at every load: reproduced; in at most "
        f"{verdicts.SOME_WRONG:.0%}: direction",
        variant=_VARIANT["modified"],
        figure="estimates",
        scenarios=tuple(run.name for load in LOADS for run in _forward(access, load)),
    )


def _compression(errors: Sequence[float | None]) -> Claim:
    false = [error for error in errors if error is not None and verdicts.estimate(error) != "reproduced"]
    none = sum(error is None for error in errors)
    each = ", ".join(f"{interval}: {_percent(error)}" for interval, error in zip(THINNINGS, errors, strict=True))
    return Claim(
        PAPER,
        "ack-compression",
        "section 3.1b",
        says="ACK compression causes Swift Start to falsely estimate the path capacity",
        printed='"falsely estimate"',
        measured="no estimate" if none and not false else f"{len(false)} of {len(errors)} wrong",
        verdict="reproduced" if false else "direction" if none else "not reproduced",
        note=f"By the interval within which a router sends one acknowledgement for two: {each}. The one that is left "
        "covers two segments, and a sender that looks at what is acknowledged knows that it has no pair.",
        of="paper",
        criterion=f"our criterion: an estimate that is off by more than {verdicts.ESTIMATE_TOLERANCE:.0%}: "
        "reproduced; none at all: direction, for the start is spoilt, but not by a false estimate",
        variant=f"{_VARIANT['original']}, ACK for every segment, ack-thinning",
        figure="",
        scenarios=tuple(run.name for run in _compressed()),
    )


def _ack_path(errors: Sequence[float | None]) -> Claim:
    known = [error for error in errors if error is not None]
    over, under = (sum(sign * error > 0.1 for error in known) for sign in (1, -1))
    ends = [verdicts.wilson(count, len(errors)) for count in (over, under)]
    least = 0.05
    held = [low > least for low, _ in ends]
    return Claim(
        PAPER,
        "ack-path",
        "section 3.1c",
        says="queueing delays in the ACK path may cause an over or under estimate of the bottleneck capacity",
        printed='"an over or under estimate"',
        measured=f"{over} over and {under} under, of {len(errors)}",
        verdict="reproduced" if all(held) else "direction" if any(held) else "not reproduced",
        note=f"By more than 10 %, half of the reverse path taken; {min(known):+.0%} to {max(known):+.0%}. 95 % "
        f"intervals {ends[0][0]:.1%} to {ends[0][1]:.1%} over, {ends[1][0]:.1%} to {ends[1][1]:.1%} under. What is "
        "between two acknowledgements widens their interval, and a queue before both closes it.",
        of="paper",
        criterion=f"our criterion: estimates off by more than 10 % on either side, Wilson's 95 % interval "
        f"of each part above {least:.0%}: reproduced; of one: direction",
        variant=_VARIANT["original"],
        figure="estimates",
        scenarios=tuple(run.name for run in _reverse("original", LOADS[1], MANY_SEEDS)),
    )


def _figure_7(waits_ms: tuple[float, float]) -> Claim:
    first, second = waits_ms
    return Claim(
        PAPER,
        "figure-7-wait",
        "section 3.2, figure 7",
        says="on the second segment of a pair the receiver calculates the interval and waits for new 200 ms",
        printed='"wait for new 200 ms"',
        measured=f"{second:.3f} ms after the second",
        verdict="reproduced" if abs(second - 200) < 1 else "not reproduced",
        note=f"{first:.3f} ms after the first, at 1.544 Mbit/s. Only the timer sends this acknowledgement; where every "
        f"second segment is acknowledged, as elsewhere, the second one is answered at once.",
        of="paper",
        criterion="our criterion: the acknowledgement with the interval leaves 200 ms after the second, "
        "within 1 ms; 200 ms after the first would be 7.8 ms early",
        variant="modified-swift-start, jump_bound = ack-clock (default), delayed_ack every 100 or 200 ms",
        figure="",
        scenarios=("figure-7-receiver",),
    )


def _figure(
    original: Sequence[float | None], forward: Mapping[str, Mapping[float, Sequence[float | None]]]
) -> Illustration:
    figure = Figure(title="Distribution of the estimates", x="estimated over true rate of the link",
                    y="part of the seeds")  # fmt: skip
    panel = figure.panel
    series = [
        ("Swift Start, 50 % of the ACK path", original, style.look("swift-start")),
        *((f"modified, 50 % of the data's way, access {access}", forward[access][LOADS[1]], style.look(name))
          for access, name in zip(forward, ("modified-swift-start", "slow-start"), strict=True)),
    ]  # fmt: skip
    for label, errors, look in series:
        ratios = sorted(1 + error for error in errors if error is not None)
        parts = [(number + 0.5) / len(errors) for number in range(len(ratios))]
        panel.line(ratios, parts, colour=look.colour, step="before", label=label)
    panel.rule("x", 1, label="printed: the actual capacity", **PRINTED_LINE)
    panel.x.log = True
    panel.y.low, panel.y.high = 0.0, 1.02
    caption = "A step away from 1 is a part of the seeds in which the estimate is wrong."
    runs = [*_reverse("original", LOADS[1], MANY_SEEDS), *(run for access in forward for run in _forward(access, 0.5))]
    return Illustration(
        "Estimates beside traffic", caption, figure, id="estimates", scenarios=tuple(run.name for run in runs)
    )


def _percent(error: float | None) -> str:
    return "no estimate" if error is None else f"{100 * error:+.2f} %"


def _spread(errors: Sequence[float | None]) -> str:
    known = [100 * error for error in errors if error is not None]
    if not known:
        return "no estimate"
    text = f"{statistics.median(known):+.1f} % ({min(known):+.1f} to {max(known):+.1f})"
    return text if len(known) == len(errors) else f"{text}, none in {len(errors) - len(known)}"
