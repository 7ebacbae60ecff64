/**
 * Synchronizes the weights of a layer that is part of several models: every model has a copy in the memory of its module, and
 * copies the newest before it runs.
 */
import { freeData, type StateData } from '../runtime/states.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';

/** The weights of one layer by name. */
export type WeightData = ReadonlyMap<string, StateData>;

/** The copies of a layer's weights. */
export interface LayerWeights {
  /** Incremented by every change. */
  revision: number;
  /** The copy with the newest weights; undefined before any model has a module. */
  newest: WeightCopy | undefined;
  /** The newest weights, saved when the copy that had them was freed. */
  saved?: WeightData | undefined;
  /** Weak references: only `newest` retains a model. */
  readonly copies: Set<WeakRef<WeightCopy>>;
  /** Whether optimizers update its variables: the last `trainable` set on the layer or on a model that contains it. */
  isTrainable: boolean;
  /** Its trainable variables. */
  variables: readonly { trainable: boolean }[];
}

/** The copies whose models are alive; drops the others. */
export function aliveCopies({ copies }: LayerWeights): WeightCopy[] {
  return [...copies].flatMap((each) => each.deref() ?? (copies.delete(each), []));
}

/** One weight of a model, as a LayerVariable of TensorFlow.js. */
export interface ModelWeight {
  readonly name: string;
  readonly originalName: string;
  readonly shape: readonly number[];
  readonly dtype: 'float32';
  /** Whether training changes it. */
  readonly trainable: boolean;
  /** A copy. */
  read(): Tensor;
  /** Error: another shape. */
  write(value: TensorLike): void;
  /** The variable that optimizers update, shared by all models that contain the layer. */
  readonly val: Tensor;
}

/** From tensors returned by `getWeights` to the variables that optimizers update. */
export const variableOfCopy = new WeakMap<Tensor, () => Tensor>();

/** The trainable ones of `all`, if `trainableOnly`. */
export function onlyTrainable(
  all: Tensor[],
  { weights }: { readonly weights: readonly ModelWeight[] },
  trainableOnly: boolean,
): Tensor[] {
  return trainableOnly ? all.filter((_, at) => weights[at]!.trainable) : all;
}

/** Reads and writes the weights of one layer in one model. */
export interface WeightAccess {
  list(): ModelWeight[];
  read(): Tensor[];
  write(weights: readonly TensorLike[]): void;
  /** The recurrent states of a stateful layer. */
  states(): StateBuffer[];
}

/** A recurrent state in a module. */
export interface StateBuffer {
  readonly shape: readonly number[];
  /** A copy. */
  read(): Tensor;
  write(values: Float32Array): void;
}

/** The weights of one layer in one model. */
export class WeightCopy {
  #seen = 0;
  readonly #self = new WeakRef(this);

  constructor(
    readonly access: WeightAccess,
    private readonly weights: LayerWeights,
    /** Reads the current weights, and replaces them. */
    readonly data: { read(): WeightData; write(from: WeightData): void },
  ) {
    aliveCopies(weights);
    weights.copies.add(this.#self);
  }

  /** Copies the newest weights, if another model has changed them. */
  pull(): void {
    const { weights } = this;
    const { newest, saved } = weights;
    if (newest === this) return;
    if (newest === undefined) {
      if (saved !== undefined) this.#write(saved);
      weights.saved = undefined;
      this.#claim();
    } else if (weights.revision > this.#seen) {
      this.#write(newest.data.read());
      this.#seen = weights.revision;
    }
  }

  /** Marks this copy as the newest. */
  push(): void {
    if (this.weights.copies.size > 1) this.#claim();
  }

  /** Unregisters this copy; if it is the newest, saves its weights for the others. */
  leave(): void {
    const { weights } = this;
    weights.copies.delete(this.#self);
    if (weights.newest !== this) return;
    weights.newest = undefined;
    if (aliveCopies(weights).length === 0) return;
    const copyOf = (each: StateData) => (each instanceof Uint8Array ? each.slice() : each);
    weights.saved = new Map([...this.data.read()].map(([name, each]) => [name, copyOf(each)]));
  }

  #write(from: WeightData): void {
    this.data.write(from);
    freeData(from.values());
  }

  #claim(): void {
    this.weights.newest = this;
    this.#seen = ++this.weights.revision;
  }
}

/** The single value of a list of one, otherwise the list. */
export const unwrapSingle = <T>(list: readonly T[]): T | T[] =>
  list.length === 1 ? list[0]! : [...list];
