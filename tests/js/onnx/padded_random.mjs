// Random models with a named length, called with ever other lengths, so that they are compiled for padded ones: compared with the
// same models compiled for just that length, and with ONNX Runtime Web. Prints each that differs, and the counts.
//   node tests/js/onnx/padded_random.mjs --seeds=FIRST..END [--theirs]
// --theirs: compares with ONNX Runtime Web, too. Skipped: models that are rejected. Lenient: rejected when compiled for exactly that length.
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../js/dist/onnx/file.js';
import { difference } from './compare.mjs';
import { drawModel } from './draw_padded.mjs';
import * as engines from './engines.mjs';

const range = /^--seeds=(\d+)\.\.(\d+)$/.exec(process.argv[2] ?? '');
if (!range) {
  console.error('usage: node tests/js/onnx/padded_random.mjs --seeds=FIRST..END [--theirs]');
  process.exit(2);
}
const withTheirs = process.argv.includes('--theirs');
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';

let paddedRuns = 0;
const { trace } = OnnxFile.prototype;
OnnxFile.prototype.trace = function (ports, ...rest) {
  const traced = trace.call(this, ports, ...rest);
  if (ports.some((each) => each?.paddedAxes) && traced.isComplete) paddedRuns++;
  return traced;
};

function tolerance({ data }) {
  let largest = 1;
  for (const each of data) if (Number.isFinite(each)) largest = Math.max(largest, Math.abs(each));
  return { rtol: 1e-3, atol: 2e-4 * largest };
}

function differing(expected, actual) {
  for (const name of Object.keys(expected)) {
    const why = difference(expected[name], actual[name], tolerance(expected[name]));
    if (why) return `${name}: ${why}`;
  }
  return undefined;
}

async function results(run) {
  try {
    return { values: await run() };
  } catch (error) {
    return { error: `${error.constructor.name}: ${error.message}` };
  }
}

const counts = {
  models: 0,
  paddedRuns: 0,
  differ: 0,
  lenient: 0,
  strict: 0,
  theirs: 0,
  rejected: 0,
  calls: 0,
};
const ours = engines.lathe(tl),
  runtime = engines.runtime(ort);
for (let seed = Number(range[1]); seed < Number(range[2]); seed++) {
  const drawn = drawModel(seed);
  const { bytes, text, lengths, feeds } = drawn;
  let model, theirs;
  try {
    model = await ours(bytes);
    if (withTheirs) theirs = await runtime(bytes);
  } catch (error) {
    counts.rejected++;
    model?.dispose();
    continue;
  }
  counts.models++;
  const before = paddedRuns;
  const report = (kind, why) => {
    counts[kind]++;
    console.log(`${kind.toUpperCase()} ${seed}: ${why}\n${text}\n  lengths ${lengths}`);
  };
  for (const length of lengths) {
    const actual = await results(() => model.run(feeds(length)));
    counts.calls++;
    const exact = await results(async () => {
      const fresh = await ours(bytes);
      try {
        return await fresh.run(feeds(length));
      } finally {
        fresh.dispose();
      }
    });
    if (exact.error && actual.error) continue;
    if (exact.error) {
      report('lenient', `length ${length}: ${exact.error}`);
      break;
    }
    if (actual.error) {
      report('strict', `length ${length}: ${actual.error}`);
      break;
    }
    const why = differing(exact.values, actual.values);
    if (why) {
      report('differ', `length ${length}: ${why}`);
      break;
    }
    if (!theirs) continue;
    const expected = await results(() => theirs.run(feeds(length)));
    const other = expected.values && differing(expected.values, actual.values);
    if (other) {
      report('theirs', `length ${length}: ${other}`);
      break;
    }
  }
  if (paddedRuns > before) counts.paddedRuns++;
  model.dispose();
  theirs?.dispose();
}
console.log(counts);
const failed = counts.differ + counts.strict + counts.lenient;
console.log(`${counts.models - failed} passed, ${failed} failed, ${counts.rejected} skipped`);
process.exit(failed > 0 ? 1 : 0);
