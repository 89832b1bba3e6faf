"""Figures and tables for a paper: fonts, size, legend, given axes, CSV, LaTeX, and words as they are."""

from __future__ import annotations

import csv
import io
import re
import zlib
from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure as Drawing

import selfclock as sc
from selfclock.errors import BadInputError
from selfclock.export import to_latex
from selfclock.figure import Figure
from selfclock.page_parts import Table
from selfclock.report.chart import text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def result() -> sc.Result:
    return sc.dumbbell(flows=["reno", "cubic"], duration="500 ms").run()


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with mpl.rc_context():
        yield


@pytest.mark.parametrize("kind", ["pdf", "ps"])
def test_fonts_are_embedded_as_truetype(result: sc.Result, kind: str, tmp_path: Path) -> None:
    """Publishers refuse Type 3: IEEE PDF eXpress, ACM TAPS."""
    path = tmp_path / f"figure.{kind}"
    result.plot.window().savefig(path)
    written = path.read_bytes()
    if kind == "pdf":
        written += b"".join(
            zlib.decompress(each) for each in re.findall(rb"FlateDecode[^>]*>>\s*stream\r?\n(.*?)\r?\nendstream",
                                                         written, re.DOTALL)
        )  # fmt: skip
        assert b"/CIDFontType2" in written
        assert b"/Type3" not in written
    else:
        assert b"/FontType 42 def" in written
        assert b"/FontType 3 def" not in written


@pytest.mark.parametrize(
    ("own", "settings", "size", "family"),
    [
        ({}, {}, 9.0, ["sans-serif"]),
        ({"font.size": 8, "font.family": "serif"}, {}, 8.0, ["serif"]),
        ({"font.size": 8}, {"font.size": 7}, 7.0, ["sans-serif"]),
    ],
)
def test_what_a_user_sets_stays(
    result: sc.Result, own: dict[str, object], settings: dict[str, object], size: float, family: list[str]
) -> None:
    """Regression: the family was taken and the size was not."""
    mpl.rcParams.update(own)  # type: ignore[arg-type]
    drawn = result.plot.window().matplotlib(settings=settings)
    label = drawn.axes[0].xaxis.label
    assert (label.get_fontsize(), label.get_fontfamily()) == (size, family)
    assert mpl.rcParams["font.size"] == own.get("font.size", mpl.rcParamsDefault["font.size"])


@pytest.mark.parametrize("legend", ["below", "right", "inside", "none"])
def test_a_figure_of_one_column_has_room_for_its_axes(result: sc.Result, legend: str) -> None:
    """Regression: the legend took 60 % of the height, and the label of the axis was cut."""
    figure = result.plot.window().sized(3.4, 2.2, legend=legend)  # type: ignore[arg-type]
    drawn = figure.matplotlib()
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    box = axes.get_window_extent()
    assert tuple(drawn.get_size_inches()) == (3.4, 2.2)
    assert box.height / drawn.dpi >= 1.0
    label = axes.yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= 2.2 * drawn.dpi
    assert bool(drawn.legends or axes.get_legend()) == (legend != "none")


@pytest.mark.parametrize(("arguments", "words"), [({"width": 0}, "width: 0"), ({"legend": "left"}, "below, right")])
def test_a_size_that_cannot_be_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        Figure().sized(**arguments)  # type: ignore[arg-type]


def test_panels_are_drawn_on_axes_of_ones_own(result: sc.Result) -> None:
    mine = Drawing()
    left, right = mine.subplots(1, 2)
    result.plot.window(ax=left)
    result.plot.rtt().matplotlib(right)
    assert left.get_ylabel() == "window (segments)"
    assert "flow1 (reno)" in left.get_legend_handles_labels()[1]
    assert right.lines
    assert not mine.legends
    four = Drawing().subplots(4, 1)
    result.plot.overview(ax=four)
    assert all(axes.lines for axes in four)


def test_axes_that_do_not_fit_are_refused(result: sc.Result) -> None:
    axes = Drawing().subplots()
    with pytest.raises(BadInputError, match="1 given; the figure has 4 panels"):
        result.plot.overview(ax=axes)
    with pytest.raises(BadInputError, match="is no Axes of matplotlib"):
        result.plot.window(ax="left")  # type: ignore[arg-type]


#: Words that matplotlib would take for TeX.
DOLLARS = ("Cost $^$ of 5", "a$^$b", "$5 and $6_", r"$\alpha$ {{7*7}} ${x}", "one $", r"\$")


@pytest.mark.parametrize("words", DOLLARS)
def test_words_with_dollars_are_words(words: str, tmp_path: Path) -> None:
    """Regression: a parse error of matplotlib, or italics; and the page dropped the dollars."""
    figure = Figure(title=words, x=words, y=words)
    figure.panel.title = words
    figure.panel.line([0, 1], [0, 1], label=words)
    figure.panel.text(0.5, 0.5, words)
    figure.panel.x.name(words, "b")
    figure.savefig(tmp_path / "x.svg", settings={"svg.fonttype": "none"})
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8").replace("&amp;", "&")
    # Title, panel, both axes, the tick, the text and the entry of the legend.
    assert len(re.findall(rf">{re.escape(words)}</text>", drawn)) == 7
    assert text(words) == words


def test_a_scenario_with_dollars_has_figures(tmp_path: Path) -> None:
    scenario = sc.dumbbell(duration="200 ms").with_overrides(["title=Cost $^$ of 5", "flow.0.name=a$^$b"])
    sc.publish(scenario.run(), tmp_path, formats="png")
    assert (tmp_path / "overview.png").stat().st_size > 0


def test_rows_of_a_comparison_are_tidy(tmp_path: Path) -> None:
    scenario = sc.dumbbell(flows=["reno", "cubic"], duration="300 ms")
    compared = sc.compare(["reno", "vegas"], scenario=scenario, flow=["flow1"], seeds=2)
    written = compared.to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8") == written
    rows = list(csv.DictReader(io.StringIO(written)))
    assert [(row["algorithm"], row["seed"], row["flow"], row["compared"]) for row in rows] == [
        (algorithm, seed, flow, str(flow == "flow1"))
        for algorithm in ("reno", "vegas") for seed in ("1", "2") for flow in ("flow1", "flow2")
    ]  # fmt: skip
    assert float(rows[0]["goodput_bps"]) == compared.measures[0]["flows"][0]["goodput_bps"]
    assert rows[0]["completion_s"] == ""


def test_rows_of_a_sweep_are_tidy(tmp_path: Path) -> None:
    grid = sc.Grid.over(sc.dumbbell(flows=["reno", "cubic"], duration="100 ms"),
                        {"network.bottleneck.rate": ["5 Mbps", "10 Mbps"]}, seeds=2)  # fmt: skip
    found = sc.sweep(grid, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "rows.csv"))))
    assert len(rows) == 2 * 2 * 2
    assert {row["network.bottleneck.rate [Mbps]"] for row in rows} == {"5.0", "10.0"}
    assert "\\toprule" in found.to_latex()


@pytest.mark.parametrize(
    ("cell", "latex"),
    [("my_own", r"my\_own"), ("98 %", r"98 \%"), ("a & b", r"a \& b"), ("5 ± 1", r"5 $\pm$ 1"), ("#{~^$}", None)],
)
def test_latex_has_no_letter_with_a_meaning(cell: str, latex: str | None) -> None:
    made = to_latex(Table("", "", ["name", "busy\n%"], [[cell, "1"]], texts=1))
    assert made.splitlines()[0] == r"\begin{tabular}{lr}"
    assert r"name & busy \% \\" in made
    expected = latex or r"\#\{\textasciitilde{}\textasciicircum{}\$\}"
    assert f"{expected} & 1 \\\\" in made


def test_a_run_as_rows(tmp_path: Path) -> None:
    """One row per flow, whose numbers are those of the summary; CSV and LaTeX say the same."""
    result = sc.dumbbell("5 Mbps", flows=["reno", "cubic"], duration="2 s", seed=7).run()
    rows = result.rows()
    assert [row["seed"] for row in rows] == [7, 7]
    assert [row["goodput_bps"] for row in rows] == [flow["goodput_bps"] for flow in result.summary["flows"]]
    text = result.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text(encoding="utf-8") == text
    read = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["goodput_bps"]) for row in read] == [row["goodput_bps"] for row in rows]
    latex = result.to_latex(tmp_path / "run.tex")
    assert (tmp_path / "run.tex").read_text(encoding="utf-8") == latex
    assert latex.count("\\\\") >= 2
    assert "\\toprule" in latex
