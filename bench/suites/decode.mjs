/**
 * A llama of 109.5 M random weights with a key/value cache, beside ONNX Runtime Web and, in pages, llama.cpp (wllama): tokens a
 * second of a prompt, then one at a time, the engines by turns. What is read for a token limits all: the weights, once.
 */
import { goalTable } from '../goals.mjs';
import { formatTable, median } from '../report.mjs';
import { inEngines } from './onnx_engines.mjs';

const forms = {
  float32: 32,
  float16: 16,
  '8 bits in blocks of 32': 8,
  '4 bits in blocks of 32': 4,
};
/** Engines go on optimising what they run for some tokens, on threads for twice as many. */
const [promptLength, warmUp] = [128, 32];

export const decode = { run };

/** What we want in Chromium: tokens a second on one thread, and how many times as many on two. */
const wanted = {
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
      const { engines, same, all, most } = await call({ task: 'decoded', bits, threads, ...sizes });
      rows.push({
        name,
        prompts: engines.map((each) => (1000 * promptLength) / median(each.prompts)),
        rates: engines.map((each) => 1000 / median(each.times)),
        most,
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
      rows.map(({ name, rates, prompts: given, most, same }) => [
        name,
        ...[...rates, most.next, ...given, most.prompt].map((rate) => rate?.toFixed(1) ?? '–'),
        same,
      ]),
    );
    return { rows, markdown };
  });
  const goals = goalsOf(result.configurations.filter(({ engine }) => engine === 'chromium'));
  return { ...result, markdown: [result.markdown, ...goalTable(goals)].join('\n') };
}

/** What was measured of what we want, and what the machine allowed meanwhile. */
function goalsOf(configurations) {
  const one = configurations.find(({ threads }) => threads === 1);
  const goal = (row, name, value, limit, possible) => {
    return { title: row.name, name, value, limit, possible, met: value >= limit };
  };
  return configurations.flatMap(({ threads, rows }) =>
    rows.flatMap((row) => {
      const [next, prompt] = [row.rates[0], row.prompts[0]];
      if (threads === 1) {
        const { most } = row;
        return [
          goal(row, 'tokens/s', next, wanted.next[row.name], most.next),
          goal(row, 'prompt, tokens/s', prompt, wanted.prompt, most.prompt),
        ];
      }
      const alone = one?.rows.find(({ name }) => name === row.name);
      if (alone === undefined) return [];
      const times = (of) => of(row) / of(alone);
      const possible = (kind) => row.most[kind] && row.most[kind] / alone.most[kind];
      return [
        goal(
          row,
          'two threads ÷ one',
          times(({ rates }) => rates[0]),
          wanted.threads.next,
          possible('next'),
        ),
        goal(
          row,
          'prompt, two threads ÷ one',
          times(({ prompts }) => prompts[0]),
          wanted.threads.prompt,
          possible('prompt'),
        ),
      ];
    }),
  );
}
