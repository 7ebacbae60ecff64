/** Weights in the memory of a module: copied out, and replaced all together or not at all. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { type BufferPlace } from '../core/abi.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import type { Instance } from '../runtime/instance.js';

/** Copies of the weights at these places. */
export function readWeights(instance: Instance, places: readonly BufferPlace[]): Tensor[] {
  return places.map((place) => {
    const bytes = instance.state(place).slice();
    return new Tensor(new Float32Array(bytes.buffer), place.shape, 'float32');
  });
}

/** Errors: another number of weights, or another shape; then none changes. */
export function writeWeights(
  instance: Instance,
  places: readonly BufferPlace[],
  weights: readonly TensorLike[],
  whose: string,
): void {
  if (!Array.isArray(weights) || weights.length !== places.length) {
    const got = Array.isArray(weights) ? weights.length : typeof weights;
    throw new LatheError(`setWeights: ${whose} has ${places.length} weights, got ${got}`);
  }
  const contents = places.map(({ name, shape }, at) => {
    const given = weights[at] as TensorLike;
    const value = tensor(given, undefined, 'float32');
    const isFlat = ArrayBuffer.isView(given) && value.size === elementCount(shape);
    if (!isFlat && value.shape.join() !== shape.join()) {
      throw new LatheError(
        `setWeights: ${name} has shape [${shape.join(',')}], got [${value.shape.join(',')}]`,
      );
    }
    return value.dataSync();
  });
  places.forEach((place, at) => {
    const { buffer, byteOffset, byteLength } = contents[at]!;
    instance.state(place).set(new Uint8Array(buffer, byteOffset, byteLength));
  });
}
