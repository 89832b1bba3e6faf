/** Hidden links of the game, and the score of a run over one. */

import type { FlowSummary } from "./protocol.ts";

export interface HiddenLink {
  seed: number;
  duration_s: number;
  /** Rates in Mbit/s, each with its start time. */
  rates: [number, number][];
  rtt_ms: number;
  buffer_bdp: number;
}

/** Pseudo-random numbers from 0 to 1 (Mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The link of a seed: a rate that changes some three times, by a factor of 1.6 to 2.6. */
export function hiddenLink(seed: number, duration_s = 30): HiddenLink {
  const next = random(seed * 7919 + 17);
  const between = (low: number, high: number): number => low * (high / low) ** next();
  const rates: [number, number][] = [];
  let rate = between(6, 16);
  for (let at = 0; at < duration_s - 3; at += Math.round(between(5, 9))) {
    rates.push([at, Math.round(rate * 10) / 10]);
    // A noticeable change, up or down, but towards the middle near the ends of the range.
    const factor = between(1.6, 2.6);
    rate = (rate > 15 || (rate > 5 && next() < 0.5)) ? rate / factor : rate * factor;
  }
  return { seed, duration_s, rates, rtt_ms: Math.round(between(24, 90)), buffer_bdp: Math.round(between(0.6, 3) * 10) / 10 };
}

/** The scenario of a link with one flow over it. */
export function scenarioOf(link: HiddenLink, name: string, algorithm: string): string {
  const [first, ...later] = link.rates;
  const changes = later.map(([at, rate]) => `{ at = "${at} s", rate = "${rate} Mbps" }`).join(", ");
  return `schema = 1
title = "The hidden link ${link.seed}"
duration = "${link.duration_s} s"
seed = ${link.seed}

[network]
topology = "dumbbell"
bottleneck = { rate = "${first?.[1] ?? 10} Mbps", delay = "${link.rtt_ms / 2 - 2} ms", queue = "${link.buffer_bdp} bdp"${changes ? `, changes = [${changes}]` : ""} }
access = { rate = "1 Gbps", delay = "1 ms" }

[[flow]]
name = "${name}"
congestion_control = "${algorithm}"
`;
}

/** Mean rate of a link, Mbit/s. */
export function meanRate(link: HiddenLink): number {
  return link.rates.reduce((sum, [at, rate], index) => sum + rate * ((link.rates[index + 1]?.[0] ?? link.duration_s) - at), 0) / link.duration_s;
}

export interface Score {
  /** Goodput as a share of the link's mean rate; mean RTT over that of the empty path, less 1; retransmitted segments as a share of those sent. */
  throughput: number;
  delay: number;
  loss: number;
  /** 100 times throughput less half the delay less the loss, the reward of `selfclock.rl`. */
  points: number;
}

export function scoreOf(link: HiddenLink, flow: FlowSummary): Score {
  const throughput = flow.goodput_bps / (meanRate(link) * 1e6);
  const delay = Math.max(0, (flow.rtt_mean_s ?? link.rtt_ms / 1000) / (link.rtt_ms / 1000) - 1);
  const loss = flow.sent_segments > 0 ? flow.retransmitted_segments / flow.sent_segments : 0;
  return { throughput, delay, loss, points: Math.round(100 * (throughput - 0.5 * delay - loss)) };
}
