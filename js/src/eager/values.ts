/** Operations on heap values, and tensors of these. */
import type { OperationName } from '../core/names.js';
import type { DeviceValue } from '../runtime/device_value.js';
import type { DType } from '../tensor/dtypes.js';
import { tracked, trackElements } from '../tensor/live_tensors.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { engine, valueOf } from './engine.js';
import { type NodeInput, Operation } from './graph/lazy_nodes.js';
import { type Signature, valueType } from './graph/signature.js';

/** A pending value of an operation, for one tensor. */
export function pendingValue(signature: Signature, sources: readonly NodeInput[]): DeviceValue {
  const node = new Operation(signature, sources);
  const value = engine.lazyValue(signature, node);
  engine.plans.limitDepth(value, node);
  return value;
}

/** As `applyOperation`, for values. `numbers`: the dtype of numbers among the sources. */
export function operationValue(
  op: OperationName,
  sources: readonly NodeInput[],
  values: readonly unknown[] = [],
  numbers: DType = 'float32',
): DeviceValue {
  const types = sources.map((each) =>
    typeof each === 'number' ? valueType([], numbers) : valueType(each.shape, each.dtype),
  );
  return pendingValue(engine.signatures.of(op, types, values), sources);
}

/** A tensor of a value that may have others. */
export function aliasTensor(value: DeviceValue): Tensor {
  const { isVisible } = value;
  value.share();
  return new Tensor(value, value.shape, value.dtype)[tracked](isVisible);
}

/** A copy of a value that the core does not simplify away, as it would an identity reshape. */
export function copyOf(value: DeviceValue): DeviceValue {
  if (!value.dtype.includes('float')) return operationValue('reshape', [value], [value.shape]);
  const opposite = operationValue('neg', [value]);
  const found = operationValue('neg', [opposite]);
  opposite.free();
  return found;
}

/** Separates the value of a tensor from other tensors, so that gradients with respect to it are distinct. */
export function unalias(x: Tensor): void {
  const value = valueOf(x);
  if (value.tensors === 1) return;
  x[elements] = value.isMaterialized ? value.alias() : copyOf(value);
  if (!value.free()) trackElements(x);
}
