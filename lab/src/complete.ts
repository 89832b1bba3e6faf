/** Completion of scenario files: the cursor's place in the text, and the schema's choices there. */

/** The cursor's place. */
export interface Spot {
  /** Keys of the enclosing tables. */
  path: string[];
  /** The key whose value is being written; null while a key is. */
  key: string | null;
  /** The word so far, with its opening quote. */
  word: string;
}

export interface Proposal {
  text: string;
  about: string;
  kind: "key" | "value";
}

/** The parts of a JSON Schema node that completion needs. */
interface Node {
  $ref?: string;
  $defs?: Record<string, Node>;
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  oneOf?: Node[];
  allOf?: Node[];
  if?: Node;
  then?: Node;
  else?: Node;
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
  description?: string;
}

const HEADER = /^\s*\[\[?\s*([A-Za-z0-9_.\-"]+)\s*\]\]?\s*(?:#.*)?$/;
const keys = (dotted: string): string[] => dotted.split(".").map((key) => key.trim().replace(/^"(.*)"$/, "$1"));

/** Reads the text before the cursor; null in a comment or in a header. */
export function spot(before: string): Spot | null {
  const lines = before.split("\n");
  const last = lines.pop() ?? "";
  if (/^\s*\[/.test(last) && !last.includes("=")) return null;
  let table: string[] = [];
  let statement = last;
  // A value in brackets can span lines: a statement begins at a line with a key outside brackets.
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? "";
    const header = HEADER.exec(line);
    if (header) {
      table = keys(header[1] ?? "");
      break;
    }
    if (/^\s*[A-Za-z0-9_.\-"]+\s*=/.test(line) && depth(`${line}\n${statement}`) > depth(last) && depth(line) > 0) statement = `${line}\n${statement}`;
  }
  return within(table, statement);
}

/** Unclosed brackets at the end of a text. */
function depth(text: string): number {
  let open = 0, quote = false;
  for (const letter of text) {
    if (letter === '"') quote = !quote;
    else if (!quote && (letter === "{" || letter === "[")) open++;
    else if (!quote && (letter === "}" || letter === "]")) open--;
  }
  return open;
}

function within(table: string[], statement: string): Spot | null {
  const stack: { path: string[]; key: string | null }[] = [];
  let path = table, key: string | null = null, word = "", quote = false;
  for (const letter of statement) {
    if (quote) {
      word += letter;
      if (letter === '"') quote = false;
      continue;
    }
    switch (letter) {
      case "#":
        return null;
      case '"':
        word += letter;
        quote = true;
        break;
      case "=": {
        const written = keys(word.trim());
        key = written.pop() ?? null;
        path = [...path, ...written];
        word = "";
        break;
      }
      case "{":
      case "[":
        stack.push({ path, key });
        if (letter === "{") {
          path = key === null ? path : [...path, key];
          key = null;
        }
        word = "";
        break;
      case "}":
      case "]": {
        const outer = stack.pop();
        path = outer?.path ?? table;
        key = outer?.key ?? null;
        word = letter;
        break;
      }
      case ",": {
        const list = stack[stack.length - 1];
        // In a list another value of the same key follows; in a table a key.
        if (list && list.key === key && list.path === path) word = "";
        else {
          path = list ? (list.key === null ? list.path : [...list.path, list.key]) : table;
          key = null;
          word = "";
        }
        break;
      }
      default:
        word += letter;
    }
  }
  return { path, key, word: word.trimStart() };
}

export class Schema {
  private readonly root: Node;

  constructor(schema: unknown) {
    this.root = (typeof schema === "object" && schema !== null ? schema : {}) as Node;
  }

  /** Choices at a place. */
  proposals({ path, key }: Spot): Proposal[] {
    const tables = path.reduce<Node[]>((nodes, name) => nodes.flatMap((node) => this.under(node, name)), [this.root]);
    if (key === null) return this.keysOf(tables);
    return this.valuesOf(tables.flatMap((node) => this.under(node, key)));
  }

  private keysOf(tables: readonly Node[]): Proposal[] {
    const found = new Map<string, Proposal>();
    for (const node of tables.flatMap((each) => this.branches(each))) {
      for (const [text, property] of Object.entries(node.properties ?? {})) {
        if (!found.has(text)) found.set(text, { text, about: property.description ?? "", kind: "key" });
      }
    }
    return [...found.values()];
  }

  private valuesOf(nodes: readonly Node[]): Proposal[] {
    const found = new Map<string, Proposal>();
    for (const node of nodes.flatMap((each) => this.branches(each))) {
      const values = [...(node.enum ?? []), ...(node.const === undefined ? [] : [node.const]), ...(node.type === "boolean" ? [true, false] : [])];
      for (const value of values) {
        const text = JSON.stringify(value);
        if (!found.has(text)) found.set(text, { text, about: node.description ?? "", kind: "value" });
      }
    }
    return [...found.values()];
  }

  private under(node: Node, name: string): Node[] {
    return this.branches(node).flatMap((branch) => {
      const property = branch.properties?.[name];
      return property ? this.branches(property).flatMap((each) => (each.items ? this.branches(each.items) : [each])) : [];
    });
  }

  /** A node and its alternatives. */
  private branches(node: Node, depth = 0): Node[] {
    if (depth > 8) return [];
    const target = node.$ref?.startsWith("#/$defs/") ? this.root.$defs?.[node.$ref.slice(8)] : undefined;
    const more = [target, ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? []), node.then, node.else];
    return [node, ...more.flatMap((each) => (each ? this.branches(each, depth + 1) : []))];
  }
}
