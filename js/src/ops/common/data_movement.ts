/** Data-movement operations on numeric, string and complex tensors. */
import { valueOf } from '../../eager/engine.js';
import { LatheError } from '../../base/errors.js';
import type { OperationName } from '../../core/names.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor, toTensors } from '../../eager/operands.js';
import {
  ComplexData,
  isStringOrComplex,
  partsOf,
  stringsOf,
  stringTensor,
  type AnyDType,
} from '../../tensor/string_complex.js';
import { tracked } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import type { DType } from '../../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { integers } from './constants.js';

/** A complex tensor of these parts, which the caller still owns. */
export function complexOf(real: Tensor, imag: Tensor): Tensor {
  const values = [real, imag].map(valueOf);
  for (const each of values) each.hide();
  const drop = () => values.forEach((each) => each.unhide());
  const [re, im] = values.map((each) => new Tensor(each, real.shape, real.dtype));
  return new Tensor(new ComplexData(re!, im!, drop), [...real.shape], 'complex64' as DType)[
    tracked
  ]();
}

/** Applies a core operation that only moves elements: to both parts of complex tensors; for strings, to their indices. */
export function moveElements(
  op: OperationName,
  xs: readonly Tensor[],
  values: readonly unknown[] = [],
): Tensor {
  const odd = xs.find(isStringOrComplex);
  if (odd === undefined) return applyOperation(op, xs, values);
  if (xs.some(({ dtype }) => (dtype as AnyDType) === 'string')) return moveStrings(op, xs, values);
  const parts = xs.map((each) => {
    const found = partsOf(each);
    if (found !== undefined) return found;
    throw new LatheError(`${op}: cannot combine complex64 tensors with one of ${each.dtype}`);
  });
  return tidy(() =>
    complexOf(
      applyOperation(
        op,
        parts.map(({ real }) => real),
        values,
      ),
      applyOperation(
        op,
        parts.map(({ imag }) => imag),
        values,
      ),
    ),
  );
}

function moveStrings(op: OperationName, xs: readonly Tensor[], values: readonly unknown[]): Tensor {
  const pooled: string[] = [];
  return tidy(() => {
    const indexTensors = xs.map((each) => {
      const strings = stringsOf(each);
      if (strings === undefined)
        throw new LatheError(`${op}: cannot combine string tensors with one of ${each.dtype}`);
      const from = pooled.length;
      for (const string of strings) pooled.push(string);
      return integers(
        strings.map((_, at) => from + at),
        [...each.shape],
      );
    });
    const moved = applyOperation(op, indexTensors, values);
    return stringTensor(
      Array.from(moved.dataSync<'int32'>(), (at) => pooled[at]!),
      moved.shape,
    );
  });
}

/** Runs `action` on a tensor of any dtype within `tidy`. */
export const withAnyTensor = (
  x: TensorLike,
  op: string,
  action: (x: Tensor) => Tensor,
  name = 'x',
) => tidy(() => action(toTensor(x, name, op, 'any')));

/** As `withAnyTensor`, for a list of tensors. */
export const withAnyTensors = <T>(
  xs: readonly TensorLike[],
  op: string,
  action: (xs: Tensor[]) => T,
): T => tidy(() => action(toTensors(xs, 'tensors', op, 'any')));
