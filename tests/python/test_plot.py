"""Figures of a run: their contents, units and names."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pytest

import selfclock as sc
from selfclock import style, units
from selfclock.figure import Band, Line, Points, Rule
from selfclock.series import all_links, flow_series, packet_record
from selfclock.sketch import groups_of
from selfclock.traces import MOST_CURVES, Traces

if TYPE_CHECKING:
    from selfclock.figure import Panel


ROOT = Path(__file__).parents[2]
Kind = TypeVar("Kind", Band, Line, Points, Rule)


def of(panel: Panel, kind: type[Kind]) -> list[Kind]:
    return [element for element in panel.elements if isinstance(element, kind)]


def labels(panel: Panel) -> list[str]:
    return [label for element in panel.elements if (label := getattr(element, "label", ""))]


@pytest.fixture(scope="module")
def one() -> sc.Result:
    """10 Mbit/s, 40 ms, a buffer of one BDP: 50,000 B each."""
    return sc.dumbbell("10 Mbps", "40 ms", "1 bdp", ["reno"], duration="20 s").run()


def test_what_the_path_holds_is_rate_times_round_trip_time(one: sc.Result) -> None:
    """By hand: 10 Mbit/s x 40 ms = 50,000 B, packets of 1448 + 40 + 12 = 1500 B: 33.3; the buffer is as large."""
    capacity = one.scenario.network.capacity()
    assert capacity is not None
    assert capacity.link.name == "bottleneck"
    assert capacity.bdp_packets == pytest.approx(10e6 * 0.040 / 8 / 1500)
    assert capacity.buffer_packets == pytest.approx(10e6 * 0.040 / 8 / 1500)
    panel = one.plot.window().panel
    assert [rule.value for rule in of(panel, Rule)] == pytest.approx([33.33, 66.67], abs=0.01)
    assert {"BDP: 33.33", "BDP + buffer: 66.67"} <= set(labels(panel))


def test_reno_oscillates_about_the_lines(one: sc.Result) -> None:
    """A buffer of one BDP: the window is cut at BDP + buffer, to about the BDP, and the link stays busy."""
    bdp, full = (rule.value for rule in of(one.plot.window().panel, Rule))
    window = of(one.plot.window().panel, Line)[0]
    late = window.y[window.x > 5]
    # One more packet is in service, and one more loss is detected by the time of the cut.
    assert full < late.max() < full + 4
    assert bdp - 2 < late.min() < bdp + 2


def test_several_flows_have_equal_parts() -> None:
    scenario = sc.dumbbell("10 Mbps", "40 ms", "10 packets", ["reno", "cubic"], duration="1 s")
    panel = scenario.run().plot.window().panel
    assert [rule.value for rule in of(panel, Rule)] == pytest.approx([33.33 / 2, 43.33 / 2], abs=0.01)
    assert "(BDP + buffer) / 2 flows: 21.67" in labels(panel)


@pytest.mark.parametrize(
    "change",
    [
        "flow.0.rtt=80 ms",
        "network.bottleneck.changes=[{ at = '1 s', rate = '5 Mbps' }]",
        "flow.0.transport.mss=512 B",
    ],
)
def test_no_lines_where_they_are_not_the_same_for_all(change: str) -> None:
    flows = [{"congestion_control": "reno"}, {"congestion_control": "reno"}]
    scenario = sc.dumbbell("10 Mbps", "40 ms", "1 bdp", flows, duration="2 s")
    assert scenario.network.capacity() is not None
    if change.startswith("flow.0.rtt"):
        far = sc.Path("10 Mbps", "40 ms").scenario([sc.Flow("reno"), sc.Flow("reno", rtt="80 ms")], duration="2 s")
        assert far.network.capacity() is None
        return
    assert scenario.with_overrides([change]).network.capacity() is None


def test_the_bottleneck_is_where_the_least_is_left_for_a_flow() -> None:
    """Four flows over access links of 20 Mbit/s, slower than the 50 Mbit/s that they share at 12.5 each."""
    shared = sc.dumbbell("50 Mbps", "40 ms", "1 bdp", ["reno"] * 4, access="20 Mbps", duration="1 s").network
    alone = sc.dumbbell("50 Mbps", "40 ms", "1 bdp", ["reno"] * 2, access="20 Mbps", duration="1 s").network
    assert shared.bottleneck() == shared.tightest()
    assert shared.tightest().name == "bottleneck"
    # With two flows each has its own.
    assert alone.bottleneck() is None
    assert alone.tightest().name == "source1-left"


def test_the_delay_panel_is_the_sampled_round_trip_time(one: sc.Result) -> None:
    series = flow_series(one)
    [line] = of(one.plot.rtt().panel, Line)
    assert one.plot.rtt().panel.y.label == "smoothed RTT (ms)"
    np.testing.assert_array_equal(line.x, series["time_s"].to_numpy())
    np.testing.assert_allclose(line.y, series["srtt_s"].to_numpy() * 1e3)


def test_the_queue_panel_is_the_sampled_queue(one: sc.Result) -> None:
    panel = one.plot.queue().panel
    series = all_links(one)
    series = series.filter(series["link"] == "bottleneck")
    [line] = of(panel, Line)
    assert line.label == "bottleneck"
    np.testing.assert_array_equal(line.y, series["queue_packets"].to_numpy())
    [drops] = of(panel, Points)
    assert drops.label == "drops"
    rises = (series["drops"].diff().fill_null(series["drops"]) > 0).sum()
    assert len(drops.x) == rises > 0


@pytest.mark.parametrize(
    ("rate", "unit", "most"),
    [("500 kbps", "kbit/s", 500), ("10 Mbps", "Mbit/s", 10), ("40 Gbps", "Gbit/s", 40)],
)
def test_rates_have_a_unit_that_fits(rate: str, unit: str, most: float) -> None:
    panel = sc.dumbbell(rate, "2 ms", "1 bdp", ["cubic"], duration="100 ms").run().plot.rate().panel
    if rate == "500 kbps":
        panel = sc.dumbbell(rate, "40 ms", "1 bdp", ["cubic"], duration="5 s").run().plot.rate().panel
    assert panel.y.label == f"goodput ({unit})"
    [rule] = of(panel, Rule)
    assert rule.value == most
    assert of(panel, Line)[0].y.max() < most


def test_units() -> None:
    assert units.fitting(units.TIMES, [[0.0004], [np.nan]], usual="ms").name == "us"
    assert units.fitting(units.TIMES, [], usual="ms").name == "ms"
    assert units.fitting(units.SIZES, [[1.9e6]], usual="MB").name == "kB"
    assert units.fitting(units.SIZES, [[2e6]], usual="MB").name == "MB"
    assert [units.written(value, units.RATES) for value in (1e10, 4e5, 12.0)] == ["10 Gbit/s", "400 kbit/s", "12 bit/s"]


def test_names_colours_and_lines() -> None:
    flows = [
        {"congestion_control": "cubic", "name": "cubic"},
        {"congestion_control": "cubic", "name": "late", "start": "1 s"},
        {"congestion_control": "bbr3", "name": "流れ 🌊"},
    ]
    result = sc.dumbbell("10 Mbps", "40 ms", "1 bdp", flows, duration="5 s").run()
    panel = result.plot.window().panel
    windows = [line for line in of(panel, Line) if "ssthresh" not in line.label]
    # The algorithm is named where the flow's name does not imply it.
    assert [line.label for line in windows] == ["cubic", "late (cubic)", "流れ 🌊 (bbr3)"]
    assert windows[0].colour == style.look("cubic").colour
    assert len({(line.colour, line.dash) for line in windows}) == 3
    assert len({line.colour for line in windows}) == 3
    thresholds = [line for line in of(panel, Line) if "ssthresh" in line.label]
    assert thresholds
    assert {line.dash for line in thresholds} == {style.THRESHOLD}


def test_a_name_in_any_script_is_drawn_without_a_word(tmp_path: Path) -> None:
    flows = [{"congestion_control": "reno", "name": name} for name in ("流れ 🌊", "поток", "ροή", "प्रवाह")]
    figure = sc.dumbbell(flows=flows, duration="1 s").run().plot.window()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "window.png")
        figure.savefig(tmp_path / "window.svg")
    assert (tmp_path / "window.png").stat().st_size > 1000


def test_a_title_is_that_of_the_scenario(one: sc.Result) -> None:
    assert one.plot.window().title == "dumbbell"
    titled = one.scenario.with_overrides(["title=A title", "duration=1 s"]).run()
    assert titled.plot.overview().title == "A title"


def test_figures_begin_at_zero_and_end_with_the_run(one: sc.Result) -> None:
    for name in ("window", "rate", "rtt", "queue", "sequence", "overview"):
        for panel in getattr(one.plot, name)().column:
            assert (panel.x.low, panel.x.high, panel.y.low) == (0.0, 20.0, 0.0)
            assert "(" in panel.y.label


def test_many_flows_are_a_median_and_a_band() -> None:
    flows = [{"congestion_control": "reno", "count": MOST_CURVES}, {"congestion_control": "cubic", "count": 3}]
    result = sc.dumbbell("50 Mbps", "40 ms", "1 bdp", flows, duration="4 s").run()
    figure = result.plot.window()
    lines = of(figure.panel, Line)
    assert [line.label for line in lines] == ["reno: median of 8 flows", "cubic: median of 3 flows"]
    assert len(of(figure.panel, Band)) == 2
    assert any("median" in note and "percentile" in note for note in figure.notes)
    traces = Traces(result)
    cubic = [traces.window(flow) for flow in traces.flows if flow.summary["algorithm"] == "cubic"]
    np.testing.assert_allclose(lines[1].y, np.median(cubic, axis=0))
    # The link's rate is shown as the share of a flow.
    assert "rate of bottleneck / 11 flows: 4.545 Mbit/s" in labels(result.plot.rate().panel)


def test_flows_have_a_colour_each_in_figures_and_sketch() -> None:
    """CUBIC and HyStart++ are both green: their flows must differ, even in the scenario of `selfclock init`."""
    scenario = sc.dumbbell("10 Mbps", flows=["cubic", "hystart++", "cubic"], duration="2 s")
    lines = [element for element in scenario.run().plot.rtt().panel.elements if isinstance(element, Line)]
    assert len({line.colour for line in lines}) == 3
    assert len({line.dash for line in lines}) == 3
    assert [group.colour for group in groups_of(scenario.network)] == [line.colour for line in lines]


def test_links_have_a_colour_each() -> None:
    hops = sc.Scenario.parse(
        """
        schema = 1
        duration = "5 s"
        [network]
        topology = "parking-lot"
        hops = 3
        hop = { rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }
        access = { rate = "1 Gbps", delay = "1 ms" }
        [[flow]]
        congestion_control = "cubic"
        count = 8
        """
    )
    lines = of(hops.run().plot.queue().panel, Line)
    assert len(lines) >= 3
    assert len({line.colour for line in lines}) == len(lines) == len({line.label for line in lines})


def test_marks_are_points_where_packets_are_on_record_and_a_note_elsewhere() -> None:
    scenario = sc.dumbbell("10 Mbps", "20 ms", {"discipline": "dualpi2"}, ["prague"], duration="3 s",
                           transport={"ecn": "accurate"})  # fmt: skip
    sampled = scenario.run()
    [link] = [link for link in sampled.summary["links"] if link["name"] == "bottleneck"]
    figure = sampled.plot.queue()
    assert any(f"bottleneck {link['ce_marks']:,}" in note for note in figure.notes)
    recorded = scenario.with_overrides(["record.packets=true"]).run()
    figure = recorded.plot.queue()
    [marks] = [points for points in of(figure.panel, Points) if points.label == "CE marks"]
    packets = packet_record(recorded, "time_s", "event", "link")
    marked = packets.filter((packets["event"] == "mark") & (packets["link"] == "bottleneck"))
    assert len(marks.x) == len(marked) == link["ce_marks"] > 0
    np.testing.assert_array_equal(np.sort(marks.x), np.sort(marked["time_s"].to_numpy()))


def test_udp_is_drawn_as_what_it_sends() -> None:
    flows = [
        {"congestion_control": "reno"},
        {"name": "udp", "protocol": "udp", "start": "1 s", "stop": "3 s",
         "traffic": {"rate": "2 Mbps", "steps": [{"at": "2 s", "rate": "4 Mbps"}]}},
    ]  # fmt: skip
    panel = sc.dumbbell("10 Mbps", "40 ms", "1 bdp", flows, duration="4 s").run().plot.rate().panel
    [line] = [line for line in of(panel, Line) if line.label == "udp (UDP) sends"]
    assert list(zip(line.x, line.y, strict=True)) == [(1, 0), (1, 2), (2, 2), (2, 4), (3, 4), (3, 0)]


def test_every_packet_of_a_sequence_plot() -> None:
    scenario = sc.dumbbell("5 Mbps", "40 ms", "10 packets", ["reno", "cubic"], duration="3 s",
                           record={"packets": True})  # fmt: skip
    result = scenario.run()
    panel = result.plot.sequence().panel
    assert panel.y.label == "sequence number (segments)"
    assert {"flow1: sent", "flow2: sent", "flow1: retransmitted", "acknowledged", "lost"} <= set(labels(panel))
    [sent] = [points for points in of(panel, Points) if points.label == "flow1: sent"]
    packets = packet_record(result, "event", "kind", "flow", "retransmission")
    wanted = (packets["event"] == "send") & (packets["kind"] == "data") & (packets["flow"] == "flow1")
    assert len(sent.x) == (wanted & ~packets["retransmission"]).sum()
    colours = {points.colour for points in of(panel, Points) if points.label.endswith(": sent")}
    assert len(colours) == 2


def test_offers_of_a_delivery_trace_are_an_area() -> None:
    result = sc.Scenario.load(ROOT / "examples/lte.toml", ["duration=5 s"]).run()
    panel = result.plot.rate().panel
    offers = of(panel, Band)
    assert {band.label for band in offers} >= {"bottleneck offers"}
    # A link with a trace has neither a rate nor a BDP.
    assert not of(panel, Rule)
    assert not of(result.plot.window().panel, Rule)


def test_times_of_a_sampled_series_ascend(one: sc.Result) -> None:
    assert all(a < b for a, b in pairwise(Traces(one).times))


UDP = {"protocol": "udp", "traffic": {"rate": "1 Mbps"}}
WEB = {"congestion_control": "reno", "traffic": {"size": "20 kB", "load": "4 Mbps"}}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("flows", "record"),
    [
        ([UDP], {}),
        (["reno", {**UDP, "start": "5 s"}], {}),
        (["reno"], {"interval": "off"}),
        (["reno", UDP], {"interval": "off", "packets": True}),
        (["reno", {"congestion_control": "cubic", "start": "2 s"}], {}),
        (["reno"], {"interval": "1 s"}),
        (["reno", "bbr3"], {"interval": "400 ms"}),
        ([WEB], {}),
        ([{**UDP, "count": 30}], {"packets": True}),
    ],
)
def test_whatever_there_is_to_show_is_drawn(flows: list[object], record: dict[str, object]) -> None:
    """Without series, without TCP, with one sample, with flows that never start: no figure fails."""
    result = sc.dumbbell(flows=flows, duration="1 s", record=record).run()  # type: ignore[arg-type]
    for name in ("window", "rate", "rtt", "queue", "sequence", "overview"):
        getattr(result.plot, name)().matplotlib()
    assert (flows == [WEB]) == any("Short connections" in note for note in result.plot.window().notes)
