"""Reports: charts that say what the figures say, and pages that hold all they need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.figure import Figure

import selfclock as sc
from charts import charts
from selfclock.chart import BINS, UntranslatableError, thin, translate
from selfclock.parts import Illustration, Table
from selfclock.report.page import page, run_page

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(layout="constrained")
    return figure, figure.subplots()


def test_lines_keep_values_colour_and_dash() -> None:
    figure, axes = _axes()
    axes.plot([0, 1, 2], [3.0, np.nan, 5.0], "--", color="#D55E00", label="a <b>")
    axes.plot([0, 1], [1, 1], "s", color="#0072B2")
    axes.set_xlabel("time (s)")
    axes.legend()
    chart = translate(figure)
    line, points = chart.traces
    assert (line["x"], line["y"]) == ([0, 1, 2], [3, None, 5])
    assert (line["line"]["color"], line["line"]["dash"], line["name"]) == ("#d55e00", "dash", "a &lt;b&gt;")
    assert (points["mode"], points["marker"]["symbol"], points["showlegend"]) == ("markers", "square", False)
    assert chart.layout["xaxis"]["title"]["text"] == "time (s)"
    assert (line["showlegend"], chart.thinned) == (True, False)


def test_bars_areas_scales_and_marks() -> None:
    figure, axes = _axes()
    axes.bar([1, 2], [10, 100], width=0.5, color=["#009E73", "#CC79A7"])
    axes.set_xticks([1, 2], ["reno", "cubic"])
    axes.set_yscale("log")
    axes.set_ylim(1, 1000)
    axes.axhline(50, color="black")
    axes.fill_between([1, 2], [1, 2], [3, 4], color="#56B4E9", alpha=0.3)
    axes.text(1.5, 100, r"$r^2 = \alpha$")
    axes.errorbar([1, 2], [10, 100], yerr=[1, 10], fmt="none", ecolor="black")
    chart = translate(figure)
    (bars,) = (trace for trace in chart.traces if trace["type"] == "bar")
    assert (bars["x"], bars["y"], bars["marker"]["color"]) == ([1, 2], [10, 100], ["#009e73", "#cc79a7"])
    layout = chart.layout
    assert (layout["yaxis"]["type"], layout["yaxis"]["range"]) == ("log", [0, 3])
    assert layout["xaxis"]["ticktext"] == ["reno", "cubic"]
    (mark,) = layout["shapes"]
    assert (mark["xref"], mark["y0"], mark["y1"]) == ("x domain", 50, 50)
    (words,) = layout["annotations"]
    assert (words["text"], words["y"]) == ("r<sup>2</sup> = α", 2)
    assert any(trace.get("fill") == "toself" for trace in chart.traces)


def test_stacked_axes_have_one_time_axis() -> None:
    figure = Figure(layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.plot([0, 9], [1, 2])
    bottom.plot([0, 9], [5, 6])
    chart = translate(figure)
    assert [(trace["xaxis"], trace["yaxis"]) for trace in chart.traces] == [("x", "y"), ("x", "y2")]
    assert chart.layout["xaxis"]["anchor"] == "y2"
    assert chart.layout["yaxis"]["domain"][0] > chart.layout["yaxis2"]["domain"][1]


def test_what_has_no_translation_is_shown_as_it_was_drawn() -> None:
    figure, axes = _axes()
    axes.imshow([[0, 1], [1, 0]])
    with pytest.raises(UntranslatableError):
        translate(figure)
    made = page("t", "a", [], [Illustration("Map", "Caption", figure), Illustration("Map", "Again", figure)])
    assert made.count("<svg") == 2
    identifiers = re.findall(r'\bid="(d\d+-[^"]+)"', made)
    assert len(set(identifiers)) == len(identifiers)


def test_a_long_series_keeps_its_extremes() -> None:
    x = np.arange(100_000.0)
    y = np.sin(x / 7)
    y[31_337] = 9.0
    kept_x, kept_y, thinned = thin(x, y, connected=True)
    assert thinned
    assert len(kept_x) <= 4 * BINS
    assert (kept_y.max(), kept_x[kept_y.argmax()]) == (9.0, 31_337)
    assert (kept_x[0], kept_x[-1]) == (0.0, 99_999.0)
    assert np.all(np.diff(kept_x) > 0)
    assert np.array_equal(kept_y, y[kept_x.astype(int)])
    # Points apart: what lies on the same place of the screen is drawn once.
    same_x, _, thinned = thin(
        np.zeros(50_000) + np.repeat([0.0, 1.0], 25_000), np.repeat([0.0, 1.0], 25_000), connected=False
    )
    assert (thinned, len(same_x)) == (True, 2)


def test_a_page_is_one_file_of_reasonable_size(small: Path) -> None:
    html = run_page(sc.Scenario.load(small).run())
    # The chart library is 4.8 MB and packs to less than 2.2 MB.
    assert len(html) < 2_500_000
    outside = re.sub(r'<script type="application/gzip".*?</script>', "", html, flags=re.DOTALL)
    assert "http://" not in outside
    assert "https://" not in outside
    assert max(len(trace["x"]) for chart in charts(html) for trace in chart["data"]) > 100


def test_tables_escape_what_they_show() -> None:
    made = page("<i>", "&", [Table("T", "", ["a"], [["<script>alert(1)</script>"]])], [])
    assert "<script>alert" not in made
    assert "<title>selfclock: &lt;i&gt;</title>" in made


def test_the_key_of_a_band_is_as_faint_as_the_band() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], label="line")
    axes.axhspan(0.2, 0.4, color="black", alpha=0.08, label="band")
    axes.legend()
    [band] = [trace for trace in translate(figure).traces if trace["name"] == "band"]
    assert band["marker"]["color"] == "rgba(0,0,0,0.08)"
