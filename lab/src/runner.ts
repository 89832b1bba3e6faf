/** Runs the latest text; texts that arrive during a run are skipped except the last. */

import { Cancelled, type Engine, type Run } from "./engine.ts";

/** Runs longer than this are cancelled for a newer text; shorter ones finish, so that dragging shows results. */
const PATIENCE_MS = 250;

export interface Watcher {
  done: (run: Run, toml: string) => void;
  failed: (error: unknown, toml: string) => void;
  /** Called when a run starts, or when none is left. */
  busy: (busy: boolean) => void;
}

export class Runner {
  private current: Promise<void> | null = null;
  private begun = 0;
  private next: string | null = null;
  private timer = 0;

  constructor(private readonly engine: Engine, private readonly watcher: Watcher) {}

  run(toml: string): void {
    if (!this.current) {
      this.start(toml);
      return;
    }
    this.next = toml;
    // Cancelled once its time is over.
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.supersede(), Math.max(0, this.begun + PATIENCE_MS - performance.now()));
  }

  /** Stops the run and discards the waiting text. */
  cancel(): void {
    this.next = null;
    clearTimeout(this.timer);
    this.engine.cancel();
  }

  private supersede(): void {
    if (this.next !== null) this.engine.cancel();
  }

  private start(toml: string): void {
    this.begun = performance.now();
    this.watcher.busy(true);
    const work = this.engine.run(toml)
      .then((run) => this.watcher.done(run, toml))
      .catch((error: unknown) => {
        if (!(error instanceof Cancelled) || this.next === null) this.watcher.failed(error, toml);
      })
      .finally(() => this.ended(work));
    this.current = work;
  }

  private ended(work: Promise<void>): void {
    if (this.current !== work) return;
    this.current = null;
    clearTimeout(this.timer);
    const { next } = this;
    this.next = null;
    if (next === null) this.watcher.busy(false);
    else this.start(next);
  }
}
