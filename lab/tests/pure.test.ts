import assert from "node:assert/strict";
import { test } from "node:test";
import { Schema, spot } from "../src/complete.ts";
import { command } from "../src/command.ts";
import { hiddenLink, meanRate, scenarioOf, scoreOf } from "../src/link.ts";
import { looks, shade } from "../src/palette.ts";
import { trackOf } from "../src/player/picture.ts";
import { type Track, after } from "../src/player/track.ts";
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

const places = ["r", "s", "a", "b"].map((name, x) => ({ name, x, y: 0, kind: name < "c" ? "host" as const : "router" as const, count: 1 }));
const scenario = {
  nodes: [], duration_s: 1, name: "x",
  links: [["a", "r"], ["r", "s"], ["s", "b"], ["b", "s"], ["s", "r"], ["r", "a"]].map(([from, to], index) => ({ from, to, name: `${from}-${to}`, rate_bps: 1e6, delay_s: 0.01, limit_packets: index === 1 ? 5 : null, limit_bytes: null })),
  flows: [{ name: 'f,"1', algorithm: "reno", forward: [0, 1, 2], reverse: [3, 4, 5] }],
  layout: { places, cables: [[2, 0, 0, 5], [0, 1, 1, 4], [1, 3, 2, 3]].map(([a, b, there, back]) => ({ a, b, there: [there], back: [back], bend: 0 })), width: 3, height: 0 },
} as unknown as Scenario;

/** Rows of a link, enter, start, sent, arrive, leave and fate; each is a packet of its own. */
function track(...rows: [number, number, number, number, number, number, number][]): Track {
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => row[at] ?? 0), all = (value: number): number[] => rows.map(() => value);
  const hops: Hops = {
    from_s: 0, until_s: 30, cut: false, packet: Uint32Array.from(rows.keys()), link: Uint32Array.from(column(0)), fate: Uint8Array.from(column(6)),
    enter_s: column(1), start_s: column(2), sent_s: column(3), arrive_s: column(4), leave_s: column(5),
    packets: {
      packet: Uint32Array.from(rows.keys()), flow: Uint32Array.from(all(0)), kind: Uint8Array.from(all(0)), size_bytes: Uint32Array.from(all(1500)),
      number: Uint32Array.from(rows.keys(), (row) => row + 1), retransmission: Uint8Array.from(all(0)), marked_s: Float64Array.from(all(Infinity)),
    },
    kinds: [{ word: "segment", returns: false, data: true }],
  };
  const made = trackOf(scenario, hops);
  assert.ok(made);
  return made;
}
/** The edge of the link that data takes from router to router, which is the second cable's first. */
const BOTTLENECK = 2;

test("a box stands where a queue with a limit leads data out of a router", () => {
  const { picture, capacities, ...made } = track();
  assert.deepEqual(picture.edges.map((edge) => edge.name), ["a-r", "r-a", "r-s", "s-r", "s-b", "b-s"]);
  assert.deepEqual(picture.edges.map((_, edge) => track().boxed(edge)), [false, false, true, false, false, false]);
  assert.deepEqual(capacities[BOTTLENECK], { limit: 5, unit: "packets", most: 0 });
  assert.equal(made.count, 0);
});

test("a packet waits, flies, arrives and is held; a dropped one falls", () => {
  const made = track([0, 0, 0, 1, 2, 2, 0], [1, 2, 4, 5, 7, 9, 3], [1, 3, 3, 3, 3, 3, 1]);
  assert.deepEqual([0.5, 2, 3].map((t) => made.phase(0, t)), ["flying", "gone", "gone"]);
  assert.deepEqual([2, 4.5, 7, 9].map((t) => made.phase(1, t)), ["waiting", "flying", "held", "gone"]);
  assert.equal(made.phase(2, 3), "fallen");
  // Its last bit left at 5 and arrives at 7: at 6 it is half-way, the first bit is there.
  assert.deepEqual(made.extent(1, 6), [0.5, 1]);
  const seen: number[] = [];
  made.each(3.2, 0.5, (row) => seen.push(row));
  assert.deepEqual(seen, [1, 2]);
  assert.deepEqual(made.told(3), ['f,"1: segment 3 dropped at r-s']);
  assert.deepEqual(made.state(3).dropped, [1]);
});

test("a packet that its queue drops at the head waits until then, and no longer", () => {
  // One after the other waits for 1 s and is dropped; no two wait at once.
  const made = track(...[...Array(20).keys()].map((t): [number, number, number, number, number, number, number] => [1, t, t + 1, t + 1, t + 1, t + 1, 1]));
  assert.deepEqual([3, 3.9, 4, 9].map((t) => made.phase(3, t)), ["waiting", "waiting", "fallen", "fallen"]);
  assert.equal(made.capacities[BOTTLENECK]?.most, 1);
});

test("the most that waited at once", () => {
  const made = track([1, 0, 3, 4, 5, 5, 0], [1, 1, 4, 5, 6, 6, 0], [1, 2, 5, 6, 7, 7, 0]);
  assert.equal(made.capacities[BOTTLENECK]?.most, 3);
  assert.equal(made.capacities[0]?.most, 0);
  assert.deepEqual(made.queue(BOTTLENECK), { times: [0, 0, 1, 2, 3, 4, 5], lengths: [0, 1, 2, 3, 2, 1, 0] });
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
