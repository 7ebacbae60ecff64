/** Layers as objects: called on symbolic tensors they make the graph that becomes a model. Knows no module. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, OpenShape } from '../core/abi.js';
import { OpenModel } from '../core/open_model.js';
import type { RegularizerConfig, RegularizerName } from '../core/names.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import {
  aliveCopies,
  type LayerWeights,
  type ModelWeight,
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

/** Sizes of the axes; null is the batch, or a size that data decide. */
export type SymbolicShape = (number | null)[];

/** What a layer or an input will give: it has a shape and no elements. */
export class SymbolicTensor {
  readonly dtype = 'float32';

  /** Made by `input` and `layer.apply` only. */
  constructor(
    readonly sourceLayer: Layer,
    /** Which call of the layer gives it, and which output of that. */
    readonly nodeIndex: number,
    readonly tensorIndex: number,
    readonly shape: SymbolicShape,
  ) {}

  get name(): string {
    return this.sourceLayer.name;
  }

  get rank(): number {
    return this.shape.length;
  }
}

/** One call of a layer. */
export interface LayerCall {
  readonly layer: Layer;
  readonly inputs: readonly SymbolicTensor[];
  readonly outputs: readonly SymbolicTensor[];
}

/**
 * A layer: what it computes, where it is called, and its weights once it is part of a model. Layers
 * called several times, or part of several models, have one set of weights.
 */
export class Layer {
  /** Whether training changes the weights; a change counts from the next `compile` on. */
  trainable: boolean;
  /** The calls, in the order they were made. */
  readonly inboundNodes: LayerCall[] = [];
  /** @internal Where its weights are. */
  readonly shared: LayerWeights = { revision: 0, holder: undefined, copies: new Set() };
  /** @internal Rows of every batch, if the layer says so. */
  batchSize: number | undefined;
  /** @internal What the first model that holds the layer gives it. */
  initialWeights: readonly TensorLike[] | undefined;
  readonly #className: string;
  readonly #config: LayerArgs;
  #name: string | undefined;

  /** Made by the functions of `layers`. */
  constructor(className: string, { batchInputShape, weights, ...config }: LayerArgs = {}) {
    this.#className = className;
    this.#config = config;
    this.initialWeights = weights;
    if (batchInputShape !== undefined) {
      this.batchSize = batchInputShape[0] ?? undefined;
      config.inputShape = batchInputShape.slice(1);
    }
    this.#name = config.name;
    this.trainable = config.trainable ?? true;
  }

  /** As given, or as the first model that holds the layer calls it; before, the class. */
  get name(): string {
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

  /** The arguments it was made with, its name and whether it is trainable. */
  getConfig(): Record<string, unknown> {
    return { ...this.#config, name: this.name, trainable: this.trainable };
  }

  /** @internal As the core reads it. */
  describe(name: string, frozen: boolean): LayerConfig {
    const { trainable: _, ...config } = this.#config;
    const freeze = frozen || !this.trainable ? { trainable: false } : {};
    return { class: this.#className, config: { ...config, ...freeze, name } };
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
  toJSON(): LayerConfig {
    return this.describe(this.name, false);
  }

  /** @internal Layers with weights of their own; within a model, those of its layers. */
  get parts(): readonly { name: string; layer: Layer }[] | undefined {
    return undefined;
  }

  /**
   * Calls the layer on symbolic tensors: one, or an array where it takes several. Gives a symbolic
   * tensor, or an array where it has several outputs. Recurrent layers start with `initialState`.
   * Error: the shapes do not fit.
   */
  apply<T extends SymbolicTensor | SymbolicTensor[] = SymbolicTensor>(
    inputs: SymbolicTensor | readonly SymbolicTensor[],
    { initialState = [] }: { initialState?: SymbolicTensor | readonly SymbolicTensor[] } = {},
  ): T {
    const list = [inputs, initialState].flat() as SymbolicTensor[];
    const wrong = list.find((each) => !(each instanceof SymbolicTensor));
    if (list.length === 0 || wrong !== undefined) {
      throw new LatheError(
        `layer "${this.name}" (${this.#className}): apply takes symbolic tensors, as tl.input gives them`,
      );
    }
    const outputs = this.addCall(list, this.#plan(list));
    return (outputs.length === 1 ? outputs[0] : [...outputs]) as T;
  }

  /** @internal Notes a call whose outputs have these shapes. */
  addCall(inputs: readonly SymbolicTensor[], shapes: readonly SymbolicShape[]): SymbolicTensor[] {
    const node = this.inboundNodes.length;
    const outputs = shapes.map((shape, at) => new SymbolicTensor(this, node, at, shape));
    this.inboundNodes.push({ layer: this, inputs, outputs });
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

  /** Number of weights, biases included. Error: it is part of no model. */
  countParams(): number {
    return this.getWeights().reduce((total, { size }) => total + size, 0);
  }

  /** Copies of the weights, those that are trained first; none before it is called. Error: it is part of no model. */
  getWeights(): Tensor[] {
    return this.#isMade ? this.#access('getWeights').read() : [];
  }

  /** The weights one by one; none before it is called. Error: it is part of no model. */
  get weights(): ModelWeight[] {
    return this.#isMade ? this.#access('weights').list() : [];
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

  /** Replaces the weights. Error: another number or shape; it is part of no model. */
  setWeights(weights: readonly TensorLike[]): void {
    this.#access('setWeights').write(weights);
  }

  #access(what: string): WeightAccess {
    const [copy = this.shared.holder] = aliveCopies(this.shared);
    if (copy !== undefined) return copy.access;
    throw new LatheError(`${what}: layer "${this.name}" is part of no model`);
  }

  #firstCall(what: string): LayerCall {
    const [call] = this.inboundNodes;
    if (call !== undefined) return call;
    throw new LatheError(`${what}: layer "${this.name}" has not been called`);
  }

  #onlyCall(what: string): LayerCall {
    const call = this.#firstCall(what);
    if (this.inboundNodes.length === 1) return call;
    const { length } = this.inboundNodes;
    throw new LatheError(
      `${what}: layer "${this.name}" has been called ${length} times; inboundNodes lists the calls`,
    );
  }

  #plan(inputs: readonly SymbolicTensor[]): SymbolicShape[] {
    const { name } = this;
    const refs = inputs.map((_, at) => [`input_${at}_of_${name}`] as const);
    const model = new OpenModel({
      seed: 0,
      inputs: inputs.map(({ shape }, at) => ({
        name: refs[at]![0],
        shape: shape.slice(1),
      })),
      layers: [{ ...this.describe(name, false), inputs: [refs] }],
      outputs: [[name]],
    });
    const { outputShapes } = model.summary.layers[0]!;
    model.free();
    return outputShapes.map((shape) => [...shape]);
  }
}

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
  /** Default: input_1, input_2, … */
  name?: string;
}

/** A place where data enters a model. */
export function input({
  batchShape,
  shape = batchShape?.slice(1) as OpenShape,
  name,
}: InputArgs): SymbolicTensor {
  const isSize = (size: number | null) => size === null || (Number.isInteger(size) && size > 0);
  if (!Array.isArray(shape) || !shape.every(isSize)) {
    throw new LatheError(
      `input: shape must be an array of positive integers or null, got ${String(shape)}`,
    );
  }
  const layer = new Layer(inputClass, {
    ...(name === undefined ? {} : { name }),
    ...(batchShape === undefined ? {} : { batchInputShape: batchShape }),
  });
  return layer.addCall([], [[null, ...shape]])[0]!;
}

/** The class of the layers that `input` makes. */
export const inputClass = 'InputLayer';
