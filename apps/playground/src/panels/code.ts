// The network as code, beside the list of layers. A person's text is kept until they use it or go back.
import { codeOfRow, networkOf, runCode } from '../code';
import { button, element, messageOf, show, showProblem } from '../dom';
import { change } from '../editing';
import { isRow } from '../network';
import { state } from '../store';

const editor = element('code', HTMLTextAreaElement);
/** The text that is the network; where the editor has another, a person has changed it. */
let written = '';

const codeOfNetwork = () => {
  const { network, data } = state;
  if (network.code !== undefined || !isRow(network)) return network.code ?? '';
  return data === undefined ? '' : codeOfRow(network.layers, data);
};

const isEdited = () => editor.value !== written;

function showState(): void {
  button('revert-code').disabled = !isEdited();
  show('code-state', isEdited() ? 'Changed, not used yet.' : '');
}

/** The network has changed: shows its code, unless that would lose what a person wrote. */
export function onNetworkChange(): void {
  const wasEdited = isEdited();
  written = codeOfNetwork();
  if (!wasEdited) editor.value = written;
  showState();
}

function revert(): void {
  editor.value = written;
  showProblem('code-problem', undefined);
  showState();
}

function use(): void {
  const { data } = state;
  if (data === undefined) return;
  try {
    const model = runCode(editor.value, data);
    try {
      const network = networkOf(model, data, editor.value);
      written = editor.value;
      change(network);
    } finally {
      model.dispose();
    }
    revert();
    show('code-state', isRow(state.network) ? 'Used.' : 'Used: a graph of layers.');
  } catch (error) {
    const where = error instanceof SyntaxError ? 'The code does not parse: ' : '';
    showProblem('code-problem', `${where}${messageOf(error)}`);
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
  };
  tabs.forEach((name, at) => {
    button(`${name}-tab`).addEventListener('click', () => choose(name, false));
    button(`${name}-tab`).addEventListener('keydown', ({ key }) => {
      if (key === 'ArrowLeft' || key === 'ArrowRight') choose(tabs[1 - at]!, true);
    });
  });
  choose('layers', false);
}

/** What a person wrote and has not used. */
export const draft = () => (isEdited() ? editor.value : undefined);

/** Puts such a text back. */
export function showDraft(text: string): void {
  editor.value = text;
  showState();
}

export function openCode(): void {
  openTabs();
  button('run-code').addEventListener('click', use);
  button('revert-code').addEventListener('click', revert);
  editor.addEventListener('input', showState);
  editor.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    use();
  });
  showState();
}
