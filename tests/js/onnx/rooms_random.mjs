// Random models with a named length, called with ever other lengths, so that they are compiled with room for more: compared with the
// same models compiled for just that length, and with ONNX Runtime Web. Prints each that differs, and the counts.
//   node tests/js/onnx/rooms_random.mjs --seeds=FIRST..END [--theirs]
// --theirs: compares with ONNX Runtime Web, too. Skipped: models that are refused. Lenient: refused for just that length alone.
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { OnnxFile } from '../../../js/dist/onnx/file.js';
import { difference } from './compare.mjs';
import { drawModel } from './draw_rooms.mjs';
import * as engines from './engines.mjs';

const range = /^--seeds=(\d+)\.\.(\d+)$/.exec(process.argv[2] ?? '');
if (!range) {
  console.error('usage: node tests/js/onnx/rooms_random.mjs --seeds=FIRST..END [--theirs]');
  process.exit(2);
}
const withTheirs = process.argv.includes('--theirs');
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';

let roomy = 0;
const { trace } = OnnxFile.prototype;
OnnxFile.prototype.trace = function (ports, ...rest) {
  const written = trace.call(this, ports, ...rest);
  if (ports.some((each) => each?.counted) && written.whole) roomy++;
  return written;
};

function tolerance({ data }) {
  let most = 1;
  for (const each of data) if (Number.isFinite(each)) most = Math.max(most, Math.abs(each));
  return { rtol: 1e-3, atol: 2e-4 * most };
}

function differing(wanted, got) {
  for (const name of Object.keys(wanted)) {
    const why = difference(wanted[name], got[name], tolerance(wanted[name]));
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
  roomy: 0,
  differ: 0,
  lenient: 0,
  strict: 0,
  theirs: 0,
  refused: 0,
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
    counts.refused++;
    model?.dispose();
    continue;
  }
  counts.models++;
  const before = roomy;
  const tell = (kind, why) => {
    counts[kind]++;
    console.log(`${kind.toUpperCase()} ${seed}: ${why}\n${text}\n  lengths ${lengths}`);
  };
  for (const length of lengths) {
    const got = await results(() => model.run(feeds(length)));
    counts.calls++;
    const exact = await results(async () => {
      const fresh = await ours(bytes);
      try {
        return await fresh.run(feeds(length));
      } finally {
        fresh.dispose();
      }
    });
    if (exact.error && got.error) continue;
    if (exact.error) {
      tell('lenient', `length ${length}: ${exact.error}`);
      break;
    }
    if (got.error) {
      tell('strict', `length ${length}: ${got.error}`);
      break;
    }
    const why = differing(exact.values, got.values);
    if (why) {
      tell('differ', `length ${length}: ${why}`);
      break;
    }
    if (!theirs) continue;
    const wanted = await results(() => theirs.run(feeds(length)));
    const other = wanted.values && differing(wanted.values, got.values);
    if (other) {
      tell('theirs', `length ${length}: ${other}`);
      break;
    }
  }
  if (roomy > before) counts.roomy++;
  model.dispose();
  theirs?.dispose();
}
console.log(counts);
const failed = counts.differ + counts.strict + counts.lenient;
console.log(`${counts.models - failed} passed, ${failed} failed, ${counts.refused} skipped`);
process.exit(failed > 0 ? 1 : 0);
