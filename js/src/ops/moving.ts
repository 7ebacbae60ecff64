/** Operations that only move elements, on tensors of numbers, texts and complex numbers. */
import { LatheError } from '../base/errors.js';
import type { OperationName } from '../core/names.js';
import { apply } from '../eager/apply.js';
import { toTensor, toTensors } from '../eager/operands.js';
import { HeapValue } from '../runtime/heap_value.js';
import { ComplexData, isOdd, partsOf, textsOf, textTensor, type AnyDType } from '../tensor/odd.js';
import { tidy, tracked } from '../tensor/scopes.js';
import type { DType } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { integers } from './constants.js';

/** A tensor of complex numbers with these parts, which stay the caller's. */
export function complexOf(real: Tensor, imag: Tensor): Tensor {
  const values = [real, imag].map(HeapValue.of);
  for (const each of values) each.hide();
  const drop = () => values.forEach((each) => each.unhide());
  const [re, im] = values.map((each) => new Tensor(each, real.shape, real.dtype));
  return new Tensor(new ComplexData(re!, im!, drop), [...real.shape], 'complex64' as DType)[
    tracked
  ]();
}

/** The operation of the core, which only moves elements: of complex numbers the parts, of texts on the host. */
export function move(
  op: OperationName,
  xs: readonly Tensor[],
  values: readonly unknown[] = [],
): Tensor {
  const odd = xs.find(isOdd);
  if (odd === undefined) return apply(op, xs, values);
  if (xs.some(({ dtype }) => (dtype as AnyDType) === 'string')) return moveTexts(op, xs, values);
  const parts = xs.map((each) => {
    const found = partsOf(each);
    if (found !== undefined) return found;
    throw new LatheError(`${op}: complex64 tensors beside one of ${each.dtype}`);
  });
  return tidy(() =>
    complexOf(
      apply(
        op,
        parts.map(({ real }) => real),
        values,
      ),
      apply(
        op,
        parts.map(({ imag }) => imag),
        values,
      ),
    ),
  );
}

function moveTexts(op: OperationName, xs: readonly Tensor[], values: readonly unknown[]): Tensor {
  const texts: string[] = [];
  return tidy(() => {
    const places = xs.map((each) => {
      const own = textsOf(each);
      if (own === undefined) throw new LatheError(`${op}: texts beside a tensor of ${each.dtype}`);
      const from = texts.length;
      for (const text of own) texts.push(text);
      return integers(
        own.map((_, at) => from + at),
        [...each.shape],
      );
    });
    const moved = apply(op, places, values);
    return textTensor(
      Array.from(moved.dataSync<'int32'>(), (at) => texts[at]!),
      moved.shape,
    );
  });
}

/** Runs on a tensor of anything; what is made on the way goes. */
export const moving = (x: TensorLike, op: string, action: (x: Tensor) => Tensor, name = 'x') =>
  tidy(() => action(toTensor(x, name, op, 'any')));

/** The same of several. */
export const movingAll = <T>(
  xs: readonly TensorLike[],
  op: string,
  action: (xs: Tensor[]) => T,
): T => tidy(() => action(toTensors(xs, 'tensors', op, 'any')));
