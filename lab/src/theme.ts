/** Light and dark: what the system says, until the reader says otherwise. */

const KEY = "selfclock-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Private windows may have no storage.
    return null;
  }
}

export const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";

function apply(): void {
  const wanted = stored() ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset["theme"] = wanted;
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  try {
    // What the system says needs no memory.
    if ((next === "dark") === system.matches) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    document.documentElement.dataset["theme"] = next;
    for (const listener of listeners) listener();
    return;
  }
  apply();
}

/** Calls `listener` whenever the theme has changed. */
export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

/** Takes the theme from the page around, for figures in other pages. */
export function setTheme(dark: boolean): void {
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function watchTheme(): void {
  system.addEventListener("change", apply);
  apply();
}

/** A colour of the style sheet. */
export const paint = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
