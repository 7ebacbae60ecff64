/**
 * An encoder as large as MiniLM-L6 of random weights, called with texts of ever other lengths, as they come: milliseconds of lengths
 * that are new to it and of those that were there, the engines by turns.
 */
import { formatTable } from '../report.mjs';
import { inEngines } from './onnx_engines.mjs';

export const texts = { run };

/** Of the texts, each another one. */
const lengths = Array.from({ length: 32 }, (_, at) => 4 + ((at * 19) % 61));

async function run(settings) {
  return inEngines(settings, async ({ title, threads, call }) => {
    const rounds = Math.max(1, Math.min(5, settings.rounds));
    const { first, fresh, repeated, off } = await call({ task: 'texts', threads, lengths, rounds });
    const rows = [
      { name: 'the first text, from the bytes of the model on', times: first },
      { name: `${lengths.length} texts of other lengths, in the mean`, times: fresh },
      { name: 'texts of these lengths once more, mean', times: repeated },
    ];
    const markdown = formatTable(
      [`encoder of 22.7 M weights, ${title}`, 'ms', 'ONNX Runtime Web', 'ratio'],
      rows.map(({ name, times: [ours, theirs] }) => [
        name,
        ours.toFixed(1),
        theirs.toFixed(1),
        (theirs / ours).toFixed(2),
      ]),
    );
    const problems = off < 1e-3 ? [] : [`${title}: off by ${off}`];
    return { rows, markdown, problems };
  });
}
