/** Layers: calling them on symbolic tensors builds the layer graph of a model. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, DynamicShape } from '../core/abi.js';
import { DynamicModel } from '../core/dynamic_model.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { addDeferred, requireDeferred } from './deferred.js';
import type { LayerArgs } from './base_args.js';
import { layerParts } from './layer_classes.js';
import type { WeightConfig } from './layer_host.js';
import { inputClassName, nameStem } from './layer_names.js';
import {
  aliveCopies,
  type LayerWeights,
  type ModelWeight,
  onlyTrainable,
  type WeightAccess,
} from './shared_weights.js';

/** Options of a call on tensors. */
export interface ApplyArgs {
  /** Whether layers behave as in training. Default: false. */
  training?: boolean;
  /** [batch, time], 0 for steps to skip; an array for several inputs. */
  mask?: Tensor | readonly (Tensor | null | undefined)[];
  /** Initial states of recurrent layers. */
  initialState?: Tensor | readonly Tensor[];
  /** Of `categoryEncoding` with outputMode count: weights of the shape of the input. Default: 1. */
  countWeights?: Tensor | readonly [Tensor];
}

/** Sizes of the axes; null is the batch, or a dynamic size. */
export type SymbolicShape = (number | null)[];

/** An output of a layer call or an input of a model: a shape without elements. */
export class SymbolicTensor {
  /** Index of the layer call that produces it, and of the output of that call. */
  nodeIndex = 0;
  tensorIndex = 0;
  readonly #name: string | undefined;

  /** Created by `input` and `layer.apply`. Layers also accept those that a program creates without a source layer. */
  constructor(
    /** The dtype of `input` for model inputs; otherwise float32. */
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

  /** The name of the input, or LAYER/LAYER. */
  get name(): string {
    const { sourceLayer } = this;
    if (this.#name !== undefined || sourceLayer == null) return this.#name!;
    const { name } = sourceLayer;
    return sourceLayer.getClassName() === inputClassName ? name : `${name}/${name}`;
  }

  get rank(): number {
    return this.shape.length;
  }
}

/** Deferred members of symbolic tensors. */
export interface SymbolicTensorMembers {
  readonly originalName: string;
  /** Inputs of the call that produces it. */
  readonly inputs: SymbolicTensor[];
}
export interface SymbolicTensor extends SymbolicTensorMembers {}

/** Deferred members of layer calls. */
export interface CallMembers {
  readonly outboundLayer: Layer;
  readonly inboundLayers: Layer[];
  readonly inputTensors: SymbolicTensor[];
  readonly outputTensors: SymbolicTensor[];
  readonly inputMasks: null[];
  readonly outputMasks: null[];
  readonly inputShapes: SymbolicShape[];
  readonly outputShapes: SymbolicShape[];
  /** Node and tensor index of each input. */
  readonly nodeIndices: number[];
  readonly tensorIndices: number[];
  /** The names of the layers that it connects. */
  getConfig(): object;
}

/** One call of a layer. */
export class LayerCall {
  /** Created by `layer.apply` only. */
  constructor(
    readonly layer: Layer,
    readonly inputs: readonly SymbolicTensor[],
    readonly outputs: readonly SymbolicTensor[],
  ) {}
}
export interface LayerCall extends CallMembers {}

/** Deferred members of layers. */
export interface LayerMembers {
  /** Computes the outputs for tensors, as `apply`; custom layers override it. */
  call(inputs: Tensor | Tensor[], args?: ApplyArgs): unknown;
  /** Output shapes for input shapes, batch first. Error: incompatible shapes. */
  computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[];
  /** The mask of the outputs: that of the inputs, or null. Error: masks are not supported. */
  computeMask(inputs: unknown, mask?: unknown): unknown;
  /** Inputs of the call with this index. Error: no such call. */
  getInputAt(nodeIndex: number): SymbolicTensor | SymbolicTensor[];
  /** Outputs of the call with this index. Error: no such call. */
  getOutputAt(nodeIndex: number): SymbolicTensor | SymbolicTensor[];
  /** Creates the weights for an input of this shape, batch first, before any model contains the layer. */
  build(inputShape: SymbolicShape | SymbolicShape[]): void;
  /** Releases one reference to the layer; the last one disposes of its weights. Error: already disposed. */
  dispose(): DisposeResult;
  /** Regularization losses, one scalar each. */
  calculateLosses(): Tensor[];
  /** No-op, for compatibility with TensorFlow.js. */
  setFastWeightInitDuringBuild(value: boolean): void;
  /** Resets the states of a stateful layer to these, or to zeros. Errors: not stateful; another number or shape of states. */
  resetStates(states?: Tensor | Tensor[]): void;
  /** Calls of other layers that read its outputs. */
  readonly outboundNodes: LayerCall[];
  /** Unique id of the layer. */
  readonly id: number;
  readonly activityRegularizer: unknown;
  /** Copies of the recurrent states. */
  readonly states: (Tensor | null)[] | undefined;
  readonly built: boolean;
  readonly losses: readonly unknown[];
  readonly updates: readonly unknown[];
  /** Whether states persist between batches. */
  readonly stateful: boolean;
  readonly dtype: string | undefined;
  /** Whether it supports masks. */
  supportsMasking: boolean;
}

/** Result of `dispose`. */
export interface DisposeResult {
  /** Remaining references. */
  refCountAfterDispose: number;
  /** Number of weights that were disposed. */
  numDisposedVariables: number;
}

/** A layer whose weights are part of another layer. */
export interface NestedLayer {
  readonly layer: Layer;
  /** Its variables by their names in the outer layer; `key` is their name in this layer. */
  readonly weights: ReadonlyMap<
    string,
    { key: string; variable: Tensor & { trainable?: boolean }; config: WeightConfig }
  >;
}

export interface Layer extends LayerMembers {}
const layerMembers =
  'call computeOutputShape computeMask getInputAt getOutputAt build dispose calculateLosses ' +
  'resetStates setFastWeightInitDuringBuild .id .outboundNodes .activityRegularizer .built .losses .updates .stateful .states ' +
  '.dtype .supportsMasking';

/**
 * A layer: its configuration, its calls, and its weights once it is part of a model. A layer that is called several times, or
 * part of several models, has one set of weights.
 */
export class Layer {
  protected static readonly added: string = /* @__PURE__ */ addDeferred(Layer, layerMembers);

  /**
   * Whether training changes the weights. Setting false applies from the next `fit`, true from the next `compile`; for the trained
   * model itself both from the next `compile`. For optimizers of variables both apply at once, and a model sets all its layers.
   */
  get trainable(): boolean {
    return allTrainable || this.#trainable;
  }

  set trainable(trainable: boolean) {
    this.#trainable = trainable;
    setVariablesTrainable(this, trainable);
  }

  #trainable: boolean;
  /** The calls, in the order they were made. */
  readonly inboundNodes: LayerCall[] = [];
  /** @internal Calls of other layers that read its outputs, as weak references. */
  readonly readers: WeakRef<LayerCall>[] = [];
  /** @internal Whether `dispose` has released the last reference. */
  isDisposed = false;
  /** @internal Reference count of `dispose`. */
  uses = 0;
  /** @internal The copies of its weights. */
  readonly shared: LayerWeights = {
    revision: 0,
    newest: undefined,
    copies: new Set(),
    isTrainable: true,
    variables: [],
  };
  /** @internal Batch size, if the layer fixes it. */
  batchSize: number | undefined;
  /** @internal Initial weights, set by the first model that contains the layer. */
  initialWeights: readonly TensorLike[] | null;
  /** Shape of the input, batch first, if it is an option of the layer. */
  readonly batchInputShape: SymbolicShape | undefined;
  /** @internal The dtype option. */
  inputDType = 'float32';
  /** Of recurrent layers; no effect, for compatibility with TensorFlow.js. */
  declare implementation?: number;
  readonly #className: string;
  readonly #config: LayerArgs;
  #name: string | undefined;

  /** Created by the functions of `layers`. */
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
    this.shared.isTrainable = this.#trainable = config.trainable ?? true;
  }

  /** The `name` option; else the name set by the first model that contains the layer, or a unique one from its class. */
  get name(): string {
    return (this.#name ??= nextName(nameStem(this.#className)));
  }

  /** @internal The name if it has one, otherwise the class. */
  get label(): string {
    return this.#name ?? this.#className.toLowerCase();
  }

  /** @internal The name set by the user or by a model. */
  get assignedName(): string | undefined {
    return this.#name;
  }

  /** @internal Whether the user set the name. */
  get isNamed(): boolean {
    return this.#config.name !== undefined;
  }

  /** @internal Sets the name, unless there is one. */
  setDefaultName(name: string): void {
    this.#name ??= name;
  }

  /** "Dense", … */
  getClassName(): string {
    return this.#className;
  }

  /** @internal The options of the constructor. */
  get options(): LayerArgs {
    return this.#config;
  }

  /** All options, defaults included, in the format of TensorFlow.js, for `layer.constructor.fromConfig`. */
  getConfig(): Record<string, unknown> {
    return requireDeferred('getConfig').layerConfig(this);
  }

  /** Creates a layer of the class from a `getConfig()`. */
  static fromConfig(cls: object, config: object): Layer {
    return requireDeferred('fromConfig').fromConfig(
      cls,
      config as Record<string, unknown>,
    ) as Layer;
  }

  /** @internal The layer in the core's configuration format. */
  describe(name: string, frozen: boolean): LayerConfig {
    const { trainable: _, ...config } = this.#config;
    const freeze = frozen || !this.trainable ? { trainable: false } : {};
    return { class: this.#className, config: { ...config, ...freeze, name } };
  }

  /** @internal `describe` of a layer that is not the first: its inputShape option is ignored, as in TensorFlow.js. */
  describeWithoutInputShape(name: string, frozen: boolean): LayerConfig {
    const { config, ...described } = this.describe(name, frozen);
    const { inputShape: _, ...others } = config as LayerArgs;
    return { ...described, config: others };
  }

  /** @internal Makes it the first layer of a sequential model. An embedding defaults to sequences of any length. */
  beFirst(shape?: DynamicShape, batchSize?: number | null): void {
    const { inputLength = null } = this.#config;
    const lengths =
      this.#className === 'Embedding' ? ([inputLength].flat() as DynamicShape) : undefined;
    const inputShape = shape ?? lengths;
    if (inputShape !== undefined) this.#config.inputShape ??= inputShape;
    this.batchSize ??= batchSize ?? undefined;
  }

  /** @internal As an option of a wrapper layer. */
  toJSON(_key?: unknown): unknown {
    return this.describe(this.#name ?? `${nameStem(this.#className)}1`, false);
  }

  /** @internal The layers of a model; undefined for other layers. */
  get parts(): readonly { name: string; layer: Layer }[] | undefined {
    return undefined;
  }

  /** @internal Layers that it calls and whose weights are part of it. */
  get nested(): readonly NestedLayer[] {
    return nestedWithin(this);
  }

  /**
   * Calls the layer on a symbolic tensor or several; returns a symbolic tensor, or an array if it has several outputs. On tensors,
   * batch first, it computes the outputs eagerly; the first call creates the weights. Recurrent layers start with `initialState`.
   * Error: incompatible shapes.
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
    if (this.#className === inputClassName)
      throw new LatheError(`Cannot pass any input to an InputLayer's apply(): "${this.label}"`);
    const list = [inputs, args?.initialState ?? []].flat() as SymbolicTensor[];
    if (list.length > 0 && list.every((each) => each instanceof Tensor)) {
      return requireDeferred('apply').members.applyLayer!(
        this as never,
        inputs as never,
        (args ?? {}) as never,
      );
    }
    const wrong = list.find((each) => !(each instanceof SymbolicTensor));
    if (list.length === 0 || wrong !== undefined) {
      throw new LatheError(
        `layer "${this.label}" (${this.#className}): apply expects symbolic tensors, as of tl.input, or tensors`,
      );
    }
    const outputs = this.addCall(list, this.shapesFor(list));
    return outputs.length === 1 ? outputs[0] : [...outputs];
  }

  /** @internal Records a call whose outputs have these shapes. */
  addCall(inputs: readonly SymbolicTensor[], shapes: readonly SymbolicShape[]): SymbolicTensor[] {
    const node = this.inboundNodes.length;
    const dtype = this.#className === inputClassName ? this.inputDType : 'float32';
    const outputs = shapes.map((shape, tensorIndex) =>
      Object.assign(new SymbolicTensor(dtype, shape, this), { nodeIndex: node, tensorIndex }),
    );
    const call = new LayerCall(this, inputs, outputs);
    this.inboundNodes.push(call);
    for (const { sourceLayer } of inputs) sourceLayer?.readers.push(new WeakRef(call));
    this.uses += 1;
    return outputs;
  }

  /** Inputs of the only call. Error: no call, or several. */
  get input(): SymbolicTensor | SymbolicTensor[] {
    const { inputs } = this.#onlyCall('input');
    return inputs.length === 1 ? inputs[0]! : [...inputs];
  }

  /** Outputs of the only call. Error: no call, or several. */
  get output(): SymbolicTensor | SymbolicTensor[] {
    const { outputs } = this.#onlyCall('output');
    return outputs.length === 1 ? outputs[0]! : [...outputs];
  }

  /** Input shape of the first call. */
  get inputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.#firstCall('inputShape').inputs);
  }

  /** Output shape of the first call. */
  get outputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.#firstCall('outputShape').outputs);
  }

  /** Number of weight elements. Error: it has not been called or built. */
  countParams(): number {
    if (!this.#isMade && this.#className !== inputClassName) {
      throw new LatheError(`countParams: layer "${this.label}" is not built; layer.build does it`);
    }
    return this.getWeights().reduce((total, { size }) => total + size, 0);
  }

  /** Copies of the weights, trainable ones first, or only those; none before it is called. Error: it is part of no model. */
  getWeights(trainableOnly = false): Tensor[] {
    return this.#isMade ? onlyTrainable(this.access('getWeights').read(), this, trainableOnly) : [];
  }

  /** The weights one by one; none before it is called. Error: it is part of no model. */
  get weights(): ModelWeight[] {
    return this.#isMade ? this.access('weights').list() : [];
  }

  /** The trainable weights. */
  get trainableWeights(): ModelWeight[] {
    return this.weights.filter(({ trainable }) => trainable);
  }

  /** The weights that training does not change. */
  get nonTrainableWeights(): ModelWeight[] {
    return this.weights.filter(({ trainable }) => !trainable);
  }

  get #isMade(): boolean {
    const hasWeights = this.shared.copies.size > 0 || this.inboundNodes.length > 0;
    return hasWeights && this.#className !== inputClassName;
  }

  /** Replaces the weights. Errors: another number or shape; it is part of no model. */
  setWeights(weights: readonly TensorLike[]): void {
    if (this.#isMade || weights?.length !== 0) this.access('setWeights').write(weights);
  }

  /** @internal Access to its weights in a live copy. Errors: it has been disposed; it is part of no model. */
  access(what: string): WeightAccess {
    if (this.isDisposed) throw new LatheError(`${what}: Layer "${this.label}" is already disposed`);
    for (let tries = 0; tries < 2; ++tries) {
      const [copy = this.shared.newest] = aliveCopies(this.shared);
      if (copy !== undefined) return copy.access;
      requireDeferred(what).members.buildFromCall!(this as never);
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

  /** @internal Output shapes of a call; with `isOnly` regardless of earlier calls. Error: the weights do not fit. */
  shapesFor(inputs: readonly SymbolicTensor[], isOnly = false): SymbolicShape[] {
    const { label: name } = this;
    const batches = new Set(inputs.flatMap(({ shape: [size] }): number | [] => size ?? []));
    if (batches.size > 1) {
      const sizes = [...batches].join(' and ');
      throw new LatheError(`layer "${name}": inputs with batches of ${sizes} rows`);
    }
    const [batch = null] = batches;
    const [first] = isOnly ? [] : this.inboundNodes;
    const operands = [...inputs, ...(first?.inputs ?? [])];
    const refs = operands.map((_, at) => [`input_${at}_of_${name}`] as const);
    const count = inputs.length;
    const model = new DynamicModel({
      seed: 0,
      inputs: operands.map(({ shape }, at) => ({ name: refs[at]![0], shape: shape.slice(1) })),
      layers: [
        {
          ...this.describeWithoutInputShape(name, false),
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

/** The layers inside a model or wrapper, each with the prefix of its weights' names; none for Bidirectional, which copies. */
export function innerLayers(outer: Layer): readonly (readonly [path: string, layer: Layer])[] {
  const { parts } = outer;
  if (parts !== undefined) {
    const inner = parts.filter(({ layer }) => layer.getClassName() !== inputClassName);
    return inner.map(({ name, layer }) => [`${name}/`, layer]);
  }
  if (layerParts[outer.getClassName()] !== 'shared') return [];
  const { cell, layer = cell!, cells } = outer.options as Inner;
  return cells?.map((each, at) => [`RNNCell_${at}/`, each] as const) ?? [['', layer]];
}

type Inner = Partial<Record<'cell' | 'layer', Layer> & Record<'cells', Layer[]>>;

/**
 * The nested layers of the layers inside a model or wrapper, by their weights' names there. Error: Bidirectional, whose
 * directions have separate weights.
 */
export function nestedWithin(outer: Layer): readonly NestedLayer[] {
  if (layerParts[outer.getClassName()] === 'copied') {
    if ((outer.options as Inner).layer?.nested.length === 0) return [];
    throw new LatheError(
      `"${outer.label}" cannot be bidirectional over a layer that calls other layers`,
    );
  }
  return innerLayers(outer).flatMap(([path, { nested }]) =>
    nested.map((each) => {
      const named = [...each.weights].map(([name, weight]) => [path + name, weight] as const);
      return { ...each, weights: new Map(named) };
    }),
  );
}

/** Whether `trainable` of all layers reads true. */
let allTrainable = false;

/** Runs an action while no layer is frozen. */
export function withoutFreezing<T>(action: () => T): T {
  const before = allTrainable;
  allTrainable = true;
  try {
    return action();
  } finally {
    allTrainable = before;
  }
}

/** Sets `trainable` of the variables of a layer and of the layers in it. */
function setVariablesTrainable(layer: Layer, trainable: boolean): void {
  const { shared, nested } = layer;
  shared.isTrainable = trainable;
  for (const each of shared.variables) each.trainable = trainable;
  for (const { variable, config } of nested.flatMap(({ weights }) => [...weights.values()])) {
    if (config.trainable) variable.trainable = trainable;
  }
  for (const [, each] of innerLayers(layer)) setVariablesTrainable(each, trainable);
}

/** Numbers of generated names by their stems. */
const named = new Map<string, number>();

function nextName(stem: string): string {
  const number = (named.get(stem) ?? 0) + 1;
  named.set(stem, number);
  return `${stem}${number}`;
}

function shapesOf(tensors: readonly SymbolicTensor[]): SymbolicShape | SymbolicShape[] {
  const shapes = tensors.map(({ shape }) => [...shape]);
  return shapes.length === 1 ? shapes[0]! : shapes;
}

/** The part of `getConfig` that every layer has. */
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
