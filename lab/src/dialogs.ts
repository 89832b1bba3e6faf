/** Dialogs: sharing, the terminal command, keys. */

import { command } from "./command.ts";
import { button, byId, element } from "./dom.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play or pause the packets"],
  ["A, Shift+A", "next, previous ACK to reach a sender"],
  [", and .", "slower, faster"],
  ["P", "choose a preset"],
  ["E", "edit the text (Ctrl+Space completes, Tab leaves)"],
  ["S", "share"],
  ["T", "open in the terminal"],
  ["G", "you are the congestion control"],
  ["D", "dark or light"],
  ["Esc", "stop a long run"],
  ["in the plots", "arrows move the cursor, + and - zoom, 0 shows everything, Enter moves the packets there"],
];

function open(title: string, ...body: (Node | string)[]): void {
  const dialog = byId("dialog", HTMLDialogElement);
  byId("dialog-title", HTMLElement).textContent = title;
  byId("dialog-body", HTMLElement).replaceChildren(...body);
  dialog.showModal();
}

/** A text with a copy button. */
function copyable(text: string, rows: number): HTMLElement {
  const area = element("textarea", { readonly: true, rows, spellcheck: "false", "aria-label": "Text to copy" });
  area.value = text;
  const copy = button("Copy", () => {
    area.select();
    void navigator.clipboard?.writeText(text).then(() => (copy.textContent = "Copied"), () => (copy.textContent = "Selected: press Ctrl+C"));
  }, { class: "primary" });
  return element("div", {}, area, copy);
}

export function showLink(link: string): void {
  const about = "The whole scenario is in this link, behind the #. Browsers do not send that part to any server.";
  open("Share", element("p", {}, about), copyable(link, 6));
}

export function showCommand(toml: string, fingerprint: Promise<string>): void {
  const about = "The same run, to the last bit, with a report. In PowerShell, save the TOML file and run the last line.";
  const proof = element("p", {});
  fingerprint.then((text) => (proof.textContent = `Fingerprint of this run, the same on every machine: ${text}`), () => undefined);
  open("Open in the terminal", element("p", {}, about), copyable(command(toml), 14), proof);
}

export function showKeys(): void {
  const list = element("dl");
  for (const [key, what] of KEYS) list.append(element("dt", {}, element("kbd", {}, key)), element("dd", {}, what));
  open("Keys", list);
}

export function closable(): void {
  byId("dialog-close", HTMLButtonElement).addEventListener("click", () => byId("dialog", HTMLDialogElement).close());
}
