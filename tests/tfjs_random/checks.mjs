// Checks of a program: each throws where results differ from TensorFlow.js.
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import 'tensorlathe/tfjs-backend';
import { Draw } from '../js/draw.mjs';
import { compare, tolerancesOf } from './compare.mjs';
import { gradients, secondGradients } from './gradients.mjs';
import { invalidCall, refusals } from './invalid.mjs';
import {
  atOnce,
  disposeAll,
  execute,
  later,
  leafTensor,
  refsOf,
  resultsOf,
  snapshot,
} from './program.mjs';
import { rows } from './rows.mjs';

/** Decides for each tensor of a program independently, so that shorter programs decide equally. */
const chanceFor = (seed, salt) => (id, share) =>
  new Draw(seed * 31 + salt * 1009 + id * 7919).next() < share;

export const isAtOnce = ({ steps }) => !steps.some(({ name }) => rows[name].isAsync);
const isChanging = ({ steps }) => steps.some(({ name }) => name === 'assign');

/** Where each tensor is read last. */
function lastUses({ steps }) {
  const last = new Map();
  steps.forEach(({ args }, at) => refsOf(args).forEach((id) => last.set(id, at)));
  return last;
}

async function compareAll(program, seen) {
  program.within ??= await tolerancesOf(program);
  for (const [id, found] of seen)
    if (program.expected.has(id))
      compare(`t${id}`, found, program.expected.get(id), program.within.get(id));
}

/** Lazy evaluation, with some results read early, operands disposed before anything is read, variables reassigned. */
async function eager(program, salt = 1) {
  const { seed, leaves } = program;
  const by = chanceFor(seed, salt);
  const before = tl.memory().numTensors;
  const tensors = new Map(leaves.map((leaf) => [leaf.id, leafTensor(tl, leaf)]));
  const seen = new Map();
  const assigned = [];
  const last = lastUses(program);
  const variables = new Set(leaves.filter(({ isVariable }) => isVariable).map(({ id }) => id));
  const read = (id) => seen.set(id, snapshot(tensors.get(id)));
  const [reads, disposes] = [by(-1, 0.5), by(-2, 0.5)];
  const afterStep = (at) => {
    for (const id of program.steps[at].outs) if (reads && by(id, 0.3)) read(id);
    for (const [id, end] of last) {
      if (end !== at || variables.has(id) || !disposes || !by(id, 0.4)) continue;
      const aliases = [...tensors.values()].filter((each) => each === tensors.get(id)).length;
      if (aliases === 1) tensors.get(id).dispose();
    }
  };
  try {
    await later(execute(tl, program, tensors, { afterStep }));
    for (const id of variables) {
      if (!by(id, 0.5)) continue;
      const variable = tensors.get(id);
      const zeros = tl.zeros(variable.shape, variable.dtype);
      variable.assign(zeros);
      zeros.dispose();
      variables.delete(id);
      for (const [each, tensor] of tensors) if (tensor === variable) tensors.delete(each);
      seen.delete(id);
      assigned.push(variable);
    }
    const left = [...tensors].filter(([, each]) => !each.isDisposed).map(([id]) => id);
    if (by(-3, 0.5)) left.reverse();
    if (by(-4, 0.4)) {
      await Promise.all(left.map((id) => tensors.get(id).data()));
    }
    left.forEach(read);
    await compareAll(program, seen);
  } finally {
    disposeAll([...tensors.values(), ...assigned]);
  }
  const after = tl.memory().numTensors;
  if (after !== before) throw new Error(`${after - before} tensors are left`);
}

/** Within tidy: as many tensors are alive afterwards as in TensorFlow.js, and those returned are right. */
async function tidied(program) {
  if (!isAtOnce(program)) return;
  const by = chanceFor(program.seed, 2);
  const run = (lib) => {
    const tensors = new Map(program.leaves.map((leaf) => [leaf.id, leafTensor(lib, leaf)]));
    const before = lib.memory().numTensors;
    const returned = lib.tidy(() => {
      atOnce(execute(lib, program, tensors));
      const outs = program.steps.flatMap((step) => step.outs).filter((id) => by(id, 0.5));
      return Object.fromEntries(outs.map((id) => [id, tensors.get(id)]));
    });
    const count = lib.memory().numTensors - before;
    const seen = Object.entries(returned).map(([id, each]) => [Number(id), snapshot(each)]);
    disposeAll([...Object.values(returned), ...tensors.values()]);
    return { count, seen };
  };
  const [ours, theirs] = [run(tl), run(tf)];
  await compareAll(program, ours.seen);
  if (ours.count !== theirs.count)
    throw new Error(`after tidy ${ours.count} tensors, TensorFlow.js ${theirs.count}`);
}

/** The same expressions with other numbers reuse the cached modules of the first ones. */
async function reuse(program) {
  if (program.stream === 'odd') return;
  const d = new Draw(program.seed + 77);
  const leaves = program.leaves.map((leaf) => {
    if (leaf.fixed || leaf.dtype !== 'float32') return leaf;
    const [min, max] = leaf.bounds ?? [-2, 2];
    const values = leaf.values.map(() => Math.fround(min + (max - min) * d.next()));
    return { ...leaf, values };
  });
  const other = (value) => {
    if (typeof value !== 'object' || value === null || 'ref' in value) return value;
    if ('number' in value) return { number: d.pick([1.5, -0.75, 4]) };
    if (Array.isArray(value)) return value.map(other);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(each)]));
  };
  const steps = program.steps.map((step) => ({ ...step, args: other(step.args) }));
  const changed = { ...program, leaves, steps, within: undefined };
  try {
    changed.expected = await resultsOf(changed);
  } catch {
    return;
  }
  if ([...changed.expected.values()].some(({ shape }) => !shape.every(Number.isInteger))) return;
  await eager(changed, 1);
}

/** Whether a step mixes a number with an int32 tensor: traced functions do not promote types. */
function mixesNumberAndInteger({ expected }, { name, args }) {
  const isInteger = (each) => expected.get(each?.ref)?.dtype === 'int32';
  const isNumber = (each) => typeof (each?.number ?? each) === 'number';
  return rows[name].acceptsNumbers && args.some(isInteger) && args.some(isNumber);
}

/** The program as a traced and compiled function. */
async function compiled(program) {
  if (program.steps.some(({ name }) => rows[name].reads)) return;
  const complex = [...program.expected.values()].some(({ dtype }) => dtype === 'complex64');
  if (complex) return;
  if (program.steps.some((step) => mixesNumberAndInteger(program, step))) return;
  const specs = program.leaves.map(({ id, shape, dtype }) => [`x${id}`, { shape, dtype }]);
  const outs = program.steps.flatMap((step) => step.outs);
  // Methods there are the operations of the core.
  const steps = program.steps.map((step) => ({ ...step, isChained: false }));
  const write = (inputs) => {
    const tensors = new Map(program.leaves.map(({ id }) => [id, inputs[`x${id}`]]));
    atOnce(execute(tl, { ...program, steps }, tensors));
    return Object.fromEntries(outs.map((id) => [`y${id}`, tensors.get(id)]));
  };
  let f;
  try {
    f = tl.compile(Object.fromEntries(specs), write);
  } catch (error) {
    if (/cast the operands/.test(error.message)) return;
    throw error;
  }
  const namedInputs = program.leaves.map((leaf) => [
    `x${leaf.id}`,
    leafTensor(tl, { ...leaf, isVariable: false }),
  ]);
  const found = f.run(Object.fromEntries(namedInputs));
  const seen = outs.map((id) => [id, snapshot(found[`y${id}`])]);
  disposeAll([...namedInputs.map(([, each]) => each), ...Object.values(found)]);
  f.dispose();
  await compareAll(program, seen);
}

/** An unmodified TensorFlow.js on our backend. */
async function backend(program) {
  await tf.setBackend('lathe');
  try {
    await compareAll(program, await resultsOf(program));
  } finally {
    await tf.setBackend('cpu');
  }
}

/** profile counts the tensors and bytes that TensorFlow.js counts. */
async function profiled(program) {
  if (!isAtOnce(program) || isChanging(program) || program.steps.length === 0) return;
  const run = async (lib) => {
    const tensors = new Map(program.leaves.map((leaf) => [leaf.id, leafTensor(lib, leaf)]));
    const { newTensors, newBytes } = await lib.profile(() => {
      lib.tidy(() => atOnce(execute(lib, program, tensors)));
    });
    await lib.time(() => lib.tidy(() => atOnce(execute(lib, program, tensors))));
    disposeAll(tensors.values());
    // Programs with a size that is no number leave NaN bytes in TensorFlow.js for good.
    return Number.isNaN(newBytes) ? undefined : `${newTensors} tensors, ${newBytes} bytes`;
  };
  const [ours, theirs] = [await run(tl), await run(tf)];
  if (ours !== theirs && theirs !== undefined)
    throw new Error(`profile: ${ours}, TensorFlow.js ${theirs}`);
}

/** By their names; the share of programs that each runs on. */
export const checks = {
  eager: [1, eager],
  tidied: [0.25, tidied],
  reuse: [0.4, reuse],
  compiled: [0.3, compiled],
  backend: [0.3, backend],
  profiled: [0.1, profiled],
  gradients: [0.5, gradients],
  secondGradients: [0.1, secondGradients],
  refusals: [1, refusals],
  invalidCall: [0.5, invalidCall],
};
