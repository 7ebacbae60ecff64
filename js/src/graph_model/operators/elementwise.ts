/** Elementwise operators, including comparisons and logic. */
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Operator } from '../call.js';

const one =
  (f: (x: Tensor) => Tensor): Operator =>
  (call) =>
    f(call.tensor(0));
const two =
  (f: (a: Tensor, b: Tensor) => Tensor): Operator =>
  (call) =>
    f(call.tensor(0), call.tensor(1));

export const elementwise = (): Record<string, Operator> => ({
  Abs: one(tf.abs),
  Acos: one(tf.acos),
  Acosh: one(tf.acosh),
  Add: two(tf.add),
  AddN: (call) => tf.addN(call.tensors()),
  AddV2: two(tf.add),
  Asin: one(tf.asin),
  Asinh: one(tf.asinh),
  Atan: one(tf.atan),
  Atan2: two(tf.atan2),
  Atanh: one(tf.atanh),
  BiasAdd: (call) => {
    const [x, bias] = [call.tensor(0), call.tensor(1)];
    if (call.attribute<string>('data_format', 'NHWC') !== 'NCHW' || x.rank < 2)
      return tf.add(x, bias);
    return tf.add(x, tf.reshape(bias, [-1, ...x.shape.slice(2).map(() => 1)]));
  },
  BitwiseAnd: two(tf.bitwiseAnd),
  Cast: (call) => tf.cast(call.tensor(0), call.attribute('DstT', 'float32')),
  Ceil: one(tf.ceil),
  ClipByValue: (call) => tf.clipByValue(call.tensor(0), call.number(1), call.number(2)),
  Complex: two(tf.complex),
  ComplexAbs: one(tf.abs),
  Cos: one(tf.cos),
  Cosh: one(tf.cosh),
  Div: two(tf.div),
  DivNoNan: two(tf.divNoNan),
  Elu: one(tf.elu),
  Equal: two(tf.equal),
  Erf: one(tf.erf),
  Exp: one(tf.exp),
  Expm1: one(tf.expm1),
  FakeQuantWithMinMaxVars: one((x) => tf.clone(x)),
  Floor: one(tf.floor),
  FloorDiv: two(tf.floorDiv),
  FloorMod: two(tf.mod),
  Greater: two(tf.greater),
  GreaterEqual: two(tf.greaterEqual),
  Imag: one(tf.imag),
  IsFinite: one(tf.isFinite),
  IsInf: one(tf.isInf),
  IsNan: one(tf.isNaN),
  LeakyRelu: (call) => tf.leakyRelu(call.tensor(0), call.attribute('alpha', 0.2)),
  Less: two(tf.less),
  LessEqual: two(tf.lessEqual),
  Log: one(tf.log),
  Log1p: one(tf.log1p),
  LogSoftmax: one((x) => tf.logSoftmax(x)),
  LogicalAnd: two(tf.logicalAnd),
  LogicalNot: one(tf.logicalNot),
  LogicalOr: two(tf.logicalOr),
  Maximum: two(tf.maximum),
  Minimum: two(tf.minimum),
  Mod: two(tf.mod),
  Mul: two(tf.mul),
  Neg: one(tf.neg),
  NotEqual: two(tf.notEqual),
  Pow: two(tf.pow),
  Prelu: two(tf.prelu),
  Real: one(tf.real),
  RealDiv: two(tf.div),
  Reciprocal: one(tf.reciprocal),
  Relu: one(tf.relu),
  Relu6: one(tf.relu6),
  Round: one(tf.round),
  Rsqrt: one(tf.rsqrt),
  Select: (call) => tf.where(call.tensor(0), call.tensor(1), call.tensor(2)),
  SelectV2: (call) => tf.where(call.tensor(0), call.tensor(1), call.tensor(2)),
  Selu: one(tf.selu),
  Sigmoid: one(tf.sigmoid),
  Sign: one(tf.sign),
  Sin: one(tf.sin),
  Sinh: one(tf.sinh),
  Softmax: one((x) => tf.softmax(x)),
  Softplus: one(tf.softplus),
  Sqrt: one(tf.sqrt),
  Square: one(tf.square),
  SquaredDifference: two(tf.squaredDifference),
  Sub: two(tf.sub),
  Tan: one(tf.tan),
  Tanh: one(tf.tanh),
});
