"""The replay in a real browser: the player agrees with the record, and is usable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc
from test_browser import DESKTOP, PHONE, Visit, browser, wait_until
from test_motion import MIXED, PARKING_LOT, record_of, seen_at, times_between

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from selfclock.result import Result

__all__ = ["browser"]


class Replay:
    """A page with a replay, and its run."""

    def __init__(self, browser: Browser, result: Result, folder: Path) -> None:
        self.result, self.record = result, record_of(result)
        sc.publish(result, folder)
        self.visit = Visit(browser, folder / "report.html")
        self.page: Page = self.visit.page
        self.page.locator(".motion").scroll_into_view_if_needed()
        wait_until(self.page, "document.querySelector('.motion').dataset.drawn === 'yes'")

    def tell(self, script: str) -> Any:  # noqa: ANN401
        """Evaluate an expression about the player."""
        return self.page.evaluate(f"(() => {{ const player = document.querySelector('.motion').player; {script} }})()")

    @property
    def now_s(self) -> float:
        return float(self.tell("return player.t"))


@pytest.fixture(scope="module", params=[MIXED, PARKING_LOT], ids=["mixed", "parking-lot"])
def replay(request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return Replay(browser, sc.Scenario.parse(request.param).run(), tmp_path_factory.mktemp("replay") / "run")


def test_the_player_shows_what_the_record_says(replay: Replay) -> None:
    names = replay.tell("return player.track.picture.edges.map((edge) => edge.name)")
    flows = replay.tell("return player.track.picture.groups.map((group) => group.name)")
    queued = 0
    for time_s in times_between(replay.record, 30):
        state = replay.tell(f"return player.track.state({time_s!r})")
        expected = seen_at(replay.record, time_s)
        for phase in ("waiting", "flying"):
            found = {name: count for name, count in zip(names, state[phase], strict=True) if count}
            assert found == getattr(expected, phase), (phase, time_s)
        delivered = {name: count for name, count in zip(flows, state["delivered"], strict=True) if count}
        assert delivered == expected.delivered, time_s
        gone = [drops + losses for drops, losses in zip(state["dropped"], state["lost"], strict=True)]
        assert {name: count for name, count in zip(flows, gone, strict=True) if count} == expected.dropped, time_s
        queued += sum(expected.waiting.values())
    assert queued > 100, "the test must see queues"


def test_the_queue_of_the_strip_is_that_of_the_record(replay: Replay) -> None:
    name, times, lengths = replay.tell(
        "const [queue] = player.queues; return [queue.edge.name, queue.times, queue.lengths]"
    )
    assert max(lengths) > 5
    drawn = pl.DataFrame({"time_s": [float(time_s) for time_s in times], "length": lengths})
    for time_s in times_between(replay.record, 30):
        before = drawn.filter(pl.col("time_s") <= time_s)
        assert before["length"][-1] == seen_at(replay.record, time_s).waiting.get(name, 0), time_s


def test_steps_go_from_event_to_event(replay: Replay) -> None:
    page = replay.page
    page.locator(".motion").focus()
    page.keyboard.press("Home")
    assert replay.now_s == pytest.approx(0.0, abs=1e-9)
    events = replay.record["time_s"].unique().sort()
    seen = []
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        seen.append(replay.now_s)
        # A time of the record, or of a computed event.
        assert (events - seen[-1]).abs().min() < 2e-9  # type: ignore[operator]
        assert page.locator(".motion-told").inner_text() != ""
    assert seen == sorted(set(seen))
    page.keyboard.press("ArrowLeft")
    assert replay.now_s == pytest.approx(seen[-2], abs=1e-12)


def test_it_plays_pauses_and_changes_its_speed(replay: Replay) -> None:
    page, play = replay.page, replay.page.locator(".motion-play")
    page.locator(".motion").focus()
    page.keyboard.press("Home")
    page.locator(".motion select").select_option("100")
    page.locator(".motion").focus()
    page.keyboard.press("Space")
    assert play.inner_text() == "Pause"
    wait_until(page, "document.querySelector('.motion').player.t > 1e-3")
    page.keyboard.press("Space")
    assert play.inner_text() == "Play"
    stopped = replay.now_s
    assert 0 < stopped < 3
    page.wait_for_timeout(120)
    assert replay.now_s == stopped
    page.keyboard.press("ArrowUp")
    assert page.locator(".motion select").input_value() == "50"
    page.locator(".motion input[type=range]").fill("500")
    assert replay.now_s == pytest.approx(replay.result.scenario.duration_s / 2, rel=1e-3)
    assert f"{replay.now_s:.6f} s" == page.locator(".motion output").inner_text()


def test_with_reduced_motion_it_changes_twice_a_second(replay: Replay) -> None:
    page = replay.page
    page.emulate_media(reduced_motion="reduce")
    page.locator(".motion").focus()
    page.keyboard.press("Home")
    page.evaluate("""() => {
        const player = document.querySelector('.motion').player, draw = player.draw.bind(player);
        window.drawings = 0;
        player.draw = () => { window.drawings += 1; draw(); };
    }""")
    page.keyboard.press("Space")
    page.wait_for_timeout(1200)
    page.keyboard.press("Space")
    assert 1 <= page.evaluate("window.drawings") <= 4
    page.emulate_media(reduced_motion="no-preference")


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_it_fits_every_screen_and_says_nothing(replay: Replay, size: tuple[int, int], scheme: str) -> None:
    replay.visit.use(size, scheme)
    page = replay.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".motion input[type=range]").fill("600")
    page.wait_for_timeout(100)
    # Chromium warns that tests read pixels.
    assert [complaint for complaint in replay.visit.complaints if "getImageData" not in complaint] == []
    for name in (".motion-scene", ".motion-strip"):
        colours, inked, widest = page.locator(name).evaluate("""(canvas) => {
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            const colours = new Set();
            let inked = 0;
            for (let at = 0; at < data.length; at += 4) {
                if (data[at + 3] <= 128) continue;
                inked += 1;
                colours.add(data.slice(at, at + 3).join());
            }
            return [colours.size, inked, canvas.getBoundingClientRect().width];
        }""")
        assert colours > 3, name
        assert inked > 2000, name
        assert widest <= size[0]
    shown = ".sketch-narrow" if size is PHONE else ".sketch-wide"
    assert page.locator(shown).is_visible()
