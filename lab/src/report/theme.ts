/** Light and dark themes of a page: the system's, until the reader chooses; paper is white. */

import { the } from "./globals.ts";

const KEY = "selfclock-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const painters: (() => void)[] = [];
let chosen: string | null = null;
let printing = false;
try {
  chosen = localStorage.getItem(KEY);
} catch {
  // A file may have no storage.
}

export const isPrinting = (): boolean => printing;
export const dark = (): boolean => !printing && (chosen ?? (system.matches ? "dark" : "light")) === "dark";
export const onTheme = (paint: () => void): void => void painters.push(paint);

const button = the(".theme");

export function repaint(): void {
  document.documentElement.dataset["theme"] = dark() ? "dark" : "light";
  button.textContent = dark() ? "Light" : "Dark";
  for (const paint of painters) paint();
}

export function print(now: boolean): void {
  printing = now;
  repaint();
}

button.addEventListener("click", () => {
  chosen = dark() ? "light" : "dark";
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Not remembered, then.
  }
  repaint();
});
system.addEventListener("change", repaint);

// Greys are inverted in dark mode; colours denote algorithms and stay.
const grey = (parts: readonly number[]): boolean => Math.max(...parts) - Math.min(...parts) <= 12;
const other = (part: number): number => Math.round(235 - part * 0.8);

/** A colour, or any value with colours in it, for dark paper. */
export function turned(value: unknown): unknown {
  if (typeof value === "string") {
    if (/^#[0-9a-f]{6}$/.test(value)) {
      const parts = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
      return grey(parts) ? `#${other(parts[0] ?? 0).toString(16).padStart(2, "0").repeat(3)}` : value;
    }
    const faint = /^rgba\((\d+),(\d+),(\d+),([\d.]+)\)$/.exec(value), parts = faint?.slice(1, 4).map(Number);
    return faint && parts && grey(parts) ? `rgba(${`${other(parts[0] ?? 0)},`.repeat(3)}${faint[4]})` : value;
  }
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, turned(inner)]));
  }
  return value;
}
