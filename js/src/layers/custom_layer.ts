/** Custom layers in JavaScript: their `call` is traced into the graph of the model. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { Trace, TracedTensor } from '../trace/trace.js';
import { Tensor } from '../tensor/tensor.js';
import { loadedDeferred, requireDeferred } from './deferred.js';
import type { InputRules } from './input_spec.js';
import type { LayerArgs } from './base_args.js';
import { baseConfig, Layer, type SymbolicShape, type NestedLayer } from './layer.js';
import { addHosted, type CallValues, type HostedLayer, type WeightConfig } from './layer_host.js';
import { withTracedWeights, tracedOr, nestedLayers, assignTraced } from './nested_weights.js';
import type { ModelWeight } from './shared_weights.js';

/** The second argument of `call`. */
export interface CallArgs {
  /** Whether the model trains: gradients are computed and updates applied. */
  training: boolean;
  /** Every operation as a function: `g.concat([a, b], -1)`. */
  g: Trace;
  /** bool [batch, time], false where a step is to be left out; of several inputs an array. Undefined during shape inference. */
  mask?: TracedTensor | (TracedTensor | undefined)[];
}

/** A weight of a layer in JavaScript, made by `addWeight`. */
export class LayerVariable {
  /** @internal Its value in the call being traced; `updated` its new value. */
  value: TracedTensor | undefined;
  /** @internal */
  updated: Tensor | undefined;
  /** @internal */
  training = false;

  constructor(
    private readonly layer: Layer,
    /** @internal */
    readonly config: WeightConfig,
  ) {}

  get name(): string {
    return this.config.name;
  }

  get shape(): readonly number[] {
    return this.config.shape;
  }

  get trainable(): boolean {
    return this.config.trainable;
  }

  /** The value of the weight; outside of traced functions the variable. */
  read(): Tensor {
    return this.updated ?? this.value ?? tracedOr(this.val);
  }

  /** The variable that optimizers update. Error: the layer is part of no model and has not been called. */
  get val(): Tensor {
    return requireDeferred('val').members.weightOf!(
      this.layer as never,
      this.name as never,
    ) as Tensor;
  }

  /**
   * Sets the value of the weight after the training step; outside of traced functions, immediately. Errors: `training` is false;
   * a trainable weight; another shape or dtype.
   */
  write(value: Tensor): void {
    if (this.value === undefined) {
      if (value instanceof TracedTensor) return assignTraced(this.val, value);
      return (this.val as Tensor & Assigned).assign(value);
    }
    const { shape, dtype } = this.value;
    const fail = (why: string) => {
      throw new LatheError(`weight "${this.name}": write: ${why}`);
    };
    if (this.trainable) fail('the optimizer updates it; add it with trainable = false');
    if (!this.training) fail('only if `training` is true');
    if (value.dtype !== dtype || value.shape.join() !== shape.join()) {
      fail(`it is ${dtype} [${shape.join(',')}], got ${value.dtype} [${value.shape.join(',')}]`);
    }
    this.updated = value;
  }
}

/** The part of a variable's interface used here. */
interface Assigned {
  assign(value: Tensor): void;
}

/**
 * Base class of custom layers, `tl.layers.Layer`:
 *
 *     class Scale extends tl.layers.Layer {
 *       static className = 'Scale';
 *       build(inputShape) {
 *         this.factor = this.addWeight('factor', [inputShape.at(-1)], 'float32', 'ones');
 *       }
 *       call(x) {
 *         return x.mul(this.factor.read());
 *       }
 *     }
 *
 * `call` is traced: it runs once per compilation, that is for every batch size, and its operations become part of the model's
 * module, gradients included. So it must depend on nothing but its arguments and the layer. Output shapes are inferred by
 * tracing; `computeOutputShape` is not called. Errors thrown by `build` and `call` name the layer.
 */
export class CustomLayer extends Layer implements HostedLayer {
  /** Class name in saved models. Default: the name of the class, which minifiers change. */
  static className?: string;

  /** Every layer and model is an instance of `tl.layers.Layer`, as in TensorFlow.js. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === CustomLayer
      ? value instanceof Layer
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  /** Creates the layer from its `getConfig()`. */
  static override fromConfig<T>(cls: new (config: never) => T, config: object): T {
    return new cls(config as never);
  }

  /** Whether the mask of the first input is passed on as that of the output. */
  override supportsMasking = false;
  /** Whether `build` has been called. */
  override built = false;
  /** Constraints on the inputs, as `InputSpec` of TensorFlow.js; set by the constructor or `build`. */
  inputSpec: InputRules = null;
  /**
   * Weights of nested layers, listed by `build` or the constructor: they become part of this layer and of models that contain
   * it. Weights of nested layers that are not listed are not part of it.
   */
  _trainableWeights: ModelWeight[] = [];
  /** Nested weights that are not trained. */
  _nonTrainableWeights: ModelWeight[] = [];
  readonly #id = addHosted(this);
  #variables: LayerVariable[] = [];
  #nested: NestedLayer[] = [];

  constructor(config: LayerArgs = {}) {
    super((new.target as typeof CustomLayer).className ?? new.target.name, config);
  }

  /** `name`, `trainable` and `batchInputShape`; subclasses add their options. */
  override getConfig(): Record<string, unknown> {
    return baseConfig(this);
  }

  /**
   * Creates the weights for an input shape [null, …], or an array of shapes if there are several inputs. Called for each shape
   * until the layer is part of a model, then never.
   */
  override build(_inputShape: SymbolicShape | SymbolicShape[]): void {}

  /**
   * Computes the outputs for a tensor [batch, …], or an array of them if the layer has several inputs. Returns a float32 tensor
   * whose first axis is the batch, or an array of them.
   */
  override call(
    inputs: TracedTensor | TracedTensor[],
    _args: CallArgs,
  ): Tensor | readonly Tensor[] {
    return inputs;
  }

  /**
   * Adds a weight, as in TensorFlow.js. With `trainable` = false the optimizer does not update it and `call` may `write` it.
   * Errors: a duplicate name, a dtype other than float32.
   */
  addWeight(
    name: string,
    shape: readonly (number | null)[],
    dtype: 'float32' | null = 'float32',
    initializer: unknown = 'glorotUniform',
    regularizer?: unknown,
    trainable = true,
    constraint?: unknown,
  ): LayerVariable {
    const fail = (why: string) => {
      throw new LatheError(`addWeight: ${why}`);
    };
    if (dtype !== null && dtype !== 'float32') {
      fail(`the third argument is the dtype float32, got ${JSON.stringify(dtype)}`);
    }
    if (this.#variables.some((each) => each.name === name)) {
      fail(`there is a weight "${name}" already`);
    }
    const sizes = shape as number[];
    const config = { name, shape: sizes, initializer, regularizer, trainable, constraint };
    const variable = new LayerVariable(this, config as WeightConfig);
    this.#variables.push(variable);
    return variable;
  }

  override get trainableWeights(): ModelWeight[] {
    return super.trainableWeights;
  }

  /** Sets the trainable weights of nested layers. */
  override set trainableWeights(weights: ModelWeight[]) {
    this._trainableWeights = weights;
  }

  override get nonTrainableWeights(): ModelWeight[] {
    return super.nonTrainableWeights;
  }

  override set nonTrainableWeights(weights: ModelWeight[]) {
    this._nonTrainableWeights = weights;
  }

  /** @internal Layers whose weights are part of this layer. */
  override get nested(): readonly NestedLayer[] {
    return this.#nested;
  }

  /** No-op, for compatibility with TensorFlow.js. */
  invokeCallHook(inputs?: unknown, args?: unknown): void;
  invokeCallHook(): void {}

  /** @internal */
  override describe(name: string, frozen: boolean): LayerConfig {
    const plain = super.describe(name, frozen);
    return {
      ...plain,
      config: { ...this.getConfig(), ...plain.config },
      host: { id: this.#id, supportsMasking: this.supportsMasking },
    };
  }

  /** @internal */
  hostWeights(shapes: number[][]): WeightConfig[] {
    if (!this.built || this.inboundNodes.length === 0) {
      this.#variables = [];
      this.build(onlyOrAll(shapes.map((shape) => [null, ...shape])));
      this.built = true;
      this.#nested = nestedLayers(this.#listed('trainable'), this.#listed('nonTrainable'));
    }
    const nested = this.#nested.flatMap(({ weights }) => [...weights.values()]);
    return [...this.#variables, ...nested].map(({ config }) => config);
  }

  /** Weights of nested layers that the class lists, by the property or the setter of TensorFlow.js. */
  #listed(kind: 'trainable' | 'nonTrainable'): ModelWeight[] {
    const name = `${kind}Weights` as const;
    let at = this as object;
    while (!Object.hasOwn(at, name)) at = Object.getPrototypeOf(at) as object;
    return at === CustomLayer.prototype ? this[`_${name}`] : this[name];
  }

  /** @internal */
  hostCall(
    graph: CoreGraph,
    { inputs, weights, masks, training }: CallValues,
  ): { outputs: ValueId[]; updates: number[][] } {
    const g = new Trace(graph);
    const variables = this.#variables;
    const weightValues = g.values(weights);
    const nested = this.#nested.flatMap((each) => [...each.weights.values()]);
    const tracedWeights = nested.map(({ variable }, at) => {
      const value = weightValues[variables.length + at]!;
      return [variable, { value, updated: undefined as Tensor | undefined }] as const;
    });
    variables.forEach((each, at) => {
      each.value = weightValues[at]!;
      each.updated = undefined;
      each.training = training;
    });
    try {
      const args: CallArgs = { training, g };
      const inputMasks = masks.map((id) => (id === 0 ? undefined : g.values([id])[0]));
      if (inputMasks.some((each) => each !== undefined)) args.mask = onlyOrAll(inputMasks)!;
      const values = g.values(inputs);
      loadedDeferred()?.checkInputs(this.label, this.inputSpec, values);
      const result = withTracedWeights(new Map(tracedWeights), () =>
        this.call(callInputs(values), args),
      );
      const rows = values[0]?.shape[0];
      const outputs = [result].flat().map((each) => {
        const output = asFloats(each);
        const isOfAll = output instanceof Tensor && output.shape[0] === 1 && rows! > 1;
        // A result of batch size 1 is broadcast to every row.
        const batched = isOfAll ? output.broadcastTo([rows!, ...output.shape.slice(1)]) : output;
        return g.valueIdOf('call', batched);
      });
      const all = [...variables, ...tracedWeights.map(([, each]) => each)];
      const updates = all.flatMap(({ updated }, at) =>
        updated === undefined ? [] : [[at, g.valueIdOf('write', updated)]],
      );
      return { outputs, updates };
    } finally {
      for (const each of variables) each.value = undefined;
    }
  }
}

/** Whether it is a custom layer, in JavaScript. */
export const isCustom = (layer: object): layer is CustomLayer =>
  Object.prototype.isPrototypeOf.call(CustomLayer.prototype, layer);

/** Casts to float32, the type between layers, also of indices and masks. */
const asFloats = (x: unknown): unknown =>
  x instanceof Tensor && x.dtype !== 'float32' ? x.cast('float32') : x;

/** The single value of a list of one, otherwise the list. */
function onlyOrAll<T>(values: T[]): T | T[] {
  return values.length === 1 ? values[0]! : values;
}

/**
 * The inputs that models pass to `call`. TensorFlow.js passes an array even for one input, so the single tensor also supports
 * `inputs[0]`, `inputs.length` and `const [x] = inputs`.
 */
export function callInputs<T extends Tensor>(values: T[]): T | T[] {
  const [only, ...others] = values;
  if (only === undefined || others.length > 0 || Object.hasOwn(only, 0)) return onlyOrAll(values);
  return Object.defineProperties(only, {
    0: { value: only },
    length: { value: 1 },
    [Symbol.iterator]: { value: () => values.values() },
  });
}

/** The function of `tl.layers.lambda`; several inputs come as an array. */
export type LayerFunction<Inputs extends TracedTensor | TracedTensor[] = TracedTensor> = (
  inputs: Inputs,
  args: CallArgs,
) => Tensor | readonly Tensor[];

class Lambda extends CustomLayer {
  static override className = 'Lambda';

  constructor(call: CustomLayer['call'], args?: LayerArgs) {
    super(args);
    this.call = call;
  }
}

/** A layer without weights that is one function, traced as `call` of a class. It cannot be saved. */
export function lambda<Inputs extends TracedTensor | TracedTensor[] = TracedTensor>(
  call: LayerFunction<Inputs>,
  args?: LayerArgs,
): CustomLayer {
  if (typeof call !== 'function') throw new LatheError('lambda: a function is needed');
  return new Lambda(call as CustomLayer['call'], args);
}
