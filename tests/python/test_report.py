"""Pages and their charts: a chart agrees with its figure, and a page is self-contained."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import warnings
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfclock as sc
from charts import charts, unpacked_document
from figures import COLOURS, coloured, everything
from selfclock.errors import BadInputError
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.report.chart import FEWEST_BINS, FULL_SERIES, chart
from selfclock.report.packing import pack_document
from selfclock.report.page import page
from selfclock.report.pages import comparison_page, run_page
from selfclock.report.thinning import BINS, thin

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_keep_values_colour_and_dash() -> None:
    figure = Figure(x="time (s)", y="window (segments)")
    figure.panel.line([0, 1, 2], [3.0, None, 5.0], dash="--", colour="#D55E00", label="a <b>")
    figure.panel.points([0, 1], [1, 1], marker="s", colour="#0072B2")
    made = chart(figure)
    line, points = made.traces
    np.testing.assert_array_equal(line["x"], [0, 1, 2])
    np.testing.assert_array_equal(line["y"], [3, np.nan, 5])
    assert (line["line"]["color"], line["line"]["dash"], line["name"]) == ("#d55e00", "dash", "a &lt;b&gt;")
    assert (points["mode"], points["marker"]["symbol"], points["showlegend"]) == ("markers", "square", False)
    assert made.layout["xaxis"]["title"]["text"] == "time (s)"
    assert (line["showlegend"], made.bins) == (True, 0)


def test_what_is_pointed_at_is_told_with_quantity_unit_and_name() -> None:
    figure = Figure(x="time (s)", y="queue (packets; crosses: drops)")
    figure.panel.line([0], [1], label="bottleneck")
    [line] = chart(figure).traces
    assert line["hovertemplate"] == "time %{x:,.5~g} s<br>queue %{y:,.5~g} packets<extra>bottleneck</extra>"
    figure.panel.x.name("reno")
    [line] = chart(figure).traces
    assert line["hovertemplate"].startswith("time %{text}<br>")
    assert line["text"] == ["reno"]


def test_panels_of_a_column_share_their_x_axis_and_are_read_together() -> None:
    figure = Figure(2, 2, x="time (s)", same_scale=True, same_x=True)
    for panel in (panel for row in figure.panels for panel in row):
        panel.y.label = "RTT (ms)"
        panel.line([0, 9], [1, 2], label="one")
    made = chart(figure)
    axes = [(trace["xaxis"], trace["yaxis"]) for trace in made.traces]
    assert axes == [("x", "y"), ("x2", "y2"), ("x", "y3"), ("x2", "y4")]
    assert (made.layout["xaxis"]["anchor"], made.layout["xaxis2"]["matches"]) == ("y3", "x")
    assert (made.layout["yaxis2"]["matches"], made.layout["yaxis4"]["matches"]) == ("y", "y3")
    assert made.layout["yaxis"]["domain"][0] > made.layout["yaxis3"]["domain"][1]
    assert made.layout["hovermode"] == "x unified"
    assert made.layout["xaxis"]["unifiedhovertitle"]["text"] == "time %{x:,.5~g} s"
    # Legend entries: one per label.
    assert [trace["showlegend"] for trace in made.traces] == [True, False, False, False]
    figure.linked = False
    assert len({trace["xaxis"] for trace in chart(figure).traces}) == 4


def test_bars_scales_marks_and_words() -> None:
    figure = Figure(y="goodput (Mbit/s)")
    panel = figure.panel
    panel.x.name("reno", "cubic")
    panel.y.log, panel.y.low, panel.y.high = True, 1, 1000
    panel.bars([0, 1], [9, 99], base=1, width=0.5, colour="#009E73")
    panel.rule("y", 50, colour="#000000")
    panel.text(1.5, 100, r"$r^2 = \alpha$ <b>")
    made = chart(figure)
    [bars] = made.traces
    assert (bars["type"], bars["base"], list(bars["y"])) == ("bar", 1, [9, 99])
    assert (made.layout["yaxis"]["type"], made.layout["yaxis"]["range"]) == ("log", [0, 3])
    assert made.layout["xaxis"]["ticktext"] == ["reno", "cubic"]
    [mark] = made.layout["shapes"]
    assert (mark["xref"], mark["y0"], mark["y1"]) == ("x domain", 50, 50)
    [words] = made.layout["annotations"]
    assert (words["text"], words["y"]) == (r"$r^2 = \alpha$ &lt;b&gt;", 2)


def test_a_logarithmic_axis_of_few_powers_of_ten_has_ticks_between_them() -> None:
    figure = Figure()
    figure.panel.x.log = True
    figure.panel.points([5, 10.8, 23.2, 50], [1, 2, 3, 4])
    assert {5, 10, 20, 50} <= set(chart(figure).layout["xaxis"]["tickvals"])
    drawn = figure.matplotlib()
    drawn.draw_without_rendering()
    [axes] = drawn.axes
    low, high = axes.get_xlim()
    labels = [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert labels == ["5", "10", "20", "50"]


def test_a_series_has_the_colour_of_its_entry_in_the_legend() -> None:
    """A marker's outline, which Plotly draws grey by default, has the colour, too."""
    made = chart(coloured())
    drawn: dict[str, set[str]] = {}
    for part in [*made.traces, *made.layout["shapes"]]:
        colours = drawn.setdefault(part["name"], set())
        assert part["showlegend"]
        if "line" in part:
            colours.add(part["line"]["color"])
        if "marker" in part:
            colours.update({part["marker"]["color"], part["marker"].get("line", part["marker"])["color"]})
    assert drawn == {name: {colour} for name, colour in COLOURS.items()}


def test_a_colour_that_the_page_cannot_turn_over_is_refused() -> None:
    figure = Figure()
    figure.panel.line([0], [1], colour="red")
    with pytest.raises(ValueError, match="six hexadecimal digits"):
        chart(figure)


values = st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=400)


@given(values, st.integers(5, 40))
def test_a_thinned_line_keeps_the_extremes_of_every_part(heights: list[float], bins: int) -> None:
    y = np.array(heights)
    x = np.cumsum(np.random.default_rng(1).random(len(y)))
    kept = thin(x, y, connected=True, bins=bins)
    if kept is None:
        return
    assert len(kept) <= 4 * bins
    assert np.all(np.diff(kept) > 0)
    assert {0, len(x) - 1} <= set(kept.tolist())
    part = ((x - x[0]) / (x[-1] - x[0]) * (bins - 1)).astype(int)
    for number in set(part.tolist()):
        whole, few = y[part == number], y[kept][part[kept] == number]
        if np.isfinite(whole).any():
            assert (np.nanmin(few), np.nanmax(few)) == (np.nanmin(whole), np.nanmax(whole))


def test_a_long_series_keeps_its_extremes() -> None:
    x = np.arange(100_000.0)
    y = np.sin(x / 7)
    y[31_337] = 9.0
    figure = Figure()
    figure.panel.line(x, y)
    made = chart(figure)
    [line] = made.traces
    assert len(line["x"]) <= 4 * BINS
    assert (line["y"].max(), line["x"][line["y"].argmax()]) == (9.0, 31_337)
    assert (line["x"][0], line["x"][-1]) == (0.0, 99_999.0)
    np.testing.assert_array_equal(line["y"], y[line["x"].astype(int)])
    assert "1,500 parts of the axis" in page("t", [], [], [Illustration("a", "b", figure)]).text
    # Many series share the columns, and each keeps at least those of a phone.
    for _ in range(50):
        figure.panel.line(x, y)
    made = chart(figure)
    assert made.bins == max(FEWEST_BINS, BINS * FULL_SERIES // 51)
    assert all(trace["y"].max() == 9.0 for trace in made.traces)


def test_points_on_one_place_of_the_screen_are_drawn_once() -> None:
    places = np.repeat([0.0, 1.0], 25_000)
    kept = thin(places, places, connected=False)
    assert kept is not None
    assert len(kept) == 2


def test_a_band_is_closed_around_its_gaps() -> None:
    figure = Figure()
    figure.panel.band([0, 1, 2, 3, 4], 0, [1, 1, None, 2, 2], colour="#0072B2", opacity=0.3)
    [band] = chart(figure).traces
    np.testing.assert_array_equal(band["x"], [0, 1, 1, 0, np.nan, 3, 4, 4, 3, np.nan])
    np.testing.assert_array_equal(band["y"], [0, 0, 1, 1, np.nan, 0, 0, 2, 2, np.nan])
    assert band["fillcolor"] == "rgba(0,114,178,0.3)"


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1), st.floats(1e9, 1e10))
def test_packed_numbers_are_those_of_the_figure(few: list[float], far: float) -> None:
    """Single precision where it suffices; far from zero it does not."""
    short, long = np.array([*few, np.nan]), far + np.arange(5.0) * 1e-4
    held = unpacked_document(pack_document({"short": short, "again": short, "long": long, "rest": ["a", None]}))
    span = max(np.ptp(few), abs(few[0]) if np.ptp(few) == 0 else 0)
    np.testing.assert_allclose(held["short"], short, rtol=0, atol=1e-6 * span)
    assert held["again"] == pytest.approx(held["short"], nan_ok=True)
    np.testing.assert_array_equal(held["long"], long)
    assert held["rest"] == ["a", None]


def test_chart_and_drawing_show_the_same_range() -> None:
    figure = everything()
    made, drawn = chart(figure), figure.matplotlib()
    for number, axes in enumerate(drawn.axes, 1):
        suffix = "" if number == 1 else str(number)
        for which, limits in (("x", axes.get_xlim()), ("y", axes.get_ylim())):
            axis = made.layout[f"{which}axis{suffix}"]
            shown = np.power(10, axis["range"]) if axis["type"] == "log" else axis["range"]
            # A chart holds the logarithm with 7 digits.
            assert limits == pytest.approx(shown, rel=1e-5)


def test_the_range_fits_the_data_unless_it_is_given() -> None:
    figure = Figure()
    figure.panel.line([0, 10], [1, 3])
    assert figure.limits(0, 0, "x") == pytest.approx((-0.1, 10.1))
    figure.panel.y.low = 0
    assert figure.limits(0, 0, "y") == pytest.approx((0, 3.1))
    figure.panel.y.low, figure.panel.y.high = 5, 1
    assert figure.limits(0, 0, "y") == (5, 1)
    figure.panel.elements.clear()
    assert figure.limits(0, 0, "x") == (-0.01, 1.01)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_every_element_is_drawn_and_the_same_figure_is_the_same_file(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.{kind}" for number in (1, 2)]
    for path in paths:
        everything().savefig(path)
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    assert one.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])


def test_a_drawing_has_every_element_and_names_each_label_once() -> None:
    drawn = everything().matplotlib()
    [legend] = drawn.legends
    names = [words.get_text() for words in legend.get_texts()]
    assert sorted(names) == sorted(["line", "points", "band", "intervals", "rule", "span", "shape", "bars"])
    left, right, low, cells = drawn.axes
    assert len(left.lines) == 2
    assert len(left.collections) == 4
    assert len(right.texts) == 5
    assert len(low.patches) == 2
    assert len(cells.images) == 1


def test_names_in_letters_that_a_font_lacks_raise_no_warning(tmp_path: Path) -> None:
    figure = Figure()
    figure.panel.line([0, 1], [0, 1], label="流")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "a.png")
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_chart_library_is_the_one_on_record() -> None:
    held = resources.files("selfclock.report") / "library"
    record = json.loads((held / "library.json").read_text(encoding="utf-8"))
    script = gzip.decompress((held / "plotly-basic.min.js.gz").read_bytes())
    assert hashlib.sha256(script).hexdigest() == record["sha256"]
    assert f"plotly.js (basic - minified) v{record['version']}".encode() in script[:200]
    assert "MIT License" in (held / "LICENSE").read_text(encoding="utf-8")
    assert record["license"] == "MIT"


def test_a_page_is_one_file_of_reasonable_size(small: Path) -> None:
    html = run_page(sc.Scenario.load(small).run()).text
    # The chart library compresses to 0.53 MB.
    assert len(html) < 700_000
    outside = re.sub(r'<script type="application/gzip".*?</script>', "", html, flags=re.DOTALL)
    # A namespace, not an address to fetch.
    outside = outside.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http://" not in outside
    assert "https://" not in outside
    assert max(len(trace["x"]) for each in charts(html) for trace in each["data"]) > 100


def test_tables_escape_what_they_show() -> None:
    made = page("<i>", ["&"], [Table("T", "", ["a"], [["<script>alert(1)</script>"]])]).text
    assert "<script>alert" not in made
    assert "<title>selfclock: &lt;i&gt;</title>" in made


def test_a_page_links_to_the_files_beside_it(small: Path, tmp_path: Path) -> None:
    result = sc.Scenario.load(small, ["record.packets=true", "duration=1 s"]).run()
    written = sc.publish(result, tmp_path / "out", formats="svg", pcap=True)
    html = written.read_text(encoding="utf-8")
    beside = re.search(r'<p class="files">.*?</p>', html, re.DOTALL)
    assert beside is not None
    links = set(re.findall(r'href="([^"]*)"', beside[0]))
    there = {path.name for path in written.parent.iterdir()}
    figures = {f"{name}.svg" for name in ("overview", "sequence", "path", "path-later")}
    assert figures <= there
    assert links == there - {"report.html"} - figures


def test_a_page_of_a_run_has_marks_completion_times_and_short_connections() -> None:
    text = """
        schema = 1
        duration = "3 s"
        [network]
        topology = "dumbbell"
        access = { rate = "1 Gbps", delay = "1 ms" }
        [network.bottleneck]
        rate = "10 Mbps"
        delay = "20 ms"
        queue = { discipline = "dualpi2", limit = "100 packets" }
        [[flow]]
        name = "long"
        congestion_control = "prague"
        transport = { ecn = "accurate" }
        [[flow]]
        name = "sized"
        traffic = { size = "100 kB" }
        [[flow]]
        name = "short"
        traffic = { load = "500 kbps", size = "10 kB" }
    """
    result = sc.Scenario.parse(text).run()
    html = run_page(result).text
    assert '<th class="number">CE marks</th>' in html
    assert f'<td class="number">{result.summary["links"][0]["ce_marks"]:,}</td>' in html
    assert "Completed after s" in html
    assert "<h3>Short connections</h3>" in html
    assert f'<td class="number">{result.summary["flows"][1]["completion_s"]:,.4g}</td>' in html


def test_a_table_of_many_rows_says_how_many_more_there_are_and_where() -> None:
    result = sc.dumbbell("10 Mbps", flows=[{"count": 501, "start_jitter": "1 s"}], duration="1 s").run()
    html = run_page(result).text
    assert "The first 500 of 501; summary.json has all of them." in html


def test_what_is_no_result_is_refused(small: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="what run, compare, evaluate or sweep returns, not Scenario"):
        sc.publish(sc.Scenario.load(small), tmp_path / "out")  # type: ignore[arg-type]
    result = sc.Scenario.load(small, ["duration=1 s"]).run()
    with pytest.raises(BadInputError, match=r"no packets on record; set record.packets = true"):
        sc.publish(result, tmp_path / "out", pcap=True)
    with pytest.raises(BadInputError, match="directory of the results is empty"):
        sc.publish(result, "")
    assert not (tmp_path / "out").exists()


def test_a_tie_in_the_digits_that_are_shown_has_no_winner() -> None:
    """Regression: one of two with the same goodput was called the largest."""

    def sentence(*names: str) -> str:
        page = comparison_page(sc.compare(names, "10 Mbps", "40 ms", duration="5 s")).text
        return re.search(r"<p>(.*?had .*?)</p>", page)[1]  # type: ignore[index]

    # 0.7 is the default, so the runs are equal.
    assert sentence("cubic", "cubic:beta=0.7").startswith("Both algorithms had a goodput of ")
    assert ", and cubic and cubic:beta=0.7 the shortest mean" in sentence("cubic", "cubic:beta=0.7")
    winners = re.search("^Of 3 algorithms (.*) had the largest goodput, ", sentence("cubic", "vegas", "cubic:beta=0.7"))
    assert winners is not None
    assert winners[1] in {"vegas", "cubic and cubic:beta=0.7"}


def test_a_page_runs_its_own_scripts_alone() -> None:
    """Its security policy names a nonce, a digest of the page: what gets into a page cannot know it."""
    hostile = "</script><script>alert(1)</script>"
    result = sc.dumbbell("5 Mbps", flows=[{"name": "<script>alert(2)<"}], duration="1 s").run()
    html = run_page(result).text + hostile
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    assert policy is not None
    nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy[1])
    assert nonce is not None
    assert "default-src 'none'" in policy[1]
    assert html.index("Content-Security-Policy") < html.index("<script")
    ran = re.findall(r"<script([^>]*)>", html)
    assert f' nonce="{nonce[1]}"' in ran
    # Data that no browser runs, and what was smuggled in.
    assert {each for each in ran if "application/gzip" not in each} == {f' nonce="{nonce[1]}"', ""}
    assert run_page(result).text.count(nonce[1]) <= len(ran) + 1
