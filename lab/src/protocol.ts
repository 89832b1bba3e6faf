/**
 * Messages between the page and the worker that simulates.
 *
 * The page sends `Request`s with unique `id`s. The worker answers each with one or more `Reply`s of that id; the last has the type
 * `done`, `refused` or `cancelled`, or is the only one. A request supersedes the earlier one in its `lane`, which is answered with
 * `cancelled` within a slice (some 20 ms). Requests of different lanes take turns.
 *
 * Units are in the names: seconds, bytes, bit/s. A typed array is a view into a buffer that was transferred.
 */

import type { FlowQuantity, LinkQuantity, Summary } from "./protocol.gen.ts";

export type { FlowQuantity, FlowSummary, LinkQuantity, LinkSummary, Summary } from "./protocol.gen.ts";

/** A scenario: TOML, and overrides as for `selfclock run --set`, such as `network.bottleneck.rate=20 Mbps`. */
export interface ScenarioText {
  toml: string;
  /** File name for messages and, without extension, default of the scenario's name; `scenario.toml` by default. */
  source?: string;
  overrides?: string[];
}

export type Request =
  /** Run to the end. Replies: `opened`, then `columns` while it runs (if `every_ms` is given) and at the end, then `done`. */
  | ({ type: "run"; id: number; lane?: string; every_ms?: number } & ScenarioText & Limits)
  /** Every packet on every link between two times. Replies: `opened`, `hops`, `done`. */
  | ({ type: "packets"; id: number; lane?: string; from_s: number; until_s: number; most_hops?: number } & ScenarioText & Limits)
  /** Read a scenario without running it. Reply: `opened`. */
  | ({ type: "check"; id: number; lane?: string } & ScenarioText)
  /** Control a flow's rate from outside, instead of its algorithm. Reply: `opened`. Ended by `steer-end` or the next `steer`. */
  | ({ type: "steer"; id: number; flow: string } & ScenarioText & Limits)
  /**
   * Advance by `length_s` at this rate on the wire. Replies: `step`, then `columns` if `columns` is set.
   * Without `window_segments` the window is twice the rate times the RTT.
   */
  | { type: "steer-step"; id: number; rate_bps: number; length_s: number; window_segments?: number; columns?: boolean }
  /** Replies: `columns`, `done`. */
  | { type: "steer-end"; id: number }
  /** The fingerprint of a run, the same on every machine. Replies: `opened`, `fingerprint`. */
  | ({ type: "fingerprint"; id: number; lane?: string } & ScenarioText & Limits)
  /** JSON Schema of scenario files. Reply: `schema`. */
  | { type: "schema"; id: number }
  /** Stop a request, which is answered with `cancelled`. No effect if it has ended. */
  | { type: "cancel"; id: number };

/** Limits of a run; the worker's are `DEFAULT_LIMITS`. */
export interface Limits {
  most_packet_hops?: number;
}

export type Reply =
  /** Unsolicited first message, with id 0: the simulator is ready. */
  | { type: "ready"; id: 0; version: string; algorithms: Algorithm[]; queues: string[] }
  /** Unsolicited, instead: the simulator could not be loaded. */
  | { type: "unavailable"; id: 0; message: string }
  | { type: "opened"; id: number; scenario: Scenario }
  | ({ type: "columns"; id: number; now_s: number; finished: boolean } & Columns)
  | { type: "hops"; id: number; hops: Hops }
  | { type: "step"; id: number; step: Step }
  | { type: "fingerprint"; id: number; fingerprint: string }
  | { type: "schema"; id: number; schema: unknown }
  | { type: "done"; id: number; summary: Summary | null; wall_ms: number }
  | { type: "cancelled"; id: number }
  /** The scenario has an error or is too large, or the run failed. There is no result. */
  | { type: "refused"; id: number; refusal: Refusal };

export interface Refusal {
  /** `error`: a located error of the scenario; `size`: it is too large; `failed`: the run failed. */
  kind: "error" | "size" | "failed";
  /** As in the terminal: several lines with excerpt and caret. */
  text: string;
  /** One line without place and excerpt. */
  message: string;
  /** Allowed values; may be empty. */
  help: string;
  /** Such as `flow[0].transport.mss`; may be empty. */
  key: string;
  /** Line from 1, in the TOML, or in the override if `source` is `--set`; null without a place. */
  line: number | null;
  column: number | null;
  source: string;
  /** For `size`: its requirements. */
  size?: Size;
}

/** Requirements of a scenario, estimated before it runs. */
export interface Size {
  packet_hops: number;
  /** Values of all series. */
  samples: number;
  /** Memory for flows, series and a record of packets. */
  bytes: number;
  /** Approximate time in this browser. */
  seconds: number;
}

export interface Scenario {
  name: string;
  title: string | null;
  seed: number;
  duration_s: number;
  /** The TOML with the overrides applied. */
  text: string;
  /** Notes on settings that probably do not mean what they say. */
  notes: string[];
  nodes: string[];
  links: Link[];
  flows: Flow[];
  /** null for a network that is too large to draw. */
  layout: Layout | null;
  size: Size;
}

export interface Link {
  name: string;
  from: string;
  to: string;
  rate_bps: number;
  delay_s: number;
  /** At most one of the two is set; null for both means unlimited. */
  limit_packets: number | null;
  limit_bytes: number | null;
  /** `drop-tail`, `codel`, ... */
  discipline: string;
  /** The queue marks ECN-capable packets. */
  marks: boolean;
  /** Whether rate and delay are constant. */
  constant: boolean;
  /** Whether it follows a delivery trace; `rate_bps` is then the mean. */
  trace: boolean;
  jitter_s: number;
  /** Time in seconds, rate in bit/s, delay in seconds from then on. */
  changes: [number, number, number][];
  mechanisms: string[];
}

export interface Flow {
  name: string;
  /** As in the summary: `cubic`, `udp`, or `agent` for a flow controlled from outside. */
  algorithm: string;
  /** Indices of the links of data and of ACKs. */
  forward: number[];
  reverse: number[];
  /** Round-trip propagation delay. */
  delay_s: number;
  start_s: number;
  stop_s: number;
  /** UDP: start times and rates, bit/s. */
  offered: [number, number][];
  payload_bytes: number | null;
  packet_bytes: number | null;
  /** Short connections, without series. */
  connections: boolean;
}

/** Sampled series. Every array has the length of `time_s`. NaN: no value; `ssthresh_bytes` may be infinite. */
export interface Columns {
  /** The sample times, the same for every flow and link: the first is one interval after the start. */
  time_s: Float64Array;
  /** In the order of `Scenario.flows`; null for UDP and short connections, which have no series. */
  flows: (Record<FlowQuantity, Float64Array> | null)[];
  /** In the order of `Scenario.links`. */
  links: Record<LinkQuantity, Float64Array>[];
  /** Names of the values of `phase`. */
  phases: string[];
}

/** A drawing of a network: x in layers, y in rows downwards; a cable is the links between two places, both ways. */
export interface Layout {
  places: { name: string; x: number; y: number; kind: "host" | "router" | "bundle"; count: number }[];
  cables: { a: number; b: number; there: number[]; back: number[]; bend: number }[];
  width: number;
  height: number;
}

/** A row for each packet on each link, in order of arrival at the link. Times in simulated seconds, infinite: after `until_s`. */
export interface Hops {
  /** The rows cover packets on a link between these times. */
  from_s: number;
  until_s: number;
  /** Whether it ends early, at `most_hops` hops. */
  cut: boolean;
  /** Row in `packets`. */
  packet: Uint32Array;
  link: Uint32Array;
  /** Arrival at the queue; start of transmission; last bit sent; last bit received; departure. A dropped packet has the time of the drop from `start` on, a lost one that of the loss from `sent` on. */
  enter_s: Float64Array;
  start_s: Float64Array;
  sent_s: Float64Array;
  arrive_s: Float64Array;
  leave_s: Float64Array;
  /** 0 to the next link, 1 dropped, 2 lost on the wire, 3 to its receiver, 4 not before the end. */
  fate: Uint8Array;
  /** A row for each packet. */
  packets: {
    /** Identifies the packet on its whole path. */
    packet: Uint32Array;
    flow: Uint32Array;
    /** Row of `kinds`. */
    kind: Uint8Array;
    size_bytes: Uint32Array;
    /** Segment number from 1 (data), or the number of segments acknowledged. */
    number: Uint32Array;
    retransmission: Uint8Array;
    /** When it was first CE-marked. */
    marked_s: Float64Array;
  };
  /** Name before its number, whether it travels from the data's receiver to their sender, whether it carries data. */
  kinds: { word: string; returns: boolean; data: boolean }[];
}

/** Observations of a controlled connection in a step. */
export interface Step {
  now_s: number;
  length_s: number;
  sent_bytes: number;
  delivered_bytes: number;
  lost_bytes: number;
  marked_bytes: number;
  ecn_echoes: number;
  timeouts: number;
  /** Mean over the step; zero before the first sample. */
  rtt_s: number;
  rtt_min_s: number;
  window_segments: number;
  pacing_bps: number;
  in_flight_bytes: number;
  over: boolean;
  complete: boolean;
}

/** A built-in algorithm, as `selfclock algorithms` lists it. */
export interface Algorithm {
  name: string;
  /** `start`, `window`, `model` or `estimate`: the key of `congestion_control` under which it is chosen. */
  part: string;
  about: string;
}
