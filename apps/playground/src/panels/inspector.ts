// A model of the user's, as it is: facts, graph, operators, times; and a photo that it classifies.
import {
  box,
  button,
  canvas,
  element,
  fillSelect,
  input,
  make,
  milliseconds,
  select,
  show,
  showProblem,
  formatInteger,
} from '../dom';
import { graphView } from '../inspect/graph_view';
import { cropTo, imageShape, numbersFor, ranges } from '../inspect/image_input';
import { type ModelGraph, shapeText } from '../inspect/model_graph';
import { state, update } from '../store';
import { clearFileProblems } from './file_problems';

const bestCount = 5;
let model: ModelGraph | undefined;
let photo: Blob | undefined;

/** Whether a model is open that takes images. */
export const takesPhotos = () => imageShape(model?.inputs[0]) !== undefined;

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  const cells = rows.map(([name, value]) =>
    make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)),
  );
  return make('table', { className: 'facts' }, make('tbody', {}, ...cells));
}

function chooseNode(at: number): void {
  const node = model!.nodes[at];
  if (node === undefined) return;
  select('inspect-node').value = String(at);
  const rows: [string, string][] = [
    ['operator', node.operator],
    ['reads', node.inputs.filter((each) => each !== '').join(', ')],
    ['makes', `${node.outputs.join(', ')}${node.shape === undefined ? '' : `: ${node.shape}`}`],
    ...node.details,
  ];
  box('inspect-details').replaceChildren(table(rows));
  const graph = box('inspect-graph');
  for (const each of graph.querySelectorAll<SVGElement>('.box')) {
    each.classList.toggle('chosen', each.dataset.node === String(at));
  }
}

/** Brings the box of a node into view. */
function reveal(at: number): void {
  const found = box('inspect-graph').querySelector(`[data-node="${at}"]`);
  found?.scrollIntoView({ block: 'nearest', inline: 'center' });
}

function showOperators({ nodes }: ModelGraph): void {
  const counts = new Map<string, number>();
  for (const { operator } of nodes) counts.set(operator, (counts.get(operator) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const items = sorted.map(([name, count]) =>
    make('li', {}, make('b', {}, String(count)), ` ${name}`),
  );
  box('inspect-operators').replaceChildren(...items);
}

function showModel(opened: ModelGraph): void {
  model?.dispose();
  model = opened;
  const { name, facts, inputs, outputs, nodes } = opened;
  box('inspector').hidden = false;
  show('inspect-title', name);
  show(
    'inspect-text',
    `${formatInteger(nodes.length)} nodes. Click one, or choose it beside the graph.`,
  );
  showProblem('inspect-problem', undefined);
  const ports = (kind: string, all: typeof inputs) =>
    all.map((port): [string, string] => [
      `${kind} ${port.name}`,
      `${port.type} ${shapeText(port.shape)}`,
    ]);
  box('inspect-facts').replaceChildren(
    table([...facts, ...ports('Input', inputs), ...ports('Output', outputs)]),
  );
  showOperators(opened);
  const chooser = select('inspect-node');
  chooser.replaceChildren(
    ...nodes.map((node, at) => new Option(`${node.name}: ${node.operator}`, String(at))),
  );
  box('inspect-graph').replaceChildren(graphView(opened, chooseNode));
  box('inspect-times').replaceChildren();
  box('inspect-answer').hidden = true;
  canvas('inspect-image').hidden = true;
  photo = undefined;
  box('inspect-photo').hidden = !takesPhotos();
  if (nodes.length > 0) chooseNode(0);
  box('inspector').scrollIntoView();
}

/** Opens a model file. Error: it is damaged or unsupported. */
async function read(file: File): Promise<ModelGraph> {
  if (/\.onnx$/i.test(file.name)) return (await import('../inspect/onnx')).openOnnx(file);
  return (await import('../inspect/keras')).openKeras(file);
}

export async function inspect(file: File): Promise<void> {
  const { phase, status } = state;
  if (phase !== 'idle') throw new Error('Stop the training first.');
  update({ phase: 'busy', status: `Reading ${file.name} …` });
  try {
    showModel(await read(file));
  } finally {
    update({ phase: 'idle', status });
  }
}

async function time(): Promise<void> {
  const timed = model!;
  button('inspect-time').disabled = true;
  showProblem('inspect-problem', undefined);
  show('inspect-text', 'Measuring …');
  try {
    const parts = await timed.time();
    const total = parts.reduce((sum, { ms }) => sum + ms, 0);
    const longest = Math.max(...parts.map(({ ms }) => ms));
    const items = parts.map(({ name, ms }) => {
      const bar = make('i', { className: 'ours' });
      bar.style.width = `${(100 * ms) / (longest || 1)}%`;
      return make(
        'li',
        {},
        make('span', {}, name),
        make('div', {}, bar),
        make('b', {}, milliseconds(ms)),
      );
    });
    const list = make('ol', { className: 'step-bars', ariaLabel: 'Time by part' }, ...items);
    box('inspect-times').replaceChildren(make('h3', {}, 'Times'), list);
    show(
      'inspect-text',
      `One call takes ${milliseconds(total)} on one thread; parts that share a loop have one time.`,
    );
  } catch (error) {
    show('inspect-text', '');
    showProblem('inspect-problem', error);
  } finally {
    button('inspect-time').disabled = false;
  }
}

/** Outputs as shares; those that are none yet by softmax. */
function sharesOf(values: Float32Array): number[] {
  const sum = values.reduce((total, value) => total + value, 0);
  if (values.every((value) => value >= 0) && Math.abs(sum - 1) < 0.02) return [...values];
  const largest = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const powers = Array.from(values, (value) => Math.exp(value - largest));
  const total = powers.reduce((all, value) => all + value, 0);
  return powers.map((power) => power / total);
}

/** Classifies a photo with the open model. */
export async function classifyPhoto(file: Blob): Promise<void> {
  photo = file;
  const opened = model!;
  const shape = imageShape(opened.inputs[0])!;
  const { width, height } = shape;
  showProblem('inspect-problem', undefined);
  const image = await cropTo(file, width, height);
  const target = canvas('inspect-image');
  [target.width, target.height, target.hidden] = [width, height, false];
  target.getContext('2d')!.drawImage(image, 0, 0);
  const begin = performance.now();
  const values = await opened.run(
    numbersFor(image, shape, select('inspect-range').value),
    shape.shape,
  );
  const ms = performance.now() - begin;
  const shares = sharesOf(values);
  const order = [...shares.keys()].sort((a, b) => shares[b]! - shares[a]!).slice(0, bestCount);
  const nameOf = (at: number) => opened.labels?.[at] ?? `class ${at}`;
  show(
    'inspect-guess',
    `${nameOf(order[0]!)}, it thinks. The first call, with compiling, took ${milliseconds(ms)}.`,
  );
  const items = order.map((at, index) => {
    const bar = make('i');
    bar.style.width = `${100 * shares[at]!}%`;
    const share = `${(100 * shares[at]!).toFixed(1)} %`;
    return make(
      'li',
      { className: index === 0 ? 'best' : '' },
      make('b', {}, nameOf(at)),
      make('div', {}, bar),
      make('span', {}, share),
    );
  });
  box('inspect-bars').replaceChildren(...items);
  box('inspect-answer').hidden = false;
}

function tryPhoto(file: Blob | undefined): void {
  if (file !== undefined)
    classifyPhoto(file).catch((error: unknown) => showProblem('inspect-problem', error));
}

export function openInspector(): void {
  box('inspector').hidden = true;
  fillSelect(select('inspect-range'), Object.keys(ranges));
  button('inspect-time').addEventListener('click', () => void time());
  button('inspect-close').addEventListener('click', () => {
    model?.dispose();
    model = photo = undefined;
    clearFileProblems();
    box('inspector').hidden = true;
    element('model-file', HTMLInputElement).focus();
  });
  select('inspect-node').addEventListener('change', () => {
    const at = Number(select('inspect-node').value);
    chooseNode(at);
    reveal(at);
  });
  select('inspect-range').addEventListener('change', () => tryPhoto(photo));
  input('inspect-file').addEventListener('change', () => {
    const [file] = input('inspect-file').files ?? [];
    tryPhoto(file);
    input('inspect-file').value = '';
  });
}
