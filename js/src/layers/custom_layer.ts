/** Layers written in JavaScript: what their `call` does is traced into the graph of the model. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { Trace, TracedTensor } from '../trace/trace.js';
import { Tensor } from '../tensor/tensor.js';
import { extrasAtHand, extrasFor } from './extras.js';
import type { InputRules } from './input_spec.js';
import { baseConfig, Layer, type LayerArgs, type SymbolicShape } from './layer.js';
import { addHosted, type CallValues, type HostedLayer, type WeightConfig } from './layer_host.js';
import { lending, lentOr, nestedLayers, type NestedLayer, writeLent } from './nested_weights.js';
import type { ModelWeight } from './shared_weights.js';

/** What `call` gets beside its inputs. */
export interface CallArgs {
  /** Whether gradients and updates follow. */
  training: boolean;
  /** Every operation as a function: `g.concat([a, b], -1)`. */
  g: Trace;
  /** bool [batch, time], false where a step is to be left out; of several inputs an array. None while shapes are found. */
  mask?: TracedTensor | (TracedTensor | undefined)[];
}

/** A weight of a layer in JavaScript, made by `addWeight`. */
export class LayerVariable {
  /** @internal What it is in the call that is being traced, and what it is to become. */
  value: TracedTensor | undefined;
  /** @internal */
  written: Tensor | undefined;
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

  /** The weight; outside of functions that are traced a variable. */
  read(): Tensor {
    return this.written ?? this.value ?? lentOr(this.val);
  }

  /** The variable that optimisers change. Error: the layer is part of no model and has not been called. */
  get val(): Tensor {
    return extrasFor('val').members.weightOf!(this.layer as never, this.name as never) as Tensor;
  }

  /**
   * What the weight is after the training step; outside of functions that are traced, from now on. Errors: where `call`
   * does not train; a weight that the optimiser changes; another shape or dtype.
   */
  write(value: Tensor): void {
    if (this.value === undefined) {
      if (value instanceof TracedTensor) return writeLent(this.val, value);
      return (this.val as Tensor & Assigned).assign(value);
    }
    const { shape, dtype } = this.value;
    const fail = (why: string) => {
      throw new LatheError(`weight "${this.name}": write: ${why}`);
    };
    if (this.trainable) fail('the optimiser changes it; make it with trainable = false');
    if (!this.training) fail('only where `training` is true');
    if (value.dtype !== dtype || value.shape.join() !== shape.join()) {
      fail(`it is ${dtype} [${shape.join(',')}], got ${value.dtype} [${value.shape.join(',')}]`);
    }
    this.written = value;
  }
}

/** What a variable has beside a tensor. */
interface Assigned {
  assign(value: Tensor): void;
}

/**
 * Base class of layers written in JavaScript, `tl.layers.Layer`:
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
 * `call` is traced: it runs when a model is compiled, for every batch size anew, and its operations
 * become part of the one module of the model, gradients included. So it must depend on nothing but
 * its arguments and the layer; shapes are found by tracing, and `computeOutputShape` is not asked.
 * What `build` and `call` throw names the layer.
 */
export class CustomLayer extends Layer implements HostedLayer {
  /** What saved models call the class. Default: its name, which minifiers change. */
  static className?: string;

  /** Every layer and model is an instance of `tl.layers.Layer`, as in TensorFlow.js. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === CustomLayer
      ? value instanceof Layer
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  /** The layer again from what `getConfig` gave. */
  static override fromConfig<T>(cls: new (config: never) => T, config: object): T {
    return new cls(config as never);
  }

  /** Whether the mask of the first input is that of the output. */
  override supportsMasking = false;
  /** Whether `build` has been called. */
  override built = false;
  /** What the inputs must be, as `InputSpec` of TensorFlow.js; the constructor or `build` may say it. */
  inputSpec: InputRules = null;
  /**
   * Weights of layers that `call` calls, added by `build` or the constructor: they are part of this layer and of models that
   * have it. Those of other layers stay as they are.
   */
  _trainableWeights: ModelWeight[] = [];
  /** Those that training leaves alone. */
  _nonTrainableWeights: ModelWeight[] = [];
  readonly #id = addHosted(this);
  #variables: LayerVariable[] = [];
  #nested: NestedLayer[] = [];

  constructor(config: LayerArgs = {}) {
    super((new.target as typeof CustomLayer).className ?? new.target.name, config);
  }

  /** Its name, whether it is trainable, the shape that it was given; classes add their own options. */
  override getConfig(): Record<string, unknown> {
    return baseConfig(this);
  }

  /**
   * Makes the weights, with the batch as null in the shape; of several inputs an array of shapes.
   * Called anew for each shape until the layer is part of a model, then never.
   */
  override build(_inputShape: SymbolicShape | SymbolicShape[]): void {}

  /**
   * The result for tensors [batch, …]: one, or an array where the layer has several inputs. Gives one
   * float32 tensor with the same batch as first axis, or an array of them.
   */
  override call(
    inputs: TracedTensor | TracedTensor[],
    _args: CallArgs,
  ): Tensor | readonly Tensor[] {
    return inputs;
  }

  /**
   * A weight, as in TensorFlow.js. With `trainable` = false the optimiser leaves it alone and `call`
   * may `write` it. Errors: a name that is taken, a dtype other than float32, outside of `build`.
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

  /** Those of the layers that `call` calls. */
  override set trainableWeights(weights: ModelWeight[]) {
    this._trainableWeights = weights;
  }

  override get nonTrainableWeights(): ModelWeight[] {
    return super.nonTrainableWeights;
  }

  override set nonTrainableWeights(weights: ModelWeight[]) {
    this._nonTrainableWeights = weights;
  }

  /** @internal Layers whose weights are part of this one. */
  override get nested(): readonly NestedLayer[] {
    return this.#nested;
  }

  /** For programs of TensorFlow.js; does nothing. */
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

  /** Weights of other layers that the program counts among its own, in the words of TensorFlow.js. */
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
    const kept = g.values(weights);
    const nested = this.#nested.flatMap((each) => [...each.weights.values()]);
    const lent = nested.map(({ variable }, at) => {
      const value = kept[variables.length + at]!;
      return [variable, { value, written: undefined as Tensor | undefined }] as const;
    });
    variables.forEach((each, at) => {
      each.value = kept[at]!;
      each.written = undefined;
      each.training = training;
    });
    try {
      const args: CallArgs = { training, g };
      const given = masks.map((id) => (id === 0 ? undefined : g.values([id])[0]));
      if (given.some((each) => each !== undefined)) args.mask = onlyOrAll(given)!;
      const values = g.values(inputs);
      extrasAtHand()?.checkInputs(this.label, this.inputSpec, values);
      const result = lending(new Map(lent), () => this.call(callInputs(values), args));
      const rows = values[0]?.shape[0];
      const outputs = [result].flat().map((each) => {
        const output = asFloats(each);
        const isOfAll = output instanceof Tensor && output.shape[0] === 1 && rows! > 1;
        // A result for the whole batch is that of every row.
        const whole = isOfAll ? output.broadcastTo([rows!, ...output.shape.slice(1)]) : output;
        return g.numberOf('call', whole);
      });
      const all = [...variables, ...lent.map(([, each]) => each)];
      const updates = all.flatMap(({ written }, at) =>
        written === undefined ? [] : [[at, g.numberOf('write', written)]],
      );
      return { outputs, updates };
    } finally {
      for (const each of variables) each.value = undefined;
    }
  }
}

/** Whether it is a layer in JavaScript. */
export const isCustom = (layer: object): layer is CustomLayer =>
  Object.prototype.isPrototypeOf.call(CustomLayer.prototype, layer);

/** What layers pass on; places and masks, too. */
const asFloats = (x: unknown): unknown =>
  x instanceof Tensor && x.dtype !== 'float32' ? x.cast('float32') : x;

/** One where there is one, else all. */
function onlyOrAll<T>(values: T[]): T | T[] {
  return values.length === 1 ? values[0]! : values;
}

/**
 * What models give `call`. TensorFlow.js gives an array also where there is one input: the tensor has what programs ask of it
 * then, `inputs[0]`, `inputs.length`, `const [x] = inputs`.
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

/** What `tl.layers.lambda` makes a layer of; of several inputs it gets an array. */
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
