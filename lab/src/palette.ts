/** Colours of flows: those of `selfclock run`'s reports (python/selfclock/style.py), lighter in dark mode if needed. */

import table from "./palette.json";

export interface Look {
  colour: string;
  /** In matplotlib's notation: `-`, `--`, `:`, `-.`. */
  line: string;
}

const algorithms = table.algorithms as unknown as Record<string, [string, string]>;
const others = table.others as [string, string][];
const lighter = table.lighter as Record<string, string>;

/** CRC-32 (IEEE 802.3), which selects the colour of an algorithm outside the table. */
function crc32(text: string): number {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Colour and line style of an algorithm; `cubic+hystart++` has those of its window. */
export function look(algorithm: string): Look {
  const name = algorithm.split(":", 1)[0] ?? "";
  const found = algorithms[name] ?? algorithms[name.split("+", 1)[0] ?? ""] ?? others[crc32(name) % others.length];
  const [colour, line] = found ?? ["#666666", "-"];
  return { colour, line };
}

const parts = (colour: string): number[] => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** The colour of an algorithm's flow with this number: dark colours get lighter, light ones darker. */
export function shade(colour: string, number: number): string {
  const [red = 0, green = 0, blue = 0] = parts(colour);
  const towards = red * 0.299 + green * 0.587 + blue * 0.114 > 100 ? 0 : 255;
  const amount = table.shades[number % table.shades.length] ?? 0;
  const mixed = [red, green, blue].map((part) => Math.round(part + (towards - part) * amount));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("").toUpperCase()}`;
}

const DASHES: Record<string, number[]> = { "-": [], "--": [7, 4], ":": [2, 3], "-.": [7, 3, 2, 3] };
const LINES = ["-", "--", ":", "-."];

export interface FlowLook {
  colour: string;
  dash: number[];
}

/** Styles of the flows: those of one colour differ in shade and line style. */
export function looks(flows: readonly string[], dark: boolean): FlowLook[] {
  const seen = new Map<string, number>();
  return flows.map((algorithm) => {
    const base = look(algorithm);
    const number = seen.get(base.colour) ?? 0;
    seen.set(base.colour, number + 1);
    const line = number === 0 ? "-" : (LINES[number % LINES.length] ?? "-");
    return { colour: onPaper(shade(base.colour, number), base.colour, dark), dash: DASHES[line] ?? [] };
  });
}

/** In dark mode black becomes the text colour, and dark colours become lighter. */
function onPaper(colour: string, base: string, dark: boolean): string {
  if (!dark) return colour;
  if (base === "#000000") return colour === base ? "#E6E6E6" : shade("#BBBBBB", 1);
  return colour === base ? (lighter[base] ?? colour) : colour;
}

/** Colours of links, drops and CE marks. */
export const LINKS: readonly string[] = table.links;
export const linkColour = (index: number, dark: boolean): string => {
  const colour = LINKS[index % LINKS.length] ?? "#5B6770";
  // The grey of the first link is hardly visible in dark mode.
  return dark && index % LINKS.length === 0 ? "#A9B4BC" : colour;
};
export const dropColour = (dark: boolean): string => (dark ? "#E6E6E6" : table.drop);
export const markColour = (dark: boolean): string => (dark ? "#E0A800" : table.mark);
