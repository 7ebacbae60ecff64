/**
 * A llama of 109.5 M random weights with a key/value cache, beside ONNX Runtime Web and, in pages, llama.cpp (wllama): tokens a
 * second of a prompt, then one at a time, the engines by turns. What is read for a token limits all: the weights, once.
 */
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

async function run(settings) {
  const tokens = 4 * settings.rounds;
  const prompts = Math.min(5, settings.rounds);
  return inEngines(settings, async ({ title, threads, call }) => {
    const rows = [];
    for (const [name, bits] of Object.entries(forms)) {
      if (!name.includes(settings.rowText)) continue;
      const sizes = { prompts, promptLength, warmUp, tokens };
      const { engines, same, all } = await call({ task: 'decoded', bits, threads, ...sizes });
      rows.push({
        name,
        prompts: engines.map((each) => (1000 * promptLength) / median(each.prompts)),
        rates: engines.map((each) => 1000 / median(each.times)),
        same: `${same.join(', ')} of ${all}`,
      });
    }
    const peers = ['ONNX Runtime Web', 'wllama'].slice(0, rows[0].rates.length - 1);
    const markdown = formatTable(
      [
        `llama of 109.5 M weights, ${title}`,
        'tokens/s',
        ...peers,
        `prompt of ${promptLength}, tokens/s`,
        ...peers,
        'same tokens',
      ],
      rows.map(({ name, rates, prompts: given, same }) => [
        name,
        ...[...rates, ...given].map((rate) => rate.toFixed(1)),
        same,
      ]),
    );
    return { rows, markdown };
  });
}
