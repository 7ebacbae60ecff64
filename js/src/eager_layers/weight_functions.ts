/** Eager `apply` of initializers, regularizers and constraints; within models the core computes them. */
import { LatheError } from '../base/errors.js';
import { tables } from '../core/tables.js';
import { applyOperation } from '../eager/apply.js';
import { CustomLayer } from '../layers/custom_layer.js';
import { weightFunctionConfig, type ConfigKind } from '../layers/layer_config.js';
import { isTraced } from './layer_node.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import { standaloneModels, buildStandalone } from './standalone_layers.js';

/** An initializer, regularizer or constraint of the core with its parameters. */
type WeightFunction = { name: string } & Record<string, unknown>;

/** Added to norms before division, as in the core. */
const EPSILON = 1e-7;

/** A layer with a single weight, to run an initializer. */
class WeightLayer extends CustomLayer {
  constructor(
    private readonly shape: readonly number[],
    private readonly initializer: WeightFunction,
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

const isOf = (kind: ConfigKind, { name }: WeightFunction) =>
  tables[kind].some((each) => each.name === name);

/** Initial values for a shape; without a seed different at each call. Error: no shape. */
function initialValues(
  weightFunction: WeightFunction,
  shape: readonly number[],
  dtype = 'float32',
): Tensor {
  if (!Array.isArray(shape)) {
    throw new LatheError(`${weightFunction.name}.apply: a shape is needed, got ${String(shape)}`);
  }
  const isRandom = tables.initializers
    .find(({ name }) => name === weightFunction.name)!
    .parameters.some(({ name }) => name === 'seed');
  const seed =
    isRandom && weightFunction.seed == null ? { seed: Math.floor(Math.random() * 2 ** 31) } : {};
  const layer = new WeightLayer(shape, { ...weightFunction, ...seed });
  buildStandalone(layer, [[null, 1]]);
  return tidy(() => {
    const [numbers] = layer.getWeights();
    standaloneModels.get(layer)!.dispose();
    return dtype === 'float32' ? numbers! : applyOperation('cast', [numbers!], [dtype]);
  });
}

/** The penalty of a regularizer for a weight, a scalar. */
function penalty(weightFunction: WeightFunction, x: Tensor): Tensor {
  const { l1, l2 } = weightFunctionConfig(weightFunction).config as { l1: number; l2: number };
  const sum = (each: Tensor, factor: number) =>
    applyOperation('mul', [applyOperation('sum', [each]), factor]);
  return applyOperation('add', [
    sum(applyOperation('abs', [x]), l1),
    sum(applyOperation('square', [x]), l2),
  ]);
}

/** A weight after the constraint. */
function projected(weightFunction: WeightFunction, w: Tensor): Tensor {
  if (weightFunction.name === 'nonNeg') return applyOperation('relu', [w]);
  const config = weightFunctionConfig(weightFunction, 'constraints').config as Record<
    string,
    number
  >;
  const { axis = 0, maxValue = 1, minValue = 0, rate = 1 } = config;
  const norm = applyOperation('sqrt', [
    applyOperation('sum', [applyOperation('square', [w])], [[axis], true]),
  ]);
  const scaled = (targetNorm: Tensor | number) =>
    applyOperation('mul', [
      w,
      applyOperation('div', [targetNorm, applyOperation('add', [norm, EPSILON])]),
    ]);
  if (weightFunction.name === 'unitNorm') return scaled(1);
  const clipped = applyOperation('clipByValue', [norm, minValue, maxValue]);
  return scaled(
    applyOperation('add', [
      applyOperation('mul', [clipped, rate]),
      applyOperation('mul', [norm, 1 - rate]),
    ]),
  );
}

/** `apply` of an initializer (shape, dtype), or of a regularizer or constraint (tensor); also by name. Error: no tensor. */
export function applyWeightFunction(
  named: WeightFunction | string,
  shapeOrTensor: unknown,
  dtype?: string,
): Tensor {
  const weightFunction = typeof named === 'string' ? { name: named } : named;
  if (isOf('initializers', weightFunction)) {
    return initialValues(weightFunction, shapeOrTensor as readonly number[], dtype);
  }
  if (!(shapeOrTensor instanceof Tensor) && !isTraced(shapeOrTensor as Tensor)) {
    throw new LatheError(
      `${weightFunction.name}.apply: a tensor is needed, got ${typeof shapeOrTensor}`,
    );
  }
  const apply = isOf('regularizers', weightFunction) ? penalty : projected;
  return tidy(() => apply(weightFunction, shapeOrTensor as Tensor));
}
