// Runs the models that onnx_export_cases wrote to FOLDER in ONNX Runtime Web and compares the results with the expected
// ones. Usage: node run.mjs FOLDER [NAME]; NAME: only cases whose names begin with it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';

ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';

const types = {
  bool: ['bool', Uint8Array],
  i8: ['int8', Int8Array],
  u8: ['uint8', Uint8Array],
  i16: ['int16', Int16Array],
  u16: ['uint16', Uint16Array],
  i32: ['int32', Int32Array],
  u32: ['uint32', Uint32Array],
  i64: ['int64', BigInt64Array],
  u64: ['uint64', BigUint64Array],
  f16: ['float16', Uint16Array],
  f32: ['float32', Float32Array],
  f64: ['float64', Float64Array],
};
const float16Tolerance = 2 ** -7;
/** Default tolerances of floats by type: absolute, and relative to the expected value. */
const defaultTolerances = {
  f16: [float16Tolerance, float16Tolerance],
  f32: [1e-5, 2e-5],
  f64: [1e-11, 1e-11],
};

const bytesOf = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const elementsOf = ([dtype, , text]) => new types[dtype][1](bytesOf(text).buffer);

/** The number that 16 bits represent as a float16. */
function float16FromBits(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const special = fraction === 0 ? Infinity : NaN;
  const normal = 2 ** (exponent - 25) * (1024 + fraction);
  const magnitude = exponent === 31 ? special : exponent === 0 ? 2 ** -24 * fraction : normal;
  return bits >> 15 ? -magnitude : magnitude;
}

/** The first difference between a result and the expected one, as text; undefined if there is none. */
function difference(name, expected, got, tolerance) {
  const [dtype, shape] = expected;
  if (got === undefined) return `${name} is missing`;
  if (got.dims.join() !== shape.join()) return `${name} has shape [${got.dims}], not [${shape}]`;
  if (got.type !== types[dtype][0]) return `${name} is ${got.type}, not ${types[dtype][0]}`;
  const want = elementsOf(expected);
  const elements =
    dtype === 'f16' ? new Uint16Array(got.data.buffer, got.data.byteOffset, want.length) : got.data;
  const [absolute, relative] = defaultTolerances[dtype] ?? [0, 0];
  for (let i = 0; i < want.length; i++) {
    const [w, g] = [want[i], elements[i]].map((element) =>
      dtype === 'f16' ? float16FromBits(element) : element,
    );
    if (w === g || (typeof w === 'number' && Number.isNaN(w) && Number.isNaN(g))) continue;
    const limit = tolerance ? tolerance[i] : absolute + relative * Math.abs(Number(w));
    if (limit === Infinity || Math.abs(Number(w) - Number(g)) <= limit) continue;
    return `${name}[${i}]: want ${w}, got ${g}${tolerance ? ` (within ${tolerance[i]})` : ''}`;
  }
  return undefined;
}

/** Runs a case; the first problem as text, or undefined. */
async function problemOf(folder, test) {
  const session = await ort.InferenceSession.create(readFileSync(join(folder, test.file)), {
    executionProviders: ['wasm'],
    logSeverityLevel: 4,
  });
  try {
    const feeds = {};
    for (const [name, given] of Object.entries(test.inputs)) {
      if (!session.inputNames.includes(name)) continue;
      feeds[name] = new ort.Tensor(types[given[0]][0], elementsOf(given), given[1]);
    }
    const results = await session.run(feeds);
    for (const [name, expected] of Object.entries(test.expected)) {
      const bytes = test.tolerances[name];
      const tolerance = bytes && new Float32Array(bytesOf(bytes).buffer);
      const problem = difference(name, expected, results[name], tolerance);
      if (problem) return problem;
    }
    return undefined;
  } finally {
    await session.release();
  }
}

/** Skipped cases and why: ONNX does not specify results for NaN, and ONNX Runtime differs from the expected ones. */
const skipped = new Map([
  ['max_pool_among_nans', 'NaN wins in a window'],
  ['extremes_of_nans', 'ReduceMax and ReduceMin see NaN in the first place alone'],
]);

const [folder, only] = process.argv.slice(2);
const tests = readFileSync(join(folder, 'manifest.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))
  .filter(({ name }) => only === undefined || name.startsWith(only));
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const test of tests) {
  const why = skipped.get(test.name.split(' ')[0]);
  if (why !== undefined) {
    console.log(`skipped ${test.name}: ${why}`);
    counts.skipped++;
    continue;
  }
  const problem = await problemOf(folder, test).catch(({ message }) => message ?? 'crashed');
  problem ? counts.failed++ : counts.passed++;
  if (problem) console.log(`${test.name} (${test.file}): ${`${problem}`.split('\n')[0]}`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
