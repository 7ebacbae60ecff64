/**
 * The weights of a layer as variables, which operations and optimisers take: a copy of them beside those in the modules of
 * models, each of which fetches the newest before it is read.
 */
import { compute } from '../eager/compute.js';
import { Variable, variables } from '../eager/variable.js';
import { type Layer, unfrozen } from '../layers/layer.js';
import { madeOf } from '../layers/nested_weights.js';
import {
  type LayerWeights,
  type ModelWeight,
  placeOf,
  type WeightAccess,
  type WeightBytes,
  WeightCopy,
} from '../layers/shared_weights.js';
import { HeapValue } from '../runtime/heap_value.js';
import { type DataArray } from '../tensor/convert.js';
import { outsideScopes, tracked, trackElements, untrackElements } from '../tensor/scopes.js';
import { elements, type PendingData, Tensor } from '../tensor/tensor.js';

/** A weight. */
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

  /** Where it is, newest or not. */
  get here(): HeapValue {
    return super[elements] as HeapValue;
  }

  /** Other elements, at a place of their own. */
  makeRoom(): void {
    const { here } = this;
    this[elements] = new HeapValue(here.dtype, here.shape).place();
    trackElements(this);
    if (here.free()) untrackElements(this);
  }

  override assign(value: Tensor): void {
    this.#owner?.pull();
    super.assign(value);
    this.#owner?.push();
  }

  /** As TensorFlow.js calls those of layers. */
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
    const list = unfrozen(() => layer.weights);
    const learning: LayerWeight[] = [];
    const keys = [...shared.holder!.bytes().keys()];
    this.all = outsideScopes(
      () =>
        new Map(
          list.map(({ name, trainable }, at) => {
            const key = keys
              .filter((each) => name.endsWith(`/${each}`))
              .sort(byLength)
              .at(-1)!;
            const initial = values[at]![tracked]();
            const learns = trainable && shared.learns;
            const weight = new LayerWeight(initial, learns, freeName(name), this);
            if (trainable) learning.push(weight);
            initial.dispose();
            return [key, weight];
          }),
        ),
    );
    shared.variables = learning;
    for (const each of this.all.values()) placeOf.set(each, { layer, all: this.all });
    this.#copy = new WeightCopy(
      this.#access(),
      shared,
      () => this.#windows(),
      () => this.#room(),
    );
  }

  pull(): void {
    this.#copy?.pull();
  }

  push(): void {
    this.#copy?.push();
  }

  /** Disposes of them; models that have the layer, too, go on with what they are. */
  forget(): void {
    if (!this.areGone) this.#copy.leave();
    for (const each of this.all.values()) each.dispose();
  }

  /** Whether the program has disposed of one. */
  get areGone(): boolean {
    return [...this.all.values()].some(({ isDisposed }) => isDisposed);
  }

  #access(): WeightAccess {
    const all = () => [...this.all.values()];
    return {
      list: () => all() as unknown as ModelWeight[],
      read: () => all().map((each) => each.clone() as Tensor),
      write: (values) => all().forEach((each, at) => each.assign(values[at] as Tensor)),
      kept: () => [],
    };
  }

  /** Their elements. */
  #windows(): WeightBytes {
    compute([...this.all.values()].map(({ here }) => here));
    return this.#map();
  }

  /** Places for others: those of before may still be read. */
  #room(): WeightBytes {
    for (const each of this.all.values()) each.makeRoom();
    return this.#map();
  }

  #map(): WeightBytes {
    return new Map(
      [...this.all].map(([key, each]) => {
        const { buffer, byteOffset, byteLength } = each.here.window();
        return [key, new Uint8Array(buffer, byteOffset, byteLength)];
      }),
    );
  }
}

const byLength = (a: string, b: string) => a.length - b.length;

function freeName(name: string): string {
  let free = name;
  for (let number = 1; variables.has(free); ++number) free = `${name}_${number}`;
  return free;
}

/** By where the weights are: forms of one layer share them. */
const known = new WeakMap<LayerWeights, LayerVariables>();

/** The variables of a layer that has weights, by their names within it; the same each time. */
export function variablesOf(layer: Layer): ReadonlyMap<string, Variable> {
  const inner = madeOf(layer);
  if (inner.length > 0) {
    return new Map(
      inner.flatMap(([path, each]) =>
        [...variablesOf(each)].map(([name, variable]) => [path + name, variable] as const),
      ),
    );
  }
  let found = known.get(layer.shared);
  if (found === undefined || found.areGone) {
    found = new LayerVariables(layer);
    known.set(layer.shared, found);
  }
  return found.all;
}

/** Lets the variables of a layer go. */
export function forgetVariables(layer: Layer): void {
  known.get(layer.shared)?.forget();
  known.delete(layer.shared);
}
