"""Goodput in figures: it counts deliveries, so it never exceeds the link's rate."""

from __future__ import annotations

import numpy as np
import pytest

import selfclock as sc
from selfclock.figure import Line
from selfclock.series import flow_series
from selfclock.traces import Traces, goodput_curve


@pytest.mark.parametrize("recovery", ["rack", "sack"])
@pytest.mark.parametrize("name", ["reno", "cubic", "bbr3"])
@pytest.mark.parametrize(("rate_mbps", "duration_s"), [(10, 5), (100, 20)])
def test_goodput_is_never_above_the_link(name: str, recovery: str, rate_mbps: int, duration_s: int) -> None:
    """1448 of a packet's 1500 bytes are payload; an average over 64 segments or more is off by one ACK for two.

    Without SACK a sender does not know what has arrived beyond a gap that a timeout recovers.
    """
    scenario = sc.dumbbell(bottleneck=f"{rate_mbps} Mbps", flows=[name], duration=f"{duration_s} s")
    result = scenario.with_overrides([f"transport.recovery={recovery}"]).run()
    [flow] = result.summary["flows"]
    assert flow["retransmitted_segments"] > 5
    traces = Traces(result)
    goodput = traces.rate(traces.flows[0])
    # From the first sample on, including slow start.
    assert np.isfinite(goodput).all()
    assert goodput.max() < rate_mbps * 1e6
    series = flow_series(result)
    # It is the same measure: over the whole run it equals the summary's goodput, except for data in
    # transit.
    delivered = series["delivered_bytes"]
    assert delivered[-1] * 8 / duration_s == pytest.approx(flow["goodput_bps"], rel=0.05)
    assert (delivered.diff().drop_nulls() >= 0).all()
    assert (series["acknowledged_bytes"] <= delivered).all()
    assert (delivered <= series["sent_bytes"]).all()


def test_an_acknowledgement_jumps_where_delivery_does_not() -> None:
    """Why figures do not show the cumulative ACK: after a loss it jumps by everything held back."""
    traces = Traces(sc.dumbbell(bottleneck="100 Mbps", flows=["cubic"], duration="20 s").run())
    [flow] = traces.flows
    acknowledged = goodput_curve(traces.times, traces.column(flow, "acknowledged_bytes"), flow.payload_bytes)
    assert acknowledged.max() > 105e6
    assert traces.rate(flow).max() < 100e6


def test_averages_begin_with_the_run() -> None:
    """By hand: 1 kB/s from 1 s on, in segments of 1 kB and samples of 0.1 s; a sixtieth of 12 s is two samples."""
    times = np.arange(1, 121) * 0.1
    delivered = np.maximum(times - 1.0, 0.0) * 64e3
    rates = goodput_curve(times, delivered, segment=1e3)
    # 64 segments are delivered in 1 s: of windows of 2, 4, 8, 16 samples, 1.6 s is the first with
    # 64 or more.
    assert rates[9] == 0.0
    assert rates[15] == pytest.approx(0.6 * 64e3 * 8 / 1.6)
    assert rates[-1] == pytest.approx(64e3 * 8)


def test_figures_show_it() -> None:
    """The curves of `run` and `compare` stay below the link, even during slow start's overshoot."""
    comparison = sc.compare(["reno", "cubic"], rate="50 Mbps", duration="10 s", flows=2)
    for panel in (comparison.figure().panels[1][0], comparison.results["cubic"].plot.rate().panel):
        assert panel.y.label == "goodput (Mbit/s)"
        lines = [element for element in panel.elements if isinstance(element, Line)]
        assert len(lines) == 2
        assert 20 < max(line.y.max() for line in lines) < 50
