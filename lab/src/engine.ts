/** The page's side of the worker: one promise per request; the latest in a lane wins. */

import type { Algorithm, Columns, Hops, Refusal, Reply, Request, Scenario, Step, Summary } from "./protocol.ts";

/** A superseded or stopped request: not an error, without a result. */
export class Cancelled extends Error {}

/** A refused scenario or a failed run. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

export interface Run {
  scenario: Scenario;
  columns: Columns;
  summary: Summary;
  wall_ms: number;
}

interface Waiting {
  reply: (reply: Reply) => void;
  fail: (reason: Error) => void;
}

type Ready = Extract<Reply, { type: "ready" }>;
/** A request without its number. */
type Unnumbered<T> = T extends unknown ? Omit<T, "id"> : never;

export class Engine {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;
  readonly ready: Promise<Ready>;

  constructor(url: URL | string) {
    this.worker = new Worker(url, { type: "module" });
    this.ready = new Promise((resolve, reject) => {
      this.worker.addEventListener("error", () => reject(new Error("The simulator could not be loaded.")));
      this.worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
        if (data.type === "ready") resolve(data);
        else if (data.type === "unavailable") reject(new Error(data.message));
        else this.take(data);
      });
    });
    // Callers see a failure; without a caller it is not an unhandled rejection.
    this.ready.catch(() => undefined);
  }

  get algorithms(): Promise<Algorithm[]> {
    return this.ready.then((ready) => ready.algorithms);
  }

  /** Runs a scenario; rejects with `Cancelled` when a later run of the lane starts. */
  async run(toml: string, lane = "run"): Promise<Run> {
    let scenario: Scenario | undefined;
    let columns: Columns | undefined;
    const end = await this.ask({ type: "run", lane, toml }, (reply) => {
      if (reply.type === "opened") scenario = reply.scenario;
      if (reply.type === "columns") columns = reply;
    });
    if (end.type !== "done" || !scenario || !columns || !end.summary) throw new Error("The simulator gave no result.");
    return { scenario, columns, summary: end.summary, wall_ms: end.wall_ms };
  }

  /** Every packet on every link between two times. */
  async packets(toml: string, from_s: number, until_s: number, most_hops: number): Promise<{ scenario: Scenario; hops: Hops }> {
    let scenario: Scenario | undefined;
    let hops: Hops | undefined;
    await this.ask({ type: "packets", toml, from_s, until_s, most_hops }, (reply) => {
      if (reply.type === "opened") scenario = reply.scenario;
      if (reply.type === "hops") hops = reply.hops;
    });
    if (!scenario || !hops) throw new Error("The simulator gave no packets.");
    return { scenario, hops };
  }

  /** The fingerprint of a run, the same on every machine. */
  async fingerprint(toml: string): Promise<string> {
    const reply = await this.ask({ type: "fingerprint", toml }, undefined, "fingerprint");
    return reply.type === "fingerprint" ? reply.fingerprint : "";
  }

  async schema(): Promise<unknown> {
    const reply = await this.ask({ type: "schema" }, undefined, "schema");
    return reply.type === "schema" ? reply.schema : null;
  }

  /** Opens a run with a flow whose rate is set from outside. */
  async steer(toml: string, flow: string): Promise<Scenario> {
    const reply = await this.ask({ type: "steer", toml, flow }, undefined, "opened");
    if (reply.type !== "opened") throw new Error("The simulator gave no scenario.");
    return reply.scenario;
  }

  /** Advances by `length_s` at a rate on the wire; returns the sender's observations. */
  async step(rate_bps: number, length_s: number): Promise<Step> {
    const reply = await this.ask({ type: "steer-step", rate_bps, length_s }, undefined, "step");
    if (reply.type !== "step") throw new Error("The simulator gave no step.");
    return reply.step;
  }

  /** Ends such a run and returns its result so far. */
  async steerEnd(): Promise<{ columns: Columns; summary: Summary }> {
    let columns: Columns | undefined;
    const reply = await this.ask({ type: "steer-end" }, (each) => {
      if (each.type === "columns") columns = each;
    });
    if (reply.type !== "done" || !reply.summary || !columns) throw new Error("The simulator gave no result.");
    return { columns, summary: reply.summary };
  }

  /** Stops all requests; their promises are rejected with `Cancelled`. */
  cancel(): void {
    for (const id of this.waiting.keys()) this.post({ type: "cancel", id }, () => undefined);
  }

  get busy(): boolean {
    return this.waiting.size > 0;
  }

  private ask(request: Unnumbered<Request>, each?: (reply: Reply) => void, last: Reply["type"] = "done"): Promise<Reply> {
    const id = ++this.last;
    return new Promise<Reply>((resolve, reject) => {
      const fail = (reason: Error): void => {
        this.waiting.delete(id);
        reject(reason);
      };
      const reply = (data: Reply): void => {
        each?.(data);
        if (data.type !== last) return;
        this.waiting.delete(id);
        resolve(data);
      };
      this.waiting.set(id, { reply, fail });
      this.post({ ...request, id } as Request, fail);
    });
  }

  /** Messages wait for the simulator in order: a cancellation must not overtake its request. */
  private post(request: Request, fail: (reason: Error) => void): void {
    this.ready.then(() => this.worker.postMessage(request), fail);
  }

  private take(reply: Reply): void {
    const waiting = this.waiting.get(reply.id);
    if (!waiting) return;
    if (reply.type === "cancelled") waiting.fail(new Cancelled());
    else if (reply.type === "refused") waiting.fail(new Refused(reply.refusal));
    else waiting.reply(reply);
  }
}
