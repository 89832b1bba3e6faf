/** Packets on the links of a network: what a record shows at a moment. Times in seconds. */

/** How a packet left a link, in the order of the engine. */
export const DROPPED = 1, LOST = 2, DELIVERED = 3;

export type Phase = "waiting" | "flying" | "held" | "fallen" | "gone";

/** A place of the layout: x in layers, y in rows. */
export interface Place {
  name: string;
  x: number;
  y: number;
  kind: "host" | "router" | "bundle";
}

/** One direction between two places; the links of a bundle are one. */
export interface Edge {
  name: string;
  /** Indices of places. */
  a: number;
  b: number;
  /** Offset of its middle from the straight line, in rows. */
  bend: number;
  /** Rate and delay, for readers. */
  about: string;
  /** At most one of the two is set; null for both: no limit, or several links. */
  limit_packets: number | null;
  limit_bytes: number | null;
  /** Whether its queue is drawn as a box; otherwise that depends on the longest. */
  boxed?: boolean;
}

/** Flows that share a colour. */
export interface Group {
  name: string;
}

/** A kind of packet: its name before its number, whether it travels to the sender of data, and whether it carries data. */
export interface Kind {
  word: string;
  returns: boolean;
  data: boolean;
}

/** What does not move. */
export interface Picture {
  places: readonly Place[];
  width: number;
  height: number;
  edges: readonly Edge[];
  groups: readonly Group[];
  kinds: readonly Kind[];
}

type Numbers = ArrayLike<number>;

/** A row for each packet on each link, by the time it came. Infinite times are after the end. */
export interface Columns {
  packet: Numbers;
  edge: Numbers;
  enter: Float64Array;
  start: Float64Array;
  sent: Float64Array;
  arrive: Float64Array;
  leave: Float64Array;
  fate: Numbers;
}

/** A row for each packet. */
export interface Packets {
  group: Numbers;
  kind: Numbers;
  size: Numbers;
  number: Numbers;
  again: Numbers;
  marked: Numbers;
}

/** A queue's limit, and the longest of the record. */
export interface Capacity {
  limit: number | null;
  unit: "packets" | "B";
  most: number;
}

/** Rows that are skipped together. */
const BLOCK = 256;
/** Times differ by less than this where they are equal, seconds: the record is exact to a picosecond, real numbers to less. */
const SAME = 1e-11;
/** Queues that never held more packets have no box. */
const LEAST_QUEUE = 3;

export const at = (values: Numbers, index: number): number => values[index] as number;

/** Index of the first of sorted values that is greater than `value`. */
export function after(values: Numbers, value: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(values, middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const rising = (a: number, b: number): number => a - b;

/** The length of a queue at its changes, from the times at which packets came and went, sorted. */
function lengths(comes: Numbers, goes: Numbers, until: number): { times: number[]; lengths: number[] } {
  const times: number[] = [], found: number[] = [];
  for (let a = 0, b = 0; a < comes.length || b < goes.length;) {
    const t = Math.min(comes[a] ?? Infinity, goes[b] ?? Infinity);
    if (t > until) break;
    while (comes[a] === t) a++;
    while (goes[b] === t) b++;
    times.push(t);
    found.push(a - b);
  }
  return { times, lengths: found };
}

export class Track {
  readonly count: number;
  readonly capacities: readonly Capacity[];
  /** The last time of each block of rows. */
  private readonly last: Float64Array;
  /** Rows that waited, of each edge. */
  private readonly queued: readonly number[][];
  private times: Float64Array | null = null;
  private ended: Float64Array[][] | null = null;

  constructor(
    readonly picture: Picture, readonly hops: Columns, readonly packets: Packets, readonly from: number, readonly until: number,
  ) {
    this.count = hops.enter.length;
    this.last = new Float64Array(Math.ceil(this.count / BLOCK)).fill(-Infinity);
    this.queued = picture.edges.map(() => []);
    for (let row = 0; row < this.count; row++) {
      if (at(hops.start, row) > at(hops.enter, row)) this.queued[at(hops.edge, row)]?.push(row);
      const block = Math.floor(row / BLOCK);
      this.last[block] = Math.max(at(this.last, block), at(hops.leave, row));
    }
    this.capacities = picture.edges.map((edge, index) => this.capacity(edge, index));
  }

  private of(values: Numbers, row: number): number {
    return at(values, at(this.hops.packet, row));
  }
  kind(row: number): Kind {
    return this.picture.kinds[this.of(this.packets.kind, row)] ?? { word: "packet", returns: false, data: false };
  }
  group(row: number): number {
    return this.of(this.packets.group, row);
  }
  number(row: number): number {
    return this.of(this.packets.number, row);
  }
  size(row: number): number {
    return this.of(this.packets.size, row);
  }
  again(row: number): boolean {
    return this.of(this.packets.again, row) !== 0;
  }
  marked(row: number, t: number): boolean {
    return this.of(this.packets.marked, row) <= t;
  }

  /** Calls `visit` with each row that began by `t` and did not end before `t - grace`. */
  each(t: number, grace: number, visit: (row: number) => void): void {
    const { enter, leave } = this.hops;
    for (let block = 0; block < this.last.length && at(enter, block * BLOCK) <= t; block++) {
      if (at(this.last, block) <= t - grace) continue;
      const end = Math.min((block + 1) * BLOCK, this.count);
      for (let row = block * BLOCK; row < end && at(enter, row) <= t; row++) if (at(leave, row) > t - grace) visit(row);
    }
  }

  phase(row: number, t: number): Phase {
    const { start, arrive, leave } = this.hops, fate = at(this.hops.fate, row);
    // A packet that a queue dropped after it had waited "starts" when it falls.
    if (t < at(start, row)) return "waiting";
    if (fate === DROPPED) return "fallen";
    if (t < at(arrive, row)) return "flying";
    if (fate === LOST) return "fallen";
    return t < at(leave, row) ? "held" : "gone";
  }

  /** Positions of a packet's last and first bit on the wire, 0 to 1. */
  extent(row: number, t: number): [number, number] {
    const start = at(this.hops.start, row), sent = at(this.hops.sent, row), arrive = at(this.hops.arrive, row);
    const delay = arrive - sent;
    const reach = (since: number): number => Math.min(Math.max((t - since) / delay, 0), 1);
    // A wire without delay: the packet covers it while it is sent.
    return delay > 0 ? [reach(sent), reach(start)] : [0, Math.min(1, (t - start) / Math.max(arrive - start, 1e-12))];
  }

  /** Packets in each queue and on each link, and data packets delivered, dropped and lost of each group. */
  state(t: number): { waiting: number[]; flying: number[]; delivered: number[]; dropped: number[]; lost: number[] } {
    const waiting = this.picture.edges.map(() => 0), flying = [...waiting];
    this.each(t, 0, (row) => {
      const edge = at(this.hops.edge, row), phase = this.phase(row, t);
      if (phase === "waiting") waiting[edge] = at(waiting, edge) + 1;
      if (phase === "flying") flying[edge] = at(flying, edge) + 1;
    });
    return { waiting, flying, ...this.totals(t) };
  }

  /** Data packets delivered, dropped and lost of each group by a time. */
  totals(t: number): { delivered: number[]; dropped: number[]; lost: number[] } {
    this.ended ??= [DELIVERED, DROPPED, LOST].map((fate) => this.picture.groups.map((_, group) => {
      const rows = [...this.hops.leave.keys()].filter((row) => at(this.hops.fate, row) === fate && this.group(row) === group && this.kind(row).data);
      return Float64Array.from(rows, (row) => at(this.hops.leave, row)).sort();
    }));
    const [delivered = [], dropped = [], lost = []] = this.ended.map((lists) => lists.map((times) => after(times, t)));
    return { delivered, dropped, lost };
  }

  /** Times of all packet events and queue changes. */
  get moments(): Float64Array {
    const { enter, start, arrive, leave } = this.hops;
    const all = (): number[] => [enter, start, arrive, leave].flatMap((times) => [...times].filter((t) => t >= this.from && t <= this.until));
    return (this.times ??= Float64Array.from(new Set(all())).sort());
  }

  /** The events at one of the moments, in words. */
  told(t: number): string[] {
    const words: string[] = [], { picture, hops } = this;
    this.each(t, SAME, (row) => {
      const link = picture.edges[at(hops.edge, row)]?.name ?? "", flow = picture.groups[this.group(row)]?.name ?? "";
      const what = `${flow}: ${this.again(row) ? "retransmitted " : ""}${this.kind(row).word} ${this.number(row)}`;
      const fate = at(hops.fate, row);
      if (fate === DROPPED) {
        if (at(hops.start, row) === t) words.push(`${what} dropped at ${link}`);
      } else if (fate === LOST && at(hops.arrive, row) === t) words.push(`${what} lost on ${link}`);
      else if (fate === DELIVERED && at(hops.leave, row) === t) words.push(`${what} delivered`);
      else if (at(hops.start, row) === t) words.push(`${what} starts on ${link}`);
      else if (at(hops.enter, row) === t) words.push(`${what} enters the queue of ${link}`);
      else if (at(hops.arrive, row) === t) words.push(`${what} arrives from ${link}`);
    });
    return words;
  }

  /** Length of an edge's queue at its changes. */
  queue(edge: number): { times: number[]; lengths: number[] } {
    const found = this.changes(edge, this.until);
    return { times: [this.from, ...found.times], lengths: [0, ...found.lengths] };
  }

  private changes(edge: number, until: number): { times: number[]; lengths: number[] } {
    const rows = this.queued[edge] ?? [], times = (column: Float64Array): number[] => rows.map((row) => at(column, row));
    return lengths(times(this.hops.enter), times(this.hops.start).sort(rising), until);
  }

  private capacity(edge: Edge, index: number): Capacity {
    const most = this.changes(index, Infinity).lengths.reduce((a, b) => Math.max(a, b), 0);
    if (edge.limit_bytes === null) return { limit: edge.limit_packets, unit: "packets", most };
    // With a constant packet size, a limit in bytes is one in packets.
    const sizes = new Set((this.queued[index] ?? []).filter((row) => this.kind(row).data).map((row) => this.size(row))), [size] = sizes;
    if (sizes.size !== 1 || size === undefined) return { limit: edge.limit_bytes, unit: "B", most };
    return { limit: Math.floor(edge.limit_bytes / size), unit: "packets", most };
  }

  /** Whether an edge's queue is drawn as a box. */
  boxed(index: number): boolean {
    const edge = this.picture.edges[index];
    if (!edge) return false;
    return edge.boxed ?? ((this.capacities[index]?.most ?? 0) >= LEAST_QUEUE && this.picture.places[edge.a]?.kind === "router");
  }

  /** The next packet to reach a sender of data after `t`, or the last before it. */
  answer(t: number, forwards: boolean): { time: number; row: number } | null {
    const rows = [...this.hops.leave.keys()].filter((row) => at(this.hops.fate, row) === DELIVERED && this.kind(row).returns);
    const found = rows.map((row) => ({ time: at(this.hops.leave, row), row })).sort((a, b) => a.time - b.time)
      .filter(({ time }) => time >= this.from && time <= this.until);
    const times = found.map(({ time }) => time);
    return found[forwards ? after(times, t + 1e-12) : after(times, t - 1e-12) - 1] ?? null;
  }

  /** Data packets of its group that enter an edge when a packet leaves its link: what an ACK releases. */
  released(row: number, edge: number | undefined): number {
    const time = at(this.hops.leave, row), { enter } = this.hops;
    let released = 0;
    for (let each = after(enter, time - SAME); each < this.count && at(enter, each) <= time + SAME; each++) {
      if (this.group(each) === this.group(row) && at(this.hops.edge, each) === edge && this.kind(each).data) released++;
    }
    return released;
  }
}
