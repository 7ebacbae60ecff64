/** Weights in the memory of a module: read, and replaced atomically. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { BufferInfo, ModelSummary } from '../core/abi.js';
import { type Layer, innerLayers, type NestedLayer } from '../layers/layer.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import type { Instance } from '../runtime/instance.js';
import {
  type ModelWeight,
  variableOfCopy,
  type WeightAccess,
  type WeightBytes,
  WeightCopy,
} from '../layers/shared_weights.js';
import { checkStored } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import type { State } from '../train/storable.js';

/** The buffers of all weights, or of those below `path`, with `trainable` of the summary. */
export function weightBuffers(
  states: readonly BufferInfo[],
  { weights }: ModelSummary,
  path?: string,
): BufferInfo[] {
  const selected =
    path === undefined ? weights : weights.filter((w) => w.name.startsWith(`${path}/`));
  return selected.map(({ name, trainable }) => ({
    ...states.find((info) => info.name === name)!,
    trainable,
  }));
}

/** Copies of the weights in these buffers. */
export function readWeights(instance: Instance, infos: readonly BufferInfo[]): Tensor[] {
  return infos.map((info) => {
    const bytes = instance.state(info).slice();
    return new Tensor(new Float32Array(bytes.buffer), info.shape, 'float32');
  });
}

/** All states in the format of saved models. */
export function storedStates(instance: Instance): State[] {
  return instance.metadata.states.map((info) => {
    const { name, shape } = info;
    const dtype = hostDTypes[info.dtype];
    checkStored(`save: ${name}`, dtype);
    return { name, shape, dtype, values: instance.elements(info) };
  });
}

/** Views of the states whose names begin with `prefix`, by the rest of the name. */
function weightBytes(instance: Instance, prefix: string): WeightBytes {
  const infos = instance.metadata.states.filter(({ name }) => name.startsWith(prefix));
  return new Map(infos.map((info) => [info.name.slice(prefix.length), instance.state(info)]));
}

/** Factories of the weight copies in a module, of the layer at this path and its nested layers. */
export function weightCopyFactories(
  layer: Layer,
  path: string,
  access: WeightAccess,
  instance: () => Instance,
): [Layer, () => WeightCopy][] {
  const views = () =>
    innerLayers(layer).length > 0 ? new Map() : weightBytes(instance(), `${path}/`);
  const nested = layer.nested.map((each): [Layer, () => WeightCopy] => {
    const bytes = () => nestedBytes(instance(), path, each);
    const { layer: inner } = each;
    return [inner, () => new WeightCopy(inner.access('apply'), inner.shared, bytes)];
  });
  return [[layer, () => new WeightCopy(access, layer.shared, views)], ...nested];
}

/** Views of a nested layer's weights, by their names in that layer. */
function nestedBytes(instance: Instance, path: string, { weights }: NestedLayer): WeightBytes {
  const all = weightBytes(instance, `${path}/`);
  return new Map([...weights].map(([name, { key }]) => [key, all.get(name)!]));
}

/** Views of the recurrent states of the layer at this path. */
export function layerStates(instance: Instance, path: string) {
  const infos = instance.metadata.states.filter(({ name }) => name.startsWith(`states/${path}/`));
  return infos.map((info) => ({ shape: info.shape, bytes: instance.state(info) }));
}

/** Replaces weights. Errors: another number of weights, or another shape; then none changes. */
export function writeWeights(
  instance: Instance,
  infos: readonly BufferInfo[],
  weights: readonly TensorLike[],
  whose: string,
): void {
  if (!Array.isArray(weights) || weights.length !== infos.length) {
    const got = Array.isArray(weights) ? weights.length : typeof weights;
    throw new LatheError(`setWeights: ${whose} has ${infos.length} weights, got ${got}`);
  }
  const contents = infos.map(({ name, shape }, at) => {
    const source = weights[at] as TensorLike;
    const value = tensor(source, undefined, 'float32');
    const isFlat = ArrayBuffer.isView(source) && value.size === elementCount(shape);
    if (!isFlat && value.shape.join() !== shape.join()) {
      throw new LatheError(
        `setWeights: ${name} has shape [${shape.join(',')}], got [${value.shape.join(',')}]`,
      );
    }
    return value.dataSync();
  });
  infos.forEach((info, at) => {
    const { buffer, byteOffset, byteLength } = contents[at]!;
    instance.state(info).set(new Uint8Array(buffer, byteOffset, byteLength));
  });
}

/** The current module and weight buffers. */
interface CurrentWeights {
  instance: Instance;
  infos: readonly BufferInfo[];
  changed(): void;
}

/** The weights in these buffers as `ModelWeight`s; those whose names begin with one of `frozen` are not trainable. */
export function listWeights(
  infos: readonly BufferInfo[],
  frozen: readonly string[],
  current: (what: string) => CurrentWeights,
  variable: (name: string) => Tensor,
): ModelWeight[] {
  return infos.map(({ name, shape, trainable = false }) => {
    const infosOf = ({ infos: all }: CurrentWeights) => all.filter((each) => each.name === name);
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
        const here = current('read');
        const copy = readWeights(here.instance, infosOf(here))[0]!;
        variableOfCopy.set(copy, () => variable(name));
        return copy;
      },
      write: (value) => {
        const here = current('write');
        writeWeights(here.instance, infosOf(here), [value], `weight ${name}`);
        here.changed();
      },
    };
  });
}
