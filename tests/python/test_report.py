"""Reports: charts that say what the figures say, and pages that work in a browser without a network."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import selfclock as sc
from selfclock.chart import BINS, UntranslatableError, thin, translate
from selfclock.report import page, run_page
from selfclock.reproduce import Grid, Illustration

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


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


CHECK = """
<pre id="check"></pre>
<script>
(async () => {
  const asked = [];
  const found = { errors: [], asked };
  addEventListener("error", (event) => found.errors.push(event.message));
  addEventListener("unhandledrejection", (event) => found.errors.push(String(event.reason)));
  new PerformanceObserver((list) => asked.push(...list.getEntries().map((entry) => entry.name)))
    .observe({ type: "resource", buffered: true });
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const charts = [...document.querySelectorAll(".chart")];
  for (let turn = 0; turn < 200 && charts.some((place) => !place.dataset.drawn); turn++) {
    charts.find((place) => !place.dataset.drawn).scrollIntoView();
    await wait(50);
  }
  found.charts = charts.length;
  found.drawn = charts.filter((place) => place.querySelector("svg.main-svg .trace, svg.main-svg .bars")).length;
  const one = charts[0].querySelector("div");
  await Plotly.relayout(one, { "xaxis.range": [0.5, 1] });
  found.range = one._fullLayout.xaxis.range;
  found.stacked = Object.keys(one._fullLayout).filter((key) => /^yaxis/.test(key)).length;
  found.theme = [document.documentElement.dataset.theme];
  document.querySelector(".theme").click();
  await wait(200);
  found.theme.push(document.documentElement.dataset.theme);
  const table = document.querySelector("table");
  const column = () => [...table.tBodies[0].rows].map((row) => row.cells[2].textContent);
  found.before = column();
  const head = table.querySelectorAll("thead th button")[2];
  head.click();
  found.up = column();
  head.click();
  found.down = column();
  found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const frame = document.createElement("iframe");
  frame.style.cssText = "width: 390px; height: 800px; border: 0";
  frame.srcdoc = document.documentElement.outerHTML.replace(/<script>[^]*?<\\/script>/g, "");
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  found.narrow = frame.contentDocument.documentElement.scrollWidth;
  document.getElementById("check").textContent = "CHECK" + JSON.stringify(found) + "CHECK";
})();
</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_report_works_in_a_browser(small: Path, tmp_path: Path) -> None:
    result = sc.Scenario.load(small, ["record.packets=true"]).run()
    html = run_page(result)
    file = tmp_path / "report.html"
    file.write_text(html.replace("</body>", CHECK + "</body>"), encoding="utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,900", "--virtual-time-budget=60000",
        "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    said = re.search("CHECK(\\{.*?\\})CHECK", done.stdout.split('<pre id="check">')[-1])
    assert said is not None, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(said[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert found["errors"] == []
    assert "CONSOLE" not in done.stderr, done.stderr
    assert found["asked"] == []
    assert (found["charts"], found["drawn"], found["stacked"]) == (2, 2, 4)
    assert found["range"] == [0.5, 1]
    assert sorted(found["theme"]) == ["dark", "light"]
    assert found["up"] == sorted(found["before"], key=float)
    assert found["down"] == found["up"][::-1]
    assert found["overflow"] <= 0
    assert found["narrow"] <= 390


def test_a_page_is_one_file_of_reasonable_size(small: Path) -> None:
    html = run_page(sc.Scenario.load(small).run())
    # The chart library is 4.8 MB and packs to less than 2.2 MB.
    assert len(html) < 2_500_000
    outside = re.sub(r'<script type="application/gzip".*?</script>', "", html, flags=re.DOTALL)
    assert "http://" not in outside
    assert "https://" not in outside
    packed = re.findall(r'<script type="application/gzip">(.*?)</script>', html)
    series = [
        len(trace["x"]) for text in packed for trace in json.loads(gzip.decompress(base64.b64decode(text)))["data"]
    ]
    assert max(series) > 100


def test_tables_escape_what_they_show() -> None:
    made = page("<i>", "&", [Grid("T", "", ["a"], [["<script>alert(1)</script>"]])], [])
    assert "<script>alert" not in made
    assert "<title>selfclock: &lt;i&gt;</title>" in made
