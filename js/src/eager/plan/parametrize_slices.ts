/** Plans whose slices begin at run-time parameters, so that programs that slice at changing offsets share a module. */
import type { Trace, TracedTensor } from '../../trace/trace.js';
import { nodeKey, Operation } from '../graph/lazy_nodes.js';
import type { Plan, Step } from './plan.js';
import { valueType } from '../graph/signature.js';

const beginType = valueType([], 'int32');

/** A slice, with the axes along which it is smaller than its operand. */
interface PartialSlice {
  readonly begin: readonly number[];
  readonly size: readonly number[];
  readonly axes: readonly number[];
}

function partialSliceOf({ node }: Step): PartialSlice | undefined {
  if (!(node instanceof Operation) || node.signature.op !== 'slice') return undefined;
  const { inputs, shape: size, values } = node.signature;
  const full = inputs[0]!.shape;
  const begin = (values[0] ?? []) as number[];
  if (size.includes(0)) return undefined;
  return { begin, size, axes: [...full.keys()].filter((axis) => size[axis] !== full[axis]) };
}

/** The plan with the begins of its slices as additional inputs; undefined if none of its slices is partial. */
export function parametrizeSlices(plan: Plan): Plan | undefined {
  const parts = plan.steps.map(partialSliceOf);
  const begins = parts.flatMap((part) => part?.axes.map((axis) => part.begin[axis] ?? 0) ?? []);
  if (begins.length === 0) return undefined;
  const count = plan.inputs.length;
  const moved = (index: number) => (index < count ? index : index + begins.length);
  let [key, next] = [plan.inputTypes.map(({ type }) => type).join(), count];
  const steps = plan.steps.map((step, at): Step => {
    const [part, operands] = [parts[at], step.operandIndices.map(moved)];
    if (part === undefined) {
      key += `;${nodeKey(step.node, step.closedVjp)},${operands.join()}`;
      return { ...step, operandIndices: operands };
    }
    for (const _ of part.axes) operands.push(next++);
    key += `;part ${part.size.join('x')},${operands.join()}`;
    return { ...step, operandIndices: operands, write: (...args) => traceGather(part, ...args) };
  });
  const results = plan.results.map(moved);
  return {
    ...plan,
    key: `${key}>${results.join()}`,
    inputs: [...plan.inputs, ...begins],
    inputTypes: [...plan.inputTypes, ...begins.map(() => beginType)],
    steps,
    results,
  };
}

function traceGather(
  { size, axes }: PartialSlice,
  trace: Trace,
  [x, ...begins]: readonly TracedTensor[],
): TracedTensor {
  return axes.reduce((part, axis, at) => {
    const count = size[axis]!;
    const numbers = Int32Array.from({ length: count }, (_, index) => index);
    const from = trace.constant(numbers, [count], 'int32');
    return trace.apply('gather', [part, trace.apply('add', [from, begins[at]!], [])], [axis]);
  }, x!);
}
