// Random ONNX models, branches and loops included, compared with ONNX Runtime Web in Node. Prints each that differs, with the
// shortest beginning that still does, and the counts. What ONNX Runtime does not run counts as skipped.
//   node tests/js/onnx/random.mjs --seeds=FIRST..END [--reasons]
// One in four also runs as pages run it, on two threads, tuned, in calls that overlap. --reasons: prints why models are skipped.
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

/** What a model gives for each of the feeds, which are asked for at once. */
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
  let most = 1;
  for (const each of data) if (Number.isFinite(each)) most = Math.max(most, Math.abs(each));
  return { rtol: 1e-3, atol: 2e-4 * most };
}

/** Other elements of the same types. */
const turned = (feeds) =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, each]) => [name, { ...each, data: each.data.toReversed() }]),
  );

const differing = (wanted, got) =>
  Object.keys(wanted)
    .map((name) => {
      // Reduced to nothing, or of nothing: ONNX Runtime has shapes of its own for these.
      if (wanted[name].data.length === 0) return undefined;
      const why = difference(wanted[name], got[name], tolerance(wanted[name]));
      return why && `${name} (${wanted[name].dtype}[${wanted[name].shape}]): ${why}`;
    })
    .find((why) => why !== undefined);

/** Why ours differ from theirs; undefined where they do not; { skipped } where theirs does not run. */
async function check({ bytes, feeds }, isPage) {
  const calls = isPage ? [feeds, turned(feeds), feeds] : [feeds];
  let wanted;
  try {
    wanted = [];
    for (const each of calls) wanted.push(...(await results(theirs, bytes, each)));
  } catch (error) {
    return { skipped: error.message ?? String(error) };
  }
  if (isPage) asPages();
  try {
    const got = await results(ours, bytes, ...calls);
    return wanted.map((each, at) => differing(each, got[at])).find((why) => why !== undefined);
  } catch (error) {
    return error instanceof tl.LatheError ? error.message : error.stack;
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
    await tell(seed, drawn, why, isPage);
  }
}

/** Says what is wrong with the shortest beginning of a model, and keeps that. */
async function tell(seed, { length, bytes }, first, isPage) {
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
