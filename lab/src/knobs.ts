/** The settings of sliders and menus, read from and written to a scenario's text. */

import { Document, type Path } from "./toml.ts";
import { bps, digits, rateText, rateValue, seconds, timeText, timeValue } from "./units.ts";

/** A logarithmic slider from `low` to `high`, with zero below `low` if `zero` is set. */
export interface Scale {
  low: number;
  high: number;
  zero?: boolean;
}

/** Slider positions are 0 to STEPS. */
export const STEPS = 1000;
/** Number of positions that mean zero, on a scale with zero. */
const NOTHING = 40;

/** The value at a position of a slider. */
export function valueAt(scale: Scale, position: number): number {
  const first = scale.zero ? NOTHING : 0;
  if (scale.zero && position < first) return 0;
  const part = (position - first) / (STEPS - first);
  return Number(digits(scale.low * (scale.high / scale.low) ** part, 3));
}

/** The position of a value, clamped to the ends. */
export function positionOf(scale: Scale, value: number): number {
  const first = scale.zero ? NOTHING : 0;
  if (value <= 0) return 0;
  const part = Math.log(value / scale.low) / Math.log(scale.high / scale.low);
  return Math.round(first + Math.min(Math.max(part, 0), 1) * (STEPS - first));
}

export const SCALES = {
  rate: { low: 1e5, high: 1e9 },
  rtt: { low: 0.001, high: 1 },
  buffer: { low: 0.05, high: 20 },
  packets: { low: 1, high: 10_000 },
  loss: { low: 1e-5, high: 0.1, zero: true },
  duration: { low: 1, high: 600 },
} satisfies Record<string, Scale>;

/** A slider with its current value. */
export interface Knob {
  name: string;
  scale: Scale;
  value: number;
  shown: (value: number) => string;
  /** The text with another value. */
  set: (value: number) => string;
}

const lossText = (value: number): string => (value === 0 ? "none" : `${digits(value * 100, 2)} %`);
const bufferText = (value: number): string => `${digits(value, 2)} BDP`;
const packetsText = (value: number): string => `${Math.round(value).toLocaleString("en")} packets`;

/** The link that the sliders control: a dumbbell's bottleneck, a parking lot's hop, or a graph's first link with a limited queue. */
export function bottleneckOf(document: Document): Path | null {
  switch (document.value("network", "topology")) {
    case "dumbbell":
      return ["network", "bottleneck"];
    case "parking-lot":
      return ["network", "hop"];
    case "graph": {
      const count = document.length("network", "link");
      for (let index = 0; index < count; index++) {
        const queue = document.value("network", "link", index, "queue");
        if (document.has("network", "link", index, "queue") && queue !== "unlimited") return ["network", "link", index];
      }
      return count > 0 ? ["network", "link", 0] : null;
    }
    default:
      return null;
  }
}

/** Round-trip propagation delay of a dumbbell without its bottleneck, in seconds. */
function accessRoundTrip(document: Document): number {
  const access = seconds(document.value("network", "access", "delay")) ?? 0;
  const sink = seconds(document.value("network", "sink_access", "delay")) ?? access;
  return 2 * (access + sink);
}

function rttKnob(document: Document, link: Path): Knob | null {
  const delay = seconds(document.value(...link, "delay"));
  if (delay === undefined) return null;
  const dumbbell = document.value("network", "topology") === "dumbbell";
  const around = dumbbell ? accessRoundTrip(document) : 0;
  const back = dumbbell ? seconds(document.value("network", "reverse", "delay")) : undefined;
  const value = around + delay + (back ?? delay);
  const set = (rtt: number): string => {
    const left = Math.max(rtt - around, 0);
    const one = (share: number): string => timeValue(Number(digits(left * share, 6)));
    if (back === undefined || delay + back === 0) return document.set([...link, "delay"], `"${one(0.5)}"`);
    const share = delay / (delay + back);
    const forward = document.set([...link, "delay"], `"${one(share)}"`);
    return new Document(forward).set(["network", "reverse", "delay"], `"${one(1 - share)}"`);
  };
  const name = dumbbell ? "Round-trip time" : "Delay of the link, both ways";
  return { name, scale: SCALES.rtt, value, shown: (each) => timeText(each), set };
}

/** Path of the limit of a link's queue. */
function limitPath(document: Document, link: Path): Path {
  return document.has(...link, "queue") && document.value(...link, "queue") === undefined ? [...link, "queue", "limit"] : [...link, "queue"];
}

/** The limit of a link's queue as it acts: that of its discipline where a discipline stands without one. */
function limitOf(document: Document, link: Path): string {
  const written = document.value(...limitPath(document, link));
  if (written !== undefined) return String(written);
  const discipline = document.value(...link, "queue", "discipline") ?? "drop-tail";
  return discipline === "drop-tail" ? "1 bdp" : OF_DISCIPLINE;
}

const OF_DISCIPLINE = "the discipline's own";

function bufferKnob(document: Document, link: Path): Knob {
  const path = limitPath(document, link);
  const written = limitOf(document, link);
  const packets = /^\s*([0-9]+)\s*packets?\s*$/.exec(written);
  if (packets) {
    const set = (value: number): string => document.set(path, `"${Math.max(1, Math.round(value))} packets"`);
    return { name: "Buffer", scale: SCALES.packets, value: Number(packets[1]), shown: packetsText, set };
  }
  const bdp = /^\s*([0-9.]+)\s*bdp\s*$/.exec(written);
  const shown = bdp ? bufferText : (value: number): string => (value >= SCALES.buffer.high ? written : bufferText(value));
  const value = bdp ? Number(bdp[1]) : SCALES.buffer.high;
  return { name: "Buffer", scale: SCALES.buffer, value, shown, set: (each) => document.set(path, `"${digits(each, 2)} bdp"`) };
}

function lossKnob(document: Document, link: Path): Knob | null {
  const path = [...link, "loss"];
  if (document.has(...path) && !document.has(...path, "probability")) return null;
  const set = (value: number): string =>
    value === 0 ? document.removed(...path)
    : document.has(...path) ? document.set([...path, "probability"], digits(value, 2))
    : document.set(path, `{ probability = ${digits(value, 2)} }`);
  return { name: "Random loss", scale: SCALES.loss, value: Number(document.value(...path, "probability") ?? 0), shown: lossText, set };
}

/** The sliders of a scenario. */
export function knobsOf(document: Document): Knob[] {
  const knobs: Knob[] = [];
  const link = bottleneckOf(document);
  if (link) {
    const rate = bps(document.value(...link, "rate"));
    if (rate !== undefined) {
      const set = (value: number): string => withRate(document, link, rateValue(value));
      knobs.push({ name: "Bottleneck rate", scale: SCALES.rate, value: rate, shown: (value) => rateText(value), set });
    }
    const rtt = rttKnob(document, link);
    if (rtt) knobs.push(rtt);
    knobs.push(bufferKnob(document, link));
    const loss = lossKnob(document, link);
    if (loss) knobs.push(loss);
  }
  const duration = seconds(document.value("duration"));
  if (duration !== undefined) {
    const set = (value: number): string => document.set(["duration"], `"${timeValue(value)}"`);
    knobs.push({ name: "Duration", scale: SCALES.duration, value: duration, shown: (value) => timeText(value), set });
  }
  return knobs;
}

/** Sets the rate of the bottleneck, and raises access links that would become slower. */
function withRate(document: Document, link: Path, rate: string): string {
  const text = document.set([...link, "rate"], `"${rate}"`);
  const access = bps(document.value("network", "access", "rate"));
  const wanted = bps(rate) ?? 0;
  if (access === undefined || access >= 2 * wanted) return text;
  return new Document(text).set(["network", "access", "rate"], `"${rateValue(wanted * 10)}"`);
}

/** The queue discipline of the bottleneck, with its setter; null without a bottleneck. */
export function queueOf(document: Document): { value: string; set: (discipline: string) => string } | null {
  const link = bottleneckOf(document);
  if (!link) return null;
  const path = [...link, "queue"];
  const plain = document.value(...path);
  const value = plain === undefined ? String(document.value(...path, "discipline") ?? "drop-tail") : "drop-tail";
  const limit = document.value(...limitPath(document, link));
  const kept = limit === undefined ? "" : `, limit = ${JSON.stringify(String(limit))}`;
  const written = (discipline: string): string =>
    discipline === "drop-tail" ? JSON.stringify(String(limit ?? "1 bdp")) : `{ discipline = ${JSON.stringify(discipline)}${kept} }`;
  return { value, set: (discipline) => document.set(path, written(discipline)) };
}

/** A `[[flow]]` of the text. */
export interface FlowKnob {
  index: number;
  name: string;
  /** `udp` for a UDP source. */
  algorithm: string;
  count: number;
  start: number;
}

/** The flows of the text, in order. */
export function flowsOf(document: Document): FlowKnob[] {
  return Array.from({ length: document.length("flow") }, (_, index) => ({
    index,
    name: String(document.value("flow", index, "name") ?? `flow${index + 1}`),
    algorithm: document.value("flow", index, "protocol") === "udp" ? "udp" : algorithmOf(document, index),
    count: Number(document.value("flow", index, "count") ?? 1),
    start: seconds(document.value("flow", index, "start")) ?? 0,
  }));
}

function algorithmOf(document: Document, index: number): string {
  const path = ["flow", index, "congestion_control"];
  const plain = document.value(...path);
  if (plain !== undefined) return String(plain);
  if (!document.has(...path)) return "reno";
  const part = (key: string): string | undefined => {
    const value = document.value(...path, key);
    return value === undefined ? undefined : String(value);
  };
  return part("model") ?? ([part("window"), part("start")].filter((each) => each !== undefined).join("+") || "reno");
}

/** The ECN setting that an algorithm is designed for. */
const NEEDS_ECN: Record<string, string> = { prague: "accurate" };

/** The text with another algorithm for a flow, and the ECN setting that it needs; leaving Prague resets ECN. */
export function withAlgorithm(document: Document, index: number, algorithm: string): string {
  const before = algorithmOf(document, index);
  let text = document.set(["flow", index, "congestion_control"], JSON.stringify(algorithm));
  const ecn = NEEDS_ECN[algorithm];
  const path = ["flow", index, "transport", "ecn"];
  if (ecn) text = new Document(text).set(path, JSON.stringify(ecn));
  else if (NEEDS_ECN[before]) {
    const now = new Document(text);
    const alone = now.keys("flow", index, "transport").length === 1;
    text = alone ? now.removed("flow", index, "transport") : now.removed(...path);
  }
  // A flow named after its algorithm is renamed.
  if (document.value("flow", index, "name") === before) text = renamed(new Document(text), index, algorithm);
  return text;
}

/** Names a flow, with a number if the name is taken. */
function renamed(document: Document, index: number, wanted: string): string {
  const taken = new Set(flowsOf(document).filter((flow) => flow.index !== index).map((flow) => flow.name));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  return document.set(["flow", index, "name"], JSON.stringify(name));
}

export const withCount = (document: Document, index: number, count: number): string =>
  count === 1 ? document.removed("flow", index, "count") : document.set(["flow", index, "count"], String(count));

/** The text with a further flow; in a graph it has the path of the first. */
export function withFlow(document: Document, algorithm: string): string {
  const ends = ["from", "to"].flatMap((key) => {
    const node = document.value("network", "topology") === "graph" ? document.value("flow", 0, key) : undefined;
    return node === undefined ? [] : [`${key} = ${JSON.stringify(node)}\n`];
  });
  const ecn = NEEDS_ECN[algorithm];
  const transport = ecn ? `\ntransport = { ecn = ${JSON.stringify(ecn)} }` : "";
  return document.withTable("flow", `${ends.join("")}congestion_control = ${JSON.stringify(algorithm)}${transport}`);
}

export const withoutFlow = (document: Document, index: number): string => document.withoutTable("flow", index);
export const withSeed = (document: Document, seed: number): string => document.set(["seed"], String(seed));
