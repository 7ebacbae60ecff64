// Gradients of random sums of a program's results with respect to its leaves.
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { Draw } from '../js/draw.mjs';
import { compare, disturbed, tolerances } from './compare.mjs';
import { atOnce, execute, leafTensor, refsOf } from './program.mjs';
import { rows } from './rows.mjs';

/** Why gradients of TensorFlow.js are not those of differences, for the operations of a program. */
const faults = ({ steps }) =>
  steps.flatMap((step) => (rows[step.name].slope?.(step) ? [rows[step.name].slope(step)] : []));

/** What is differentiated: by which leaves, which results, and what they are multiplied by. */
function subject(program) {
  const { steps, expected, leaves, seed } = program;
  if (steps.some(({ name }) => rows[name].isAsync || name === 'assign')) return undefined;
  const depends = new Set(
    leaves.filter(({ dtype, fixed }) => dtype === 'float32' && !fixed).map(({ id }) => id),
  );
  const reached = new Set();
  const d = new Draw(seed + 5);
  const ends = [];
  for (const step of steps) {
    if (!refsOf(step.args).some((id) => depends.has(id))) continue;
    for (const id of step.outs) {
      const { dtype, values } = expected.get(id);
      if (dtype === 'complex64' || (dtype === 'float32' && !rows[step.name].isDiscontinuous))
        depends.add(id);
      const isTame = dtype === 'float32' && values.every((each) => Math.abs(each) < 1e4);
      if (depends.has(id) && isTame && values.length > 0) ends.push(id);
    }
  }
  const chosen = ends.filter((_, at) => at === ends.length - 1 || d.chance(0.3));
  const users = new Map(steps.flatMap((step) => step.outs.map((id) => [id, step])));
  const visit = (id) => {
    if (reached.has(id) || !depends.has(id)) return;
    reached.add(id);
    const step = users.get(id);
    if (step !== undefined) refsOf(step.args).forEach(visit);
  };
  chosen.forEach(visit);
  const by = leaves.filter(({ id, fixed }) => !fixed && reached.has(id) && depends.has(id));
  if (chosen.length === 0 || by.length === 0) return undefined;
  const factors = new Map(
    chosen.map((id) => {
      const { shape, values } = expected.get(id);
      return [id, { id, shape, dtype: 'float32', values: values.map(() => d.next() * 2 - 1) }];
    }),
  );
  return { by, chosen, factors };
}

/** The sum as a function of a library's tensors. */
function sumOf(lib, program, { by, chosen, factors }) {
  return (...xs) => {
    const inputs = new Map(xs.map((x, at) => [by[at].id, x]));
    const tensors = new Map(
      program.leaves.map((leaf) => [
        leaf.id,
        inputs.get(leaf.id) ?? leafTensor(lib, { ...leaf, isVariable: false }),
      ]),
    );
    atOnce(execute(lib, program, tensors));
    return chosen
      .map((id) => lib.sum(lib.mul(tensors.get(id), leafTensor(lib, factors.get(id)))))
      .reduce((a, b) => lib.add(a, b));
  };
}

/** Gradients as plain numbers, or the error. Throws where ours leaks tensors. */
function gradientsIn(lib, make, by, values) {
  const alive = () => {
    const { numTensors, numDataBuffers, numBytes } = lib.memory();
    return `${numTensors} tensors, ${numDataBuffers} of them with data, ${numBytes} bytes`;
  };
  const before = alive();
  const result = gradientsOf(lib, make, by, values);
  if (lib === tl && alive() !== before) throw new Error(`${before}; after gradients ${alive()}`);
  return result;
}

function gradientsOf(lib, make, by, values) {
  try {
    return lib.tidy(() => {
      const xs = by.map(({ shape }, at) => lib.tensor(values[at], shape));
      const found = make(lib)(xs);
      return { found: found.map((each) => Array.from(each.dataSync())) };
    });
  } catch (error) {
    return { error };
  }
}

/** The sum in doubles, of results in floats. */
function valueAt(program, { by, chosen, factors }, values) {
  return tf.tidy(() => {
    const tensors = new Map(
      program.leaves.map((leaf) => {
        const at = by.findIndex(({ id }) => id === leaf.id);
        return [
          leaf.id,
          leafTensor(tf, { ...leaf, isVariable: false, values: values[at] ?? leaf.values }),
        ];
      }),
    );
    atOnce(execute(tf, program, tensors));
    let sum = 0;
    for (const id of chosen) {
      const weights = factors.get(id).values;
      tensors
        .get(id)
        .dataSync()
        .forEach((each, at) => (sum += each * weights[at]));
    }
    return sum;
  });
}

const moved = (values, ways, step) =>
  values.map((each, at) => Float32Array.from(each, (x, i) => x + step * ways[at][i]));

/** Whether gradients agree with differences of `value` along some ways. */
function isSlope(value, values, gradients, seed) {
  const d = new Draw(seed + 3);
  for (let way = 0; way < 3; ++way) {
    const ways = values.map((each) =>
      Array.from(each, () => (d.chance(0.5) ? 1 : -1) * (0.5 + d.next())),
    );
    const slope = gradients
      .flatMap((each, at) => each.map((g, i) => g * ways[at][i]))
      .reduce((a, b) => a + b, 0);
    const size = gradients
      .flatMap((each, at) => each.map((g, i) => Math.abs(g * ways[at][i])))
      .reduce((a, b) => a + b, 0);
    const [wide, narrow] = [4e-3, 2e-3].map(
      (h) => (value(moved(values, ways, h)) - value(moved(values, ways, -h))) / (2 * h),
    );
    // They are nearly equal for a smooth sum; else there is a kink between.
    if (Math.abs(narrow - wide) > 0.1 * Math.abs(narrow) + 0.02) continue;
    const best = narrow + (narrow - wide) / 3;
    const within = 0.02 * Math.abs(size) + 4 * Math.abs(narrow - wide) + 0.02;
    if (!(Math.abs(best - slope) <= within))
      return `${slope} along a way, differences ${best} ± ${within}`;
  }
  return undefined;
}

/** First gradients: those of TensorFlow.js, or those of differences where it is wrong or has none. */
export function gradients(program) {
  const what = subject(program);
  if (what === undefined || program.stream === 'odd') return;
  const { by } = what;
  const values = by.map((leaf) => leaf.values);
  const make = (lib) => lib.grads(sumOf(lib, program, what));
  const ours = gradientsIn(tl, make, by, values);
  check(program, what, make, values, ours, (at) => valueAt(program, what, at));
}

function check(program, what, make, values, ours, value) {
  const { by } = what;
  const theirs = gradientsIn(tf, make, by, values);
  if (ours.error !== undefined) {
    if (theirs.error !== undefined) return;
    throw new Error(`gradients: ${ours.error.message}`, { cause: ours.error });
  }
  // Finite differences are invalid at maxima of equal elements.
  const isBent = ({ name }) => rows[name].isCustom || /max|min|norm/i.test(name);
  const isPlain = program.stream === 'plain' && !program.steps.some(isBent);
  const slope = () => (isPlain ? isSlope(value, values, ours.found, program.seed) : undefined);
  if (theirs.error !== undefined) {
    const problem = slope();
    if (problem)
      throw new Error(`gradients: ${problem}; TensorFlow.js has none: ${theirs.error.message}`);
    return;
  }
  const others = [1, 2].map((run) => {
    const d = new Draw(run);
    const near = values.map((each) => disturbed(each, d));
    return gradientsIn(tf, make, by, near).found ?? theirs.found;
  });
  const scale = Math.max(...theirs.found.flat().filter(Number.isFinite).map(Math.abs), 1e-3);
  by.forEach(({ id, shape }, at) => {
    const within = tolerances(
      { values: theirs.found[at] },
      others.map((each) => each[at]),
    ).map((each) => each + 1e-4 * scale);
    const mine = { values: ours.found[at], shape };
    try {
      compare(`the gradient by t${id}`, mine, { values: theirs.found[at] }, within);
    } catch (error) {
      const listed = faults(program);
      if (listed.length > 0 && !slope()) return;
      const reason = slope() ?? 'differences agree with ours, or are inconclusive';
      throw new Error(`${error.message}; ${reason}`, { cause: error });
    }
  });
}

/** Gradients of random sums of gradients. */
export function secondGradients(program) {
  const what = subject(program);
  if (what === undefined || program.stream !== 'plain') return;
  if (program.steps.some(({ name }) => rows[name].isCustom)) return;
  const { by } = what;
  const values = by.map((leaf) => leaf.values);
  const d = new Draw(program.seed + 9);
  const factors = values.map((each) => Float32Array.from(each, () => d.next() * 2 - 1));
  const make = (lib) => {
    const first = lib.grads(sumOf(lib, program, what));
    return lib.grads((...xs) =>
      first(xs)
        .map((each, at) => lib.sum(lib.mul(each, lib.tensor(factors[at], by[at].shape))))
        .reduce((a, b) => lib.add(a, b)),
    );
  };
  const ours = gradientsIn(tl, make, by, values);
  if (ours.error !== undefined) {
    const theirs = gradientsIn(tf, make, by, values);
    if (theirs.error === undefined) throw ours.error;
    return;
  }
  const value = (at) => {
    const { found, error } = gradientsIn(tl, (lib) => lib.grads(sumOf(lib, program, what)), by, at);
    if (error !== undefined) throw error;
    return found
      .flatMap((each, i) => each.map((g, j) => g * factors[i][j]))
      .reduce((a, b) => a + b, 0);
  };
  const problem = isSlope(value, values, ours.found, program.seed);
  if (problem) throw new Error(`second gradients: ${problem}`);
}
