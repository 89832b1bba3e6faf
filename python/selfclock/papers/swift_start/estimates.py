"""Accuracy of two packet pairs: on an idle path, with thinned ACKs, and with traffic in either direction."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.claims import within
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import PRINTED_LINE
from selfclock.papers.swift_start.declared import CLAIMS
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    OC1_MBPS,
    PACKET_B,
    THINNING,
    TRANSPORT,
    file_name,
    reported_us,
    scenario,
    sender,
)
from selfclock.papers.swift_start.wilson import wilson
from selfclock.series import flow_series, packet_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RTT_MS = 274.0

#: "The estimated capacity is the actual capacity".
TOLERANCE = 0.01

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
    flow = sender(control, "1 MB", start_s=0.2)
    options: dict[str, Any] = {"transport": transport, "routers": routers, **more}
    return scenario(_named(name), rate_mbps, RTT_MS, [flow], seconds=seconds, samples="1 ms", packets=True, **options)


_WHICH: dict[str, Mapping[str, object]] = {"original": _ORIGINAL, "modified": _MODIFIED}


def _named(name: str) -> str:
    """Return the name of the run that `_run` gives this name."""
    return file_name(f"estimate-{name}")


def _idle_name(case: str, which: str) -> str:
    return f"{case.removeprefix('estimate-')}-{which}"


def _rate_name(rate_mbps: float) -> str:
    return f"{rate_mbps:g}-mbps"


def _thinned_name(interval: str) -> str:
    return f"compressed-{interval}"


def _reverse_names(which: str, load: float) -> list[str]:
    seeds = MANY_SEEDS if which == "original" and load == LOADS[1] else SEEDS
    return [f"reverse-{load:g}-{which}-{seed}" for seed in seeds]


def _forward_names(access: str, load: float) -> list[str]:
    return [f"forward-{load:g}-{access}-{seed}" for seed in FORWARD_SEEDS]


def _scenarios(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_named, names))


def _seed(name: str) -> int:
    return int(name.rpartition("-")[2])


def _waiting() -> Scenario:
    """Return a run in which only a timer sends the first ACK, at a rate that identifies the timer."""
    transport = {**TRANSPORT, "delayed_ack": {"every": 100, "timer": "200 ms", "quick": False}}
    flow = sender({"start": "modified-swift-start"}, "20 kB")
    return scenario(_WAITING, 1.544, 348, [flow], seconds=1.5, transport=transport, packets=True)


_WAITING = "figure-7-receiver"


def parts() -> list[Part]:
    """Return the runs, by the sender whose estimate is read, and by the rate of the link."""
    own: dict[str, list[Scenario]] = {}
    for which, control in _WHICH.items():
        own[which] = [
            _run(_idle_name(case, which), control, {**TRANSPORT, **transport}, routers)
            for case, _, transport, routers in _IDLE
        ]
        own[which] += [
            _run(name, control, reverse_load=load, seed=_seed(name))
            for load in LOADS
            for name in _reverse_names(which, load)
        ]
    own["original"] += [
        _run(_thinned_name(interval), _ORIGINAL, TRANSPORT, ({**THINNING, "interval": interval},))
        for interval in THINNINGS
    ]
    # The run ends when the report has left the receiver, whose own clock is examined.
    own["modified"] += [
        _run(name, _MODIFIED, seconds=0.65, load=load, seed=_seed(name), access_mbps=access_mbps)
        for access, access_mbps in ACCESS_MBPS.items()
        for load in LOADS
        for name in _forward_names(access, load)
    ]
    thinned = {**TRANSPORT, **DELAYED_ACK}
    by_rate = [
        Part(
            [_run(_rate_name(rate), _MODIFIED, thinned, (THINNING,), seconds=0.65, rate_mbps=rate)],
            partial(_modified_error, rate_mbps=rate),
        )
        for rate in RATES_MBPS
    ]
    return [
        Part(own["original"], _original_error),
        Part(own["modified"], partial(_modified_error, rate_mbps=OC1_MBPS)),
        *by_rate,
        Part([_waiting()], _waits_ms),
    ]


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


@dataclass(frozen=True)
class Errors:
    """Errors of the estimates; none without an estimate."""

    #: By case and sender.
    idle: Mapping[tuple[str, str], float | None]
    #: By rate of the link, Mbit/s.
    rates: Mapping[float, float | None]
    #: By the interval within which a router thins ACKs.
    thinned: Mapping[str, float | None]
    #: By sender and load of the ACKs' way, seed by seed.
    reverse: Mapping[tuple[str, float], Sequence[float | None]]
    #: By access link and load of the data's way, seed by seed.
    forward: Mapping[tuple[str, float], Sequence[float | None]]

    @classmethod
    def of(cls, runs: Runs) -> Errors:
        """Return those of the runs."""

        def each(names: Sequence[str]) -> list[float | None]:
            return runs.each(map(_named, names))

        return cls(
            {(case, which): runs[_named(_idle_name(case, which))] for case, *_ in _IDLE for which in _WHICH},
            {rate: runs[_named(_rate_name(rate))] for rate in RATES_MBPS},
            {interval: runs[_named(_thinned_name(interval))] for interval in THINNINGS},
            {(which, load): each(_reverse_names(which, load)) for which in _WHICH for load in LOADS},
            {(access, load): each(_forward_names(access, load)) for access in ACCESS_MBPS for load in LOADS},
        )


def findings(runs: Runs) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the estimates."""
    errors = Errors.of(runs)
    claims = [
        *_by_construction(errors),
        _whole_microseconds(errors),
        *(_on_the_way(access, errors) for access in ACCESS_MBPS),
        _compression(errors),
        _ack_path(errors.reverse["original", LOADS[1]]),
        _figure_7(runs[_WAITING]),
    ]
    return claims, [_figure(errors)], [_table(errors)]


def _table(errors: Errors) -> Table:
    rows = [
        *([f"idle, {what}", *(_percent(errors.idle[case, which]) for which in _WHICH)] for case, what, *_ in _IDLE),
        *([f"idle, {rate:g} Mbit/s", "", _percent(error)] for rate, error in errors.rates.items()),
        *(
            [f"idle, acknowledgements thinned within {interval}", _percent(error), ""]
            for interval, error in errors.thinned.items()
        ),
        *(
            [f"{load:.0%} of the ACK path taken", *(_spread(errors.reverse[which, load]) for which in _WHICH)]
            for load in LOADS
        ),
        *(
            [f"{load:.0%} of the data's way taken, access {access}", "", _spread(found)]
            for (access, load), found in errors.forward.items()
        ),
    ]
    return Table(
        "Error of the estimate",
        f"Estimated over true rate of the link, less one; 49.5 Mbit/s unless another rate is named. Loaded: median, "
        f"least and most of {len(SEEDS)} runs ({len(MANY_SEEDS)} of the original at 50 %, {len(FORWARD_SEEDS)} on the "
        f"data's way); the load is a Poisson stream of {PACKET_B}-byte packets. Where every acknowledgement covers two "
        f"segments the original makes no estimate.",
        ["path", "Swift Start", "modified Swift Start"],
        rows,
    )


def _by_construction(errors: Errors) -> list[Claim]:
    """Judge what holds whatever happens: all but the case with two routers, which the table has."""
    claims = [
        CLAIMS(
            case,
            Ran(_VARIANT["modified"], (_named(_idle_name(case, "modified")),)),
            error=errors.idle[case, "modified"],
            own=_percent(errors.idle[case, "modified"]),
            other=_percent(errors.idle[case, "original"]),
        )
        for case, *_ in _IDLE
        if case in CLAIMS.declared
    ]
    loaded = [error for load in LOADS for error in errors.reverse["modified", load]]
    worst = max((abs(error) for error in loaded if error is not None), default=None)
    names = [name for load in LOADS for name in _reverse_names("modified", load)]
    return [
        *claims,
        CLAIMS(
            "estimate-ack-path",
            Ran(_VARIANT["modified"], _scenarios(names)),
            error=worst,
            shown=_percent(worst),
            none=loaded.count(None),
        ),
    ]


def _whole_microseconds(errors: Errors) -> Claim:
    worst = max(errors.rates.values(), key=lambda error: math.inf if error is None else abs(error))
    return CLAIMS(
        "estimate-microseconds",
        Ran(_VARIANT["modified"], _scenarios([_rate_name(rate) for rate in RATES_MBPS])),
        each=", ".join(f"{rate:g} Mbit/s {_percent(error)}" for rate, error in errors.rates.items()),
        error=worst,
        shown=_percent(worst),
    )


def _is_right(error: float | None) -> bool:
    return error is not None and within(error, 0.0, TOLERANCE)


def _wrong(errors: Sequence[float | None]) -> int:
    return sum(not _is_right(error) for error in errors)


def _on_the_way(access: str, every: Errors) -> Claim:
    errors = {load: every.forward[access, load] for load in LOADS}
    parts = {load: _wrong(of) / len(of) for load, of in errors.items()}
    worst = max(parts, key=lambda load: parts[load])
    low, high = wilson(_wrong(errors[worst]), len(errors[worst]))
    each = ", ".join(f"{load:.0%} load {part:.1%}" for load, part in parts.items())
    known = [error for of in errors.values() for error in of if error is not None]
    return CLAIMS(
        f"estimate-forward-{access.lower().replace(' ', '-').replace('bit/s', 'bps')}",
        Ran(_VARIANT["modified"], _scenarios([name for load in LOADS for name in _forward_names(access, load)])),
        wrong=parts[worst],
        worst=worst,
        low=low,
        high=high,
        each=each,
        least=min(known, default=0.0),
        most=max(known, default=0.0),
        apart_us=8e3 * SECOND_B / ACCESS_MBPS[access] / 1e3,
    )


def _compression(errors: Errors) -> Claim:
    found = list(errors.thinned.values())
    wrong = sum(error is not None and not _is_right(error) for error in found)
    names = [_thinned_name(interval) for interval in THINNINGS]
    return CLAIMS(
        "ack-compression",
        Ran(f"{_VARIANT['original']}, ACK for every segment, ack-thinning", _scenarios(names)),
        each=", ".join(f"{interval}: {_percent(error)}" for interval, error in errors.thinned.items()),
        silent=None in found and not wrong,
        wrong=wrong,
        count=len(found),
        none=found.count(None),
    )


def _ack_path(errors: Sequence[float | None]) -> Claim:
    known = [error for error in errors if error is not None]
    over, under = (sum(sign * error > 0.1 for error in known) for sign in (1, -1))
    ends = [wilson(count, len(errors)) for count in (over, under)]
    return CLAIMS(
        "ack-path",
        Ran(_VARIANT["original"], _scenarios(_reverse_names("original", LOADS[1]))),
        over=over,
        under=under,
        count=len(errors),
        least=min(known),
        most=max(known),
        over_low=ends[0][0],
        over_high=ends[0][1],
        under_low=ends[1][0],
        under_high=ends[1][1],
    )


def _figure_7(waits_ms: tuple[float, float]) -> Claim:
    first, second = waits_ms
    return CLAIMS(
        "figure-7-wait",
        Ran(
            "modified-swift-start, jump_bound = ack-clock (default), delayed_ack every 100 or 200 ms",
            ("figure-7-receiver",),
        ),
        second=second,
        first=first,
    )


def _figure(errors: Errors) -> Illustration:
    figure = Figure(
        title="Distribution of the estimates", x="estimated over true rate of the link", y="part of the seeds"
    )
    panel = figure.panel
    half = LOADS[1]
    series = [
        ("Swift Start, 50 % of the ACK path", errors.reverse["original", half], style.look("swift-start")),
        *(
            (f"modified, 50 % of the data's way, access {access}", errors.forward[access, half], style.look(name))
            for access, name in zip(ACCESS_MBPS, ("modified-swift-start", "slow-start"), strict=True)
        ),
    ]
    for label, found, look in series:
        ratios = sorted(1 + error for error in found if error is not None)
        parts = [(number + 0.5) / len(found) for number in range(len(ratios))]
        panel.line(ratios, parts, colour=look.colour, step="before", label=label)
    panel.rule("x", 1, label="printed: the actual capacity", **PRINTED_LINE)
    panel.x.log = True
    panel.y.low, panel.y.high = 0.0, 1.02
    caption = "A step away from 1 is a part of the seeds in which the estimate is wrong."
    names = [
        *_reverse_names("original", half),
        *(name for access in ACCESS_MBPS for name in _forward_names(access, half)),
    ]
    return Illustration("Estimates beside traffic", caption, figure, id="estimates", scenarios=_scenarios(names))


def _percent(error: float | None) -> str:
    return "no estimate" if error is None else f"{100 * error:+.2f} %"


def _spread(errors: Sequence[float | None]) -> str:
    known = [100 * error for error in errors if error is not None]
    if not known:
        return "no estimate"
    text = f"{statistics.median(known):+.1f} % ({min(known):+.1f} to {max(known):+.1f})"
    return text if len(known) == len(errors) else f"{text}, none in {len(errors) - len(known)}"
