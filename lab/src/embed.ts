/** Live figures in other pages: a still image in `<div class="live" data-live="...">` becomes plots and packets when visible. */

import { element } from "./dom.ts";
import { Engine } from "./engine.ts";
import { Motion } from "./motion.ts";
import { Plots } from "./plots.ts";
import { setTheme } from "./theme.ts";

/** Settings of a figure, from `data-live`. */
interface Figure {
  panels: string[];
  motion: boolean;
  /** Scenarios to choose from, by the text of their buttons. */
  variants: { label: string; toml: string }[];
}

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : location.href;
let engine: Engine | null = null;

/** One worker for all figures of a page. */
const shared = (): Engine => (engine ??= new Engine(new URL("worker.js", script)));

async function enliven(place: HTMLElement): Promise<void> {
  const figure = JSON.parse(place.dataset["live"] ?? "") as Figure;
  const simulator = shared();
  // Without the simulator the still image stays.
  await simulator.ready;
  const tabs = element("div", { class: "live-tabs", role: "group", "aria-label": "Variants" });
  const legend = element("div", { class: "legend" }), charts = element("div"), moving = element("div", { class: "motion" });
  const live = element("div", { class: "live-figure" }, ...(figure.variants.length > 1 ? [tabs] : []), ...(figure.motion ? [moving] : []), legend, charts);
  const plots = new Plots(charts, legend, figure.panels);
  const motion = figure.motion ? new Motion(moving, simulator) : null;
  if (motion) {
    motion.moved = (time) => plots.mark(time);
    plots.seek = (time) => void motion.seek(time);
  }
  const show = async (index: number): Promise<void> => {
    const variant = figure.variants[index];
    if (!variant) return;
    [...tabs.children].forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === index)));
    // Figures of a page run in turn; none supersedes another.
    const run = await simulator.run(variant.toml, `figure-${place.id}-${index}`);
    plots.show(run.scenario, run.columns);
    await motion?.show(variant.toml, run.scenario, 0);
  };
  figure.variants.forEach(({ label }, index) => {
    const tab = element("button", { type: "button" }, label);
    tab.addEventListener("click", () => void show(index));
    tabs.append(tab);
  });
  place.append(live);
  place.classList.add("is-live");
  await show(0).catch((error: unknown) => {
    live.remove();
    place.classList.remove("is-live");
    throw error;
  });
}

function theme(): void {
  const dark = (): boolean => document.body.dataset["mdColorScheme"] === "slate";
  setTheme(dark());
  new MutationObserver(() => setTheme(dark())).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
}

function begin(): void {
  const places = document.querySelectorAll<HTMLElement>("div.live[data-live]");
  // Pages opened as files cannot load a worker; their images stay still.
  if (places.length === 0 || location.protocol === "file:") return;
  theme();
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      seen.unobserve(entry.target);
      enliven(entry.target as HTMLElement).catch(() => undefined);
    }
  }, { rootMargin: "300px" });
  places.forEach((place, index) => {
    place.id ||= `live-${index + 1}`;
    seen.observe(place);
  });
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
