"""Measurements of the packet-pair paper's runs, and their figures."""

from __future__ import annotations

import polars as pl
import pytest

from legible import faults
from selfclock.figure import Bars, Line, Points
from selfclock.paper_runs import run_studies
from selfclock.papers import packet_pair
from selfclock.papers.packet_pair import behaviour, claims, ensemble, figure_06
from selfclock.papers.packet_pair.spread import RUNS, Spread


def run(sent: list[float], drops: list[float] | None = None, seconds: float = 10.0) -> ensemble.Run:
    return ensemble.Run(sent=sent, transmissions=sent, drops=drops or [], seconds=seconds)


def test_spread() -> None:
    spread = Spread.of(range(RUNS, 0, -1))
    assert (spread.mean, spread.median, spread.quantile(0.25), spread.interval) == (25.5, 25.5, 13.25, (18, 33))
    with pytest.raises(ValueError, match="49 runs"):
        Spread.of(range(49))


def test_slow_start_is_compared_until_the_first_drop() -> None:
    reno, new = run([0, 1, 1, 1, 2, 2], drops=[1.5]), run([0, 1, 1, 1.2, 1.6, 2])
    assert behaviour.slow_start_percent(reno, new) == 0
    slower = run([0, 1, 1.6, 2, 3], drops=[3])
    assert behaviour.slow_start_percent(reno, slower) == -50


def test_silence() -> None:
    assert behaviour.longest_silence(run([0, 0.25, 1.5, 9.5])) == 8
    assert behaviour.longest_silence(run([0, 1, 2])) == 8


def test_bursts() -> None:
    assert behaviour.burst_share(run([0, 1, 1, 2, 2, 2, 3, 3, 3, 3])) == 0.7


@pytest.mark.parametrize(
    ("paper_scenarios", "settings_of_each"),
    [(ensemble.single_scenarios, 1), (ensemble.course_scenarios, len(ensemble.READ))],
)
def test_scenarios_are_named_by_their_settings(paper_scenarios: object, settings_of_each: int) -> None:
    settings: dict[str, str] = {}
    for scenario in paper_scenarios():  # type: ignore[operator]
        assert settings.setdefault(scenario.name, scenario.with_seed(0).settings) == scenario.with_seed(0).settings
    assert len(settings) == len(ensemble.EXPERIMENTS) * settings_of_each


def test_ladder_of_both_sides() -> None:
    """The first pair by hand: 1004 B take 16.1 ms at 500 kbit/s, and 52 B 86.7 ms at 4.8 kbit/s."""
    both_sides = next(experiment for experiment in ensemble.EXPERIMENTS if experiment.figure == 13)
    found = figure_06.ladder(ensemble.scenario(both_sides, ensemble.FROM_TIME_0).run())
    pair = found.packets.filter(found.packets["id"] == 0).sort("time_s", "packet")
    assert pair["kind"].to_list() == ["data", "data", "ack", "ack"]
    assert pair["mark"].to_list() == [1, 2, 1, 2]
    first, second = pair["arrival"].to_list()[:2]
    assert pair["time_s"].to_list()[2:] == [first, second]
    assert second - first == pytest.approx(figure_06.SEGMENT_S, abs=1e-9)
    first_ack, second_ack = pair["arrival"].to_list()[2:]
    # 12 more bytes on the access link of 10 Mbit/s, except for the first: 6.4 us.
    assert second_ack - first_ack == pytest.approx(figure_06.ACK_S, abs=1e-5)
    # Figure 5: the next pair leaves as the reply to the last arrives; that of one was lost.
    data, acks = (found.packets.filter(found.packets["kind"] == kind).sort("id") for kind in ("data", "ack"))
    left = data.filter(data["mark"] == 1)["time_s"].to_list()
    replied = acks.filter(acks["mark"] == 2)["arrival"].to_list()
    assert found.answered == found.pairs == len(left) == len(replied)
    assert replied.count(None) == 1
    assert all(reply in (None, following) for reply, following in zip(replied[:-1], left[1:], strict=True))


def test_figures_show_what_the_claims_count() -> None:
    """Figure 8 shows the printed count, and one point for each segment of the run from time 0."""
    [(findings, _)] = run_studies([packet_pair.study()])
    assert faults(findings.figures) == []
    shown = {illustration.id: illustration.figure for illustration in findings.figures}
    result = ensemble.scenario(ensemble.EXPERIMENTS[0], ensemble.FROM_TIME_0).run()
    top, window, queue = shown["figure-8"].column
    by_label = {element.label: element for element in top.elements if isinstance(element, Points)}
    assert (by_label["printed"].x.tolist(), by_label["printed"].y.tolist()) == ([10], [claims.PRINTED_COUNTS[8]])
    sent = by_label["from time 0: sent"]
    assert len(sent.x) == ensemble.segments_sent(result, 10)
    # New segments leave in order, starting with number 1.
    assert sent.y.tolist() == list(range(1, len(sent.y) + 1))
    [cwnd] = [element for element in window.elements if isinstance(element, Line)]
    flows, segment = pl.DataFrame(result.flows), pl.DataFrame(result.packets)["payload_bytes"].max()
    assert cwnd.y == pytest.approx((flows["cwnd_bytes"] / segment).to_numpy())
    [waiting] = [element for element in queue.elements if isinstance(element, Line)]
    assert waiting.y.max() == pl.DataFrame(result.links).filter(pl.col("link") == "bottleneck")["queue_packets"].max()
    # Bursts are fractions of all segments.
    for bars in (element for element in shown["bursts"].panel.elements if isinstance(element, Bars)):
        assert bars.heights.sum() == pytest.approx(1.0)
