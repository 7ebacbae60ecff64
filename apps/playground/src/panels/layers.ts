// The network as a list of layers: adds, removes, moves and changes them; errors are displayed at the layer.
import { box, button, element, make, makeButton, select, formatShape, formatInteger } from '../dom';
import { change, replaceQuietly, undo, canUndo } from '../editing';
import { type CheckedLayer, isRow, type LayerSpec } from '../network';
import { presets } from '../presets';
import { isTraining, state, watch } from '../store';
import { firstConfig, layerGroups, layerRow } from '../tables';
import { optionFields } from './layer_options';

const list = element('layers', HTMLOListElement);
const opened = new WeakSet<LayerSpec>();

const layers = (): LayerSpec[] => (isRow(state.network) ? state.network.layers : []);

/** The elements that display the state of one layer, updated after each check. */
interface Row {
  item: HTMLLIElement;
  facts: HTMLElement;
  problem: HTMLElement;
}

let rows: Row[] = [];

function move(at: number, by: number): void {
  const moved = [...layers()];
  const [layer] = moved.splice(at, 1);
  moved.splice(at + by, 0, layer!);
  change({ layers: moved });
  const directions = by < 0 ? ['up', 'down'] : ['down', 'up'];
  for (const action of directions) {
    const control = rows[at + by]!.item.querySelector<HTMLButtonElement>(`[data-action=${action}]`);
    if (control?.disabled === false) return control.focus();
  }
}

function remove(at: number): void {
  change({ layers: layers().filter((_, other) => other !== at) });
  const next = rows[Math.min(at, rows.length - 1)];
  (next?.item.querySelector('summary') ?? button('add-layer')).focus();
}

function setConfig(at: number, config: Record<string, unknown>): void {
  const before = layers()[at]!;
  const after = { ...before, config };
  if (opened.has(before)) opened.add(after);
  replaceQuietly({ layers: layers().map((each, other) => (other === at ? after : each)) });
}

function makeRow(layer: LayerSpec, at: number, count: number): Row {
  const id = `layer-${at + 1}-problem`;
  const facts = make('span', { className: 'facts-of' });
  const problem = make('p', { className: 'problem', id, hidden: true });
  const action = (
    text: string,
    name: string,
    label: string,
    disabled: boolean,
    act: () => void,
  ) => {
    const made = makeButton(text, act, `${label} layer ${at + 1}, ${layer.class}`);
    made.dataset.action = name;
    made.disabled = disabled;
    made.className = 'icon';
    return made;
  };
  const access = {
    get: () => layers()[at]!.config,
    set: (config: Record<string, unknown>) => setConfig(at, config),
  };
  const doc = make('p', { className: 'hint' }, layerRow(layer.class)?.doc ?? '');
  const name = make('span', { className: 'layer-name' }, layer.class);
  const summary = make('summary', {}, name, facts);
  const details = make('details', { open: opened.has(layer) }, summary);
  details.append(
    make('div', { className: 'layer-body' }, doc, ...optionFields(layer.class, access)),
  );
  details.addEventListener('toggle', () => {
    const now = layers()[at];
    if (now === undefined) return;
    if (details.open) opened.add(now);
    else opened.delete(now);
  });
  const actions = make(
    'div',
    { className: 'layer-actions' },
    action('↑', 'up', 'Move up', at === 0, () => move(at, -1)),
    action('↓', 'down', 'Move down', at === count - 1, () => move(at, 1)),
    action('×', 'remove', 'Remove', false, () => remove(at)),
  );
  const item = make('li', {}, details, actions, problem);
  return { item, facts, problem };
}

/** Output shape of the layer, and its number of weights. */
function factsOf({ shape, params }: CheckedLayer): (Node | string)[] {
  if (shape === undefined) return [];
  if (!params) return [formatShape(shape)];
  const unit = make('span', { className: 'wide' }, ' weights');
  return [`${formatShape(shape)} · ${formatInteger(params)}`, unit];
}

/** Reveals a control with an error, which may be under "More options". */
function showControl(control: HTMLElement, problem: string): void {
  control.setAttribute('aria-describedby', problem);
  const more = control.closest<HTMLDetailsElement>('details.more');
  if (more !== null) more.open = true;
}

/** Displays shapes, numbers of weights and errors at the layers. */
function showChecked(): void {
  const { checked } = state;
  rows.forEach(({ item, facts, problem }, at) => {
    const found = checked?.layers[at];
    facts.replaceChildren(...(found === undefined ? [] : factsOf(found)));
    const text = found?.problem;
    item.classList.toggle('wrong', text !== undefined);
    problem.hidden = text === undefined;
    problem.textContent = text === undefined ? '' : `${found!.class}: ${text}`;
    for (const control of item.querySelectorAll<HTMLElement>('[data-option]')) {
      const isWrong = text !== undefined && control.dataset.option === found?.option;
      control.toggleAttribute('aria-invalid', isWrong);
      if (isWrong) control.setAttribute('aria-invalid', 'true');
      if (isWrong) showControl(control, problem.id);
      else control.removeAttribute('aria-describedby');
    }
  });
}

/** The list of a graph can be looked at; it is changed as code. */
function showGraph(): void {
  const items = (state.checked?.layers ?? []).map((layer) => {
    const name = make('span', { className: 'layer-name' }, `${layer.class} `);
    const called = make('span', { className: 'note' }, layer.name);
    const facts = make('span', { className: 'facts-of' }, ...factsOf(layer));
    return make('li', { className: 'fixed' }, name, called, facts);
  });
  list.replaceChildren(...items);
}

function showAll(): void {
  const { network, data } = state;
  const isList = isRow(network);
  for (const id of ['new-layer', 'add-layer'] as const) {
    (box(id) as HTMLButtonElement).disabled = !isList;
  }
  rows = isList ? layers().map((layer, at, { length }) => makeRow(layer, at, length)) : [];
  if (!isList) return showGraph();
  const shape = data === undefined ? '' : formatShape(data.shape);
  const input = make(
    'li',
    { className: 'fixed' },
    make('span', { className: 'layer-name' }, 'Input'),
    make('span', { className: 'facts-of' }, shape),
  );
  list.replaceChildren(input, ...rows.map(({ item }) => item));
  showChecked();
}

function showPresets(): void {
  const { data } = state;
  if (data === undefined) return;
  const chooser = select('preset');
  chooser.replaceChildren(new Option('choose …', '', true, true));
  presets.forEach(({ name, fits }, at) => {
    if (fits(data)) chooser.append(new Option(name, String(at)));
  });
}

function addLayer(): void {
  const className = select('new-layer').value;
  const layer = { class: className, config: firstConfig(className) };
  opened.add(layer);
  // The last layer usually has the output shape of the data: a new one is inserted before it.
  const all = layers();
  const at = Math.max(all.length - 1, 0);
  change({ layers: [...all.slice(0, at), layer, ...all.slice(at)] });
  rows[at]!.item.querySelector('summary')!.focus();
}

export function openLayers(): void {
  const chooser = select('new-layer');
  for (const [group, members] of layerGroups()) {
    const options = members.map((row) => new Option(row.class, row.class));
    chooser.append(make('optgroup', { label: group }, ...options));
  }
  chooser.value = 'Dense';
  button('add-layer').addEventListener('click', addLayer);
  button('undo').addEventListener('click', undo);
  select('preset').addEventListener('change', ({ target }) => {
    const preset = presets[Number((target as HTMLSelectElement).value)];
    if (preset !== undefined && state.data !== undefined)
      change({ layers: preset.layers(state.data) });
    select('preset').value = '';
  });
  watch(['data'], showPresets);
  watch(['network', 'data', 'checked', 'phase'], () => {
    button('undo').disabled = !canUndo() || isTraining();
  });
}

/** The network has been replaced. */
export const onNetworkReplaced = showAll;
/** Only the facts about its layers have changed. */
export const onNetworkChecked = () => (isRow(state.network) ? showChecked() : showGraph());
