/** Plans in which slices begin wherever they are told: programs that slice at ever other places share a module. */
import type { Trace, TracedTensor } from '../trace/trace.js';
import { keyOf, Operation } from './formulas.js';
import type { Plan, Step } from './plan.js';
import { valueType } from './values.js';

const begins = valueType([], 'int32');

/** Axes along which a slice is a part of its operand. */
interface Part {
  readonly begin: readonly number[];
  readonly size: readonly number[];
  readonly axes: readonly number[];
}

function partOf({ formula }: Step): Part | undefined {
  if (!(formula instanceof Operation) || formula.signature.op !== 'slice') return undefined;
  const { inputs, shape: size, values } = formula.signature;
  const whole = inputs[0]!.shape;
  const begin = (values[0] ?? []) as number[];
  if (size.includes(0)) return undefined;
  return { begin, size, axes: [...whole.keys()].filter((axis) => size[axis] !== whole[axis]) };
}

/** The plan with where its slices begin as inputs behind the others; undefined: none of them could begin elsewhere. */
export function opened(plan: Plan): Plan | undefined {
  const parts = plan.steps.map(partOf);
  const places = parts.flatMap((part) => part?.axes.map((axis) => part.begin[axis] ?? 0) ?? []);
  if (places.length === 0) return undefined;
  const count = plan.inputs.length;
  const moved = (place: number) => (place < count ? place : place + places.length);
  let [key, next] = [plan.inputTypes.map(({ type }) => type).join(), count];
  const steps = plan.steps.map((step, at): Step => {
    const [part, operands] = [parts[at], step.places.map(moved)];
    if (part === undefined) {
      key += `;${keyOf(step.formula, step.apart)},${operands.join()}`;
      return { ...step, places: operands };
    }
    for (const _ of part.axes) operands.push(next++);
    key += `;part ${part.size.join('x')},${operands.join()}`;
    return { ...step, places: operands, write: (...given) => written(part, ...given) };
  });
  const results = plan.results.map(moved);
  return {
    ...plan,
    key: `${key}>${results.join()}`,
    inputs: [...plan.inputs, ...places],
    inputTypes: [...plan.inputTypes, ...places.map(() => begins)],
    steps,
    results,
  };
}

function written(
  { size, axes }: Part,
  trace: Trace,
  [x, ...places]: readonly TracedTensor[],
): TracedTensor {
  return axes.reduce((part, axis, at) => {
    const count = size[axis]!;
    const numbers = Int32Array.from({ length: count }, (_, place) => place);
    const from = trace.constant(numbers, [count], 'int32');
    return trace.apply('gather', [part, trace.apply('add', [from, places[at]!], [])], [axis]);
  }, x!);
}
