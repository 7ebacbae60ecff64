/**
 * Integer and boolean scalars. Executors of TensorFlow.js count and exit loops by them and read each: where
 * the operands are in JavaScript memory, the result is computed immediately, faster than an operation is recorded.
 */
import { tracked } from '../tensor/live_tensors.js';
import { Tensor } from '../tensor/tensor.js';
import type { LatheBackend, TensorInfo } from './backend.js';
import type { KernelInputs } from './inputs.js';

type Compute = (a: number, b: number) => number | boolean;

const arithmetic: Record<string, Compute> = {
  Add: (a, b) => a + b,
  Maximum: Math.max,
  Minimum: Math.min,
  Multiply: Math.imul,
  Sub: (a, b) => a - b,
};
const comparisons: Record<string, Compute> = {
  Equal: (a, b) => a === b,
  Greater: (a, b) => a > b,
  GreaterEqual: (a, b) => a >= b,
  Less: (a, b) => a < b,
  LessEqual: (a, b) => a <= b,
  NotEqual: (a, b) => a !== b,
};
const logic: Record<string, Compute> = {
  LogicalAnd: (a, b) => a !== 0 && b !== 0,
  LogicalOr: (a, b) => a !== 0 || b !== 0,
};

type Counter = (inputs: KernelInputs, backend: LatheBackend) => TensorInfo | undefined;

function counter(compute: Compute, from: 'int32' | 'bool', to: 'int32' | 'bool'): Counter {
  return (inputs, backend) => {
    const { a, b } = inputs as Readonly<Record<string, TensorInfo>>;
    const first = backend.hostScalar(a!, from);
    if (first === undefined) return undefined;
    const second = backend.hostScalar(b!, from);
    if (second === undefined) return undefined;
    const value = Number(compute(first, second));
    const values = to === 'bool' ? Uint8Array.of(value) : Int32Array.of(value);
    return backend.adopt(new Tensor(values, [], to)[tracked]());
  };
}

const rows = [
  [arithmetic, 'int32', 'int32'],
  [comparisons, 'int32', 'bool'],
  [logic, 'bool', 'bool'],
] as const;

/** By kernel name: the result, if the operands are such scalars in JavaScript memory. */
export const counters: ReadonlyMap<string, Counter> = new Map(
  rows.flatMap(([table, from, to]) =>
    Object.entries(table).map(
      ([kernelName, compute]) => [kernelName, counter(compute, from, to)] as const,
    ),
  ),
);
