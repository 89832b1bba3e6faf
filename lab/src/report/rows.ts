/** The rows of the reproduced papers: filters them by a cell of the matrix, and shows their scenarios. */

import { the } from "./globals.ts";

const ROWS = "tr[data-cell]", SHOWN = "tr[data-cell]:not([hidden])";

function filter(section: Element, cell: string | null): void {
  for (const row of section.querySelectorAll<HTMLElement>(ROWS)) row.hidden = cell !== null && row.dataset["cell"] !== cell;
  for (const group of section.querySelectorAll<HTMLElement>(".group")) group.hidden = group.querySelector(SHOWN) === null;
  const bar = the(".filter", section), shown = section.querySelector<HTMLElement>(SHOWN);
  bar.hidden = cell === null;
  if (cell === null || !shown) return;
  const [all, some] = [ROWS, SHOWN].map((rows) => section.querySelectorAll(rows).length);
  const name = shown.closest<HTMLElement>(".group")?.dataset["name"] ?? "";
  the("span", bar).textContent = `${some} of ${all} rows: ${name}, reproduced ${shown.dataset["outcome"] ?? ""}.`;
}

function follow(): void {
  const hash = decodeURIComponent(location.hash.slice(1)), target = hash === "" ? null : document.getElementById(hash);
  const section = target?.closest("section");
  if (!target || !section) return;
  const row = document.querySelector(`tr[data-cell="${CSS.escape(hash)}"]`);
  if (row) filter(section, hash);
  else if (target.closest("[hidden]")) filter(section, null);
  // A link to a row shows all of it.
  const about = target.matches("tr") ? target.querySelector<HTMLDetailsElement>("details.row") : null;
  if (about) about.open = true;
  const folded = target.closest<HTMLDetailsElement>("details:not([open])");
  if (folded) folded.open = true;
  (row ? the(".filter", section) : target).scrollIntoView();
}

addEventListener("hashchange", follow);
// A second click on the same link does not change the address.
for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => setTimeout(follow));
for (const bar of document.querySelectorAll(".filter")) {
  the("button", bar).addEventListener("click", () => {
    const section = bar.closest("section");
    if (!section) return;
    filter(section, null);
    history.replaceState(null, "", `#${section.id}`);
  });
}
addEventListener("load", follow);

const dialog = the<HTMLDialogElement>("dialog.scenario"), download = the<HTMLAnchorElement>("a", dialog);
const names = the<HTMLSelectElement>("select", dialog), files = the<HTMLSelectElement>("select ~ select", dialog);
let texts: Record<string, Record<string, string>> = {};

const fill = (select: HTMLSelectElement, values: string[]): void => select.replaceChildren(...values.map((value) => new Option(value, value)));

function show(): void {
  const text = texts[names.value]?.[files.value] ?? "";
  the("code", dialog).textContent = text;
  URL.revokeObjectURL(download.href);
  download.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  download.download = `${files.value}.toml`;
  download.textContent = `Save ${files.value}.toml`;
}

function choose(): void {
  fill(files, Object.keys(texts[names.value] ?? {}));
  files.hidden = files.length === 1;
  show();
}

async function open(link: HTMLElement): Promise<void> {
  const packed = link.closest("section")?.querySelector("script.scenarios")?.textContent ?? "";
  texts = JSON.parse(await window.selfclock.unpack(packed)) as typeof texts;
  fill(names, Object.keys(texts));
  if (link.dataset["name"]) names.value = link.dataset["name"];
  choose();
  dialog.showModal();
}

names.addEventListener("change", choose);
files.addEventListener("change", show);
the("button", dialog).addEventListener("click", () => dialog.close());
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLElement>("button.scenario") : null;
  if (link) void open(link);
});
