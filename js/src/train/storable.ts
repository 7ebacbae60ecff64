/** What those who save and load a model need of it. Knows no format. */
import type { ModelConfig, ModelSummary } from '../core/abi.js';
import type { NumberArray, StoredDType } from '../tensor/convert.js';
import type { Metrics } from './metrics.js';

/** A tensor that a model keeps between calls; `values` lie in the memory of its module. */
export interface State {
  name: string;
  shape: number[];
  dtype: StoredDType;
  values: NumberArray;
}

/** A name; with parameters, what neither Keras nor TensorFlow.js reads. */
export type LossDescription = string | { name: string };

/** What `model.compile` takes. */
export interface CompileDescription {
  /** For several outputs one each, null for one without. */
  loss: LossDescription | readonly (LossDescription | null)[];
  lossWeights?: readonly number[] | undefined;
  optimizer: { name: string } & Record<string, unknown>;
  /** As `model.compile` was given them. */
  metrics: Metrics;
  /** What else it was given, which no file keeps. */
  others?: object;
}

/** What a model shows to those who save it. */
export interface StoredModel {
  /** As the core reads it. */
  config: ModelConfig;
  summary: ModelSummary;
  /** What `compile` was given, if it was. */
  training: CompileDescription | undefined;
  /** The weights, and whether training changes them now. */
  weights: readonly { name: string; trainable: boolean }[];
  /** All weights and what the optimiser keeps. */
  states: State[];
  /** What the program said of it. */
  metadata: object | undefined;
}

/** What a model learns by, as `compile` has read it. */
export interface Goal {
  losses: readonly (LossDescription | null)[];
  lossWeights: readonly number[] | undefined;
  optimizer: CompileDescription['optimizer'] | undefined;
  metrics: CompileDescription['metrics'];
  others: object;
}

/** What to compile the model with so that it goes on learning; nothing where it cannot. */
export function trainingOf(
  { losses, lossWeights, optimizer, metrics, others }: Goal,
  states: readonly State[],
): CompileDescription | undefined {
  if (optimizer === undefined) return undefined;
  const loss = losses.length === 1 ? losses[0]! : losses;
  const learningRate = states.find(({ name }) => name === 'optimizer/learning_rate')?.values[0];
  // The module has it as float32; a file has the digits that the program wrote.
  const isGiven = Math.fround(optimizer.learningRate as number) === learningRate;
  const learnt = { ...optimizer, ...(!isGiven && { learningRate }) };
  return { loss, optimizer: learnt, lossWeights, metrics, others };
}

export const storable = /* @__PURE__ */ Symbol('storable');

/** A model that can be saved and given weights. */
export interface Storable {
  readonly [storable]: StoredModel;
}
