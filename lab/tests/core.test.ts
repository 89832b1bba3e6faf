import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Core, Refused, buffers } from "../src/core.ts";
import type { ScenarioText } from "../src/protocol.ts";

const LIMITS = { most_packet_hops: 1e8, packet_hops_per_s: 5e6 };
const TOML = `
schema = 1
duration = "5 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "10 ms", queue = "1 bdp" }
access = { rate = "100 Mbps", delay = "1 ms" }
[[flow]]
congestion_control = "cubic"
`;

// The tests are run in lab/, where `make lab-test` puts the module and the list.
const module = await WebAssembly.compile(await readFile("core/selfclock.wasm"));

function finish(core: Core, scenario: ScenarioText): number {
  const { run } = core.open(scenario, LIMITS);
  while (!core.advance(run, 100_000).finished);
  return run;
}

test("the module imports nothing", () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
});

test("every short golden scenario has the fingerprint that it has natively", async () => {
  type Short = Required<ScenarioText> & { name: string; fingerprint: string };
  const all = JSON.parse(await readFile("core/short.json", "utf8")) as Short[];
  assert.ok(all.length >= 200, `${all.length} scenarios`);
  const core = await Core.create(module);
  const others = all.filter((each) => core.fingerprint(finish(core, each)) !== each.fingerprint);
  assert.deepEqual(others.map(({ name }) => name), []);
});

test("columns are typed arrays of one buffer, which can be transferred", async () => {
  const core = await Core.create(module);
  const { summary, ...columns } = core.finish(finish(core, { toml: TOML }));
  const window = columns.flows[0]?.cwnd_bytes;
  assert.ok(window instanceof Float64Array);
  assert.equal(window.length, columns.time_s.length);
  assert.equal(columns.time_s.at(-1), 5);
  assert.equal(summary.flows[0]?.algorithm, "cubic");
  assert.ok(buffers(columns).every((buffer) => buffer === window.buffer));
});

test("an error of the scenario is that of the terminal, and the module goes on", async () => {
  const core = await Core.create(module);
  const wrong = { toml: TOML.replace("10 Mbps", "10") };
  assert.throws(() => core.check(wrong, LIMITS), (error) => {
    assert.ok(error instanceof Refused);
    const { kind, line, column, text } = error.refusal;
    assert.deepEqual([kind, line, column], ["error", 6, 23]);
    assert.ok(text.startsWith('scenario.toml:6:23: network.bottleneck.rate: "10" has no unit\n'), text);
    return true;
  });
  assert.equal(core.check({ toml: TOML }, LIMITS).links.length, 6);
});

test("a record that memory does not hold ends that run alone", async () => {
  const core = await Core.create(module);
  const limits = { most_packet_hops: 1e12, packet_hops_per_s: 5e6 };
  // Each run makes room for its 1.25 million samples of the flow and of each link, when it is opened. Runs beyond 2 GiB are answered, too.
  const toml = `${TOML}[record]\ninterval = "4 us"\n`;
  let opened = 0;
  assert.throws(() => {
    for (; opened < 100; opened++) core.open({ toml }, limits);
  }, (error) => error instanceof Refused && error.refusal.kind === "failed" && /memory/.test(error.refusal.text));
  assert.ok(opened >= 8 && opened <= 40, `${opened} runs`);
  assert.equal(core.finish(finish(core, { toml: TOML })).summary.simulated_s, 5);
});
