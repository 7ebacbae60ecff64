/**
 * Operations on tensors: recorded as lazy nodes and computed when a result is read. In a traced function they join its
 * trace.
 */
import type { OperationName } from '../core/names.js';
import { type Constant, DeviceValue } from '../runtime/device_value.js';
import { coreDTypes, type DType } from '../tensor/dtypes.js';
import type { Rank } from '../tensor/ranks.js';
import { tracked } from '../tensor/live_tensors.js';
import { elements, Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkNumber,
  checkOperand,
  countNonZero,
  dtypeOf,
  installMethods,
  installTracing,
  type TensorMethods,
  TracedTensor,
  typeFor,
} from '../trace/trace.js';
import { engine, valueOf } from './engine.js';
import { Operation } from './graph/lazy_nodes.js';
import type { ValueType } from './graph/signature.js';

export type { TensorMethods } from '../trace/trace.js';

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = any> extends TensorMethods<Tensor, TensorLike> {}
}

/** A number is a scalar tensor of the operation's dtype. */
export type Operand = Tensor | number;

/** Concatenations of more operands are split: engines accept functions of up to 1000 parameters. */
const maxConcatOperands = 128;

/**
 * Records an operation of the core. Errors: those of the core about types and arguments.
 *
 * @param values arguments after the tensors
 * @param dtype the dtype of numbers among the operands
 */
export function applyOperation(
  op: OperationName,
  operands: readonly Operand[],
  values: readonly unknown[] = [],
  dtype: DType = 'float32',
): Tensor {
  const types: ValueType[] = [];
  for (const each of operands) {
    if (each instanceof TracedTensor) return each.trace.apply(op, [...operands], [...values]);
    if (typeof each === 'number') checkNumber(op, each, dtype);
    types.push(typeof each === 'number' ? engine.signatures.scalar(dtype) : each);
  }
  if (operands.length > maxConcatOperands) return concatInGroups(op, operands, values, dtype);
  const signature = engine.signatures.of(op, types, values);
  const [first] = operands;
  const filled =
    movementOps.has(op) &&
    !engine.tape.isRecording &&
    first instanceof Tensor &&
    constantFillOf(first);
  if (filled) return applyOperation('broadcastTo', filled.numbers, [signature.shape], filled.type);
  const sources = operands.map((each) => (typeof each === 'number' ? each : valueOf(each)));
  const node = new Operation(signature, sources);
  const value = engine.lazyValue(signature, node);
  const result = tensorOf(value, signature.type);
  engine.plans.limitDepth(value, node);
  engine.watcher?.(op, operands, result);
  return result;
}

/** Unary operations that only change the shape of a tensor whose elements are all equal. */
const movementOps = new Set<OperationName>([
  'reshape',
  'transpose',
  'broadcastTo',
  'tile',
  'slice',
]);

/** The constant fill of a pending tensor whose elements are all equal. */
function constantFillOf(x: Tensor): Constant | undefined {
  const data = x[elements];
  const constant = data instanceof DeviceValue ? data.constant : undefined;
  return constant?.op === 'broadcastTo' ? constant : undefined;
}

function concatInGroups(
  op: OperationName,
  operands: readonly Operand[],
  values: readonly unknown[],
  dtype: DType,
): Tensor {
  const groups: Tensor[] = [];
  for (let from = 0; from < operands.length; from += maxConcatOperands) {
    groups.push(applyOperation(op, operands.slice(from, from + maxConcatOperands), values, dtype));
  }
  const result = applyOperation('concat', groups, values);
  for (const each of groups) each.dispose();
  return result;
}

/** A new tracked tensor of a value. */
export function tensorOf(value: DeviceValue, type?: string): Tensor {
  return new Tensor(value, value.shape, value.dtype, type)[tracked]();
}

/** Another tensor of the same elements. */
export function alias(x: Tensor): Tensor {
  const data = x[elements];
  if (!Object.hasOwn(coreDTypes, x.dtype) && !ArrayBuffer.isView(data)) {
    data.share!();
    return new Tensor(data, x.shape, x.dtype)[tracked](true);
  }
  if (x instanceof TracedTensor) return x;
  const value = DeviceValue.of(x, engine.device);
  const { isVisible } = value;
  value.share();
  return new Tensor(value, x.shape, x.dtype, x.type)[tracked](isVisible);
}

/** A tensor method: the operation on operands that are converted to tensors. */
function applyMethod(
  op: OperationName,
  operands: readonly TensorLike[],
  values: unknown[],
): Tensor {
  const dtype = dtypeOf(operands);
  if (op === 'nonZero' && values[0] === undefined) values = [sizeOf(operands[0] as Tensor)];
  const copies: Tensor[] = [];
  const tensors = operands.map((each) => {
    if (each instanceof Tensor || typeof each === 'number') return each;
    checkOperand(op, each);
    const copy = tensor(each, ...typeFor(each, dtype));
    copies.push(copy);
    return copy;
  });
  const result = applyOperation(op, tensors, values, dtype);
  for (const each of copies) each.dispose();
  return result;
}

function sizeOf(x: Tensor): number {
  const count = countNonZero(x);
  const size = count.dataSync<'int32'>()[0]!;
  count.dispose();
  return size;
}

/** Adds the operations as methods to tensors and to traced tensors. */
export function installOperations(): void {
  installTracing();
  installMethods(Tensor.prototype, (_self, op, operands, values) =>
    applyMethod(op, operands, values),
  );
}
