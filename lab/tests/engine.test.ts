import assert from "node:assert/strict";
import { test } from "node:test";
import { Cancelled, Engine } from "../src/engine.ts";
import type { Reply, Request } from "../src/protocol.ts";

/** Stands for the worker: keeps what it is sent, and answers a cancellation of what it has heard of. */
class FakeWorker extends EventTarget {
  static latest: FakeWorker;
  readonly heard: Request[] = [];

  constructor() {
    super();
    FakeWorker.latest = this;
  }
  postMessage(request: Request): void {
    const known = this.heard.some(({ id }) => id === request.id);
    this.heard.push(request);
    if (request.type === "cancel" && known) this.tell({ type: "cancelled", id: request.id });
  }
  tell(data: Reply): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

function started(): [Engine, FakeWorker] {
  (globalThis as { Worker?: unknown }).Worker = FakeWorker;
  return [new Engine("worker.js"), FakeWorker.latest];
}

const READY: Reply = { type: "ready", id: 0, version: "", algorithms: [], queues: [] };

test("a run that is stopped while the simulator loads does not run", async () => {
  const [engine, worker] = started();
  const stopped = assert.rejects(engine.run("toml"), Cancelled);
  engine.cancel();
  worker.tell(READY);
  await stopped;
  assert.deepEqual(worker.heard.map(({ type }) => type), ["run", "cancel"]);
  assert.equal(engine.busy, false);
});

test("a run that is stopped in the same breath does not run", async () => {
  const [engine, worker] = started();
  worker.tell(READY);
  await engine.ready;
  const stopped = assert.rejects(engine.run("toml"), Cancelled);
  engine.cancel();
  await stopped;
  assert.deepEqual(worker.heard.map(({ type }) => type), ["run", "cancel"]);
});

test("without a simulator whoever asks for a run hears of it, and stopping is no error", async () => {
  const [engine, worker] = started();
  const failed = assert.rejects(engine.run("toml"), /no module/);
  engine.cancel();
  worker.tell({ type: "unavailable", id: 0, message: "no module" });
  await failed;
});
