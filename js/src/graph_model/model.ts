/** `GraphModel`: TensorFlow graphs in the web format of its converter. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import type { OptionNames } from '../base/options.js';
import { entryOf, setEntry } from '../base/records.js';
import { Stop, type StopOptions } from '../base/stop.js';
import { type FileSource, isSource, nameOf } from '../base/source.js';
import { loadFormats } from '../core/formats.js';
import {
  checkLoadOptions,
  type IOHandler,
  isObject,
  type LoadOptions,
  type ModelArtifacts,
  weightBytes,
  type WeightSpec,
} from '../io/artifacts.js';
import { openHandler } from '../io/handlers.js';
import { artifactsOf } from '../io/load_artifacts.js';
import { engine } from '../eager/engine.js';
import { clone } from '../ops/index.js';
import { dispose, tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import type { Value } from './call.js';
import type { Values } from './call.js';
import { Executor, isTensor } from './execute.js';
import { runAtOnce, runAwaiting, type Steps, tidySteps } from './steps.js';
import {
  dtypeNamed,
  type GraphNode,
  type ModelGraph,
  readGraph,
  shapeOf,
  type Source,
  sourceOf,
} from './topology.js';
import { weightTensors } from './weights.js';

/** An input or output of a model. */
export interface TensorInfo {
  name: string;
  /** -1 for dynamic sizes. */
  shape?: number[] | undefined;
  /** Undefined if the graph accepts any. */
  dtype: string | undefined;
}

/** Tensors by the names of inputs or outputs. */
export type NamedTensorMap = Record<string, Tensor>;
/** Inputs and outputs of a model. */
export type ModelTensors = Tensor | Tensor[] | NamedTensorMap;

/** The contents of model.json other than the nodes of the graph. */
export interface GraphArtifacts extends ModelArtifacts {
  signature?: Signature;
  modelInitializer?: object;
  initializerSignature?: Signature;
  /** An alternative to `weightData`. */
  getWeightStream?: () => ReadableStream<ArrayBuffer>;
}
interface Signature {
  inputs?: Record<string, SignatureEntry>;
  outputs?: Record<string, SignatureEntry>;
}
interface SignatureEntry {
  name?: string;
  dtype?: unknown;
  tensorShape?: unknown;
  resourceId?: unknown;
}

interface Port extends TensorInfo {
  /** The name in the signature. */
  readonly key: string;
  readonly source: Source;
  readonly resourceId?: unknown;
}

/** Options of `loadGraphModel`. */
export interface LoadGraphOptions extends LoadOptions {
  /** Whether the address is one of TensorFlow Hub: "/model.json?tfjs-format=file" is appended. */
  fromTFHub?: boolean;
}

/** Options of `loadGraphModel` in addition to those of all loaders. */
const more: OptionNames<Omit<LoadGraphOptions, keyof LoadOptions>> = {
  fromTFHub: true,
};

/** The parts of a loaded model. */
interface Loaded {
  readonly graph: ModelGraph;
  readonly weights: Map<string, Tensor>;
  readonly executor: Executor;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
}

/** A handler that loads a model synchronously or asynchronously. */
export interface GraphSource {
  load?(): GraphArtifacts | Promise<GraphArtifacts>;
  save?: IOHandler['save'];
}

/** Finds handlers of addresses: `tf.io`, or a replacement. */
export interface HandlerFinder {
  browserHTTPRequest(url: string, options?: LoadOptions): GraphSource;
  getLoadHandlers(url: string, options?: LoadOptions): GraphSource[];
  getSaveHandlers(url: string): GraphSource[];
}

/** Reads streamed weights into `weightData`. */
async function withStreamed(artifacts: GraphArtifacts): Promise<GraphArtifacts> {
  if (artifacts?.getWeightStream === undefined) return artifacts;
  const reader = artifacts.getWeightStream().getReader();
  const weightData: ArrayBuffer[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    weightData.push(next.value);
  }
  return { ...artifacts, weightData };
}

/** A graph of TensorFlow; created and loaded by `loadGraphModel`. */
export class GraphModel {
  /** The handler of `load`, set by `findIOHandler`. */
  handler: GraphSource | undefined;
  /** The artifacts it was loaded from. */
  artifacts: GraphArtifacts | undefined;
  readonly #options: LoadOptions;
  readonly #resources = new Map<string, Value>();
  readonly #tables = new Map<string, readonly Value[]>();
  #loaded: Loaded | undefined;
  #intermediate: NamedTensorMap = {};
  #hasAdvised = false;
  #isInitialized = false;

  /**
   * Creates a model without contents; `load` or `loadSync` fills it.
   *
   * @param modelUrl an address, or a handler
   * @param tfio finds the handlers of an address; default: this package
   *
   * Error: an unknown option.
   */
  constructor(
    readonly modelUrl: FileSource | GraphSource,
    loadOptions?: LoadGraphOptions,
    private readonly tfio?: HandlerFinder,
  ) {
    checkLoadOptions('loadGraphModel', loadOptions ?? {}, more);
    const { fromTFHub: _, ...rest } = loadOptions ?? {};
    this.#options = rest;
  }

  /** Sets `handler`. */
  findIOHandler(): void {
    const { modelUrl, tfio } = this;
    if (tfio && !isGraphSource(modelUrl)) {
      const url = String(modelUrl);
      const found = this.#options.requestInit ? [] : tfio.getLoadHandlers(url, this.#options);
      this.handler = only(found, url, 'load') ?? tfio.browserHTTPRequest(url, this.#options);
      return;
    }
    this.handler = isGraphSource(modelUrl)
      ? modelUrl
      : { load: () => artifactsOf(modelUrl, this.#options, 'loadGraphModel') };
  }

  /**
   * Loads it; synchronously if the handler does. Errors: the source cannot load; those of `loadSync`.
   */
  load(): boolean | Promise<boolean> {
    this.findIOHandler();
    const handler = this.handler!;
    if (typeof handler.load !== 'function') {
      throw new LatheError('loadGraphModel: nothing can be loaded from there');
    }
    const found = handler.load();
    if (!isLater(found)) return this.loadSync(found);
    if (nodeProcess === undefined) void startCompiler().catch(() => {});
    return found.then(async (artifacts) => {
      if (isGraphSource(this.modelUrl)) this.#options.onProgress?.(1);
      await loadFormats();
      return this.loadSync(await withStreamed(artifacts));
    });
  }

  /**
   * Accepts the artifacts of a handler. Errors: not artifacts; a layers model; `tl.ready()` was not awaited.
   */
  loadSync(artifacts: GraphArtifacts): boolean {
    const where = nameOf(this.modelUrl, 'the model');
    try {
      return this.#parse(artifacts, where);
    } catch (error) {
      if (error instanceof LatheError) throw error;
      throw new LatheError(`${where}: it is damaged: a part has another type than graphs have`, {
        cause: error,
      });
    }
  }

  #parse(artifacts: GraphArtifacts, where: string): boolean {
    if (!isObject(artifacts)) {
      throw new LatheError(`${where}: load must return model artifacts, got ${String(artifacts)}`);
    }
    const topology: object = (artifacts as GraphArtifacts).modelTopology ?? {};
    if (artifacts.format === 'layers-model' || 'model_config' in topology) {
      throw new LatheError(`${where}: it is a layers model; loadLayersModel loads it`);
    }
    const graph = readGraph(artifacts.modelTopology);
    const weights = weightTensors(
      (artifacts.weightSpecs ?? []) as WeightSpec[],
      weightBytes(artifacts, where),
      where,
    );
    const executor = new Executor(graph, weights, this.#tables);
    this.artifacts = artifacts;
    const { inputs, outputs } = this.#signature ?? {};
    this.#loaded = {
      graph,
      weights,
      executor,
      inputs: entriesOf(graph, inputs) ?? placeholdersOf(graph),
      outputs: entriesOf(graph, outputs) ?? endsOf(graph),
    };
    this.#isInitialized = false;
    return true;
  }

  /** Saves the artifacts it was loaded from. Errors: the target cannot save; the model has not been loaded. */
  async save(target: string | URL | IOHandler): Promise<object> {
    const { tfio } = this;
    const found = typeof target === 'string' && tfio?.getSaveHandlers(target);
    const handler = found
      ? (only(found, String(target), 'save') ?? {})
      : await openHandler(target, {}, 'save', 'save');
    if (handler.save === undefined) throw new LatheError('save: nothing can be saved there');
    this.#parts;
    return handler.save(this.artifacts!);
  }

  /** The executor. Error: not loaded. */
  get executor(): object | undefined {
    return this.#loaded?.executor;
  }

  get #parts(): Loaded {
    if (this.#loaded !== undefined) return this.#loaded;
    throw new LatheError('graph model: it has not been loaded; call load() before');
  }

  get #signature(): Signature | undefined {
    const user = this.artifacts?.userDefinedMetadata as { signature?: Signature } | undefined;
    return this.artifacts?.signature ?? user?.signature;
  }

  /** The names of the inputs, in order. */
  get inputs(): TensorInfo[] {
    return this.#parts.inputs.filter(({ resourceId }) => resourceId === undefined).map(infoOf);
  }
  get outputs(): TensorInfo[] {
    return this.#parts.outputs.map(infoOf);
  }
  get inputNodes(): string[] {
    return this.#parts.inputs.map(({ key }) => key);
  }
  get outputNodes(): string[] {
    return this.#parts.outputs.map(({ key }) => key);
  }
  /** The weights by node name. */
  get weights(): Record<string, Tensor[]> {
    return Object.fromEntries([...this.#parts.weights].map(([name, each]) => [name, [each]]));
  }
  get metadata(): object {
    return this.artifacts?.userDefinedMetadata ?? {};
  }
  get modelSignature(): object | undefined {
    return this.#signature;
  }
  get modelVersion(): string {
    const { versions } = (this.artifacts?.modelTopology ?? {}) as {
      versions?: { producer?: number; minConsumer?: number };
    };
    return `${versions?.producer ?? 'n/a'}.${versions?.minConsumer ?? 'n/a'}`;
  }
  get modelStructuredOutputKeys(): object {
    const metadata = this.artifacts?.userDefinedMetadata as
      { structuredOutputKeys?: object } | undefined;
    return metadata?.structuredOutputKeys ?? {};
  }

  /**
   * All outputs for these inputs: one tensor or an array, by name if the model has structured output keys.
   *
   * Errors: an input is missing, unknown, or of another shape or dtype than declared.
   */
  predict(inputs: ModelTensors, config?: object & StopOptions): ModelTensors {
    return this.#structured(this.execute(inputs, this.outputNodes, config));
  }

  /** `predict` that also supports graphs with loops. */
  async predictAsync(inputs: ModelTensors, config?: object & StopOptions): Promise<ModelTensors> {
    return this.#structured(await this.executeAsync(inputs, this.outputNodes, config));
  }

  /**
   * The values of nodes for these inputs, loops and branches included.
   *
   * @param outputs names of outputs or nodes, "name:1" for another output than the first; default: all outputs
   * @param config `timeLimit`, checked before every node and loop iteration
   */
  execute(
    inputs: ModelTensors,
    outputs?: string | string[],
    config?: StopOptions,
  ): Tensor | Tensor[] {
    const stop = new Stop('execute', config ?? {});
    return stop.within(() => runAtOnce(this.#execute(inputs, outputs))[0]);
  }

  /** `mayAwait`: whether nodes within loops may be requested; they return their last value. */
  *#execute(
    inputs: ModelTensors,
    outputs?: string | string[],
    mayAwait = false,
  ): Steps<[Tensor | Tensor[], Values]> {
    this.disposeIntermediateTensors();
    const { executor, graph } = this.#parts;
    if (!this.#isInitialized) this.#initialize(this.#parts);
    const names = outputs === undefined ? this.outputNodes : [outputs].flat();
    const feeds = this.#feeds(inputs);
    const sources = names.map((name) => this.#sourceOf(name));
    const seen: Values = new Map();
    const found = yield* tidySteps(
      (function* (): Steps<Tensor[]> {
        const all = yield* executor.run(graph.main, feeds, sources, seen, mayAwait);
        return all.map((each, at) => {
          if (isTensor(each)) return clone(each);
          throw new LatheError(`graph model: ${names[at]} is no tensor`);
        });
      })(),
    );
    return [found.length === 1 ? found[0]! : found, seen];
  }

  /** `execute`, once its values are computed. Warns once if TensorFlow.js would not need the asynchronous call. */
  async executeAsync(
    inputs: ModelTensors,
    outputs?: string | string[],
    config?: StopOptions,
  ): Promise<Tensor | Tensor[]> {
    const stop = new Stop('executeAsync', config ?? {});
    const steps = this.#execute(inputs, outputs, true);
    const [found, seen] =
      engine.device.view === undefined
        ? await runAwaiting(steps, (part) => stop.within(part))
        : stop.within(() => runAtOnce(steps));
    if (!this.#hasAdvised && !this.#parts.executor.isDynamic(seen)) {
      this.#hasAdvised = true;
      console.warn(
        'This model execution did not contain any nodes with control flow or dynamic output shapes. ' +
          'You can use model.execute() instead.',
      );
    }
    await Promise.all([found].flat().map((each) => each.data()));
    stop.check();
    return found;
  }

  /** Always empty: intermediate tensors are not retained. */
  getIntermediateTensors(): NamedTensorMap {
    return this.#intermediate;
  }
  disposeIntermediateTensors(): void {
    dispose(this.#intermediate);
    this.#intermediate = {};
  }

  /** Disposes of the weights; using the model afterwards is an error. */
  dispose(): void {
    dispose([...(this.#loaded?.weights.values() ?? [])]);
    dispose([...this.#resources.values()]);
    this.#resources.clear();
    this.#tables.clear();
  }

  #sourceOf(name: string): Source {
    return this.#parts.outputs.find(({ key }) => key === name)?.source ?? sourceOf(name);
  }

  #feeds(inputs: ModelTensors): Values {
    const { graph, inputs: declared } = this.#parts;
    const ports = declared.filter(({ resourceId }) => resourceId === undefined);
    const named: NamedTensorMap = {};
    if (inputs instanceof Tensor || Array.isArray(inputs)) {
      const list = [inputs].flat();
      if (list.length !== ports.length) {
        throw new LatheError(
          `Input tensor count mismatch, the graph model has ${ports.length} placeholders, while there are ${list.length} input tensors provided.`,
        );
      }
      list.forEach((each, at) => setEntry(named, ports[at]!.key, each));
    } else {
      for (const [name, value] of Object.entries(inputs)) setEntry(named, name, value);
    }
    const feeds: Values = new Map();
    for (const [name, value] of Object.entries(named)) {
      const { node, index } = ports.find(({ key }) => key === name)?.source ?? sourceOf(name);
      const port = ports.find((each) => each.name === node);
      if (port === undefined && !graph.main.nodes.has(node)) {
        throw new LatheError(
          `The dict provided in model.execute(dict) has keys: [${name}] that are not part of graph`,
        );
      }
      if (port !== undefined) check(port, name, value);
      const values = [...(feeds.get(node) ?? [])];
      values[index] = value;
      feeds.set(node, values);
    }
    for (const { source, resourceId } of declared) {
      if (resourceId === undefined) continue;
      feeds.set(source.node, [this.#resources.get(String(resourceId))]);
    }
    return feeds;
  }

  /** Runs the initializer graph, which fills tables, before the first run; its operators, too, may be registered after loading. */
  #initialize({ weights }: Loaded): void {
    const { modelInitializer, initializerSignature } = this.artifacts!;
    if (!isObject(modelInitializer) || !('node' in modelInitializer)) return;
    const graph = readGraph(modelInitializer);
    const executor = new Executor(graph, weights, this.#tables);
    const seen: Values = new Map();
    const all = [...graph.main.nodes.values()].filter(({ op }) => op !== 'Const');
    const ends = all.map(({ name }) => ({ node: name, index: 0 }));
    tidy(() => void runAtOnce(executor.run(graph.main, new Map(), ends, seen)));
    for (const { name = '', resourceId } of Object.values(initializerSignature?.outputs ?? {})) {
      this.#resources.set(String(resourceId), seen.get(sourceOf(name).node)?.[0]);
    }
    this.#isInitialized = true;
  }

  #structured(found: Tensor | Tensor[]): ModelTensors {
    const keys = entryOf(this.metadata as Record<string, unknown>, 'structuredOutputKeys') as
      string[] | undefined;
    if (!Array.isArray(keys)) return found;
    const list = [found].flat();
    return Object.fromEntries(keys.map((key, at) => [key, list[at]!]));
  }
}

/** Starts the compiler while the weights arrive. A failure to start is reported by the first compilation. */
async function startCompiler(): Promise<void> {
  const { startWorkerEarly } = await import('../runtime/background.js');
  startWorkerEarly();
}

/** The handler of an address, if any. Error: several. */
function only(found: GraphSource[], url: string, use: string): GraphSource | undefined {
  if (found.length < 2) return found[0];
  throw new LatheError(`Found more than one (${found.length}) ${use} handlers for URL '${url}'`);
}

const isLater = (
  found: GraphArtifacts | Promise<GraphArtifacts>,
): found is Promise<GraphArtifacts> =>
  typeof (found as Promise<GraphArtifacts> | undefined)?.then === 'function';

const isGraphSource = (target: unknown): target is GraphSource =>
  isObject(target) && !isSource(target);

const isPlaceholder = ({ op }: GraphNode): boolean => op.startsWith('Placeholder');

function placeholdersOf(graph: ModelGraph): Port[] {
  return [...graph.main.nodes.values()].filter(isPlaceholder).map((node) => ({
    key: node.name,
    source: { node: node.name, index: 0 },
    ...ofPlaceholder(node),
  }));
}

/** Shape and dtype of a placeholder, which a signature may narrow. */
const ofPlaceholder = ({ name, attributes }: GraphNode): TensorInfo => ({
  name,
  shape: attributes.shape as number[] | undefined,
  dtype: attributes.dtype as string | undefined,
});

/** The ports of a signature whose nodes exist; undefined for an empty signature. */
function entriesOf(
  graph: ModelGraph,
  entries: Record<string, SignatureEntry> = {},
): Port[] | undefined {
  const all = Object.entries(entries);
  if (all.length === 0) return undefined;
  return all.flatMap(([key, { name = key, dtype, tensorShape, resourceId }]): Port[] => {
    const source = sourceOf(name);
    const node = graph.main.nodes.get(source.node);
    if (node === undefined) return [];
    const info = isPlaceholder(node)
      ? ofPlaceholder(node)
      : { name: node.name, shape: shapeOf(tensorShape), dtype: dtypeNamed(dtype) ?? 'float32' };
    const port = { key, source, ...info };
    return [resourceId === undefined ? port : { ...port, resourceId }];
  });
}

/** The nodes without consumers. */
function endsOf(graph: ModelGraph): Port[] {
  const nodes = [...graph.main.nodes.values()];
  const read = new Set(nodes.flatMap(({ after }) => after));
  return nodes
    .filter(({ name }) => !read.has(name))
    .map(({ name }) => ({ key: name, name, source: { node: name, index: 0 }, dtype: 'float32' }));
}

const infoOf = ({ name, shape, dtype }: Port): TensorInfo => ({ name, shape, dtype });

function check({ shape, dtype }: Port, name: string, value: Tensor): void {
  if (!(value instanceof Tensor)) {
    throw new LatheError(`graph model: input ${name} must be a tensor, got ${String(value)}`);
  }
  const fits =
    shape === undefined ||
    (shape.length === value.rank &&
      shape.every((size, at) => size < 0 || size === value.shape[at]));
  if (!fits) {
    throw new LatheError(
      `The shape of dict['${name}'] provided in model.execute(dict) must be [${shape.join()}], but was [${value.shape.join()}]`,
    );
  }
  if (dtype === undefined || dtype === value.dtype) return;
  throw new LatheError(
    `The dtype of dict['${name}'] provided in model.execute(dict) must be ${dtype}, but was ${value.dtype}`,
  );
}
