/** Conversion between the quantities of scenario files, numbers, and readable text. */

import { RATES, TIMES } from "./protocol.gen.ts";

function read(text: unknown, units: Record<string, number>): number | undefined {
  const match = /^\s*([0-9]+(?:\.[0-9]+)?)\s*(\S+)\s*$/.exec(String(text));
  const unit = match?.[2] === undefined ? undefined : units[match[2]];
  return unit === undefined ? undefined : Number(match?.[1]) * unit;
}

/** Seconds of a time such as `"18 ms"`; undefined for other values. */
export const seconds = (text: unknown): number | undefined => read(text, TIMES);
/** Bit/s of a rate such as `"10 Mbps"`; undefined for other values. */
export const bps = (text: unknown): number | undefined => read(text, RATES);

/** A number with three significant digits and without an exponent, as scenario files write numbers. */
export function digits(value: number, significant = 3): string {
  if (value === 0 || !Number.isFinite(value)) return "0";
  const places = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  const rounded = places > 0 ? value.toFixed(Math.min(places, 12)) : String(Math.round(value));
  return rounded.includes(".") ? rounded.replace(/\.?0+$/, "") : rounded;
}

function scaled(value: number, steps: readonly (readonly [number, string])[], significant: number): string {
  const [factor, unit] = steps.find(([each]) => Math.abs(value) >= each * (1 - 1e-9)) ?? steps[steps.length - 1] ?? [1, ""];
  return `${digits(value / factor, significant)} ${unit}`;
}

const RATE_STEPS = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]] as const;
const TIME_STEPS = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]] as const;

/** A rate as scenario files write it: `10 Mbps`. */
export const rateValue = (rate: number): string => scaled(rate, RATE_STEPS.map(([factor, letter]) => [factor, `${letter}bps`] as const), 4);
/** A rate for display: `10 Mbit/s`. */
export const rateText = (rate: number, significant = 3): string =>
  scaled(rate, RATE_STEPS.map(([factor, letter]) => [factor, `${letter}bit/s`] as const), significant);
/** A time as scenario files write it: `18 ms`. */
export const timeValue = (time: number): string => (time === 0 ? "0 s" : scaled(time, TIME_STEPS, 4));
/** A time for display: `18 ms`, `20 µs`. */
export const timeText = (time: number, significant = 3): string =>
  time === 0 ? "0 s" : scaled(time, TIME_STEPS, significant).replace("us", "µs");

/** A fraction in percent: `2.5 %`. */
export const percent = (share: number, significant = 3): string => `${digits(share * 100, significant)} %`;
/** A whole number with thousands separators. */
export const count = (value: number): string => Math.round(value).toLocaleString("en");
/** Bytes for display. */
export const bytesText = (bytes: number): string => scaled(bytes, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]], 3);
