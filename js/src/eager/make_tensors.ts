/** `tl.concat`, `stack`, `randomNormal` and `randomUniform`; those of `tensorlathe/tfjs` also take strings and complex numbers. */
import { LatheError } from '../base/errors.js';
import { checkInteger } from '../base/options.js';
import { tensor, type TensorLike } from '../tensor/tensor.js';
import { Tensor } from '../tensor/tensor.js';
import { checkedShape } from '../tensor/tensor.js';
import { applyOperation } from './apply.js';
import { randomSeed } from './seeds.js';

function joined(op: 'concat' | 'stack', tensors: readonly TensorLike[], axis: number): Tensor {
  if (!Array.isArray(tensors) || tensors.length === 0) {
    throw new LatheError(`${op}: an array of tensors is needed`);
  }
  const all = tensors.map((each) => (each instanceof Tensor ? each : tensor(each)));
  return applyOperation(op, all, [axis]);
}

/** Concatenates tensors along an axis. Errors: no tensors; shapes that differ outside the axis. */
export const concat = (tensors: readonly TensorLike[], axis = 0): Tensor =>
  joined('concat', tensors, axis);

/** Stacks tensors of one shape along a new axis. Errors: no tensors; shapes that differ. */
export const stack = (tensors: readonly TensorLike[], axis = 0): Tensor =>
  joined('stack', tensors, axis);

function random(
  op: 'randomNormal' | 'randomUniform',
  shape: readonly number[],
  parameters: readonly number[],
  seed: number | undefined,
): Tensor {
  if (seed !== undefined) checkInteger(`${op}: seed`, seed);
  const from = seed === undefined ? randomSeed('int32') : tensor([seed], [], 'int32');
  return applyOperation(op, [from], [checkedShape(shape), ...parameters]);
}

/** Normally distributed float32 numbers, others at each call unless there is a seed. */
export const randomNormal = (
  shape: readonly number[],
  mean = 0,
  stdDev = 1,
  _dtype: 'float32' = 'float32',
  seed?: number,
): Tensor => random('randomNormal', shape, [mean, stdDev], seed);

/** Uniformly distributed float32 numbers of [minval, maxval), others at each call unless there is a seed. */
export const randomUniform = (
  shape: readonly number[],
  minval = 0,
  maxval = 1,
  _dtype: 'float32' = 'float32',
  seed?: number,
): Tensor => random('randomUniform', shape, [minval, maxval], seed);

const elsewhere = (name: string, instead: string) => (): never => {
  throw new LatheError(
    `tl.${name} is in tensorlathe/tfjs (import * as tf from 'tensorlathe/tfjs'); here ${instead}`,
  );
};

/** Not here: `tensorlathe/tfjs` has it. Functions of `tl.compile` have `g.variable`. */
export const variable: (...args: unknown[]) => never = /* @__PURE__ */ elsewhere(
  'variable',
  'functions of tl.compile have g.variable',
);

/** Not here: `tensorlathe/tfjs` has it. `tl.image.toTensor` reads images. */
export const browser = /* @__PURE__ */ Object.fromEntries(
  ['fromPixels', 'fromPixelsAsync', 'toPixels', 'draw'].map((name) => [
    name,
    elsewhere(`browser.${name}`, 'tl.image.toTensor reads images'),
  ]),
) as Record<'fromPixels' | 'fromPixelsAsync' | 'toPixels' | 'draw', (...args: unknown[]) => never>;
