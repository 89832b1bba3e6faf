"""The laboratory's page in a real browser: everything that a reader does with it."""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from selfclock import lab, style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[2]
PRESETS = sorted(path.stem for path in (ROOT / "lab" / "presets").glob("*.toml"))
#: Milliseconds that a step may take on a machine that has other things to do.
PATIENCE = 120_000


def until(page: Page, expression: str, argument: object = None) -> None:
    """Wait until something is so. Playwright's own way evaluates text in the page, which the page's policy refuses."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, f"in vain: {expression}"
        page.wait_for_timeout(20)


class Visit:
    """A page in a fresh profile, and what it has complained of or asked the network for."""

    def __init__(self, browser: Browser, address: str, fragment: str = "", **settings: Any) -> None:  # noqa: ANN401
        self.context: BrowserContext = browser.new_context(**{"viewport": {"width": 1440, "height": 1000}, **settings})
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.address = address
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))
        self.page.on("request", lambda request: self._check(request.url))
        self.page.goto(address + fragment)

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.complaints.append(f"{kind}: {text}")

    def _check(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.complaints.append(f"asked for {url}")

    @property
    def runs(self) -> int:
        return int(self.page.evaluate("Number(document.documentElement.dataset.runs ?? 0)"))

    def wait(self, runs: int = 1) -> Page:
        """Wait until `runs` runs have been drawn."""
        until(self.page, f"Number(document.documentElement.dataset.runs ?? 0) >= {runs}")
        return self.page

    def figures(self) -> str:
        """Texts of the tables."""
        return self.page.inner_text("#summary")

    def text(self) -> str:
        """The scenario as the terminal's command has it."""
        self.page.click("#terminal")
        command = self.page.input_value("dialog textarea")
        self.page.keyboard.press("Escape")
        return command.split("\n", 1)[1].split("\nEOF\n")[0] + "\n"

    def set_text(self, toml: str) -> None:
        """Put another scenario into the editor."""
        content = self.page.locator("#editor .cm-content")
        content.wait_for()
        content.evaluate("""(place, text) => {
          const view = place.cmTile?.view ?? place.cmView?.view;
          if (!view) throw new Error("no editor view");
          view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
        }""", toml)  # fmt: skip


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    visits: list[Visit] = []

    def open_page(fragment: str = "", **settings: Any) -> Visit:  # noqa: ANN401
        visits.append(Visit(browser, address, fragment, **settings))
        return visits[-1]

    yield open_page
    for each in visits:
        each.context.close()
    assert [complaint for each in visits for complaint in each.complaints] == []


def ink(page: Page, selector: str) -> list[int]:
    """Count the pixels of each canvas that are drawn."""
    return page.eval_on_selector_all(
        selector,
        """canvases => canvases.map((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let at = 3; at < data.length; at += 4) if (data[at] > 0) count++;
          return count;
        })""",
    )


def picture(page: Page) -> str:
    """The window's plot as it is drawn."""
    return str(page.evaluate("document.querySelector('[data-panel=window] canvas').toDataURL()"))


def link(document: object, *, wbits: int = -15) -> str:
    packer = zlib.compressobj(9, wbits=wbits)
    packed = packer.compress(json.dumps(document).encode()) + packer.flush()
    return "#s1=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


SMALL = """schema = 1
title = "small"
duration = "5 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "5 Mbps", delay = "10 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }

[[flow]]
congestion_control = "cubic"
"""


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_runs_and_draws(visit: Callable[..., Visit], name: str) -> None:
    visited = visit(f"#preset={name}")
    page = visited.wait()
    until(page, "document.querySelector('#motion output').textContent !== ''")
    assert page.locator("#message").is_hidden()
    drawn = ink(page, "#plots canvas, #motion canvas")
    # Four plots and the path; axes alone are some 5,000 pixels at most.
    assert len(drawn) == 5
    assert min(drawn) > 1_000
    assert "bit/s" in visited.figures()
    assert page.locator("#plots h3").all_inner_texts() == [
        "Congestion window (segments)", "Goodput (Mbit/s)", "Round-trip time (ms)", "Queue (packets)",
    ]  # fmt: skip


def test_a_slider_changes_plots_figures_and_text(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=sawtooth")
    page = visited.wait()
    before, text = visited.figures(), picture(page)
    slider = page.locator("input[data-knob='Buffer']")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    until(page, "before => document.querySelector('#summary').innerText !== before", before)
    assert picture(page) != text
    assert 'queue = "1 bdp"' not in visited.text()


def test_a_shared_link_gives_the_same_figures_in_a_fresh_profile(visit: Callable[..., Visit]) -> None:
    first = visit("#preset=cubic-bbr")
    page = first.wait()
    page.locator("input[data-knob='Random loss']").fill("600")
    first.wait(2)
    until(page, "document.querySelector('#stage').getAttribute('aria-busy') === 'false'")
    figures = first.figures()
    page.click("#share")
    shared = page.input_value("dialog textarea")
    assert shared.startswith(first.address + "#s1=")
    second = visit(shared.removeprefix(first.address))
    second.wait()
    assert second.figures() == figures


HOSTILE = {
    "truncated": link({"toml": SMALL})[:-30],
    "ten megabytes": "#s1=" + "A" * 10_000_000,
    "bomb": link({"toml": " " * 60_000_000}),
    "no scenario": link([1, 2, 3]),
    "cut to nothing": "#s1",
    "another version": "#s7=abc",
    "no base64": "#s1=%%%%",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_broken_or_hostile_link_says_so_and_runs_nothing(visit: Callable[..., Visit], kind: str) -> None:
    visited = visit()
    page = visited.wait()
    page.evaluate("() => { delete document.documentElement.dataset.runs; }")
    page.evaluate("fragment => { location.hash = fragment; }", HOSTILE[kind])
    expect(page.locator("#message")).to_contain_text("link", ignore_case=True, timeout=PATIENCE)
    page.wait_for_timeout(500)
    assert visited.runs == 0


def test_a_script_in_a_name_is_a_name(visit: Callable[..., Visit]) -> None:
    title = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    toml = SMALL.replace('"small"', json.dumps(title)).replace("[[flow]]", '[[flow]]\nname = "<b onclick=alert(3)>"')
    visited = visit(link({"toml": toml}))
    page = visited.wait()
    assert page.inner_text("#title") == title
    assert page.locator("#title img, #title script, #summary b, #legend b, #knobs b b").count() == 0
    assert "<b onclick=alert(3)>" in visited.figures()


def test_an_error_is_located_at_its_line(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=sawtooth")
    page = visited.wait()
    page.locator("#editor .cm-content").wait_for()
    figures = visited.figures()
    visited.set_text(SMALL.replace('"5 Mbps"', "5"))
    expect(page.locator("#message")).to_contain_text("Line 7", timeout=PATIENCE)
    expect(page.locator("#message")).to_contain_text("unit")
    assert page.locator("#editor .cm-lint-marker-error").count() == 1
    # The figures of before stay, paler.
    assert visited.figures() == figures
    assert "stale" in (page.get_attribute("#stage", "class") or "")
    visited.set_text(SMALL)
    visited.wait(2)
    assert page.locator("#message").is_hidden()
    assert page.locator("#editor .cm-lint-marker-error").count() == 0


def test_what_is_too_large_is_refused_with_what_it_would_need(visit: Callable[..., Visit]) -> None:
    toml = SMALL.replace('"5 s"', '"100000 s"').replace('"5 Mbps"', '"100 Gbps"').replace('"1 Gbps"', '"1 Tbps"')
    visited = visit(link({"toml": toml}))
    page = visited.page
    expect(page.locator("#message")).to_contain_text("packet-hops", timeout=PATIENCE)
    expect(page.locator("#message")).to_contain_text("would need")
    assert visited.runs == 0


def test_completion_knows_keys_and_values(visit: Callable[..., Visit]) -> None:
    visited = visit(link({"toml": SMALL}))
    page = visited.wait()
    page.locator("#editor .cm-content").click()
    page.keyboard.press("Control+End")
    page.wait_for_timeout(2_000)
    page.keyboard.type("dsc")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("dscp", timeout=PATIENCE)


def test_a_run_stops_within_a_tenth_of_a_second(visit: Callable[..., Visit]) -> None:
    # Some 160 million packet-hops: seconds in any browser.
    toml = SMALL.replace('"5 s"', '"120 s"').replace('"5 Mbps"', '"2 Gbps"').replace('"1 Gbps"', '"40 Gbps"')
    visited = visit("#preset=self-clocking")
    page = visited.wait()
    page.evaluate("fragment => { location.hash = fragment; }", link({"toml": toml}))
    until(page, "document.querySelector('#stage').getAttribute('aria-busy') === 'true'")
    page.wait_for_timeout(600)
    took = page.evaluate("""() => new Promise((done, fail) => {
      const begun = performance.now();
      setTimeout(() => fail(new Error(`not stopped: ${status.textContent}`)), 60_000);
      new MutationObserver(() => { if (status.textContent === "Stopped.") done(performance.now() - begun); })
        .observe(document.querySelector("#status"), { childList: true, characterData: true, subtree: true });
      const status = document.querySelector("#status");
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    })""")
    print(f"cancelled in {took:.0f} ms")
    assert took < 100


def test_everything_can_be_done_with_the_keyboard(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=self-clocking")
    page = visited.wait()
    until(page, "document.querySelector('#motion output').textContent !== ''")
    before = page.inner_text("#motion output")
    page.keyboard.press("a")
    expect(page.locator("#motion .told")).to_contain_text("ACK of segment")
    assert page.inner_text("#motion output") != before
    page.keyboard.press(" ")
    expect(page.locator("#motion [data-do=play]")).to_have_text("Pause")
    page.keyboard.press(" ")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    # Every control is reached with Tab, in the order of the page, and shows that it is.
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.id || document.activeElement.dataset.knob || document.activeElement.className"
            )
        )
    for wanted in ("preset", "share", "game", "theme", "Bottleneck rate", "queue", "algorithm-0", "plots", "save-csv"):
        assert wanted in reached
    page.focus("#plots")
    page.keyboard.press("Home")
    for _ in range(50):
        page.keyboard.press("ArrowRight")
    assert " s" in page.locator("[data-panel=window] output").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert page.locator("[data-panel=rtt] .playhead").is_visible()


def test_the_cursor_is_in_all_plots(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=sawtooth")
    page = visited.wait()
    page.locator("[data-panel=window] .u-over").hover(position={"x": 200, "y": 40})
    times = {page.locator(f"[data-panel={name}] output b").inner_text() for name in ("window", "rate", "rtt", "queue")}
    assert len(times) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_system_and_the_switch(visit: Callable[..., Visit], scheme: str) -> None:
    visited = visit("#preset=cubic-bbr", color_scheme=scheme)
    page = visited.wait()
    assert page.get_attribute("html", "data-theme") == scheme
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") != scheme
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background
    page.reload()
    visited.wait()
    assert page.get_attribute("html", "data-theme") != scheme


@pytest.mark.parametrize("name", ["self-clocking", "cubic-bbr", "ficcrd"])
def test_a_phone_needs_no_sideways_scrolling(visit: Callable[..., Visit], name: str) -> None:
    visited = visit(f"#preset={name}", viewport={"width": 390, "height": 844}, has_touch=True)
    page = visited.wait()
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#motion canvas").is_visible()


def test_reduced_motion_changes_the_picture_twice_a_second(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=self-clocking", reduced_motion="reduce")
    page = visited.wait()
    until(page, "document.querySelector('#motion output').textContent !== ''")
    page.click("#motion [data-do=play]")
    seen = page.evaluate("""() => new Promise((done) => {
      const times = new Set(), place = document.querySelector("#motion output"), end = performance.now() + 2000;
      const look = () => {
        times.add(place.textContent);
        if (performance.now() < end) requestAnimationFrame(look); else done(times.size);
      };
      look();
    })""")
    # The picture of the beginning, and one every half second.
    assert 1 <= seen <= 6


def test_nothing_can_leave_the_page(visit: Callable[..., Visit]) -> None:
    page = visit("#preset=self-clocking").wait()
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content") or ""
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == rules["worker-src"] == "'self'"
    assert "unsafe-inline" not in rules["script-src"]
    assert "'unsafe-eval'" not in rules["script-src"]


def test_exports_are_files(visit: Callable[..., Visit]) -> None:
    visited = visit(link({"toml": SMALL}))
    page = visited.wait()
    page.locator("#editor .cm-content").wait_for()
    content = {}
    for kind in ("toml", "csv", "png"):
        with page.expect_download() as download:
            page.click(f"#save-{kind}")
        content[kind] = Path(download.value.path()).read_bytes()
    assert content["toml"].decode() == SMALL
    rows = content["csv"].decode().splitlines()
    assert rows[0].startswith("time_s,flow1.")
    assert len(rows) == 1001
    assert content["png"].startswith(b"\x89PNG")


def test_the_game_is_played_with_the_arrow_keys_and_scored(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=self-clocking")
    page = visited.wait()
    page.click("#game")
    page.get_by_role("button", name="Start").click()
    for _ in range(8):
        page.keyboard.press("ArrowUp")
    assert "4.95 Mbit/s" in page.inner_text(".game-now")
    page.locator("table.score").wait_for()
    assert page.locator("table.score tr").count() == 4
    rows = page.locator("table.score td:first-child").all_inner_texts()
    assert rows == ["You", "CUBIC", "BBRv3"]
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "document.documentElement.scrollWidth <= 390")
    page.get_by_role("button", name="Back to the laboratory").click()
    visited.wait(2)
    assert page.locator("#plots").is_visible()


def test_flows_have_the_colours_of_the_reports() -> None:
    table = json.loads((ROOT / "lab" / "src" / "palette.json").read_text(encoding="utf-8"))
    assert table["algorithms"] == {name: [look.colour, look.line] for name, look in style.LOOKS.items()}
    assert table["links"] == list(style.LINKS)
    assert (table["drop"], table["mark"]) == (style.DROP.colour, style.MARK.colour)


def test_the_page_is_small(dist: Path) -> None:
    sizes = json.loads((dist / "sizes.json").read_text(encoding="utf-8"))
    assert sizes["page"] <= 900_000
    assert sizes["selfclock.wasm"] <= 450_000


def test_first_plot_and_redraw_are_quick(visit: Callable[..., Visit]) -> None:
    visited = visit("#preset=self-clocking")
    page = visited.wait()
    # The second opening: files are in the browser's cache, as a reader's second look has them.
    page.reload()
    first = page.evaluate("""() => new Promise((done) => {
      const there = () => document.querySelector("#plots canvas");
      const look = () => there() ? done(performance.now()) : requestAnimationFrame(look);
      look();
    })""")
    toml = (
        SMALL.replace('"5 s"', '"60 s"').replace('"5 Mbps"', '"50 Mbps"') + '\n[[flow]]\ncongestion_control = "cubic"\n'
    )
    page.evaluate("fragment => { location.hash = fragment; }", link({"toml": toml}))
    until(page, "document.querySelectorAll('#summary .flows td:first-child').length === 2")
    times = page.evaluate("""async () => {
      const slider = document.querySelector("input[data-knob='Buffer']"), times = [];
      const runs = () => Number(document.documentElement.dataset.runs);
      for (let at = 0; at < 15; at++) {
        const begun = performance.now(), before = runs();
        slider.value = String(500 + 7 * at);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        while (runs() === before) await new Promise((next) => requestAnimationFrame(next));
        times.push(performance.now() - begun);
      }
      return times.sort((a, b) => a - b);
    }""")
    print(f"first plot after {first:.0f} ms; two CUBIC flows redrawn in {times[0]:.0f} ms, median {times[7]:.0f} ms")
    # On a machine that has other things to do the fastest of fifteen says what it takes.
    assert first < 1_000 or os.getloadavg()[0] > 2
    assert times[0] < 100 or os.getloadavg()[0] > 2


def test_a_figure_in_another_page_comes_to_life(browser: Browser, dist: Path, tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    import live  # noqa: PLC0415

    for name in live.FILES:
        (tmp_path / name).write_bytes((dist / name).read_bytes())
    still = '<p><img alt="sawtooth" class="figure" src="data:,"> <img alt="sawtooth" class="figure" src="data:,"></p>'
    body = live.enliven(f"<h1>Figures</h1>{still}" + still.replace("sawtooth", "clock"))
    page_text = live.load(
        f"<html><head><link rel='icon' href='data:,'></head><body>{body}</body></html>", "index.html"
    ).replace("lab/", "")
    (tmp_path / "index.html").write_text(page_text, encoding="utf-8")
    with lab.server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        visited = Visit(browser, f"http://127.0.0.1:{server.server_port}/")
        page = visited.page
        page.locator("#live-1 .live-figure canvas").first.wait_for()
        page.locator("#live-2 .motion canvas").wait_for()
        assert page.locator("#live-1 .still").is_hidden()
        page.emulate_media(media="print")
        assert page.locator("#live-1 .still").is_visible()
        assert page.locator("#live-1 .live-figure").is_hidden()
        visited.context.close()
        server.shutdown()
    assert visited.complaints == []


def test_a_figure_stays_a_still_where_files_are_opened(browser: Browser, dist: Path, tmp_path: Path) -> None:
    (tmp_path / "embed.js").write_bytes((dist / "embed.js").read_bytes())
    body = '<div class="live" data-live="{}"><div class="still">still</div></div><script src="embed.js"></script>'
    (tmp_path / "index.html").write_text(body, encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_timeout(500)
    assert page.locator(".still").is_visible()
    assert complaints == []
    context.close()
