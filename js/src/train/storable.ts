/** The interface of models for saving and loading, independent of formats. */
import type { ModelConfig, ModelSummary } from '../core/abi.js';
import type { NumberArray, StoredDType } from '../tensor/convert.js';
import type { Metrics } from './metrics.js';

/** A tensor that persists between calls of a model; `values` may be a view of its module's memory. */
export interface State {
  name: string;
  shape: number[];
  dtype: StoredDType;
  values: NumberArray;
  /** Replaces the first values, or all. */
  write(values: ArrayLike<number>): void;
}

/** A loss name, or one with parameters, which neither Keras nor TensorFlow.js can read. */
export type LossDescription = string | { name: string };

/** The options of `model.compile`. */
export interface CompileDescription {
  /** For several outputs one each, null for one without. */
  loss: LossDescription | readonly (LossDescription | null)[];
  lossWeights?: readonly number[] | undefined;
  optimizer: { name: string } & Record<string, unknown>;
  /** As passed to `model.compile`. */
  metrics: Metrics;
  /** Further options, which no file stores. */
  others?: object;
}

/** The contents of a model that are saved. */
export interface StoredModel {
  /** The JSON configuration of the core. */
  config: ModelConfig;
  summary: ModelSummary;
  /** The options of `compile`, if it was called. */
  training: CompileDescription | undefined;
  /** The weights, and whether they are currently trainable. */
  weights: readonly { name: string; trainable: boolean }[];
  /** All weights and the optimizer state. */
  states: State[];
  /** User-defined metadata. */
  metadata: object | undefined;
}

/** The training configuration as parsed by `compile`. */
export interface CompiledTraining {
  losses: readonly (LossDescription | null)[];
  lossWeights: readonly number[] | undefined;
  optimizer: CompileDescription['optimizer'] | undefined;
  metrics: CompileDescription['metrics'];
  others: object;
}

/** The options of `compile` that continue the training; undefined without an optimizer. */
export function trainingOf(
  { losses, lossWeights, optimizer, metrics, others }: CompiledTraining,
  states: readonly State[],
): CompileDescription | undefined {
  if (optimizer === undefined) return undefined;
  const loss = losses.length === 1 ? losses[0]! : losses;
  const learningRate = states.find(({ name }) => name === 'optimizer/learning_rate')?.values[0];
  // The module rounds it to float32; files keep the digits of the program.
  const isUnchanged = Math.fround(optimizer.learningRate as number) === learningRate;
  const learnt = { ...optimizer, ...(!isUnchanged && { learningRate }) };
  return { loss, optimizer: learnt, lossWeights, metrics, others };
}

export const storable = /* @__PURE__ */ Symbol('storable');

/** A model that can be saved and loaded. */
export interface Storable {
  /** Error: states are on a device that must be awaited: `synced`. */
  readonly [storable]: StoredModel;
  /** What to await before; undefined: nothing. */
  synced(): Promise<void> | undefined;
}
