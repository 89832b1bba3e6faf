"""Every page that selfclock writes, in a real browser: it works offline, complains of nothing, and can be used.

A page is opened once, by the first test that needs it: to unpack the chart library takes a second or two.
"""

from __future__ import annotations

import os
import re
import shutil
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import selfclock as sc
from selfclock.papers import ficcrd
from selfclock.reproduce import PaperReport
from selfclock.studies import run_studies
from test_paper_page import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PAGES = ("run", "compare", "reproduce", "sweep", "evaluate")
#: A desktop, and a telephone of 2022.
DESKTOP, PHONE = (1280, 900), (390, 844)
#: Milliseconds that a step may take on a machine that has other things to do.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip(f"there is no Chromium here, under none of {', '.join(CHROMIUM)}; CHROMIUM=path says where one is")
    with sync_playwright() as playwright:
        # In a container there is no sandbox to be had, and the pages are our own.
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
    verdicts = {claim.id: claim.verdict for claim in findings.claims}
    report = PaperReport("ficcrd", ficcrd.TITLE, ficcrd.REFERENCE, readings, findings, verdicts, 1.0)
    sc.publish([report, sample()], folder / "reproduce")
    paths = {"network.bottleneck.queue": ["0.3 bdp", "1 bdp", "3 bdp"], "flow.*.congestion_control": ["reno", "cubic"]}
    network = sc.dumbbell(duration="2 s", flows=[{"start_jitter": "1 s"}])
    sc.publish(sc.sweep(sc.Grid.over(network, paths, seeds=3), folder / "sweep"), folder / "sweep")
    sc.publish(sc.evaluate("vegas", against=["reno"], rows=["S1", "S2"]), folder / "evaluate")
    return {name: folder / name / "report.html" for name in PAGES}


class Visit:
    """A page that is open, and what it has complained of."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self._name = path.parent.name
        # It begins in the dark: at first all charts failed there, and there only.
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
        """On a screen of this size, light or dark as the system is; wait until everything is drawn."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        charts = self.page.locator(".chart")
        for number in range(charts.count()):
            # Each is drawn when it comes into view.
            charts.nth(number).evaluate("place => place.scrollIntoView()")
            charts.nth(number).locator("svg.main-svg").first.wait_for()
        if shots := os.environ.get("SCREENSHOTS"):
            # For people, who should look.
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
        # 7: the stricter of the two limits of WCAG 2.
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


def contrast(page: Page, selector: str) -> float:
    """Contrast of the first such element with the ground of the page, as WCAG 2 defines it."""
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
    # From here on this page stays light whatever the system says.
    visited.page.evaluate("localStorage.clear()")
    visited.page.reload()
    visited.use(DESKTOP, "light")
    assert visited.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_can_show_it(visit: Callable[[str], Visit], name: str) -> None:
    """Nothing is wider than the screen, text is of a size to be read; what has to be wider scrolls within itself."""
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
    assert shown.count() == 5
    page.locator('.matrix a[href="#sample.paper.not-reproduced"]').click()
    page.locator("#sample .filter").wait_for()
    assert shown.count() == 1
    assert shown.locator("code").text_content() == "slow"
    assert "1 of 5 rows: the paper's claims, not reproduced" in str(page.locator("#sample .filter").text_content())
    # A link to a row that is hidden shows it.
    page.locator("#sample .shown .note a").first.click()
    page.locator('[id="sample.claim.printed"]').wait_for()
    assert shown.count() == 5
    page.locator('.matrix a[href="#sample.own.reproduced"]').click()
    page.locator("#sample .filter button").click()
    assert shown.count() == 5
    assert visited.complaints == []


def test_a_row_shows_its_scenario(visit: Callable[[str], Visit]) -> None:
    visited = visit("reproduce")
    for scheme in ("dark", "light"):
        visited.use(DESKTOP, scheme)
        page = visited.page
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
    """Numbers by size, then texts; what follows a number is its unit or interval."""
    number = re.match(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", text.replace(",", "").replace("−", "-"))
    return (0, float(number[0]), "") if number else (1, 0.0, text)


def test_values_are_read_and_all_panels_zoom_together(visit: Callable[[str], Visit]) -> None:
    """Window, rate, round-trip time and queue have one time axis."""
    visited = visit("run")
    visited.use(DESKTOP, "light")
    page = visited.page
    chart = page.locator(".chart").first
    panels = chart.locator(".nsewdrag").all()
    assert len(panels) == 4
    # Pointing shows what each of the three flows has there.
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
    page.wait_for_function("width => chartRanges()[0][1] - chartRanges()[0][0] < width / 2", arg=width)
    zoomed = time_ranges(page)
    assert all(seen == pytest.approx(zoomed[0]) for seen in zoomed)
    assert zoomed[0][1] - zoomed[0][0] == pytest.approx(width / 10, rel=0.1)
    # A double click shows all again.
    panels[1].dblclick()
    page.wait_for_function("width => chartRanges()[0][1] - chartRanges()[0][0] > width * 0.9", arg=width)
    assert all(seen == pytest.approx(time_ranges(page)[0]) for seen in time_ranges(page))
    assert visited.complaints == []


def point(page: Page, panel: Locator, fraction: float) -> None:
    """Move the mouse to a fraction of the width of a panel."""
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * fraction, box["y"] + box["height"] / 2, steps=4)


def time_ranges(page: Page) -> list[list[float]]:
    """The ranges of the time axes of the first chart."""
    page.evaluate(
        """() => { window.chartRanges = () => {
          const layout = document.querySelector(".chart .js-plotly-plot")._fullLayout;
          return Object.keys(layout).filter(key => /^xaxis\\d*$/.test(key)).map(key => [...layout[key].range]);
        }; }"""
    )
    ranges: list[list[float]] = page.evaluate("chartRanges()")
    return ranges
