/**
 * Gradients by integers and bools, and of them: TensorFlow.js gives them as if all were floats. What leads from one to
 * the other is written down again with floats; comparisons and places let nothing through.
 */
import type { OperationName } from '../core/names.js';
import type { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { apply, type Operand } from './apply.js';
import { type Held, Operation, type Source } from './formulas.js';
import { shownAgain } from './values.js';

export const isFloat = ({ dtype }: { dtype: string }): boolean => dtype.includes('float');

/** Of quotients of integers the gradient is that of quotients. */
const smooth: Partial<Record<OperationName, OperationName>> = { floorDiv: 'div' };

/** The values as floats, those on the path written down again; none of those that no gradient reaches. */
export function inFloats(
  wrt: readonly Tensor[],
  values: readonly HeapValue[],
  path: ReadonlyMap<HeapValue, Held>,
): Map<HeapValue, Tensor> {
  const known = new Map<HeapValue, Tensor>();
  values.forEach((value, at) => known.set(value, asFloat(wrt[at]!)));
  for (const [value, formula] of path) {
    const found = formula instanceof Operation ? rewritten(formula, known) : undefined;
    if (found !== undefined) known.set(value, found);
  }
  return known;
}

const asFloat = (x: Tensor): Tensor => (isFloat(x) ? x : apply('cast', [x], ['float32']));

function rewritten(
  { signature: { op, values, inputs }, sources }: Operation,
  known: ReadonlyMap<HeapValue, Tensor>,
): Tensor | undefined {
  const of = (each: Source) => (typeof each === 'number' ? undefined : known.get(each));
  if (op === 'cast') return of(sources[0]!);
  const isChoice = op === 'where';
  const operands = sources.map((each, at): Operand => {
    if (typeof each === 'number') return each;
    if (isChoice && at === 0) return shownAgain(each);
    return known.get(each) ?? (takesPlaces(op, at) ? shownAgain(each) : asFloat(shownAgain(each)));
  });
  const isMoved = sources.some((each, at) => of(each) !== undefined && !(isChoice && at === 0));
  if (!isMoved || inputs.length === 0) return undefined;
  try {
    const found = apply(smooth[op] ?? op, operands, values);
    return isFloat(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Operands that say where, not what. */
const takesPlaces = (op: OperationName, at: number): boolean =>
  at === 1 && (op === 'gather' || op === 'takeAlongAxis');
