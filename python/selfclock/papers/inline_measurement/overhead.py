"""Overhead of measuring in Reno, and the rate of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.claims import Claim
from selfclock.page_parts import Table
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.mechanisms import ESTIMATORS, PROPOSED, RENO, Estimator
from selfclock.papers.inline_measurement.network import (
    FIGURE_7,
    RATE_GBPS,
    SECONDS,
    STARTED_S,
    drops,
    goodput_gbps,
    scenario,
    sender,
    udp_at,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.series import flow_series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: "Over 1 Gbps", the rate that the thesis names for ICIM; a fifth of the rates of figure 7.
RATE, PRODUCT = 1.0, 5000
#: UDP while results are counted, Gbit/s.
UDP = 0.4
#: Results are counted in samples at this interval, a thirtieth of the round-trip time, over the
#: last seconds.
SAMPLE_S, COUNT_S, COUNT_FROM_S = 0.002, 10.0, 4.0
#: "The same performance": throughput within 1 %.
SAME = 0.01
LOADS = {"alone": None, "beside-udp": [(time, RATE - free / RATE_GBPS) for time, free in FIGURE_7]}


def _name(estimator: Estimator | None, load: str) -> str:
    return f"reno-{load}" if estimator is None else f"reno-icim{estimator.suffix}-{load}"


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return Reno without and with both forms of ICIM, and the proposed mechanism with frequent samples."""
    made = []
    for load, rates in LOADS.items():
        udp = None if rates is None else udp_at([(time * scale, rate) for time, rate in rates])
        for estimator in (None, *ESTIMATORS):
            options = {} if estimator is None else {"estimate": "icim", **estimator.options}
            made.append(
                scenario(
                    _name(estimator, load),
                    [sender({**RENO.control, **options})],
                    seconds=SECONDS * scale,
                    rate_gbps=RATE,
                    udp=udp,
                    ssthresh=PRODUCT,
                    samples_s=0.1 * scale,
                )
            )
    made += [
        scenario(
            f"results{estimator.suffix}",
            [sender({**PROPOSED.control, **estimator.options})],
            seconds=COUNT_S * scale,
            rate_gbps=RATE,
            udp=udp_at(((0.0, UDP),)),
            ssthresh=PRODUCT,
            samples_s=SAMPLE_S,
        )
        for estimator in ESTIMATORS
    ]
    return made


def findings(runs: Mapping[str, Result], scale: float = 1.0) -> tuple[list[Claim], list[Table]]:
    """Judge both."""
    claims, rows = [], []
    begin, end = STARTED_S * scale, SECONDS * scale
    for estimator in ESTIMATORS:
        differences = []
        for load in LOADS:
            bare, own = (runs[_name(each, load)] for each in (None, estimator))
            without, measured = (goodput_gbps(flow_series(run), begin, end) for run in (bare, own))
            differences.append(measured / without - 1)
            rows.append(
                [
                    f"{load.replace('-', ' ').replace('udp', 'UDP')}, ICIM {estimator.label}",
                    f"{without:.4f}",
                    f"{measured:.4f}",
                    f"{differences[-1]:+.2%}",
                    str(drops(bare)),
                    str(drops(own)),
                ]
            )
        worst = max(differences, key=abs)
        claims.append(
            Claim(
                PAPER,
                "same-as-reno",
                "section 1, of reference 13",
                says="Reno that measures with ICIM is as good as Reno",
                printed="TCP with ICIM can transmit data with the same performance as Reno TCP",
                measured=f"{worst:+.2%}",
                verdict=verdicts.at_most(abs(worst), SAME),
                note="Goodput from 5 to 100 s, the larger difference of alone and beside UDP: "
                f"{', '.join(f'{each:+.2%}' for each in differences)}. The set-up of reference 13 is not in the "
                "thesis.",
                criterion="our criterion: within 1 % of Reno without it; direction within 2 %",
                readings=(estimator.reading,),
                variant=f"reno, {estimator.text}; 1 Gbit/s, rates a fifth of figure 7's, buffer of 5000 packets, "
                "NICs coalesce for 100 us",
                scenarios=tuple(_name(each, load) for load in LOADS for each in (None, estimator)),
            )
        )
    for estimator in ESTIMATORS:
        run = runs[f"results{estimator.suffix}"]
        trips, results = trips_per_result(run, scale)
        off = _off(run, scale)
        claims.append(
            Claim(
                PAPER,
                "results-per-rtt",
                "section 2.1.3",
                says="a result in every 1 to 4 round trips",
                printed="one result per 1–4 RTTs",
                measured=round(trips, 1) if results else "none",
                verdict="not reproduced"
                if not results or off > verdicts.ESTIMATE_TOLERANCE
                else verdicts.at_most(trips, 4),
                note=f"The median A is {off:.0%} off. {results} times another A, {COUNT_FROM_S:g} to {COUNT_S:g} s; "
                "the pause Q between measurements, of which the thesis has no length, is our choice of one round trip.",
                unit="RTT",
                criterion="our criterion: a new A every 4 smoothed round-trip times or more often, and the "
                f"median within {verdicts.ESTIMATE_TOLERANCE:.0%} of what is available; direction up to 8",
                readings=(estimator.reading,),
                variant=f"lotka-volterra, {estimator.text}; 1 Gbit/s, 0.4 Gbit/s of UDP",
                scenarios=(f"results{estimator.suffix}",),
            )
        )
    grid = Table(
        "Reno with ICIM",
        "Goodput from 5 to 100 s, Gbit/s; 1 Gbit/s, alone and beside a fifth of figure 7's UDP.",
        ["", "Reno", "with ICIM", "difference", "drops, Reno", "drops, with ICIM"],
        rows,
        texts=1,
    )
    return claims, [grid]


def _off(run: Result, scale: float) -> float:
    """How far the median of A is from what is available, as a part of it."""
    series = flow_series(run).filter(pl.col("time_s") >= COUNT_FROM_S * scale)
    median = series.filter(pl.col("available_bps").is_finite())["available_bps"].median()
    return abs(float(str(median)) / 1e9 / (RATE - UDP) - 1) if median is not None else float("inf")


def trips_per_result(run: Result, scale: float = 1.0) -> tuple[float, int]:
    """Smoothed round-trip times between new values of A, and the number of values."""
    series = flow_series(run).filter(pl.col("time_s") >= COUNT_FROM_S * scale)
    values = series.filter(pl.col("available_bps").is_finite())["available_bps"]
    results = int((values.diff().drop_nulls() != 0).sum())
    seconds = float(series["time_s"][-1] - series["time_s"][0])
    trip = float(str(series["srtt_s"].mean()))
    return (seconds / trip / results if results else float("inf")), results
