import assert from "node:assert/strict";
import { test } from "node:test";
import { Schema, spot } from "../src/complete.ts";
import { command } from "../src/command.ts";
import { Flight, after } from "../src/flight.ts";
import { layoutOf } from "../src/layout.ts";
import { hiddenLink, meanRate, scenarioOf, scoreOf } from "../src/link.ts";
import { looks, shade } from "../src/palette.ts";
import type { FlowSummary, Hops, Scenario } from "../src/protocol.ts";
import { fairness } from "../src/fairness.ts";
import { csv, rate } from "../src/series.ts";
import { Document } from "../src/toml.ts";

test("the cursor's place in a scenario", () => {
  assert.deepEqual(spot("[network]\nbottl"), { path: ["network"], key: null, word: "bottl" });
  assert.deepEqual(spot("[network]\nbottleneck = { rate = \"1 Mbps\", qu"), { path: ["network", "bottleneck"], key: null, word: "qu" });
  assert.deepEqual(spot("[[flow]]\ncongestion_control = \"cu"), { path: ["flow"], key: "congestion_control", word: '"cu' });
  assert.deepEqual(spot("[transport]\ntimer.min"), { path: ["transport"], key: null, word: "timer.min" });
  assert.equal(spot("# a comm"), null);
  assert.equal(spot("[netw"), null);
});

test("completion follows references and choices of the schema", () => {
  const schema = new Schema({
    $defs: { queue: { anyOf: [{ type: "string" }, { properties: { discipline: { enum: ["codel", "red"] } } }] } },
    properties: { network: { properties: { queue: { $ref: "#/$defs/queue" } } }, flow: { items: { properties: { on: { type: "boolean", description: "Whether." } } } } },
  });
  assert.deepEqual(schema.proposals({ path: ["network", "queue"], key: "discipline", word: "" }).map((each) => each.text), ['"codel"', '"red"']);
  assert.deepEqual(schema.proposals({ path: ["flow"], key: null, word: "" }), [{ text: "on", about: "Whether.", kind: "key" }]);
  assert.deepEqual(schema.proposals({ path: ["flow"], key: "on", word: "" }).map((each) => each.text), ["true", "false"]);
});

test("a rate is what arrived in the samples before", () => {
  const time = Float64Array.of(1, 2, 3, 4), bytes = Float64Array.of(125_000, 250_000, 375_000, 375_000);
  assert.deepEqual([...rate(time, bytes, 2)], [1, 1, 1, 0.5]);
});

test("fairness is 1 for equal shares and 1/n for one", () => {
  assert.equal(fairness([5, 5, 5]), 1);
  assert.equal(fairness([9, 0, 0]), 1 / 3);
});

test("colours repeat in other shades and lines", () => {
  const [first, second] = looks(["cubic", "cubic+hystart++"], false);
  assert.equal(first?.colour, "#009E73");
  assert.deepEqual(first?.dash, []);
  assert.notEqual(second?.colour, first?.colour);
  assert.notDeepEqual(second?.dash, []);
  assert.equal(shade("#0072B2", 0), "#0072B2");
});

const scenario = {
  nodes: [], duration_s: 1, name: "x",
  links: [["a", "r"], ["r", "s"], ["s", "b"], ["b", "s"], ["s", "r"], ["r", "a"]].map(([from, to], index) => ({ from, to, name: `${from}-${to}`, limit_packets: index === 1 ? 5 : null, limit_bytes: null })),
  flows: [{ name: 'f,"1', forward: [0, 1, 2], reverse: [3, 4, 5] }],
} as unknown as Scenario;

test("a path is drawn from left to right, with a box where its queue has a limit", () => {
  const layout = layoutOf(scenario);
  assert.deepEqual(layout?.places.map((place) => [place.name, place.kind]), [["a", "host"], ["r", "router"], ["s", "router"], ["b", "host"]]);
  const xs = layout?.places.map((place) => place.x) ?? [];
  assert.deepEqual([...xs].sort((a, b) => a - b), xs);
  assert.deepEqual(layout?.wires.map((wire) => wire?.boxed), [false, true, false, false, false, false]);
});

const hops = {
  from_s: 0, until_s: 10, cut: false, link: Uint32Array.of(0, 1, 1), flow: Uint32Array.of(0, 0, 0), packet: Uint32Array.of(1, 1, 2),
  enter_s: Float64Array.of(0, 2, 3), start_s: Float64Array.of(0, 4, 3), sent_s: Float64Array.of(1, 5, 3), arrive_s: Float64Array.of(2, 7, 3),
  size_bytes: Uint32Array.of(1500, 1500, 1500), number: Uint32Array.of(1, 1, 2), fate: Uint8Array.of(0, 3, 1), look: Uint8Array.of(4, 4, 4),
} satisfies Hops;

test("a packet waits, flies, arrives; a dropped one falls", () => {
  const flight = new Flight(hops);
  assert.deepEqual([0.5, 2, 3].map((t) => flight.phase(0, t)), ["flying", "gone", "gone"]);
  assert.deepEqual([2, 4.5, 7].map((t) => flight.phase(1, t)), ["waiting", "flying", "gone"]);
  assert.equal(flight.phase(2, 3), "fallen");
  // Its last bit left at 5 and arrives at 7: at 6 it is half-way, the first bit is there.
  assert.deepEqual(flight.extent(1, 6), [0.5, 1]);
  const seen: number[] = [];
  flight.each(3.2, 0.5, (row) => seen.push(row));
  assert.deepEqual(seen, [1, 2]);
});

test("a packet that its queue drops at the head waits until then, and no longer", () => {
  const twenty = [...Array(20).keys()];
  // One after the other waits for 1 s and is dropped; no two wait at once.
  const flight = new Flight({ ...hops, link: Uint32Array.from(twenty, () => 1), fate: Uint8Array.from(twenty, () => 1),
    enter_s: Float64Array.from(twenty), start_s: Float64Array.from(twenty, (t) => t + 1), sent_s: Float64Array.from(twenty, (t) => t + 1),
    arrive_s: Float64Array.from(twenty, (t) => t + 1) });
  assert.deepEqual([3, 3.9, 4, 9].map((t) => flight.phase(3, t)), ["waiting", "waiting", "fallen", "fallen"]);
  assert.equal(flight.fell(3), 4);
  assert.equal(flight.mostWaiting(1), 1);
});

test("the most that waited at once", () => {
  const flight = new Flight({ ...hops, link: Uint32Array.of(1, 1, 1), fate: Uint8Array.of(0, 0, 0),
    enter_s: Float64Array.of(0, 1, 2), start_s: Float64Array.of(3, 4, 5), sent_s: Float64Array.of(4, 5, 6), arrive_s: Float64Array.of(5, 6, 7) });
  assert.equal(flight.mostWaiting(1), 3);
  assert.equal(flight.mostWaiting(0), 0);
});

test("after() finds the first that is greater", () => {
  assert.deepEqual([0, 1, 2, 5].map((value) => after([1, 1, 3], value)), [0, 2, 2, 3]);
});

test("CSV quotes names and leaves gaps empty", () => {
  const column = Float64Array.of(1, NaN);
  const text = csv(scenario, { time_s: Float64Array.of(0.5, 1), flows: [{ srtt_s: column } as never], links: [], phases: [] });
  assert.equal(text, 'time_s,"f,""1.srtt_s"\n0.5,1\n1,\n');
});

test("a command carries the scenario, whatever is in it", () => {
  assert.match(command("a = 1\nEOF\n"), /<<'EOFF'\na = 1\nEOF\nEOFF\nselfclock run lab.toml\n$/);
});

test("a hidden link depends on its number alone, and is a scenario", () => {
  assert.deepEqual(hiddenLink(7), hiddenLink(7));
  assert.notDeepEqual(hiddenLink(7), hiddenLink(8));
  for (let seed = 1; seed < 200; seed++) {
    const link = hiddenLink(seed);
    assert.ok(link.rates.length >= 3 && link.rates.every(([, each]) => each >= 1.5 && each <= 40), String(link.rates));
    const factors = link.rates.slice(1).map(([, each], index) => Math.abs(Math.log(each / (link.rates[index]?.[1] ?? 0))));
    // Rates are rounded to a tenth.
    assert.ok(factors.every((factor) => factor > Math.log(1.5) && factor < Math.log(2.8)), String(link.rates));
    assert.equal(new Document(scenarioOf(link, "you", "cubic")).value("seed"), seed);
  }
});

test("points are goodput less half the delay less the loss", () => {
  const link = { seed: 1, duration_s: 30, rates: [[0, 10], [15, 20]] as [number, number][], rtt_ms: 50, buffer_bdp: 1 };
  assert.equal(meanRate(link), 15);
  const flow = { goodput_bps: 12e6, rtt_mean_s: 0.06, sent_segments: 100, retransmitted_segments: 5 } as FlowSummary;
  // 0.8 - 0.5 * 0.2 - 0.05
  assert.equal(scoreOf(link, flow).points, 65);
});
