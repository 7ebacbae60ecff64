/**
 * How optimisers change a variable by its gradient, written with operations; every number is an operand, so that others
 * compile nothing. Sources: D. Kingma, J. Ba, "Adam", 2015 (adam, adamax); J. Duchi et al., 2011 (adagrad); M. Zeiler,
 * "ADADELTA", 2012; T. Tieleman, G. Hinton, lecture 6.5, 2012 (rmsprop); epsilons as TensorFlow.js has them.
 */
import type { OptimizerName } from '../../core/names.js';
import { add, div, maximum, mul, sub } from '../../ops/arithmetic.js';
import { abs, sqrt, square } from '../../ops/unary.js';
import type { Tensor } from '../../tensor/tensor.js';

/** One step for one variable. */
export interface Step {
  readonly value: Tensor;
  readonly gradient: Tensor;
  /** What is kept of the variable, by the rule's names. */
  readonly slots: readonly Tensor[];
  readonly numbers: Readonly<Record<string, number>>;
  /** Steps taken before. */
  readonly iterations: number;
}

/** What the variable and the slots become. */
export type Result = readonly [value: Tensor, ...slots: Tensor[]];

export interface Rule {
  /** What is kept of each variable, as it is named in saved weights. */
  readonly slots: (numbers: Readonly<Record<string, number>>) => readonly string[];
  /** The number that slots are filled with; left out: 0. */
  readonly first?: string;
  readonly update: (step: Step) => Result;
}

/** share · average + (1 - share) · next. */
const moved = (share: number, average: Tensor, next: Tensor): Tensor =>
  add(mul(average, share), mul(next, 1 - share));

const sgd: Rule = {
  slots: () => [],
  update: ({ value, gradient, numbers }) => [sub(value, mul(gradient, numbers.learningRate!))],
};

const momentum: Rule = {
  slots: () => ['momentum'],
  update: ({ value, gradient, slots: [speed], numbers }) => {
    const { learningRate, momentum: share, useNesterov } = numbers;
    const next = add(mul(speed!, share!), gradient);
    const by = useNesterov ? add(gradient, mul(next, share!)) : next;
    return [sub(value, mul(by, learningRate!)), next];
  },
};

const adagrad: Rule = {
  slots: () => ['accumulator'],
  first: 'initialAccumulatorValue',
  update: ({ value, gradient, slots: [sum], numbers }) => {
    const next = add(sum!, square(gradient));
    const by = div(gradient, sqrt(add(next, numbers.epsilon!)));
    return [sub(value, mul(by, numbers.learningRate!)), next];
  },
};

const adadelta: Rule = {
  slots: () => ['accum_grad', 'accum_var'],
  update: ({ value, gradient, slots: [squares, changes], numbers }) => {
    const { learningRate, rho, epsilon } = numbers;
    const ratio = div(sqrt(add(changes!, epsilon!)), sqrt(add(squares!, epsilon!)));
    const by = mul(ratio, gradient);
    return [
      sub(value, mul(by, learningRate!)),
      moved(rho!, squares!, square(gradient)),
      moved(rho!, changes!, square(by)),
    ];
  },
};

const adam: Rule = {
  slots: () => ['m', 'v'],
  update: ({ value, gradient, slots: [mean, squares], numbers, iterations }) => {
    const { learningRate, beta1, beta2, epsilon } = numbers;
    const first = moved(beta1!, mean!, gradient);
    const second = moved(beta2!, squares!, square(gradient));
    const root = sqrt(mul(second, 1 / (1 - beta2! ** (iterations + 1))));
    const by = div(
      mul(first, learningRate! / (1 - beta1! ** (iterations + 1))),
      add(root, epsilon!),
    );
    return [sub(value, by), first, second];
  },
};

const adamax: Rule = {
  slots: () => ['m', 'v'],
  update: ({ value, gradient, slots: [mean, largest], numbers, iterations }) => {
    const { learningRate, beta1, beta2, epsilon, decay } = numbers;
    const first = moved(beta1!, mean!, gradient);
    const norm = maximum(mul(largest!, beta2!), abs(gradient));
    const rate = learningRate! / (decay! * iterations + 1) / (1 - beta1! ** (iterations + 1));
    return [sub(value, mul(div(first, add(norm, epsilon!)), rate)), first, norm];
  },
};

const rmsprop: Rule = {
  slots: ({ centered }) => (centered ? ['rms', 'momentum', 'mg'] : ['rms', 'momentum']),
  update: ({ value, gradient, slots: [squares, speed, mean], numbers }) => {
    const { learningRate, decay, momentum: share, epsilon } = numbers;
    const second = moved(decay!, squares!, square(gradient));
    const first = mean === undefined ? undefined : moved(decay!, mean, gradient);
    const spread =
      first === undefined ? add(second, epsilon!) : sub(second, add(square(first), epsilon!));
    const next = add(mul(speed!, share!), div(mul(gradient, learningRate!), sqrt(spread)));
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
