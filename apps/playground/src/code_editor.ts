// The editor of code, fetched when its tab is opened. It follows a text area, which works without it, and the area follows it.
import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { tables } from './tables';

export interface CodeEditor {
  /** Marks a line, from 1, until the next change. */
  showError(line: number, message: string): void;
}

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.function(tags.propertyName), color: 'var(--accent)' },
  { tag: tags.function(tags.variableName), color: 'var(--accent)' },
]);

/** Where the code does not parse. */
function parseErrors({ state }: EditorView): Diagnostic[] {
  const found: Diagnostic[] = [];
  syntaxTree(state).iterate({
    enter({ type, from, to }) {
      if (!type.isError || found.length > 0) return;
      const message = 'The code does not parse here.';
      found.push({ from, to: Math.max(to, from), severity: 'error', message });
    },
  });
  return found;
}

/** The layers after `tl.layers.`. */
function completeLayers(context: CompletionContext) {
  const before = context.matchBefore(/tl\.layers\.\w*/);
  if (before === null) return null;
  const options = tables().layers.map(({ name, doc }) => ({
    label: name,
    type: 'function',
    info: doc,
    apply: `${name}({  })`,
  }));
  return { from: before.from + 'tl.layers.'.length, options };
}

/** Replaces a text area by an editor. */
export function openEditor(area: HTMLTextAreaElement): CodeEditor {
  /** What the code threw when it ran, until it is changed. */
  let thrown: Diagnostic | undefined;
  const label = area.labels[0]!.textContent;
  const view = new EditorView({
    doc: area.value,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      javascript(),
      syntaxHighlighting(colors),
      lintGutter(),
      linter((each) => (thrown === undefined ? parseErrors(each) : [thrown])),
      autocompletion({ override: [completeLayers] }),
      keymap.of([...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'), ...historyKeymap]),
      EditorView.contentAttributes.of({
        id: 'code-content',
        tabindex: '0',
        'aria-label': label,
        'aria-describedby': 'code-hint code-problem',
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) thrown = undefined;
        if (!docChanged || area.value === state.doc.toString()) return;
        area.value = state.doc.toString();
        area.dispatchEvent(new Event('input', { bubbles: true }));
      }),
    ],
  });
  area.hidden = true;
  area.after(view.dom);
  view.contentDOM.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true }));
    }
  });
  area.addEventListener('input', () => {
    const now = view.state.doc.toString();
    if (area.value !== now)
      view.dispatch({ changes: { from: 0, to: now.length, insert: area.value } });
  });
  return {
    showError(line, message) {
      const { doc } = view.state;
      const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
      thrown = { from, to, severity: 'error', message };
      view.dispatch(setDiagnostics(view.state, [thrown]));
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    },
  };
}
