/** Weights in the memory of a module: read, and replaced atomically. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { BufferInfo, ModelSummary } from '../core/abi.js';
import { type Layer, innerLayers, type NestedLayer } from '../layers/layer.js';
import { elements, Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { DeviceValue } from '../runtime/device_value.js';
import { bytesOf, type States } from '../runtime/states.js';
import {
  type ModelWeight,
  type StateBuffer,
  variableOfCopy,
  type WeightAccess,
  type WeightData,
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
export function readWeights(states: States, infos: readonly BufferInfo[]): Tensor[] {
  return infos.map((info) => states.copyOf(info));
}

/** All states in the format of saved models. */
export function storedStates(states: States): State[] {
  return states.metadata.states.map((info) => {
    const { name, shape } = info;
    const dtype = hostDTypes[info.dtype];
    checkStored(`save: ${name}`, dtype);
    const values = states.elements(info);
    const write = (from: ArrayLike<number>) => {
      values.set(from);
      states.setState(info, bytesOf(values));
    };
    return { name, shape, dtype, values, write };
  });
}

/** Access to weights by what they are called in a layer: names of states, after `prefix`. */
function weightsIn(states: () => States, prefix: string, names?: NestedLayer['weights']) {
  const infos = (): [string, BufferInfo][] => {
    const all = states().metadata.states.filter(({ name }) => name.startsWith(prefix));
    const byName = new Map(all.map((info) => [info.name.slice(prefix.length), info]));
    if (names === undefined) return [...byName];
    return [...names].map(([name, { key }]) => [key, byName.get(name)!]);
  };
  return {
    read: (): WeightData => new Map(infos().map(([key, info]) => [key, states().data(info)])),
    write: (from: WeightData) => {
      for (const [key, info] of infos()) states().setData(info, from.get(key)!);
    },
  };
}

/** Factories of the weight copies in a module, of the layer at this path and its nested layers. */
export function weightCopyFactories(
  layer: Layer,
  path: string,
  access: WeightAccess,
  states: () => States,
): [Layer, () => WeightCopy][] {
  const isComposed = innerLayers(layer).length > 0;
  const own = isComposed ? noWeights : weightsIn(states, `${path}/`);
  const nested = layer.nested.map(({ layer: inner, weights }): [Layer, () => WeightCopy] => {
    const found = weightsIn(states, `${path}/`, weights);
    return [inner, () => new WeightCopy(inner.access('apply'), inner.shared, found)];
  });
  return [[layer, () => new WeightCopy(access, layer.shared, own)], ...nested];
}

const noWeights = { read: (): WeightData => new Map(), write: () => {} };

/** The recurrent states of the layer at this path. */
export function layerStates(states: States, path: string) {
  const infos = states.metadata.states.filter(({ name }) => name.startsWith(`states/${path}/`));
  return infos.map((info): StateBuffer => ({
    shape: info.shape,
    read: () => states.copyOf(info),
    write: (values) => states.setState(info, bytesOf(values)),
  }));
}

/** The floats of a tensor on a device that the host does not address. */
function onDevice(source: TensorLike): DeviceValue | undefined {
  const value = source instanceof Tensor ? source[elements] : undefined;
  const isRemote = value instanceof DeviceValue && value.device.view === undefined;
  return isRemote && value.dtype === 'float32' ? value : undefined;
}

/** Replaces weights. Errors: another number of weights, or another shape; then none changes. */
export function writeWeights(
  states: States,
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
    const remote = onDevice(source);
    const value = remote === undefined ? tensor(source, undefined, 'float32') : (source as Tensor);
    const isFlat = ArrayBuffer.isView(source) && value.size === elementCount(shape);
    if (!isFlat && value.shape.join() !== shape.join()) {
      throw new LatheError(
        `setWeights: ${name} has shape [${shape.join(',')}], got [${value.shape.join(',')}]`,
      );
    }
    return remote ?? bytesOf(value.dataSync());
  });
  infos.forEach((info, at) => states.setData(info, contents[at]!));
}

/** The current module and weight buffers. */
interface CurrentWeights {
  states: States;
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
        const copy = readWeights(here.states, infosOf(here))[0]!;
        variableOfCopy.set(copy, () => variable(name));
        return copy;
      },
      write: (value) => {
        const here = current('write');
        writeWeights(here.states, infosOf(here), [value], `weight ${name}`);
        here.changed();
      },
    };
  });
}
