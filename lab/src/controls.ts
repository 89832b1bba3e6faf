/** The settings beside the plots: sliders, queue, flows. They only change the text. */

import { button, element } from "./dom.ts";
import {
  type FlowKnob, type Knob, STEPS, flowsOf, knobsOf, positionOf, queueOf, valueAt, withAlgorithm, withCount, withFlow, withSeed,
  withoutFlow,
} from "./knobs.ts";
import { looks } from "./palette.ts";
import type { Algorithm } from "./protocol.ts";
import { isDark, onTheme } from "./theme.ts";
import { Document } from "./toml.ts";
import { timeText } from "./units.ts";

/** Algorithm parts in a flow's menu. */
const PARTS: Record<string, string> = { window: "Windows", model: "Models", start: "Starts", estimate: "Estimators" };

export class Controls {
  private text = "";
  private shape = "";
  private algorithms: Algorithm[] = [];
  private queues: string[] = [];

  /** `change` receives the text after each change. */
  constructor(private readonly place: HTMLElement, private readonly change: (text: string) => void) {
    place.addEventListener("submit", (event) => event.preventDefault());
    onTheme(() => this.rebuild());
  }

  /** Choices of the menus. */
  offer(algorithms: Algorithm[], queues: string[]): void {
    this.algorithms = algorithms;
    this.queues = queues;
    this.rebuild();
  }

  /** Shows the settings of a text. Invalid TOML disables the controls. */
  show(text: string): void {
    let document: Document;
    try {
      document = new Document(text);
    } catch {
      this.place.toggleAttribute("inert", true);
      return;
    }
    this.place.toggleAttribute("inert", false);
    this.text = text;
    const knobs = knobsOf(document);
    const shape = JSON.stringify([knobs.map((knob) => [knob.name, knob.scale]), flowsOf(document), queueOf(document)?.value]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(document, knobs);
    } else this.refresh(knobs);
  }

  private rebuild(): void {
    this.shape = "";
    if (this.text) this.show(this.text);
  }

  /** Applies a change to the latest text, so that successive changes of a gesture add up. */
  private put(text: string): void {
    this.text = text;
    this.change(text);
    this.show(text);
  }

  private refresh(knobs: readonly Knob[]): void {
    for (const knob of knobs) {
      const slider = this.place.querySelector<HTMLInputElement>(`input[data-knob="${knob.name}"]`);
      const output = slider?.parentElement?.querySelector("output");
      if (!slider || !output) continue;
      output.textContent = knob.shown(knob.value);
      slider.setAttribute("aria-valuetext", knob.shown(knob.value));
      // A dragged slider stays under the pointer.
      if (document.activeElement !== slider) slider.value = String(positionOf(knob.scale, knob.value));
    }
  }

  private build(document: Document, knobs: readonly Knob[]): void {
    const focus = globalThis.document.activeElement?.getAttribute("data-knob");
    const flows = flowsOf(document);
    this.place.replaceChildren(...knobs.map((knob) => this.slider(knob)), ...this.queue(document), this.flows(document, flows), this.seed(document));
    if (focus) this.place.querySelector<HTMLElement>(`[data-knob="${focus}"]`)?.focus();
  }

  private slider(knob: Knob): HTMLElement {
    const input = element("input", {
      type: "range", min: 0, max: STEPS, step: 1, value: positionOf(knob.scale, knob.value), "data-knob": knob.name, "aria-valuetext": knob.shown(knob.value),
    });
    input.addEventListener("input", () => {
      const current = knobsOf(new Document(this.text)).find((each) => each.name === knob.name);
      if (current) this.put(current.set(valueAt(knob.scale, Number(input.value))));
    });
    return element("label", { class: "knob" }, element("span", {}, knob.name), element("output", {}, knob.shown(knob.value)), input);
  }

  private queue(document: Document): HTMLElement[] {
    const queue = queueOf(document);
    if (!queue) return [];
    const select = element("select", { "data-knob": "queue" });
    for (const name of new Set([...this.queues, queue.value])) select.add(new Option(name, name));
    select.value = queue.value;
    select.addEventListener("change", () => this.put(queueOf(new Document(this.text))?.set(select.value) ?? this.text));
    return [element("label", { class: "pick" }, "Queue", select)];
  }

  private flows(document: Document, flows: readonly FlowKnob[]): HTMLElement {
    const colours = looks(flows.map((flow) => flow.algorithm), isDark());
    const total = flows.reduce((sum, flow) => sum + flow.count, 0);
    const box = element("fieldset", {}, element("legend", {}, total === 1 ? "1 flow" : `${total} flows`));
    const add = button("Add a flow", () => this.put(withFlow(new Document(this.text), flows[flows.length - 1]?.algorithm ?? "cubic")), { "data-knob": "add" });
    box.append(...flows.slice(0, 20).map((flow) => this.flow(flow, colours[flow.index]?.colour ?? "", flows.length > 1)));
    if (flows.length > 20) box.append(element("p", {}, `and ${flows.length - 20} more in the text`));
    if (document.length("flow") > 0) box.append(add);
    return box;
  }

  private flow(flow: FlowKnob, colour: string, removable: boolean): HTMLElement {
    const bar = element("i");
    bar.style.background = colour;
    const start = flow.start > 0 ? ` from ${timeText(flow.start)}` : "";
    const select = this.algorithm(flow);
    const count = element("input", { type: "number", min: 1, max: 200, step: 1, value: flow.count, "aria-label": `Copies of ${flow.name}`, title: "Copies", "data-knob": `count-${flow.index}` });
    count.addEventListener("change", () => this.put(withCount(new Document(this.text), flow.index, Math.min(Math.max(Math.round(count.valueAsNumber || 1), 1), 200))));
    const remove = button("×", () => this.put(withoutFlow(new Document(this.text), flow.index)), { "aria-label": `Remove ${flow.name}`, title: "Remove", "data-knob": `remove-${flow.index}` });
    remove.disabled = !removable;
    return element("div", { class: "flow" }, bar, element("b", {}, `${flow.name}${start}`), select, count, remove);
  }

  private algorithm(flow: FlowKnob): HTMLElement {
    const select = element("select", { "aria-label": `Algorithm of ${flow.name}`, "data-knob": `algorithm-${flow.index}` });
    if (flow.algorithm === "udp") {
      select.add(new Option("udp", "udp"));
      select.disabled = true;
      return select;
    }
    if (!this.algorithms.some(({ name }) => name === flow.algorithm)) select.add(new Option(flow.algorithm, flow.algorithm));
    for (const [part, label] of Object.entries(PARTS)) {
      const group = element("optgroup", { label });
      for (const each of this.algorithms.filter((algorithm) => algorithm.part === part)) {
        const option = new Option(each.name, each.name);
        option.title = each.about;
        group.append(option);
      }
      if (group.children.length > 0) select.append(group);
    }
    select.value = flow.algorithm;
    select.addEventListener("change", () => this.put(withAlgorithm(new Document(this.text), flow.index, select.value)));
    return select;
  }

  private seed(document: Document): HTMLElement {
    const seed = Number(document.value("seed") ?? 1);
    const next = button("Next seed", () => this.put(withSeed(new Document(this.text), Number(new Document(this.text).value("seed") ?? 1) + 1)), { "data-knob": "seed" });
    return element("fieldset", {}, element("legend", {}, `Seed ${seed}`), next);
  }
}
