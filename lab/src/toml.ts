/** Edits a TOML text in place; comments, order and layout are preserved. */

import { type AST, parseTOML } from "toml-eslint-parser";

export type Path = readonly (string | number)[];

/** A value with its position in the text. */
interface Found {
  /** Its `key = value`; absent for array elements and tables with a header. */
  pair: AST.TOMLKeyValue | null;
  node: AST.TOMLContentNode | AST.TOMLTable | AST.TOMLTopLevelTable;
}

const same = (path: Path): string => JSON.stringify(path);

/** The values and tables of a TOML text by path. Throws `SyntaxError` for invalid TOML. */
export class Document {
  private readonly found = new Map<string, Found>();
  private readonly top: AST.TOMLTopLevelTable;

  constructor(readonly text: string) {
    this.top = parseTOML(text, { tomlVersion: "1.0.0" }).body[0];
    this.found.set(same([]), { pair: null, node: this.top });
    for (const node of this.top.body) {
      if (node.type === "TOMLKeyValue") this.pair([], node);
      else this.table(node);
    }
  }

  /** The string, number or boolean at a path; undefined for tables, dates and missing values. */
  value(...path: Path): string | number | boolean | undefined {
    const node = this.found.get(same(path))?.node;
    if (node?.type !== "TOMLValue") return undefined;
    return typeof node.value === "object" || typeof node.value === "bigint" ? undefined : node.value;
  }

  has(...path: Path): boolean {
    return this.found.has(same(path));
  }

  /** Number of elements of an array of tables, or of an array. */
  length(...path: Path): number {
    let count = 0;
    while (this.has(...path, count)) count++;
    return count;
  }

  /** Keys of a table, in text order. */
  keys(...path: Path): string[] {
    const keys: string[] = [];
    for (const place of this.found.keys()) {
      const each = JSON.parse(place) as (string | number)[];
      const last = each[each.length - 1];
      if (each.length === path.length + 1 && typeof last === "string" && same(each.slice(0, -1)) === same(path)) keys.push(last);
    }
    return keys;
  }

  /** The text with another value, in TOML, at a path; missing keys and inline tables are created. */
  set(path: Path, value: string): string {
    const found = this.found.get(same(path));
    if (found && found.node.type !== "TOMLTable" && found.node.type !== "TOMLTopLevelTable") {
      return this.replaced(found.node.range, value);
    }
    if (found) throw new TypeError(`${path.join(".")} is a table with a header`);
    const parent = path.slice(0, -1);
    const key = String(path[path.length - 1]);
    const place = this.found.get(same(parent))?.node;
    const written = `${quoted(key)} = ${value}`;
    if (place === undefined) return this.set(parent, `{ ${written} }`);
    if (place.type === "TOMLInlineTable") {
      const last = place.body[place.body.length - 1];
      if (last) return this.replaced([last.range[1], last.range[1]], `, ${written}`);
      return this.replaced(place.range, `{ ${written} }`);
    }
    if (place.type === "TOMLTable" || place.type === "TOMLTopLevelTable") return this.appended(place, written);
    throw new TypeError(`${parent.join(".")} is no table`);
  }

  /** The text without the key at a path; unchanged if the key is missing. */
  removed(...path: Path): string {
    const pair = this.found.get(same(path))?.pair;
    if (!pair) return this.text;
    let [start, end] = pair.range;
    if (pair.parent.type === "TOMLInlineTable") {
      const before = /,\s*$/.exec(this.text.slice(0, start));
      const after = /^\s*,\s*/.exec(this.text.slice(end));
      if (before) start -= before[0].length;
      else if (after) end += after[0].length;
    } else {
      start = this.text.lastIndexOf("\n", start - 1) + 1;
      const line = this.text.indexOf("\n", end);
      end = line < 0 ? this.text.length : line + 1;
    }
    return this.replaced([start, end], "");
  }

  /** The text without a `[table]`, up to the next header. */
  withoutTable(...path: Path): string {
    const node = this.found.get(same(path))?.node;
    if (node?.type !== "TOMLTable") return this.text;
    const tables = this.top.body.filter((each) => each.type === "TOMLTable");
    const inside = (each: AST.TOMLTable): boolean => same(each.resolvedKey.slice(0, path.length)) === same(path);
    const next = tables.find((each) => each.range[0] > node.range[0] && !inside(each));
    return this.replaced([node.range[0], next ? next.range[0] : this.text.length], "").replace(/\n{3,}/g, "\n\n");
  }

  /** The text with a further `[[name]]` after the last one. */
  withTable(name: string, body: string): string {
    const mine = this.top.body.filter((each) => each.type === "TOMLTable" && each.resolvedKey[0] === name);
    const last = mine[mine.length - 1];
    const at = last ? this.lineEnd(last.range[1]) : this.text.length;
    const before = this.text.slice(0, at).replace(/\n*$/, "\n\n");
    return `${before}[[${name}]]\n${body}\n${this.text.slice(at)}`;
  }

  private replaced([start, end]: readonly [number, number], by: string): string {
    return this.text.slice(0, start) + by + this.text.slice(end);
  }

  private lineEnd(at: number): number {
    const end = this.text.indexOf("\n", at);
    return end < 0 ? this.text.length : end + 1;
  }

  private appended(table: AST.TOMLTable | AST.TOMLTopLevelTable, line: string): string {
    const pairs = table.body.filter((each) => each.type === "TOMLKeyValue");
    const last = pairs[pairs.length - 1];
    if (!last && table.type === "TOMLTopLevelTable") return `${line}\n${this.text}`;
    const at = this.lineEnd(last ? last.range[1] : table.type === "TOMLTable" ? table.key.range[1] : 0);
    const before = this.text.slice(0, at);
    return `${before}${before.endsWith("\n") ? "" : "\n"}${line}\n${this.text.slice(at)}`;
  }

  private table(node: AST.TOMLTable): void {
    // Parent tables without a header exist, but cannot be edited.
    this.found.set(same(node.resolvedKey), { pair: null, node });
    for (const pair of node.body) this.pair(node.resolvedKey, pair);
  }

  private pair(above: Path, pair: AST.TOMLKeyValue): void {
    const names = pair.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
    this.content([...above, ...names], pair.value, pair);
  }

  private content(path: Path, node: AST.TOMLContentNode, pair: AST.TOMLKeyValue | null): void {
    this.found.set(same(path), { pair, node });
    if (node.type === "TOMLInlineTable") for (const each of node.body) this.pair(path, each);
    if (node.type === "TOMLArray") node.elements.forEach((each, index) => this.content([...path, index], each, null));
  }
}

const quoted = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
