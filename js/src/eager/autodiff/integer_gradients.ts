/**
 * Gradients with respect to and through integers and bools: TensorFlow.js computes them as if all values were floats,
 * even where floats are cast to integers. The path is recorded a second time with floats; comparisons and indices have
 * no gradient.
 */
import type { OperationName } from '../../core/names.js';
import type { DeviceValue } from '../../runtime/device_value.js';
import type { Tensor } from '../../tensor/tensor.js';
import { applyOperation, type Operand, tensorOf } from '../apply.js';
import { engine, valueOf } from '../engine.js';
import { CustomVjp } from './vjp_nodes.js';
import { type LazyNode, type NodeInput, Operation, VjpOutput } from '../graph/lazy_nodes.js';
import { aliasTensor } from '../values.js';

export const isFloat = ({ dtype }: { dtype: string }): boolean => dtype.includes('float');

/** Operations whose gradient is that of a differentiable one. */
const smooth: Partial<Record<OperationName, OperationName>> = { floorDiv: 'div' };

/** Whether the result is truncated while the gradient passes straight through. */
export const truncatesGradient = (node: LazyNode): boolean =>
  node instanceof Operation &&
  (node.signature.op === 'floorDiv' ||
    (node.signature.op === 'cast' &&
      (node.signature.dtype === 'bool' ||
        (!isFloat(node.signature) && isFloat(node.signature.inputs[0]!)))));

/** Whether a path includes a truncation and no gradient. */
export const pathIsTruncated = (path: ReadonlyMap<DeviceValue, LazyNode>): boolean => {
  const nodes = [...path.values()];
  return nodes.some(truncatesGradient) && !nodes.some((each) => each instanceof VjpOutput);
};

/** Float tensors for `values` and for the values on the path that depend on them with a gradient. */
export function castPathToFloats(
  wrt: readonly Tensor[],
  values: readonly DeviceValue[],
  path: ReadonlyMap<DeviceValue, LazyNode>,
): Map<DeviceValue, Tensor> {
  const floats = new Map<DeviceValue, Tensor>();
  values.forEach((value, at) => floats.set(value, asFloat(wrt[at]!)));
  for (const [value, node] of path) {
    const found =
      node instanceof Operation
        ? rewritten(node, floats)
        : node instanceof CustomVjp
          ? withInputs(node, floats)
          : undefined;
    if (found === undefined) continue;
    floats.set(value, truncatesGradient(node) ? straightThrough(value, found) : found);
  }
  return floats;
}

const asFloat = (x: Tensor): Tensor => (isFloat(x) ? x : applyOperation('cast', [x], ['float32']));

/** Straight-through estimator: the elements of a value with the gradient of x. */
function straightThrough(value: DeviceValue, x: Tensor): Tensor {
  const float = asFloat(aliasTensor(value));
  const node = new CustomVjp(valueOf(float), [valueOf(x)], (dy) => [dy], []);
  return tensorOf(engine.lazyValue(float, node));
}

/** The same custom gradient for inputs of equal elements. */
function withInputs(
  { value, inputs, rule, saved }: CustomVjp,
  floats: ReadonlyMap<DeviceValue, Tensor>,
): Tensor {
  const of = inputs.map((each) => {
    const found = floats.get(each);
    return found === undefined ? each : valueOf(found);
  });
  for (const each of saved) each.retain();
  return tensorOf(engine.lazyValue(value, new CustomVjp(value, of, rule, saved)));
}

function rewritten(
  { signature: { op, values, inputs }, sources }: Operation,
  floats: ReadonlyMap<DeviceValue, Tensor>,
): Tensor | undefined {
  const of = (each: NodeInput) => (typeof each === 'number' ? undefined : floats.get(each));
  if (op === 'cast') return of(sources[0]!);
  const isChoice = op === 'where';
  const operands = sources.map((each, at): Operand => {
    if (typeof each === 'number') return each;
    if (isChoice && at === 0) return aliasTensor(each);
    return (
      floats.get(each) ?? (isIndexOperand(op, at) ? aliasTensor(each) : asFloat(aliasTensor(each)))
    );
  });
  const isReached = sources.some((each, at) => of(each) !== undefined && !(isChoice && at === 0));
  if (!isReached || inputs.length === 0) return undefined;
  try {
    const found = applyOperation(smooth[op] ?? op, operands, values);
    return isFloat(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an operand is a tensor of indices. */
const isIndexOperand = (op: OperationName, at: number): boolean =>
  at === 1 && (op === 'gather' || op === 'takeAlongAxis');
