/** What the engine declares of the names that leave it. Written by tests/generated.py. */

export interface SizeClass {
  /** Largest size, bytes; each class begins where the one before ends. Null: any. */
  up_to_bytes: number | null;
  /** Connections that were completed. */
  completed: number;
  /** Mean completion time: the last byte is acknowledged. */
  mean_s: number;
  /** Median. */
  p50_s: number;
  /** 95th percentile. */
  p95_s: number;
  /** 99th percentile. */
  p99_s: number;
  /** Mean time until the last byte of these is delivered to the receiving application. */
  delivery_mean_s: number;
  /** Median. */
  delivery_p50_s: number;
  /** 99th percentile. */
  delivery_p99_s: number;
}

export interface ConnectionsSummary {
  /** Connections that started. */
  started: number;
  /** Of these, complete at the end of the run. */
  completed: number;
  /** Payload of those that started, bytes. */
  offered_bytes: number;
  /** The same per second, from the flow's start to its stop or the end of the run. */
  offered_bps: number;
  /** Completion times by size, smallest first; without classes in which nothing was completed. */
  by_size: SizeClass[];
}

export interface DelaySummary {
  /** Number of packets. */
  packets: number;
  /** Mean. */
  mean_s: number;
  /** Smallest. */
  min_s: number;
  /** Median; it and the other quantiles are good to 0.8 %, and closer where packets are many. */
  p50_s: number;
  /** 95th percentile. */
  p95_s: number;
  /** 99th percentile. */
  p99_s: number;
  /** 99.9th percentile. */
  p999_s: number;
  /** Largest. */
  max_s: number;
}

export interface FailureSummary {
  /** When one of its ends gave it up. */
  time_s: number;
  /** Why, as the stack says. */
  reason: string;
}

export interface FlowSummary {
  /** Name of the flow. */
  name: string;
  /** Its congestion control; "udp" for a UDP source. */
  algorithm: string;
  /** Node that sends data. */
  from: string;
  /** Node that receives it. */
  to: string;
  /** In-order payload delivered to the application, over the time from the flow's start to its completion or the end of the run. */
  goodput_bps: number;
  /** Everything that arrived at the receiver, headers and repeated segments included, over the same time. */
  throughput_bps: number;
  /** Segments delivered in order to the application. */
  delivered_segments: number;
  /** Bytes delivered in order to the application. */
  delivered_bytes: number;
  /** Data segments sent, retransmissions included. */
  sent_segments: number;
  /** Of these, retransmissions. */
  retransmitted_segments: number;
  /** Expiries of the retransmission timer. */
  timeouts: number;
  /** Recoveries begun by duplicate or selective acknowledgements. */
  fast_retransmits: number;
  /** Smallest round-trip sample; null without one. */
  rtt_min_s: number | null;
  /** Mean round-trip sample. */
  rtt_mean_s: number | null;
  /** 95th percentile of the round-trip samples, within 1 %. */
  rtt_p95_s: number | null;
  /** Time from the flow's start until its last byte was acknowledged; null if it did not complete. */
  completion_s: number | null;
  /** Time from a TCP flow's start until its last byte had been delivered to the receiving application; null if it was not, or if the flow has no size. */
  delivery_s: number | null;
  /** Of a flow that is made of short connections, whose sums are in the fields above; null for others. */
  connections: ConnectionsSummary | null;
  /** One-way delays of its data packets, from the sender to the arrival of each at the receiver; only in a run that measures them. */
  delays?: DelaySummary;
  /** Of a connection of a foreign stack that ended against its will: when and why. Others leave it out. */
  failure?: FailureSummary;
}

export interface LinkSummary {
  /** Name of the link. */
  name: string;
  /** Rate of its transmitter at the end of the run. */
  rate_bps: number;
  /** Fraction of the run in which it was transmitting, weighted by the rate if that changes; with a trace, of the bytes offered. */
  utilization: number;
  /** Packets transmitted. */
  packets: number;
  /** Bytes transmitted. */
  bytes: number;
  /** Packets dropped by the queue or lost on the wire. */
  drops: number;
  /** Packets marked congestion-experienced. */
  ce_marks: number;
  /** Time average of the packets waiting, without the one in service: those that are dropped later, too. */
  queue_mean_packets: number;
  /** Most packets that waited at once. */
  queue_max_packets: number;
  /** Mean waiting time of the packets accepted and not dropped from the queue; of those that wait at the end of the run, until then. */
  queue_mean_s: number;
  /** Waiting times of the packets transmitted, until the beginning of their transmission; only in a run that measures delays. */
  waits?: DelaySummary;
}

export interface Summary {
  /** Name of the scenario. */
  scenario: string;
  /** Seed it ran with. */
  seed: number;
  /** Simulated time. */
  simulated_s: number;
  /** Events taken from the event queue. */
  events: number;
  /** Packets that crossed a link, summed over links; data and acknowledgements count. */
  packet_hops: number;
  /** One entry per flow, in the order of the scenario. */
  flows: FlowSummary[];
  /** One entry per link, in the order of the topology. */
  links: LinkSummary[];
}

export type FlowQuantity =
  | "cwnd_bytes"
  | "ssthresh_bytes"
  | "in_flight_bytes"
  | "pacing_bps"
  | "srtt_s"
  | "sent_bytes"
  | "acknowledged_bytes"
  | "delivered_bytes"
  | "phase"
  | "available_bps"
  | "capacity_bps";

export type LinkQuantity =
  | "queue_packets"
  | "drops"
  | "bytes"
  | "utilization";

/** Units of a time, in s. */
export const TIMES: Record<string, number> = { "ps": 1e-12, "ns": 1e-09, "us": 1e-06, "µs": 1e-06, "μs": 1e-06, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0 };

/** Units of a rate, in bit/s. */
export const RATES: Record<string, number> = { "bps": 1.0, "kbps": 1000.0, "Mbps": 1000000.0, "Gbps": 1000000000.0, "Tbps": 1000000000000.0, "bit/s": 1.0, "kbit/s": 1000.0, "Mbit/s": 1000000.0, "Gbit/s": 1000000000.0, "Tbit/s": 1000000000000.0 };

/** Units of a size, in bytes. */
export const SIZES: Record<string, number> = { "B": 1.0, "kB": 1000.0, "MB": 1000000.0, "GB": 1000000000.0, "KiB": 1024.0, "MiB": 1048576.0, "GiB": 1073741824.0 };

/** Headings without units. */
export const FLOW_HEADINGS = {
  goodput_bps: "Goodput",
  sent_segments: "Segments sent",
  retransmitted_segments: "Retransmitted",
  timeouts: "Timeouts",
  fast_retransmits: "Fast retransmits",
  rtt_min_s: "RTT min",
  rtt_mean_s: "RTT mean",
  rtt_p95_s: "RTT 95 %",
  completion_s: "Completed after",
} as const;

/** Headings without units. */
export const LINK_HEADINGS = {
  rate_bps: "Rate",
  utilization: "Busy",
  packets: "Packets",
  drops: "Drops",
  ce_marks: "CE marks",
  queue_mean_packets: "Queue mean",
  queue_max_packets: "Queue max",
  queue_mean_s: "Mean wait",
} as const;

/** Totals without a meaning for UDP. */
export const NOT_OF_UDP: ReadonlySet<string> = new Set(["retransmitted_segments", "timeouts", "fast_retransmits"]);
