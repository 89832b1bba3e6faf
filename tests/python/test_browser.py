"""Every page that selfclock writes, in a real browser: it works offline, reports no errors, and is usable.

A page is opened once, by the first test that needs it: unpacking the chart library takes a second
or two.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import zlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import selfclock as sc
from selfclock.paper_runs import run_studies
from selfclock.papers import ficcrd
from selfclock.reproduce import PaperReport
from test_paper_page import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PAGES = ("run", "compare", "reproduce", "sweep", "evaluate")
#: A desktop, and a phone of 2022.
DESKTOP, PHONE = (1280, 900), (390, 844)
#: Milliseconds that a step may take on a busy machine.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip(f"there is no Chromium here, under none of {', '.join(CHROMIUM)}; CHROMIUM=path says where one is")
    with sync_playwright() as playwright:
        # Containers have no sandbox, and the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    flows = ["reno", "cubic", {"congestion_control": "packet-pair", "start": "1 s"}]
    sc.publish(sc.dumbbell("5 Mbps", flows=flows, duration="5 s").run(), folder / "run")
    sc.publish(sc.compare(["reno", "bbr3"], rate="10 Mbps", duration="5 s", flows=2), folder / "compare")
    [(findings, _)] = run_studies([ficcrd.study(0.02)])
    readings = (resources.files("selfclock.papers.ficcrd") / "README.md").read_text(encoding="utf-8")
    verdicts = {claim.key: claim.verdict for claim in findings.claims}
    report = PaperReport(
        "ficcrd", ficcrd.TITLE, ficcrd.REFERENCE, readings, findings, verdicts, 1.0, ambiguities=ficcrd.AMBIGUITIES
    )
    sc.publish([report, sample()], folder / "reproduce")
    paths = {"network.bottleneck.queue": ["0.3 bdp", "1 bdp", "3 bdp"], "flow.*.congestion_control": ["reno", "cubic"]}
    network = sc.dumbbell(duration="2 s", flows=[{"start_jitter": "1 s"}])
    sc.publish(sc.sweep(sc.Grid.over(network, paths, seeds=3), folder / "sweep"), folder / "sweep")
    sc.publish(sc.evaluate("vegas", against=["reno"], rows=["S1", "S2"]), folder / "evaluate")
    return {name: folder / name / "report.html" for name in PAGES}


class Visit:
    """An open page, and its errors."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self._name = path.parent.name
        # It starts in dark mode: at first all charts failed there, and only there.
        settings: Any = {"color_scheme": "dark", "offline": True}
        self.page: Page = browser.new_context(**settings).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self._note("error", str(error)))
        self.page.on("request", lambda request: self._check(request.url))
        self.page.goto(path.as_uri())
        self.use(DESKTOP, "dark")

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.complaints.append(f"{kind}: {text}")

    def _check(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"asked for {url}")

    def use(self, size: tuple[int, int], scheme: str) -> None:
        """Use this screen size and colour scheme; wait until everything is drawn."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        charts = self.page.locator(".chart")
        for number in range(charts.count()):
            # Each is drawn when scrolled into view.
            charts.nth(number).evaluate("place => place.scrollIntoView()")
            charts.nth(number).locator("svg.main-svg").first.wait_for()
        if shots := os.environ.get("SCREENSHOTS"):
            # Keeps the page visible for a human.
            self.page.wait_for_timeout(500)
            self.page.evaluate("scrollTo(0, 0)")
            self.page.screenshot(path=Path(shots) / f"{self._name}-{size[0]}-{scheme}.png", full_page=True)


@pytest.fixture(scope="module")
def visit(browser: Browser, written: dict[str, Path]) -> Callable[[str], Visit]:
    visits: dict[str, Visit] = {}

    def of(name: str) -> Visit:
        if name not in visits:
            visits[name] = Visit(browser, written[name])
        return visits[name]

    return of


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_there_offline_in_dark_and_light(visit: Callable[[str], Visit], name: str) -> None:
    visited = visit(name)
    page = visited.page
    for scheme in ("dark", "light"):
        visited.use(DESKTOP, scheme)
        assert page.locator("html").get_attribute("data-theme") == scheme
        # 7: the stricter of the two contrast limits of WCAG 2.
        assert contrast(page, "body") > 7
        assert contrast(page, "td") > 7
        assert page.locator("figure").count() > 0
        for chart in page.locator(".chart").all():
            box = chart.bounding_box()
            assert box is not None
            assert box["width"] > 300
            assert box["height"] > 150
            marks = chart.locator(".scatterlayer path, .barlayer path, .heatmaplayer image, .plot canvas")
            assert marks.count() > 0, "an empty chart"
        assert visited.complaints == []


#: Returns how many frames after loading each chart is drawn. The first is the last to be unpacked.
FRAMES = """
  const whole = Response.prototype.arrayBuffer;
  let first = true;
  Response.prototype.arrayBuffer = async function () {
    const wait = first ? 1000 : 0;
    first = false;
    const buffer = await whole.call(this);
    await new Promise((done) => setTimeout(done, wait));
    return buffer;
  };
  window.seen = [];
  let frames = 0;
  const count = () => { frames += 1; requestAnimationFrame(count); };
  count();
  new MutationObserver((changes) => {
    const charts = [...document.querySelectorAll(".chart")];
    for (const { target } of changes) window.seen.push([charts.indexOf(target), frames]);
  }).observe(document, { subtree: true, attributeFilter: ["data-drawn"] });
"""


def test_the_first_figure_is_on_the_screen_before_the_others_are_drawn(
    browser: Browser, written: dict[str, Path]
) -> None:
    """The first chart matters most; it used to come last, and two might be drawn in one frame."""
    # Tall enough for all of them to be in view.
    page = browser.new_page(viewport={"width": 1280, "height": 4000})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(FRAMES)
    page.goto(written["run"].as_uri())
    wait_until(page, "window.seen.length > 1")
    (first, at), (_, later) = page.evaluate("window.seen")[:2]
    page.close()
    assert first == 0
    assert later > at


def wait_until(page: Page, condition: str, argument: object = None) -> None:
    """Wait for an expression or a function to be true.

    Playwright's wait_for_function evaluates its text within the page, whose Content Security Policy
    forbids that.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(condition, argument):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def contrast(page: Page, selector: str) -> float:
    """Contrast of the first matching element with the page's background, as WCAG 2 defines it."""
    return float(
        page.evaluate(
            """selector => {
              const light = colour => {
                const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
                  .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const text = light(getComputedStyle(document.querySelector(selector)).color);
              const ground = light(getComputedStyle(document.body).backgroundColor);
              return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
            }""",
            selector,
        )
    )


def test_the_button_overrules_the_system(visit: Callable[[str], Visit]) -> None:
    visited = visit("sweep")
    visited.use(DESKTOP, "light")
    theme = visited.page.locator("html")
    for seen in ("dark", "light"):
        visited.page.locator("button.theme").click()
        assert theme.get_attribute("data-theme") == seen
    # From here on this page stays light in any system scheme.
    visited.page.evaluate("localStorage.clear()")
    visited.page.reload()
    visited.use(DESKTOP, "light")
    assert visited.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_can_show_it(visit: Callable[[str], Visit], name: str) -> None:
    """Nothing is wider than the screen, and text is legible; wider parts scroll by themselves."""
    visited = visit(name)
    for scheme in ("light", "dark"):
        visited.use(PHONE, scheme)
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert visited.page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
        assert visited.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_tables_sort_up_and_down(visit: Callable[[str], Visit], name: str) -> None:
    visited = visit(name)
    visited.use(DESKTOP, "light")
    table = visited.page.locator("table:not(.matrix)").first
    heads = table.locator("thead th button")
    assert heads.count() > 3
    for column in range(heads.count()):
        heads.nth(column).click()
        up = list(map(order, cells(table, column)))
        heads.nth(column).click()
        down = list(map(order, cells(table, column)))
        assert up == sorted(up)
        assert down == sorted(up, reverse=True)
    assert visited.complaints == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_cell_of_the_matrix_shows_its_rows_alone(visit: Callable[[str], Visit], size: tuple[int, int]) -> None:
    visited = visit("reproduce")
    visited.use(size, "light")
    page = visited.page
    shown = page.locator("#sample tr[data-cell]:visible")
    page.evaluate("scrollTo(0, 0)")
    assert shown.count() == 6
    page.locator('.matrix a[href="#sample.paper.some"]').click()
    page.locator("#sample .filter").wait_for()
    assert shown.count() == 1
    assert shown.locator("code").text_content() == "open"
    told = str(page.locator("#sample .filter").text_content())
    assert "1 of 6 rows: the paper's claims, reproduced under some readings" in told
    # A link to a hidden row shows it.
    page.locator("#sample .shown .note a").first.click()
    page.locator('[id="sample.claim.printed"]').wait_for()
    assert shown.count() == 6
    assert page.locator('[id="sample.claim.printed"] details').get_attribute("open") is not None
    page.locator('.matrix a[href="#sample.own.every"]').click()
    page.locator("#sample .filter button").click()
    assert shown.count() == 6
    assert visited.complaints == []


def test_a_row_shows_its_scenario(visit: Callable[[str], Visit]) -> None:
    visited = visit("reproduce")
    for scheme in ("dark", "light"):
        visited.use(DESKTOP, scheme)
        page = visited.page
        page.evaluate("for (const row of document.querySelectorAll('details.row')) row.open = true")
        page.locator("#sample button.scenario", has_text="many").first.click()
        dialog = page.locator("dialog.scenario")
        dialog.locator("select").nth(1).select_option("many-seed-3")
        written = sc.Scenario.parse(str(dialog.locator("code").text_content()))
        assert (written.name, written.seed) == ("many-seed-3", 3)
        assert dialog.locator("a").get_attribute("download") == "many-seed-3.toml"
        assert contrast(page, "dialog.scenario") > 7
        dialog.locator("button").click()
        dialog.wait_for(state="hidden")
        assert visited.complaints == []


def cells(table: Locator, column: int) -> list[str]:
    return [text.strip() for text in table.locator(f"tbody tr td:nth-child({column + 1})").all_text_contents()]


def order(text: str) -> tuple[int, float, str]:
    """Sort key: numbers by size, then texts; a unit or interval may follow a number."""
    number = re.match(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", text.replace(",", "").replace("−", "-"))
    return (0, float(number[0]), "") if number else (1, 0.0, text)


def test_values_are_read_and_all_panels_zoom_together(visit: Callable[[str], Visit]) -> None:
    """Window, rate, round-trip time and queue share one time axis."""
    visited = visit("run")
    visited.use(DESKTOP, "light")
    page = visited.page
    chart = page.locator(".chart").first
    panels = chart.locator(".nsewdrag").all()
    assert len(panels) == 4
    # Hovering shows the values of all three flows.
    point(page, panels[0], 0.6)
    chart.locator(".hoverlayer text").first.wait_for()
    read = " ".join(chart.locator(".hoverlayer text").all_text_contents())
    assert all(flow in read for flow in ("flow1", "flow2", "flow3")), read
    assert sum(letter.isdigit() for letter in read) > 6
    # Dragging across a tenth of the second panel zooms all.
    whole = time_ranges(page)
    point(page, panels[1], 0.5)
    page.mouse.down()
    point(page, panels[1], 0.6)
    page.mouse.up()
    width = whole[0][1] - whole[0][0]
    wait_until(page, "width => chartRanges()[0][1] - chartRanges()[0][0] < width / 2", width)
    zoomed = time_ranges(page)
    assert all(seen == pytest.approx(zoomed[0]) for seen in zoomed)
    assert zoomed[0][1] - zoomed[0][0] == pytest.approx(width / 10, rel=0.1)
    # A double click restores the full range.
    panels[1].dblclick()
    wait_until(page, "width => chartRanges()[0][1] - chartRanges()[0][0] > width * 0.9", width)
    assert all(seen == pytest.approx(time_ranges(page)[0]) for seen in time_ranges(page))
    assert visited.complaints == []


def point(page: Page, panel: Locator, fraction: float) -> None:
    """Move the mouse to a fraction of a panel's width."""
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * fraction, box["y"] + box["height"] / 2, steps=4)


def time_ranges(page: Page) -> list[list[float]]:
    """Return the ranges of the time axes of the first chart."""
    page.evaluate(
        """() => { window.chartRanges = () => {
          const layout = document.querySelector(".chart .js-plotly-plot")._fullLayout;
          return Object.keys(layout).filter(key => /^xaxis\\d*$/.test(key)).map(key => [...layout[key].range]);
        }; }"""
    )
    ranges: list[list[float]] = page.evaluate("chartRanges()")
    return ranges


#: Colours of all elements of each series and of its legend entry, for every chart of a page.
COLOURS = """() => [...document.querySelectorAll(".chart .js-plotly-plot")].map(chart => {
  const shown = path => { const style = getComputedStyle(path);
    return [style.stroke, style.fill].filter(colour => colour.startsWith("rgb(")); };
  const among = (group, selector) => [...group.querySelectorAll(selector)].flatMap(shown);
  const marks = "path.js-line, path.point, .point path, .legendlines path, .legendpoints path, .legendundefined path";
  const drawn = {}, legend = {};
  for (const trace of chart.querySelectorAll(".scatterlayer .trace, .barlayer .trace")) {
    const name = trace.__data__[0].trace.name;
    if (name) (drawn[name] ??= []).push(...among(trace, marks));
  }
  for (const entry of chart.querySelectorAll(".legend .traces"))
    legend[entry.__data__[0].trace.name] = among(entry, marks);
  return [drawn, legend];
})"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_series_has_the_colour_of_its_legend(visit: Callable[[str], Visit], name: str, scheme: str) -> None:
    visited = visit(name)
    visited.use(DESKTOP, scheme)
    met = 0
    for drawn, legend in visited.page.evaluate(COLOURS):
        for entry, colours in legend.items():
            if drawn.get(entry):
                met += 1
                assert set(colours) == set(drawn[entry]), (entry, colours, drawn[entry])
    assert met > 0
    assert visited.complaints == []


def test_what_is_pointed_at_has_quantity_unit_and_name(visit: Callable[[str], Visit]) -> None:
    visited = visit("run")
    visited.use(DESKTOP, "light")
    chart = visited.page.locator(".chart").first
    point(visited.page, chart.locator(".nsewdrag").first, 0.6)
    chart.locator(".hoverlayer text").first.wait_for()
    read = chart.locator(".hoverlayer text").all_text_contents()
    assert re.fullmatch(r"time [\d.]+ s", read[0]), read
    for quantity, unit in (("window", "segments|kB"), ("goodput", "Mbit/s"), ("RTT", "ms"), ("queue", "packets")):
        assert any(re.search(rf"{quantity} [\d.,]+ ({unit})$", line) for line in read), (quantity, read)
    assert any(line.startswith("flow1 (reno)") for line in read)
    # Of four panels in one column, one line across.
    assert chart.locator(".spikeline").count() > 0


def test_columns_side_by_side_have_one_cursor(visit: Callable[[str], Visit]) -> None:
    visited = visit("compare")
    visited.use(DESKTOP, "light")
    chart = visited.page.locator(".chart").filter(has=visited.page.locator(".nsewdrag").nth(3))
    cursors = chart.locator(".cursor:visible")
    panels = chart.locator(".nsewdrag")
    point(visited.page, panels.nth(0), 0.4)
    cursors.first.wait_for()
    boxes = [box for panel in panels.all() if (box := panel.bounding_box()) is not None]
    [there] = {box["x"]: box for box in boxes if box["x"] > boxes[0]["x"] + 1}.values()
    [cursor] = [box for one in cursors.all() if (box := one.bounding_box()) is not None]
    assert cursor["x"] == pytest.approx(there["x"] + 0.4 * there["width"], abs=0.02 * there["width"])
    visited.page.mouse.move(1, 1)
    cursors.first.wait_for(state="hidden")
    assert visited.complaints == []


#: State in print: theme, charts drawn, the widest of them, tables cut.
AT_PRINT = """() => addEventListener("beforeprint", () => { window.atPrint = {
  theme: document.documentElement.dataset.theme,
  drawn: [...document.querySelectorAll(".chart")].map(
    place => place.querySelectorAll(".scatterlayer path, .barlayer path").length),
  widest: Math.max(...[...document.querySelectorAll("svg.main-svg")].map(
    svg => svg.getBoundingClientRect().width)) }; })"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_prints_whole(browser: Browser, written: dict[str, Path], name: str) -> None:
    """Printed directly after loading in dark mode, all figures are light and fit the sheet."""
    page = browser.new_context(color_scheme="dark", offline=True).new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {AT_PRINT})")
    page.goto(written[name].as_uri())
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    found = page.evaluate("atPrint")
    assert found["theme"] == "light"
    assert found["widest"] <= SHEET
    assert all(count > 0 for count in found["drawn"]), found
    # The content streams of the pages: strokes in the colours of the series.
    streams = re.findall(rb"stream\r?\n(.*?)endstream", printed, re.DOTALL)
    text = b"".join(inflated(stream) for stream in streams)
    strokes = {tuple(round(float(part) * 255) for part in found) for found in re.findall(STROKE, text)}
    assert any(max(stroke) - min(stroke) > 50 for stroke in strokes), strokes
    assert page.locator("html").get_attribute("data-theme") == "dark"
    # Tables fit the sheet.
    page.emulate_media(media="print")
    page.set_viewport_size({"width": SHEET, "height": 900})
    cut = page.evaluate(
        """() => [...document.querySelectorAll("table")].filter(
          table => table.getBoundingClientRect().right > innerWidth).map(table => table.textContent.slice(0, 80))"""
    )
    assert cut == []
    page.context.close()


#: Pixels between the margins of a sheet of A4.
SHEET = 703
STROKE = rb"([\d.]+) ([\d.]+) ([\d.]+) RG"


def inflated(stream: bytes) -> bytes:
    """Return the contents of a PDF stream; empty if it is not compressed this way."""
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_nothing_in_a_chart_leads_to_the_network(visit: Callable[[str], Visit]) -> None:
    """The chart library has a button that would upload a chart."""
    visited = visit("run")
    visited.use(DESKTOP, "light")
    buttons = visited.page.locator(".chart").first.locator(".modebar-btn")
    titles = [button.get_attribute("data-title") for button in buttons.all()]
    assert titles == ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]


def test_a_scorecard_fits_its_screen(visit: Callable[[str], Visit]) -> None:
    visited = visit("evaluate")
    visited.use(DESKTOP, "light")
    table = visited.page.locator("table.scorecard").first
    widths = table.locator("tbody tr").first.locator("td").evaluate_all("cells => cells.map(cell => cell.clientWidth)")
    # The verdict is as wide as its word, and marks are wide enough to read.
    assert widths[1] < 120
    assert widths[4] > 160
