/**
 * The weights of a layer as variables, for operations and optimizers: one more copy next to those in the modules of models. The
 * newest values are copied before a read.
 */
import { engine } from '../eager/engine.js';
import { Variable, variables } from '../eager/variable.js';
import { type Layer, withoutFreezing, innerLayers } from '../layers/layer.js';
import { weightOwners } from '../layers/nested_weights.js';
import {
  type LayerWeights,
  type ModelWeight,
  type WeightAccess,
  type WeightData,
  WeightCopy,
} from '../layers/shared_weights.js';
import { DeviceValue } from '../runtime/device_value.js';
import { bytesOf, freeData, type StateData } from '../runtime/states.js';
import { arrayOn, type DataArray } from '../tensor/convert.js';
import { outsideScopes, tracked, trackElements, untrackElements } from '../tensor/live_tensors.js';
import { elements, type PendingData, Tensor } from '../tensor/tensor.js';

/** A weight of a layer as a variable. */
class LayerWeight extends Variable {
  #owner: LayerVariables | undefined;

  constructor(initial: Tensor, trainable: boolean, name: string, owner: LayerVariables) {
    super(initial, trainable, name);
    this.#owner = owner;
  }

  override get [elements](): DataArray | PendingData {
    this.#owner?.pull();
    return super[elements];
  }

  override set [elements](data: DataArray | PendingData) {
    super[elements] = data;
  }

  /** The current value, without synchronization. */
  get here(): DeviceValue {
    return super[elements] as DeviceValue;
  }

  /** Replaces the value, which may still be read. */
  renew(from: StateData): void {
    const { here } = this;
    if (!(from instanceof Uint8Array) && from.device === engine.device) {
      from.share();
      this[elements] = from;
    } else {
      const { buffer, byteOffset } = from instanceof Uint8Array ? from : from.readSync();
      const data = arrayOn(here.dtype, buffer, byteOffset, here.size);
      this[elements] = new DeviceValue(here.dtype, here.shape, engine.device).write(data);
    }
    trackElements(this);
    if (here.free()) untrackElements(this);
  }

  override assign(value: Tensor): void {
    this.#owner?.pull();
    super.assign(value);
    this.#owner?.push();
  }

  /** LayerVariable of TensorFlow.js. */
  read(): this {
    return this;
  }

  write(value: Tensor): this {
    this.assign(value);
    return this;
  }

  get val(): this {
    return this;
  }
}

/** The variables of one layer, by the names that its weights have within it. */
class LayerVariables {
  readonly all: ReadonlyMap<string, LayerWeight>;
  readonly #copy: WeightCopy;

  constructor(layer: Layer) {
    const { shared } = layer;
    const values = layer.getWeights();
    const list = withoutFreezing(() => layer.weights);
    const learning: LayerWeight[] = [];
    const newest = shared.newest!.data.read();
    freeData(newest.values());
    const keys = [...newest.keys()];
    this.all = outsideScopes(
      () =>
        new Map(
          list.map(({ name, trainable }, at) => {
            const key = keys
              .filter((each) => name.endsWith(`/${each}`))
              .sort(byLength)
              .at(-1)!;
            const initial = values[at]![tracked]();
            const learns = trainable && shared.isTrainable;
            const weight = new LayerWeight(initial, learns, uniqueName(name), this);
            if (trainable) learning.push(weight);
            initial.dispose();
            return [key, weight];
          }),
        ),
    );
    shared.variables = learning;
    for (const each of this.all.values()) weightOwners.set(each, { layer, all: this.all });
    this.#copy = new WeightCopy(this.#access(), shared, {
      read: () => this.#read(),
      write: (from) => this.all.forEach((each, key) => each.renew(from.get(key)!)),
    });
  }

  pull(): void {
    this.#copy?.pull();
  }

  push(): void {
    this.#copy?.push();
  }

  /** Disposes of the variables; models that contain the layer retain the newest values. */
  dispose(): void {
    if (!this.areDisposed) this.#copy.leave();
    for (const each of this.all.values()) each.dispose();
  }

  /** Whether a variable has been disposed. */
  get areDisposed(): boolean {
    return [...this.all.values()].some(({ isDisposed }) => isDisposed);
  }

  #access(): WeightAccess {
    const all = () => [...this.all.values()];
    return {
      list: () => all() as unknown as ModelWeight[],
      read: () => all().map((each) => each.clone() as Tensor),
      write: (values) => all().forEach((each, at) => each.assign(values[at] as Tensor)),
      states: () => [],
    };
  }

  #read(): WeightData {
    const { device, plans } = engine;
    const values = [...this.all].map(([key, { here }]) => [key, here] as const);
    plans.compute(values.map(([, each]) => each).filter((each) => each.device === device));
    return new Map(
      values.map(([key, each]): [string, StateData] => {
        if (each.device.view !== undefined) return [key, bytesOf(each.device.view(each))];
        if (each.hostCopy !== undefined) return [key, bytesOf(each.hostCopy)];
        each.share();
        return [key, each];
      }),
    );
  }
}

const byLength = (a: string, b: string) => a.length - b.length;

function uniqueName(name: string): string {
  let free = name;
  for (let number = 1; variables().has(free); ++number) free = `${name}_${number}`;
  return free;
}

/** Keyed by the weights, which variants of a layer share. */
const variablesByWeights = new WeakMap<LayerWeights, LayerVariables>();

/** The variables of a layer by their names within it, cached. */
export function variablesOf(layer: Layer): ReadonlyMap<string, Variable> {
  const inner = innerLayers(layer);
  if (inner.length > 0) {
    return new Map(
      inner.flatMap(([path, each]) =>
        [...variablesOf(each)].map(([name, variable]) => [path + name, variable] as const),
      ),
    );
  }
  let found = variablesByWeights.get(layer.shared);
  if (found === undefined || found.areDisposed) {
    found = new LayerVariables(layer);
    variablesByWeights.set(layer.shared, found);
  }
  return found.all;
}

/** Disposes of the variables of a layer. */
export function disposeVariables(layer: Layer): void {
  variablesByWeights.get(layer.shared)?.dispose();
  variablesByWeights.delete(layer.shared);
}
