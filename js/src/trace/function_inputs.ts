/** Arguments and variables of functions as ports of their programs. */
import { LatheError, named } from '../base/errors.js';
import { orderInputs } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import { convert, type DataArray, fits } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { borrow, checkArray, Tensor, type TensorLike } from '../tensor/tensor.js';
import type { ProgramPort } from '../runtime/device.js';

const names = (buffers: readonly { name: string }[]) => buffers.map(({ name }) => name).join(', ');

/** The inputs with their values. Errors: as `orderInputs`. */
export function inputsInOrder<Port extends ProgramPort>(
  buffers: readonly Port[],
  inputs: Readonly<Record<string, TensorLike>>,
): [Port, TensorLike][] {
  const values = orderInputs(buffers, inputs, hostDTypes);
  return buffers.map((buffer, at) => [buffer, values[at]!]);
}

/** The buffer of a variable. Error: there is none of this name. */
export function stateOf<Port extends ProgramPort>(states: readonly Port[], name: string): Port {
  const buffer = states.find((each) => each.name === name);
  if (buffer !== undefined) return buffer;
  throw new LatheError(`there is no variable ${name}; known: ${names(states)}`);
}

/**
 * The elements of `values`, possibly not a copy. Errors: another shape or number of elements than the buffer;
 * numbers that the dtype cannot represent.
 */
export function elementsFor(what: string, buffer: ProgramPort, values: TensorLike): DataArray {
  const dtype = hostDTypes[buffer.dtype];
  const isArray = ArrayBuffer.isView(values);
  if (isArray) checkArray(values);
  const source = isArray ? values : named(what, () => borrow(values, undefined, dtype));
  checkShape(what, buffer, source);
  if (source instanceof Tensor) return source.dataSync<DType>();
  return fits(source, dtype) ? source : convert(source, dtype);
}

/** Error: another shape or number of elements than the buffer. */
export function checkShape(
  what: string,
  { shape }: ProgramPort,
  source: Tensor | ArrayLike<unknown>,
): void {
  const isTensor = source instanceof Tensor;
  const wrongShape = isTensor && source.shape.join() !== shape.join();
  const count = isTensor ? source.size : source.length;
  if (count === elementCount(shape) && !wrongShape) return;
  const got = isTensor ? `[${source.shape.join(',')}]` : `${count} values`;
  throw new LatheError(`${what}: expects shape [${shape.join(',')}], got ${got}`);
}
