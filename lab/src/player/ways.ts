/** Where the places and links of a picture are on a canvas, in pixels. */

import type { Edge, Track } from "./track.ts";

/** Pixels: of a row of hosts, around a node. */
export const ROW = 30, ROOM = 15;
/** Pixels of a letter. */
export const LETTER = 6.6;

type Point = readonly [number, number];

/** A lane of a cable, on the left in its direction. */
export interface Way {
  points: Point[];
  length: number;
  /** Width of the queue's box; 0 without one. */
  tank: number;
  /** Pixels along it where packets begin and end. */
  start: number;
  end: number;
  /** Position and angle of a distance along it, `aside` pixels beside it. */
  at: (pixels: number, aside?: number) => [number, number, number];
}

export class Ways {
  readonly height: number;
  readonly spots: Point[];
  readonly ways: Way[];
  /** Letters of a host's name. */
  readonly letters: number;
  /** Pixels of a layer; between a cable and its lanes; of a packet of 1500 B across. */
  readonly step: number;
  readonly lane: number;
  readonly thick: number;

  constructor(private readonly track: Track, readonly width: number) {
    const { places, edges, width: layers, height: rows } = track.picture;
    const names = places.filter((place) => place.kind !== "router").map((place) => place.name.length);
    this.letters = Math.min(Math.max(...names, 4), width > 560 ? 18 : 8);
    const margin = 26 + LETTER * this.letters;
    this.step = (width - 2 * margin) / Math.max(layers, 0.6);
    [this.lane, this.thick] = width > 700 ? [9, 12] : [6, 8.5];
    const bends = edges.map((edge) => edge.bend);
    // Room above the first row for a queue's box and its number.
    const needed = edges.filter((_, index) => track.boxed(index)).map((edge) => {
      const row = Math.min(places[edge.a]?.y ?? 0, places[edge.b]?.y ?? 0);
      return this.lane + 2.5 * this.thick + 22 - ROW * row;
    });
    const top = Math.max(24, ...needed, 24 - ROW * Math.min(0, ...bends));
    this.height = top + rows * ROW + 44 + ROW * Math.max(0, ...bends);
    this.spots = places.map((place) => [margin + place.x * this.step, top + place.y * ROW]);
    this.ways = edges.map((edge, index) => this.way(edge, index));
  }

  private way(edge: Edge, index: number): Way {
    const [ax, ay] = this.spots[edge.a] ?? [0, 0], [bx, by] = this.spots[edge.b] ?? [0, 0];
    const steps = edge.bend ? 24 : 1, reach = [0];
    const points = Array.from({ length: steps + 1 }, (_, n): Point => {
      const u = n / steps;
      return [ax + (bx - ax) * u, ay + (by - ay) * u + 4 * u * (1 - u) * edge.bend * ROW];
    });
    const pair = (n: number): [number, number, number, number] => {
      const [x0, y0] = points[n - 1] ?? [0, 0], [x1, y1] = points[n] ?? [0, 0];
      return [x0, y0, x1 - x0, y1 - y0];
    };
    for (let n = 1; n <= steps; n++) {
      const [, , dx, dy] = pair(n);
      reach.push((reach[n - 1] ?? 0) + Math.hypot(dx, dy));
    }
    const length = reach[steps] ?? 0, tank = this.track.boxed(index) ? Math.min(180, length * 0.4) : 0;
    const at = (pixels: number, aside = this.lane): [number, number, number] => {
      let n = 1;
      while (n < steps && (reach[n] ?? 0) < pixels) n++;
      const [x, y, dx, dy] = pair(n), before = reach[n - 1] ?? 0, span = Math.max((reach[n] ?? 0) - before, 1e-9);
      const more = (pixels - before) / span;
      return [x + dx * more + (dy / span) * aside, y + dy * more - (dx / span) * aside, Math.atan2(dy, dx)];
    };
    const start = Math.min(ROOM + (tank ? tank + 4 : 0), length / 2), end = Math.max(length - ROOM, length / 2);
    return { points, length, tank, at, start, end };
  }
}
