"""How well two packet pairs know the link: idle, with delayed or thinned acknowledgements, with a busy ACK path."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.swift_start import verdicts
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    OC1_MBPS,
    PACKET_B,
    THINNING,
    TRANSPORT,
    Flow,
    reported_us,
    scenario,
)
from selfclock.papers.swift_start.verdicts import PAPER
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RTT_MS = 274.0

#: The second segment of a pair carries a mark of 8 bytes.
SECOND_B = PACKET_B + 8

#: Loads of the way of the acknowledgements, and of the way of the data.
LOADS = (0.25, 0.5, 0.9)
SEEDS = range(1, 12)

#: The forwarding rate of the paper's routers; each has data and acknowledgements to forward.
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
_LOADED = [("reverse", load) for load in LOADS] + [("forward", load) for load in LOADS]

#: The original in the form in which its estimate can be read off the window.
_ORIGINAL = {"start": "swift-start", "swift_alpha": 1.0, "no_estimate": "freeze"}
_MODIFIED = {"start": "modified-swift-start", "jump_bound": "none"}


def scenarios() -> list[Scenario]:
    """Return the runs with an idle path, then the loaded ones: each of them original and modified."""
    runs = [
        _run(control, {**TRANSPORT, **transport}, routers)
        for _, _, transport, routers in _IDLE
        for control in (_ORIGINAL, _MODIFIED)
    ]
    for way, load in _LOADED:
        loads = {"reverse_load": load} if way == "reverse" else {"load": load}
        runs += [_run(control, TRANSPORT, (), seed=seed, **loads)
                 for seed in SEEDS for control in (_ORIGINAL, _MODIFIED)]  # fmt: skip
    return runs


def _run(
    control: Mapping[str, object],
    transport: Mapping[str, object],
    routers: Sequence[Mapping[str, object]],
    seed: int = 1,
    load: float = 0.0,
    reverse_load: float = 0.0,
) -> Scenario:
    # The handshake, the first round trip and a little more; random by its start, too.
    return scenario("estimate", OC1_MBPS, RTT_MS, [Flow(control, "1 MB", start_s=0.2)], seconds=0.85,
                    transport=transport, routers=routers, load=load, reverse_load=reverse_load, seed=seed,
                    samples="1 ms", packets=True)  # fmt: skip


def _original_error(result: Result) -> float | None:
    """Error of the original's capacity, which is its window in the spread round trip."""
    frame = pl.DataFrame(result.flows).with_columns(pl.col("phase", "flow").cast(pl.String))
    paced = frame.filter((pl.col("phase") == "paced start") & (pl.col("flow") == "flow1"))
    if len(paced) == 0:
        return None
    segments = float(paced["cwnd_bytes"][0]) / 1460
    rtt = result.summary["flows"][0]["rtt_min_s"]
    return None if rtt is None else segments * PACKET_B * 8 / rtt / OC1_MBPS / 1e6 - 1


def _modified_error(result: Result) -> float | None:
    """Error of the rate that the receiver's first report tells."""
    reports = [interval for interval in reported_us(result) if interval > 0]
    return SECOND_B * 8 / reports[0] / OC1_MBPS - 1 if reports else None


def findings(results: Sequence[Result]) -> tuple[list[Claim], list[Grid]]:
    """Judge the estimates."""
    rest = iter(results)
    claims, rows = [], []
    for identity, what, _, _ in _IDLE:
        original, modified = _original_error(next(rest)), _modified_error(next(rest))
        rows.append([f"idle, {what}", _percent(original), _percent(modified)])
        if identity == "estimate-forwarding":
            continue
        claims.append(
            Claim(PAPER, identity, "section 3.2", f"the estimated capacity is the actual capacity, {what}",
                  "0 %", _percent(modified), "not reproduced" if modified is None else verdicts.estimate(modified),
                  f"Error of the rate that the receiver reports, on an idle path; the interval is told in whole "
                  f"microseconds. The original: {_percent(original)}. "
                  f"Tolerance {verdicts.ESTIMATE_TOLERANCE:.0%}.")
        )  # fmt: skip
    for way, load in _LOADED:
        errors: dict[str, list[float | None]] = {"original": [], "modified": []}
        for _ in SEEDS:
            errors["original"].append(_original_error(next(rest)))
            errors["modified"].append(_modified_error(next(rest)))
        rows.append([f"{load:.0%} of the {way} path taken", *(_spread(errors[name]) for name in errors)])
        if (way, load) == ("reverse", 0.5):
            claims.append(_ack_path(errors))
    grid = Grid(
        "Error of the estimate",
        "Estimated over true rate of the link, less one. Loaded: median of eleven runs, least and most; the "
        "load is a Poisson "
        "stream of 1500-byte packets. Where every acknowledgement covers two segments the original makes no "
        "estimate. On the way "
        "of the data both pairs meet the same packets.",
        ["path", "Swift Start", "modified Swift Start"],
        rows,
    )
    return claims, [grid]


def _ack_path(errors: Mapping[str, list[float | None]]) -> Claim:
    worst = {name: max((abs(error) for error in found if error is not None), default=None)
             for name, found in errors.items()}  # fmt: skip
    modified, original = worst["modified"], worst["original"]
    verdict = "not reproduced" if modified is None else verdicts.estimate(modified)
    return Claim(
        PAPER, "estimate-ack-path", "section 3.2", "queueing on the ACK path does not falsify the estimate", "0 %",
        _percent(modified), verdict,
        f"Largest error of {len(SEEDS)} runs with half of the reverse path taken; of the original: "
        f"{_percent(original)}. "
        f"Tolerance {verdicts.ESTIMATE_TOLERANCE:.0%}.",
    )  # fmt: skip


def _percent(error: float | None) -> str:
    return "no estimate" if error is None else f"{100 * error:+.2f} %"


def _spread(errors: Sequence[float | None]) -> str:
    known = [100 * error for error in errors if error is not None]
    if not known:
        return "no estimate"
    text = f"{statistics.median(known):+.1f} % ({min(known):+.1f} to {max(known):+.1f})"
    return text if len(known) == len(errors) else f"{text}, none in {len(errors) - len(known)}"
