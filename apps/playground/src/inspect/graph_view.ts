// The graph of a model as boxes from top to bottom, each below what it reads.
import { draw } from '../panels/scatter';
import type { GraphNode, ModelGraph } from './model_graph';

const [boxWidth, boxHeight, gapX, gapY] = [168, 36, 18, 26];
/** More boxes than these are slow to draw, and nobody reads them. */
const maxNodes = 600;

interface Box {
  label: string;
  note: string;
  kind: string;
  reads: number[];
  row: number;
  x: number;
  /** Index of its node, or -1: an input of the model. */
  node: number;
}

/** What an operator does, for its color. */
function kindOf(operator: string): string {
  if (/Conv|Dense|MatMul|Gemm|Attention/i.test(operator)) return 'product';
  if (/Relu|Sigmoid|Tanh|Softmax|Elu|Gelu|Clip|Activation|HardSwish|LeakyReLU/i.test(operator))
    return 'activation';
  if (/Norm/i.test(operator)) return 'normal';
  if (/Pool|Reduce/i.test(operator)) return 'pool';
  return 'other';
}

function boxesOf({ inputs, nodes }: ModelGraph): Box[] {
  const madeBy = new Map<string, number>();
  const boxes: Box[] = inputs.map(({ name }, at) => {
    madeBy.set(name, at);
    return { label: name, note: 'input', kind: 'input', reads: [], row: 0, x: 0, node: -1 };
  });
  nodes.slice(0, maxNodes).forEach((node: GraphNode, at) => {
    for (const output of node.outputs) madeBy.set(output, boxes.length);
    const note = node.shape ?? node.name;
    boxes.push({
      label: node.operator,
      note,
      kind: kindOf(node.operator),
      reads: [],
      row: 0,
      x: 0,
      node: at,
    });
  });
  const [first] = inputs.length === 1 ? [0] : [];
  for (const box of boxes) {
    if (box.node === -1) continue;
    const reads = nodes[box.node]!.inputs.map(
      (name) => madeBy.get(name) ?? (name === 'input' ? first : undefined),
    );
    box.reads = [...new Set(reads.filter((each) => each !== undefined))];
  }
  // Files list nodes in the order of computation, or nearly so: a few rounds put every box below what it reads.
  for (let round = 0; round < 4; ++round) {
    for (const box of boxes) {
      box.row = Math.max(
        box.node === -1 ? 0 : 1,
        ...box.reads.map((each) => Math.min(boxes[each]!.row + 1, maxNodes)),
      );
    }
  }
  return boxes;
}

/** The graph as an SVG; a click on a box chooses its node. */
export function graphView(model: ModelGraph, onChosen: (node: number) => void): SVGElement {
  const boxes = boxesOf(model);
  const rows: Box[][] = [];
  for (const box of boxes) (rows[box.row] ??= []).push(box);
  const widest = Math.max(...rows.filter(Boolean).map(({ length }) => length), 1);
  const width = Math.max(widest * (boxWidth + gapX) + gapX, 420);
  const height = rows.length * (boxHeight + gapY) + gapY;
  for (const row of rows.filter(Boolean)) {
    const left = (width - row.length * (boxWidth + gapX) + gapX) / 2;
    row.forEach((box, at) => (box.x = left + at * (boxWidth + gapX)));
  }
  const top = ({ row }: Box) => gapY + row * (boxHeight + gapY);
  const made = draw('svg', {
    viewBox: `0 0 ${width} ${height}`,
    class: 'model-graph',
    role: 'img',
    'aria-label': `Graph of ${model.nodes.length} nodes`,
  });
  made.style.width = `${width}px`;
  for (const box of boxes) {
    for (const each of box.reads) {
      const from = boxes[each]!;
      const [x0, y0] = [from.x + boxWidth / 2, top(from) + boxHeight];
      const [x1, y1] = [box.x + boxWidth / 2, top(box)];
      const side = box.row - from.row > 1 && Math.abs(x0 - x1) < 1 ? boxWidth * 0.75 : 0;
      const bend = (y1 - y0) / 2;
      made.append(
        draw('path', {
          d: `M${x0} ${y0}C${x0 + side} ${y0 + bend} ${x1 + side} ${y1 - bend} ${x1} ${y1}`,
        }),
      );
    }
  }
  for (const box of boxes) {
    const group = draw('g', { class: `box ${box.kind}`, 'data-node': box.node });
    const x = box.x + boxWidth / 2;
    const short = (text: string) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
    group.append(
      draw('rect', { x: box.x, y: top(box), width: boxWidth, height: boxHeight, rx: 6 }),
      draw('text', { x, y: top(box) + 15, class: 'name' }, short(box.label)),
      draw('text', { x, y: top(box) + 29 }, short(box.note)),
    );
    if (box.node >= 0) group.addEventListener('click', () => onChosen(box.node));
    made.append(group);
  }
  return made;
}
