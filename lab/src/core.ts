/** The WebAssembly module: requests in, JSON and typed arrays out. */

import type { Algorithm, Columns, Hops, Refusal, Scenario, ScenarioText, Step, Summary } from "./protocol.ts";

interface Exports {
  memory: WebAssembly.Memory;
  input(length: number): number;
  call(): void;
  json(): number;
  json_length(): number;
  arrays(): number;
  arrays_length(): number;
  panic(): number;
  panic_length(): number;
}

/** Limits of a run, and the speed of this browser. */
export interface Limits {
  most_packet_hops: number;
  packet_hops_per_s: number;
}

export interface Progress {
  finished: boolean;
  now_s: number;
  duration_s: number;
}

export interface About {
  version: string;
  algorithms: Algorithm[];
  queues: string[];
}

/** A refusal by the simulator. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.text);
  }
}

type Slot = { array: "f64" | "u32" | "u8"; at: number; length: number };

const TYPES = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };
const NO_MEMORY = "out of memory in the browser; shorten the run or lengthen record.interval";

/** WebAssembly integers are signed: an address beyond 2 GiB arrives as a negative number. */
const unsigned = (value: number): number => value >>> 0;

function isSlot(value: unknown): value is Slot {
  return typeof value === "object" && value !== null && "array" in value && "at" in value;
}

/** The refusal of a run that failed at no particular place in the scenario. */
export function failed(message: string): Refusal {
  return { kind: "failed", text: message, message, help: "", key: "", line: null, column: null, source: "" };
}

/** The module with its runs. A trap restarts it and discards all runs in progress. */
export class Core {
  readonly #module: WebAssembly.Module;
  #exports: Exports;

  private constructor(module: WebAssembly.Module, instance: WebAssembly.Instance) {
    this.#module = module;
    this.#exports = instance.exports as unknown as Exports;
  }

  static async create(module: WebAssembly.Module): Promise<Core> {
    return new Core(module, await WebAssembly.instantiate(module, {}));
  }

  about(): About {
    return this.#ask("about") as About;
  }
  schema(): unknown {
    return this.#ask("schema");
  }
  check(scenario: ScenarioText, limits: Limits): Scenario {
    return this.#ask({ check: { scenario: text(scenario), limits } }) as Scenario;
  }
  /** A run at time zero. With `packets` it records packets, and ends at the end of that window. */
  open(
    scenario: ScenarioText,
    limits: Limits,
    how: { packets?: { from_s: number; until_s: number; most_hops: number }; steer?: string } = {},
  ): { run: number; scenario: Scenario } {
    const { run, ...rest } = this.#ask({ open: { scenario: text(scenario), limits, ...how } }) as Scenario & { run: number };
    return { run, scenario: rest };
  }
  advance(run: number, events: number): Progress {
    return this.#ask({ advance: { run, events } }) as Progress;
  }
  columns(run: number): Columns {
    return this.#ask({ columns: { run } }) as Columns;
  }
  finish(run: number): Columns & { summary: Summary } {
    return this.#ask({ finish: { run } }) as Columns & { summary: Summary };
  }
  fingerprint(run: number): string {
    return (this.#ask({ fingerprint: { run } }) as { fingerprint: string }).fingerprint;
  }
  hops(run: number): Hops {
    return this.#ask({ hops: { run } }) as Hops;
  }
  step(run: number, rate_bps: number, length_s: number, window_segments?: number): Step {
    const step = this.#ask({ step: { run, rate_bps, length_s, window_segments } }) as Record<keyof Step, number>;
    return { ...step, over: step.over !== 0, complete: step.complete !== 0 };
  }
  close(run: number): void {
    this.#ask({ close: { run } });
  }

  #ask(request: string | object): unknown {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    let reply: unknown;
    try {
      const at = unsigned(this.#exports.input(bytes.length));
      new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
      this.#exports.call();
      reply = this.#reply();
    } catch (trap) {
      const reason = this.#bytes(this.#exports.panic(), this.#exports.panic_length());
      this.#exports = new WebAssembly.Instance(this.#module, {}).exports as unknown as Exports;
      const why = new TextDecoder().decode(reason);
      // A failed allocation or a stack overflow traps without a panic.
      throw new Refused(failed(why || (trap instanceof WebAssembly.RuntimeError ? NO_MEMORY : String(trap))));
    }
    if (typeof reply === "object" && reply !== null && "refusal" in reply) throw new Refused(reply.refusal as Refusal);
    return reply;
  }

  #bytes(address: number, length: number): Uint8Array<ArrayBuffer> {
    const at = unsigned(address);
    return new Uint8Array(this.#exports.memory.buffer.slice(at, at + unsigned(length)) as ArrayBuffer);
  }

  #reply(): unknown {
    const { json, json_length, arrays, arrays_length } = this.#exports;
    const text = new TextDecoder().decode(this.#bytes(json(), json_length()));
    // Copied, because the module's memory moves when it grows.
    const { buffer } = this.#bytes(arrays(), arrays_length());
    return JSON.parse(text, (_, value: unknown) =>
      isSlot(value) ? new TYPES[value.array](buffer, value.at, value.length) : value,
    );
  }
}

function text({ toml, source, overrides }: ScenarioText): ScenarioText {
  return { toml, ...(source === undefined ? {} : { source }), ...(overrides === undefined ? {} : { overrides }) };
}

/** The buffer to transfer, which all typed arrays of a reply share. */
export function buffers(reply: Columns | Hops): ArrayBuffer[] {
  const array = "time_s" in reply ? reply.time_s : reply.link;
  return [array.buffer as ArrayBuffer];
}
