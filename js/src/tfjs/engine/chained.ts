/** Chained operations of TensorFlow.js: functions that are also methods of tensors, x.f(y) = f(x, y). */
import * as arithmetic from '../../ops/elementwise/arithmetic.js';
import * as ops from '../../ops/index.js';
import * as unary from '../../ops/elementwise/unary.js';
import type { Rank } from '../../tensor/ranks.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import type { OperationMethods } from '../../trace/operations.js';
import { TracedTensor } from '../../trace/trace.js';

/** All functions of two files; the others listed by name, so that bundlers can drop the rest. */
const same = {
  ...unary,
  ...arithmetic,
  all: ops.all,
  any: ops.any,
  argMax: ops.argMax,
  argMin: ops.argMin,
  avgPool: ops.avgPool,
  batchNorm: ops.batchNorm,
  batchToSpaceND: ops.batchToSpaceND,
  broadcastTo: ops.broadcastTo,
  cast: ops.cast,
  clipByValue: ops.clipByValue,
  clone: ops.clone,
  conv1d: ops.conv1d,
  conv2d: ops.conv2d,
  conv2dTranspose: ops.conv2dTranspose,
  cumprod: ops.cumprod,
  cumsum: ops.cumsum,
  depthToSpace: ops.depthToSpace,
  depthwiseConv2d: ops.depthwiseConv2d,
  diag: ops.diag,
  dilation2d: ops.dilation2d,
  dot: ops.dot,
  elu: ops.elu,
  equal: ops.equal,
  euclideanNorm: ops.euclideanNorm,
  expandDims: ops.expandDims,
  fft: ops.fft,
  flatten: ops.flatten,
  gather: ops.gather,
  greater: ops.greater,
  greaterEqual: ops.greaterEqual,
  ifft: ops.ifft,
  irfft: ops.irfft,
  leakyRelu: ops.leakyRelu,
  less: ops.less,
  lessEqual: ops.lessEqual,
  localResponseNormalization: ops.localResponseNormalization,
  logSigmoid: ops.logSigmoid,
  logSoftmax: ops.logSoftmax,
  logSumExp: ops.logSumExp,
  logicalAnd: ops.logicalAnd,
  logicalNot: ops.logicalNot,
  logicalOr: ops.logicalOr,
  logicalXor: ops.logicalXor,
  matMul: ops.matMul,
  max: ops.max,
  maxPool: ops.maxPool,
  mean: ops.mean,
  min: ops.min,
  mirrorPad: ops.mirrorPad,
  norm: ops.norm,
  notEqual: ops.notEqual,
  oneHot: ops.oneHot,
  onesLike: ops.onesLike,
  pad: ops.pad,
  pool: ops.pool,
  prelu: ops.prelu,
  prod: ops.prod,
  relu: ops.relu,
  relu6: ops.relu6,
  reshape: ops.reshape,
  reshapeAs: ops.reshapeAs,
  reverse: ops.reverse,
  rfft: ops.rfft,
  selu: ops.selu,
  separableConv2d: ops.separableConv2d,
  slice: ops.slice,
  softmax: ops.softmax,
  softplus: ops.softplus,
  spaceToBatchND: ops.spaceToBatchND,
  split: ops.split,
  squeeze: ops.squeeze,
  step: ops.step,
  stridedSlice: ops.stridedSlice,
  sum: ops.sum,
  tile: ops.tile,
  topk: ops.topk,
  transpose: ops.transpose,
  unique: ops.unique,
  unsortedSegmentSum: ops.unsortedSegmentSum,
  unstack: ops.unstack,
  zerosLike: ops.zerosLike,
};

const listed = (more: TensorLike | readonly TensorLike[]): readonly TensorLike[] =>
  more instanceof Tensor ? [more] : (more as readonly TensorLike[]);

/** Methods whose functions have another name, or the tensor at another argument position. */
const others = {
  concat: (x: Tensor, more: TensorLike | readonly TensorLike[], axis?: number): Tensor =>
    ops.concat([x, ...listed(more)], axis),
  stack: (x: Tensor, more: TensorLike | readonly TensorLike[], axis?: number): Tensor =>
    ops.stack([x, ...listed(more)], axis),
  resizeBilinear: ops.image.resizeBilinear,
  resizeNearestNeighbor: ops.image.resizeNearestNeighbor,
  where: (x: Tensor, condition: TensorLike, other: TensorLike): Tensor =>
    ops.where(condition, x, other),
};

type Functions = typeof same & typeof others;
type Methods = {
  [Name in keyof Functions]: Functions[Name] extends (x: never, ...rest: infer Rest) => infer Result
    ? Tensor extends Result
      ? <R extends Tensor = Tensor>(...rest: Rest) => R
      : (...rest: Rest) => Result
    : never;
};

/** Installs the methods of tensors. */
export function installChained(): void {
  for (const [name, action] of Object.entries({ ...same, ...others })) install(name, action);
  for (const name of joining) installTraced(name, same[name]);
}

/** Operations of several tensors, to which TensorFlow.js applies type promotion. */
const joining = [
  ...(Object.keys(arithmetic) as (keyof typeof arithmetic)[]),
  ...([
    'equal',
    'notEqual',
    'less',
    'lessEqual',
    'greater',
    'greaterEqual',
    'matMul',
    'gather',
  ] as const),
];

/** Traced tensors have the core's methods; where type promotion is needed, the function is called. */
function installTraced(name: string, action: (x: never, ...rest: never[]) => unknown): void {
  const prototype = TracedTensor.prototype as unknown as Record<
    string,
    (...rest: unknown[]) => unknown
  >;
  const plain = prototype[name]!;
  const value = function (this: Tensor, other: unknown, ...rest: never[]): unknown {
    const isTensor = other instanceof Tensor;
    const meets = name === 'gather' ? !isTensor : isTensor && other.dtype !== this.dtype;
    return meets
      ? action(this as never, other as never, ...rest)
      : plain.call(this, other, ...rest);
  };
  Object.defineProperty(TracedTensor.prototype, name, { value, configurable: true });
}

function install(name: string, action: (x: never, ...rest: never[]) => unknown): void {
  const value = function (this: Tensor, ...rest: never[]): unknown {
    return action(this as never, ...rest);
  };
  Object.defineProperty(Tensor.prototype, name, { value, configurable: true });
}

/** Methods whose types are not in the core's table. */
export type ChainedMethods = Omit<Methods, keyof OperationMethods<Tensor, TensorLike>>;

declare module '../../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = any> extends ChainedMethods {}
}
