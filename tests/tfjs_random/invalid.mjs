// Invalid calls: what TensorFlow.js rejects is rejected here, with a LatheError.
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { Draw } from '../js/draw.mjs';
import { call, disposeAll, later, execute, leafTensor, refsOf, tensorsOf } from './program.mjs';
import { rows } from './rows.mjs';
import { stepText } from './text.mjs';

/** The error of a call, or undefined. */
async function outcome(lib, step, tensors) {
  try {
    const result = await call(lib, step, (id) => tensors.get(id));
    const outputs = tensorsOf(result);
    for (const each of outputs) each.dataSync();
    disposeAll(outputs);
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Runs the program and then the calls. Throws where a call fails with another error, or leaks tensors; of strict calls, where
 * one is accepted that TensorFlow.js rejects. Arguments of other types may be converted by JavaScript.
 */
async function checkRejections(program, calls, isStrict = true) {
  if (calls.length === 0) return;
  const { leaves } = program;
  const ends = [];
  for (const lib of [tf, tl]) {
    const tensors = new Map(leaves.map((leaf) => [leaf.id, leafTensor(lib, leaf)]));
    await later(execute(lib, program, tensors));
    const errors = [];
    const { numTensors } = lib.memory();
    for (const step of calls) {
      const copies = new Map(
        [...new Set(refsOf(step.args))].map((id) => [id, tensors.get(id).clone()]),
      );
      errors.push(await outcome(lib, step, copies));
      disposeAll(copies.values());
    }
    const left = lib.memory().numTensors - numTensors;
    disposeAll(tensors.values());
    ends.push({ errors, left });
  }
  const [{ errors: theirs, left }, { errors: ours, left: more }] = ends;
  if (more > left) throw new Error(`${more} tensors are left of ${calls.map(stepText).join(' ')}`);
  calls.forEach((step, at) => {
    // Operations missing only in the backend of TensorFlow.js are accepted.
    const isMissing = /does not support complex64 tensors/.test(theirs[at]?.message);
    const isAccepted = theirs[at] !== undefined && ours[at] === undefined && !isMissing;
    if (isAccepted && isStrict && !rows[step.name].rejected)
      throw new Error(`${stepText(step)} is accepted; TensorFlow.js: ${theirs[at].message}`);
    const isBroken = /RuntimeError|ReferenceError/.test(ours[at]?.name);
    if (isBroken || (ours[at] instanceof RangeError && theirs[at] === undefined))
      throw new Error(
        `${stepText(step)}: ${ours[at].stack}; TensorFlow.js: ${theirs[at]?.message}`,
      );
  });
}

/** Random calls that TensorFlow.js rejected. */
export const refusals = (program) => checkRejections(program, program.rejected);

const wrong = [-1, 0, 1.5, 7, -9, NaN, 'no', null, undefined, {}, [], [1, 2, 3, 4, 5, 6, 7], true];

/** A call of the program with one argument that is something else. */
export async function invalidCall(program) {
  const d = new Draw(program.seed + 13);
  if (program.steps.length === 0) return;
  const step = d.pick(program.steps);
  const args = [...step.args];
  const at = d.size(0, args.length - 1);
  if (args.length === 0 || step.name === 'assign' || step.name === 'customGrad') return;
  const others = refsOf(program.steps.map((each) => each.args));
  if (others.length === 0) return;
  if (step.isChained && at === 0 && args.length > 1) return;
  const isTensor = d.chance(0.4) || (step.isChained && at === 0);
  args[at] = isTensor ? { ref: d.pick(others) } : d.pick(wrong);
  if (rows[step.name].hangs?.(args)) return;
  await checkRejections(program, [{ ...step, args }], isTensor || Number.isFinite(args[at]));
}
