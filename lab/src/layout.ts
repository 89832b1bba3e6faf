/** Layout of a network: layers from left to right in the order in which data passes them. */

import type { Scenario } from "./protocol.ts";

export interface Place {
  name: string;
  /** 0 (left) to 1 (right). */
  x: number;
  /** Rows below the middle. */
  y: number;
  kind: "host" | "router" | "bundle";
}

/** A link between two places; the links of a bundle are drawn as one. */
export interface Wire {
  from: number;
  to: number;
  /** Carries data behind a router: its queue is drawn as a box. */
  boxed: boolean;
}

export interface Layout {
  places: Place[];
  /** For each link of the scenario; null if no flow uses it. */
  wires: (Wire | null)[];
  /** Largest number of rows in a layer. */
  rows: number;
}

/** Number of hosts drawn individually per layer. */
const MOST_HOSTS = 6;
/** Widths between two layers, with and without a drawn queue. */
const WIDE = 1, NARROW = 0.42;

/** Layer of each node on a flow's path: its hops on the longest path, with hosts just before their router. */
function layersOf(ways: readonly string[][]): Map<string, number> {
  const layer = new Map<string, number>();
  for (const way of ways) for (const node of way) layer.set(node, 0);
  // As many rounds as the longest possible path, which also ends cycles.
  for (let round = 0, moved = true; moved && round < layer.size; round++) {
    moved = false;
    for (const way of ways) {
      way.forEach((node, index) => {
        const before = index > 0 ? (layer.get(way[index - 1] ?? "") ?? 0) : -1;
        if ((layer.get(node) ?? 0) <= before) {
          layer.set(node, before + 1);
          moved = true;
        }
      });
    }
  }
  for (const way of ways) {
    const [first, second] = way;
    const entered = ways.some((each) => each.indexOf(first ?? "") > 0);
    if (first !== undefined && second !== undefined && !entered) layer.set(first, (layer.get(second) ?? 1) - 1);
  }
  return layer;
}

/** A picture of the flows' paths; null with more than `most` routers, too many to be readable. */
export function layoutOf(scenario: Scenario, most = 14): Layout | null {
  const node = (link: number | undefined, end: "from" | "to"): string => scenario.links[link ?? -1]?.[end] ?? "";
  const ways = scenario.flows.map(({ forward }) => [node(forward[0], "from"), ...forward.map((link) => node(link, "to"))]);
  const layer = layersOf(ways);
  const ends = new Set(ways.flatMap((way) => [way[0] ?? "", way[way.length - 1] ?? ""]));
  const inner = new Set(ways.flatMap((way) => way.slice(1, -1)));
  if (inner.size > most) return null;
  const hosts = (at: number): string[] => [...layer].filter(([name, number]) => number === at && ends.has(name) && !inner.has(name)).map(([name]) => name);
  const depth = Math.max(0, ...layer.values());
  const places: Place[] = [];
  const layers: number[] = [];
  const placeOf = new Map<string, number>();
  const add = (name: string, kind: Place["kind"], at: number, nodes: string[]): void => {
    for (const each of nodes) placeOf.set(each, places.length);
    places.push({ name, x: 0, y: 0, kind });
    layers.push(at);
  };
  for (let at = 0; at <= depth; at++) {
    const here = hosts(at);
    for (const name of inner) if (layer.get(name) === at) add(name, "router", at, [name]);
    if (here.length <= MOST_HOSTS) for (const name of here) add(name, "host", at, [name]);
    else add(`${here.length} hosts`, "bundle", at, here);
  }
  const used = new Set(scenario.flows.flatMap((flow) => [...flow.forward, ...flow.reverse]));
  const data = new Set(scenario.flows.flatMap((flow) => flow.forward));
  const wires = scenario.links.map((link, index): Wire | null => {
    const from = placeOf.get(link.from), to = placeOf.get(link.to);
    if (!used.has(index) || from === undefined || to === undefined) return null;
    const limited = link.limit_packets !== null || link.limit_bytes !== null;
    const boxed = data.has(index) && limited && (inner.has(link.from) || inner.size === 0);
    return { from, to, boxed };
  });
  return { places, wires, rows: spread(places, layers, wires) };
}

/** Sets each place's x, by the widths between layers, and its row; returns the largest number of rows. */
function spread(places: Place[], layers: readonly number[], wires: readonly (Wire | null)[]): number {
  const depth = Math.max(0, ...layers);
  const gaps = Array.from({ length: depth }, (_, at) => (wires.some((wire) => wire?.boxed && layers[wire.from] === at) ? WIDE : NARROW));
  const whole = gaps.reduce((sum, gap) => sum + gap, 0) || 1;
  let reach = 0, most = 1;
  for (let at = 0; at <= depth; at++) {
    const here = places.filter((_, index) => layers[index] === at);
    here.forEach((place, row) => {
      place.x = reach / whole;
      place.y = row - (here.length - 1) / 2;
    });
    most = Math.max(most, here.length);
    reach += gaps[at] ?? 0;
  }
  return most;
}
