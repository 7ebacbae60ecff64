/** `GraphModel`: graphs of TensorFlow, as its converter wrote them for the web. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import { isObject, type ModelArtifacts } from '../io/artifacts.js';
import { clone } from '../ops/index.js';
import { dispose, keep, tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import type { Value } from './call.js';
import { Executor, isTensor, type Values } from './execute.js';
import {
  dtypeNamed,
  type ModelGraph,
  readGraph,
  shapeOf,
  type Source,
  sourceOf,
} from './topology.js';

/** An input or output of a model. */
export interface TensorInfo {
  name: string;
  /** -1 for sizes that are not known. */
  shape?: number[] | undefined;
  dtype: string;
}

/** Tensors by the names of inputs or outputs. */
export type NamedTensorMap = Record<string, Tensor>;
/** What a model is called with, and gives. */
export type ModelTensors = Tensor | Tensor[] | NamedTensorMap;

/** What model.json says of a graph beside its nodes. */
export interface GraphArtifacts extends ModelArtifacts {
  signature?: Signature;
  modelInitializer?: object;
  initializerSignature?: Signature;
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

export class GraphModel {
  readonly #graph: ModelGraph;
  readonly #weights: Map<string, Tensor>;
  readonly #executor: Executor;
  readonly #inputs: readonly Port[];
  readonly #outputs: readonly Port[];
  readonly #artifacts: GraphArtifacts;
  readonly #resources = new Map<string, Value>();
  #intermediate: NamedTensorMap = {};

  /** Made by `loadGraphModel`. Errors: no graph; operators that are not known, all of them. */
  constructor(artifacts: GraphArtifacts, weights: ReadonlyMap<string, Tensor>) {
    this.#artifacts = artifacts;
    this.#graph = readGraph(artifacts.modelTopology);
    this.#weights = new Map(weights);
    for (const each of this.#weights.values()) keep(each);
    this.#executor = new Executor(this.#graph, this.#weights);
    const unknown = this.#executor.unknown();
    if (unknown.length > 0) {
      throw new LatheError(
        `graph model: operators that are not known: ${unknown.join(', ')}; registerOp adds them`,
      );
    }
    const { signature } = artifacts;
    const user = (artifacts.userDefinedMetadata as { signature?: Signature } | undefined)
      ?.signature;
    const { inputs, outputs } = signature ?? user ?? {};
    this.#inputs = inputs === undefined ? this.#placeholders() : this.#entriesOf(inputs);
    this.#outputs = outputs === undefined ? this.#ends() : this.#entriesOf(outputs);
    this.#initialize();
  }

  /** Of the inputs, in order. */
  get inputs(): TensorInfo[] {
    return this.#inputs.filter(({ resourceId }) => resourceId === undefined).map(infoOf);
  }
  get outputs(): TensorInfo[] {
    return this.#outputs.map(infoOf);
  }
  get inputNodes(): string[] {
    return this.#inputs.map(({ key }) => key);
  }
  get outputNodes(): string[] {
    return this.#outputs.map(({ key }) => key);
  }
  /** By the names of their nodes. */
  get weights(): Record<string, Tensor[]> {
    return Object.fromEntries([...this.#weights].map(([name, each]) => [name, [each]]));
  }
  get metadata(): object {
    return this.#artifacts.userDefinedMetadata ?? {};
  }
  get modelSignature(): object {
    return this.#artifacts.signature ?? {};
  }
  get modelVersion(): string {
    const { versions } = this.#artifacts.modelTopology as {
      versions?: { producer?: number; minConsumer?: number };
    };
    return `${versions?.producer ?? 'n/a'}.${versions?.minConsumer ?? 'n/a'}`;
  }
  get modelStructuredOutputKeys(): object {
    const metadata = this.#artifacts.userDefinedMetadata as
      { structuredOutputKeys?: object } | undefined;
    return metadata?.structuredOutputKeys ?? {};
  }

  /**
   * All outputs for these inputs: one tensor or an array, by names where the model says how its results are called.
   *
   * Errors: an input is missing, unknown, or of another shape or dtype than the model says.
   */
  predict(inputs: ModelTensors, _config?: object): ModelTensors {
    return this.#structured(this.execute(inputs, this.outputNodes));
  }

  /** `predict`, for graphs with loops too. */
  async predictAsync(inputs: ModelTensors, _config?: object): Promise<ModelTensors> {
    return this.#structured(await this.executeAsync(inputs, this.outputNodes));
  }

  /**
   * The values of nodes for these inputs, loops and branches included.
   *
   * @param outputs names of outputs or nodes, "name:1" for another than the first value; left out, all outputs
   */
  execute(inputs: ModelTensors, outputs?: string | string[]): Tensor | Tensor[] {
    this.disposeIntermediateTensors();
    const names = outputs === undefined ? this.outputNodes : [outputs].flat();
    const given = this.#given(inputs);
    const sources = names.map((name) => this.#sourceOf(name));
    const found = tidy(() => {
      const seen: Values = new Map();
      const all = this.#executor.run(this.#graph.main, given, sources, seen);
      return all.map((each, at) => {
        if (isTensor(each)) return clone(each);
        throw new LatheError(`graph model: ${names[at]} is no tensor`);
      });
    });
    return found.length === 1 ? found[0]! : found;
  }

  async executeAsync(
    inputs: ModelTensors,
    outputs?: string | string[],
  ): Promise<Tensor | Tensor[]> {
    const found = this.execute(inputs, outputs);
    await Promise.all([found].flat().map((each) => each.data()));
    return found;
  }

  /** Values of nodes that were kept, which are none: nothing is kept that nobody asks for. */
  getIntermediateTensors(): NamedTensorMap {
    return this.#intermediate;
  }
  disposeIntermediateTensors(): void {
    dispose(this.#intermediate);
    this.#intermediate = {};
  }

  /** Lets the weights go; using the model afterwards is an error. */
  dispose(): void {
    dispose([...this.#weights.values()]);
    dispose([...this.#resources.values()]);
    this.#resources.clear();
  }

  #placeholders(): Port[] {
    const nodes = [...this.#graph.main.nodes.values()];
    return nodes
      .filter(({ op }) => op === 'Placeholder')
      .map(({ name, attributes }) => ({
        key: name,
        name,
        source: { node: name, index: 0 },
        shape: attributes.shape as number[] | undefined,
        dtype: String(attributes.dtype ?? 'float32'),
      }));
  }

  /** What a signature names, as far as there are such nodes. */
  #entriesOf(entries: Record<string, SignatureEntry>): Port[] {
    const ports = Object.entries(entries).map(([key, entry]): Port => {
      const { name = key, dtype, tensorShape, resourceId } = entry;
      const port = {
        key,
        name,
        source: sourceOf(name),
        shape: shapeOf(tensorShape),
        dtype: dtypeNamed(dtype) ?? 'float32',
      };
      return resourceId === undefined ? port : { ...port, resourceId };
    });
    return ports.filter(({ source }) => this.#graph.main.nodes.has(source.node));
  }

  /** The nodes that nobody reads. */
  #ends(): Port[] {
    const nodes = [...this.#graph.main.nodes.values()];
    const read = new Set(nodes.flatMap(({ inputs }) => inputs.map(({ node }) => node)));
    return nodes
      .filter(({ name, op }) => !read.has(name) && op !== 'Placeholder' && op !== 'Const')
      .map(({ name }) => ({ key: name, name, source: { node: name, index: 0 }, dtype: 'float32' }));
  }

  #sourceOf(name: string): Source {
    return this.#outputs.find(({ key }) => key === name)?.source ?? sourceOf(name);
  }

  #given(inputs: ModelTensors): Values {
    const ports = this.#inputs.filter(({ resourceId }) => resourceId === undefined);
    const named: NamedTensorMap = {};
    if (inputs instanceof Tensor || Array.isArray(inputs)) {
      const list = [inputs].flat();
      if (list.length !== ports.length) {
        throw new LatheError(
          `Input tensor count mismatch, the graph model has ${ports.length} placeholders, while there are ${list.length} input tensors provided.`,
        );
      }
      list.forEach((each, at) => (named[ports[at]!.key] = each));
    } else {
      Object.assign(named, inputs);
    }
    const given: Values = new Map();
    for (const [name, value] of Object.entries(named)) {
      const port =
        ports.find(({ key }) => key === name) ?? ports.find((each) => each.name === name);
      const node = port?.source.node ?? sourceOf(name).node;
      if (port === undefined && !this.#graph.main.nodes.has(node)) {
        throw new LatheError(
          `The dict provided in model.execute(dict) has keys: [${name}] that are not part of graph`,
        );
      }
      if (port !== undefined) check(port, name, value);
      given.set(node, [value]);
    }
    for (const { source, resourceId } of this.#inputs) {
      if (resourceId === undefined) continue;
      given.set(source.node, [this.#resources.get(String(resourceId))]);
    }
    return given;
  }

  /** Tables that a graph of its own fills when the model is loaded. */
  #initialize(): void {
    const { modelInitializer, initializerSignature } = this.#artifacts;
    if (!isObject(modelInitializer) || !('node' in modelInitializer)) return;
    const graph = readGraph(modelInitializer);
    const executor = new Executor(graph, this.#weights);
    const seen: Values = new Map();
    const all = [...graph.main.nodes.values()].filter(({ op }) => op !== 'Const');
    executor.run(
      graph.main,
      new Map(),
      all.map(({ name }) => ({ node: name, index: 0 })),
      seen,
    );
    for (const { name = '', resourceId } of Object.values(initializerSignature?.outputs ?? {})) {
      this.#resources.set(String(resourceId), seen.get(sourceOf(name).node)?.[0]);
    }
  }

  #structured(found: Tensor | Tensor[]): ModelTensors {
    const keys = own(this.metadata as Record<string, unknown>, 'structuredOutputKeys') as
      string[] | undefined;
    if (!Array.isArray(keys)) return found;
    const list = [found].flat();
    return Object.fromEntries(keys.map((key, at) => [key, list[at]!]));
  }
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
  if (dtype === value.dtype) return;
  throw new LatheError(
    `The dtype of dict['${name}'] provided in model.execute(dict) must be ${dtype}, but was ${value.dtype}`,
  );
}
