/** Packets in motion: a player of packet records, fetched span by span. */

import { type Engine, Cancelled } from "./engine.ts";
import { Flight } from "./flight.ts";
import type { Scenario } from "./protocol.ts";
import { Scene } from "./scene.ts";
import { onTheme, reducedMotion } from "./theme.ts";
import { digits } from "./units.ts";

const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
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
  private flight: Flight | null = null;
  private scene: Scene | null = null;
  private toml = "";
  private t = 0;
  private from = 0;
  private running = false;
  private lit: number | null = null;
  private loading: Promise<void> | null = null;
  private readonly canvas: HTMLCanvasElement;
  private readonly speeds: HTMLSelectElement;
  private readonly slider: HTMLInputElement;
  private readonly clock: HTMLOutputElement;
  private readonly told: HTMLElement;
  private readonly button: HTMLButtonElement;
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
    this.speeds = find("select");
    this.slider = find("input");
    this.clock = find("output");
    this.told = find(".told");
    this.button = find("[data-do=play]");
    for (const speed of SPEEDS) this.speeds.add(new Option(speed === 1 ? "real time" : `1/${speed}`, String(speed)));
    this.listen(find("[data-do=back]"), find("[data-do=step]"));
  }

  get time(): number {
    return this.t;
  }

  get playing(): boolean {
    return this.running;
  }

  /** Shows the packets of a scenario from time `at` on, or from the current time. */
  async show(toml: string, scenario: Scenario, at?: number): Promise<void> {
    const fresh = at !== undefined || this.scenario === null;
    const before = this.scenario;
    this.toml = toml;
    this.scenario = scenario;
    if (fresh || before?.flows[0]?.delay_s !== scenario.flows[0]?.delay_s) this.pace();
    const from = Math.min(at ?? this.t, scenario.duration_s * 0.999);
    if (fresh) this.stop();
    await this.load(Math.max(0, fresh ? from : from - this.span() * 0.1));
    if (fresh) this.go(Math.min(from + FIRST * this.roundTrip(), this.until()));
    this.from = from;
  }

  /** Moves to a time, and fetches its packets. */
  async seek(time: number): Promise<void> {
    const { flight } = this;
    if (!flight || !this.scenario) return;
    this.stop();
    const wanted = Math.min(Math.max(time, 0), this.scenario.duration_s);
    if (wanted < flight.hops.from_s || wanted > flight.hops.until_s) await this.load(Math.max(0, wanted - this.roundTrip()));
    this.go(wanted);
  }

  toggle(): void {
    if (this.running) this.stop();
    else this.play();
  }

  /** Moves to the next or previous ACK to reach a sender. */
  step(forwards: boolean): void {
    this.stop();
    const found = this.flight?.ack(this.t, forwards);
    if (!found || !this.flight || !this.scene) {
      if (forwards && this.scenario && this.until() < this.scenario.duration_s) void this.load(this.until()).then(() => this.step(true));
      return;
    }
    this.go(found.time);
    this.lit = this.flight.hops.flow[found.row] ?? null;
    this.told.textContent = this.scene.told(found.row);
    this.draw();
  }

  faster(by: number): void {
    this.speeds.selectedIndex = Math.min(Math.max(this.speeds.selectedIndex - by, 0), SPEEDS.length - 1);
  }

  stop(): void {
    this.running = false;
    this.button.textContent = "Play";
  }

  private listen(back: HTMLButtonElement, on: HTMLButtonElement): void {
    this.button.addEventListener("click", () => this.toggle());
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
    return this.flight?.hops.until_s ?? 0;
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
        this.flight = new Flight(answer.hops);
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

  /** A speed at which a round trip can be followed. */
  private pace(): void {
    const wanted = PACE_S / Math.max(this.roundTrip(), 1e-6);
    const nearest = SPEEDS.reduce((a, b) => (Math.abs(Math.log(a / wanted)) < Math.abs(Math.log(b / wanted)) ? a : b));
    this.speeds.value = String(nearest);
  }

  private get speed(): number {
    return 1 / Number(this.speeds.value);
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
    if (!scenario || !this.flight) return;
    if (this.t >= scenario.duration_s) this.t = this.from;
    this.running = true;
    this.button.textContent = "Pause";
    this.told.textContent = "";
    this.lit = null;
    let before = performance.now();
    const frame = (now: number): void => {
      if (!this.running) return;
      requestAnimationFrame(frame);
      // With reduced motion the picture changes twice a second.
      if (this.loading || (reducedMotion.matches && now - before < 500)) {
        if (this.loading) before = now;
        return;
      }
      const passed = Math.min(now - before, reducedMotion.matches ? 600 : 100) / 1000;
      before = now;
      this.t = Math.min(this.t + passed * this.speed, this.until());
      this.draw();
      this.moved(this.t);
      if (this.t < this.until()) return;
      if (this.until() >= scenario.duration_s * 0.9999) this.stop();
      else void this.load(this.t);
    };
    requestAnimationFrame(frame);
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (!width || !this.flight || !this.scenario) return;
    if (this.scene?.width !== width || this.scene.flight !== this.flight) this.scene = new Scene(this.scenario, this.flight, width);
    const ratio = Math.max(devicePixelRatio || 1, 1.5);
    const [wide, high] = [Math.round(width * ratio), Math.round(this.scene.height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
      this.canvas.style.height = `${this.scene.height}px`;
    }
    this.draw();
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context || !this.scene || !this.scenario) return;
    const ratio = this.canvas.width / this.scene.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scene.draw(context, this.t, this.speed, this.lit);
    this.slider.value = String(Math.round((this.t / this.scenario.duration_s) * 1000));
    this.clock.textContent = `${this.t < 10 ? this.t.toFixed(4) : digits(this.t, 6)} s`;
  }
}
