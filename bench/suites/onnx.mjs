/**
 * Published ONNX models beside ONNX Runtime Web, in Node on one thread: milliseconds of a call, and from the bytes of the file
 * to the first result. The models lie beside the repository (LATHE_MODELS).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { modelsFolder } from '../../tests/js/models.mjs';
import { formatTable } from '../report.mjs';
import { inTurns } from '../turns.mjs';

const golden = join(modelsFolder, 'golden');
const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array };

export const onnx = { run };

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}

/** Both engines on one model: their first results, and what a call of each is. */
async function opened(name) {
  const meta = JSON.parse(readFileSync(join(golden, name, 'meta.json'), 'utf8'));
  const bytes = new Uint8Array(readFileSync(join(modelsFolder, meta.model)));
  const [ours, theirs] = [{}, {}];
  for (const { name: input, type, dims, file } of meta.inputs) {
    const { buffer } = new Uint8Array(readFileSync(join(golden, name, file)));
    ours[input] = tl.tensor(new arrays[type](buffer), dims, type);
    theirs[input] = new ort.Tensor(type, new arrays[type](buffer), dims);
  }
  const [firstOurs, model] = await timed(async () => {
    const loaded = await tl.loadModel(bytes);
    await loaded.run(ours);
    return loaded;
  });
  const [firstTheirs, session] = await timed(async () => {
    const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
    const created = await ort.InferenceSession.create(bytes, options);
    await created.run(theirs);
    return created;
  });
  const calls = [() => model.run(ours), () => session.run(theirs)];
  const close = async () => {
    model.dispose();
    await session.release();
  };
  return { first: [firstOurs, firstTheirs], calls, close };
}

async function run(settings) {
  tl.env().set('THREADS', false);
  ort.env.wasm.numThreads = 1;
  const rows = [];
  for (const name of readdirSync(golden)) {
    const { first, calls, close } = await opened(name);
    const [ours, theirs] = await inTurns(calls, settings);
    await close();
    rows.push({ name, ours, theirs, firstOurs: first[0], firstTheirs: first[1] });
    console.log(`${name}: ${ours.toFixed(2)} and ${theirs.toFixed(2)} ms`);
  }
  const mean = (of) =>
    Math.exp(rows.reduce((sum, row) => sum + Math.log(of(row)), 0) / rows.length);
  const speedUp = mean(({ ours, theirs }) => theirs / ours);
  const firsts = mean(({ firstOurs, firstTheirs }) => firstTheirs / firstOurs);
  const head = [
    'model, Node, one thread',
    'ms',
    'ONNX Runtime Web',
    'ratio',
    'first, ms',
    'theirs',
  ];
  const table = formatTable(
    head,
    rows.map((row) => [
      row.name.split('__').at(-1),
      row.ours.toFixed(2),
      row.theirs.toFixed(2),
      (row.theirs / row.ours).toFixed(2),
      row.firstOurs.toFixed(0),
      row.firstTheirs.toFixed(0),
    ]),
  );
  const markdown = `${table}\n\nGeometric means: ${speedUp.toFixed(2)} times as fast, first result ${firsts.toFixed(2)} times.`;
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}
