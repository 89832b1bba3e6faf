/** The page: a scenario text and its views. */

import { Controls } from "./controls.ts";
import { closable, showCommand, showKeys, showLink } from "./dialogs.ts";
import { byId, element, save } from "./dom.ts";
import type { Editor } from "./editor.ts";
import { Cancelled, Engine, Refused, type Run } from "./engine.ts";
import { Motion } from "./motion.ts";
import { Plots } from "./plots.ts";
import { PRESETS, type Preset, presetNamed } from "./presets.ts";
import type { Refusal, Size } from "./protocol.ts";
import { account, showSummary } from "./results.ts";
import { Runner } from "./runner.ts";
import { csv } from "./series.ts";
import { LinkError, decode, encode } from "./share.ts";
import { isDark, onTheme, toggleTheme, watchTheme } from "./theme.ts";
import { bytesText, count, timeText } from "./units.ts";

watchTheme();
const engine = new Engine(new URL("worker.js", import.meta.url));
const stage = byId("stage", HTMLElement);
const message = byId("message", HTMLElement);
const plots = new Plots(byId("plots", HTMLElement), byId("legend", HTMLElement));
const motion = new Motion(byId("motion", HTMLElement), engine);
const presets = byId("preset", HTMLSelectElement);
const controls = new Controls(byId("knobs", HTMLFormElement), (changed) => edit(changed, "controls"));
const runner = new Runner(engine, { done, failed, busy });

let text = "";
let editor: Editor | null = null;
let last: Run | null = null;
/** Start time of the packets after opening a scenario; undefined: the current time. */
let opening: number | undefined;
let settle = 0;
let slow = 0;

/** Replaces the scenario. */
function open(toml: string, at: number, preset: Preset | null): void {
  opening = at;
  presets.value = preset?.name ?? "";
  byId("about", HTMLElement).textContent = preset?.about ?? "A scenario of your own.";
  edit(toml, "open");
}

function edit(toml: string, by: "controls" | "editor" | "open"): void {
  text = toml;
  if (by !== "controls") controls.show(toml);
  if (by !== "editor") editor?.show(toml);
  clearTimeout(settle);
  // Typing is delayed more than dragging: a half-typed word needs no error.
  if (by === "editor") settle = window.setTimeout(() => runner.run(text), 250);
  else runner.run(toml);
}

function done(run: Run, toml: string): void {
  last = run;
  stage.classList.remove("stale");
  say(null);
  editor?.blame(null);
  byId("title", HTMLElement).textContent = run.scenario.title ?? run.scenario.name;
  plots.show(run.scenario, run.columns);
  showSummary(byId("summary", HTMLElement), run);
  byId("status", HTMLElement).textContent = account(run.summary, run.wall_ms);
  byId("notes", HTMLElement).textContent = run.scenario.notes.join(" ");
  document.documentElement.dataset["runs"] = String(Number(document.documentElement.dataset["runs"] ?? 0) + 1);
  // Packets follow once a drag rests.
  clearTimeout(settle);
  const at = opening;
  opening = undefined;
  if (at !== undefined) void motion.show(toml, run.scenario, at);
  else settle = window.setTimeout(() => void motion.show(toml, run.scenario), 150);
}

function failed(error: unknown): void {
  stage.classList.toggle("stale", last !== null);
  motion.stop();
  if (error instanceof Cancelled) {
    byId("status", HTMLElement).textContent = "Stopped.";
    return;
  }
  if (error instanceof Refused) {
    editor?.blame(error.refusal);
    say(refusalText(error.refusal));
    return;
  }
  say(error instanceof Error ? error.message : String(error));
}

/** A refusal in a few lines: the error, its place, and the allowed values or the requirements. */
function refusalText(refusal: Refusal): string {
  const where = refusal.line === null ? "" : `Line ${refusal.line}: `;
  const need = refusal.kind === "size" && refusal.size ? needed(refusal.size) : "";
  return [`${where}${refusal.message}`, refusal.help, need].filter(Boolean).join("\n");
}

const needed = (size: Size): string =>
  `It would need ${count(size.packet_hops)} packet-hops, ${bytesText(size.bytes)} of memory and about ${timeText(size.seconds, 2)} here. The terminal has no such limits: choose Open in the terminal.`;

/** Shows or hides a message above the page. */
function say(words: string | null, calm = false): void {
  message.hidden = words === null;
  message.textContent = words ?? "";
  message.classList.toggle("calm", calm);
}

function busy(now: boolean): void {
  if (now) slow = window.setTimeout(() => (byId("status", HTMLElement).textContent = "Computing; Esc stops it."), 400);
  else clearTimeout(slow);
  stage.setAttribute("aria-busy", String(now));
}

/** Opens the preset or shared scenario of the address, or the first preset. */
async function follow(): Promise<void> {
  const fragment = location.hash.slice(1);
  const named = /^preset=([a-z0-9-]+)$/.exec(fragment)?.[1];
  const preset = named === undefined ? undefined : presetNamed(named);
  try {
    const shared = await decode(fragment);
    if (shared) return open(shared.toml, shared.at ?? 0, null);
    if (preset) return open(preset.toml, preset.at, preset);
    if (fragment !== "" && fragment !== "play") throw new LinkError("This link names no known scenario; it may be truncated. Choose a scenario above.");
  } catch (error) {
    presets.value = "";
    say(error instanceof LinkError ? error.message : "The link could not be read.");
    return;
  }
  const [first] = PRESETS;
  if (first) open(first.toml, first.at, first);
  if (fragment === "play") void play();
}

async function share(): Promise<void> {
  try {
    const fragment = await encode({ toml: text, ...(motion.time > 0 ? { at: motion.time } : {}) });
    history.replaceState(null, "", `#${fragment}`);
    showLink(location.href);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

const terminal = (): void => showCommand(text, engine.fingerprint(text));

async function play(): Promise<void> {
  runner.cancel();
  motion.stop();
  const { Game } = await import("./game.ts");
  byId("lab", HTMLElement).hidden = true;
  const arena = byId("arena", HTMLElement);
  arena.hidden = false;
  new Game(arena, engine, () => {
    arena.hidden = true;
    arena.replaceChildren();
    byId("lab", HTMLElement).hidden = false;
    runner.run(text);
  });
}

const name = (): string => (last?.scenario.name ?? "scenario").replace(/[^A-Za-z0-9._-]+/g, "-");

function exports(): void {
  byId("save-toml", HTMLButtonElement).addEventListener("click", () => save(`${name()}.toml`, new Blob([text], { type: "application/toml" })));
  byId("save-csv", HTMLButtonElement).addEventListener("click", () => {
    if (last) save(`${name()}.csv`, new Blob([csv(last.scenario, last.columns)], { type: "text/csv" }));
  });
  byId("save-png", HTMLButtonElement).addEventListener("click", () => {
    if (last) plots.picture(last.scenario.title ?? last.scenario.name).toBlob((blob) => blob && save(`${name()}.png`, blob), "image/png");
  });
}

/** Keyboard shortcuts outside text fields. */
function keys(): void {
  const acts: Record<string, () => void> = {
    " ": () => motion.toggle(), a: () => motion.step(true), A: () => motion.step(false), ",": () => motion.faster(-1), ".": () => motion.faster(1),
    p: () => presets.focus(), s: () => void share(), t: terminal, d: toggleTheme, g: () => void play(), "?": showKeys,
    e: () => document.querySelector<HTMLElement>("#editor .cm-content")?.focus(), Escape: () => runner.cancel(),
  };
  addEventListener("keydown", (event) => {
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || !byId("arena", HTMLElement).hidden) return;
    if (target.closest("textarea, select, .cm-editor, input[type=number]")) return;
    if (event.key === " " && target.closest("button, summary")) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function offerPresets(): void {
  const groups = new Map<string, HTMLOptGroupElement>();
  presets.append(element("option", { value: "", hidden: true }, "Your own"));
  for (const preset of PRESETS) {
    let group = groups.get(preset.group);
    if (!group) {
      group = element("optgroup", { label: preset.group });
      groups.set(preset.group, group);
      presets.append(group);
    }
    group.append(element("option", { value: preset.name }, preset.title));
  }
  presets.addEventListener("change", () => {
    const preset = presetNamed(presets.value);
    if (!preset) return;
    history.replaceState(null, "", `#preset=${preset.name}`);
    open(preset.toml, preset.at, preset);
  });
}

function buttons(): void {
  const click = (id: string, act: () => void): void => byId(id, HTMLButtonElement).addEventListener("click", act);
  click("share", () => void share());
  click("terminal", terminal);
  click("game", () => void play());
  click("help", showKeys);
  click("theme", toggleTheme);
  const label = (): void => {
    byId("theme", HTMLButtonElement).textContent = isDark() ? "Light" : "Dark";
    if (last) showSummary(byId("summary", HTMLElement), last);
  };
  onTheme(label);
  label();
}

/** The editor is loaded after the first plot. */
async function edits(): Promise<void> {
  const { Editor: Made } = await import("./editor.ts");
  editor = new Made(byId("editor", HTMLElement), text, (changed) => edit(changed, "editor"));
  editor.learn(await engine.schema());
}

function begin(): void {
  offerPresets();
  buttons();
  exports();
  keys();
  closable();
  plots.seek = (time) => void motion.seek(time);
  motion.moved = (time) => plots.mark(time);
  motion.failed = failed;
  addEventListener("hashchange", () => void follow());
  engine.ready.then(({ algorithms, queues }) => controls.offer(algorithms, queues), (error: Error) => say(error.message));
  void follow().then(() => edits());
}

begin();
