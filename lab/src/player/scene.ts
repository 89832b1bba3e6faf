/** The drawing of a moment: the network, its queues, and the packets on their way. */

import { reducedMotion } from "../theme.ts";
import { type Place, type Track, LOST, at } from "./track.ts";
import { LETTER, ROOM, type Way, Ways } from "./ways.ts";

/** Seconds of real time for which a dropped packet falls. */
const FALL = 0.6;
/** A limit up to this number of packets is always shown, a larger one if the queue comes near. */
const SHORT_QUEUE = 250, FAR_FROM_FULL = 20;

/** Colours of a theme. */
export interface Brush {
  ink: string;
  paper: string;
  soft: string;
  mark: string;
  drop: string;
  /** Of the node that is pointed out. */
  accent: string;
  /** Colours of the groups. */
  groups: readonly string[];
}

const cut = (text: string, letters: number): string =>
  // Elide the middle: names differ at their ends.
  text.length <= letters ? text : `${text.slice(0, Math.max(letters - 3, 1))}…${text.slice(-2)}`;
const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0);

export class Scene {
  private readonly ways: Ways;

  constructor(readonly track: Track, readonly width: number) {
    this.ways = new Ways(track, width);
  }

  get height(): number {
    return this.ways.height;
  }

  /** Draws time `t`; `speed`, in simulated seconds per second, sets the pace of falling packets; `lit` is the place to point out. */
  draw(context: CanvasRenderingContext2D, brush: Brush, t: number, speed: number, lit: number | null = null): void {
    new Drawing(context, this.track, this.ways, brush, t).draw(FALL * speed, lit);
  }
}

/** Writes a text that is legible on any ground. */
export function words(
  c: CanvasRenderingContext2D, brush: Brush, text: string, [x, y]: readonly [number, number], align: CanvasTextAlign = "center",
): void {
  c.textAlign = align;
  c.lineJoin = "round";
  c.lineWidth = 3;
  c.strokeStyle = brush.paper;
  c.strokeText(text, x, y);
  c.fillStyle = brush.ink;
  c.fillText(text, x, y);
}

class Drawing {
  constructor(
    private readonly c: CanvasRenderingContext2D, private readonly track: Track, private readonly ways: Ways,
    private readonly brush: Brush, private readonly t: number,
  ) {
    c.font = `${ways.width > 700 ? 13 : 12}px system-ui, sans-serif`;
  }

  draw(grace: number, lit: number | null): void {
    const { track, t } = this, { places, edges } = track.picture;
    this.ways.ways.forEach((way, index) => this.wire(way, index));
    const waiting = edges.map((): number[] => []), held = places.map(() => 0), falling: number[] = [];
    track.each(t, grace, (row) => {
      const edge = at(track.hops.edge, row), phase = track.phase(row, t), end = edges[edge]?.b ?? 0;
      if (phase === "waiting") waiting[edge]?.push(row);
      else if (phase === "flying") this.packet(row);
      else if (phase === "held") held[end] = at(held, end) + 1;
      else if (phase === "fallen") falling.push(row);
    });
    waiting.forEach((rows, edge) => this.tank(edge, rows));
    places.forEach((place, index) => this.node(place, index, held[index] ?? 0, index === lit));
    for (const row of falling) this.fall(row, (t - at(track.hops.leave, row)) / grace);
  }

  private way(row: number): Way | undefined {
    return this.ways.ways[at(this.track.hops.edge, row)];
  }
  private colour(row: number): string {
    return this.brush.groups[this.track.group(row)] ?? this.brush.ink;
  }
  private words(text: string, x: number, y: number, align: CanvasTextAlign = "center"): void {
    words(this.c, this.brush, text, [x, y], align);
  }

  private wire(way: Way, index: number): void {
    const { c } = this, steps = way.points.length > 2 ? 24 : 1;
    c.strokeStyle = this.brush.soft;
    c.lineWidth = 2;
    c.beginPath();
    for (let n = 0; n <= steps; n++) {
      const [x, y] = way.at(ROOM + ((way.length - 2 * ROOM) * n) / steps);
      if (n) c.lineTo(x, y);
      else c.moveTo(x, y);
    }
    c.stroke();
    // Rate and delay at links between routers, where there is room.
    const edge = this.track.picture.edges[index], place = (end: number | undefined): Place | undefined => this.track.picture.places[end ?? -1];
    if (!edge || place(edge.a)?.kind !== "router" || place(edge.b)?.kind !== "router") return;
    if (c.measureText(edge.about).width > way.end - way.start - 8) return;
    const [x, y] = way.at((way.start + way.end) / 2, this.ways.lane + 16);
    this.words(edge.about, x, y + 4);
  }

  private thickness(row: number): number {
    return this.ways.thick * (0.4 + (0.6 * Math.min(this.track.size(row), 1500)) / 1500);
  }

  private bar([x, y, angle]: readonly [number, number, number], length: number, row: number): void {
    const { c, track } = this, thick = this.thickness(row);
    c.save();
    c.translate(x, y);
    c.rotate(angle);
    c.fillStyle = this.colour(row);
    const before = c.globalAlpha;
    c.globalAlpha = before * (track.kind(row).returns ? 0.8 : 1);
    c.beginPath();
    c.roundRect(-length, -thick / 2, length, thick, Math.min(2, thick / 2, length / 2));
    c.fill();
    c.globalAlpha = before;
    if (track.again(row)) {
      c.strokeStyle = this.brush.ink;
      c.lineWidth = 1.8;
      c.stroke();
    }
    if (track.marked(row, this.t)) {
      c.fillStyle = this.brush.mark;
      c.beginPath();
      c.moveTo(-length / 2, -thick / 2 - 1.5);
      c.lineTo(-length / 2 - 3.5, -thick / 2 - 7);
      c.lineTo(-length / 2 + 3.5, -thick / 2 - 7);
      c.fill();
    }
    c.restore();
  }

  /** A packet on the wire, from its last bit to its first, with a minimum visible length. */
  private packet(row: number): void {
    const way = this.way(row);
    if (!way) return;
    const wire = way.end - way.start, [tail, head] = this.track.extent(row, this.t);
    const length = Math.max((head - tail) * wire, this.thickness(row) * 1.2);
    this.bar(way.at(way.start + Math.max(head * wire, Math.min(length, wire))), length, row);
  }

  /** The queue before a link: the next to leave stands at its end. */
  private tank(edge: number, rows: number[]): void {
    const { c, track, brush, ways } = this, way = ways.ways[edge], capacity = track.capacities[edge];
    if (!way || !capacity) return;
    if (!way.tank) {
      const [x, y] = way.at(ROOM + 4, ways.lane + 12);
      if (rows.length) this.words(`${rows.length}`, x, y + 4);
      return;
    }
    // A packet's share of the limit, and the capacity of the box.
    const { limit, unit, most } = capacity, one = unit === "B" ? 1500 : 1;
    const takes = (row: number): number => (unit === "B" ? track.size(row) : 1);
    const shown = limit !== null && limit > 0 && limit <= Math.max(FAR_FROM_FULL * most, SHORT_QUEUE) * one;
    const room = shown ? limit : Math.max(most, 10), start = track.hops.start;
    // Those that never leave have no order but that of their arrival.
    rows.sort((a, b) => (at(start, a) === at(start, b) ? a - b : at(start, a) - at(start, b)));
    const thick = 2 * ways.thick, inner = way.tank - 2, lane = ways.lane + ways.thick / 2;
    const [x, y, angle] = way.at(ROOM + way.tank, lane + 2 + thick / 2);
    c.save();
    c.translate(x, y);
    c.rotate(angle);
    let place = -1, sum = 0;
    for (const row of rows) {
      const slice = (inner * (shown ? takes(row) : 1)) / room, clear = slice > 3 ? 0.8 : -0.15;
      place -= slice;
      sum += takes(row);
      c.fillStyle = this.colour(row);
      c.fillRect(place, -thick / 2 + 1, slice - clear, thick - 2);
      if (slice > 2 && track.again(row)) {
        c.strokeStyle = brush.ink;
        c.lineWidth = 1.2;
        c.strokeRect(place + 0.6, -thick / 2 + 1.6, slice - 1.8, thick - 3.2);
      }
      if (slice > 2 && track.marked(row, this.t)) {
        c.fillStyle = brush.mark;
        c.fillRect(place, -thick / 2 - 2, slice - clear, 3);
      }
    }
    this.box(way.tank, thick, shown);
    c.restore();
    const [tx, ty] = way.at(ROOM + way.tank / 2, lane + thick + 14);
    const filled = unit === "B" ? `${kilobytes(sum)} / ${kilobytes(limit ?? 0)} kB` : `${sum} / ${limit ?? ""}`;
    this.words(limit ? filled : `${rows.length}`, tx, ty + 4);
  }

  /** A box that ends at the wire: closed and solid if it has room for the limit. */
  private box(long: number, thick: number, closed: boolean): void {
    const { c } = this;
    c.strokeStyle = this.brush.ink;
    c.lineWidth = 1.2;
    c.setLineDash(closed ? [] : [3, 3]);
    c.beginPath();
    c.moveTo(-long, -thick / 2);
    c.lineTo(0, -thick / 2);
    c.lineTo(0, thick / 2);
    c.lineTo(-long, thick / 2);
    if (closed) c.closePath();
    c.stroke();
  }

  /** A dropped packet falls at the entrance of the queue; a lost one from the wire. */
  private fall(row: number, part: number): void {
    const { c, track } = this, way = this.way(row), still = reducedMotion.matches;
    if (!way || part > 1) return;
    const lost = at(track.hops.fate, row) === LOST;
    const [x, y] = lost ? way.at(way.start + (way.end - way.start) * 0.2) : way.at(ROOM + 4, this.ways.lane + 14);
    c.globalAlpha = Math.max(1 - part, 0);
    const drop = still ? 0 : 46 * part * part;
    this.bar([x + 5 + (still ? 0 : 8 * part), y + drop, still ? 0 : 2.4 * part], 10, row);
    c.strokeStyle = this.brush.drop;
    c.lineWidth = 1.6;
    c.beginPath();
    for (const sign of [1, -1]) {
      c.moveTo(x - 4, y + drop - 4 * sign);
      c.lineTo(x + 4, y + drop + 4 * sign);
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  private node(place: Place, index: number, held: number, lit: boolean): void {
    const { c, brush, ways } = this, [x, y] = ways.spots[index] ?? [0, 0];
    c.fillStyle = lit ? brush.accent : brush.paper;
    c.strokeStyle = lit ? brush.accent : brush.ink;
    c.lineWidth = 1.4;
    if (place.kind === "router") {
      c.beginPath();
      c.roundRect(x - 11, y - 11, 22, 22, 5);
      c.fill();
      c.moveTo(x - 6, y - 6);
      c.lineTo(x + 6, y + 6);
      c.moveTo(x + 6, y - 6);
      c.lineTo(x - 6, y + 6);
      c.stroke();
      this.words(cut(place.name, Math.max(Math.floor(ways.step / LETTER) - 1, 6)), x, y + 26);
    } else this.host(place, x, y);
    if (held) this.words(`${held} held`, x, y - 16);
  }

  private host(place: Place, x: number, y: number): void {
    const { c, ways } = this, { width } = this.track.picture, aside = place.kind === "bundle" ? 4 : 0;
    for (const shift of new Set([aside, 0])) {
      c.beginPath();
      c.arc(x + shift, y - shift, 8, 0, 7);
      c.fill();
      c.stroke();
    }
    const left = place.x === 0 || (place.x !== width && (place.x + 0.4) % 1 > 0.5);
    const atAnEnd = place.x === 0 || place.x === width;
    const letters = atAnEnd ? ways.letters : Math.min(ways.letters, Math.max(Math.floor((ways.step - 30) / LETTER), 4));
    this.words(cut(place.name, letters), x + (left ? -14 : 14 + aside), y + 4, left ? "right" : "left");
  }
}

