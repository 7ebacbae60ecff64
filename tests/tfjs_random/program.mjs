// Programs: data that describe operations and their operands, drawn with TensorFlow.js, run with any library.
import * as tf from '@tensorflow/tfjs';
import { Context, sizeOf, maxOperandMagnitude } from './context.mjs';
import { rows } from './rows.mjs';

/** The tensors in the result of an operation, in order. */
export function tensorsOf(result) {
  if (typeof result !== 'object' || result === null) return [];
  if (typeof result.dataSync === 'function' || 'trace' in result) return [result];
  if (ArrayBuffer.isView(result)) return [];
  return Object.values(result).flatMap(tensorsOf);
}

/** Arguments with references replaced by tensors and numbers. */
export function filled(value, tensorOf) {
  if (typeof value !== 'object' || value === null) return value;
  if ('ref' in value) return tensorOf(value.ref);
  if ('number' in value) return value.number;
  if (Array.isArray(value)) return value.map((each) => filled(each, tensorOf));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, filled(each, tensorOf)]),
  );
}

export function refsOf(value) {
  if (typeof value !== 'object' || value === null) return [];
  if ('ref' in value) return [value.ref];
  return Object.values(value).flatMap(refsOf);
}

/** Runs one operation. */
export function call(lib, { name, args, isChained }, tensorOf) {
  const resolved = filled(args, tensorOf);
  const { run } = rows[name];
  if (run !== undefined) return run(lib, ...resolved);
  if (isChained) return resolved[0][name](...resolved.slice(1));
  const path = name.split('.');
  const owner = path.length === 2 ? lib[path[0]] : lib;
  return owner[path.at(-1)](...resolved);
}

export function leafTensor(lib, { shape, dtype, values, isVariable }) {
  const made = lib.tensor(values, shape, dtype);
  if (!isVariable) return made;
  const variable = lib.variable(made);
  made.dispose();
  return variable;
}

/**
 * Runs the steps: `tensors` maps ids to tensors and receives the results. Yields promises, and expects their values.
 *
 * @param operand maps a tensor to the operand of a step
 * @param afterStep called after each step, with its index
 */
export function* execute(lib, program, tensors, { operand = (x) => x, afterStep = () => {} } = {}) {
  for (const [at, step] of program.steps.entries()) {
    const result = call(lib, step, (id) => operand(tensors.get(id), step));
    const resolved = result instanceof Promise ? yield result : result;
    tensorsOf(resolved).forEach((each, item) => tensors.set(step.outs[item], each));
    afterStep(at);
  }
}

/** Runs an `execute` that promises nothing. */
export function atOnce(work) {
  const { done } = work.next();
  if (!done) throw new Error('a promise in a program that runs at once');
}

/** Runs any `execute`. */
export async function later(work) {
  for (let next = work.next(); !next.done;) {
    const resolved = await next.value.catch((error) => ({ error }));
    next = 'error' in Object(resolved) ? work.throw(resolved.error) : work.next(resolved);
  }
}

const bare = (values) => (values instanceof Float32Array ? values : Float64Array.from(values));

/** Shape, dtype and values of a tensor. */
export const snapshot = (x) => ({
  shape: [...x.shape],
  dtype: x.dtype,
  values: bare(x.dataSync()),
});

/** The program of a seed, with the results of TensorFlow.js: {steps, leaves, expected}. */
export async function drawProgram(seed, only) {
  const context = new Context(seed);
  const { draw } = context;
  const names = Object.keys(rows).filter((name) => only === undefined || only.test(name));
  const tensors = new Map();
  const steps = [];
  const rejected = [];
  const expected = new Map();
  const count = draw.size(1, 12);
  let tries = 0;
  while (steps.length < count && tries++ < 60) {
    const name = draw.pick(names);
    const row = rows[name];
    if (row.isRare && !draw.chance(0.3)) continue;
    const first = context.leaves.length;
    context.exactOnly = row.isDiscontinuous === true;
    const args = row.draw(context);
    context.exactOnly = context.finiteOnly = false;
    for (const leaf of context.leaves.slice(first)) tensors.set(leaf.id, leafTensor(tf, leaf));
    if (args === undefined) continue;
    const step = { name, args, outs: [] };
    step.isChained =
      row.run === undefined &&
      typeof args[0] === 'object' &&
      args[0] !== null &&
      'ref' in args[0] &&
      row.isMethod !== false &&
      name in tf.Tensor.prototype &&
      draw.chance(0.4);
    let result;
    try {
      result = await call(tf, step, (id) => tensors.get(id));
    } catch (error) {
      rejected.push({ name, args, isChained: step.isChained, outs: [], why: error.message });
      continue;
    }
    if (tensorsOf(result).some(({ shape }) => !shape.every(Number.isInteger))) continue;
    const exact = row.exact === true && refsOf(args).every((id) => context.slots.get(id).exact);
    for (const each of tensorsOf(result)) {
      const id = context.nextId++;
      step.outs.push(id);
      tensors.set(id, each);
      const seen = snapshot(each);
      expected.set(id, seen);
      const tame = seen.values.every((value) => Math.abs(value) <= maxOperandMagnitude);
      const hidden = sizeOf(seen.shape) > 4000;
      context.slots.set(id, { id, shape: seen.shape, dtype: seen.dtype, exact, tame, hidden });
    }
    if (name === 'assign')
      context.slots.get(args[0].ref).exact &&= context.slots.get(args[1].ref).exact;
    steps.push(step);
  }
  for (const { id } of context.leaves) expected.set(id, snapshot(tensors.get(id)));
  disposeAll(tensors.values());
  const used = new Set([...steps, ...rejected].flatMap(({ args }) => refsOf(args)));
  const leaves = context.leaves.filter(({ id }) => used.has(id));
  return { seed, stream: context.stream, leaves, steps, rejected, expected };
}

/** Disposes of the tensors that are not disposed yet. */
export function disposeAll(tensors) {
  for (const each of tensors) if (!each.isDisposed) each.dispose();
}

/** Results of a program with a library, by id. */
export async function resultsOf(program, lib = tf, operand) {
  const tensors = new Map(program.leaves.map((leaf) => [leaf.id, leafTensor(lib, leaf)]));
  try {
    await later(execute(lib, program, tensors, { operand }));
    return new Map([...tensors].map(([id, each]) => [id, snapshot(each)]));
  } finally {
    disposeAll(tensors.values());
  }
}
