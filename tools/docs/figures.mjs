// Draws the stages of compiling one training step: the source graph, the graph as it is lowered, a loop next to its
// code. As a program it writes docs/guides/figures. It only depends on the text of dumps.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tl from 'tensorlathe';

const box = { width: 112, height: 34, across: 12, down: 24 };
const kernelFills = ['#cfe3ff', '#d5efcf', '#ffe1c2'];
const letter = { width: 6.65, height: 15 };
const escape = (text) =>
  text.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each]);

/** One training step of a linear function, with what it was on the way to code. */
function trainingStep() {
  return tl.compile(
    { x: [8, 16], y: [8, 4] },
    ({ x, y }, g) => {
      const w = g.variable('w', [16, 4]);
      const loss = x.matMul(w).sub(y).square().mean();
      const [gradient] = g.grad(loss, [w]);
      g.assign(w, w.sub(gradient.mul(0.1)));
      return { loss };
    },
    { dumps: ['before:eliminate_dead_code', 'before:lower', 'before:emit_wasm'] },
  );
}

/** The nodes of a graph in its text: number, label, type, operands. */
function nodesOf(text) {
  const nodes = [];
  for (const line of text.split('\n')) {
    const [, number, what, type] = /^ *%(\d+) = (.*) : (.*)$/.exec(line) ?? [];
    if (number !== undefined) {
      const operands = [...what.matchAll(/%(\d+)/g)].map(([, each]) => Number(each));
      const label = what.replace(/ (over|axes|map \[).*| %\d+/g, '').replaceAll('"', '');
      nodes.push({ number: Number(number), label, type, operands });
    }
    const [, kind, name, operand] = /^ *(output|update) (\S+) %(\d+)/.exec(line) ?? [];
    if (kind !== undefined) {
      const label = kind === 'output' ? `output ${name.replaceAll('"', '')}` : 'update w';
      nodes.push({ number: undefined, label, type: '', operands: [Number(operand)] });
    }
  }
  return nodes;
}

/** Each node in the row after its operands; in a row sorted by the mean of their positions. */
function layout(nodes) {
  const byNumber = new Map(nodes.map((node) => [node.number, node]));
  const rows = [];
  for (const node of nodes) {
    node.from = node.operands.map((each) => byNumber.get(each));
    node.row = Math.max(-1, ...node.from.map(({ row }) => row)) + 1;
    (rows[node.row] ??= []).push(node);
  }
  // Nodes without operands are right above their first user.
  for (const node of nodes.filter(({ from }) => from.length === 0)) {
    const users = nodes.filter(({ from }) => from.includes(node)).map(({ row }) => row);
    rows[node.row].splice(rows[node.row].indexOf(node), 1);
    node.row = users.length === 0 ? 0 : Math.max(0, Math.min(...users) - 1);
    rows[node.row].push(node);
  }
  const widest = Math.max(...rows.map(({ length }) => length));
  for (const row of rows) {
    const middle = (node) =>
      node.from.reduce((sum, { x }) => sum + x / node.from.length, node.from.length ? 0 : 1e9);
    row.sort((a, b) => middle(a) - middle(b));
    row.forEach((node, at) => (node.x = at + (widest - row.length) / 2));
  }
  return { nodes, width: widest, height: rows.length };
}

/** The index of the kernel that computes a node: that of the last of its inputs with a separate kernel. */
function kernelOf(node, origins) {
  const index = origins.indexOf(node.number);
  if (index >= 0) return index;
  return Math.max(-1, ...node.from.map((each) => kernelOf(each, origins)));
}

function svg(width, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, monospace" font-size="11">
<rect width="100%" height="100%" fill="#fff" />\n${parts.join('\n')}\n</svg>\n`;
}

function drawGraph(text, origins = []) {
  const { nodes, width, height } = layout(nodesOf(text));
  const left = ({ x }) => 8 + x * (box.width + box.across);
  const top = ({ row }) => 8 + row * (box.height + box.down);
  const lines = nodes.flatMap((node) =>
    [...new Set(node.from)].map((from) => {
      const [x1, y1] = [left(from) + box.width / 2, top(from) + box.height];
      const [x2, y2] = [left(node) + box.width / 2, top(node)];
      const half = (y1 + y2) / 2;
      return `<path d="M${x1} ${y1} C${x1} ${half} ${x2} ${half} ${x2} ${y2}" fill="none" stroke="#889" />`;
    }),
  );
  const boxes = nodes.map((node) => {
    const fill = kernelFills[kernelOf(node, origins)] ?? '#f3f3f6';
    const middle = left(node) + box.width / 2;
    const at = top(node) + (node.type === '' ? 21 : 14);
    return `<rect x="${left(node)}" y="${top(node)}" width="${box.width}" height="${box.height}" rx="5" fill="${fill}" stroke="#667" />
<text x="${middle}" y="${at}" text-anchor="middle">${escape(node.label)}</text><text x="${middle}" y="${at + 13}" text-anchor="middle" fill="#667">${escape(node.type)}</text>`;
  });
  const size = [16 + width * (box.width + box.across), 16 + height * (box.height + box.down)];
  return svg(...size, [...lines, ...boxes]);
}

/** From the line that fits to the one that closes it, at its indentation. */
function block(text, pattern) {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => pattern.test(line));
  const indent = /^ */.exec(lines[first])[0];
  const last = lines.findIndex(
    (line, at) =>
      at > first &&
      /^ *(\}|end)/.test(line) &&
      line.startsWith(indent) &&
      line[indent.length] !== ' ',
  );
  return lines.slice(first, last + 1).map((line) => line.slice(indent.length));
}

/** Two texts next to each other. */
function drawTexts(titles, texts) {
  const widths = texts.map((lines) => Math.max(...lines.map(({ length }) => length)));
  const parts = texts.flatMap((lines, column) => {
    const x = 14 + (column === 0 ? 0 : widths[0] * letter.width + 40);
    const title = `<text x="${x}" y="20" fill="#667">${escape(titles[column])}</text>`;
    const formatted = lines.map(
      (line, at) =>
        `<text x="${x}" y="${46 + at * letter.height}" xml:space="preserve">${escape(line)}</text>`,
    );
    return [title, ...formatted];
  });
  const height = 56 + Math.max(...texts.map(({ length }) => length)) * letter.height;
  return svg(Math.ceil(68 + (widths[0] + widths[1]) * letter.width), height, parts);
}

/** The figures by file name. */
export async function figures() {
  const step = trainingStep();
  const [source, lowered, loops] = ['eliminate_dead_code', 'lower', 'emit_wasm'].map(
    (pass) => step.dumps().find(({ when }) => when === `before:${pass}`).text,
  );
  const origins = [...loops.matchAll(/^ *kernel \S+ origin (\d+)/gm)].map(([, at]) => Number(at));
  const code = await tl.moduleText(step.module());
  const product = /^ *for k in 16 \{/;
  return {
    'graph_source.svg': drawGraph(source),
    'graph_lowered.svg': drawGraph(lowered, origins),
    'loop_and_code.svg': drawTexts(
      ['the loop of the first kernel', 'its WebAssembly'],
      [block(loops, product), block(code, /^ *loop {2};; label = @2/)],
    ),
  };
}

/** Writes them into a folder. */
export async function writeFigures(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await figures()))
    writeFileSync(join(folder, name), text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFigures(fileURLToPath(new URL('../../docs/guides/figures', import.meta.url)));
}
