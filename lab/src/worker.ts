/**
 * Simulates in slices, so that messages are processed within some 20 ms. Requests take turns; the newest of a lane supersedes the others.
 */

import { Core, Refused, buffers, failed } from "./core.ts";
import type { Limits } from "./core.ts";
import type { Reply, Request, Scenario } from "./protocol.ts";

/** Length of a slice: a cancellation, due within 100 ms, waits for one or two. */
const SLICE_MS = 12;
/** Events of the first slice; its duration sets the size of later ones. */
const FIRST_EVENTS = 5_000;
/** Some ten seconds in a browser of 2026. */
const MOST_PACKET_HOPS = 200e6;
/** The same, before the speed of this browser is known. */
const PACKET_HOPS_PER_S = 15e6;
const MOST_HOPS = 250_000;

type Of<Type extends Request["type"]> = Extract<Request, { type: Type }>;

/** A request in progress: each `next` runs a slice. */
interface Job {
  id: number;
  lane: string;
  slices: Generator<void, void>;
}

let packetHopsPerS = PACKET_HOPS_PER_S;

function limits(request: { most_packet_hops?: number }): Limits {
  return { most_packet_hops: request.most_packet_hops ?? MOST_PACKET_HOPS, packet_hops_per_s: packetHopsPerS };
}

function send(reply: Reply, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, { transfer });
}

class Worker {
  readonly #core: Core;
  #jobs: Job[] = [];
  #steered: { run: number } | null = null;
  readonly #turn = new MessageChannel();
  /** Whether a slice is scheduled. */
  #woken = false;

  constructor(core: Core) {
    this.#core = core;
    // A message to this worker queues behind the page's; browsers clamp timers to 4 ms.
    this.#turn.port1.onmessage = () => this.#slice();
    send({ type: "ready", id: 0, ...core.about() });
  }

  hear(request: Request): void {
    switch (request.type) {
      case "cancel":
        return this.#cancel((job) => job.id === request.id);
      case "steer":
      case "steer-step":
      case "steer-end":
      case "schema":
      case "check":
        return this.#guard(request.id, () => this.#now(request));
      default: {
        const lane = request.lane ?? request.type;
        this.#cancel((job) => job.lane === lane);
        this.#jobs.push({ id: request.id, lane, slices: this.#work(request) });
        this.#wake();
      }
    }
  }

  /** One message at a time: more would delay a cancellation. */
  #wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    this.#turn.port2.postMessage(null);
  }

  #cancel(which: (job: Job) => boolean): void {
    const [stopped, others] = [this.#jobs.filter(which), this.#jobs.filter((job) => !which(job))];
    this.#jobs = others;
    for (const job of stopped) {
      this.#guard(job.id, () => {
        job.slices.return();
        send({ type: "cancelled", id: job.id });
      });
    }
  }

  #guard(id: number, work: () => void): void {
    try {
      work();
    } catch (error) {
      send({ type: "refused", id, refusal: error instanceof Refused ? error.refusal : failed(String(error)) });
    }
  }

  /** Runs one slice of the next job. */
  #slice(): void {
    this.#woken = false;
    const job = this.#jobs.shift();
    if (!job) return;
    this.#guard(job.id, () => {
      if (!job.slices.next().done) this.#jobs.push(job);
    });
    if (this.#jobs.length > 0) this.#wake();
  }

  #work(request: Of<"run"> | Of<"packets"> | Of<"fingerprint">): Generator<void, void> {
    switch (request.type) {
      case "run": return this.#run(request);
      case "packets": return this.#packets(request);
      case "fingerprint": return this.#fingerprint(request);
    }
  }

  /** Advances a run to its end, yields after each slice, and frees it when cancelled. */
  *#advance(run: number, between: (now_s: number) => void): Generator<void, number> {
    let events = FIRST_EVENTS;
    let busy = 0;
    try {
      for (;;) {
        const before = performance.now();
        const { finished, now_s } = this.#core.advance(run, Math.round(events));
        const took = performance.now() - before;
        busy += took;
        if (finished) break;
        events *= Math.min(4, Math.max(0.25, SLICE_MS / Math.max(took, 0.1)));
        between(now_s);
        yield;
      }
      run = 0;
      return busy;
    } finally {
      if (run > 0) this.#core.close(run);
    }
  }

  *#run(request: Of<"run">): Generator<void, void> {
    const begin = performance.now();
    const { run, scenario } = this.#core.open(request, limits(request));
    send({ type: "opened", id: request.id, scenario });
    let shown = performance.now();
    const busy = yield* this.#advance(run, (now_s) => {
      if (request.every_ms === undefined || performance.now() - shown < request.every_ms) return;
      const columns = this.#core.columns(run);
      send({ type: "columns", id: request.id, now_s, finished: false, ...columns }, buffers(columns));
      shown = performance.now();
    });
    const { summary, ...columns } = this.#core.finish(run);
    const reply = { id: request.id, now_s: summary.simulated_s, finished: true, ...columns };
    send({ type: "columns", ...reply }, buffers(columns));
    send({ type: "done", id: request.id, summary, wall_ms: performance.now() - begin });
    // Short runs are not representative: the module is still being compiled.
    if (busy > 50) packetHopsPerS = (summary.packet_hops / busy) * 1000;
  }

  *#packets(request: Of<"packets">): Generator<void, void> {
    const begin = performance.now();
    const { from_s, until_s, most_hops = MOST_HOPS } = request;
    const packets = { from_s, until_s, most_hops };
    const { run, scenario } = this.#core.open(request, limits(request), { packets });
    send({ type: "opened", id: request.id, scenario });
    yield* this.#advance(run, () => {});
    const hops = this.#core.hops(run);
    send({ type: "hops", id: request.id, hops }, buffers(hops));
    send({ type: "done", id: request.id, summary: null, wall_ms: performance.now() - begin });
  }

  *#fingerprint(request: Of<"fingerprint">): Generator<void, void> {
    const { run, scenario } = this.#core.open(request, limits(request));
    send({ type: "opened", id: request.id, scenario });
    yield* this.#advance(run, () => {});
    send({ type: "fingerprint", id: request.id, fingerprint: this.#core.fingerprint(run) });
  }

  /** Answers requests that need no slices. */
  #now(request: Of<"steer" | "steer-step" | "steer-end" | "schema" | "check">): void {
    const { id } = request;
    switch (request.type) {
      case "schema": return send({ type: "schema", id, schema: this.#core.schema() });
      case "check": return send({ type: "opened", id, scenario: this.#core.check(request, limits({})) });
      case "steer": return send({ type: "opened", id, scenario: this.#steer(request) });
      case "steer-step": {
        const { run } = this.#steering();
        const step = this.#core.step(run, request.rate_bps, request.length_s, request.window_segments);
        send({ type: "step", id, step });
        if (!request.columns) return;
        const columns = this.#core.columns(run);
        return send({ type: "columns", id, now_s: step.now_s, finished: step.over, ...columns }, buffers(columns));
      }
      case "steer-end": {
        const { run } = this.#steering();
        this.#steered = null;
        const { summary, ...columns } = this.#core.finish(run);
        send({ type: "columns", id, now_s: summary.simulated_s, finished: true, ...columns }, buffers(columns));
        return send({ type: "done", id, summary, wall_ms: 0 });
      }
    }
  }

  #steer(request: Of<"steer">): Scenario {
    if (this.#steered) this.#core.close(this.#steered.run);
    this.#steered = null;
    const { run, scenario } = this.#core.open(request, limits(request), { steer: request.flow });
    this.#steered = { run };
    return scenario;
  }

  #steering(): { run: number } {
    if (!this.#steered) throw new Refused(failed("no flow is controlled from outside: send \"steer\" first"));
    return this.#steered;
  }
}

async function start(): Promise<void> {
  const early: Request[] = [];
  self.onmessage = (message: MessageEvent<Request>) => early.push(message.data);
  try {
    const response = await fetch(new URL("selfclock.wasm", self.location.href));
    if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
    // Compiled from bytes, so that servers without the type application/wasm also work.
    const worker = new Worker(await Core.create(await WebAssembly.compile(await response.arrayBuffer())));
    self.onmessage = (message: MessageEvent<Request>) => worker.hear(message.data);
    early.forEach((request) => worker.hear(request));
  } catch (error) {
    send({ type: "unavailable", id: 0, message: `the simulator could not be loaded: ${String(error)}` });
  }
}

void start();
