/** Weights in the memory of a module: copied out, and replaced all together or not at all. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { BufferPlace, ModelSummary } from '../core/abi.js';
import type { Layer } from '../layers/layer.js';
import { madeOf, type NestedLayer } from '../layers/nested_weights.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import type { Instance } from '../runtime/instance.js';
import {
  type ModelWeight,
  variableOf,
  type WeightAccess,
  type WeightBytes,
  WeightCopy,
} from '../layers/shared_weights.js';
import { checkStored } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import type { State } from '../train/storable.js';

/** Where the weights are, in their order and as trainable as the summary says; of one layer those behind its path. */
export function placesOf(
  states: readonly BufferPlace[],
  { weights }: ModelSummary,
  path?: string,
): BufferPlace[] {
  const own = path === undefined ? weights : weights.filter((w) => w.name.startsWith(`${path}/`));
  return own.map(({ name, trainable }) => ({
    ...states.find((place) => place.name === name)!,
    trainable,
  }));
}

/** Copies of the weights at these places. */
export function readWeights(instance: Instance, places: readonly BufferPlace[]): Tensor[] {
  return places.map((place) => {
    const bytes = instance.state(place).slice();
    return new Tensor(new Float32Array(bytes.buffer), place.shape, 'float32');
  });
}

/** All states as they are saved. */
export function storedStates(instance: Instance): State[] {
  return instance.metadata.states.map((place) => {
    const { name, shape } = place;
    const dtype = hostDTypes[place.dtype];
    checkStored(`save: ${name}`, dtype);
    return { name, shape, dtype, values: instance.elements(place) };
  });
}

/** The states whose names begin so, by the rest of them. */
function weightBytes(instance: Instance, prefix: string): WeightBytes {
  const places = instance.metadata.states.filter(({ name }) => name.startsWith(prefix));
  return new Map(places.map((place) => [place.name.slice(prefix.length), instance.state(place)]));
}

/** Makers of the copies in a module of the weights of the layer at this path, and of layers that it calls. */
export function copiesOf(
  layer: Layer,
  path: string,
  access: WeightAccess,
  instance: () => Instance,
): [Layer, () => WeightCopy][] {
  const own = () => (madeOf(layer).length > 0 ? new Map() : weightBytes(instance(), `${path}/`));
  const nested = layer.nested.map((each): [Layer, () => WeightCopy] => {
    const bytes = () => nestedBytes(instance(), path, each);
    const { layer: inner } = each;
    return [inner, () => new WeightCopy(inner.access('apply'), inner.shared, bytes)];
  });
  return [[layer, () => new WeightCopy(access, layer.shared, own)], ...nested];
}

/** The weights of a layer that the one at this path calls, by their names in it. */
function nestedBytes(instance: Instance, path: string, { weights }: NestedLayer): WeightBytes {
  const all = weightBytes(instance, `${path}/`);
  return new Map([...weights].map(([name, { key }]) => [key, all.get(name)!]));
}

/** What the layer at this path keeps from one batch to the next. */
export function keptStates(instance: Instance, path: string) {
  const own = instance.metadata.states.filter(({ name }) => name.startsWith(`states/${path}/`));
  return own.map((place) => ({ shape: place.shape, bytes: instance.state(place) }));
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

/** Where weights are when one is read or written. */
interface Now {
  instance: Instance;
  places: readonly BufferPlace[];
  changed(): void;
}

/** The weights at these places one by one; those whose names begin with one of `frozen` do not learn. */
export function listWeights(
  places: readonly BufferPlace[],
  frozen: readonly string[],
  now: (what: string) => Now,
  variable: (name: string) => Tensor,
): ModelWeight[] {
  return places.map(({ name, shape, trainable = false }) => {
    const own = ({ places: all }: Now) => all.filter((each) => each.name === name);
    return {
      name,
      originalName: name,
      shape: [...shape],
      dtype: 'float32',
      trainable: trainable && !frozen.some((path) => name.startsWith(path)),
      get val() {
        return variable(name);
      },
      read: () => {
        const here = now('read');
        const copy = readWeights(here.instance, own(here))[0]!;
        variableOf.set(copy, () => variable(name));
        return copy;
      },
      write: (value) => {
        const here = now('write');
        writeWeights(here.instance, own(here), [value], `weight ${name}`);
        here.changed();
      },
    };
  });
}
