/** The text editor: highlighting, completion from the schema, located errors. Loaded after the first plot. */

import { type CompletionContext, type CompletionResult, autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { Schema, spot } from "./complete.ts";
import type { Refusal } from "./protocol.ts";

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint-text)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--code-number)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--text)" },
  { tag: tags.bracket, color: "var(--faint-text)" },
]);

const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--paper)" },
  ".cm-gutters": { backgroundColor: "var(--soft)", color: "var(--faint-text)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 9%, transparent)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent) !important" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", maxWidth: "420px" },
});

export class Editor {
  private readonly view: EditorView;
  private schema: Schema | null = null;
  /** Whether the page, not the user, is changing the text. */
  private quiet = false;

  constructor(place: HTMLElement, text: string, change: (text: string) => void) {
    this.view = new EditorView({
      parent: place,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), lintGutter(),
          StreamLanguage.define(toml), syntaxHighlighting(COLOURS), LOOK,
          autocompletion({ override: [(context) => this.complete(context)] }),
          // Tab leaves the editor, as keyboard users expect; Ctrl+Space completes.
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "Scenario as TOML" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.quiet) change(update.state.doc.toString());
          }),
        ],
      }),
    });
  }

  learn(schema: unknown): void {
    this.schema = new Schema(schema);
  }

  /** Shows a text changed elsewhere by the smallest edit, which keeps cursor and view. */
  show(text: string): void {
    const before = this.view.state.doc.toString();
    if (before === text) return;
    let start = 0, end = 0;
    const most = Math.min(before.length, text.length);
    while (start < most && before[start] === text[start]) start++;
    while (end < most - start && before[before.length - 1 - end] === text[text.length - 1 - end]) end++;
    this.quiet = true;
    this.view.dispatch({ changes: { from: start, to: before.length - end, insert: text.slice(start, text.length - end) } });
    this.quiet = false;
  }

  /** Marks an error at its line, or clears the mark. */
  blame(refusal: Refusal | null): void {
    const diagnostics: Diagnostic[] = [];
    if (refusal) {
      const { doc } = this.view.state;
      const line = doc.line(Math.min(Math.max(refusal.line ?? 1, 1), doc.lines));
      const from = Math.min(line.from + Math.max((refusal.column ?? 1) - 1, 0), line.to);
      const message = [refusal.message, refusal.help].filter(Boolean).join("\n");
      diagnostics.push({ from: refusal.column === null ? line.from : from, to: Math.max(line.to, from), severity: "error", message });
    }
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** Moves the cursor to a line. */
  reveal(line: number): void {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines)).from;
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  }

  private complete(context: CompletionContext): CompletionResult | null {
    if (!this.schema) return null;
    const here = spot(context.state.doc.sliceString(Math.max(0, context.pos - 4000), context.pos));
    if (!here || (here.word === "" && !context.explicit)) return null;
    const proposals = this.schema.proposals(here);
    if (proposals.length === 0) return null;
    const close = here.word.startsWith('"') && context.state.doc.sliceString(context.pos, context.pos + 1) === '"' ? 1 : 0;
    return {
      from: context.pos - here.word.length,
      to: context.pos + close,
      options: proposals.map(({ text, about, kind }) => ({
        label: text, type: kind === "key" ? "property" : "enum", apply: kind === "key" ? `${text} = ` : text, ...(about ? { info: about } : {}),
      })),
    };
  }
}
