/**
 * Models whose inputs have axes of any size, null in the config: the core sees one model of fixed shapes for each sizes
 * of these axes. A model without such axes is the case of no sizes.
 */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, LayerSummary, ModelConfig, ModelSummary, OpenShape } from './abi.js';
import { CoreModel } from './handles.js';

/** Inputs and outputs for certain sizes; shapes of one example. */
export interface FixedPorts {
  inputs: { name: string; shape: number[] }[];
  outputs: { name: string; shape: number[] }[];
}

/** Sizes tried for all null axes at once, until so many fit: far from each other, so that strides show. */
const witnesses = [32, 64, 1024, 256, 16, 8, 128, 512, 4, 2, 1, 10, 100, 3, 5, 7];
const compared = 3;
/** Ports that are remembered. */
const mostPorts = 256;

/** A model that the core has checked, for all sizes that it has met. */
export class OpenModel {
  /** With null where a size depends on null axes of the inputs. */
  readonly summary: ModelSummary;
  /** Sizes that fit the model, for as long as no data have told others. */
  readonly witness: readonly number[] = [];
  readonly #config: ModelConfig;
  readonly #shapes: readonly OpenShape[];
  readonly #ports = new Map<string, FixedPorts>();
  #model: CoreModel;
  #sizes: readonly number[] = [];

  /**
   * Which sizes depend on the null axes is found by comparing models of different sizes, so an axis
   * that only changes between others counts as fixed. Errors: whatever the core finds wrong with the
   * layers; a weight whose shape depends on a null axis.
   */
  constructor(config: ModelConfig) {
    this.#config = config;
    this.#shapes = inputShapes(config);
    if (!this.isOpen) {
      this.#model = createFixed(config, this.#shapes as number[][]);
      this.summary = this.#model.summary;
      return;
    }
    const [first, ...others] = this.#witnesses();
    for (const { summary } of others) checkWeights(first!.summary, summary);
    this.summary = others.reduce((known, { summary }) => compare(known, summary), first!.summary);
    this.witness = this.#sizes = first!.sizes;
    this.#model = this.#create(this.witness);
  }

  /** Whether some axis of an input is null. */
  get isOpen(): boolean {
    return this.#shapes.some((shape) => shape.includes(null));
  }

  /** The model for these sizes of the null axes, until it is asked for others. Errors: as the constructor. */
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
      if (this.#ports.size === mostPorts) this.#ports.clear();
      this.#ports.set(key, found);
    }
    return found;
  }

  free(): void {
    this.#model.free();
  }

  /** Sizes that the model takes, first ones that are all the same; then one after the other differs from the first. */
  #witnesses(): { sizes: readonly number[]; summary: ModelSummary }[] {
    const { length } = this.#shapes.flat().filter((size) => size === null);
    const found: { sizes: readonly number[]; summary: ModelSummary }[] = [];
    let refusal: unknown;
    const add = (sizes: readonly number[]) => {
      try {
        const model = this.#create(sizes);
        model.free();
        found.push({ sizes, summary: model.summary });
      } catch (error) {
        refusal ??= error;
      }
    };
    for (const size of witnesses) {
      if (found.length < compared) add(Array<number>(length).fill(size));
    }
    const [first, second] = found;
    if (first === undefined || second === undefined) throw refusal;
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
      if (model !== undefined || !this.isOpen || !(error instanceof LatheError)) throw error;
      const where = `${spelled(shapes)} for ${spelled(this.#shapes)}`;
      throw new LatheError(`${error.message} (with ${where})`, { cause: error });
    }
  }
}

/** Error: weights of another shape. */
function checkWeights(wanted: ModelSummary, found: ModelSummary): void {
  const shapes = new Map(found.weights.map(({ name, shape }) => [name, shape.join()]));
  for (const { name, shape } of wanted.weights) {
    const other = shapes.get(name);
    if (other === shape.join()) continue;
    const end = name.lastIndexOf('/');
    throw new LatheError(
      `${name.slice(0, end)}: the shape of ${name.slice(end + 1)} depends on an axis that is null: ` +
        `[${shape.join(',')}] for some sizes, [${other ?? 'none'}] for others; give the axis of the ` +
        'input a size, or take it away before, as globalAveragePooling2d does',
    );
  }
}

const spelled = (shapes: readonly OpenShape[]) =>
  shapes.map((shape) => `[${shape.map((size) => size ?? 'null').join(',')}]`).join(' and ');

/** The sizes that two shapes agree on. */
const agreed = (a: OpenShape, b: OpenShape): OpenShape =>
  a.map((size, axis) => (size === b[axis] ? size : null));

/** What is true of two models of the same layers. */
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

/** The model of a layer that is one. */
const modelOf = ({ class: name, config }: LayerConfig) =>
  name === 'Model' || name === 'Sequential' ? (config as ModelConfig) : undefined;

/** Of one example, in the order of the inputs; those of a row of layers are what its first layer says. */
function inputShapes({ inputs, layers: [first] }: ModelConfig): OpenShape[] {
  if (inputs !== undefined) return inputs.map(({ shape }) => [...shape]);
  if (first === undefined) return [];
  const inner = modelOf(first);
  if (inner !== undefined) return inputShapes(inner);
  const { inputShape } = first.config as { inputShape?: OpenShape };
  return Array.isArray(inputShape) ? [inputShape] : [];
}

/** The model in the core for inputs of these shapes. */
function createFixed(config: ModelConfig, shapes: readonly number[][]): CoreModel {
  return new CoreModel(fixed(config, shapes));
}

/**
 * The config with these shapes for its inputs, and with those that come to them for the null axes of
 * nested models: what lies before such a model is asked for its shapes.
 */
function fixed(config: ModelConfig, shapes: readonly number[][]): ModelConfig {
  const { inputs } = config;
  const own = inputs?.map((each, at) => ({ ...each, shape: shapes[at]! }));
  const layers: LayerConfig[] = [];
  const result = { ...config, ...(own && { inputs: own }), layers };
  for (const layer of config.layers) {
    const inner = modelOf(layer);
    const isFirst = inputs === undefined && layers.length === 0;
    if (inner !== undefined) {
      const wanted = inputShapes(inner);
      const isOpen = wanted.some((shape) => shape.includes(null));
      const given = isFirst
        ? shapes
        : isOpen
          ? shapesBefore(result, layer)
          : (wanted as number[][]);
      layers.push({ ...layer, config: fixed(inner, given) });
    } else if (isFirst && shapes[0] !== undefined) {
      layers.push({ ...layer, config: { ...layer.config, inputShape: shapes[0] } });
    } else layers.push(withoutOpenShape(layer));
  }
  return result;
}

/** The shapes that the first call of a layer reads, of a model that holds the layers before it. */
function shapesBefore(model: ModelConfig, { inputs }: ModelConfig['layers'][number]): number[][] {
  const outputs = inputs?.[0];
  const before = new CoreModel({ ...model, ...(outputs && { outputs }) });
  before.free();
  return before.summary.outputs.map(({ shape }) => shape as number[]);
}

/** An input shape that says no size fixes nothing where there is a layer before. */
function withoutOpenShape(layer: LayerConfig): LayerConfig {
  const { inputShape, ...config } = layer.config as { inputShape?: OpenShape };
  return Array.isArray(inputShape) && inputShape.includes(null) ? { ...layer, config } : layer;
}
