/**
 * Update rules of optimizers, composed of operations; every number is an operand, so that others
 * do not recompile, and may be a scalar tensor. Sources: D. Kingma, J. Ba, "Adam", 2015 (adam, adamax); J. Duchi et al., 2011 (adagrad); M. Zeiler,
 * "ADADELTA", 2012; T. Tieleman, G. Hinton, lecture 6.5, 2012 (rmsprop); epsilons are those of TensorFlow.js.
 */
import type { OptimizerName } from '../../core/names.js';
import { add, div, maximum, mul, sub } from '../../ops/elementwise/arithmetic.js';
import { abs, sqrt, square } from '../../ops/elementwise/unary.js';
import type { Tensor } from '../../tensor/tensor.js';

export type Numbers<T = number> = Readonly<Record<string, T>>;

/** The operands of one step of one variable. */
export interface Step {
  readonly value: Tensor;
  readonly gradient: Tensor;
  /** The slots of the variable, in the order of the rule. */
  readonly slots: readonly Tensor[];
  /** The results of `factors`. */
  readonly factors: Numbers<number | Tensor>;
  /** The hyperparameters of the optimizer, which may select operations. */
  readonly numbers: Numbers;
}

/** The new values of the variable and the slots. */
export type Result = readonly [value: Tensor, ...slots: Tensor[]];

export interface Rule {
  /** The slots per variable, by their names in saved weights. */
  readonly slots: (numbers: Numbers) => readonly string[];
  /** The hyperparameter that slots are initialized with; default: 0. */
  readonly first?: string;
  /** The operands shared by all variables. `iterations`: completed steps. */
  readonly factors: (numbers: Numbers, iterations: number) => Numbers;
  readonly update: (step: Step) => Result;
}

/** 1 - share, the weight of the other term of an average. */
const rest = (share: number): number => 1 - share;

type Factor = number | Tensor | undefined;

/** share · average + rest · next. */
const moved = (share: Factor, average: Tensor, left: Factor, next: Tensor): Tensor =>
  add(mul(average, share!), mul(next, left!));

const sgd: Rule = {
  slots: () => [],
  factors: ({ learningRate }) => ({ rate: learningRate! }),
  update: ({ value, gradient, factors: { rate } }) => [sub(value, mul(gradient, rate!))],
};

const momentum: Rule = {
  slots: () => ['momentum'],
  factors: ({ learningRate, momentum }) => ({ rate: learningRate!, share: momentum! }),
  update: ({ value, gradient, slots: [speed], factors: { rate, share }, numbers }) => {
    const next = add(mul(speed!, share!), gradient);
    const by = numbers.useNesterov ? add(gradient, mul(next, share!)) : next;
    return [sub(value, mul(by, rate!)), next];
  },
};

const adagrad: Rule = {
  slots: () => ['accumulator'],
  first: 'initialAccumulatorValue',
  factors: ({ learningRate, epsilon }) => ({ rate: learningRate!, epsilon: epsilon! }),
  update: ({ value, gradient, slots: [sum], factors: { rate, epsilon } }) => {
    const next = add(sum!, square(gradient));
    const by = div(gradient, sqrt(add(next, epsilon!)));
    return [sub(value, mul(by, rate!)), next];
  },
};

const adadelta: Rule = {
  slots: () => ['accum_grad', 'accum_var'],
  factors: ({ learningRate, rho, epsilon }) => {
    return { rate: learningRate!, rho: rho!, left: rest(rho!), epsilon: epsilon! };
  },
  update: ({ value, gradient, slots: [squares, changes], factors }) => {
    const { rate, rho, left, epsilon } = factors;
    const ratio = div(sqrt(add(changes!, epsilon!)), sqrt(add(squares!, epsilon!)));
    const by = mul(ratio, gradient);
    return [
      sub(value, mul(by, rate!)),
      moved(rho, squares!, left, square(gradient)),
      moved(rho, changes!, left, square(by)),
    ];
  },
};

const adam: Rule = {
  slots: () => ['m', 'v'],
  factors: ({ learningRate, beta1, beta2, epsilon }, iterations) => ({
    beta1: beta1!,
    left1: rest(beta1!),
    beta2: beta2!,
    left2: rest(beta2!),
    scale: 1 / (1 - beta2! ** (iterations + 1)),
    rate: learningRate! / (1 - beta1! ** (iterations + 1)),
    epsilon: epsilon!,
  }),
  update: ({ value, gradient, slots: [mean, squares], factors }) => {
    const { beta1, left1, beta2, left2, scale, rate, epsilon } = factors;
    const first = moved(beta1, mean!, left1, gradient);
    const second = moved(beta2, squares!, left2, square(gradient));
    const root = sqrt(mul(second, scale!));
    return [sub(value, div(mul(first, rate!), add(root, epsilon!))), first, second];
  },
};

const adamax: Rule = {
  slots: () => ['m', 'v'],
  factors: ({ learningRate, beta1, beta2, epsilon, decay }, iterations) => ({
    beta1: beta1!,
    left: rest(beta1!),
    beta2: beta2!,
    rate: learningRate! / (decay! * iterations + 1) / (1 - beta1! ** (iterations + 1)),
    epsilon: epsilon!,
  }),
  update: ({ value, gradient, slots: [mean, largest], factors }) => {
    const { beta1, left, beta2, rate, epsilon } = factors;
    const first = moved(beta1, mean!, left, gradient);
    const norm = maximum(mul(largest!, beta2!), abs(gradient));
    return [sub(value, mul(div(first, add(norm, epsilon!)), rate!)), first, norm];
  },
};

const rmsprop: Rule = {
  slots: ({ centered }) => (centered ? ['rms', 'momentum', 'mg'] : ['rms', 'momentum']),
  factors: ({ learningRate, decay, momentum, epsilon }) => ({
    rate: learningRate!,
    decay: decay!,
    left: rest(decay!),
    share: momentum!,
    epsilon: epsilon!,
  }),
  update: ({ value, gradient, slots: [squares, speed, mean], factors }) => {
    const { rate, decay, left, share, epsilon } = factors;
    const second = moved(decay, squares!, left, square(gradient));
    const first = mean === undefined ? undefined : moved(decay, mean, left, gradient);
    const spread =
      first === undefined ? add(second, epsilon!) : sub(second, add(square(first), epsilon!));
    const next = add(mul(speed!, share!), div(mul(gradient, rate!), sqrt(spread)));
    return first === undefined
      ? [sub(value, next), second, next]
      : [sub(value, next), second, next, first];
  },
};

export const rules: Readonly<Record<OptimizerName, Rule>> = {
  sgd,
  momentum,
  adagrad,
  adadelta,
  adam,
  adamw: adam,
  adamax,
  rmsprop,
};
