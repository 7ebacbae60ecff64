/** Operations on tensors: written down, computed when somebody reads a result. Of a function being traced they become part. */
import type { OperationName } from '../core/names.js';
import { type Constant, HeapValue } from '../runtime/heap_value.js';
import { coreDTypes, type DType } from '../tensor/dtypes.js';
import type { Rank } from '../tensor/ranks.js';
import { tracked } from '../tensor/scopes.js';
import { elements, Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkNumber,
  checkOperand,
  countOf,
  dtypeOf,
  installMethods,
  installTracing,
  type TensorMethods,
  TracedTensor,
  typeFor,
} from '../trace/trace.js';
import { isRecording, limitDepth } from './compute.js';
import { Operation } from './formulas.js';
import { signatureOf, type ValueType } from './signature.js';

export type { TensorMethods } from '../trace/trace.js';

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = any> extends TensorMethods<Tensor, TensorLike> {}
}

/** What runs behind every operation, for debugging. */
export type Watcher = (op: OperationName, operands: readonly Operand[], result: Tensor) => void;
let watcher: Watcher | undefined;

/** @internal */
export function watch(next: Watcher | undefined): void {
  watcher = next;
}

/** Whether something looks at every operation by itself. */
export const isWatched = (): boolean => watcher !== undefined;

/** A number is a tensor without axes, of the dtype that is said. */
export type Operand = Tensor | number;

const numberTypes = new Map<DType, ValueType>();

function numberType(dtype: DType): ValueType {
  let found = numberTypes.get(dtype);
  if (found === undefined) {
    found = { shape: [], dtype, type: `${dtype} []` };
    numberTypes.set(dtype, found);
  }
  return found;
}

/** What joins more tensors than this does so in groups: functions of engines take no more than 1000 parameters. */
const mostJoined = 128;

/**
 * The operation of the core. `values`: its arguments behind the tensors; `dtype`: that of numbers among the operands.
 * Errors: whatever the core finds wrong with types and arguments.
 */
export function apply(
  op: OperationName,
  operands: readonly Operand[],
  values: readonly unknown[] = [],
  dtype: DType = 'float32',
): Tensor {
  const types: ValueType[] = [];
  for (const each of operands) {
    if (each instanceof TracedTensor) return each.trace.apply(op, [...operands], [...values]);
    if (typeof each === 'number') checkNumber(op, each, dtype);
    types.push(typeof each === 'number' ? numberType(dtype) : each);
  }
  if (operands.length > mostJoined) return joined(op, operands, values, dtype);
  const signature = signatureOf(op, types, values);
  const [first] = operands;
  const whole = movers.has(op) && !isRecording() && first instanceof Tensor && repeated(first);
  if (whole) return apply('broadcastTo', whole.numbers, [signature.shape], whole.type);
  const sources = operands.map((each) => (typeof each === 'number' ? each : HeapValue.of(each)));
  const formula = new Operation(signature, sources);
  const value = new HeapValue(signature.dtype, signature.shape, formula);
  const result = shown(value, signature.type);
  limitDepth(value, formula);
  watcher?.(op, operands, result);
  return result;
}

/** Operations of one tensor that change its shape alone, where all elements are the same. */
const movers = new Set<OperationName>(['reshape', 'transpose', 'broadcastTo', 'tile', 'slice']);

/** The number that a pending tensor has everywhere. */
function repeated(x: Tensor): Constant | undefined {
  const held = x[elements];
  const constant = held instanceof HeapValue ? held.constant : undefined;
  return constant?.op === 'broadcastTo' ? constant : undefined;
}

function joined(
  op: OperationName,
  operands: readonly Operand[],
  values: readonly unknown[],
  dtype: DType,
): Tensor {
  const groups: Tensor[] = [];
  for (let from = 0; from < operands.length; from += mostJoined) {
    groups.push(apply(op, operands.slice(from, from + mostJoined), values, dtype));
  }
  const result = apply('concat', groups, values);
  for (const each of groups) each.dispose();
  return result;
}

/** The tensor that shows a new value. */
export function shown(value: HeapValue, type?: string): Tensor {
  return new Tensor(value, value.shape, value.dtype, type)[tracked]();
}

/** Another tensor of the same elements. */
export function alias(x: Tensor): Tensor {
  const held = x[elements];
  if (!Object.hasOwn(coreDTypes, x.dtype) && !ArrayBuffer.isView(held)) {
    held.share!();
    return new Tensor(held, x.shape, x.dtype)[tracked](true);
  }
  if (x instanceof TracedTensor) return x;
  const value = HeapValue.of(x);
  const { isShown } = value;
  value.share();
  return new Tensor(value, x.shape, x.dtype, x.type)[tracked](isShown);
}

/** The method of a tensor by the operation's name, with anything that tensors can be made of. */
function applyMethod(
  op: OperationName,
  operands: readonly TensorLike[],
  values: unknown[],
): Tensor {
  const dtype = dtypeOf(operands);
  if (op === 'nonZero' && values[0] === undefined) values = [sizeOf(operands[0] as Tensor)];
  const copies: Tensor[] = [];
  const given = operands.map((each) => {
    if (each instanceof Tensor || typeof each === 'number') return each;
    checkOperand(op, each);
    const copy = tensor(each, ...typeFor(each, dtype));
    copies.push(copy);
    return copy;
  });
  const result = apply(op, given, values, dtype);
  for (const each of copies) each.dispose();
  return result;
}

function sizeOf(x: Tensor): number {
  const count = countOf(x);
  const size = count.dataSync<'int32'>()[0]!;
  count.dispose();
  return size;
}

/** Gives tensors their methods, those that functions are traced with, too. */
export function installOperations(): void {
  installTracing();
  installMethods(Tensor.prototype, (_self, op, operands, values) =>
    applyMethod(op, operands, values),
  );
}
