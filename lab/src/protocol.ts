/**
 * Messages between the page and the worker that simulates.
 *
 * The page sends `Request`s, each with an `id` of its own. The worker answers each with one or more `Reply`s of that id; the last
 * one has the type `done`, `refused` or `cancelled`, or is the only one. A request supersedes the earlier one of the same `lane`,
 * which is answered with `cancelled` within a slice (some 20 ms). Requests of different lanes take turns.
 *
 * Units are in the names: seconds, bytes, bit/s. A typed array is a view into a buffer that was transferred.
 */

/** A scenario: TOML, and changes as `selfclock run --set` takes them, such as `network.bottleneck.rate=20 Mbps`. */
export interface ScenarioText {
  toml: string;
  /** Stands for the file in messages and, without its extension, for a name that the TOML does not give; default `scenario.toml`. */
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
  /** Set a flow's rate from outside, whatever algorithm the scenario has for it. Reply: `opened`. Ended by `steer-end` or the next `steer`. */
  | ({ type: "steer"; id: number; flow: string } & ScenarioText & Limits)
  /**
   * Go on for `length_s` with this rate on the wire. Replies: `step`, after it `columns` if `columns` is set.
   * Without `window_segments` the window is twice the rate times the round-trip time.
   */
  | { type: "steer-step"; id: number; rate_bps: number; length_s: number; window_segments?: number; columns?: boolean }
  /** Replies: `columns`, `done`. */
  | { type: "steer-end"; id: number }
  /** The fingerprint of a run, the same on every machine. Replies: `opened`, `fingerprint`. */
  | ({ type: "fingerprint"; id: number; lane?: string } & ScenarioText & Limits)
  /** JSON Schema of scenario files. Reply: `schema`. */
  | { type: "schema"; id: number }
  /** Stop a request. It is answered with `cancelled`; nothing happens if it has ended. */
  | { type: "cancel"; id: number };

/** What a run may come to; the worker has `DEFAULT_LIMITS`. */
export interface Limits {
  most_packet_hops?: number;
}

export type Reply =
  /** Unsolicited, the first of all, with id 0: the simulator is there. */
  | { type: "ready"; id: 0; version: string; algorithms: Algorithm[]; queues: string[] }
  /** Unsolicited, in its place: the simulator could not be loaded. */
  | { type: "unavailable"; id: 0; message: string }
  | { type: "opened"; id: number; scenario: Scenario }
  | ({ type: "columns"; id: number; now_s: number; finished: boolean } & Columns)
  | { type: "hops"; id: number; hops: Hops }
  | { type: "step"; id: number; step: Step }
  | { type: "fingerprint"; id: number; fingerprint: string }
  | { type: "schema"; id: number; schema: unknown }
  | { type: "done"; id: number; summary: Summary | null; wall_ms: number }
  | { type: "cancelled"; id: number }
  /** The scenario has an error or is too large, or the run failed. Nothing of it is to be shown as a result. */
  | { type: "refused"; id: number; refusal: Refusal };

export interface Refusal {
  /** `error`: of the scenario, located; `size`: it is too large; `failed`: of the run. */
  kind: "error" | "size" | "failed";
  /** As in the terminal, several lines with the excerpt and marks. */
  text: string;
  /** Without place and excerpt: one line. */
  message: string;
  /** What is allowed; may be empty. */
  help: string;
  /** As `flow[0].transport.mss`; may be empty. */
  key: string;
  /** From 1, in the TOML, or in the override if `source` is `--set`; null without a place. */
  line: number | null;
  column: number | null;
  source: string;
  /** Of `size`: what it would need. */
  size?: Size;
}

/** What a scenario comes to, estimated before it runs. */
export interface Size {
  packet_hops: number;
  /** Values of all series. */
  samples: number;
  /** Memory for flows, series and a record of packets. */
  bytes: number;
  /** Time to compute it in this browser, roughly. */
  seconds: number;
}

export interface Scenario {
  name: string;
  title: string | null;
  seed: number;
  duration_s: number;
  /** The TOML with the overrides applied. */
  text: string;
  /** Sentences on what cannot mean what it says. */
  notes: string[];
  nodes: string[];
  links: Link[];
  flows: Flow[];
  size: Size;
}

export interface Link {
  name: string;
  from: string;
  to: string;
  rate_bps: number;
  delay_s: number;
  /** At most one of the two is not null; both null: unlimited. */
  limit_packets: number | null;
  limit_bytes: number | null;
  /** `drop-tail`, `codel`, ... */
  discipline: string;
  /** The queue marks ECN-capable packets. */
  marks: boolean;
  /** Neither rate nor delay change. */
  constant: boolean;
  /** It sends at the opportunities of a delivery trace; `rate_bps` is the mean. */
  trace: boolean;
  jitter_s: number;
  /** Time in seconds, rate in bit/s, delay in seconds from then on. */
  changes: [number, number, number][];
  mechanisms: string[];
}

export interface Flow {
  name: string;
  /** As the summary has it: `cubic+hystart++`; `udp`; `agent` for a steered flow. */
  algorithm: string;
  /** Indices of the links that data take, and those of acknowledgements. */
  forward: number[];
  reverse: number[];
  /** Propagation there and back. */
  delay_s: number;
  start_s: number;
  stop_s: number;
  /** UDP: from when on which rate, bit/s. */
  offered: [number, number][];
  payload_bytes: number | null;
  packet_bytes: number | null;
  /** It is made of short connections and has no series. */
  connections: boolean;
}

export type FlowQuantity =
  | "cwnd_bytes" | "ssthresh_bytes" | "in_flight_bytes" | "pacing_bps" | "srtt_s" | "sent_bytes"
  | "acknowledged_bytes" | "delivered_bytes" | "phase" | "available_bps" | "capacity_bps";
export type LinkQuantity = "queue_packets" | "drops" | "bytes" | "utilization";

/** Sampled series. Every array has the length of `time_s`. NaN: no value; `ssthresh_bytes` may be infinite. */
export interface Columns {
  /** The sample times, the same for every flow and link: the first is one interval after the start. */
  time_s: Float64Array;
  /** In the order of `Scenario.flows`; null for flows without series (UDP, short connections). */
  flows: (Record<FlowQuantity, Float64Array> | null)[];
  /** In the order of `Scenario.links`. */
  links: Record<LinkQuantity, Float64Array>[];
  /** Names of the numbers in `phase`. */
  phases: string[];
}

/** How a packet left a link. */
export const enum Fate {
  /** To the next link. */
  Forwarded = 0,
  /** Refused by the queue. */
  Dropped = 1,
  /** Lost on the wire. */
  Lost = 2,
  /** To its receiver. */
  Delivered = 3,
}

/** Bits of `Hops.look`. */
export const enum Look {
  /** From the receiver of the data to its sender: an acknowledgement. */
  Back = 1,
  Retransmission = 2,
  /** It carries payload; what does not sets a connection up or acknowledges. */
  Data = 4,
  /** Congestion-experienced: marked by this link or before. */
  Marked = 8,
  /** The acknowledgement echoes a mark (ECE). */
  Echo = 16,
}

/** A row for each packet on each link, in the order in which they came to it. Times in seconds of simulated time. */
export interface Hops {
  /** What the rows cover: packets that were on a link between these times. */
  from_s: number;
  until_s: number;
  /** It ends before the time asked for: there were more than `most_hops`. */
  cut: boolean;
  link: Uint32Array;
  flow: Uint32Array;
  /** Unique to the packet on its whole way. */
  packet: Uint32Array;
  /** It came to the queue; its transmission began; its last bit left; its last bit arrived at the other end. A dropped packet has the time of the drop in all four; a lost one vanishes at `sent`. */
  enter_s: Float64Array;
  start_s: Float64Array;
  sent_s: Float64Array;
  arrive_s: Float64Array;
  size_bytes: Uint32Array;
  /** Segment number from 1 (data), or the number of segments acknowledged. */
  number: Uint32Array;
  fate: Uint8Array;
  look: Uint8Array;
}

/** What a steered connection saw in a step. */
export interface Step {
  now_s: number;
  length_s: number;
  sent_bytes: number;
  delivered_bytes: number;
  lost_bytes: number;
  marked_bytes: number;
  ecn_echoes: number;
  timeouts: number;
  /** Mean of the step; zero before the first sample. */
  rtt_s: number;
  rtt_min_s: number;
  window_segments: number;
  pacing_bps: number;
  in_flight_bytes: number;
  over: boolean;
  complete: boolean;
}

/** As `selfclock run --json` prints it. */
export interface Summary {
  scenario: string;
  seed: number;
  simulated_s: number;
  events: number;
  packet_hops: number;
  flows: FlowSummary[];
  links: LinkSummary[];
}

export interface FlowSummary {
  name: string;
  algorithm: string;
  from: string;
  to: string;
  goodput_bps: number;
  throughput_bps: number;
  delivered_segments: number;
  delivered_bytes: number;
  sent_segments: number;
  retransmitted_segments: number;
  timeouts: number;
  fast_retransmits: number;
  rtt_min_s: number | null;
  rtt_mean_s: number | null;
  rtt_p95_s: number | null;
  completion_s: number | null;
}

export interface LinkSummary {
  name: string;
  rate_bps: number;
  utilization: number;
  packets: number;
  bytes: number;
  drops: number;
  ce_marks: number;
  queue_mean_packets: number;
  queue_max_packets: number;
  queue_mean_s: number;
}

/** A built-in algorithm, as `selfclock algorithms` lists it. */
export interface Algorithm {
  name: string;
  /** `start`, `window`, `model` or `estimate`: the key of `congestion_control` under which it is chosen. */
  part: string;
  about: string;
}
