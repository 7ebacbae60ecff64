/** Which functions are methods of tensors too, by the names of TensorFlow.js: x.f(y) is f(x, y). */
import * as ops from '../ops/index.js';
import type { Rank } from '../tensor/ranks.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { OperationMethods } from '../trace/operations.js';

const names = [
  'abs',
  'acos',
  'acosh',
  'add',
  'addN',
  'all',
  'any',
  'argMax',
  'argMin',
  'asin',
  'asinh',
  'atan',
  'atan2',
  'atanh',
  'avgPool',
  'batchNorm',
  'batchToSpaceND',
  'bitwiseAnd',
  'broadcastTo',
  'cast',
  'ceil',
  'clipByValue',
  'clone',
  'conv1d',
  'conv2d',
  'conv2dTranspose',
  'cos',
  'cosh',
  'cumprod',
  'cumsum',
  'depthToSpace',
  'depthwiseConv2d',
  'diag',
  'dilation2d',
  'div',
  'divNoNan',
  'dot',
  'elu',
  'equal',
  'erf',
  'euclideanNorm',
  'exp',
  'expandDims',
  'expm1',
  'fft',
  'flatten',
  'floor',
  'floorDiv',
  'gather',
  'greater',
  'greaterEqual',
  'ifft',
  'irfft',
  'isFinite',
  'isInf',
  'isNaN',
  'leakyRelu',
  'less',
  'lessEqual',
  'localResponseNormalization',
  'log',
  'log1p',
  'logSigmoid',
  'logSoftmax',
  'logSumExp',
  'logicalAnd',
  'logicalNot',
  'logicalOr',
  'logicalXor',
  'matMul',
  'max',
  'maxPool',
  'maximum',
  'mean',
  'min',
  'minimum',
  'mirrorPad',
  'mod',
  'mul',
  'neg',
  'norm',
  'notEqual',
  'oneHot',
  'onesLike',
  'pad',
  'pool',
  'pow',
  'prelu',
  'prod',
  'reciprocal',
  'relu',
  'relu6',
  'reshape',
  'reshapeAs',
  'reverse',
  'rfft',
  'round',
  'rsqrt',
  'selu',
  'separableConv2d',
  'sigmoid',
  'sign',
  'sin',
  'sinh',
  'slice',
  'softmax',
  'softplus',
  'spaceToBatchND',
  'split',
  'sqrt',
  'square',
  'squaredDifference',
  'squeeze',
  'step',
  'stridedSlice',
  'sub',
  'sum',
  'tan',
  'tanh',
  'tile',
  'topk',
  'transpose',
  'unique',
  'unsortedSegmentSum',
  'unstack',
  'zerosLike',
] as const satisfies readonly (keyof typeof ops)[];

const listed = (more: TensorLike | readonly TensorLike[]): readonly TensorLike[] =>
  more instanceof Tensor ? [more] : (more as readonly TensorLike[]);

/** Methods whose functions are called otherwise, or take the tensor at another place. */
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

type Functions = Pick<typeof ops, (typeof names)[number]> & typeof others;
type Methods = {
  [Name in keyof Functions]: Functions[Name] extends (x: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives tensors their methods. */
export function installChained(): void {
  for (const name of names) install(name, ops[name]);
  for (const [name, action] of Object.entries(others)) install(name, action);
}

function install(name: string, action: (x: never, ...rest: never[]) => unknown): void {
  const value = function (this: Tensor, ...rest: never[]): unknown {
    return action(this as never, ...rest);
  };
  Object.defineProperty(Tensor.prototype, name, { value, configurable: true });
}

/** Methods whose types the core's own table does not give. */
export type ChainedMethods = Omit<Methods, keyof OperationMethods<Tensor, TensorLike>>;

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = Rank> extends ChainedMethods {}
}
