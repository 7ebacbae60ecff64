/** The weights of a model, in the memory of its module, and their synchronization with other copies of the same layers. */
import type { BufferInfo } from '../core/abi.js';
import { loadedDeferred } from '../layers/deferred.js';
import type { Layer } from '../layers/layer.js';
import { type ModelWeight, variableOfCopy, type WeightCopy } from '../layers/shared_weights.js';
import type { States } from '../runtime/states.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import {
  layerStates,
  listWeights,
  readWeights,
  weightCopyFactories,
  writeWeights,
} from './module_weights.js';

/** What the weights need of their model. */
export interface WeightHolder {
  /** The module with the newest weights; with `changes` it is about to have newer ones. */
  states(what: string, changes?: boolean): States;
  /** The module without synchronization. */
  loaded(): States;
  /** The buffers of all weights, or of those of a layer. */
  buffers(what: string, layer?: Layer): BufferInfo[];
  /** Paths of the layers that are frozen now. */
  frozen(): readonly string[];
  variable(name: string): Tensor;
}

export class ModelWeights {
  readonly #holder: WeightHolder;
  readonly #copies = new Map<Layer, WeightCopy>();

  constructor(holder: WeightHolder) {
    this.#holder = holder;
  }

  /** All weights one by one, or those of a layer. */
  list(layer?: Layer): ModelWeight[] {
    const holder = this.#holder;
    const now = (what: string) => ({
      states: holder.states(what),
      infos: holder.buffers(what),
      changed: () => void holder.states(what, true),
    });
    const buffers = holder.buffers('weights', layer);
    return listWeights(buffers, holder.frozen(), now, (name) => holder.variable(name));
  }

  /** Copies of them. */
  read(layer?: Layer): Tensor[] {
    const holder = this.#holder;
    const buffers = holder.buffers('getWeights', layer);
    const copies = readWeights(holder.states('getWeights'), buffers);
    copies.forEach((each, at) =>
      variableOfCopy.set(each, () => holder.variable(buffers[at]!.name)),
    );
    return copies;
  }

  /** Replaces them. Errors: another number of them or another shape; then none changes. */
  write(weights: readonly TensorLike[], layer?: Layer): void {
    const buffers = this.#holder.buffers('setWeights', layer);
    const whose = layer === undefined ? 'the model' : `layer "${layer.name}"`;
    writeWeights(this.#holder.states('setWeights', true), buffers, weights, whose);
  }

  /** Shares the weights of the layers at these paths, and sets their initial ones. */
  add(paths: ReadonlyMap<Layer, string>): void {
    const holder = this.#holder;
    for (const [layer, path] of paths) {
      if (this.#copies.has(layer)) continue;
      const access = {
        list: () => this.list(layer),
        read: () => this.read(layer),
        write: (weights: readonly TensorLike[]) => this.write(weights, layer),
        states: () => layerStates(holder.states('states'), path),
      };
      for (const [each, copy] of weightCopyFactories(layer, path, access, () => holder.loaded())) {
        if (!this.#copies.has(each)) this.#copies.set(each, copy());
      }
      const { initialWeights } = layer;
      layer.initialWeights = null;
      if (initialWeights !== null) this.write(initialWeights, layer);
    }
  }

  /** Copies newer weights of other models and variables into the module. */
  pull(): void {
    for (const copy of this.#copies.values()) copy.pull();
  }

  /** Marks the weights of the module as the newest. */
  push(): void {
    for (const copy of this.#copies.values()) copy.push();
  }

  /** Ends the sharing; other copies keep the newest weights. */
  release(): void {
    for (const [layer, copy] of this.#copies) {
      copy.leave();
      loadedDeferred()?.members.disposeVariables!(layer as never);
    }
    this.#copies.clear();
  }
}
