"""Goodput in figures: what is delivered, and so never above the rate of the link."""

from __future__ import annotations

import polars as pl
import pytest

import selfclock as sc
from selfclock.plot import goodput_mbps


@pytest.mark.parametrize("recovery", ["rack", "sack"])
@pytest.mark.parametrize("name", ["reno", "cubic", "bbr3"])
@pytest.mark.parametrize(("rate_mbps", "duration_s"), [(10, 5), (100, 20)])
def test_goodput_is_never_above_the_link(name: str, recovery: str, rate_mbps: int, duration_s: int) -> None:
    """A packet of 1500 bytes has 1448 of payload; an average of 64 segments or more is wrong by an ACK for two.

    Without SACK a sender does not know what has arrived beyond a gap that a timeout repairs.
    """
    scenario = sc.dumbbell(bottleneck=f"{rate_mbps} Mbps", flows=[name], duration=f"{duration_s} s")
    result = scenario.with_overrides([f"transport.recovery={recovery}"]).run()
    [flow] = result.summary["flows"]
    assert flow["retransmitted_segments"] > 5
    series = pl.DataFrame(result.flows)
    goodput = goodput_mbps(series, flow)
    assert goodput.max() < rate_mbps  # type: ignore[operator]
    # It is no other measure: over the whole run it is the goodput of the summary, but for what is on its way.
    delivered = series["delivered_bytes"]
    assert delivered[-1] * 8 / duration_s == pytest.approx(flow["goodput_bps"], rel=0.05)
    assert (delivered.diff().drop_nulls() >= 0).all()
    assert (series["acknowledged_bytes"] <= delivered).all()
    assert (delivered <= series["sent_bytes"]).all()


def test_an_acknowledgement_jumps_where_delivery_does_not() -> None:
    """Why figures do not show the cumulative ACK: after a loss it goes up by all that was held back."""
    result = sc.dumbbell(bottleneck="100 Mbps", flows=["cubic"], duration="20 s").run()
    series = pl.DataFrame(result.flows)
    [flow] = result.summary["flows"]
    acknowledged = series.with_columns(delivered_bytes=pl.col("acknowledged_bytes"))
    assert goodput_mbps(acknowledged, flow).max() > 105  # type: ignore[operator]
    assert goodput_mbps(series, flow).max() < 100  # type: ignore[operator]


def test_figures_show_it() -> None:
    """The curves of `run` and `compare` stay below the link, through slow start's overshoot too."""
    comparison = sc.compare(["reno", "cubic"], rate="50 Mbps", duration="10 s", flows=2)
    drawn = comparison.figure()
    _, rate, _ = (drawn.axes[row * 2] for row in range(3))
    tallest = max(max(y for y in line.get_ydata() if y == y) for line in rate.lines)  # noqa: PLR0124  not NaN
    assert 20 < tallest < 50
    [axes] = comparison.results["cubic"].plot.rate().axes
    assert max(max(y for y in line.get_ydata() if y == y) for line in axes.lines) < 50  # noqa: PLR0124
