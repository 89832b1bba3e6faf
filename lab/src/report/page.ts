/** A page: sortable tables, light and dark themes, charts. Nothing is fetched. */

import { begin, complete, redraw } from "./charts.ts";
import { unpack, unpackDocument } from "./packed.ts";
import { dark, onTheme, print, repaint } from "./theme.ts";

onTheme(redraw);
window.selfclock = { unpack, unpackDocument, dark, onTheme };
repaint();
begin();
addEventListener("beforeprint", () => {
  print(true);
  complete();
});
addEventListener("afterprint", () => print(false));

function key(cell: HTMLTableCellElement | undefined): number | string {
  const text = (cell?.dataset["value"] ?? cell?.textContent ?? "").trim(), number = parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(number) ? text : number;
}

/** Numbers before texts. */
function order(a: number | string, b: number | string): number {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

for (const table of document.querySelectorAll<HTMLTableElement>("table:not(.matrix)")) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const name = document.createElement("button");
    name.append(...head.childNodes);
    head.append(name);
    name.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending", [body] = table.tBodies;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...(body?.rows ?? [])].sort((a, b) => order(key(a.cells[column]), key(b.cells[column])));
      body?.append(...(down ? rows.reverse() : rows));
    });
  });
}
