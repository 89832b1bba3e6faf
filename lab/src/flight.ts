/** The packets of a record at one moment: queued, on a wire, dropped. */

import type { Hops } from "./protocol.ts";

// Values of the protocol's `const enum`s, which a bundler cannot inline from a type file.
export const DROPPED = 1, LOST = 2, DELIVERED = 3;
export const BACK = 1, RETRANSMISSION = 2, DATA = 4, MARKED = 8;

export type Phase = "waiting" | "flying" | "fallen" | "gone";

/** Index of the first of sorted values that is greater than `value`. */
export function after(values: ArrayLike<number>, value: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Flight {
  /** Longest time of a packet on a link, queueing included. */
  private readonly longest: number;
  /** Arrival times of ACKs at senders, in order, with their rows. */
  readonly acks: { time: number; row: number }[];

  constructor(readonly hops: Hops) {
    let longest = 0;
    const acks: { time: number; row: number }[] = [];
    for (let row = 0; row < hops.enter_s.length; row++) {
      longest = Math.max(longest, (hops.arrive_s[row] ?? 0) - (hops.enter_s[row] ?? 0));
      if (hops.fate[row] === DELIVERED && this.is(row, BACK)) acks.push({ time: hops.arrive_s[row] ?? 0, row });
    }
    this.longest = longest;
    this.acks = acks.sort((a, b) => a.time - b.time).filter(({ time }) => time >= hops.from_s && time <= hops.until_s);
  }

  is(row: number, bit: number): boolean {
    return ((this.hops.look[row] ?? 0) & bit) !== 0;
  }

  /** Calls `visit` with each row that began by `t` and did not end before `t - grace`. */
  each(t: number, grace: number, visit: (row: number, phase: Phase) => void): void {
    const { enter_s } = this.hops;
    const end = after(enter_s, t);
    for (let row = after(enter_s, t - this.longest - grace - 1e-12); row < end; row++) {
      const phase = this.phase(row, t);
      if (phase !== "gone" && (phase !== "fallen" || t - this.fell(row) <= grace)) visit(row, phase);
    }
  }

  phase(row: number, t: number): Phase {
    const { fate, start_s, sent_s, arrive_s } = this.hops;
    // A packet that a queue dropped after it had waited "starts" when it falls.
    if (t < (start_s[row] ?? 0)) return "waiting";
    if (fate[row] === DROPPED || (fate[row] === LOST && t >= (sent_s[row] ?? 0))) return "fallen";
    return t < (arrive_s[row] ?? 0) ? "flying" : "gone";
  }

  /** The longest queue of a link, in packets. */
  mostWaiting(link: number): number {
    const { enter_s, start_s } = this.hops;
    const comes: number[] = [], goes: number[] = [];
    for (let row = 0; row < enter_s.length; row++) {
      const enter = enter_s[row] ?? 0, start = start_s[row] ?? 0;
      if (this.hops.link[row] !== link || start <= enter) continue;
      comes.push(enter);
      goes.push(start);
    }
    goes.sort((a, b) => a - b);
    let gone = 0, most = 0;
    comes.forEach((time, index) => {
      while ((goes[gone] ?? Infinity) <= time) gone++;
      most = Math.max(most, index + 1 - gone);
    });
    return most;
  }

  /** Time of a packet's drop or loss. */
  fell(row: number): number {
    return this.hops.sent_s[row] ?? 0;
  }

  /** Positions of a packet's first and last bit on the wire, 0 to 1. */
  extent(row: number, t: number): [number, number] {
    const start = this.hops.start_s[row] ?? 0, sent = this.hops.sent_s[row] ?? 0, arrive = this.hops.arrive_s[row] ?? 0;
    const propagation = arrive - sent;
    // A wire without delay: the packet covers it while it is sent.
    if (propagation <= 0) return [0, Math.min(1, (t - start) / Math.max(sent - start, 1e-12))];
    const at = (since: number): number => Math.min(Math.max((t - since) / propagation, 0), 1);
    return [at(sent), at(start)];
  }

  /** The next ACK to reach a sender after `t`, or the last before it. */
  ack(t: number, forwards: boolean): { time: number; row: number } | null {
    const times = this.acks.map(({ time }) => time);
    const index = forwards ? after(times, t + 1e-12) : after(times, t - 1e-12) - 1;
    return this.acks[index] ?? null;
  }

  /** Segments that an ACK releases at a flow's sender; `first` is the first link of its path. */
  released(row: number, first: number | undefined): number {
    const time = this.hops.arrive_s[row] ?? 0, flow = this.hops.flow[row];
    const { enter_s, link } = this.hops;
    let released = 0;
    // Times are rounded to 1e-16 of the run (double precision), not to picoseconds.
    for (let each = after(enter_s, time - 1e-11); each < enter_s.length && (enter_s[each] ?? 0) <= time + 1e-11; each++) {
      if (this.hops.flow[each] === flow && link[each] === first && this.is(each, DATA)) released++;
    }
    return released;
  }
}
