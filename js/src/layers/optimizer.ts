/** Optimisers as objects: what they are made with, and a learning rate that may change between steps. Knows no model. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import {
  type OptimizerConfig,
  type OptimizerName,
  optimizerClasses,
  optimizerParameters,
} from '../core/names.js';

/** An optimiser by name, as `train` makes them, or with its parameters. */
export type OptimizerLike =
  | OptimizerName
  | OptimizerConfig
  | { readonly name: OptimizerName; learningRate: number }
  | (string & {});

type Parameters = Record<string, number | boolean>;

/** What TensorFlow.js takes for some names alone. */
const byName: Record<string, Parameters> = { adadelta: { learningRate: 1 } };

/** What TensorFlow.js and Keras call the class of an optimiser. */
export const optimizerClass = (name: string): string =>
  own(optimizerClasses, name) ?? name[0]!.toUpperCase() + name.slice(1);

let make = (config: OptimizerConfig): Optimizer => new Optimizer(config);

/** Makes optimisers that are given by name or by parameters, where a program needs more of them than models do. */
export function makeOptimizersBy(other: (config: OptimizerConfig) => Optimizer): void {
  make = other;
}

/** An optimiser: every parameter is a property of that name. `train` makes them; errors come at compile. */
export class Optimizer {
  readonly name: OptimizerName;
  /** Of the steps to come; whoever sets it here or by `setLearningRate` does so for all models that have it. */
  learningRate!: number;
  readonly [parameter: string]: unknown;

  constructor({ name, ...given }: OptimizerConfig) {
    this.name = name;
    const set = Object.entries(given).filter(([, value]) => value !== undefined);
    Object.assign(this, own(optimizerParameters, name), Object.fromEntries(set));
  }

  /** The optimiser that `compile` is given. */
  static of(like: OptimizerLike): Optimizer {
    if (like instanceof Optimizer) return like;
    if (typeof like !== 'string') return make(like as OptimizerConfig);
    const name = like.toLowerCase() as OptimizerName;
    return make({ name, ...own(byName, name) } as OptimizerConfig);
  }

  /** "Adam", "SGD", … */
  getClassName(): string {
    return optimizerClass(this.name);
  }

  /** The parameters by name; those that TensorFlow.js does not know only where they do something. */
  getConfig(): Parameters {
    const { name: _, ...parameters } = this;
    const told = Object.entries(parameters).filter(
      ([name, value]) => value !== 0 || !/weightDecay|clip/i.test(name),
    );
    return Object.fromEntries(told) as Parameters;
  }

  /** Error: negative or no number. */
  setLearningRate(learningRate: number): void {
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.learningRate = learningRate;
  }

  /** Error: what models learn by is compiled. */
  minimize(_f?: unknown, _returnCost?: unknown, _varList?: unknown): unknown {
    throw new LatheError(
      'minimize: optimisers work within models, by model.fit; those of tensorlathe/tfjs have it',
    );
  }
}
