/** What users give as tensors, and which types meet: the rules of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { operations, type OperationName } from '../core/names.js';
import type { DType } from '../tensor/dtypes.js';
import { tracked } from '../tensor/scopes.js';
import { isText, texts } from '../tensor/create.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { TracedTensor } from '../trace/trace.js';
import { apply, type Operand } from './apply.js';

/** What a parameter wants: numbers of any type, texts too ('any'), or one type, to which only what is no tensor yet is converted. */
export type Wanted = 'numeric' | 'any' | DType;

/**
 * A tensor of what somebody gave as the argument `name` of `op`. Errors: it is nothing that a tensor can be made of;
 * a tensor of another type than the one that is wanted.
 */
export function toTensor(
  x: TensorLike,
  name: string,
  op: string,
  wanted: Wanted = 'numeric',
): Tensor {
  if (x instanceof Tensor) {
    const isText = (x.dtype as string) === 'string';
    if (wanted === 'any' || wanted === x.dtype || (wanted === 'numeric' && !isText)) return x;
    throw new LatheError(
      `Argument '${name}' passed to '${op}' must be ${wanted} tensor, but got ${x.dtype} tensor`,
    );
  }
  if (isText(x)) {
    if (wanted === 'any' || (wanted as string) === 'string') return texts(x);
    throw new LatheError(
      `Argument '${name}' passed to '${op}' must be ${wanted} tensor, but got string tensor`,
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
  return tensor(x, undefined, wanted === 'numeric' || wanted === 'any' ? undefined : wanted)[
    tracked
  ]();
}

/** Tensors of an array of them. Errors: no array; as of `toTensor`. */
export function toTensors(
  xs: readonly TensorLike[],
  name: string,
  op: string,
  wanted: Wanted = 'numeric',
): Tensor[] {
  if (!Array.isArray(xs)) {
    throw new LatheError(
      `Argument ${name} passed to ${op} must be a \`Tensor[]\` or \`TensorLike[]\``,
    );
  }
  return xs.map((each: TensorLike, at) => toTensor(each, `${name}[${at}]`, op, wanted));
}

/** From narrow to wide; within a line whatever comes later holds what comes before. */
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

/** The type that values of both types become. */
export function upcastType(a: DType, b: DType): DType {
  return widths.indexOf(a) > widths.indexOf(b) ? a : b;
}

/** The tensor in another type, itself where it has it. */
export function castTo(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : apply('cast', [x], [dtype]);
}

/** Tensors in the type that all of them become. */
export function matched(...xs: Tensor[]): Tensor[] {
  if (xs.every((each) => each.dtype === xs[0]!.dtype)) return xs;
  const dtype = xs.map((each) => each.dtype).reduce(upcastType);
  return xs.map((each) => castTo(each, dtype));
}

const isFloat = (dtype: DType) => dtype.includes('float');

/** Types whose numbers JavaScript's numbers beside them are not converted to. */
const yields = (dtype: DType) => dtype === 'int32' || dtype === 'bool';

/**
 * An elementwise operation on what users give: operands are brought to one type, and to floats where it takes nothing
 * else. A number has the type of the tensor beside it, but beside int32 and bool it is float32. Functions that are
 * traced take numbers as the type beside them.
 *
 * @param names of its parameters, for errors
 */
export function elementwise(
  op: OperationName,
  names: readonly string[],
  xs: readonly TensorLike[],
): Tensor {
  if (areAlike(op, xs)) return apply(op, xs);
  const made: Tensor[] = [];
  const own = (copy: Tensor, of: TensorLike): Tensor => {
    if (copy !== of) made.push(copy);
    return copy;
  };
  try {
    const given = xs.map((each, at): Operand => {
      if (typeof each === 'number' && xs.some((other) => other instanceof Tensor)) return each;
      return own(toTensor(each, names[at]!, op, takesBools(op, at) ? 'bool' : 'numeric'), each);
    });
    if (given.some((each) => each instanceof TracedTensor) && isOneType(op, given)) {
      return apply(op, given);
    }
    const takes = takenBy(op);
    const first = takes === 'choose' || takes === 'shift' ? 1 : 0;
    const dtype = commonFor(takes, given.slice(first));
    const cast = given.map((each, at) =>
      at < first || typeof each === 'number' ? each : own(castTo(each, dtype), each),
    );
    return apply(op, cast, [], dtype);
  } finally {
    for (const each of made) each.dispose();
  }
}

/** Whether nothing has to be converted: the usual case. */
function areAlike(op: OperationName, xs: readonly TensorLike[]): xs is readonly Operand[] {
  const takes = takenBy(op);
  if (takes === 'logic' || takes === 'choose' || takes === 'shift') return false;
  let dtype: DType | undefined;
  let hasNumber = false;
  for (const each of xs) {
    if (typeof each === 'number') hasNumber = true;
    else if (!(each instanceof Tensor) || each.dtype !== (dtype ??= each.dtype)) return false;
  }
  return dtype === 'float32' || (dtype === 'int32' && !hasNumber && !takesOnlyFloats(takes));
}

const takesOnlyFloats = (takes: string): boolean => /^(float|function|test)$/.test(takes);

/** Whether the tensors that take part in the arithmetic are of one type. */
function isOneType(op: OperationName, operands: readonly Operand[]): boolean {
  const first = takenBy(op) === 'choose' ? 1 : 0;
  const types = operands
    .slice(first)
    .flatMap((each) => (typeof each === 'number' ? [] : each.dtype));
  return takenBy(op) === 'shift' || new Set(types).size < 2;
}

/** The type of operands together, one that the operation takes. */
function commonFor(takes: string, operands: readonly Operand[]): DType {
  const dtype = common(operands);
  if (!isFloat(dtype) && takesOnlyFloats(takes)) return 'float32';
  if (dtype === 'bool' && /^(number|quotient|compare)$/.test(takes)) return 'int32';
  return dtype;
}

/** The column `signature` of scalar/ops.def. */
function takenBy(op: OperationName): string {
  const { takes }: { code: number; takes?: string } = operations[op];
  return takes ?? '';
}

const takesBools = (op: OperationName, at: number): boolean => {
  const takes = takenBy(op);
  return takes === 'logic' || (takes === 'choose' && at === 0);
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
  return hasNumber && yields(dtype) ? 'float32' : dtype;
}
