/** You are the congestion control: the user sets the sending rate over a hidden link. */

import uPlot from "uplot";
import { button, element } from "./dom.ts";
import { Cancelled, type Engine, Refused } from "./engine.ts";
import { type HiddenLink, hiddenLink, scenarioOf, scoreOf } from "./link.ts";
import { look } from "./palette.ts";
import type { Columns, FlowSummary, Step } from "./protocol.ts";
import { rate, span } from "./series.ts";
import { isDark, paint } from "./theme.ts";
import { digits, percent, timeText } from "./units.ts";

/** Length of a step, in simulated and real seconds. */
const STEP_S = 0.1;
/** Range of rates, Mbit/s, and the factor of an arrow key. */
const LEAST = 0.5, MOST = 50, KEY = 1.12;
const RIVALS = [["CUBIC", "cubic"], ["BBRv3", "bbr3"]] as const;

const ABOUT = `Move the pointer over the plot, or press the arrow keys, to set the rate at which you send. You see what a sender sees: what was
delivered, the RTT, and what was lost. Fill the link, keep the RTT short, lose nothing. The rate changes without notice.`;

/** The user's colour, which no algorithm has. */
const yours = (): string => (isDark() ? "#B788F0" : "#8833DD");

type Row = [time: number, sent: number, delivered: number, rtt: number];

export class Game {
  private link: HiddenLink = hiddenLink(1);
  private rate = 2;
  private rows: Row[] = [];
  private running = false;
  private charts: uPlot[] = [];
  private readonly plots = element("div", { class: "game-plots" });
  private readonly now = element("div", { class: "game-now" });
  private readonly result = element("div", { class: "wide", "aria-live": "polite" });
  private readonly start = button("Start", () => void this.play(), { class: "primary" });
  private readonly seed = element("input", { type: "number", min: 1, max: 9999, step: 1, value: 1, "aria-label": "Number of the link" });
  private readonly slider = element("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": "Sending rate" });
  private readonly keys = (event: KeyboardEvent): void => this.key(event);

  constructor(private readonly place: HTMLElement, private readonly engine: Engine, private readonly leave: () => void) {
    const bar = element("div", { class: "game-bar" }, this.start, element("label", {}, "Link ", this.seed), this.slider, button("Back to the laboratory", () => this.close()));
    place.replaceChildren(element("h2", {}, "You are the congestion control"), element("p", {}, ABOUT), bar, this.now, this.plots, this.result);
    this.slider.addEventListener("input", () => this.set(LEAST * (MOST / LEAST) ** (Number(this.slider.value) / 1000)));
    addEventListener("keydown", this.keys);
    new ResizeObserver(() => this.resize()).observe(this.plots);
    this.set(2);
    this.draw();
    this.tell(null);
    this.start.focus();
  }

  private close(): void {
    this.running = false;
    removeEventListener("keydown", this.keys);
    this.clear();
    this.leave();
  }

  private key(event: KeyboardEvent): void {
    if (event.target === this.seed) return;
    const factor = { ArrowUp: KEY, ArrowRight: KEY, ArrowDown: 1 / KEY, ArrowLeft: 1 / KEY, PageUp: 2, PageDown: 0.5 }[event.key];
    if (event.key === "Escape") this.close();
    if (factor === undefined) return;
    event.preventDefault();
    this.set(this.rate * factor);
  }

  /** Sets the sending rate, Mbit/s. */
  private set(wanted: number): void {
    this.rate = Math.min(Math.max(wanted, LEAST), MOST);
    this.slider.value = String(Math.round((1000 * Math.log(this.rate / LEAST)) / Math.log(MOST / LEAST)));
    this.slider.setAttribute("aria-valuetext", `${digits(this.rate)} Mbit/s`);
    const shown = this.now.querySelector("b");
    if (shown) shown.textContent = `${digits(this.rate)} Mbit/s`;
  }

  private async play(): Promise<void> {
    if (this.running) return this.stop();
    this.link = hiddenLink(Math.min(Math.max(Math.round(this.seed.valueAsNumber || 1), 1), 9999));
    this.rows = [];
    this.result.replaceChildren();
    this.running = true;
    this.start.textContent = "Stop";
    this.draw();
    try {
      await this.engine.steer(scenarioOf(this.link, "you", "cubic"), "you");
      await this.go();
      const { columns, summary } = await this.engine.steerEnd();
      if (this.rows.length >= (this.link.duration_s / STEP_S) * 0.99 && summary.flows[0]) await this.reveal(columns, summary.flows[0]);
      else if (this.place.isConnected) this.result.textContent = "Stopped before the end: no score.";
    } catch (error) {
      if (!(error instanceof Cancelled)) this.result.textContent = error instanceof Refused ? error.refusal.text : String(error);
    } finally {
      this.running = false;
      this.start.textContent = "Play again";
    }
  }

  private stop(): void {
    this.running = false;
  }

  /** Steps in real time until the run is over; a hidden page pauses. */
  private async go(): Promise<void> {
    let due = performance.now();
    while (this.running) {
      const step = await this.engine.step(this.rate * 1e6, STEP_S);
      this.note(step);
      if (step.over) return;
      due = Math.max(due + STEP_S * 1000, performance.now() - 200);
      await new Promise((next) => setTimeout(next, Math.max(0, due - performance.now())));
      while (document.hidden && this.running) await new Promise((next) => setTimeout(next, 200));
    }
  }

  private note(step: Step): void {
    const perSecond = (bytes: number): number => (step.length_s > 0 ? (bytes * 8e-6) / step.length_s : 0);
    this.rows.push([step.now_s, perSecond(step.sent_bytes), perSecond(step.delivered_bytes), step.rtt_s * 1000]);
    this.charts.forEach((chart, index) => chart.setData(this.data(index), false));
    for (const chart of this.charts) chart.redraw();
    this.tell(step);
  }

  private tell(step: Step | null): void {
    const cell = (value: string, what: string): HTMLElement => element("div", {}, element("b", {}, value), what);
    const delivered = step && step.length_s > 0 ? (step.delivered_bytes * 8e-6) / step.length_s : 0;
    const lost = step && step.lost_bytes + step.delivered_bytes > 0 ? step.lost_bytes / (step.lost_bytes + step.delivered_bytes) : 0;
    this.now.replaceChildren(
      cell(`${digits(this.rate)} Mbit/s`, "you send"), cell(`${digits(delivered)} Mbit/s`, "delivered"),
      cell(step && step.rtt_s > 0 ? timeText(step.rtt_s) : "–", "RTT"), cell(percent(lost, 2), "loss now"),
      cell(`${digits(Math.max(0, this.link.duration_s - (step?.now_s ?? 0)), 3)} s`, "left"));
  }

  private data(index: number): uPlot.AlignedData {
    const column = (at: number): number[] => this.rows.map((row) => row[at] ?? 0);
    const visible = (values: number[]): (number | null)[] => values.map((value) => (value > 0 ? value : null));
    return index === 0 ? [column(0), visible(column(1)), visible(column(2))] : [column(0), visible(column(3))];
  }

  private draw(): void {
    this.clear();
    this.charts = [
      this.chart("Rate", "Mbit/s", 260, true, [["you send", yours(), [4, 4]], ["delivered", yours(), []]], this.data(0)),
      this.chart("Round-trip time", "ms", 170, false, [["you", yours(), []]], this.data(1)),
    ];
    const over = this.charts[0]?.over;
    over?.addEventListener("pointermove", (event) => this.point(event));
    over?.addEventListener("pointerdown", (event) => this.point(event));
    if (over) over.style.touchAction = "none";
  }

  private point(event: PointerEvent): void {
    const chart = this.charts[0];
    if (chart && this.running) this.set(chart.posToVal(event.clientY - chart.over.getBoundingClientRect().top, "y"));
  }

  private resize(): void {
    const width = this.plots.clientWidth;
    for (const chart of this.charts) if (width > 0 && width !== chart.width) chart.setSize({ width, height: chart.height });
  }

  private clear(): void {
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    this.plots.replaceChildren();
  }

  private chart(title: string, unit: string, height: number, log: boolean, lines: (readonly [string, string, number[]])[], data: uPlot.AlignedData): uPlot {
    const head = element("header", { class: "game-head" }, element("h3", {}, title, " ", element("span", {}, `(${unit})`)));
    for (const [label, colour, dash] of lines) {
      const line = element("i");
      line.style.borderTop = `3px ${dash.length ? "dashed" : "solid"} ${colour}`;
      head.append(element("span", { class: "chip" }, line, label));
    }
    const box = element("section", { class: "plot" }, head);
    this.plots.append(box);
    const grid = { stroke: paint("--grid"), width: 1 };
    const axis = { stroke: paint("--faint-text"), grid, ticks: grid, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    const high = (_: uPlot, __: number, most: number): [number, number] => [0, Math.max(most * 1.1, 100)];
    return new uPlot({
      width: Math.max(box.clientWidth, 280), height, legend: { show: false }, padding: [8, 12, 0, 0], cursor: { show: false },
      scales: { x: { time: false, range: () => [0, this.link.duration_s] }, y: log ? { distr: 3, range: () => [LEAST, MOST] } : { range: high } },
      axes: [{ ...axis, label: "Time (s)", labelSize: 18, labelGap: 2, size: 30, gap: 4 },
        { ...axis, size: 58, ...(log ? { splits: () => [0.5, 1, 2, 5, 10, 20, 50], values: (_: uPlot, splits: number[]) => splits.map(String), filter: (_: uPlot, splits: number[]) => splits } : {}) }],
      series: [{}, ...lines.map(([label, stroke, dash]) => ({ label, stroke, width: 1.8, points: { show: false }, ...(dash.length ? { dash } : {}) }))],
    }, data, box);
  }

  /** Shows the link, and the results of the two algorithms. */
  private async reveal(columns: Columns, you: FlowSummary): Promise<void> {
    const runs = [];
    for (const [label, algorithm] of RIVALS) {
      const run = await this.engine.run(scenarioOf(this.link, algorithm, algorithm), "rival");
      runs.push({ label, algorithm, columns: run.columns, flow: run.summary.flows[0] });
    }
    const rows = [{ label: "You", colour: yours(), flow: you, columns }, ...runs.map((run) => ({ ...run, colour: look(run.algorithm).colour }))];
    this.table(rows.flatMap((row) => (row.flow ? [{ ...row, flow: row.flow }] : [])));
    this.clear();
    const time = columns.time_s;
    const at = (seconds: number): number => this.link.rates.filter(([since]) => since <= seconds).at(-1)?.[1] ?? 0;
    const smooth = span((time[1] ?? 1) - (time[0] ?? 0), 0.2);
    const goodput = (each: Columns): number[] => Array.from(rate(time, each.flows[0]?.delivered_bytes ?? new Float64Array(time.length), smooth), (value) => Math.max(value, LEAST));
    const rtt = (each: Columns): (number | null)[] => Array.from(each.flows[0]?.srtt_s ?? [], (value) => (Number.isNaN(value) ? null : value * 1000));
    const lines = rows.map((row): [string, string, number[]] => [row.label, row.colour, []]);
    const x = Array.from(time);
    this.charts = [
      this.chart("Goodput", "Mbit/s", 260, true, [["the link", paint("--faint-text"), [2, 3]], ...lines],
        [x, x.map(at), ...rows.map((row) => goodput(row.columns))]),
      this.chart("Round-trip time", "ms", 170, false, lines, [x, ...rows.map((row) => rtt(row.columns))]),
    ];
  }

  private table(rows: { label: string; colour: string; flow: FlowSummary }[]): void {
    const head = ["", "Points", "Goodput", "of the link", "RTT mean", "over the empty path", "Retransmitted"];
    const body = rows.map(({ label, colour, flow }) => {
      const score = scoreOf(this.link, flow);
      const mark = element("i");
      mark.style.background = colour;
      const cells = [String(score.points), `${digits(flow.goodput_bps / 1e6)} Mbit/s`, percent(score.throughput, 3), timeText(flow.rtt_mean_s ?? 0),
        percent(score.delay, 3), percent(score.loss, 2)];
      return element("tr", {}, element("td", {}, mark, label), ...cells.map((text) => element("td", {}, text)));
    });
    const about = `Points: 100 × (goodput as a share of the link − half of the delay relative to the empty path − retransmitted share). The empty path has an RTT of ${this.link.rtt_ms} ms, and the buffer is ${this.link.buffer_bdp} BDP at the first rate.`;
    this.result.replaceChildren(element("table", { class: "score" }, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text))), ...body), element("p", {}, about));
  }
}
