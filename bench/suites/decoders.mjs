/**
 * Small decoders of random weights with the states of published ones, for which a call takes as long as what is around it: milliseconds
 * of a token, the engines by turns.
 */
import { formatTable } from '../report.mjs';
import { inEngines } from './onnx_engines.mjs';

const kinds = {
  'GPT-2, keys and values in one tensor': 'gpt2',
  'LFM2, convolutions': 'lfm2',
  'Granite 4 hybrid, state-space layers': 'granite',
  'Falcon H1, both in each layer': 'falcon',
  'Qwen 3.5, gated delta rule': 'qwen',
  Whisper: 'whisper',
  T5: 't5',
};

export const decoders = { run };

async function run(settings) {
  return inEngines(settings, async ({ title, threads, call }) => {
    const [rows, problems] = [[], []];
    for (const [name, kind] of Object.entries(kinds)) {
      if (!name.includes(settings.rowText)) continue;
      const tokens = 16 * settings.rounds;
      const { times, off } = await call({ task: 'decoders', kind, threads, warmUp: 24, tokens });
      rows.push({ name, times });
      if (off > 1e-3) problems.push(`${title}, ${name}: off by ${off}`);
    }
    const markdown = formatTable(
      [`a token, ${title}`, 'ms', 'ONNX Runtime Web', 'ratio'],
      rows.map(({ name, times: [ours, theirs] }) => [
        name,
        ours.toFixed(2),
        theirs.toFixed(2),
        (theirs / ours).toFixed(2),
      ]),
    );
    return { rows, markdown, problems };
  });
}
