/** Packets in motion: a player of packet records, fetched span by span. */

import { type Engine, Cancelled } from "./engine.ts";
import { Pace, sized } from "./player/pace.ts";
import { first, trackOf } from "./player/picture.ts";
import { Scene } from "./player/scene.ts";
import type { Track } from "./player/track.ts";
import { dropColour, looks, markColour } from "./palette.ts";
import type { Hops, Scenario } from "./protocol.ts";
import { isDark, onTheme, paint } from "./theme.ts";
import { digits } from "./units.ts";

/** Approximate number of data packets in a span, and its maximum of packet-hops. */
const PACKETS = 6000, MOST_HOPS = 120_000;
/** RTTs in the first picture. */
const FIRST = 2.6;
/** Real seconds per base RTT. */
const PACE_S = 2.5;

const HTML = `
  <canvas role="img" aria-label="Packets on the path"></canvas>
  <div class="motion-bar">
    <button type="button" data-do="play" class="primary">Play</button>
    <button type="button" data-do="back" title="Previous ACK (Shift+A)">◂ ACK</button>
    <button type="button" data-do="step" title="Next ACK (A)">ACK ▸</button>
    <label>Speed <select data-do="speed"></select></label>
    <input type="range" data-do="time" min="0" max="1000" step="1" value="0" aria-label="Time">
    <output></output>
  </div>
  <p class="told" aria-live="polite"></p>`;

export class Motion {
  private scenario: Scenario | null = null;
  private hops: Hops | null = null;
  private track: Track | null = null;
  private scene: Scene | null = null;
  private toml = "";
  private t = 0;
  private from = 0;
  private lit: number | null = null;
  private loading: Promise<void> | null = null;
  private readonly canvas: HTMLCanvasElement;
  private readonly pace: Pace;
  private readonly slider: HTMLInputElement;
  private readonly clock: HTMLOutputElement;
  private readonly told: HTMLElement;
  /** Called with the time shown. */
  moved: (time: number) => void = () => undefined;
  /** Called with errors, for the owner of the scenario to show. */
  failed: (error: unknown) => void = () => undefined;

  constructor(private readonly place: HTMLElement, private readonly engine: Engine) {
    place.innerHTML = HTML;
    const find = <T extends Element>(selector: string): T => {
      const found = place.querySelector<T>(selector);
      if (!found) throw new Error(`no ${selector}`);
      return found;
    };
    this.canvas = find("canvas");
    this.slider = find("input");
    this.clock = find("output");
    this.told = find(".told");
    const play = find<HTMLElement>("[data-do=play]");
    this.pace = new Pace(find("select"), play, (seconds) => this.advance(seconds));
    play.addEventListener("click", () => this.toggle());
    this.listen(find("[data-do=back]"), find("[data-do=step]"));
  }

  get time(): number {
    return this.t;
  }

  get playing(): boolean {
    return this.pace.running;
  }

  /** Shows the packets of a scenario from time `at` on, or from the current time. */
  async show(toml: string, scenario: Scenario, at?: number): Promise<void> {
    const fresh = at !== undefined || this.scenario === null;
    const before = this.scenario;
    this.toml = toml;
    this.scenario = scenario;
    if (fresh || before?.flows[0]?.delay_s !== scenario.flows[0]?.delay_s) this.pace.suit(PACE_S / Math.max(this.roundTrip(), 1e-6));
    const from = Math.min(at ?? this.t, scenario.duration_s * 0.999);
    if (fresh) this.stop();
    await this.load(Math.max(0, fresh ? from : from - this.span() * 0.1));
    if (fresh) this.go(Math.min(from + FIRST * this.roundTrip(), this.until()));
    this.from = from;
  }

  /** Moves to a time, and fetches its packets. */
  async seek(time: number): Promise<void> {
    const { hops } = this;
    if (!hops || !this.scenario) return;
    this.stop();
    const wanted = Math.min(Math.max(time, 0), this.scenario.duration_s);
    if (wanted < hops.from_s || wanted > hops.until_s) await this.load(Math.max(0, wanted - this.roundTrip()));
    this.go(wanted);
  }

  toggle(): void {
    if (this.playing) this.stop();
    else this.play();
  }

  /** Moves to the next or previous ACK to reach a sender. */
  step(forwards: boolean): void {
    this.stop();
    const { track, scenario } = this, found = track?.answer(this.t, forwards);
    if (!found || !track || !scenario) {
      if (forwards && scenario && this.until() < scenario.duration_s) void this.load(this.until()).then(() => this.step(true));
      return;
    }
    this.go(found.time);
    const flow = track.group(found.row), { place, edge } = first(track, scenario, flow), released = track.released(found.row, edge);
    this.lit = place;
    const gone = released === 0 ? "and releases nothing" : `and releases ${released} segment${released === 1 ? "" : "s"}`;
    const { word } = track.kind(found.row), what = word === "ACK of" ? "ACK of segment" : word;
    this.told.textContent = `The ${what} ${track.number(found.row)} reaches ${scenario.flows[flow]?.name ?? "the sender"}, ${gone}.`;
    this.draw();
  }

  faster(by: number): void {
    this.pace.faster(by);
  }

  stop(): void {
    this.pace.stop();
  }

  private listen(back: HTMLButtonElement, on: HTMLButtonElement): void {
    back.addEventListener("click", () => this.step(false));
    on.addEventListener("click", () => this.step(true));
    this.slider.addEventListener("input", () => void this.seek((Number(this.slider.value) / 1000) * (this.scenario?.duration_s ?? 0)));
    new ResizeObserver(() => this.resize()).observe(this.place);
    onTheme(() => this.draw());
  }

  private roundTrip(): number {
    const delays = this.scenario?.flows.map((flow) => flow.delay_s).filter((delay) => delay > 0) ?? [];
    return delays.length > 0 ? Math.min(...delays) : 0.05;
  }

  /** Length of a fetched span, simulated seconds. */
  private span(): number {
    const { scenario } = this;
    if (!scenario) return 0;
    const ways = new Set(scenario.flows.flatMap((flow) => flow.forward));
    const rates = scenario.links.filter((_, index) => ways.has(index)).map((link) => link.rate_bps);
    const packets = Math.min(...rates, 1e12) / 12_000;
    return Math.min(Math.max(PACKETS / packets, 4 * this.roundTrip()), scenario.duration_s);
  }

  private until(): number {
    return this.hops?.until_s ?? 0;
  }

  private async load(from: number): Promise<void> {
    const { toml, scenario } = this;
    if (!scenario) return;
    const until = Math.min(from + this.span(), scenario.duration_s);
    const work = (async () => {
      try {
        const answer = await this.engine.packets(toml, from, until, MOST_HOPS);
        if (toml !== this.toml) return;
        this.scenario = answer.scenario;
        this.hops = answer.hops;
        this.track = trackOf(answer.scenario, answer.hops);
        this.scene = null;
        this.resize();
      } catch (error) {
        if (!(error instanceof Cancelled)) this.failed(error);
      }
    })();
    this.loading = work;
    await work;
    if (this.loading === work) this.loading = null;
  }

  private go(time: number): void {
    this.t = time;
    this.lit = null;
    this.told.textContent = "";
    this.draw();
    this.moved(time);
  }

  private play(): void {
    const { scenario } = this;
    if (!scenario || !this.hops) return;
    if (this.t >= scenario.duration_s) this.t = this.from;
    this.told.textContent = "";
    this.lit = null;
    this.pace.play();
  }

  private advance(seconds: number): boolean {
    const { scenario } = this;
    if (!scenario || this.loading) return scenario !== null;
    this.t = Math.min(this.t + seconds, this.until());
    this.draw();
    this.moved(this.t);
    if (this.t < this.until()) return true;
    if (this.until() >= scenario.duration_s * 0.9999) return false;
    void this.load(this.t);
    return true;
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (!width || !this.track) return this.draw();
    if (this.scene?.width !== width || this.scene.track !== this.track) this.scene = new Scene(this.track, width);
    this.draw();
  }

  private draw(): void {
    const { scenario, scene } = this;
    if (!scenario || !this.hops) return;
    const context = sized(this.canvas, this.place.clientWidth, scene?.height ?? 60);
    if (context && scene) {
      const brush = {
        ink: paint("--text"), paper: paint("--paper"), soft: paint("--line"), accent: paint("--accent"),
        mark: markColour(isDark()), drop: dropColour(isDark()), groups: looks(scenario.flows.map((flow) => flow.algorithm), isDark()).map(({ colour }) => colour),
      };
      scene.draw(context, brush, this.t, this.pace.speed, this.lit);
    } else if (context) {
      context.font = "12px system-ui, sans-serif";
      context.fillStyle = paint("--faint-text");
      context.fillText("The network has too many routers to draw.", 12, 34);
    }
    this.slider.value = String(Math.round((this.t / scenario.duration_s) * 1000));
    this.clock.textContent = `${this.t < 10 ? this.t.toFixed(4) : digits(this.t, 6)} s`;
  }
}
