// The measurements of docs/benchmarks as one table and one chart: the speeds in README. Prints the table; with --write it
// puts it into README.md and draws docs/benchmarks/summary.svg.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (suite) => JSON.parse(readFileSync(at(`docs/benchmarks/${suite}.json`), 'utf8'));
const peers = ['litert', 'tfjs', 'onnxruntime', 'jax', 'convnetjs'];

/** Groups of the table: rows of a suite, in Chromium on one thread. */
const groups = [
  { suite: 'train', title: 'training step of dense networks, batch of 64', rows: /^784/ },
  { suite: 'images', title: 'one image: MobileNet v1 and v2, ResNet-18, SqueezeNet' },
  { suite: 'mlps', title: 'dense networks, batch of 1', rows: /batch 1$/ },
  { suite: 'mlps', title: 'dense networks, batch of 64', rows: /batch 64$/ },
  { suite: 'ops', title: 'convolutions, softmax, normalization, sums, sorting, resizing' },
  { suite: 'products', title: 'products of matrices, 64³ to 1024³' },
  {
    suite: 'tensors',
    title: 'operations on tensors, TensorFlow.js API',
    rows: /^(?!.*(digits|curve|a step|basic|segm|LSTM))/,
  },
  {
    suite: 'tensors',
    title: 'training loops on tensors',
    rows: /^(digits|curve|a step)/,
  },
  { suite: 'decode', title: 'a token of a llama of 109.5 M weights in 4 to 32 bits' },
  { suite: 'start', title: 'from navigation to the first result' },
  { suite: 'start', title: 'the same, of a precompiled module', who: 'precompiled' },
];

const median = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
const factor = (value) =>
  value < 100 ? value.toPrecision(2) : String(Number(value.toPrecision(2)));
const time = (ms) =>
  ms < 0.1 ? `${(1000 * ms).toPrecision(2)} µs` : `${Number(ms.toPrecision(2))} ms`;

/** The rows of a group: our time, or that of another way of ours, and the fastest other one as many times ours. */
function rowsOf({ suite, rows = /./, who = 'tensorlathe' }) {
  const { configurations, rows: only } = read(suite);
  const inChromium = configurations?.find(
    ({ engine, threads }) => engine === 'chromium' && threads === 1,
  );
  const found = (inChromium?.rows ?? only).filter(({ name }) => rows.test(name));
  return found.map(({ peers: measured, rates }) => {
    if (rates) return { ours: 1000 / rates[0], faster: rates[0] / Math.max(...rates.slice(1)) };
    const ours = measured[who].ms;
    const others = peers.flatMap((name) => measured[name]?.ms ?? []);
    return { ours, faster: Math.min(...others) / ours };
  });
}

function summary() {
  return groups.map((group) => {
    const rows = rowsOf(group);
    const ours = rows.map((row) => row.ours).sort((a, b) => a - b);
    const faster = rows.map((row) => row.faster).sort((a, b) => a - b);
    return { ...group, count: rows.length, ours, faster };
  });
}

/** How many times as fast as the fastest peer we are in the median row of the first group of a suite. Error: no such suite. */
export function speedupOf(suite) {
  const group = groups.find((each) => each.suite === suite);
  if (group === undefined) throw new Error(`no speedup of ${suite} is measured`);
  const faster = rowsOf(group).map((row) => row.faster);
  return factor(median(faster.sort((a, b) => a - b)));
}

/** The table in Markdown. */
export function speedTable() {
  const rows = summary().map(({ title, ours, faster, suite }) => {
    const range = `${time(ours[0])} to ${time(ours.at(-1))}`;
    const spread = `**${factor(median(faster))}×** (${factor(faster[0])} to ${factor(faster.at(-1))})`;
    return `| [${title}](docs/benchmarks/${suite}.md) | ${range} | ${spread} |`;
  });
  return [
    '| in Chromium, on one thread | ours | times as fast as the fastest peer: median (minimum to maximum) |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const chart = { left: 380, width: 360, row: 30, top: 34, max: 5 };

function drawChart() {
  const x = (value) => chart.left + (Math.min(value, chart.max) / chart.max) * chart.width;
  const all = summary();
  const bottom = chart.top + all.length * chart.row;
  const bars = all.map(({ title, faster }, index) => {
    const y = chart.top + index * chart.row;
    const [least, middle, largest] = [faster[0], median(faster), faster.at(-1)];
    return `<text x="${chart.left - 10}" y="${y + 18}" text-anchor="end">${title}</text>
<rect x="${chart.left}" y="${y + 5}" width="${(x(middle) - chart.left).toFixed(1)}" height="18" rx="3" fill="#2563c9" />
<path d="M${x(least).toFixed(1)} ${y + 14}H${x(largest).toFixed(1)}" stroke="#0b1f44" stroke-width="2" />
<text x="${(x(largest) + 6).toFixed(1)}" y="${y + 18}">${factor(middle)}×</text>`;
  });
  const lines = [1, 2, 3, 4, 5].map(
    (value) =>
      `<path d="M${x(value)} ${chart.top}V${bottom}" stroke="${value === 1 ? '#b00' : '#ddd'}" /><text x="${x(value)}" y="${chart.top - 6}" text-anchor="middle" fill="#667">${value}×</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 ${bottom + 30}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff" />
${[...lines, ...bars].join('\n')}
<text x="12" y="${bottom + 20}" fill="#667">times as fast as the fastest of LiteRT.js, TensorFlow.js, ONNX Runtime Web, jax-js, ConvNetJS, wllama</text>
</svg>\n`;
}

const mark = /(<!-- speed: node bench\/summary\.mjs --write -->\n)[^]*?(\n<!-- \/speed -->)/;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(speedTable());
  if (process.argv.includes('--write')) {
    const readme = readFileSync(at('README.md'), 'utf8');
    writeFileSync(
      at('README.md'),
      readme.replace(mark, (_, a, b) => a + speedTable() + b),
    );
    writeFileSync(at('docs/benchmarks/summary.svg'), drawChart());
  }
}
