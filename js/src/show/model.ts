/** A model as a graph of its layers: boxes in ranks, and as a table in text. */
import { Figure } from './figure.js';
import { assignPositions, type Node } from './layout.js';
import { element, rounded, svgImage, textAt, tooltip } from './svg.js';

/** A symbolic tensor of a model. */
export interface TensorOfModel {
  shape: unknown;
  sourceLayer: LayerOfModel;
  nodeIndex: number;
}

/** A call of a layer; TensorFlow.js names the tensors `inputTensors`. */
interface CallOfModel {
  inputs?: readonly TensorOfModel[];
  outputs?: readonly TensorOfModel[];
  inputTensors?: readonly TensorOfModel[];
  outputTensors?: readonly TensorOfModel[];
}

interface LayerOfModel {
  name: string;
  trainable?: boolean;
  inboundNodes: readonly CallOfModel[];
  getClassName(): string;
  countParams(): number;
}

/** A model of layers, of this package or of TensorFlow.js. */
export interface ModelLike {
  name: string;
  layers: readonly LayerOfModel[];
  outputs: readonly TensorOfModel[];
}

interface Box extends Node {
  layer: LayerOfModel;
  /** The name, class, shapes and parameters. */
  cells: [string, string, string, string];
  /** What the box says. */
  lines: string[];
  kind: string;
}

const boxHeight = 58;
const longest = 44;

const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

const shapeOf = (shape: unknown): string =>
  Array.isArray(shape) ? `[${shape.map((size) => size ?? 'null').join(', ')}]` : String(shape);

/** The number of a layer's parameters; 0 where it does not know them yet. */
function parametersOf(layer: LayerOfModel): number {
  try {
    return layer.countParams();
  } catch {
    return 0;
  }
}

const callOf = ({ sourceLayer, nodeIndex }: TensorOfModel): CallOfModel =>
  sourceLayer.inboundNodes[nodeIndex]!;

/** The calls that it reads; input layers of TensorFlow.js read their own output. */
const readBy = (call: CallOfModel): TensorOfModel[] =>
  (call.inputs ?? call.inputTensors ?? []).filter((each) => callOf(each) !== call);

/** The calls that the outputs need, each after its inputs; an explicit stack, as chains may have thousands of layers. */
function callsOf({ outputs }: ModelLike): Map<CallOfModel, LayerOfModel> {
  const found = new Map<CallOfModel, LayerOfModel>();
  const begun = new Set<CallOfModel>();
  const open = [...outputs].reverse();
  for (let tensor = open.at(-1); tensor !== undefined; tensor = open.at(-1)) {
    const call = callOf(tensor);
    if (begun.has(call)) {
      found.set(call, tensor.sourceLayer);
      open.pop();
    } else {
      begun.add(call);
      open.push(...readBy(call).filter((each) => !begun.has(callOf(each))).reverse()); // prettier-ignore
    }
  }
  return found;
}

function boxesOf(model: ModelLike): Box[] {
  const calls = callsOf(model);
  const ends = new Set(model.outputs.map(callOf));
  const boxes = new Map<CallOfModel, Box>();
  const counts = new Map<LayerOfModel, number>();
  const shared = new Set([...calls.values()].filter((layer, at, all) => all.indexOf(layer) < at));
  for (const [call, layer] of calls) {
    const inputs = readBy(call).map((each) => boxes.get(callOf(each))!);
    const number = (counts.get(layer) ?? 0) + 1;
    counts.set(layer, number);
    const shapes = (call.outputs ?? call.outputTensors ?? []).map(({ shape }) => shapeOf(shape));
    const count = parametersOf(layer);
    const frozen = layer.trainable === false ? ', frozen' : '';
    const cells: Box['cells'] = [
      shared.has(layer) ? `${layer.name} (${number})` : layer.name,
      layer.getClassName(),
      shapes.join(' '),
      count > 0 ? `${count.toLocaleString('en')} parameters${frozen}` : '',
    ];
    const lines = [cells[0], `${cells[1]} ${cells[2]}`, cells[3]].filter(Boolean).map(cut);
    boxes.set(call, {
      layer,
      cells,
      lines,
      kind: inputs.length === 0 || ends.has(call) ? 'node end' : 'node',
      inputs,
      width: 24 + 7 * Math.max(...lines.map((each) => each.length)),
      rank: 0,
      x: 0,
    });
  }
  return [...boxes.values()];
}

const top = (rank: number): number => 52 + rank * (boxHeight + 30);

/** A curve from a box to one below, past the boxes of the ranks between. */
function drawEdge(points: readonly { x: number; rank: number }[]): string {
  const xs = points.map(({ x }) => rounded(x));
  let path = `M${xs[0]!}`;
  for (const [at, { rank }] of points.slice(1).entries()) {
    const [from, to, middle] = [xs[at]!, xs[at + 1]!, top(rank) - 16];
    path += ` ${top(rank - 1) + boxHeight}C${from} ${middle} ${to} ${middle} ${to} ${top(rank) - 1}`;
    if (at + 2 < points.length) path += `L${to}`;
  }
  return element('path', { class: 'edge', d: `${path}m-4 -6l4 6l4 -6` });
}

function drawBox({ x, rank, width, cells, lines, kind }: Box): string {
  const y = top(rank);
  const middle = y + 4 + (boxHeight - 16 * (lines.length - 1)) / 2;
  return element(
    'g',
    {},
    tooltip(cells.filter(Boolean).join('\n')),
    element('rect', { class: kind, x: rounded(x - width / 2), y, width, height: boxHeight, rx: 6 }),
    ...lines.map((each, at) =>
      textAt(x, middle + 16 * at, each, at === 0 ? 'title' : 'faint', 'middle'),
    ),
  );
}

/** Layers, output shapes and parameters; in models that are no chain also the inputs. */
function printTable(boxes: readonly Box[]): string[] {
  const isChain = boxes.every(({ inputs }, at) => inputs.length < 2 && (inputs[0] ?? boxes[at - 1]) === boxes[at - 1]); // prettier-ignore
  const rows = boxes.map(({ cells, inputs }) => [
    ...cells,
    ...(isChain ? [] : [inputs.length === 0 ? '' : `← ${inputs.map((each) => (each as Box).cells[0]).join(', ')}`]), // prettier-ignore
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((each, at) => each.padEnd(widths![at]!)).join('  ').trimEnd()); // prettier-ignore
}

/** The figure of a model; `title` is above it. */
export function showModel(model: ModelLike, title: string): Figure {
  const boxes = boxesOf(model);
  const { width, ranks, edges } = assignPositions(boxes);
  const layers = new Set(boxes.map(({ layer }) => layer));
  const total = [...layers].reduce((sum, layer) => sum + parametersOf(layer), 0);
  const heading = `${title}: ${layers.size} layers, ${total.toLocaleString('en')} parameters`;
  const whole = Math.max(width + 28, 28 + 7 * heading.length);
  const svg = svgImage(whole, top(ranks) - 16, heading, [
    textAt(14, 26, heading, 'title'),
    element(
      'g',
      { transform: `translate(${rounded((whole - width) / 2)} 0)` },
      ...edges.map(drawEdge),
      ...boxes.map(drawBox),
    ),
  ]);
  return new Figure([heading, '', ...printTable(boxes)].join('\n'), svg);
}
