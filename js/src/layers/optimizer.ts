/** Optimizers: their parameters, and a learning rate that may change between steps. */
import { LatheError } from '../base/errors.js';
import { entryOf } from '../base/records.js';
import {
  type OptimizerConfig,
  type OptimizerName,
  optimizerClasses,
  optimizerParameters,
} from '../core/names.js';

/** An optimizer: its name, an object with its parameters, or one of `train`. */
export type OptimizerLike<Name extends string = string & {}> =
  OptimizerName | Name | OptimizerConfig | { readonly name: OptimizerName; learningRate: number };

type Parameters = Record<string, number | boolean>;

/** Defaults of TensorFlow.js for optimizers specified by name only. */
const byName: Record<string, Parameters> = { adadelta: { learningRate: 1 } };

/** Class name of an optimizer in TensorFlow.js and Keras. */
export const optimizerClass = (name: string): string =>
  entryOf(optimizerClasses, name) ?? name[0]!.toUpperCase() + name.slice(1);

let make = (config: OptimizerConfig): Optimizer => new Optimizer(config);

/** Replaces the factory of optimizers specified by name or parameters: `tensorlathe/tfjs` adds methods. */
export function setOptimizerFactory(other: (config: OptimizerConfig) => Optimizer): void {
  make = other;
}

/** An optimizer whose parameters are its properties. Created by `train`; validated at compile. */
export class Optimizer {
  readonly name: OptimizerName;
  /** Learning rate of the next steps, of all models that use this optimizer. */
  learningRate!: number;
  readonly [parameter: string]: unknown;

  constructor({ name, ...parameters }: OptimizerConfig) {
    this.name = name;
    const set = Object.entries(parameters).filter(([, value]) => value !== undefined);
    Object.assign(this, entryOf(optimizerParameters, name), Object.fromEntries(set));
  }

  /** The optimizer of a `compile` argument. */
  static of(like: OptimizerLike): Optimizer {
    if (like instanceof Optimizer) return like;
    if (typeof like !== 'string') return make(like as OptimizerConfig);
    const name = like.toLowerCase() as OptimizerName;
    return make({ name, ...entryOf(byName, name) } as OptimizerConfig);
  }

  /** "Adam", "SGD", … */
  getClassName(): string {
    return optimizerClass(this.name);
  }

  /** The parameters by name; those that TensorFlow.js does not have only if they have an effect. */
  getConfig(): Parameters {
    const { name: _, ...parameters } = this;
    const listed = Object.entries(parameters).filter(
      ([name, value]) => value !== 0 || !/weightDecay|clip/i.test(name),
    );
    return Object.fromEntries(listed) as Parameters;
  }

  /** Error: negative or no number. */
  setLearningRate(learningRate: number): void {
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.learningRate = learningRate;
  }

  /** Not supported: always throws. The optimizer is compiled into the training step. */
  minimize(_f?: unknown, _returnCost?: unknown, _varList?: unknown): unknown {
    throw new LatheError(
      'minimize: optimizers work within models, by model.fit; those of tensorlathe/tfjs have it',
    );
  }
}
