/** Charts, drawn from the top: those in view first, the others when idle. */

import { type Axis, type Chart, the } from "./globals.ts";
import { read, unpack, unpacked } from "./packed.ts";
import { dark, isPrinting, turned } from "./theme.ts";

type Table = Record<string, unknown>;
interface Drawing {
  data: Table[];
  layout: Table;
}

/** A chart of the page. */
interface Stage {
  place: HTMLElement;
  within: HTMLElement;
  buffer: ArrayBuffer | null;
  drawing: Drawing | null;
  refused: boolean;
}

/** Width between the margins of A4 or Letter paper, in pixels. */
const SHEET = 680;
/** Keys of traces that hold colours. */
const LOOKS = new Set(["line", "marker", "fillcolor"]);

const stages: Stage[] = [...document.querySelectorAll<HTMLElement>(".chart")].map((place) => ({
  place, within: the("div", place), buffer: null, drawing: null, refused: false,
}));
const isDrawn = ({ place }: Stage): boolean => Boolean(place.dataset["drawn"]);
const isOpen = (stage: Stage): boolean => !isDrawn(stage) && !stage.refused;

function dressed({ data, layout }: Drawing): Drawing {
  const style = getComputedStyle(document.documentElement), colour = (name: string): string => style.getPropertyValue(name).trim();
  // Plotly fails on keys whose value is undefined.
  const drawn = (trace: Table): Table => Object.fromEntries(Object.entries(trace).map(([key, value]) => [key, LOOKS.has(key) ? turned(value) : value]));
  const page: Table = {
    ...layout, paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"),
    font: { color: colour("--text"), family: "system-ui, sans-serif", size: 12 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--text") },
    hoverlabel: { bgcolor: colour("--soft"), font: { color: colour("--text") }, namelength: -1 },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
  };
  if (isPrinting()) page["width"] = SHEET;
  if (dark()) Object.assign(page, { shapes: turned(layout["shapes"] ?? []), annotations: turned(layout["annotations"] ?? []) });
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) {
    page[name] = { ...(layout[name] as Table), gridcolor: colour("--grid"), linecolor: colour("--line"), spikecolor: colour("--text") };
  }
  return { data: dark() ? data.map(drawn) : data, layout: page };
}

function draw(stage: Stage): void {
  if (!stage.buffer || !window.Plotly) return;
  stage.drawing ??= read(stage.buffer) as Drawing;
  const { data, layout } = dressed(stage.drawing);
  window.Plotly.react(stage.within, data, layout, {
    responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"], plotlyServerURL: "",
  });
  if (!isDrawn(stage)) follow(stage.within as Chart);
  stage.place.dataset["drawn"] = "yes";
}

function refuse(stage: Stage): void {
  stage.refused = true;
  stage.within.textContent = "This browser cannot draw the chart; use one from 2023 or later.";
}

function attempt(stage: Stage): void {
  try {
    draw(stage);
  } catch (error) {
    refuse(stage);
    throw error;
  }
}

/** Columns side by side that show the same x have one cursor. */
function follow(chart: Chart): void {
  const axes = (): Axis[] => Object.entries(chart._fullLayout).filter(([key]) => /^xaxis\d*$/.test(key)).map(([, axis]) => axis as Axis);
  if (axes().length < 2 || !axes().slice(1).every((axis) => axis.matches)) return;
  const cursors = axes().map(() => Object.assign(document.createElement("div"), { className: "cursor", hidden: true }));
  chart.append(...cursors);
  chart.on("plotly_hover", ({ xvals, points: [point] }) => {
    if (!point) return;
    axes().forEach((axis, number) => {
      const at = axis._offset + axis.c2p(xvals?.[0] ?? point.x), cursor = cursors[number], { t, h } = chart._fullLayout._size;
      if (!cursor) return;
      cursor.hidden = axis === point.xaxis || at < axis._offset || at > axis._offset + axis._length;
      Object.assign(cursor.style, { left: `${at}px`, top: `${t}px`, height: `${h}px` });
    });
  });
  chart.on("plotly_unhover", () => cursors.forEach((cursor) => (cursor.hidden = true)));
}

async function library(): Promise<void> {
  const script = document.createElement("script");
  script.nonce = the<HTMLScriptElement>("script[nonce]").nonce;
  script.textContent = await unpack(the("#library").textContent);
  document.head.append(script);
}

/** All charts are unpacked early, so that they can be drawn at once for printing. */
export function begin(): void {
  // While a frame's document is open, the page counts as loading, so printing waits for the charts.
  const frame = Object.assign(document.createElement("iframe"), { hidden: true });
  document.body.append(frame);
  frame.contentDocument?.open();
  const loaded = library(), inView = new Set<Stage>();
  let waiting = false;
  // One per frame: the first figure is visible before the next is drawn.
  const drawInView = (): void => {
    const next = stages.find((stage) => inView.has(stage) && isOpen(stage));
    if (waiting || !next?.buffer || !window.Plotly) return;
    attempt(next);
    waiting = true;
    requestAnimationFrame(() => setTimeout(() => {
      waiting = false;
      drawInView();
    }));
  };
  const ready = new Map(stages.map((stage) => [stage.place as Element, (async (): Promise<void> => {
    stage.buffer = await unpacked(the("script", stage.place).textContent).arrayBuffer();
    await loaded;
  })()]));
  const watcher = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((one) => one.isIntersecting)) {
      const stage = stages.find(({ place }) => place === target);
      if (stage) inView.add(stage);
      void ready.get(target)?.then(drawInView);
    }
  }, { rootMargin: "400px" });
  // Safari has no idle callbacks.
  const later = (work: () => void): void => void ("requestIdleCallback" in window ? requestIdleCallback(work) : setTimeout(work, 50));
  const rest = (): void => {
    const next = stages.find(isOpen);
    if (next && !waiting) attempt(next);
    if (next) later(rest);
  };
  stages.forEach(({ place }) => watcher.observe(place));
  const all = Promise.all([loaded, ...ready.values()]).catch((error: unknown) => {
    stages.forEach(refuse);
    throw error;
  }).finally(() => {
    frame.contentDocument?.close();
    frame.remove();
  });
  void all.then(() => later(() => later(rest)));
}

/** Draws the charts that are drawn again, in another theme. */
export function redraw(): void {
  stages.filter(isDrawn).forEach(attempt);
}

/** Draws the charts that are not drawn yet. */
export function complete(): void {
  stages.filter((stage) => stage.buffer && !isDrawn(stage)).forEach(attempt);
}
