// Leaks of programs: nothing where they dispose, nothing after garbage collection where they do not.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe/tfjs';
import { engine } from '../../js/dist/eager/engine.js';
import { disposeAll, drawProgram, execute, atOnce, later, leafTensor } from './program.mjs';
import { isAtOnce } from './checks.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const programs = 40;
const times = 250;
/** Bytes that may wait for the collector. */
const max = 2 ** 27;

/** Blocks of the last program, which the engine may still reference. */
const maxLeft = 40;

/** Collects garbage and lets finalizers run. */
async function collected() {
  for (let turn = 0; turn < 4; ++turn) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const leavesOf = (program) =>
  new Map(program.leaves.map((leaf) => [leaf.id, leafTensor(tl, { ...leaf, isVariable: false })]));

async function begun(program) {
  const tensors = leavesOf(program);
  await later(execute(tl, program, tensors));
  return tensors;
}

function counts() {
  const { numTensors, numDataBuffers, numBytes, heapBlocks, heapBytes } = tl.memory();
  return { numTensors, numDataBuffers, numBytes, heapBlocks, heapBytes };
}

/** Error: counts are not what they were. */
function compare(what, before, names = Object.keys(before)) {
  const after = counts();
  const other = names.filter((name) => after[name] !== before[name]);
  if (other.length > 0)
    throw new Error(
      `${what}: ${other.map((name) => `${name} ${after[name] - before[name]} more`)}`,
    );
}

/** Programs that dispose of all they made leave nothing. */
async function disposed(all) {
  engine.plans.clear();
  await collected();
  const before = counts();
  for (const program of all) {
    const start = counts();
    const tensors = await begun(program);
    const outs = [...tensors.values()];
    outs.at(-1).dataSync();
    disposeAll(outs);
    if (isAtOnce(program)) {
      tl.tidy(() => {
        const inner = leavesOf(program);
        atOnce(execute(tl, program, inner));
        [...inner.values()].at(-1).dataSync();
      });
    }
    compare(`seed ${program.seed}`, start, ['numTensors', 'numDataBuffers', 'numBytes']);
  }
  engine.plans.clear();
  await collected();
  compare('after all programs', before);
}

/** Ten thousand programs that dispose of nothing: their memory is the collector's. */
async function undisposed(all) {
  engine.plans.clear();
  await collected();
  const before = counts();
  let highest = 0;
  for (let time = 0; time < times; ++time) {
    for (const program of all) {
      const tensors = [...(await begun(program)).values()];
      tensors.at(-1).dataSync();
      highest = Math.max(highest, tl.memory().heapBytes - before.heapBytes);
    }
    if (time % 10 === 9) await collected();
  }
  engine.plans.clear();
  await collected();
  if (highest > max) throw new Error(`${highest} bytes were in use at a time`);
  const left = tl.memory().heapBlocks - before.heapBlocks;
  if (left > maxLeft)
    throw new Error(`${left} blocks are left of programs that dispose of nothing`);
}

export async function leaks() {
  const all = [];
  for (let seed = 0; all.length < programs; ++seed) {
    const program = await drawProgram(seed + 5000);
    const isShort = program.steps.length > 0 && program.steps.length <= 8;
    if (isShort && program.steps.every(({ name }) => name !== 'assign')) all.push(program);
  }
  await disposed(all);
  await undisposed(all);
}
