/** Which functions are methods of tensors too, by the names of TensorFlow.js: x.f(y) is f(x, y). */
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { Rank } from '../tensor/ranks.js';
import type { OperationMethods } from '../trace/operations.js';
import * as activations from '../ops/activations.js';
import * as arithmetic from '../ops/arithmetic.js';
import * as compare from '../ops/compare.js';
import * as create from '../ops/create.js';
import * as reduce from '../ops/reduce.js';
import * as shapes from '../ops/shapes.js';
import * as statistics from '../ops/statistics.js';
import * as unary from '../ops/unary.js';

const functions = {
  abs: unary.abs,
  acos: unary.acos,
  acosh: unary.acosh,
  add: arithmetic.add,
  addN: arithmetic.addN,
  all: reduce.all,
  any: reduce.any,
  argMax: reduce.argMax,
  argMin: reduce.argMin,
  asin: unary.asin,
  asinh: unary.asinh,
  atan: unary.atan,
  atan2: arithmetic.atan2,
  atanh: unary.atanh,
  bitwiseAnd: arithmetic.bitwiseAnd,
  cast: create.cast,
  ceil: unary.ceil,
  clipByValue: activations.clipByValue,
  clone: shapes.clone,
  cos: unary.cos,
  cosh: unary.cosh,
  cumprod: reduce.cumprod,
  cumsum: reduce.cumsum,
  diag: create.diag,
  div: arithmetic.div,
  divNoNan: arithmetic.divNoNan,
  elu: activations.elu,
  equal: compare.equal,
  erf: unary.erf,
  euclideanNorm: statistics.euclideanNorm,
  exp: unary.exp,
  expm1: unary.expm1,
  floor: unary.floor,
  floorDiv: arithmetic.floorDiv,
  greater: compare.greater,
  greaterEqual: compare.greaterEqual,
  isFinite: unary.isFinite,
  isInf: unary.isInf,
  isNaN: unary.isNaN,
  leakyRelu: activations.leakyRelu,
  less: compare.less,
  lessEqual: compare.lessEqual,
  log: unary.log,
  log1p: unary.log1p,
  logSigmoid: activations.logSigmoid,
  logSoftmax: activations.logSoftmax,
  logSumExp: reduce.logSumExp,
  logicalAnd: compare.logicalAnd,
  logicalNot: compare.logicalNot,
  logicalOr: compare.logicalOr,
  logicalXor: compare.logicalXor,
  max: reduce.max,
  maximum: arithmetic.maximum,
  mean: reduce.mean,
  min: reduce.min,
  minimum: arithmetic.minimum,
  mod: arithmetic.mod,
  mul: arithmetic.mul,
  neg: unary.neg,
  norm: statistics.norm,
  notEqual: compare.notEqual,
  oneHot: create.oneHot,
  onesLike: create.onesLike,
  pow: arithmetic.pow,
  prelu: activations.prelu,
  prod: reduce.prod,
  reciprocal: unary.reciprocal,
  relu: activations.relu,
  relu6: activations.relu6,
  round: unary.round,
  rsqrt: unary.rsqrt,
  selu: activations.selu,
  sigmoid: unary.sigmoid,
  sign: unary.sign,
  sin: unary.sin,
  sinh: unary.sinh,
  softmax: activations.softmax,
  softplus: activations.softplus,
  sqrt: unary.sqrt,
  square: unary.square,
  squaredDifference: arithmetic.squaredDifference,
  step: activations.step,
  sub: arithmetic.sub,
  sum: reduce.sum,
  tan: unary.tan,
  tanh: unary.tanh,
  zerosLike: create.zerosLike,
  where: (x: Tensor, condition: TensorLike, other: TensorLike): Tensor =>
    compare.where(condition, x, other),
};

type Methods = {
  [Name in keyof typeof functions]: (typeof functions)[Name] extends (
    x: never,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives tensors their methods. */
export function installChained(): void {
  for (const [name, action] of Object.entries(functions) as [
    string,
    (...all: unknown[]) => unknown,
  ][]) {
    const value = function (this: Tensor, ...rest: unknown[]): unknown {
      return action(this, ...rest);
    };
    Object.defineProperty(Tensor.prototype, name, { value, configurable: true });
  }
}

/** Methods whose types the core's own table does not give. */
export type ChainedMethods = Omit<Methods, keyof OperationMethods<Tensor, TensorLike>>;

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = Rank> extends ChainedMethods {}
}
