// Random ONNX models, branches and loops included, compared with ONNX Runtime Web in Node. Prints each that differs, with the
// shortest failing prefix, and the counts. What ONNX Runtime does not run counts as skipped.
//   node tests/js/onnx/random.mjs --seeds=FIRST..END [--reasons]
// One in four also runs as pages run it, on two threads, tuned, in overlapping calls. --reasons: prints why models are skipped.
import { mkdirSync, writeFileSync } from 'node:fs';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from './compare.mjs';
import { drawModel } from './draw_control.mjs';
import * as engines from './engines.mjs';

const range = /^--seeds=(\d+)\.\.(\d+)$/.exec(process.argv[2] ?? '');
if (!range) {
  console.error('usage: node tests/js/onnx/random.mjs --seeds=FIRST..END [--reasons]');
  process.exit(2);
}
const withReasons = process.argv.includes('--reasons');
const folder = new URL('../../../build/onnx-random/', import.meta.url);
ort.env.wasm.numThreads = 1;
const theirs = engines.runtime(ort);
const ours = engines.lathe(tl);

/** Results of a model for each of the feeds, which run concurrently. */
async function results(load, bytes, ...feeds) {
  const loaded = await load(bytes);
  try {
    return await Promise.all(feeds.map((each) => loaded.run(each)));
  } finally {
    loaded.dispose();
  }
}

function asPages() {
  tl.env().set('AUTO_TUNE', true);
  tl.env().set('THREADS_COUNT', 2);
  tl.env().set('THREADS_MIN_WORK', 1);
}

/** How large floats may differ: sums of large numbers that cancel lose digits. */
function tolerance({ data }) {
  let largest = 1;
  for (const each of data) if (Number.isFinite(each)) largest = Math.max(largest, Math.abs(each));
  return { rtol: 1e-3, atol: 2e-4 * largest };
}

/** Other elements of the same types. */
const reversed = (feeds) =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, each]) => [name, { ...each, data: each.data.toReversed() }]),
  );

const differing = (expected, actual) =>
  Object.keys(expected)
    .map((name) => {
      // Empty results: ONNX Runtime has other shapes for these.
      if (expected[name].data.length === 0) return undefined;
      const why = difference(expected[name], actual[name], tolerance(expected[name]));
      return why && `${name} (${expected[name].dtype}[${expected[name].shape}]): ${why}`;
    })
    .find((why) => why !== undefined);

/** Why ours differ from theirs; undefined where they do not; { skipped } where theirs does not run. */
async function check({ bytes, feeds }, isPage) {
  const calls = isPage ? [feeds, reversed(feeds), feeds] : [feeds];
  let expected;
  try {
    expected = [];
    for (const each of calls) expected.push(...(await results(theirs, bytes, each)));
  } catch (error) {
    return { skipped: error.message ?? String(error) };
  }
  if (isPage) asPages();
  try {
    const actual = await results(ours, bytes, ...calls);
    return expected.map((each, at) => differing(each, actual[at])).find((why) => why !== undefined);
  } catch (error) {
    return error instanceof tl.LatheError ? error.message : (error.stack ?? `threw ${error}`);
  } finally {
    tl.env().reset();
  }
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Map();
for (let seed = Number(range[1]); seed < Number(range[2]); seed++) {
  const drawn = drawModel(seed);
  const isPage = seed % 4 === 0;
  const why = await check(drawn, isPage);
  if (why === undefined) {
    counts.passed++;
  } else if (why.skipped !== undefined) {
    counts.skipped++;
    const reason = why.skipped.replaceAll(/\b[a-z]+\d+\b|\d+/g, '#').slice(0, 300);
    reasons.set(reason, [...(reasons.get(reason) ?? []), seed]);
  } else {
    counts.failed++;
    await report(seed, drawn, why, isPage);
  }
}

/** Reports the failure of the shortest failing prefix of a model, and saves that. */
async function report(seed, { length, bytes }, first, isPage) {
  let [model, why] = [bytes, first];
  for (let nodes = 1; nodes < length; nodes++) {
    const shorter = drawModel(seed, nodes);
    const problem = await check(shorter, isPage);
    if (problem === undefined || problem.skipped !== undefined) continue;
    [model, why] = [shorter.bytes, `of the first ${nodes}: ${problem}`];
    break;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${seed}.onnx`, folder), model);
  console.log(
    `FAIL ${seed}${isPage ? ' (as pages run it)' : ''}: ${why}; build/onnx-random/${seed}.onnx`,
  );
}

if (withReasons) {
  for (const [reason, seeds] of reasons)
    console.log(`skipped ${seeds.length} (${seeds[0]}): ${reason}`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
