/** What initialisers, regularisers and constraints give for shapes and tensors; models have the core compute it. */
import { LatheError } from '../base/errors.js';
import { tables } from '../core/tables.js';
import { apply as applied } from '../eager/apply.js';
import { CustomLayer } from '../layers/custom_layer.js';
import { choiceConfig, type Kind } from '../layers/layer_config.js';
import { isTraced } from '../numbers/layer_call.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import { alone, hold } from './alone.js';

/** A choice of the core's words with its parameters. */
type Choice = { name: string } & Record<string, unknown>;

/** What the core adds to norms that it divides by. */
const EPSILON = 1e-7;

/** A layer that is one weight. */
class Holder extends CustomLayer {
  constructor(
    private readonly shape: readonly number[],
    private readonly initializer: Choice,
  ) {
    super({ name: 'initial' });
  }

  override build(): void {
    this.addWeight('numbers', this.shape, 'float32', this.initializer);
  }

  override call<X>(x: X): X {
    return x;
  }
}

const isOf = (kind: Kind, { name }: Choice) => tables[kind].some((each) => each.name === name);

/** The numbers that weights of a shape begin with; without a seed others at each call. Error: no such shape. */
function initialNumbers(choice: Choice, shape: readonly number[], dtype = 'float32'): Tensor {
  if (!Array.isArray(shape)) {
    throw new LatheError(`${choice.name}.apply: a shape is needed, got ${String(shape)}`);
  }
  const isRandom = tables.initializers
    .find(({ name }) => name === choice.name)!
    .parameters.some(({ name }) => name === 'seed');
  const seed = isRandom && choice.seed == null ? { seed: Math.floor(Math.random() * 2 ** 31) } : {};
  const layer = new Holder(shape, { ...choice, ...seed });
  hold(layer, [[null, 1]]);
  return tidy(() => {
    const [numbers] = layer.getWeights();
    alone.get(layer)!.dispose();
    return dtype === 'float32' ? numbers! : applied('cast', [numbers!], [dtype]);
  });
}

/** A scalar: what the regulariser adds to the loss for a weight. */
function penalty(choice: Choice, x: Tensor): Tensor {
  const { l1, l2 } = choiceConfig(choice).config as { l1: number; l2: number };
  const sum = (each: Tensor, factor: number) => applied('mul', [applied('sum', [each]), factor]);
  return applied('add', [sum(applied('abs', [x]), l1), sum(applied('square', [x]), l2)]);
}

/** What a weight becomes under the constraint. */
function projected(choice: Choice, w: Tensor): Tensor {
  if (choice.name === 'nonNeg') return applied('relu', [w]);
  const config = choiceConfig(choice, 'constraints').config as Record<string, number>;
  const { axis = 0, maxValue = 1, minValue = 0, rate = 1 } = config;
  const norm = applied('sqrt', [applied('sum', [applied('square', [w])], [[axis], true])]);
  const scaled = (wanted: Tensor | number) =>
    applied('mul', [w, applied('div', [wanted, applied('add', [norm, EPSILON])])]);
  if (choice.name === 'unitNorm') return scaled(1);
  const cut = applied('clipByValue', [norm, minValue, maxValue]);
  return scaled(applied('add', [applied('mul', [cut, rate]), applied('mul', [norm, 1 - rate])]));
}

/** `apply` of an initialiser (a shape, a dtype), a regulariser or a constraint (a tensor), by its name too. Error: no tensor. */
export function applyChoice(named: Choice | string, given: unknown, dtype?: string): Tensor {
  const choice = typeof named === 'string' ? { name: named } : named;
  if (isOf('initializers', choice)) {
    return initialNumbers(choice, given as readonly number[], dtype);
  }
  if (!(given instanceof Tensor) && !isTraced(given as Tensor)) {
    throw new LatheError(`${choice.name}.apply: a tensor is needed, got ${typeof given}`);
  }
  const apply = isOf('regularizers', choice) ? penalty : projected;
  return tidy(() => apply(choice, given as Tensor));
}
