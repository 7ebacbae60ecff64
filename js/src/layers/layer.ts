/** Layers as objects: called on symbolic tensors they make the graph that becomes a model. Knows no module. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, OpenShape } from '../core/abi.js';
import { OpenModel } from '../core/open_model.js';
import type { RegularizerConfig, RegularizerName } from '../core/names.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { addMembers, extrasAtHand, extrasFor } from './extras.js';
import { madeOf, type NestedLayer, nestedWithin } from './nested_weights.js';
import {
  aliveCopies,
  type LayerWeights,
  type ModelWeight,
  trained,
  type WeightAccess,
} from './shared_weights.js';

/** What every layer may be given. */
export interface LayerArgs {
  /** Shape of one example, null where any size does; only the first layer of a sequential model needs it. */
  inputShape?: OpenShape;
  /** The same with the size of all batches in front, which stateful layers need; null: any. */
  batchInputShape?: OpenShape;
  /** Default: the class in lower case, with a number. */
  name?: string;
  /** Whether training changes the weights. Default: true. */
  trainable?: boolean;
  /** What the layer's results add to the loss. */
  activityRegularizer?: RegularizerName | RegularizerConfig;
  /** Size of all batches, beside inputShape. */
  batchSize?: number;
  /** Instead of inputShape: [inputDim], or of sequences [inputLength, inputDim]. */
  inputDim?: number;
  inputLength?: number | readonly (number | null)[];
  /** First weights, as `setWeights` takes them. */
  weights?: readonly TensorLike[];
  /** Taken from programs for TensorFlow.js: float32, and of data int32 and bool. */
  dtype?: string;
  inputDType?: string;
  /** Of recurrent layers; taken from programs for TensorFlow.js, without effect. */
  implementation?: number;
}

/** What a call on tensors is told. */
export interface ApplyArgs {
  /** Whether it is as where a model is trained. Default: false. */
  training?: boolean;
  /** [batch, time], 0 where a step is to be left out; of several inputs an array. */
  mask?: Tensor | readonly (Tensor | null | undefined)[];
  /** Of recurrent layers. */
  initialState?: Tensor | readonly Tensor[];
  /** Of `categoryEncoding` with outputMode count: what each category adds, of the shape of the input. Default: 1. */
  countWeights?: Tensor | readonly [Tensor];
}

/** Sizes of the axes; null is the batch, or a size that data decide. */
export type SymbolicShape = (number | null)[];

/** What a layer or an input will give: it has a shape and no elements. */
export class SymbolicTensor {
  /** Which call of the layer gives it, and which output of that. */
  nodeIndex = 0;
  tensorIndex = 0;
  readonly #name: string | undefined;

  /** `input` and `layer.apply` make them; layers can also be called on those that a program makes, without a source layer. */
  constructor(
    /** Of data as `input` was told; all else is float32. */
    readonly dtype: string,
    readonly shape: SymbolicShape,
    readonly sourceLayer: Layer,
    _inputs?: readonly SymbolicTensor[] | null,
    _callArgs?: object | null,
    name?: string | null,
    readonly outputTensorIndex?: number,
  ) {
    this.#name = name ?? undefined;
  }

  /** That of the input, or LAYER/LAYER. */
  get name(): string {
    const { sourceLayer } = this;
    if (this.#name !== undefined || sourceLayer == null) return this.#name!;
    const { name } = sourceLayer;
    return sourceLayer.getClassName() === inputClass ? name : `${name}/${name}`;
  }

  get rank(): number {
    return this.shape.length;
  }
}

/** Members of symbolic tensors that a page fetches. */
export interface SymbolicTensorMembers {
  readonly originalName: string;
  /** What the call that gives it reads. */
  readonly inputs: SymbolicTensor[];
}
export interface SymbolicTensor extends SymbolicTensorMembers {}

/** What few pages need of calls; there once the page has fetched such members. */
export interface CallMembers {
  readonly outboundLayer: Layer;
  readonly inboundLayers: Layer[];
  readonly inputTensors: SymbolicTensor[];
  readonly outputTensors: SymbolicTensor[];
  readonly inputMasks: null[];
  readonly outputMasks: null[];
  readonly inputShapes: SymbolicShape[];
  readonly outputShapes: SymbolicShape[];
  /** Which calls of which layers it reads. */
  readonly nodeIndices: number[];
  readonly tensorIndices: number[];
  /** The names of the layers that it joins. */
  getConfig(): object;
}

/** One call of a layer. */
export class LayerCall {
  /** Made by `layer.apply` only. */
  constructor(
    readonly layer: Layer,
    readonly inputs: readonly SymbolicTensor[],
    readonly outputs: readonly SymbolicTensor[],
  ) {}
}
export interface LayerCall extends CallMembers {}

/** What few pages need of layers. */
export interface LayerMembers {
  /** What it gives for tensors, as `apply`; layers in JavaScript say it here. */
  call(inputs: Tensor | Tensor[], args?: ApplyArgs): unknown;
  /** The shapes that it gives for these, with the batch in front. Error: they do not fit. */
  computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[];
  /** The mask of what it gives: that of what it reads, or null. Error: it takes none. */
  computeMask(inputs: unknown, mask?: unknown): unknown;
  /** What the call at this place reads. Error: there is none. */
  getInputAt(nodeIndex: number): SymbolicTensor | SymbolicTensor[];
  /** What the call at this place gives. Error: there is none. */
  getOutputAt(nodeIndex: number): SymbolicTensor | SymbolicTensor[];
  /** Makes the weights for an input of this shape, batch in front, before any model has the layer. */
  build(inputShape: SymbolicShape | SymbolicShape[]): void;
  /** Says that one of those who use it does no more. Error: nobody does. */
  dispose(): DisposeResult;
  /** None: what layers add to the loss is part of the module of a model. */
  calculateLosses(): Tensor[];
  /** For programs of TensorFlow.js; does nothing. */
  setFastWeightInitDuringBuild(value: boolean): void;
  /** Has a stateful layer begin anew, with these states or zeros. Errors: it keeps none; another number or shape. */
  resetStates(states?: Tensor | Tensor[]): void;
  /** The calls of others that read what it gives. */
  readonly outboundNodes: LayerCall[];
  /** Another number for each layer. */
  readonly id: number;
  readonly activityRegularizer: unknown;
  /** Copies of what it keeps from one batch to the next. */
  readonly states: (Tensor | null)[] | undefined;
  readonly built: boolean;
  readonly losses: readonly unknown[];
  readonly updates: readonly unknown[];
  /** Whether it keeps states from one batch to the next. */
  readonly stateful: boolean;
  readonly dtype: string | undefined;
  /** Whether it takes masks. */
  supportsMasking: boolean;
}

/** What `dispose` did. */
export interface DisposeResult {
  /** How many may still call it. */
  refCountAfterDispose: number;
  /** Weights that went with it. */
  numDisposedVariables: number;
}

export interface Layer extends LayerMembers {}
const layerMembers =
  'call computeOutputShape computeMask getInputAt getOutputAt build dispose calculateLosses ' +
  'resetStates setFastWeightInitDuringBuild .id .outboundNodes .activityRegularizer .built .losses .updates .stateful .states ' +
  '.dtype .supportsMasking';

/**
 * A layer: what it computes, where it is called, and its weights once it is part of a model. Layers
 * called several times, or part of several models, have one set of weights.
 */
export class Layer {
  protected static readonly added: string = /* @__PURE__ */ addMembers(Layer, layerMembers);

  /**
   * Whether training changes the weights; false counts from the next `fit` on, true from the next `compile`; for the model that
   * is trained both do from the next `compile`. For optimisers of variables both count at once, of a model for all layers in it;
   * what is said last holds.
   */
  get trainable(): boolean {
    return allLearn || this.#trainable;
  }

  set trainable(trainable: boolean) {
    this.#trainable = trainable;
    setLearning(this, trainable);
  }

  #trainable: boolean;
  /** The calls, in the order they were made. */
  readonly inboundNodes: LayerCall[] = [];
  /** @internal The calls of others that read what it gives; they keep no model alive. */
  readonly readers: WeakRef<LayerCall>[] = [];
  /** @internal Whether `dispose` has been called as often as it was made and called. */
  isDisposed = false;
  /** @internal Who may still call `dispose`. */
  uses = 0;
  /** @internal Where its weights are. */
  readonly shared: LayerWeights = {
    revision: 0,
    holder: undefined,
    copies: new Set(),
    learns: true,
    variables: [],
  };
  /** @internal Rows of every batch, if the layer says so. */
  batchSize: number | undefined;
  /** @internal What the first model that holds the layer gives it. */
  initialWeights: readonly TensorLike[] | null;
  /** Shape of the input with the batch in front, if the layer was made with one. */
  readonly batchInputShape: SymbolicShape | undefined;
  /** @internal The type that a program for TensorFlow.js gave. */
  inputDType = 'float32';
  /** Of recurrent layers, for programs of TensorFlow.js; without effect. */
  declare implementation?: number;
  readonly #className: string;
  readonly #config: LayerArgs;
  #name: string | undefined;

  /** Made by the functions of `layers`. */
  constructor(
    className: string,
    { batchInputShape, batchSize, weights, ...config }: LayerArgs = {},
  ) {
    this.#className = className;
    this.#config = config;
    this.initialWeights = weights ?? null;
    this.batchSize = (batchInputShape === undefined ? batchSize : batchInputShape[0]) ?? undefined;
    if (batchInputShape !== undefined) config.inputShape = batchInputShape.slice(1);
    const { inputShape } = config;
    if (Array.isArray(inputShape)) this.batchInputShape = [this.batchSize ?? null, ...inputShape];
    this.#name = config.name;
    this.shared.learns = this.#trainable = config.trainable ?? true;
  }

  /** As given; or what the first model that holds the layer calls it, by its class and a number; or another one so made. */
  get name(): string {
    return (this.#name ??= nextName(nameStem(this.#className)));
  }

  /** @internal As given, or as the first model that holds the layer calls it; before, the class. */
  get label(): string {
    return this.#name ?? this.#className.toLowerCase();
  }

  /** @internal The name given by the user or by a model. */
  get ownName(): string | undefined {
    return this.#name;
  }

  /** @internal Whether the user gave the name. */
  get isNamed(): boolean {
    return this.#config.name !== undefined;
  }

  /** @internal Keeps the name that a model gives. */
  takeName(name: string): void {
    this.#name ??= name;
  }

  /** "Dense", … */
  getClassName(): string {
    return this.#className;
  }

  /** @internal What it was made with. */
  get options(): LayerArgs {
    return this.#config;
  }

  /** Everything it was made with, defaults included, in the words of TensorFlow.js: `layer.constructor.fromConfig` makes it again. */
  getConfig(): Record<string, unknown> {
    return extrasFor('getConfig').layerConfig(this);
  }

  /** A layer of the class, from what `getConfig` gave. */
  static fromConfig(cls: object, config: object): Layer {
    return extrasFor('fromConfig').fromConfig(cls, config as Record<string, unknown>);
  }

  /** @internal As the core reads it. */
  describe(name: string, frozen: boolean): LayerConfig {
    const { trainable: _, ...config } = this.#config;
    const freeze = frozen || !this.trainable ? { trainable: false } : {};
    return { class: this.#className, config: { ...config, ...freeze, name } };
  }

  /** @internal As the core reads it behind others: an input shape that it was made with says nothing then, as in TensorFlow.js. */
  describeBehind(name: string, frozen: boolean): LayerConfig {
    const { config, ...described } = this.describe(name, frozen);
    const { inputShape: _, ...behind } = config as LayerArgs;
    return { ...described, config: behind };
  }

  /** @internal As the first layer of a row: an embedding takes sequences of any length where nothing says more. */
  beFirst(shape?: OpenShape, batchSize?: number | null): void {
    const { inputLength = null } = this.#config;
    const own = this.#className === 'Embedding' ? ([inputLength].flat() as OpenShape) : undefined;
    const given = shape ?? own;
    if (given !== undefined) this.#config.inputShape ??= given;
    this.batchSize ??= batchSize ?? undefined;
  }

  /** @internal As an argument of a layer around it. */
  toJSON(_key?: unknown): unknown {
    return this.describe(this.#name ?? `${nameStem(this.#className)}1`, false);
  }

  /** @internal Layers with weights of their own; within a model, those of its layers. */
  get parts(): readonly { name: string; layer: Layer }[] | undefined {
    return undefined;
  }

  /** @internal Layers that it calls whose weights are part of it. */
  get nested(): readonly NestedLayer[] {
    return nestedWithin(this);
  }

  /**
   * Calls the layer on symbolic tensors, one or an array. Gives a symbolic tensor, or an array where it has several outputs.
   * Recurrent layers start with `initialState`.
   * Of tensors, which have the batch in front, it gives tensors; `training` and `mask` say how, and its weights are made
   * where there are none. Error: the shapes do not fit.
   */
  apply<T extends SymbolicTensor | SymbolicTensor[] = SymbolicTensor>(
    inputs: SymbolicTensor | readonly SymbolicTensor[],
    args?: { initialState?: SymbolicTensor | readonly SymbolicTensor[] } | null,
  ): T;
  apply<T extends Tensor | Tensor[] = Tensor>(
    inputs: Tensor | readonly Tensor[],
    args?: ApplyArgs | null,
  ): T;
  apply(inputs: unknown, args?: { initialState?: unknown } | null): unknown {
    if (this.isDisposed) throw new LatheError(`apply: Layer "${this.label}" is already disposed`);
    if (this.#className === inputClass)
      throw new LatheError(`Cannot pass any input to an InputLayer's apply(): "${this.label}"`);
    const list = [inputs, args?.initialState ?? []].flat() as SymbolicTensor[];
    if (list.length > 0 && list.every((each) => each instanceof Tensor)) {
      return extrasFor('apply').members.applyLayer!(
        this as never,
        inputs as never,
        (args ?? {}) as never,
      );
    }
    const wrong = list.find((each) => !(each instanceof SymbolicTensor));
    if (list.length === 0 || wrong !== undefined) {
      throw new LatheError(
        `layer "${this.label}" (${this.#className}): apply takes symbolic tensors, as tl.input gives them, or tensors`,
      );
    }
    const outputs = this.addCall(list, this.shapesFor(list));
    return outputs.length === 1 ? outputs[0] : [...outputs];
  }

  /** @internal Notes a call whose outputs have these shapes. */
  addCall(inputs: readonly SymbolicTensor[], shapes: readonly SymbolicShape[]): SymbolicTensor[] {
    const node = this.inboundNodes.length;
    const dtype = this.#className === inputClass ? this.inputDType : 'float32';
    const outputs = shapes.map((shape, tensorIndex) =>
      Object.assign(new SymbolicTensor(dtype, shape, this), { nodeIndex: node, tensorIndex }),
    );
    const call = new LayerCall(this, inputs, outputs);
    this.inboundNodes.push(call);
    for (const { sourceLayer } of inputs) sourceLayer?.readers.push(new WeakRef(call));
    this.uses += 1;
    return outputs;
  }

  /** What the only call reads. Error: there is none, or several. */
  get input(): SymbolicTensor | SymbolicTensor[] {
    const { inputs } = this.#onlyCall('input');
    return inputs.length === 1 ? inputs[0]! : [...inputs];
  }

  /** What the only call gives. Error: there is none, or several. */
  get output(): SymbolicTensor | SymbolicTensor[] {
    const { outputs } = this.#onlyCall('output');
    return outputs.length === 1 ? outputs[0]! : [...outputs];
  }

  /** The shape that the first call reads. */
  get inputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.#firstCall('inputShape').inputs);
  }

  /** The shape that the first call gives. */
  get outputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.#firstCall('outputShape').outputs);
  }

  /** Number of weights, biases included. Error: it has not been called or built. */
  countParams(): number {
    if (!this.#isMade && this.#className !== inputClass) {
      throw new LatheError(`countParams: layer "${this.label}" is not built; layer.build does it`);
    }
    return this.getWeights().reduce((total, { size }) => total + size, 0);
  }

  /** Copies of the weights, those that are trained first, or alone; none before it is called. Error: it is part of no model. */
  getWeights(trainableOnly = false): Tensor[] {
    return this.#isMade ? trained(this.access('getWeights').read(), this, trainableOnly) : [];
  }

  /** The weights one by one; none before it is called. Error: it is part of no model. */
  get weights(): ModelWeight[] {
    return this.#isMade ? this.access('weights').list() : [];
  }

  /** Those that training changes. */
  get trainableWeights(): ModelWeight[] {
    return this.weights.filter(({ trainable }) => trainable);
  }

  /** The others. */
  get nonTrainableWeights(): ModelWeight[] {
    return this.weights.filter(({ trainable }) => !trainable);
  }

  get #isMade(): boolean {
    const isHeld = this.shared.copies.size > 0 || this.inboundNodes.length > 0;
    return isHeld && this.#className !== inputClass;
  }

  /** Replaces the weights. Error: another number or shape; there are some, and it is part of no model. */
  setWeights(weights: readonly TensorLike[]): void {
    if (this.#isMade || weights?.length !== 0) this.access('setWeights').write(weights);
  }

  /** @internal Its weights where they are. Errors: it has been disposed; it is part of no model. */
  access(what: string): WeightAccess {
    if (this.isDisposed) throw new LatheError(`${what}: Layer "${this.label}" is already disposed`);
    for (let tries = 0; tries < 2; ++tries) {
      const [copy = this.shared.holder] = aliveCopies(this.shared);
      if (copy !== undefined) return copy.access;
      extrasFor(what).members.hold!(this as never);
    }
    throw new LatheError(`${what}: layer "${this.label}" is part of no model`);
  }

  #firstCall(what: string): LayerCall {
    const [call] = this.inboundNodes;
    if (call !== undefined) return call;
    throw new LatheError(`${what}: layer "${this.label}" has not been called`);
  }

  #onlyCall(what: string): LayerCall {
    const call = this.#firstCall(what);
    if (this.inboundNodes.length === 1) return call;
    const { length } = this.inboundNodes;
    throw new LatheError(
      `${what}: layer "${this.label}" has been called ${length} times; inboundNodes lists the calls`,
    );
  }

  /** @internal The shapes that a call gives, or would give were it the only one. Error: the weights of the first do not fit. */
  shapesFor(inputs: readonly SymbolicTensor[], isOnly = false): SymbolicShape[] {
    const { label: name } = this;
    const batches = new Set(inputs.flatMap(({ shape: [size] }): number | [] => size ?? []));
    if (batches.size > 1) {
      const sizes = [...batches].join(' and ');
      throw new LatheError(`layer "${name}": inputs with batches of ${sizes} rows`);
    }
    const [batch = null] = batches;
    const [first] = isOnly ? [] : this.inboundNodes;
    const given = [...inputs, ...(first?.inputs ?? [])];
    const refs = given.map((_, at) => [`input_${at}_of_${name}`] as const);
    const count = inputs.length;
    const model = new OpenModel({
      seed: 0,
      inputs: given.map(({ shape }, at) => ({ name: refs[at]![0], shape: shape.slice(1) })),
      layers: [
        {
          ...this.describeBehind(name, false),
          inputs: first === undefined ? [refs] : [refs.slice(0, count), refs.slice(count)],
        },
      ],
      outputs: [[name]],
    });
    const { outputShapes } = model.summary.layers[0]!;
    model.free();
    return outputShapes.map(([, ...sizes]) => [batch, ...sizes]);
  }
}

/** Whether all layers say that they learn. */
let allLearn = false;

/** What an action finds where no layer is frozen. */
export function unfrozen<T>(action: () => T): T {
  const before = allLearn;
  allLearn = true;
  try {
    return action();
  } finally {
    allLearn = before;
  }
}

/** Whether optimisers change the variables of a layer and of those that are part of it. */
function setLearning(layer: Layer, learns: boolean): void {
  const { shared, nested } = layer;
  shared.learns = learns;
  for (const each of shared.variables) each.trainable = learns;
  for (const { variable, config } of nested.flatMap(({ weights }) => [...weights.values()])) {
    if (config.trainable) variable.trainable = learns;
  }
  for (const [, each] of madeOf(layer)) setLearning(each, learns);
}

/** How many names were made outside of models, by what they begin with. */
const named = new Map<string, number>();

function nextName(stem: string): string {
  const number = (named.get(stem) ?? 0) + 1;
  named.set(stem, number);
  return `${stem}${number}`;
}

/** What the names of layers of a class begin with, before a number. */
export const nameStem = (className: string): string =>
  className === inputClass
    ? 'input'
    : className === 'Model'
      ? 'model'
      : className === 'Sequential'
        ? 'sequential_'
        : `${className
            .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
            .replace(/([a-z])([A-Z])/g, '$1_$2')
            .toLowerCase()}_${className}`;

function shapesOf(tensors: readonly SymbolicTensor[]): SymbolicShape | SymbolicShape[] {
  const shapes = tensors.map(({ shape }) => [...shape]);
  return shapes.length === 1 ? shapes[0]! : shapes;
}

/** Arguments of `input`. */
export interface InputArgs {
  /** Shape of one example, null where any size does. */
  shape?: OpenShape;
  /** Instead of it, the same with the size of all batches in front; null: any. */
  batchShape?: OpenShape;
  /** Default: input1, input2, … */
  name?: string;
  /** What the data are; models compute in float32. */
  dtype?: string;
  /** Taken from programs for TensorFlow.js; data are never sparse. */
  sparse?: boolean;
}

/** A place where data enters a model. */
export function input(args: InputArgs): SymbolicTensor {
  extrasAtHand()?.checkArguments('input', args);
  const { batchShape, name, dtype = 'float32', sparse = false } = args;
  const shape = args.shape ?? batchShape?.slice(1);
  const isSize = (size: number | null) => size === null || (Number.isInteger(size) && size > 0);
  if (!Array.isArray(shape) || !shape.every(isSize)) {
    throw new LatheError(
      shape === undefined
        ? 'Please provide to Input either a `shape` or a `batchShape`'
        : `input: shape must be an array of positive integers or null, got ${String(shape)}`,
    );
  }
  const batchInputShape = [batchShape?.[0] ?? null, ...shape];
  const layer = new Layer(inputClass, {
    ...(name === undefined ? {} : { name }),
    batchInputShape,
    trainable: false,
  });
  Object.assign(layer, { inputDType: dtype, sparse, inputSpec: [{ shape: batchInputShape }] });
  return layer.addCall([], [batchInputShape])[0]!;
}

/** What every layer says of itself in `getConfig`. */
export function baseConfig({ name, trainable, batchInputShape, inputDType }: Layer): {
  name: string;
  trainable: boolean;
} {
  const shaped =
    batchInputShape === undefined
      ? {}
      : { batchInputShape: [...batchInputShape], dtype: inputDType };
  return { name, trainable, ...shaped };
}

/** The class of `input`. */
export const inputClass = 'InputLayer';
