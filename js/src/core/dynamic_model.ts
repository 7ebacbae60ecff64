/**
 * Models with dynamic axes, null in the config: the core compiles one model of static shapes for each combination of
 * their sizes. A model without such axes has the empty combination.
 */
import { LatheError } from '../base/errors.js';
import type { DynamicShape, LayerConfig, LayerSummary, ModelConfig, ModelSummary } from './abi.js';
import { CoreModel } from './handles.js';

/** Inputs and outputs of static shapes, of one example. */
export interface FixedPorts {
  inputs: { name: string; shape: number[] }[];
  outputs: { name: string; shape: number[] }[];
}

/**
 * Sizes tried for all dynamic axes at once, until `compared` fit: of different magnitudes, so that the effects of
 * strides differ.
 */
const witnesses = [32, 64, 1024, 256, 16, 8, 128, 512, 4, 2, 1, 10, 100, 3, 5, 7];
const compared = 3;
/** Capacity of the cache of ports. */
const maxPorts = 256;

/** A checked model, for any sizes of its dynamic axes. */
export class DynamicModel {
  /** With null where a size depends on dynamic axes. */
  readonly summary: ModelSummary;
  /** Sizes that fit the model, used until data determine others. */
  readonly witness: readonly number[] = [];
  readonly #config: ModelConfig;
  readonly #shapes: readonly DynamicShape[];
  readonly #ports = new Map<string, FixedPorts>();
  #model: CoreModel;
  #sizes: readonly number[] = [];

  /**
   * Which sizes depend on the dynamic axes is found by comparing models of different sizes, so an axis
   * that only changes between the tried sizes counts as static. Errors: those of the core about the
   * layers; a weight whose shape depends on a dynamic axis.
   */
  constructor(config: ModelConfig) {
    this.#config = config;
    this.#shapes = inputShapes(config);
    if (!this.isDynamic) {
      this.#model = createFixed(config, this.#shapes as number[][]);
      this.summary = this.#model.summary;
      return;
    }
    const [first, ...others] = this.#witnesses();
    for (const { summary } of others) checkWeights(first!.summary, summary);
    this.summary = others.reduce((common, { summary }) => compare(common, summary), first!.summary);
    this.witness = this.#sizes = first!.sizes;
    this.#model = this.#create(this.witness);
  }

  /** Whether an input has a dynamic axis. */
  get isDynamic(): boolean {
    return this.#shapes.some((shape) => shape.includes(null));
  }

  /** The model for these sizes, valid until the next call with others. Errors: as the constructor. */
  at(sizes: readonly number[]): CoreModel {
    if (!this.#model.alive || sizes.join() !== this.#sizes.join()) {
      const model = this.#create(sizes, this.summary);
      this.#model.free();
      this.#model = model;
      this.#sizes = sizes;
    }
    return this.#model;
  }

  /** Inputs and outputs for these sizes. Errors: as `at`. */
  ports(sizes: readonly number[]): FixedPorts {
    const key = sizes.join();
    let found = this.#ports.get(key);
    if (found === undefined) {
      const { inputs, outputs } = this.at(sizes).summary as ModelSummary & FixedPorts;
      found = { inputs, outputs };
      if (this.#ports.size === maxPorts) this.#ports.clear();
      this.#ports.set(key, found);
    }
    return found;
  }

  free(): void {
    this.#model.free();
  }

  /** Sizes that the model accepts: equal ones first, then with each axis changed in turn. */
  #witnesses(): { sizes: readonly number[]; summary: ModelSummary }[] {
    const { length } = this.#shapes.flat().filter((size) => size === null);
    const found: { sizes: readonly number[]; summary: ModelSummary }[] = [];
    let firstError: unknown;
    const add = (sizes: readonly number[]) => {
      try {
        const model = this.#create(sizes);
        model.free();
        found.push({ sizes, summary: model.summary });
      } catch (error) {
        firstError ??= error;
      }
    };
    for (const size of witnesses) {
      if (found.length < compared) add(Array<number>(length).fill(size));
    }
    const [first, second] = found;
    if (first === undefined || second === undefined) throw firstError;
    for (let axis = 0; length > 1 && axis < length; ++axis) {
      add(first.sizes.map((size, at) => (at === axis ? second.sizes[at]! : size)));
    }
    return found;
  }

  /** Error: other weights than those of `like`. */
  #create(sizes: readonly number[], like?: ModelSummary): CoreModel {
    const left = [...sizes];
    const shapes = this.#shapes.map((shape) => shape.map((size) => size ?? left.shift()!));
    let model: CoreModel | undefined;
    try {
      model = createFixed(this.#config, shapes);
      if (like !== undefined) checkWeights(like, model.summary);
      return model;
    } catch (error) {
      model?.free();
      if (model !== undefined || !this.isDynamic || !(error instanceof LatheError)) throw error;
      const where = `${formatShapes(shapes)} for ${formatShapes(this.#shapes)}`;
      throw new LatheError(`${error.message} (with ${where})`, { cause: error });
    }
  }
}

/** Error: weights of another shape. */
function checkWeights(expected: ModelSummary, found: ModelSummary): void {
  const shapes = new Map(found.weights.map(({ name, shape }) => [name, shape.join()]));
  for (const { name, shape } of expected.weights) {
    const other = shapes.get(name);
    if (other === shape.join()) continue;
    const end = name.lastIndexOf('/');
    throw new LatheError(
      `${name.slice(0, end)}: the shape of ${name.slice(end + 1)} depends on an axis that is null: ` +
        `[${shape.join(',')}] for some sizes, [${other ?? 'none'}] for others; set the size of the axis of the ` +
        'input, or remove the axis before, as globalAveragePooling2d does',
    );
  }
}

const formatShapes = (shapes: readonly DynamicShape[]) =>
  shapes.map((shape) => `[${shape.map((size) => size ?? 'null').join(',')}]`).join(' and ');

/** The sizes that two shapes agree on. */
const agreed = (a: DynamicShape, b: DynamicShape): DynamicShape =>
  a.map((size, axis) => (size === b[axis] ? size : null));

/** The common part of two models of the same layers. */
function compare(a: ModelSummary, b: ModelSummary): ModelSummary {
  const ports = (mine: ModelSummary['inputs'], others: ModelSummary['inputs']) =>
    mine.map((port, at) => ({ ...port, shape: agreed(port.shape, others[at]!.shape) }));
  return {
    ...a,
    inputs: ports(a.inputs, b.inputs),
    outputs: ports(a.outputs, b.outputs),
    inputShape: agreed(a.inputShape, b.inputShape),
    outputShape: agreed(a.outputShape, b.outputShape),
    layers: compareLayers(a.layers, b.layers),
  };
}

function compareLayers(a: readonly LayerSummary[], b: readonly LayerSummary[]): LayerSummary[] {
  return a.map((layer, at) => {
    const other = b[at]!;
    return {
      ...layer,
      outputShape: agreed(layer.outputShape, other.outputShape),
      outputShapes: layer.outputShapes.map((shape, i) => agreed(shape, other.outputShapes[i]!)),
      ...(layer.layers && { layers: compareLayers(layer.layers, other.layers!) }),
    };
  });
}

/** The config of a nested model. */
const modelOf = ({ class: name, config }: LayerConfig) =>
  name === 'Model' || name === 'Sequential' ? (config as ModelConfig) : undefined;

/** Shapes of one example, in the order of the inputs; those of sequential layers are in the first layer. */
function inputShapes({ inputs, layers: [first] }: ModelConfig): DynamicShape[] {
  if (inputs !== undefined) return inputs.map(({ shape }) => [...shape]);
  if (first === undefined) return [];
  const inner = modelOf(first);
  if (inner !== undefined) return inputShapes(inner);
  const { inputShape } = first.config as { inputShape?: DynamicShape };
  return Array.isArray(inputShape) ? [inputShape] : [];
}

/** The model in the core for inputs of these shapes. */
function createFixed(config: ModelConfig, shapes: readonly number[][]): CoreModel {
  return new CoreModel(fixed(config, shapes));
}

/**
 * The config with these input shapes, and with the resulting shapes for the dynamic axes of nested models, which a
 * model of the layers before reports.
 */
function fixed(config: ModelConfig, shapes: readonly number[][]): ModelConfig {
  const { inputs } = config;
  const fixedInputs = inputs?.map((each, at) => ({ ...each, shape: shapes[at]! }));
  const layers: LayerConfig[] = [];
  const result = { ...config, ...(fixedInputs && { inputs: fixedInputs }), layers };
  for (const layer of config.layers) {
    const inner = modelOf(layer);
    const isFirst = inputs === undefined && layers.length === 0;
    if (inner !== undefined) {
      const declared = inputShapes(inner);
      const hasDynamicAxis = declared.some((shape) => shape.includes(null));
      const innerShapes = isFirst
        ? shapes
        : hasDynamicAxis
          ? shapesBefore(result, layer)
          : (declared as number[][]);
      layers.push({ ...layer, config: fixed(inner, innerShapes) });
    } else if (isFirst && shapes[0] !== undefined) {
      layers.push({ ...layer, config: { ...layer.config, inputShape: shapes[0] } });
    } else layers.push(withoutOpenShape(layer));
  }
  return result;
}

/** The input shapes of the first call of a layer, from a model of the layers before it. */
function shapesBefore(model: ModelConfig, { inputs }: ModelConfig['layers'][number]): number[][] {
  const outputs = inputs?.[0];
  const before = new CoreModel({ ...model, ...(outputs && { outputs }) });
  before.free();
  return before.summary.outputs.map(({ shape }) => shape as number[]);
}

/** The layer without a dynamic input shape, which is redundant after another layer. */
function withoutOpenShape(layer: LayerConfig): LayerConfig {
  const { inputShape, ...config } = layer.config as { inputShape?: DynamicShape };
  return Array.isArray(inputShape) && inputShape.includes(null) ? { ...layer, config } : layer;
}
