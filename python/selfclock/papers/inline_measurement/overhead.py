"""Overhead of measuring in Reno, and the rate of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.page_parts import Table
from selfclock.papers.declared import Ran
from selfclock.papers.inline_measurement.declared import CLAIMS
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
from selfclock.series import flow_series

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: "Over 1 Gbps", the rate that the thesis names for ICIM; a fifth of the rates of figure 7.
RATE, PRODUCT = 1.0, 5000
#: UDP while results are counted, Gbit/s.
UDP = 0.4
#: Results are counted in samples at this interval, a thirtieth of the round-trip time, over the
#: last seconds.
SAMPLE_S, COUNT_S, COUNT_FROM_S = 0.002, 10.0, 4.0
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


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Table]]:
    """Judge both."""
    rows = [_row(runs, estimator, load, scale) for estimator in ESTIMATORS for load in LOADS]
    grid = Table(
        "Reno with ICIM",
        "Goodput from 5 to 100 s, Gbit/s; 1 Gbit/s, alone and beside a fifth of figure 7's UDP.",
        ["", "Reno", "with ICIM", "difference", "drops, Reno", "drops, with ICIM"],
        rows,
        texts=1,
    )
    same = [_same(runs, estimator, scale) for estimator in ESTIMATORS]
    return [*same, *(_results(runs, estimator, scale) for estimator in ESTIMATORS)], [grid]


def _goodputs(runs: Runs, estimator: Estimator, load: str, scale: float) -> tuple[float, float]:
    """Return the goodput without and with ICIM, Gbit/s."""
    without, own = (
        goodput_gbps(flow_series(runs[_name(each, load)]), STARTED_S * scale, SECONDS * scale)
        for each in (None, estimator)
    )
    return without, own


def _row(runs: Runs, estimator: Estimator, load: str, scale: float) -> list[str]:
    without, own = _goodputs(runs, estimator, load, scale)
    return [
        f"{load.replace('-', ' ').replace('udp', 'UDP')}, ICIM {estimator.label}",
        f"{without:.4f}",
        f"{own:.4f}",
        f"{own / without - 1:+.2%}",
        *(str(drops(runs[_name(each, load)])) for each in (None, estimator)),
    ]


def _same(runs: Runs, estimator: Estimator, scale: float) -> Claim:
    goodputs = [_goodputs(runs, estimator, load, scale) for load in LOADS]
    differences = [own / without - 1 for without, own in goodputs]
    worst = max(differences, key=abs)
    variant = (
        f"reno, {estimator.text}; 1 Gbit/s, rates a fifth of figure 7's, buffer of 5000 packets, NICs coalesce for "
        "100 us"
    )
    names = tuple(_name(each, load) for load in LOADS for each in (None, estimator))
    ran = Ran(variant, names, (estimator.reading,))
    return CLAIMS("same-as-reno", ran, worst=worst, differences=differences, off=abs(worst))


def _results(runs: Runs, estimator: Estimator, scale: float) -> Claim:
    name = f"results{estimator.suffix}"
    trips, results = trips_per_result(runs[name], scale)
    return CLAIMS(
        "results-per-rtt",
        Ran(f"lotka-volterra, {estimator.text}; 1 Gbit/s, 0.4 Gbit/s of UDP", (name,), (estimator.reading,)),
        off=_off(runs[name], scale),
        results=results,
        trips=trips if results else None,
    )


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
