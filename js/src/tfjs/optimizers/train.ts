/** The optimizers of TensorFlow.js: `train.adam(0.001).minimize(() => loss)`; models accept them too. */
import { LatheError } from '../../base/errors.js';
import { entryOf } from '../../base/records.js';
import { type OptimizerConfig, type OptimizerName, optimizerParameters } from '../../core/names.js';
import { Optimizer as ModelOptimizer } from '../../layers/optimizer.js';
import type { Optimizer } from './optimizer.js';
import { RuleOptimizer } from './rule_optimizer.js';

/** The parameters of the constructor, in order. */
const parametersOf = (name: OptimizerName): readonly string[] =>
  Object.keys(optimizerParameters[name]);

export class SGDOptimizer extends RuleOptimizer {
  static className = 'SGD';
  static parameters = /* @__PURE__ */ parametersOf('sgd');

  constructor(...values: unknown[]) {
    super('sgd', values);
  }
}

export class MomentumOptimizer extends RuleOptimizer {
  static className = 'Momentum';
  static parameters = /* @__PURE__ */ parametersOf('momentum');

  constructor(...values: unknown[]) {
    super('momentum', values);
  }

  setMomentum(momentum: number): void {
    Object.assign(this, { momentum });
  }
}

export class AdagradOptimizer extends RuleOptimizer {
  static className = 'Adagrad';
  static parameters = /* @__PURE__ */ parametersOf('adagrad');

  constructor(...values: unknown[]) {
    super('adagrad', values);
  }
}

export class AdadeltaOptimizer extends RuleOptimizer {
  static className = 'Adadelta';
  static parameters = /* @__PURE__ */ parametersOf('adadelta');

  constructor(...values: unknown[]) {
    super('adadelta', values);
  }
}

export class AdamOptimizer extends RuleOptimizer {
  static className = 'Adam';
  static parameters = /* @__PURE__ */ parametersOf('adam');

  constructor(...values: unknown[]) {
    super('adam', values);
  }
}

export class AdamaxOptimizer extends RuleOptimizer {
  static className = 'Adamax';
  static parameters = /* @__PURE__ */ parametersOf('adamax');

  constructor(...values: unknown[]) {
    super('adamax', values);
  }
}

export class RMSPropOptimizer extends RuleOptimizer {
  static className = 'RMSProp';
  static parameters = /* @__PURE__ */ parametersOf('rmsprop');

  /** Error: no learning rate. */
  constructor(...values: unknown[]) {
    super('rmsprop', values);
    if (values[0] === undefined || values[0] === null) {
      throw new LatheError('learningRate for RMSPropOptimizer must be defined.');
    }
  }
}

/** The registered optimizer classes of TensorFlow.js, by their names in models. */
const classes = {
  adadelta: AdadeltaOptimizer,
  adagrad: AdagradOptimizer,
  adam: AdamOptimizer,
  adamax: AdamaxOptimizer,
  momentum: MomentumOptimizer,
  rmsprop: RMSPropOptimizer,
  sgd: SGDOptimizer,
};
export const optimizerClasses = /* @__PURE__ */ Object.values(classes);

/** Factories of optimizers. */
export const train = {
  sgd: (learningRate: number): SGDOptimizer => new SGDOptimizer(learningRate),
  momentum: (learningRate: number, momentum: number, useNesterov = false): MomentumOptimizer =>
    new MomentumOptimizer(learningRate, momentum, useNesterov),
  adagrad: (learningRate: number, initialAccumulatorValue = 0.1): AdagradOptimizer =>
    new AdagradOptimizer(learningRate, initialAccumulatorValue),
  adadelta: (learningRate = 0.001, rho = 0.95, epsilon?: number): AdadeltaOptimizer =>
    new AdadeltaOptimizer(learningRate, rho, epsilon),
  adam: (learningRate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon?: number): AdamOptimizer =>
    new AdamOptimizer(learningRate, beta1, beta2, epsilon),
  adamax: (
    learningRate = 0.002,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon?: number,
    decay = 0,
  ): AdamaxOptimizer => new AdamaxOptimizer(learningRate, beta1, beta2, epsilon, decay),
  rmsprop: (
    learningRate: number,
    decay = 0.9,
    momentum = 0,
    epsilon?: number,
    centered = false,
  ): RMSPropOptimizer => new RMSPropOptimizer(learningRate, decay, momentum, epsilon, centered),
  adamw: (...values: number[]): Optimizer => new RuleOptimizer('adamw', values),
};

/** The optimizer of a model compiled with a name or parameters; it updates variables too. */
export function optimizerOf(config: OptimizerConfig): ModelOptimizer {
  const parameters = entryOf(optimizerParameters, config.name);
  // The core reports unknown names.
  if (parameters === undefined) return new ModelOptimizer(config);
  const settings = config as unknown as Record<string, unknown>;
  const values = Object.entries(parameters).map(([name, usual]) => settings[name] ?? usual);
  const OptimizerClass = entryOf<new (...values: unknown[]) => RuleOptimizer>(classes, config.name);
  return OptimizerClass === undefined
    ? new RuleOptimizer(config.name, values)
    : new OptimizerClass(...values);
}
