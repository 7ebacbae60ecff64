/**
 * A llama of 109.5 M random weights with a key/value cache, compared with ONNX Runtime Web and, in pages, llama.cpp (wllama): tokens a
 * second of a prompt, then one at a time, the engines by turns. What is read for a token limits all: the weights, once.
 */
import { targetTable } from '../targets.mjs';
import { formatTable, median } from '../report.mjs';
import { inEngines } from './onnx_engines.mjs';

const forms = {
  float32: 32,
  float16: 16,
  '8 bits in blocks of 32': 8,
  '4 bits in blocks of 32': 4,
};
/** Engines continue to optimize code during some tokens, on threads twice as many. */
const [promptLength, warmUp] = [128, 32];

export const decode = { run };

/** Targets in Chromium: tokens a second on one thread, and the speedup on two. */
const targetRates = {
  next: { float32: 50, float16: 80, '8 bits in blocks of 32': 110, '4 bits in blocks of 32': 120 },
  prompt: 220,
  threads: { next: 1.15, prompt: 1.7 },
};

async function run(settings) {
  const tokens = 4 * settings.rounds;
  const prompts = Math.min(5, settings.rounds);
  const result = await inEngines(settings, async ({ title, threads, call }) => {
    const rows = [];
    for (const [name, bits] of Object.entries(forms)) {
      if (!name.includes(settings.rowText)) continue;
      const sizes = { prompts, promptLength, warmUp, tokens };
      const { engines, same, all, limits } = await call({
        task: 'decoded',
        bits,
        threads,
        ...sizes,
      });
      rows.push({
        name,
        prompts: engines.map((each) => (1000 * promptLength) / median(each.prompts)),
        rates: engines.map((each) => 1000 / median(each.times)),
        limits,
        same: `${same.join(', ')} of ${all}`,
      });
    }
    const peers = ['ONNX Runtime Web', 'wllama'].slice(0, rows[0].rates.length - 1);
    const markdown = formatTable(
      [
        `llama of 109.5 M weights, ${title}`,
        'tokens/s',
        ...peers,
        'memory allows',
        `prompt of ${promptLength}, tokens/s`,
        ...peers,
        'multiply-adds allow',
        'same tokens',
      ],
      rows.map(({ name, rates, prompts: promptRates, limits, same }) => [
        name,
        ...[...rates, limits.next, ...promptRates, limits.prompt].map(
          (rate) => rate?.toFixed(1) ?? '–',
        ),
        same,
      ]),
    );
    return { rows, markdown };
  });
  const targets = targetsOf(result.configurations.filter(({ engine }) => engine === 'chromium'));
  return { ...result, markdown: [result.markdown, ...targetTable(targets)].join('\n') };
}

/** The measured values of the targets, and the limits of the machine at that time. */
function targetsOf(configurations) {
  const one = configurations.find(({ threads }) => threads === 1);
  const addTarget = (row, name, value, limit, possible) => {
    return { title: row.name, name, value, limit, possible, met: value >= limit };
  };
  return configurations.flatMap(({ threads, rows }) =>
    rows.flatMap((row) => {
      const [next, prompt] = [row.rates[0], row.prompts[0]];
      if (threads === 1) {
        const { limits } = row;
        return [
          addTarget(row, 'tokens/s', next, targetRates.next[row.name], limits.next),
          addTarget(row, 'prompt, tokens/s', prompt, targetRates.prompt, limits.prompt),
        ];
      }
      const single = one?.rows.find(({ name }) => name === row.name);
      if (single === undefined) return [];
      const times = (of) => of(row) / of(single);
      const possible = (kind) => row.limits[kind] && row.limits[kind] / single.limits[kind];
      return [
        addTarget(
          row,
          'two threads ÷ one',
          times(({ rates }) => rates[0]),
          targetRates.threads.next,
          possible('next'),
        ),
        addTarget(
          row,
          'prompt, two threads ÷ one',
          times(({ prompts }) => prompts[0]),
          targetRates.threads.prompt,
          possible('prompt'),
        ),
      ];
    }),
  );
}
