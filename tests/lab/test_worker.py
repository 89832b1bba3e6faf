"""The simulator in Chromium: its results to the last bit, its messages, its size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]

#: Least number of scenarios whose fingerprints are compared, and of how many one is taken.
LEAST, EVERY = 200, 2

SCENARIO = """
schema = 1
duration = "60 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "50 Mbps", delay = "20 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
congestion_control = "cubic"
count = 2
"""

#: Starts a worker; `ask(request, ends)` resolves with the replies to a request up to one of the
#: types `ends`.
HELPERS = """
() => new Promise((resolve, reject) => {
  const waiting = new Map();
  let last = 0;
  const worker = new Worker("worker.js", { type: "module" });
  window.ask = (request, ends) => new Promise((done) => {
    const id = ++last;
    waiting.set(id, { replies: [], ends, done });
    worker.postMessage({ id, ...request });
  });
  window.tell = (request) => worker.postMessage(request);
  window.latest = () => last;
  worker.onmessage = ({ data }) => {
    if (data.type === "ready") return resolve(data.version);
    if (data.type === "unavailable") return reject(new Error(data.message));
    const one = waiting.get(data.id);
    one.replies.push({ ...data, at: performance.now() });
    if ([...one.ends, "refused", "cancelled"].includes(data.type)) { waiting.delete(data.id); one.done(one.replies); }
  };
})
"""


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    page.set_default_timeout(600_000)
    # A page of the same origin without a laboratory of its own, which would take part of the time.
    page.goto(f"{address}sizes.json")
    page.evaluate(HELPERS)
    yield page
    page.close()


def test_fingerprints_are_those_of_the_native_build(page: Page) -> None:
    every = json.loads((ROOT / "lab/core/short.json").read_text(encoding="utf-8"))[::EVERY]
    assert len(every) >= LEAST
    made = page.evaluate(
        """async (scenarios) => {
          const made = [];
          for (const { toml, source, overrides } of scenarios) {
            const replies = await ask({ type: "fingerprint", toml, source, overrides }, ["fingerprint"]);
            made.push(replies.at(-1).fingerprint ?? replies.at(-1).refusal.text);
          }
          return made;
        }""",
        every,
    )
    wrong = {each["name"]: mine for each, mine in zip(every, made, strict=True) if mine != each["fingerprint"]}
    assert not wrong


def test_a_run_is_cancelled_within_a_tenth_of_a_second(page: Page) -> None:
    """Measured from the message to its reply, the best of five: the machine has other things to do."""
    took: list[float] = page.evaluate(
        """async (toml) => {
          const took = [];
          for (let run = 0; run < 5; run++) {
            const ended = ask({ type: "run", toml, overrides: ["duration=2000 s"] }, ["done"]);
            await new Promise((resolve) => setTimeout(resolve, 300));
            const told = performance.now();
            tell({ type: "cancel", id: latest() });
            const last = (await ended).at(-1);
            if (last.type !== "cancelled") throw new Error(last.type);
            took.push(last.at - told);
          }
          return took;
        }""",
        SCENARIO,
    )
    assert min(took) < 100, took


def test_a_newer_request_supersedes_the_older_one_of_its_lane(page: Page) -> None:
    ends: list[str] = page.evaluate(
        """async (toml) => {
          const first = ask({ type: "run", toml }, ["done"]);
          const other = ask({ type: "run", toml, lane: "other", overrides: ["duration=1 s"] }, ["done"]);
          const second = ask({ type: "run", toml, overrides: ["duration=2 s"] }, ["done"]);
          return Promise.all([first, other, second]).then((all) => all.map((replies) => replies.at(-1).type));
        }""",
        SCENARIO,
    )
    assert ends == ["cancelled", "done", "done"]


def test_a_run_is_cancelled_as_fast_after_many_that_were_superseded(page: Page) -> None:
    """As after a drag: what was superseded leaves nothing that has its turn before the cancellation."""
    took: list[float] = page.evaluate(
        """async (toml) => {
          const took = [];
          for (let drag = 0; drag < 5; drag++) {
            let ended;
            for (let run = 0; run < 60; run++) {
              ended = ask({ type: "run", toml, overrides: ["duration=2000 s"] }, ["done"]);
              await new Promise((resolve) => setTimeout(resolve, 8));
            }
            const told = performance.now();
            tell({ type: "cancel", id: latest() });
            took.push((await ended).at(-1).at - told);
          }
          return took;
        }""",
        SCENARIO,
    )
    assert min(took) < 100, took


def test_columns_come_while_a_run_goes_on(page: Page) -> None:
    seen: list[list[Any]] = page.evaluate(
        """async (toml) => {
          const replies = await ask({ type: "run", toml, every_ms: 0 }, ["done"]);
          return replies.filter(({ type }) => type === "columns")
            .map(({ now_s, finished, time_s, flows }) => [now_s, finished, time_s.length, flows[1].cwnd_bytes.length]);
        }""",
        SCENARIO,
    )
    assert len(seen) > 3
    assert [finished for _, finished, _, _ in seen] == [False] * (len(seen) - 1) + [True]
    assert all(times == windows for _, _, times, windows in seen)
    assert seen[-1][::2] == [60, 1000]
    assert [now for now, *_ in seen] == sorted(now for now, *_ in seen)


def test_what_cannot_run_is_refused_with_its_place_or_its_size(page: Page) -> None:
    refusals: list[dict[str, Any]] = page.evaluate(
        """async (toml) => {
          const requests = [
            { type: "run", toml: toml.replace("50 Mbps", "50") },
            { type: "run", toml, overrides: [
              "duration=100 h", "network.access.rate=9 Gbps", "network.bottleneck.rate=3 Gbps",
            ] },
            { type: "packets", toml, overrides: ["flow.0.count=x"], from_s: 0, until_s: 1 },
            { type: "steer", toml, flow: "nobody" },
            { type: "steer-step", rate_bps: 1e6, length_s: 0.1 },
          ];
          const replies = await Promise.all(requests.map(
            (request, lane) => ask({ lane: `${lane}`, ...request }, ["done", "opened"])));
          return replies.map((each) => each.at(-1).refusal);
        }""",
        SCENARIO,
    )
    assert [each["kind"] for each in refusals] == ["error", "size", "error", "failed", "failed"]
    assert (refusals[0]["line"], refusals[0]["column"]) == (6, 23)
    assert "packet-hops" in refusals[1]["text"]
    assert refusals[1]["size"]["seconds"] > 3600
    assert refusals[2]["source"] == "--set"
    assert refusals[3]["text"].startswith('no flow is named "nobody"')


def test_figures_are_those_of_the_terminal(page: Page, tmp_path: Path) -> None:
    """Every preset: the totals that the page shows are those of `selfclock run --json`, to the last bit."""
    for preset in sorted((ROOT / "lab/presets").glob("*.toml")):
        toml = preset.read_text(encoding="utf-8")
        mine = page.evaluate(
            "async (toml) => (await ask({ type: 'run', toml, source: 'lab.toml' }, ['done'])).at(-1).summary", toml
        )
        (tmp_path / "lab.toml").write_text(toml, encoding="utf-8")
        command = [sys.executable, "-m", "selfclock", "run", "lab.toml", "--json"]
        native = json.loads(subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.PIPE).stdout)
        assert {key: native[key] for key in mine} == mine, preset.stem


def test_packets_and_a_steered_flow(page: Page) -> None:
    found: dict[str, Any] = page.evaluate(
        """async (toml) => {
          const packets = await ask({ type: "packets", toml, from_s: 1, until_s: 1.5 }, ["done"]);
          const { hops } = packets.find(({ type }) => type === "hops");
          const opened = await ask({ type: "steer", toml, flow: "flow1-1" }, ["opened"]);
          const step = await ask({ type: "steer-step", rate_bps: 10e6, length_s: 2, columns: true }, ["columns"]);
          const end = await ask({ type: "steer-end" }, ["done"]);
          const names = [hops.packet, hops.enter_s, hops.fate].map((array) => array.constructor.name);
          const { summary } = end.at(-1);
          return {
            rows: hops.link.length, until: hops.until_s, names, agent: opened[0].scenario.flows[0].algorithm,
            now: step[0].step.now_s, samples: step[1].time_s.length, simulated: summary.simulated_s,
          };
        }""",
        SCENARIO,
    )
    # Half a second of 50 Mbit/s: 2,080 packets on each of three links, and their acknowledgements.
    assert 8_000 < found["rows"] < 15_000
    assert found["names"] == ["Uint32Array", "Float64Array", "Uint8Array"]
    assert (found["until"], found["agent"], found["simulated"]) == (1.5, "agent", 2)
    # A sample every 60 ms.
    assert (found["now"], found["samples"]) == (2, 33)


def test_the_size_is_within_its_limits(dist: Path) -> None:
    """By brotli, as a web server sends it: 450 kB for the simulator, 900 kB for the page with everything."""
    sizes = json.loads((dist / "sizes.json").read_text(encoding="utf-8"))
    assert sizes["selfclock.wasm"] <= 450_000, sizes
    assert sizes["page"] <= 900_000, sizes
