/** Operators that move elements: shapes, slices, gathering and scattering. */
import { LatheError } from '../../base/errors.js';
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Operator } from '../call.js';

const ints = (values: readonly number[]): Tensor => tf.tensor1d([...values], 'int32');
const reshaped: Operator = (call) => tf.reshape(call.tensor(0), call.numbers(1)!);
const gathered: Operator = (call) =>
  tf.gather(
    call.tensor(0),
    tf.cast(call.tensor(1), 'int32'),
    call.number(2, 0),
    call.attribute('batch_dims', 0),
  );
const reversed: Operator = (call) => {
  const axesTensor = call.tensor(1);
  const entries = call.numbers(1)!;
  const axes =
    axesTensor.dtype === 'bool' ? entries.flatMap((is, at) => (is ? [at] : [])) : entries;
  return tf.reverse(call.tensor(0), axes);
};

/** Reshapes tensors that differ only by axes of size 1 to the shape of the first. */
function sameType(xs: readonly Tensor[]): Tensor[] {
  const { shape } = tf.squeeze(xs[0]!);
  return xs.map((each) => {
    if (each.shape.join() === xs[0]!.shape.join()) return each;
    if (tf.squeeze(each).shape.join() === shape.join()) return tf.reshape(each, xs[0]!.shape);
    throw new LatheError(`Pack: shapes [${each.shape.join()}] and [${xs[0]!.shape.join()}] differ`);
  });
}

export const shapes = (): Record<string, Operator> => ({
  Concat: (call) =>
    tf.concat(call.tensors(1, call.attribute('N', call.count - 1) + 1), call.number(0)),
  ConcatV2: (call) => tf.concat(call.tensors(0, call.count - 1), call.number(-1)),
  EnsureShape: (call) => tf.ensureShape(call.tensor(0), call.numbers(1)!),
  Gather: gathered,
  GatherV2: gathered,
  MirrorPad: (call) => {
    const mode = call.attribute('mode', 'REFLECT').toLowerCase() as 'reflect' | 'symmetric';
    return tf.mirrorPad(call.tensor(0), call.pairs(1), mode);
  },
  Pack: (call) => tf.stack(sameType(call.tensors()), call.attribute('axis', 0)),
  Pad: (call) => tf.pad(call.tensor(0), call.pairs(1), call.attribute('constant_value', 0)),
  Rank: (call) => tf.scalar(call.tensor(0).rank, 'int32'),
  Reshape: reshaped,
  Reverse: reversed,
  ReverseV2: reversed,
  Shape: (call) => ints(call.tensor(0).shape),
  ShapeN: (call) => call.tensors().map(({ shape }) => ints(shape)),
  Size: (call) => tf.scalar(call.tensor(0).size, 'int32'),
  SparseToDense: (call) => {
    const values = call.tensor(2);
    const otherwise = tf.cast(call.tensor(3), values.dtype);
    return tf.sparseToDense(call.tensor(0), values, call.numbers(1)!, otherwise);
  },
  Split: (call) => tf.split(call.tensor(1), call.attribute('num_split', 1), call.number(0)),
  Squeeze: (call) => {
    const axes = call.attribute<number[]>('squeeze_dims', call.attribute<number[]>('axis', []));
    return tf.squeeze(call.tensor(0), axes.length > 0 ? axes : undefined);
  },
});
