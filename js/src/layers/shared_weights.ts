/**
 * Keeps the weights of a layer that is part of several models the same in all of them: every model has its
 * own copy in the memory of its module, and fetches the newest before it runs.
 */
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import type { Layer } from './layer.js';

/** The weights of one layer by name, as windows on the memory of a module. */
export type WeightBytes = ReadonlyMap<string, Uint8Array>;

/** Where the weights of a layer are. */
export interface LayerWeights {
  /** Counts the changes. */
  revision: number;
  /** Whose weights are the newest; none before any model has a module. */
  holder: WeightCopy | undefined;
  /** The newest weights, where their holder is gone. */
  kept?: WeightBytes | undefined;
  /** Held by their models: a layer that many models have used keeps none of them alive but the holder's. */
  readonly copies: Set<WeakRef<WeightCopy>>;
  /** Whether optimisers change its variables: what was said last of the layer, or of a model that has it. */
  learns: boolean;
  /** Those that can learn. */
  variables: readonly { trainable: boolean }[];
}

/** The copies whose models are alive; forgets the others. */
export function aliveCopies({ copies }: LayerWeights): WeightCopy[] {
  return [...copies].flatMap((each) => each.deref() ?? (copies.delete(each), []));
}

/** One weight of a model, as TensorFlow.js shows it. */
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
  /** The variable that optimisers change, of this layer in all models. */
  readonly val: Tensor;
}

/** Of copies that `getWeights` gave, the variables that optimisers change. */
export const variableOf = new WeakMap<Tensor, () => Tensor>();

/** Those of all weights that training changes, where only they are wanted. */
export function trained(
  all: Tensor[],
  { weights }: { readonly weights: readonly ModelWeight[] },
  trainableOnly: boolean,
): Tensor[] {
  return trainableOnly ? all.filter((_, at) => weights[at]!.trainable) : all;
}

/** Whose weight a variable is, and all that the layer has by name. */
export interface WeightPlace {
  readonly layer: Layer;
  readonly all: ReadonlyMap<string, Tensor>;
}

/** Of the variables of layers. */
export const placeOf = new WeakMap<Tensor, WeightPlace>();

/** Numbers of the weights of one layer, in one model. */
export interface WeightAccess {
  list(): ModelWeight[];
  read(): Tensor[];
  write(weights: readonly TensorLike[]): void;
  /** What the layer keeps from one batch to the next, as windows on the memory of the module. */
  kept(): { shape: readonly number[]; bytes: Uint8Array }[];
}

/** The weights of one layer in one model. */
export class WeightCopy {
  #seen = 0;
  readonly #self = new WeakRef(this);

  constructor(
    readonly access: WeightAccess,
    private readonly weights: LayerWeights,
    /** The windows of now. */
    readonly bytes: () => WeightBytes,
    /** The windows to write to. */
    private readonly room = bytes,
  ) {
    aliveCopies(weights);
    weights.copies.add(this.#self);
  }

  /** Fetches what another model has changed. */
  pull(): void {
    const { weights } = this;
    const { holder, kept } = weights;
    if (holder === this) return;
    if (holder === undefined) {
      if (kept !== undefined) copy(kept, this.room());
      weights.kept = undefined;
      this.#claim();
    } else if (weights.revision > this.#seen) {
      copy(holder.bytes(), this.room());
      this.#seen = weights.revision;
    }
  }

  /** Says that the weights here are the newest. */
  push(): void {
    if (this.weights.copies.size > 1) this.#claim();
  }

  /** Lets another copy go on with the newest weights. */
  leave(): void {
    const { weights } = this;
    weights.copies.delete(this.#self);
    if (weights.holder !== this) return;
    weights.holder = undefined;
    if (aliveCopies(weights).length === 0) return;
    weights.kept = new Map([...this.bytes()].map(([name, bytes]) => [name, bytes.slice()]));
  }

  #claim(): void {
    this.weights.holder = this;
    this.#seen = ++this.weights.revision;
  }
}

function copy(from: WeightBytes, to: WeightBytes): void {
  for (const [name, bytes] of to) bytes.set(from.get(name)!);
}

/** One where there is one, else all. */
export const one = <T>(list: readonly T[]): T | T[] => (list.length === 1 ? list[0]! : [...list]);
