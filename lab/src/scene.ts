/** The path on a canvas: nodes, wires, queues, and the packets of one moment. */

import { BACK, DATA, DROPPED, type Flight, LOST, MARKED, RETRANSMISSION } from "./flight.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { dropColour, looks, markColour } from "./palette.ts";
import type { Link, Scenario } from "./protocol.ts";
import { isDark, paint } from "./theme.ts";
import { rateText, timeText } from "./units.ts";

/** Pixels: row of hosts, node, width of a 1500 B packet, distance of a wire's two lanes. */
const ROW = 46, NODE = 15, THICK = 12, LANE = 8;
/** Pixels above the wires for queues, and below for text. */
const ABOVE = 60, BELOW = 40;
/** Real seconds for which a dropped packet falls. */
export const FALL = 0.9;

interface Way {
  x0: number; y0: number; x1: number; y1: number;
  length: number; angle: number;
  /** Width of the queue's box; 0 without one. */
  tank: number;
}

export class Scene {
  readonly layout: Layout | null;
  readonly height: number;
  private readonly ways: (Way | null)[];
  private readonly spots: [number, number][];
  private readonly narrow: boolean;
  /** Longest queue of each link with a box, in packets. */
  private readonly most: number[];

  constructor(readonly scenario: Scenario, readonly flight: Flight, readonly width: number) {
    this.layout = layoutOf(scenario);
    this.narrow = width < 560;
    const rows = this.layout?.rows ?? 1;
    const row = rows > 4 ? 34 : ROW;
    this.height = this.layout ? ABOVE + BELOW + (rows - 1) * row : 60;
    const middle = ABOVE + ((rows - 1) * row) / 2;
    const margin = this.narrow ? 30 : 64;
    this.spots = (this.layout?.places ?? []).map((place) => [margin + place.x * (width - 2 * margin), middle + place.y * row]);
    this.ways = (this.layout?.wires ?? []).map((wire) => (wire ? this.way(wire.from, wire.to, wire.boxed) : null));
    this.most = this.ways.map((way, link) => (way?.tank ? flight.mostWaiting(link) : 0));
  }

  /** Draws time `t`; `speed`, in simulated seconds per second, sets the pace of falling packets. */
  draw(context: CanvasRenderingContext2D, t: number, speed: number, lit: number | null): void {
    context.clearRect(0, 0, this.width, this.height);
    if (!this.layout) {
      this.words(context, "The network has too many routers to draw.", this.width / 2, 34, paint("--faint-text"), "center");
      return;
    }
    const flows = looks(this.scenario.flows.map((flow) => flow.algorithm), isDark());
    const colour = (row: number): string => flows[this.flight.hops.flow[row] ?? 0]?.colour ?? "#666666";
    const waiting = this.ways.map((): number[] => []);
    const falling: number[] = [];
    this.wires(context);
    this.flight.each(t, FALL * speed, (row, phase) => {
      const link = this.flight.hops.link[row] ?? 0;
      if (phase === "waiting") waiting[link]?.push(row);
      else if (phase === "flying") this.flying(context, row, t, colour(row));
      else falling.push(row);
    });
    waiting.forEach((rows, link) => this.tank(context, link, rows, colour));
    this.nodes(context, lit);
    for (const row of falling) this.fall(context, row, (t - this.flight.fell(row)) / (FALL * speed), colour(row));
  }

  private way(from: number, to: number, boxed: boolean): Way | null {
    const a = this.spots[from], b = this.spots[to];
    if (!a || !b) return null;
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const dx = (b[0] - a[0]) / length, dy = (b[1] - a[1]) / length;
    // On the left in the direction of travel: data above, ACKs below.
    const shift = (at: [number, number], along: number): [number, number] => [at[0] + dx * along + dy * (LANE / 2), at[1] + dy * along - dx * (LANE / 2)];
    const tank = boxed ? Math.min(this.narrow ? 90 : 200, length * 0.42) : 0;
    const [x0, y0] = shift(a, NODE + (tank ? tank + 6 : 0)), [x1, y1] = shift(b, -NODE);
    return { x0, y0, x1, y1, length: Math.hypot(x1 - x0, y1 - y0), angle: Math.atan2(dy, dx), tank };
  }

  private wires(context: CanvasRenderingContext2D): void {
    const drawn = new Set<string>();
    context.lineWidth = 1.5;
    this.layout?.wires.forEach((wire, index) => {
      const way = this.ways[index], link = this.scenario.links[index];
      const key = wire ? `${wire.from}-${wire.to}` : "";
      if (!wire || !way || !link || drawn.has(key)) return;
      drawn.add(key);
      const back = way.tank ? way.tank + 6 : 0;
      context.strokeStyle = paint("--line");
      context.beginPath();
      context.moveTo(way.x0 - Math.cos(way.angle) * back, way.y0 - Math.sin(way.angle) * back);
      context.lineTo(way.x1, way.y1);
      context.stroke();
      if (way.tank) this.label(context, link, way);
    });
  }

  /** Rate and delay of a link with a queue. */
  private label(context: CanvasRenderingContext2D, link: Link, way: Way): void {
    const text = `${link.trace ? "trace, " : ""}${rateText(link.rate_bps)}, ${timeText(link.delay_s)}`;
    context.font = this.font;
    // Above the wire, clear of node names and falling packets.
    if (context.measureText(text).width < way.length + 16) this.words(context, text, (way.x0 + way.x1) / 2, way.y0 - 20, paint("--faint-text"), "center");
  }

  private flying(context: CanvasRenderingContext2D, row: number, t: number, colour: string): void {
    const way = this.ways[this.flight.hops.link[row] ?? 0];
    if (!way) return;
    const [rear, front] = this.flight.extent(row, t);
    const length = Math.max((front - rear) * way.length, 3);
    const at = Math.max(front * way.length, length);
    this.bar(context, way, at, length, row, colour);
  }

  /** A packet whose first bit is `at` pixels along a wire. */
  private bar(context: CanvasRenderingContext2D, way: Way, at: number, length: number, row: number, colour: string): void {
    const thick = this.thickness(row);
    context.save();
    context.translate(way.x0 + Math.cos(way.angle) * at, way.y0 + Math.sin(way.angle) * at);
    context.rotate(way.angle);
    context.fillStyle = colour;
    context.globalAlpha = this.flight.is(row, BACK) ? 0.75 : 1;
    context.beginPath();
    context.roundRect(-length, -thick / 2, length, thick, Math.min(2, length / 2));
    context.fill();
    context.globalAlpha = 1;
    if (this.flight.is(row, RETRANSMISSION)) {
      context.strokeStyle = paint("--text");
      context.lineWidth = 1.6;
      context.stroke();
    }
    if (this.flight.is(row, MARKED)) this.mark(context, -length / 2, -thick / 2);
    context.restore();
  }

  private mark(context: CanvasRenderingContext2D, x: number, y: number): void {
    context.fillStyle = markColour(isDark());
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - 4, y - 7);
    context.lineTo(x + 4, y - 7);
    context.fill();
  }

  private thickness(row: number): number {
    const size = Math.min(this.flight.hops.size_bytes[row] ?? 0, 1500) / 1500;
    return (this.narrow ? 0.8 : 1) * THICK * (0.4 + 0.6 * size);
  }

  /** The queue before a link: a box with a slot per packet of its limit, the next to leave at the right. */
  private tank(context: CanvasRenderingContext2D, link: number, rows: readonly number[], colour: (row: number) => string): void {
    const way = this.ways[link], plan = this.scenario.links[link];
    if (!way || !plan) return;
    if (!way.tank) return this.heap(context, way, rows, colour);
    const size = rows.length > 0 ? (this.flight.hops.size_bytes[rows[0] ?? 0] ?? 1500) : 1500;
    const limit = plan.limit_packets ?? (plan.limit_bytes === null ? null : Math.floor(plan.limit_bytes / size));
    // Thousands of slots would be unreadable: the box holds the longest queue of the record.
    const needed = Math.max(30, Math.ceil((this.most[link] ?? 1) * 1.2));
    const places = limit === null || limit > 250 ? Math.min(needed, limit ?? needed) : Math.max(limit, 1);
    const high = 26, left = way.x0 - way.tank - 6, top = way.y0 - high / 2;
    context.save();
    context.translate(left, top);
    context.fillStyle = paint("--soft");
    context.strokeStyle = paint("--faint-text");
    context.lineWidth = 1.2;
    context.fillRect(0, 0, way.tank, high);
    const step = Math.min(way.tank / places, 16);
    rows.forEach((row, index) => {
      const x = way.tank - (index + 1) * step;
      if (x < -0.5) return;
      context.fillStyle = colour(row);
      context.fillRect(x + (step > 4 ? 1 : 0), 2, Math.max(step - (step > 4 ? 2 : 0), 0.6), high - 4);
      if (this.flight.is(row, MARKED) && step > 3) this.mark(context, x + step / 2, 0);
    });
    context.strokeRect(0, 0, way.tank, high);
    context.restore();
    const text = limit === null ? `${rows.length} waiting` : `${rows.length} of ${limit}`;
    this.words(context, text, left + way.tank / 2, top - 12, paint("--text"), "center");
  }

  /** Packets that wait at a link without a box: a pile before the wire. */
  private heap(context: CanvasRenderingContext2D, way: Way, rows: readonly number[], colour: (row: number) => string): void {
    rows.slice(0, 12).forEach((row, index) => {
      context.fillStyle = colour(row);
      context.fillRect(way.x0 - 3, way.y0 - 8 - (index + 1) * 4, 8, 3);
    });
  }

  private nodes(context: CanvasRenderingContext2D, lit: number | null): void {
    const flow = lit === null ? undefined : this.scenario.flows[lit];
    const sender = flow && this.layout?.wires[flow.forward[0] ?? -1]?.from;
    this.layout?.places.forEach((place, index) => {
      const [x, y] = this.spots[index] ?? [0, 0];
      context.fillStyle = index === sender ? paint("--accent") : paint("--paper");
      context.strokeStyle = index === sender ? paint("--accent") : paint("--faint-text");
      context.lineWidth = 1.5;
      context.beginPath();
      if (place.kind === "router") context.arc(x, y, 9, 0, 2 * Math.PI);
      else context.roundRect(x - 10, y - 8, 20, 16, 3);
      context.fill();
      context.stroke();
      if (this.narrow && place.kind === "host" && (this.layout?.rows ?? 1) > 2) return;
      this.words(context, place.name, x, y + 24, paint("--faint-text"), "center");
    });
  }

  /** A dropped packet falls at the entrance of the queue; a lost one falls from the wire. */
  private fall(context: CanvasRenderingContext2D, row: number, part: number, colour: string): void {
    const way = this.ways[this.flight.hops.link[row] ?? 0];
    if (!way || part > 1) return;
    const dropped = this.flight.hops.fate[row] === DROPPED;
    const along = dropped ? -way.tank - 8 : this.flight.hops.fate[row] === LOST ? Math.min(30, way.length / 3) : 0;
    const x = way.x0 + Math.cos(way.angle) * along - (dropped ? 10 * part : 0);
    const y = way.y0 + Math.sin(way.angle) * along + 46 * part * part;
    context.save();
    context.globalAlpha = 1 - part * part;
    context.translate(x, y);
    context.rotate(-part * 1.2);
    context.fillStyle = colour;
    context.fillRect(-5, -THICK / 2, 10, THICK);
    context.strokeStyle = dropColour(isDark());
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(-6, -6); context.lineTo(6, 6); context.moveTo(6, -6); context.lineTo(-6, 6);
    context.stroke();
    context.restore();
  }

  private get font(): string {
    return `${this.narrow ? 11 : 12}px system-ui, sans-serif`;
  }

  private words(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string, align: CanvasTextAlign): void {
    context.font = this.font;
    context.textAlign = align;
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = paint("--paper");
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  /** Describes the effect of an ACK. */
  told(row: number): string {
    const { flow, number } = this.flight.hops;
    const which = this.scenario.flows[flow[row] ?? 0];
    const released = this.flight.released(row, which?.forward[0]);
    const gone = released === 0 ? "and releases nothing" : `and releases ${released} segment${released === 1 ? "" : "s"}`;
    const what = this.flight.is(row, DATA) ? "A packet" : `The ACK of segment ${number[row] ?? 0}`;
    return `${what} reaches ${which?.name ?? "the sender"}, ${gone}.`;
  }
}
