/** Makers of layers, optimisers, initialisers and the like: plain descriptions that the core gives meaning to. */
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
import { extrasAtHand, extrasFor } from './extras.js';
import { input, type InputArgs, Layer, type LayerArgs } from './layer.js';
import { layerClasses, type LayerFactory } from './layer_args.js';
import { readOptions } from './layer_options.js';
import { type AnyCellArgs, RNN, RNNCell } from './rnn_cell.js';
import { Optimizer } from './optimizer.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';

/** Other names of makers, by how the first begin. */
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

/** By the names of the core, each made with its first layer: a page needs few of them. */
const classes = new Map<string, LayerClass>();

function classOf(name: string, className: string): LayerClass {
  let cls = classes.get(className);
  if (cls !== undefined) return cls;
  cls = class extends Layer {
    static className = className;

    constructor(args?: LayerArgs) {
      const options = readOptions(name, args);
      extrasAtHand()?.checkLayer(name, className, options);
      super(className, options);
      extrasAtHand()?.showOptions(this);
      this.inputDType = args?.dtype ?? args?.inputDType ?? 'float32';
      if (args?.implementation !== undefined) this.implementation = args.implementation;
    }
  };
  classes.set(className, cls);
  return cls;
}

/** A layer of the core by its class. Error: there is none of the name. */
export function makeLayer(className: string, args: LayerArgs): Layer {
  const [name] = Object.entries(layerClasses).find(([, each]) => each === className) ?? [];
  return name === undefined ? new Layer(className, args) : new (classOf(name, className))(args);
}

/** What is made of tables is made by functions that bundlers know to be free of effects, so that they can leave it out. */
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

/** Makers of layers: `layers.dense({units: 10})`; `Layer` is the class that layers in JavaScript extend. */
export const layers = {
  .../* @__PURE__ */ byName(),
  /** A cell over the steps of sequences. */
  rnn: (args: AnyCellArgs): Layer => new RNN(args),
  Layer: CustomLayer,
  RNN,
  RNNCell,
  lambda,
  input,
  /** The layer that `input` makes, for the beginning of a row. */
  inputLayer: (args: LayerArgs & Pick<InputArgs, 'sparse'>): Layer => {
    extrasAtHand()?.checkArguments('inputLayer', args);
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

/** Makers of optimisers: `train.adam(0.001)`. Errors come at compile. */
export const train = /* @__PURE__ */ optimizers();

function optimizers() {
  const makers = Object.entries(optimizerParameters).map(([name, parameters]) => [
    name,
    (...values: unknown[]) => {
      const given = Object.keys(parameters).map((parameter, at) => [
        parameter,
        values[at] ?? undefined,
      ]);
      return new Optimizer({ name, ...Object.fromEntries(given) });
    },
  ]);
  return Object.fromEntries(makers) as unknown as {
    [Name in keyof TrainFactory]: (...values: Parameters<TrainFactory[Name]>) => Optimizer;
  };
}

/** An initialiser and the like: what the core reads, and what TensorFlow.js calls it. */
class Choice {
  constructor(
    readonly name: string,
    parameters?: object,
  ) {
    extrasAtHand()?.checkParameters(name, parameters);
    Object.assign(this, parameters);
  }

  /** "VarianceScaling", … */
  getClassName(): string {
    return extrasFor('getClassName').choiceConfig(this).className;
  }

  getConfig(): object {
    return extrasFor('getConfig').choiceConfig(this).config;
  }

  /** Of an initialiser for a shape and a dtype, of a regulariser or a constraint for a tensor. */
  apply(given: unknown, dtype?: string): Tensor {
    return extrasFor('apply').applyChoice(this, given, dtype);
  }
}

/** What is made, with `getConfig`, `getClassName` and an `apply` of this kind. */
type Made<Factory, Apply> = {
  [Name in keyof Factory]: Factory[Name] extends (...args: infer Args) => infer Config
    ? (...args: Args) => Config & Pick<Choice, 'getClassName' | 'getConfig'> & { apply: Apply }
    : never;
};

const makers = <Factory, Apply>(names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, (args?: object) => new Choice(name, args)]),
  ) as unknown as Made<Factory, Apply>;

/**
 * Makers of initialisers: `initializers.randomNormal({stddev: 0.1})`; `apply(shape, dtype)` gives such numbers, without a
 * seed others at each call.
 */
export const initializers = /* @__PURE__ */ makers<
  InitializerFactory,
  (shape: readonly number[], dtype?: DType) => Tensor
>(initializerNames);

/** Makers of activations: `activations.leakyRelu({alpha: 0.1})`. */
export const activations = /* @__PURE__ */ makers(activationNames) as unknown as ActivationFactory;

/** Makers of regularisers: `regularizers.l2({l2: 0.001})`; `apply(x)` is the penalty of a tensor, a scalar. */
export const regularizers = /* @__PURE__ */ makers<RegularizerFactory, (x: Tensor) => Tensor>(
  regularizerNames,
);

/** Makers of constraints: `constraints.maxNorm({maxValue: 3})`; `apply(w)` is what a weight becomes. */
export const constraints = /* @__PURE__ */ makers<ConstraintFactory, (w: Tensor) => Tensor>(
  constraintNames,
);
