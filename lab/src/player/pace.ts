/** The speed of a player, and its frames while it plays. */

import { reducedMotion } from "../theme.ts";

const SPEEDS = [5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1];

export class Pace {
  running = false;

  /** `advance` goes on by some simulated seconds, and says whether the player still plays. */
  constructor(
    private readonly speeds: HTMLSelectElement, private readonly button: HTMLElement, private readonly advance: (seconds: number) => boolean,
  ) {
    for (const speed of SPEEDS) speeds.add(new Option(speed === 1 ? "real time" : `1/${speed}`, String(speed)));
  }

  /** Simulated seconds per second. */
  get speed(): number {
    return 1 / Number(this.speeds.value);
  }

  /** Takes the speed nearest to one simulated second in the given time, s. */
  suit(seconds: number): void {
    const off = (speed: number): number => Math.abs(Math.log(speed / seconds));
    this.speeds.value = String(SPEEDS.reduce((a, b) => (off(a) < off(b) ? a : b)));
  }

  faster(by: number): void {
    this.speeds.selectedIndex = Math.min(Math.max(this.speeds.selectedIndex + by, 0), SPEEDS.length - 1);
  }

  play(): void {
    this.running = true;
    this.button.textContent = "Pause";
    let before = performance.now();
    const frame = (now: number): void => {
      if (!this.running) return;
      // With reduced motion the picture changes twice a second.
      if (!reducedMotion.matches || now - before >= 500) {
        const passed = Math.min(now - before, reducedMotion.matches ? 600 : 100) / 1000;
        before = now;
        if (!this.advance(passed * this.speed)) this.stop();
      }
      if (this.running) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop(): void {
    this.running = false;
    this.button.textContent = "Play";
  }
}

/** Gives a canvas a size in CSS pixels, and returns a context that draws in them. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = Math.max(devicePixelRatio || 1, 2), [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    [canvas.width, canvas.height] = [wide, high];
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}
