/** Four plots with a common time axis and cursor. */

import uPlot from "uplot";
import { linkColour, looks } from "./palette.ts";
import type { Columns, Scenario } from "./protocol.ts";
import { type Panel, type Series, seriesOf } from "./series.ts";
import { isDark, onTheme, paint } from "./theme.ts";
import { digits } from "./units.ts";

const HEIGHT = { window: 150, rate: 150, rtt: 130, queue: 130 };
/** Width of the left axis, in pixels, equal in all plots. */
const AXIS = 58;

interface Drawn {
  panel: Panel;
  chart: uPlot;
  head: HTMLElement;
  readout: HTMLElement;
  playhead: HTMLElement;
}

let groups = 0;

export class Plots {
  private drawn: Drawn[] = [];
  private scenario: Scenario | null = null;
  private columns: Columns | null = null;
  private shape = "";
  private readonly hidden = new Set<string>();
  private readonly key = `plots-${++groups}`;
  private at: number | null = null;
  /** Called with a time chosen by click or Enter. */
  seek: (time: number) => void = () => undefined;

  /** `only` names the panels to draw; all by default. */
  constructor(private readonly place: HTMLElement, private readonly legend: HTMLElement, private readonly only?: readonly string[]) {
    onTheme(() => this.rebuild());
    new ResizeObserver(() => this.resize()).observe(place);
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", "Plots. Arrow keys move the cursor, plus and minus zoom, 0 shows everything, Enter moves the packets there.");
    place.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Draws a result; plots with the same lines keep their zoom. */
  show(scenario: Scenario, columns: Columns): void {
    const before = this.columns;
    this.scenario = scenario;
    this.columns = columns;
    const series = this.series();
    const shape = JSON.stringify([scenario.flows.map((flow) => [flow.name, flow.algorithm]), series.panels.map((panel) => panel.lines.map((line) => line.of))]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(series);
      return;
    }
    const end = scenario.duration_s;
    const last = before?.time_s[before.time_s.length - 1];
    this.drawn.forEach((each, index) => {
      const panel = series.panels[index];
      if (!panel) return;
      each.panel = panel;
      const { min, max } = each.chart.scales["x"] ?? {};
      const whole = min == null || max == null || (min <= 0 && max >= (last ?? 0) * 0.999);
      each.chart.batch(() => {
        each.chart.setData(data(series, panel), false);
        each.chart.setScale("x", whole ? { min: 0, max: end } : { min: min ?? 0, max: Math.min(max ?? end, end) });
      });
    });
    this.mark(this.at);
  }

  /** Shows or hides the playing time. */
  mark(time: number | null): void {
    this.at = time;
    for (const { chart, playhead } of this.drawn) {
      const left = time === null ? -1 : chart.valToPos(time, "x");
      playhead.hidden = time === null || !(left >= 0 && left <= chart.over.clientWidth);
      if (!playhead.hidden) playhead.style.transform = `translateX(${left}px)`;
    }
  }

  /** The plots and the legend, as on the screen, on one canvas. */
  picture(title: string): HTMLCanvasElement {
    const ratio = devicePixelRatio || 1;
    const wide = Math.max(...this.drawn.map(({ chart }) => chart.ctx.canvas.width));
    const high = this.drawn.reduce((sum, { chart }) => sum + chart.ctx.canvas.height + 24 * ratio, 56 * ratio);
    const canvas = Object.assign(document.createElement("canvas"), { width: wide + 16 * ratio, height: high });
    const context = canvas.getContext("2d");
    if (!context) return canvas;
    context.fillStyle = paint("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    const write = (text: string, x: number, y: number, size: number, colour: string, weight = 400): number => {
      context.font = `${weight} ${size * ratio}px system-ui, sans-serif`;
      context.fillStyle = colour;
      context.fillText(text, x, y);
      return context.measureText(text).width;
    };
    write(title, 8 * ratio, 20 * ratio, 15, paint("--text"), 600);
    let x = 8 * ratio;
    for (const [index, { colour }] of this.flowLooks().entries()) {
      const flow = this.scenario?.flows[index];
      if (!flow || x > canvas.width - 80 * ratio) break;
      context.fillStyle = colour;
      context.fillRect(x, 34 * ratio, 14 * ratio, 4 * ratio);
      x += 20 * ratio;
      x += write(named(flow.name, flow.algorithm), x, 41 * ratio, 12, paint("--text")) + 18 * ratio;
    }
    let y = 56 * ratio;
    for (const { panel, chart } of this.drawn) {
      write(`${panel.title} (${panel.unit})`, 8 * ratio, y + 14 * ratio, 13, paint("--text"), 600);
      y += 20 * ratio;
      context.drawImage(chart.ctx.canvas, 0, y);
      y += chart.ctx.canvas.height + 4 * ratio;
    }
    return canvas;
  }

  private series(): Series {
    if (!this.scenario || !this.columns) throw new Error("nothing to draw");
    const series = seriesOf(this.scenario, this.columns);
    return this.only ? { ...series, panels: series.panels.filter((panel) => this.only?.includes(panel.name)) } : series;
  }

  private rebuild(): void {
    if (this.scenario && this.columns) this.build(this.series());
  }

  private flowLooks(): { colour: string; dash: number[] }[] {
    return looks(this.scenario?.flows.map((flow) => flow.algorithm) ?? [], isDark());
  }

  private build(series: Series): void {
    for (const { chart, head } of this.drawn) {
      chart.destroy();
      head.parentElement?.remove();
    }
    this.place.replaceChildren();
    this.drawn = series.panels.map((panel, index) => this.chart(series, panel, index === series.panels.length - 1));
    this.writeLegend();
    this.mark(this.at);
  }

  private chart(series: Series, panel: Panel, last: boolean): Drawn {
    const box = document.createElement("section");
    box.className = "plot";
    box.dataset["panel"] = panel.name;
    const head = document.createElement("header");
    const title = document.createElement("h3");
    title.append(panel.title, " ");
    const unit = document.createElement("span");
    unit.textContent = `(${panel.unit})`;
    title.append(unit);
    const readout = document.createElement("output");
    head.append(title, readout);
    box.append(head);
    this.place.append(box);
    const flows = this.flowLooks();
    const colour = (of: number): { colour: string; dash: number[] } =>
      panel.of === "flow" ? (flows[of] ?? { colour: "#666666", dash: [] }) : { colour: linkColour(of, isDark()), dash: [] };
    const options: uPlot.Options = {
      width: Math.max(box.clientWidth, 200),
      height: HEIGHT[panel.name] + (last ? 30 : 0),
      legend: { show: false },
      padding: [8, 12, 0, 0],
      cursor: { sync: { key: this.key, setSeries: false }, drag: { x: true, y: false, setScale: true }, points: { size: 6 }, focus: { prox: -1 } },
      scales: { x: { time: false, range: (_, low, high) => [low, high] }, y: { range: (_, __, high) => [0, high > 0 ? high * 1.08 : 1] } },
      axes: [axis(last, "Time (s)"), { ...axis(true), size: AXIS, space: 30, values: (_, splits) => splits.map((value) => (value >= 1e4 ? `${digits(value / 1e3)}k` : digits(value))) }],
      series: [{}, ...panel.lines.map((line) => {
        const { colour: stroke, dash } = colour(line.of);
        return { stroke, width: 1.6, points: { show: false }, spanGaps: false, show: !this.hidden.has(`${panel.of}-${line.of}`), ...(dash.length ? { dash } : {}) };
      })],
      hooks: { setCursor: [(chart) => this.read(chart, panel, readout)], setScale: [(_, key) => key === "x" && this.mark(this.at)] },
    };
    const chart = new uPlot(options, data(series, panel), box);
    chart.setScale("x", { min: 0, max: this.scenario?.duration_s ?? 1 });
    const playhead = document.createElement("i");
    playhead.className = "playhead";
    playhead.hidden = true;
    chart.over.append(playhead);
    this.clicks(chart);
    const drawn: Drawn = { panel, chart, head, readout, playhead };
    return drawn;
  }

  /** A click without dragging chooses a time. */
  private clicks(chart: uPlot): void {
    let down = -1;
    chart.over.addEventListener("pointerdown", (event) => (down = event.clientX));
    chart.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) < 3) this.seek(chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x"));
    });
  }

  private read(chart: uPlot, panel: Panel, place: HTMLElement): void {
    const at = chart.cursor.idx;
    const drawn = this.drawn.find((each) => each.chart === chart);
    place.replaceChildren();
    if (at == null || (chart.cursor.left ?? -1) < 0) return;
    const flows = this.flowLooks();
    const time = document.createElement("b");
    time.textContent = `${digits(chart.data[0][at] ?? 0, 4)} s`;
    place.append(time);
    for (const line of (drawn?.panel ?? panel).lines.slice(0, 6)) {
      const value = line.values[at];
      const text = document.createElement("span");
      text.style.color = panel.of === "flow" ? (flows[line.of]?.colour ?? "") : linkColour(line.of, isDark());
      text.textContent = value === undefined || Number.isNaN(value) ? "–" : digits(value, 4);
      text.title = (panel.of === "flow" ? this.scenario?.flows[line.of]?.name : this.scenario?.links[line.of]?.name) ?? "";
      place.append(text);
    }
  }

  private writeLegend(): void {
    const scenario = this.scenario;
    if (!scenario) return;
    const flows = this.flowLooks();
    const shown = this.drawn.find(({ panel }) => panel.of === "flow")?.panel.lines ?? [];
    const queues = this.drawn.find(({ panel }) => panel.of === "link")?.panel.lines ?? [];
    const chips = shown.map(({ of }) => {
      const flow = scenario.flows[of];
      return this.chip(`flow-${of}`, named(flow?.name ?? "", flow?.algorithm ?? ""), flows[of]?.colour ?? "", (flows[of]?.dash.length ?? 0) > 0);
    });
    const links = queues.map(({ of }) => this.chip(`link-${of}`, `queue of ${scenario.links[of]?.name ?? ""}`, linkColour(of, isDark()), false));
    const series = scenario.flows.filter((flow) => !flow.connections && flow.payload_bytes !== null).length;
    const more = document.createElement("small");
    if (series > shown.length && shown.length > 0) more.textContent = `The first ${shown.length} of ${series} flows are drawn.`;
    this.legend.replaceChildren(...chips, ...links, more);
  }

  private chip(key: string, text: string, colour: string, dashed: boolean): HTMLElement {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip";
    const line = document.createElement("i");
    line.style.borderTop = `3px ${dashed ? "dashed" : "solid"} ${colour}`;
    button.append(line, text);
    button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
    button.addEventListener("click", () => {
      if (!this.hidden.delete(key)) this.hidden.add(key);
      button.setAttribute("aria-pressed", String(!this.hidden.has(key)));
      for (const { panel, chart } of this.drawn) {
        panel.lines.forEach((line, index) => {
          if (`${panel.of}-${line.of}` === key) chart.setSeries(index + 1, { show: !this.hidden.has(key) });
        });
      }
    });
    return button;
  }

  private resize(): void {
    for (const { chart, head } of this.drawn) {
      const width = head.parentElement?.clientWidth ?? 0;
      if (width > 0 && Math.abs(width - chart.width) > 1) chart.setSize({ width, height: chart.height });
    }
    this.mark(this.at);
  }

  private pressed(event: KeyboardEvent): void {
    const [first] = this.drawn;
    if (!first || event.ctrlKey || event.metaKey || event.altKey) return;
    const { chart } = first;
    const { min = 0, max = 1 } = chart.scales["x"] ?? {};
    const low = min ?? 0, high = max ?? 1;
    const cursor = chart.cursor.left != null && chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : (low + high) / 2;
    const step = (high - low) / (event.shiftKey ? 20 : 200);
    const zoom = (factor: number): void => {
      const end = this.scenario?.duration_s ?? high;
      const from = Math.max(0, cursor - (cursor - low) * factor), to = Math.min(end, cursor + (high - cursor) * factor);
      for (const each of this.drawn) each.chart.setScale("x", { min: from, max: to });
    };
    const move = (time: number): void => {
      const left = chart.valToPos(Math.min(Math.max(time, low), high), "x");
      chart.setCursor({ left, top: 10 });
    };
    const acts: Record<string, () => void> = {
      ArrowRight: () => move(cursor + step), ArrowLeft: () => move(cursor - step), Home: () => move(low), End: () => move(high),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => zoom(1e9), Enter: () => this.seek(cursor),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

const named = (name: string, algorithm: string): string => (name === algorithm ? name : `${name} · ${algorithm}`);

function data(series: Series, panel: Panel): uPlot.AlignedData {
  const gaps = (values: Float64Array): ArrayLike<number | null> => (values.some(Number.isNaN) ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values);
  return [series.time, ...panel.lines.map((line) => gaps(line.values))] as unknown as uPlot.AlignedData;
}

function axis(shown: boolean, label?: string): uPlot.Axis {
  const ink = paint("--faint-text"), grid = { stroke: paint("--grid"), width: 1 };
  const common = { stroke: ink, grid, ticks: { ...grid, size: 4 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", gap: 4 };
  return shown ? { ...common, ...(label ? { label, labelSize: 18, size: 26, labelGap: 0 } : {}) } : { ...common, size: 4, values: (_, splits) => splits.map(() => "") };
}
