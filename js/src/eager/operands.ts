/** Conversion of arguments to tensors and type promotion, as in TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { type OperationName, operations } from '../core/names.js';
import type { DType } from '../tensor/dtypes.js';
import { tracked } from '../tensor/live_tensors.js';
import { isStringLike, stringTensorOf } from '../tensor/create.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { TracedTensor } from '../trace/trace.js';
import { applyOperation, type Operand } from './apply.js';

/**
 * The dtype that a parameter expects: any numeric dtype, strings too ('any'), or one dtype, to which only non-tensors
 * are converted.
 */
export type ExpectedDType = 'numeric' | 'any' | DType;

/**
 * A tensor of the argument `name` of `op`. Errors: a value that is no TensorLike; a tensor of another dtype than
 * `expected`.
 */
export function toTensor(
  x: TensorLike,
  name: string,
  op: string,
  expected: ExpectedDType = 'numeric',
): Tensor {
  if (x instanceof Tensor) {
    const isStringLike = (x.dtype as string) === 'string';
    if (expected === 'any' || expected === x.dtype || (expected === 'numeric' && !isStringLike))
      return x;
    throw new LatheError(
      `Argument '${name}' passed to '${op}' must be ${expected} tensor, but got ${x.dtype} tensor`,
    );
  }
  if (isStringLike(x)) {
    if (expected === 'any' || (expected as string) === 'string') return stringTensorOf(x);
    throw new LatheError(
      `Argument '${name}' passed to '${op}' must be ${expected} tensor, but got string tensor`,
    );
  }
  const isLike =
    Array.isArray(x) || ArrayBuffer.isView(x) || ['number', 'boolean', 'bigint'].includes(typeof x);
  if (!isLike) {
    const type = (x as unknown) == null ? 'null' : (x as unknown as object).constructor.name;
    throw new LatheError(
      `Argument '${name}' passed to '${op}' must be a Tensor or TensorLike, but got '${type}'`,
    );
  }
  return tensor(x, undefined, expected === 'numeric' || expected === 'any' ? undefined : expected)[
    tracked
  ]();
}

/** Tensors of an array of tensor-likes. Errors: no array; as of `toTensor`. */
export function toTensors(
  xs: readonly TensorLike[],
  name: string,
  op: string,
  expected: ExpectedDType = 'numeric',
): Tensor[] {
  if (!Array.isArray(xs)) {
    throw new LatheError(
      `Argument ${name} passed to ${op} must be a \`Tensor[]\` or \`TensorLike[]\``,
    );
  }
  return xs.map((each: TensorLike, at) => toTensor(each, `${name}[${at}]`, op, expected));
}

/** Dtypes in the order of promotion: within a category, later ones include the values of earlier ones. */
const widths: readonly DType[] = [
  'bool',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float16',
  'bfloat16',
  'float32',
  'float64',
];

/** The promoted dtype. */
export function upcastType(a: DType, b: DType): DType {
  return widths.indexOf(a) > widths.indexOf(b) ? a : b;
}

/** The tensor cast to a dtype; itself if it has that dtype. */
export function castTo(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : applyOperation('cast', [x], [dtype]);
}

/** Tensors cast to their promoted dtype. */
export function promoteTypes(...xs: Tensor[]): Tensor[] {
  if (xs.every((each) => each.dtype === xs[0]!.dtype)) return xs;
  const dtype = xs.map((each) => each.dtype).reduce(upcastType);
  return xs.map((each) => castTo(each, dtype));
}

const isFloat = (dtype: DType) => dtype.includes('float');

/** Dtypes that numbers do not adopt. */
const isAdaptable = (dtype: DType) => dtype === 'int32' || dtype === 'bool';

/**
 * An elementwise operation with type promotion: operands are cast to one dtype, and to float32 if the operation
 * requires floats. A number adopts the dtype of the other tensor, but becomes float32 with int32 and bool tensors. In
 * traced functions it always adopts that dtype.
 *
 * @param names of its parameters, for errors
 */
export function elementwise(
  op: OperationName,
  names: readonly string[],
  xs: readonly TensorLike[],
): Tensor {
  if (needNoConversion(op, xs)) return applyOperation(op, xs);
  const made: Tensor[] = [];
  const track = (copy: Tensor, of: TensorLike): Tensor => {
    if (copy !== of) made.push(copy);
    return copy;
  };
  try {
    const operands = xs.map((each, at): Operand => {
      if (typeof each === 'number' && xs.some((other) => other instanceof Tensor)) return each;
      return track(toTensor(each, names[at]!, op, expectsBool(op, at) ? 'bool' : 'numeric'), each);
    });
    if (operands.some((each) => each instanceof TracedTensor) && isOneType(op, operands)) {
      return applyOperation(op, operands);
    }
    const operandKind = operandKindOf(op);
    const first = operandKind === 'choose' || operandKind === 'shift' ? 1 : 0;
    const dtype = commonFor(operandKind, operands.slice(first));
    const cast = operands.map((each, at) =>
      at < first || typeof each === 'number' ? each : track(castTo(each, dtype), each),
    );
    return applyOperation(op, cast, [], dtype);
  } finally {
    for (const each of made) each.dispose();
  }
}

/** Whether no operand needs a conversion: the common case. */
function needNoConversion(op: OperationName, xs: readonly TensorLike[]): xs is readonly Operand[] {
  const operandKind = operandKindOf(op);
  if (operandKind === 'logic' || operandKind === 'choose' || operandKind === 'shift') return false;
  let dtype: DType | undefined;
  let hasNumber = false;
  for (const each of xs) {
    if (typeof each === 'number') hasNumber = true;
    else if (!(each instanceof Tensor) || each.dtype !== (dtype ??= each.dtype)) return false;
  }
  return dtype === 'float32' || (dtype === 'int32' && !hasNumber && !requiresFloats(operandKind));
}

const requiresFloats = (operandKind: string): boolean =>
  /^(float|function|test)$/.test(operandKind);

/** Whether the tensors of the arithmetic have one dtype. */
function isOneType(op: OperationName, operands: readonly Operand[]): boolean {
  const first = operandKindOf(op) === 'choose' ? 1 : 0;
  const types = operands
    .slice(first)
    .flatMap((each) => (typeof each === 'number' ? [] : each.dtype));
  return operandKindOf(op) === 'shift' || new Set(types).size < 2;
}

/** The dtype of the operands that the operation supports. */
function commonFor(operandKind: string, operands: readonly Operand[]): DType {
  const dtype = common(operands);
  if (!isFloat(dtype) && requiresFloats(operandKind)) return 'float32';
  if (dtype === 'bool' && /^(number|quotient|compare)$/.test(operandKind)) return 'int32';
  return dtype;
}

/** The operand dtypes of the operation: the column `signature` of scalar/ops.def. */
function operandKindOf(op: OperationName): string {
  const { operandKind }: { code: number; operandKind?: string } = operations[op];
  return operandKind ?? '';
}

const expectsBool = (op: OperationName, at: number): boolean => {
  const operandKind = operandKindOf(op);
  return operandKind === 'logic' || (operandKind === 'choose' && at === 0);
};

function common(operands: readonly Operand[]): DType {
  let dtype: DType | undefined;
  let hasNumber = false;
  for (const each of operands) {
    if (typeof each === 'number') hasNumber = true;
    else if (dtype !== each.dtype) {
      dtype = dtype === undefined ? each.dtype : upcastType(dtype, each.dtype);
    }
  }
  if (dtype === undefined) return 'float32';
  return hasNumber && isAdaptable(dtype) ? 'float32' : dtype;
}
