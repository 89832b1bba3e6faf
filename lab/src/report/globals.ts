/** What the scripts of a page share. */

/** For scripts of parts of a page. */
export interface Selfclock {
  unpack: (text: string) => Promise<string>;
  unpackDocument: (text: string) => Promise<unknown>;
  dark: () => boolean;
  /** Registers a function to call when the theme changes. */
  onTheme: (paint: () => void) => void;
}

/** What of the chart library is used. */
export interface Axis {
  matches?: string;
  _offset: number;
  _length: number;
  c2p: (value: number) => number;
}
export interface Chart extends HTMLElement {
  _fullLayout: Record<string, unknown> & { _size: { t: number; h: number } };
  on: (event: string, act: (seen: { xvals?: number[]; points: { x: number; xaxis: Axis }[] }) => void) => void;
}
interface Plotly {
  react: (place: HTMLElement, data: unknown, layout: unknown, config: unknown) => void;
}

declare global {
  interface Window {
    selfclock: Selfclock;
    Plotly?: Plotly;
  }
}

/** The first element that matches; throws if there is none. */
export function the<T extends Element = HTMLElement>(selector: string, within: ParentNode = document): T {
  const found = within.querySelector<T>(selector);
  if (!found) throw new Error(`no ${selector}`);
  return found;
}
