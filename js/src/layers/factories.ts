/** Factories of layers, optimizers, initializers and the like: plain configurations that the core interprets. */
import { LatheError } from '../base/errors.js';
import {
  type ActivationFactory,
  activationNames,
  type ConstraintFactory,
  constraintNames,
  type InitializerFactory,
  initializerNames,
  optimizerParameters,
  type RegularizerFactory,
  regularizerNames,
  type TrainFactory,
} from '../core/names.js';
import { CustomLayer, lambda } from './custom_layer.js';
import { loadedDeferred, requireDeferred } from './deferred.js';
import type { LayerArgs } from './base_args.js';
import { input, type InputArgs } from './input.js';
import { Layer } from './layer.js';
import type { LayerFactory } from './layer_args.js';
import { layerClasses } from './layer_classes.js';
import { readOptions } from './layer_options.js';
import { type AnyCellArgs, RNN, RNNCell } from './rnn_cell.js';
import { Optimizer } from './optimizer.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';

/** Aliases of factories, by the prefix of their names. */
interface Aliases {
  averagePooling: 'avgPool' | 'avgPooling';
  maxPooling: 'maxPool';
  globalMaxPooling: 'globalMaxPool';
}
type Aliased = {
  [
    Name in keyof LayerFactory as Name extends `${infer Start extends keyof Aliases}${infer End}d`
      ? `${Aliases[Start]}${End}d`
      : never
  ]: LayerFactory[Name];
};

type LayerClass = new (args?: LayerArgs) => Layer;

/** By class name; created with the first layer of the class. */
const classes = new Map<string, LayerClass>();

function classOf(name: string, className: string): LayerClass {
  let cls = classes.get(className);
  if (cls !== undefined) return cls;
  // The key names the class, as Node prints it.
  cls = {
    [className]: class extends Layer {
      static className = className;

      constructor(args?: LayerArgs) {
        const options = readOptions(name, className, args);
        loadedDeferred()?.checkLayer(name, className, options);
        super(className, options);
        loadedDeferred()?.showOptions(this);
        this.inputDType = args?.dtype ?? args?.inputDType ?? 'float32';
        if (args?.implementation !== undefined) this.implementation = args.implementation;
      }
    },
  }[className]!;
  classes.set(className, cls);
  return cls;
}

/** Creates a layer of the core by its class name. */
export function createLayer(className: string, args: LayerArgs): Layer {
  const [name] = Object.entries(layerClasses).find(([, each]) => each === className) ?? [];
  return name === undefined ? new Layer(className, args) : new (classOf(name, className))(args);
}

/** Factories from the table. A function, so that a `@__PURE__` call lets bundlers drop it. */
function byName(): LayerFactory & Aliased {
  const named = Object.entries(layerClasses).flatMap(([name, className]) => {
    const avg = name.replace(/^averageP/, 'avgP');
    const short = avg.replace(/^(avg|max|globalMax)Pooling/, '$1Pool');
    // The key of a literal names the function.
    return [name, avg, short].map((each) => ({
      [each]: (args?: LayerArgs) => new (classOf(name, className))(args),
    }));
  });
  return Object.assign({}, ...named) as LayerFactory & Aliased;
}

/** What is in `layers` besides the factories of the table. */
export interface OtherLayers {
  /** Runs a cell, or a list of cells, over the steps of [time, …]. Custom cells extend `tl.layers.RNNCell`. */
  rnn(args: AnyCellArgs): Layer;
  /** The base class of custom layers. */
  Layer: typeof CustomLayer;
  RNN: typeof RNN;
  /** The base class of custom cells of `rnn`. */
  RNNCell: typeof RNNCell;
  lambda: typeof lambda;
  input: typeof input;
  /** An input layer, as the first layer of a sequential model. */
  inputLayer(args: LayerArgs & Pick<InputArgs, 'sparse'>): Layer;
}

/** The type of `layers`. Named, so that declarations refer to the comments of its members. */
export type Layers = Omit<LayerFactory, 'rnn'> & Aliased & OtherLayers;

/** Factories of layers: `layers.dense({units: 10})`; custom layers extend `Layer`. */
export const layers: Layers = {
  .../* @__PURE__ */ byName(),
  rnn: (args) => new RNN(args),
  Layer: CustomLayer,
  RNN,
  RNNCell,
  lambda,
  input,
  inputLayer: (args) => {
    loadedDeferred()?.checkArguments('inputLayer', args);
    const { inputShape, batchInputShape, batchSize = null, name, dtype, sparse } = args;
    const batchShape = batchInputShape ?? [batchSize, ...inputShape!];
    return input({ name, dtype, sparse, batchShape } as InputArgs).sourceLayer;
  },
};

type AnyLayer = Layer;
/** The types among them. */
export declare namespace layers {
  export type Layer = AnyLayer;
}

/** The type of `train`. */
export type OptimizerFactories = {
  [Name in keyof TrainFactory]: (...values: Parameters<TrainFactory[Name]>) => Optimizer;
};

/** Factories of optimizers: `train.adam(0.001)`. Validated at compile. */
export const train = /* @__PURE__ */ optimizers();

function optimizers(): OptimizerFactories {
  const factoriesFor = Object.entries(optimizerParameters).map(([name, parameters]) => [
    name,
    (...values: unknown[]) => {
      const config = Object.entries(parameters).map(([parameter, usual], at) => {
        const value = values[at] ?? undefined;
        if (value !== undefined && typeof value !== typeof usual) {
          const got = JSON.stringify(value);
          throw new LatheError(`train.${name}: ${parameter} must be a ${typeof usual}, got ${got}`);
        }
        return [parameter, value];
      });
      return new Optimizer({ name, ...Object.fromEntries(config) });
    },
  ]);
  return Object.fromEntries(factoriesFor) as unknown as OptimizerFactories;
}

/** An initializer, regularizer, constraint: a configuration of the core with the methods of TensorFlow.js. */
class WeightFunction {
  constructor(
    readonly name: string,
    parameters?: object,
  ) {
    const own = typeof parameters === 'object' ? parameters && { ...parameters } : parameters;
    loadedDeferred()?.checkParameters(name, own);
    Object.assign(this, own);
  }

  /** "VarianceScaling", … */
  getClassName(): string {
    return requireDeferred('getClassName').weightFunctionConfig(this).className;
  }

  getConfig(): object {
    return requireDeferred('getConfig').weightFunctionConfig(this).config;
  }

  /** Applies an initializer to a shape and dtype, a regularizer or constraint to a tensor. */
  apply(shapeOrTensor: unknown, dtype?: string): Tensor {
    return requireDeferred('apply').applyWeightFunction(this, shapeOrTensor, dtype);
  }
}

/** A factory's result, with `getConfig`, `getClassName` and an `apply` of this type. */
type WithMethods<Factory, Apply> = {
  [Name in keyof Factory]: Factory[Name] extends (...args: infer Args) => infer Config
    ? (
        ...args: Args
      ) => Config & Pick<WeightFunction, 'getClassName' | 'getConfig'> & { apply: Apply }
    : never;
};

const factoriesFor = <Factory, Apply>(names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, (args?: object) => new WeightFunction(name, args)]),
  ) as unknown as WithMethods<Factory, Apply>;

/**
 * Factories of initializers: `initializers.randomNormal({stddev: 0.1})`; `apply(shape, dtype)` returns a tensor, a different one
 * at each call unless there is a seed.
 */
export const initializers = /* @__PURE__ */ factoriesFor<
  InitializerFactory,
  (shape: readonly number[], dtype?: DType) => Tensor
>(initializerNames);

/** Factories of activations: `activations.leakyRelu({alpha: 0.1})`. */
export const activations = /* @__PURE__ */ factoriesFor(
  activationNames,
) as unknown as ActivationFactory;

/** Factories of regularizers: `regularizers.l2({l2: 0.001})`; `apply(x)` returns the penalty of a tensor, a scalar. */
export const regularizers = /* @__PURE__ */ factoriesFor<RegularizerFactory, (x: Tensor) => Tensor>(
  regularizerNames,
);

/** Factories of constraints: `constraints.maxNorm({maxValue: 3})`; `apply(w)` returns the constrained weight. */
export const constraints = /* @__PURE__ */ factoriesFor<ConstraintFactory, (w: Tensor) => Tensor>(
  constraintNames,
);
