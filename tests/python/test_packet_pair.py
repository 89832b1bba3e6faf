"""The rules of the packet-pair paper's verdicts, and measurements of its runs."""

from __future__ import annotations

import polars as pl
import pytest

from legible import faults
from selfclock.figure import Bars, Line, Points
from selfclock.paper_runs import run_studies
from selfclock.papers import packet_pair
from selfclock.papers.packet_pair import behaviour, claims, ensemble, figure_06
from selfclock.papers.packet_pair.spread import RUNS, Spread


def around(median: float, width: float = 1.0) -> Spread:
    """Return fifty values evenly spaced within `width` on both sides of a median."""
    return Spread.of(median + width * (2 * place / (RUNS - 1) - 1) for place in range(RUNS))


def run(sent: list[float], drops: list[float] | None = None, seconds: float = 10.0) -> ensemble.Run:
    return ensemble.Run(sent=sent, transmissions=sent, drops=drops or [], seconds=seconds)


def test_spread() -> None:
    spread = Spread.of(range(RUNS, 0, -1))
    assert (spread.mean, spread.median, spread.quantile(0.25), spread.interval) == (25.5, 25.5, 13.25, (18, 33))
    assert spread.above(18)
    assert not spread.above(18.1)
    with pytest.raises(ValueError, match="49 runs"):
        Spread.of(range(49))


def test_gains_follow_from_the_printed_counts() -> None:
    assert claims.PRINTED_GAINS == {9: 22.5, 12: 32.1, 13: 40.6}


def test_count() -> None:
    assert claims.count_verdict(190.3, 173) == "reproduced"
    assert claims.count_verdict(190.4, 173) == "not reproduced"


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        (around(22.5), "reproduced"),
        (around(27.5, 50), "reproduced"),
        (around(27.6), "direction"),
        (around(3), "direction"),
        # The interval extends from 9 to 21, and from -3 to 21.
        (around(15, 20), "direction"),
        (around(9, 40), "not reproduced"),
        (around(-1), "not reproduced"),
    ],
)
def test_gain(gain: Spread, verdict: str) -> None:
    assert claims.gain_verdict(gain, gain, 22.5) == verdict


def test_a_gain_that_the_timer_has_alone_is_none() -> None:
    assert claims.gain_verdict(around(12), around(0.5), 22.5) == "not reproduced"
    assert claims.gain_verdict(around(12), around(4), 22.5) == "direction"


@pytest.mark.parametrize(
    ("both", "sender", "verdict"),
    [
        (around(6), around(32), "reproduced"),
        (around(6, 40), around(32), "direction"),
        (around(1.9), around(32), "not reproduced"),
        (around(-21), around(32), "not reproduced"),
        (around(6), around(1), "not reproduced"),
    ],
)
def test_order(both: Spread, sender: Spread, verdict: str) -> None:
    assert claims.order_verdict(both_over_sender=both, sender_over_reno=sender) == verdict


def test_over_20_30_40() -> None:
    assert claims.bounds_verdict({9: around(21), 12: around(31), 13: around(41)}) == "reproduced"
    assert claims.bounds_verdict({9: around(19), 12: around(31), 13: around(41)}) == "direction"
    assert claims.bounds_verdict({9: around(21), 12: around(31), 13: around(-2)}) == "not reproduced"


def test_slow_start_is_compared_until_the_first_drop() -> None:
    reno, new = run([0, 1, 1, 1, 2, 2], drops=[1.5]), run([0, 1, 1, 1.2, 1.6, 2])
    assert behaviour.slow_start_percent(reno, new) == 0
    slower = run([0, 1, 1.6, 2, 3], drops=[3])
    assert behaviour.slow_start_percent(reno, slower) == -50
    assert behaviour.slower_verdict(around(-6, 0.5)) == "reproduced"
    assert behaviour.slower_verdict(around(-3, 0.5)) == "direction"
    assert behaviour.slower_verdict(around(0, 0)) == "not reproduced"


def test_silence() -> None:
    assert behaviour.longest_silence(run([0, 0.25, 1.5, 9.5])) == 8
    assert behaviour.longest_silence(run([0, 1, 2])) == 8
    assert behaviour.smooth_verdict(new=26, reno=21) == "reproduced"
    assert behaviour.smooth_verdict(new=26, reno=22) == "not reproduced"
    assert behaviour.smooth_verdict(new=10, reno=5) == "direction"


def test_bursts() -> None:
    assert behaviour.burst_share(run([0, 1, 1, 2, 2, 2, 3, 3, 3, 3])) == 0.7
    assert behaviour.burst_verdict(new=0.05, normal=0.9) == "reproduced"
    assert behaviour.burst_verdict(new=0.4, normal=0.9) == "direction"
    assert behaviour.burst_verdict(new=0.5, normal=0.9) == "not reproduced"
    assert behaviour.burst_verdict(new=0.0, normal=0.05) == "not reproduced"
    assert behaviour.unaffected_verdict(around(-4, 0.5)) == "reproduced"
    assert behaviour.unaffected_verdict(around(-5, 3)) == "direction"
    assert behaviour.unaffected_verdict(around(-16)) == "not reproduced"


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
