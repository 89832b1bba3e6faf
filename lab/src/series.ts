/** The lines of the plots, computed from sampled columns. */

import type { Columns, Link, Scenario } from "./protocol.ts";

/** One line of a plot. */
export interface Line {
  /** Index of the flow or of the link. */
  of: number;
  values: Float64Array;
}

export interface Panel {
  name: "window" | "rate" | "rtt" | "queue";
  title: string;
  unit: string;
  of: "flow" | "link";
  lines: Line[];
}

export interface Series {
  time: Float64Array;
  panels: Panel[];
}

/** Largest number of lines that can be distinguished. */
export const MOST_LINES = 24;
/** Largest number of queues drawn, the longest ones. */
const MOST_QUEUES = 3;

/** Samples over which a rate is averaged: at least ten, a hundredth of most runs, and at least two base RTTs, each of which delivers a window of data. */
export function span(interval_s: number, round_trip_s: number): number {
  return interval_s > 0 ? Math.max(10, Math.ceil((2 * round_trip_s) / interval_s)) : 10;
}

/** Mbit/s from cumulative bytes, averaged over preceding samples. */
export function rate(time: Float64Array, bytes: Float64Array, samples: number): Float64Array {
  const values = new Float64Array(time.length);
  for (let at = 0; at < time.length; at++) {
    const before = at - samples;
    const since = before < 0 ? 0 : (time[before] ?? 0);
    const had = before < 0 ? 0 : (bytes[before] ?? 0);
    values[at] = (((bytes[at] ?? 0) - had) * 8e-6) / ((time[at] ?? 0) - since);
  }
  return values;
}

const scaled = (values: Float64Array, factor: number): Float64Array => values.map((value) => value * factor);

/** The links whose queues are plotted, the longest first: those with a limit, or else those that held more than two packets. */
export function queuesOf(scenario: Scenario, columns: Columns): number[] {
  const longest = (index: number): number => columns.links[index]?.queue_packets.reduce((a, b) => Math.max(a, b), 0) ?? 0;
  const ways = new Set(scenario.flows.flatMap((flow) => flow.forward));
  const rows = scenario.links.map((link, index) => ({ link, index, most: longest(index) })).filter(({ index }) => ways.has(index));
  const limited = (link: Link): boolean => link.limit_packets !== null || link.limit_bytes !== null;
  const bounded = rows.filter(({ link }) => limited(link));
  const used = bounded.filter(({ most }) => most > 0);
  const found = (used.length > 0 ? used : bounded.length > 0 ? bounded : rows.filter(({ most }) => most > 2)).sort((a, b) => b.most - a.most || a.index - b.index);
  return found.slice(0, MOST_QUEUES).map(({ index }) => index);
}

export function seriesOf(scenario: Scenario, columns: Columns): Series {
  const time = columns.time_s;
  const interval = time.length > 1 ? (time[1] ?? 0) - (time[0] ?? 0) : 0;
  const flows = columns.flows.flatMap((values, of) => (values ? [{ of, values, flow: scenario.flows[of] }] : [])).slice(0, MOST_LINES);
  const lines = (value: (each: (typeof flows)[number]) => Float64Array): Line[] => flows.map((each) => ({ of: each.of, values: value(each) }));
  return {
    time,
    panels: [
      { name: "window", title: "Congestion window", unit: "segments", of: "flow",
        lines: lines(({ values, flow }) => scaled(values.cwnd_bytes, 1 / (flow?.payload_bytes ?? 1448))) },
      { name: "rate", title: "Goodput", unit: "Mbit/s", of: "flow",
        lines: lines(({ values, flow }) => rate(time, values.delivered_bytes, span(interval, flow?.delay_s ?? 0))) },
      { name: "rtt", title: "Round-trip time", unit: "ms", of: "flow", lines: lines(({ values }) => scaled(values.srtt_s, 1000)) },
      { name: "queue", title: "Queue", unit: "packets", of: "link",
        lines: queuesOf(scenario, columns).map((of) => ({ of, values: columns.links[of]?.queue_packets ?? new Float64Array(time.length) })) },
    ],
  };
}

/** The series as comma-separated values: a row for each sample, a column for each quantity of each flow and link. */
export function csv(scenario: Scenario, columns: Columns): string {
  const quoted = (name: string): string => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  const names = ["time_s"];
  const values: Float64Array[] = [columns.time_s];
  const add = (owner: string, table: Record<string, Float64Array> | null | undefined): void => {
    for (const [quantity, column] of Object.entries(table ?? {})) {
      names.push(quoted(`${owner}.${quantity}`));
      values.push(column);
    }
  };
  scenario.flows.forEach((flow, index) => add(flow.name, columns.flows[index]));
  scenario.links.forEach((link, index) => add(link.name, columns.links[index]));
  const rows = [names.join(",")];
  for (let at = 0; at < columns.time_s.length; at++) {
    rows.push(values.map((column) => (Number.isNaN(column[at]) ? "" : String(column[at]))).join(","));
  }
  return `${rows.join("\n")}\n`;
}
