/**
 * Gradients by integers and bools, of them, and through them: TensorFlow.js gives them as if all were floats, also where
 * floats are cast to integers. What leads from one to the other is written down again with floats; comparisons and places
 * let nothing through.
 */
import type { OperationName } from '../core/names.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { apply, type Operand, shown } from './apply.js';
import { Custom } from './derivatives.js';
import { GradientPart, type Held, Operation, type Source } from './formulas.js';
import { shownAgain } from './values.js';

export const isFloat = ({ dtype }: { dtype: string }): boolean => dtype.includes('float');

/** Of quotients of integers the gradient is that of quotients. */
const smooth: Partial<Record<OperationName, OperationName>> = { floorDiv: 'div' };

/** Whether its result is cut off, while gradients flow as if it was not. */
export const isCut = (formula: Held): boolean =>
  formula instanceof Operation &&
  (formula.signature.op === 'floorDiv' ||
    (formula.signature.op === 'cast' &&
      (formula.signature.dtype === 'bool' ||
        (!isFloat(formula.signature) && isFloat(formula.signature.inputs[0]!)))));

/** Whether a path leads through such. */
export const isCutOnWay = (path: ReadonlyMap<HeapValue, Held>): boolean => {
  const formulas = [...path.values()];
  return formulas.some(isCut) && !formulas.some((each) => each instanceof GradientPart);
};

/** The values as floats, those on the path written down again; none of those that no gradient reaches. */
export function inFloats(
  wrt: readonly Tensor[],
  values: readonly HeapValue[],
  path: ReadonlyMap<HeapValue, Held>,
): Map<HeapValue, Tensor> {
  const known = new Map<HeapValue, Tensor>();
  values.forEach((value, at) => known.set(value, asFloat(wrt[at]!)));
  for (const [value, formula] of path) {
    const found =
      formula instanceof Operation
        ? rewritten(formula, known)
        : formula instanceof Custom
          ? again(formula, known)
          : undefined;
    if (found === undefined) continue;
    known.set(value, isCut(formula) ? straight(value, found) : found);
  }
  return known;
}

const asFloat = (x: Tensor): Tensor => (isFloat(x) ? x : apply('cast', [x], ['float32']));

/** The numbers of a value, with the gradient of another one. */
function straight(value: HeapValue, x: Tensor): Tensor {
  const is = asFloat(shownAgain(value));
  const formula = new Custom(HeapValue.of(is), [HeapValue.of(x)], (dy) => [dy], []);
  return shown(new HeapValue(is.dtype as 'float32', is.shape, formula));
}

/** The same of other inputs, which have the same numbers. */
function again(
  { value, inputs, rule, saved }: Custom,
  known: ReadonlyMap<HeapValue, Tensor>,
): Tensor {
  const of = inputs.map((each) => {
    const found = known.get(each);
    return found === undefined ? each : HeapValue.of(found);
  });
  for (const each of saved) each.hold();
  return shown(new HeapValue(value.dtype, value.shape, new Custom(value, of, rule, saved)));
}

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
