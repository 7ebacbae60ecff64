// The network as code, next to the list of layers. Edits are retained until the user applies or discards them.
import { codeOfRow } from '../code';
import type { CodeEditor } from '../code_editor';
import { CodeError, runCodeInWorker } from '../code_runner';
import { button, element, show, showProblem } from '../dom';
import { change } from '../editing';
import { isRow } from '../network';
import { isTraining, state, update, watch } from '../store';

const editor = element('code', HTMLTextAreaElement);
let rich: Promise<CodeEditor | undefined> | undefined;
/** The generated code; if the editor differs from it, the user has edited it. */
let generated = '';

const codeOfNetwork = () => {
  const { network, data } = state;
  if (network.code !== undefined || !isRow(network)) return network.code ?? '';
  return data === undefined ? '' : codeOfRow(network.layers, data);
};

/** Puts a text into the editor. */
function setCode(text: string): void {
  if (editor.value === text) return;
  editor.value = text;
  editor.dispatchEvent(new Event('input'));
}

/** The editor with colors, when its tab is opened; where it does not arrive, the plain one stays. */
const openRich = () =>
  (rich ??= import('../code_editor')
    .then(({ openEditor }) => openEditor(editor))
    .catch(() => (rich = undefined)));

const isEdited = () => editor.value !== generated;

function showState(): void {
  button('revert-code').disabled = !isEdited();
  show('code-state', isEdited() ? 'Changed, not used yet.' : '');
}

function showPhase(): void {
  button('run-code').disabled = state.phase !== 'idle' && !isTraining();
}

/** The network has changed: displays its code, unless the user has edited the code. */
export function onNetworkChange(): void {
  const wasEdited = isEdited();
  generated = codeOfNetwork();
  if (!wasEdited) setCode(generated);
  showState();
}

function revert(): void {
  setCode(generated);
  showProblem('code-problem', undefined);
  showState();
}

/** Tries the code in a worker; what it builds becomes the network. */
async function use(): Promise<void> {
  const { data, phase, status } = state;
  if (data === undefined || phase === 'busy') return;
  if (isTraining()) return showProblem('code-problem', 'Stop the training first.');
  const code = editor.value;
  showProblem('code-problem', undefined);
  show('code-state', 'Running …');
  update({ phase: 'busy', status: 'Trying the code …' });
  try {
    const network = await runCodeInWorker(code, data);
    generated = code;
    change(network);
    revert();
    show('code-state', isRow(network) ? 'Used.' : 'Used: a graph of layers.');
  } catch (error) {
    showState();
    showProblem('code-problem', error);
    if (error instanceof CodeError && error.line !== undefined) {
      (await rich)?.showError(error.line, error.message);
    }
  } finally {
    update({ phase: 'idle', status });
  }
}

/** Tabs: the arrow keys change between them. */
function openTabs(): void {
  const tabs = ['layers', 'code'];
  const choose = (name: string, focuses: boolean) => {
    for (const each of tabs) {
      const tab = button(`${each}-tab`);
      tab.ariaSelected = String(each === name);
      tab.tabIndex = each === name ? 0 : -1;
      element(`${each}-view`, HTMLDivElement).hidden = each !== name;
      if (focuses && each === name) tab.focus();
    }
    if (name === 'code') void openRich();
  };
  tabs.forEach((name, at) => {
    button(`${name}-tab`).addEventListener('click', () => choose(name, false));
    button(`${name}-tab`).addEventListener('keydown', ({ key }) => {
      if (key === 'ArrowLeft' || key === 'ArrowRight') choose(tabs[1 - at]!, true);
    });
  });
  choose('layers', false);
}

/** Code that the user edited and has not applied. */
export const draft = () => (isEdited() ? editor.value : undefined);

/** Puts such a text back; nothing has run it since the page was opened. */
export function showDraft(text: string): void {
  setCode(text);
  showState();
  if (isEdited()) show('code-state', 'Saved earlier, not used yet and not run: read it first.');
}

export function openCode(): void {
  openTabs();
  button('run-code').addEventListener('click', () => void use());
  button('revert-code').addEventListener('click', revert);
  editor.addEventListener('input', showState);
  editor.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void use();
  });
  watch(['phase'], showPhase);
  showState();
}
