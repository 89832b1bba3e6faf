/** The replay of a report: a canvas with the network and its packets, a strip with windows and a queue, controls. */

import { Pace, sized } from "../player/pace.ts";
import { type Brush, Scene, words } from "../player/scene.ts";
import { type Columns, type Edge, type Group, type Kind, type Packets, type Place, Track, after, at } from "../player/track.ts";
import { paint } from "../theme.ts";
import { unpacked } from "./packed.ts";

/** What a page carries beside the columns. */
interface Document {
  /** Times are whole ticks since the origin, seconds. */
  origin: number;
  tick: number;
  begin: number;
  end: number;
  /** The least round-trip time; 0 if unknown. */
  rtt: number;
  /** What `window` is. */
  quantity: string;
  layout: { places: Place[]; width: number; height: number };
  edges: Edge[];
  groups: (Group & { colour: string; window: [number[], number[]] | null })[];
  kinds: Kind[];
  /** Name, type and length of each column. */
  columns: [string, "Uint32Array" | "Uint16Array" | "Uint8Array", number][];
}

interface Curve {
  colour: string;
  times: readonly number[];
  values: readonly number[];
  /** Whether values last until the next. */
  step?: boolean;
}

/** Null time in the columns. */
const NEVER = 2 ** 32 - 1;
/** Pixels of a panel of the strip, and between its top and bottom. */
const PANEL = 74, HIGH = 52;

function trackOf(document: Document, buffer: ArrayBuffer): Track {
  const { origin, tick, layout, edges, groups, kinds } = document;
  const columns = new Map<string, Uint32Array | Uint16Array | Uint8Array>();
  let offset = 0;
  for (const [name, type, length] of document.columns) {
    const kind = { Uint32Array, Uint16Array, Uint8Array }[type], end = offset + length * kind.BYTES_PER_ELEMENT;
    columns.set(name, new kind(buffer.slice(offset, end)));
    offset = end;
  }
  const column = (name: string): Uint32Array | Uint16Array | Uint8Array => columns.get(name) ?? new Uint8Array();
  const seconds = (ticks: number): number => (ticks >= NEVER ? Infinity : origin + ticks * tick);
  const [enters, starts, sents, arrives, leaves] = ["enter", "start", "sent", "arrive", "leave"].map(column);
  const times = (): Float64Array => new Float64Array(enters?.length ?? 0);
  const hops: Columns = { packet: column("packet"), edge: column("edge"), fate: column("fate"), enter: times(), start: times(), sent: times(), arrive: times(), leave: times() };
  const of = (ticks: ArrayLike<number> | undefined, row: number): number => at(ticks ?? [], row);
  for (let row = 0, enter = 0; row < hops.enter.length; row++) {
    enter += of(enters, row);
    const start = enter + of(starts, row), arrive = start + of(arrives, row);
    hops.enter[row] = seconds(enter);
    hops.start[row] = seconds(start);
    hops.sent[row] = seconds(start + of(sents, row));
    hops.arrive[row] = seconds(arrive);
    hops.leave[row] = seconds(arrive + of(leaves, row));
  }
  const packets: Packets = {
    group: column("group"), kind: column("kind"), size: column("size"), number: column("number"), again: column("again"),
    marked: Float64Array.from(column("marked"), seconds),
  };
  return new Track({ ...layout, edges, groups, kinds }, hops, packets, document.begin, document.end);
}

class Player {
  track!: Track;
  /** The time shown. */
  t = 0;
  /** The longest queue. */
  queues: { edge: Edge; times: number[]; lengths: number[] }[] = [];
  private document!: Document;
  private scene: Scene | null = null;
  private brush!: Brush;
  private printing = false;
  private fresh = true;
  private readonly canvas: HTMLCanvasElement;
  private readonly strip: HTMLCanvasElement;
  private readonly slider: HTMLInputElement;
  private readonly clock: HTMLElement;
  private readonly speeds: HTMLSelectElement;
  private readonly counts: Element[];
  private readonly pace: Pace;
  readonly told: HTMLElement;

  constructor(private readonly place: HTMLElement) {
    this.canvas = this.find(".motion-scene");
    this.strip = this.find(".motion-strip");
    this.slider = this.find("input[type=range]");
    this.clock = this.find("output");
    this.speeds = this.find("select");
    this.told = this.find(".motion-told");
    this.counts = [...place.querySelectorAll(".motion-counts li span")];
    this.pace = new Pace(this.speeds, this.find(".motion-play"), (seconds) => {
      this.t = Math.min(this.t + seconds, this.track.until);
      this.draw();
      return this.t < this.track.until;
    });
  }

  private find<T extends Element = HTMLElement>(selector: string): T {
    const found = this.place.querySelector<T>(selector);
    if (!found) throw new Error(`no ${selector}`);
    return found;
  }

  async load(): Promise<void> {
    const packed = (name: string): Promise<ArrayBuffer> => unpacked(this.find(name).textContent).arrayBuffer();
    const [text, numbers] = await Promise.all([packed(".motion-document"), packed(".motion-columns")]);
    this.document = JSON.parse(new TextDecoder().decode(text)) as Document;
    const track = (this.track = trackOf(this.document, numbers)), { rtt } = this.document, { edges, places } = track.picture;
    const queues = edges.map((edge, index) => ({ edge, index, most: track.capacities[index]?.most ?? 0, host: Number(places[edge.a]?.kind !== "router") }));
    const [longest] = queues.filter(({ most }) => most >= 3).sort((a, b) => a.host - b.host || b.most - a.most);
    this.queues = longest ? [{ ...longest, ...track.queue(longest.index) }] : [];
    this.pace.suit(rtt > 0 ? 3 / rtt : 30 / (track.until - track.from));
    // The first picture shows a busy moment; playing starts at the beginning.
    this.t = this.busiest();
    this.listen();
    this.resize();
    this.place.dataset["drawn"] = "yes";
  }

  private busiest(): number {
    const { track } = this;
    const moments = Array.from({ length: 120 }, (_, n) => {
      const t = track.from + ((track.until - track.from) * n) / 120;
      let count = 0;
      track.each(t, 0, () => count++);
      return { t, count };
    });
    const most = Math.max(...moments.map(({ count }) => count));
    return moments.find(({ count }) => count >= 0.7 * most)?.t ?? track.from;
  }

  private listen(): void {
    const click = (name: string, act: () => void): void => this.find(name).addEventListener("click", act);
    click(".motion-play", () => this.toggle());
    click(".motion-back", () => this.step(-1));
    click(".motion-on", () => this.step(1));
    this.slider.addEventListener("input", () => this.go(this.track.from + ((this.track.until - this.track.from) * Number(this.slider.value)) / 1000));
    for (const kind of ["pointerdown", "pointermove"] as const) {
      this.strip.addEventListener(kind, (event) => {
        if (kind === "pointerdown" || event.buttons & 1) this.go(this.time(event.offsetX));
      });
    }
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.speeds.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.place);
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    for (const [kind, printing] of [["beforeprint", true], ["afterprint", false]] as const) {
      addEventListener(kind, () => {
        this.printing = printing;
        this.draw();
      });
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.target === this.speeds || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, until } = this.track, far = (until - from) / 100;
    const acts: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowRight: () => (event.shiftKey ? this.go(this.t + far) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.go(this.t - far) : this.step(-1)),
      ArrowUp: () => this.faster(1),
      ArrowDown: () => this.faster(-1),
      Home: () => this.go(from),
      End: () => this.go(until),
    };
    const act = acts[event.key];
    if (!act || (event.key === " " && event.target instanceof Element && event.target.closest("button:not(.motion-play)"))) return;
    event.preventDefault();
    act();
  }

  private faster(by: number): void {
    this.pace.faster(by);
    this.draw();
  }

  private go(t: number): void {
    this.fresh = false;
    this.t = Math.min(Math.max(t, this.track.from), this.track.until);
    this.told.textContent = "";
    this.draw();
  }

  /** Goes to the next or previous packet event. */
  private step(by: 1 | -1): void {
    this.pace.stop();
    const { moments } = this.track, next = after(moments, this.t);
    const moment = moments[by > 0 ? next : next - (moments[next - 1] === this.t ? 2 : 1)];
    if (moment === undefined) return;
    this.go(moment);
    const told = this.track.told(moment);
    this.told.textContent = told.slice(0, 3).join("; ") + (told.length > 3 ? `; and ${told.length - 3} more` : "");
  }

  private toggle(): void {
    if (this.pace.running) return this.pace.stop();
    if (this.fresh || this.t >= this.track.until) this.go(this.track.from);
    this.told.textContent = "";
    this.pace.play();
  }

  private resize(): void {
    const width = this.canvas.parentElement?.clientWidth;
    if (!width) return;
    if (this.scene?.width !== width) this.scene = new Scene(this.track, width);
    this.draw();
  }

  private get panels(): ("window" | "queue")[] {
    return [...(this.document.groups.some((group) => group.window) ? ["window" as const] : []), ...this.queues.map(() => "queue" as const)];
  }

  /** Draws the time shown. */
  draw(): void {
    const { track, scene } = this;
    if (!scene) return;
    const style = (name: string, or: string): string => (this.printing ? or : paint(name)) || or;
    const ink = style("--text", "#1b1b1b");
    // Black is also an algorithm's colour; in dark mode it becomes the text colour.
    const groups = this.document.groups.map(({ colour }) => (colour === "#000000" ? ink : colour));
    this.brush = { ink, paper: style("--paper", "#ffffff"), soft: style("--line", "#cccccc"), mark: ink, drop: ink, accent: ink, groups };
    const context = sized(this.canvas, scene.width, scene.height);
    if (context) scene.draw(context, this.brush, this.t, this.pace.speed);
    this.drawStrip(scene.width);
    this.slider.value = String(Math.round(((this.t - track.from) / (track.until - track.from)) * 1000));
    this.clock.textContent = `${this.t.toFixed(6)} s`;
    const { delivered, dropped, lost } = track.totals(this.t);
    this.counts.forEach((place, group) => {
      const gone = at(dropped, group) + at(lost, group);
      place.textContent = `${at(delivered, group).toLocaleString("en")} delivered${gone ? `, ${gone.toLocaleString("en")} lost` : ""}`;
    });
  }

  /** Pixels of the strip. */
  private get frame(): { left: number; right: number } {
    return { left: 46, right: (this.scene?.width ?? 0) - 12 };
  }
  private time(x: number): number {
    const { left, right } = this.frame, { from, until } = this.track;
    return from + ((until - from) * (x - left)) / (right - left);
  }

  private drawStrip(width: number): void {
    const { panels, brush } = this, { left, right } = this.frame, { from, until } = this.track;
    const c = sized(this.strip, width, 26 + PANEL * panels.length);
    if (!c) return;
    c.font = `${width > 700 ? 13 : 12}px system-ui, sans-serif`;
    const x = (t: number): number => left + ((right - left) * (t - from)) / (until - from);
    panels.forEach((panel, index) => {
      const top = 18 + index * PANEL, bottom = top + HIGH, curves = this.curves(panel);
      const high = Math.max(1, ...curves.map(({ values }) => values.reduce((a, b) => Math.max(a, b), 0)));
      c.strokeStyle = brush.soft;
      c.lineWidth = 1;
      c.strokeRect(left, top, right - left, bottom - top);
      const name = panel === "window" ? `${this.document.quantity} (segments)` : `queue of ${this.queues[0]?.edge.name ?? ""} (packets)`;
      words(c, brush, name, [left + 2, top - 5], "left");
      words(c, brush, high.toFixed(high < 10 && high % 1 ? 1 : 0), [left - 4, top + 9], "right");
      words(c, brush, "0", [left - 4, bottom], "right");
      for (const curve of curves) drawCurve(c, curve, x, (value) => bottom - (HIGH * value) / high);
    });
    const bottom = 18 + panels.length * PANEL - (PANEL - HIGH);
    for (let n = 0; n <= 4; n++) {
      const t = from + ((until - from) * n) / 4;
      words(c, brush, `${Number(t.toPrecision(4))}${n === 4 ? " s" : ""}`, [x(t), bottom + 16], n === 4 ? "right" : n ? "center" : "left");
    }
    c.strokeStyle = brush.ink;
    c.lineWidth = 1.6;
    c.beginPath();
    c.moveTo(x(this.t), 14);
    c.lineTo(x(this.t), bottom);
    c.stroke();
  }

  private curves(panel: "window" | "queue"): Curve[] {
    if (panel === "queue") return this.queues.map(({ times, lengths }) => ({ colour: this.brush.ink, times, values: lengths, step: true }));
    return this.document.groups.flatMap(({ window }, group) => {
      const [times, values] = window ?? [];
      return times && values ? [{ colour: this.brush.groups[group] ?? this.brush.ink, times, values }] : [];
    });
  }
}

/** A line through the maximum of each pixel column. */
function drawCurve(c: CanvasRenderingContext2D, { colour, times, values, step }: Curve, x: (t: number) => number, y: (value: number) => number): void {
  c.strokeStyle = colour;
  c.lineWidth = 1.4;
  c.beginPath();
  let column = -Infinity, most = 0, before = y(values[0] ?? 0);
  times.forEach((t, n) => {
    const here = Math.floor(x(t) * 2) / 2, value = values[n] ?? 0;
    most = here === column ? Math.max(most, value) : value;
    if (!n) c.moveTo(x(t), y(most));
    else {
      if (step && here !== column) c.lineTo(x(t), before);
      c.lineTo(x(t), y(most));
    }
    before = y(value);
    column = here;
  });
  c.stroke();
}

type Stage = HTMLElement & { player?: Player };

async function load(place: Stage): Promise<void> {
  const player = (place.player = new Player(place));
  try {
    await player.load();
  } catch (error) {
    player.told.textContent = "This browser cannot show the replay; use one from 2023 or later.";
    throw error;
  }
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    watcher.unobserve(entry.target);
    void load(entry.target as Stage);
  }
}, { rootMargin: "400px" });
for (const place of document.querySelectorAll(".motion")) watcher.observe(place);
addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll<Stage>(".motion:not([data-drawn])")) if (!place.player) void load(place);
});
