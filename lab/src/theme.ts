/** Light and dark themes: the system's, until the user chooses. */

const KEY = "selfclock-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Private windows may lack storage.
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
    // The system's theme is not stored.
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

/** Follows the theme of the surrounding page, for embedded figures. */
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
