// Runs the models that onnx_export_cases wrote in ONNX Runtime Web and compares with the expected results.
// Usage: node run.mjs FOLDER [NAME]
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
const half = 2 ** -7;
/** By how much floats may differ, of 1 and of what is wanted. */
const tolerances = { f16: [half, half], f32: [1e-5, 2e-5], f64: [1e-11, 1e-11] };

const bytesOf = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const elementsOf = ([dtype, , text]) => new types[dtype][1](bytesOf(text).buffer);

function float16Bits(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const special = fraction === 0 ? Infinity : NaN;
  const normal = 2 ** (exponent - 25) * (1024 + fraction);
  const size = exponent === 31 ? special : exponent === 0 ? 2 ** -24 * fraction : normal;
  return bits >> 15 ? -size : size;
}

function difference(name, wanted, got, room) {
  const [dtype, shape] = wanted;
  if (got === undefined) return `${name} is missing`;
  if (got.dims.join() !== shape.join()) return `${name} has shape [${got.dims}], not [${shape}]`;
  if (got.type !== types[dtype][0]) return `${name} is ${got.type}, not ${types[dtype][0]}`;
  const want = elementsOf(wanted);
  const bits =
    dtype === 'f16' ? new Uint16Array(got.data.buffer, got.data.byteOffset, want.length) : got.data;
  const [absolute, relative] = tolerances[dtype] ?? [0, 0];
  for (let i = 0; i < want.length; i++) {
    const [w, g] = [want[i], bits[i]].map((each) => (dtype === 'f16' ? float16Bits(each) : each));
    if (w === g || (typeof w === 'number' && Number.isNaN(w) && Number.isNaN(g))) continue;
    const near = room ? room[i] : absolute + relative * Math.abs(Number(w));
    if (near === Infinity || Math.abs(Number(w) - Number(g)) <= near) continue;
    return `${name}[${i}]: want ${w}, got ${g}${room ? ` (within ${room[i]})` : ''}`;
  }
  return undefined;
}

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
    for (const [name, wanted] of Object.entries(test.expected)) {
      const room = test.rooms[name] && new Float32Array(bytesOf(test.rooms[name]).buffer);
      const problem = difference(name, wanted, results[name], room);
      if (problem) return problem;
    }
    return undefined;
  } finally {
    await session.release();
  }
}

/** Cases with NaN, of which ONNX says nothing, and what ONNX Runtime does otherwise. */
const open = new Map([
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
  const why = open.get(test.name.split(' ')[0]);
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
