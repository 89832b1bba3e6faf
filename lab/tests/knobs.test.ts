import assert from "node:assert/strict";
import { test } from "node:test";
import { SCALES, STEPS, flowsOf, knobsOf, positionOf, queueOf, valueAt, withAlgorithm, withCount, withFlow, withoutFlow } from "../src/knobs.ts";
import { PRESETS } from "../src/presets.ts";
import { Document } from "../src/toml.ts";

const knob = (text: string, name: string) => {
  const found = knobsOf(new Document(text)).find((each) => each.name === name);
  assert.ok(found, `${name} is missing`);
  return found;
};
const sawtooth = PRESETS.find((preset) => preset.name === "sawtooth")?.toml ?? "";

test("a slider's ends are the scale's, and a position gives its value back", () => {
  for (const scale of Object.values(SCALES)) {
    assert.equal(valueAt(scale, STEPS), scale.high);
    assert.equal(valueAt(scale, 0), "zero" in scale ? 0 : scale.low);
    // Three digits of a value are finer than a step of any scale here, 1/1000 of at most four decades: 0.9 %.
    for (let position = 50; position <= STEPS; position += 50) assert.ok(Math.abs(positionOf(scale, valueAt(scale, position)) - position) <= 1);
  }
  assert.equal(positionOf(SCALES.rate, 1e12), STEPS);
  assert.equal(positionOf(SCALES.loss, 0), 0);
});

test("what a slider writes it reads again", () => {
  for (const [name, value] of [["Bottleneck rate", 25e6], ["Round-trip time", 0.1], ["Buffer", 0.5], ["Random loss", 0.01], ["Duration", 20]] as const) {
    const changed = knob(knob(sawtooth, name).set(value), name);
    assert.ok(Math.abs(changed.value - value) <= 1e-3 * value, `${name}: ${changed.value}`);
  }
  assert.equal(knob(sawtooth, "Random loss").set(0), sawtooth);
});

test("the round-trip time counts every link of the way", () => {
  // 2 x (1 + 18 + 1) ms.
  assert.ok(Math.abs(knob(sawtooth, "Round-trip time").value - 0.04) < 1e-12);
  const back = 'schema = 1\n[network]\ntopology = "dumbbell"\nbottleneck = { rate = "1 Mbps", delay = "30 ms" }\nreverse = { rate = "1 Mbps", delay = "10 ms" }\naccess = { rate = "1 Gbps", delay = "5 ms" }\n';
  assert.ok(Math.abs(knob(back, "Round-trip time").value - 0.06) < 1e-12);
  assert.ok(Math.abs(knob(knob(back, "Round-trip time").set(0.1), "Round-trip time").value - 0.1) < 1e-9);
});

test("a faster bottleneck takes its access links with it", () => {
  const text = knob(sawtooth, "Bottleneck rate").set(1e9);
  assert.equal(new Document(text).value("network", "access", "rate"), "10 Gbps");
});

test("a queue keeps its limit when its discipline changes, and back", () => {
  const set = (text: string, discipline: string): string => queueOf(new Document(text))?.set(discipline) ?? "";
  const codel = set(sawtooth, "codel");
  assert.equal(queueOf(new Document(codel))?.value, "codel");
  assert.equal(new Document(codel).value("network", "bottleneck", "queue", "limit"), "1 bdp");
  assert.equal(set(codel, "drop-tail"), sawtooth);
  assert.equal(knob(knob(codel, "Buffer").set(2), "Buffer").value, 2);
});

test("a discipline without a limit has its own, which the slider says", () => {
  const own = sawtooth.replace(/queue = "1 bdp"/, 'queue = { discipline = "pie" }');
  assert.notEqual(own, sawtooth);
  const buffer = knob(own, "Buffer");
  assert.equal(buffer.shown(buffer.value), "the discipline's own");
  const codel = queueOf(new Document(own))?.set("codel") ?? "";
  assert.equal(new Document(codel).value("network", "bottleneck", "queue", "limit"), undefined);
  assert.equal(new Document(buffer.set(2)).value("network", "bottleneck", "queue", "limit"), "2 bdp");
});

test("Prague brings the ECN feedback that it needs, and takes it away", () => {
  const prague = withAlgorithm(new Document(sawtooth), 0, "prague");
  assert.equal(new Document(prague).value("flow", 0, "transport", "ecn"), "accurate");
  assert.equal(withAlgorithm(new Document(prague), 0, "reno"), sawtooth);
});

test("flows are added, copied and removed", () => {
  const two = withFlow(new Document(sawtooth), "bbr3");
  assert.deepEqual(flowsOf(new Document(two)).map((flow) => flow.algorithm), ["reno", "bbr3"]);
  assert.equal(flowsOf(new Document(withCount(new Document(two), 1, 5)))[1]?.count, 5);
  assert.equal(flowsOf(new Document(withoutFlow(new Document(two), 0))).length, 1);
});

test("every preset has a rate or a trace, a round-trip time and flows", () => {
  assert.equal(new Set(PRESETS.map((preset) => preset.name)).size, PRESETS.length);
  for (const { name, toml } of PRESETS) {
    const document = new Document(toml);
    assert.ok(flowsOf(document).length > 0, name);
    const names = knobsOf(document).map((each) => each.name);
    assert.ok(names.includes("Buffer") && names.includes("Duration"), `${name}: ${names.join()}`);
    assert.equal(names.includes("Bottleneck rate"), name !== "lte", name);
  }
});
