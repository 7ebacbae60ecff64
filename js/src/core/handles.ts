/** Handles of objects in the core: models, graphs and executables, which must be freed. */
import { encodeJson } from '../base/json.js';
import {
  type BodyId,
  type BufferInfo,
  byteLength,
  type CompileRequest,
  type ContractionInfo,
  type CoreExports,
  type Dump,
  type GraphRequest,
  type GraphPort,
  type Handle,
  type LayerGraphRequest,
  type ModelConfig,
  type ModelNotes,
  type ModelSummary,
  type ModuleMetadata,
  type Pointer,
  type Schedule,
  type ValueId,
  type ValueType,
} from './abi.js';
import { type Core, currentCore, isLiveCore } from './core.js';
import { type GraphBytes, graphBytesAt } from './graph_bytes.js';
import { type OperationName, operations } from './names.js';
import { type ModuleParts, partsAt } from './parts.js';
import { appendValue, declarationWords, type GraphValue, readValues, typeWords } from './words.js';

type FreeFunction = 'lathe_model_free' | 'lathe_graph_free' | 'lathe_executable_free';

interface HandleRecord {
  core: Core;
  handle: Handle;
  free: FreeFunction;
}

const finalizers = /* @__PURE__ */ new FinalizationRegistry<HandleRecord>(release);

/** The memory of a core cannot shrink: one beyond this size is dropped when it has no objects. */
const idleBytes = 256 * 2 ** 20;

function release({ core, handle, free }: HandleRecord): void {
  if (core.dead) return;
  core.call('free', (exports) => exports[free](handle));
  const isLarge = core.exports.memory.buffer.byteLength > idleBytes;
  if (isLarge && isLiveCore(core) && core.exports.lathe_live_objects() === 0) core.dead = true;
}

/** A handle that is freed by `free`, or by the garbage collector. */
class CoreHandle {
  readonly core: Core;
  readonly handle: Handle;
  readonly #record: HandleRecord | undefined;

  /** Without `free` the object has another owner. */
  constructor(core: Core, handle: Handle, free?: FreeFunction) {
    this.core = core;
    this.handle = handle;
    if (free === undefined) return;
    this.#record = { core, handle, free };
    finalizers.register(this, this.#record, this);
  }

  /** Whether the core of the handle is running. */
  get alive(): boolean {
    return !this.core.dead;
  }

  /** Idempotent. */
  free(): void {
    if (this.#record !== undefined && finalizers.unregister(this)) release(this.#record);
  }

  protected pointer(
    what: string,
    name: 'metadata' | 'dumps' | 'contractions' | 'bytes' | 'parts',
  ): Pointer {
    return this.core.call(what, (exports) => exports[`lathe_executable_${name}`](this.handle));
  }
}

/** Executables that earlier visits compiled. */
export interface ExecutableStore {
  find(
    source: CoreModel | CoreGraph,
    request: CompileRequest | GraphRequest,
  ): CoreExecutable | undefined;
  add(
    source: CoreModel | CoreGraph,
    request: CompileRequest | GraphRequest,
    executable: CoreExecutable,
  ): void;
}

let executables: ExecutableStore | undefined;

/** Sets the store from which models and functions take executables from now on. */
export function useExecutables(store: ExecutableStore | undefined): void {
  executables = store;
}

/** A model the core has checked: layers and shapes, without weights. */
export class CoreModel extends CoreHandle {
  readonly summary: ModelSummary;
  /** @internal The layers as JSON. */
  readonly json: string;

  /** Errors: whatever the core finds wrong with the layers. */
  constructor(config: ModelConfig) {
    const core = currentCore();
    const json = encodeJson(config);
    const create = (at: Pointer, length: number) => core.exports.lathe_model_create(at, length);
    super(core, core.withString('model', json, create), 'lathe_model_free');
    this.json = json;
    const summary = core.call('model', (exports) => exports.lathe_model_summary(this.handle));
    this.summary = JSON.parse(core.readString(summary)) as ModelSummary;
  }

  /** The model as one WebAssembly module. Errors: whatever the core finds wrong with the request. */
  compile(request: CompileRequest): CoreExecutable {
    const found = this.stored(request);
    if (found !== undefined) return found;
    const executable = new CoreExecutable(this.core, this.request('compile', request));
    this.store(request, executable);
    return executable;
  }

  /** An executable that an earlier visit compiled. */
  stored(request: CompileRequest): CoreExecutable | undefined {
    return executables?.find(this, request);
  }

  /** Stores an executable for later visits. */
  store(request: CompileRequest, executable: CoreExecutable): void {
    executables?.add(this, request, executable);
  }

  /** The program that `compile` compiles, for other targets: a graph with its entries. Errors: as `compile`. */
  graph(request: CompileRequest): ModelNotes & { graph: CoreGraph } {
    const { core } = this;
    const json = core.withString('compile', encodeJson(request), (at, length) =>
      core.exports.lathe_model_graph(this.handle, at, length),
    );
    const { graph: handle, ...notes } = JSON.parse(core.readString(json)) as ModelNotes & {
      graph: Handle;
    };
    return { ...notes, graph: new CoreGraph({ core, handle, mustFree: true }) };
  }

  /** An executable without code, for the initial values of states. Errors: as `compile`. */
  states(request: CompileRequest): CoreExecutable {
    const handle = this.request('compile', { ...request, onlyStates: true });
    return new CoreExecutable(this.core, handle);
  }

  /** Errors: those of `compile` about layers, losses, optimizers and metrics. */
  check(request: CompileRequest): void {
    this.request('check', request);
  }

  /** @internal `onlyStates`: an executable without code, for the initial values of states. */
  request(what: 'compile' | 'check', request: CompileRequest & { onlyStates?: true }): Handle {
    return this.core.withString('compile', encodeJson(request), (at, length) =>
      this.core.exports[`lathe_model_${what}`](this.handle, at, length),
    );
  }
}

/** A graph under construction. Errors of every method: those of the core. */
export class CoreGraph extends CoreHandle {
  /** A new graph, or an existing one; `mustFree`: whether this handle frees it. */
  constructor(existing?: { core: Core; handle: Handle; mustFree?: boolean }) {
    const { core, handle, mustFree } = existing ?? { core: currentCore(), mustFree: true };
    const create = () => core.exports.lathe_graph_create();
    super(core, handle ?? core.call('graph', create), mustFree ? 'lathe_graph_free' : undefined);
  }

  beginEntry(name: string): void {
    this.core.withString('entry', name, (at, length) =>
      this.core.exports.lathe_graph_entry(this.handle, at, length),
    );
  }

  input(name: string, type: ValueType): GraphValue {
    return this.#request('input', declarationWords(name, type), 1)[0]!;
  }

  state(name: string, type: ValueType): GraphValue {
    return this.#request('state', declarationWords(name, type), 1)[0]!;
  }

  /** `data`: every element, or one that fills the shape. */
  constant(type: ValueType, data: Uint8Array): GraphValue {
    const { core, handle } = this;
    const address = core.copy('constant', data);
    const at = core.withWords('constant', typeWords(type), (words, count) =>
      core.exports.lathe_graph_constant(handle, words, count, address, data.length),
    );
    return this.#answer(at, 1)[0]!;
  }

  /** `values`: arguments after the operands, dtypes by their codes; undefined for the default. */
  operation(op: OperationName, operands: readonly ValueId[], values: unknown[]): GraphValue {
    const words = [operations[op].code, operands.length, ...operands];
    for (const value of values) appendValue(words, value);
    return this.#request('operation', words, 1)[0]!;
  }

  /** The gradients of a scalar, one value for each of `wrt`. */
  gradients(loss: ValueId, wrt: readonly ValueId[]): GraphValue[] {
    return this.#request('gradients', [0, loss, ...wrt], wrt.length);
  }

  /** The vector-Jacobian product of targets of any shape and seeds of their types. */
  vjp(
    targets: readonly ValueId[],
    seeds: readonly ValueId[],
    wrt: readonly ValueId[],
  ): GraphValue[] {
    const words = [targets.length, ...targets, ...seeds, ...wrt];
    return this.#request('gradients', words, wrt.length);
  }

  /** Begins the body of a branch or loop, to which nodes are added until `endBody`. */
  beginBody(): void {
    this.core.call('body', (exports) => exports.lathe_graph_begin_body(this.handle));
  }

  endBody(): BodyId {
    return this.core.call('body', (exports) => exports.lathe_graph_end_body(this.handle));
  }

  /** The `count` results of the chosen body. */
  cond(predicate: ValueId, then: BodyId, otherwise: BodyId, count: number): GraphValue[] {
    return this.#request('cond', [predicate, then, otherwise], count);
  }

  whileLoop(
    condition: BodyId,
    body: BodyId,
    maxIterations: number,
    initial: readonly ValueId[],
  ): GraphValue[] {
    return this.#request('while', [condition, body, maxIterations, ...initial], initial.length);
  }

  /** The types of values. */
  values(ids: readonly ValueId[]): GraphValue[] {
    return this.#request('values', ids, ids.length);
  }

  /** The `count` outputs of another graph with these values as its inputs. */
  inline(other: CoreGraph, inputs: readonly ValueId[], count: number): GraphValue[] {
    return this.#request('inline', [other.handle, ...inputs], count);
  }

  output(name: string, value: ValueId): void {
    this.core.withString('output', name, (at, length) =>
      this.core.exports.lathe_graph_output(this.handle, at, length, value),
    );
  }

  update(state: ValueId, value: ValueId): void {
    this.core.call('assign', (exports) => exports.lathe_graph_update(this.handle, state, value));
  }

  /** The segment of the entry between two split points; `outputs`: additional results. */
  segment(index: number, splitPoints: readonly ValueId[], outputs: readonly ValueId[]): CoreGraph {
    const words = [index, splitPoints.length, ...splitPoints, ...outputs];
    const { core } = this;
    const handle = core.withWords('segment', words, (address, length) =>
      core.exports.lathe_graph_segment(this.handle, address, length),
    );
    return new CoreGraph({ core, handle, mustFree: true });
  }

  /** An entry for another module of the compiler, in the memory of the core until its next call. */
  bytes(entry = 0, keepsFloat16 = false): GraphBytes {
    const encode = (exports: CoreExports) =>
      exports.lathe_graph_encode(this.handle, entry, Number(keepsFloat16));
    return graphBytesAt(this.core, this.core.call('graph', encode)).graph;
  }

  /** The first entries, one at a time. `keepsFloat16`: with constants of float16 as they are. */
  *entryBytes(count: number, keepsFloat16: boolean): Generator<GraphBytes> {
    for (let entry = 0; entry < count; entry += 1) yield this.bytes(entry, keepsFloat16);
  }

  /** `isLast`: the graph is not used afterwards, so its constants may be moved. */
  compile(request: GraphRequest, isLast = false): CoreExecutable {
    // Modules for the heap are many and small. What is used once has large constants.
    const store = isLast || request.relocatable ? undefined : executables;
    const found = store?.find(this, request);
    if (found !== undefined) return found;
    const executable = this.compileNow(request, isLast);
    store?.add(this, request, executable);
    return executable;
  }

  /** @internal As `compile`, whatever is stored. */
  compileNow(request: GraphRequest, isLast = false): CoreExecutable {
    const { lathe_graph_compile: compile, lathe_graph_take_compiled: compileLast } =
      this.core.exports;
    const handle = this.core.withString('compile', encodeJson(request), (at, length) =>
      (isLast ? compileLast : compile)(this.handle, at, length),
    );
    return new CoreExecutable(this.core, handle);
  }

  #request(
    what: 'input' | 'state' | 'operation' | 'gradients' | 'cond' | 'while' | 'values' | 'inline',
    words: readonly number[],
    count: number,
  ): GraphValue[] {
    const at = this.core.withWords(what, words, (address, length) =>
      this.core.exports[`lathe_graph_${what}`](this.handle, address, length),
    );
    return this.#answer(at, count);
  }

  #answer(at: Pointer, count: number): GraphValue[] {
    return readValues(this.core.words(), at, count);
  }
}

/** A layer as a graph, with inputs and outputs named as in `src/nn/layer_graph.h`. */
export interface LayerGraph {
  graph: CoreGraph;
  inputs: GraphPort[];
  outputs: GraphPort[];
}

/** Errors: the layer does not accept such inputs. */
export function layerGraph({ layer, shapes, masks, training }: LayerGraphRequest): LayerGraph {
  const core = currentCore();
  const inputs = shapes.flatMap((shape, at) => [Number(masks[at]), shape.length, ...shape]);
  const json = encodeJson({ layer, inputs, training });
  const address = core.withString('apply', json, (at, length) =>
    core.exports.lathe_layer_graph(at, length),
  );
  const { graph, ...ports } = JSON.parse(core.readString(address)) as Omit<LayerGraph, 'graph'> & {
    graph: Handle;
  };
  return { graph: new CoreGraph({ core, handle: graph, mustFree: true }), ...ports };
}

/** A generated module inside the core. */
export class CoreExecutable extends CoreHandle {
  /** `module`: the module that an engine has compiled from it. Handle 0: it is not in the core. */
  constructor(
    core: Core,
    handle: Handle,
    private readonly module?: WebAssembly.Module,
  ) {
    super(core, handle, handle === 0 ? undefined : 'lathe_executable_free');
  }

  metadata(): ModuleMetadata {
    return JSON.parse(this.core.readString(this.pointer('metadata', 'metadata'))) as ModuleMetadata;
  }

  dumps(): Dump[] {
    return JSON.parse(this.core.readString(this.pointer('dumps', 'dumps'))) as Dump[];
  }

  /** Its contractions by distinct key, with candidate schedules. */
  contractions(): ContractionInfo[] {
    const json = this.core.readString(this.pointer('contractions', 'contractions'));
    return JSON.parse(json) as ContractionInfo[];
  }

  /** A module of one contraction, with the entry `run`. */
  kernel(key: string, schedule: Schedule): CoreExecutable {
    const handle = this.core.withString('kernel', encodeJson({ key, schedule }), (at, length) =>
      this.core.exports.lathe_executable_kernel(this.handle, at, length),
    );
    return new CoreExecutable(this.core, handle);
  }

  /** Views of the module's parts, which the core's next call may detach. */
  parts(): ModuleParts {
    const at = this.pointer('module', 'parts');
    const parts = partsAt(this.core.exports.memory.buffer as ArrayBuffer, at);
    return { ...parts, module: this.module };
  }

  /** A copy of the complete module. */
  bytes(): Uint8Array<ArrayBuffer> {
    const size = this.core.run('module', (exports) => exports.lathe_executable_size(this.handle));
    return this.core.bytes(this.pointer('module', 'bytes'), size);
  }

  /** Initial values of states, sampled by this call: views that the core's next call may detach. */
  initial(metadata: ModuleMetadata, states: readonly BufferInfo[]): Uint8Array[] {
    const length = states.reduce((total, state) => total + byteLength(state), 0);
    const indices = Int32Array.from(states, (state) => metadata.states.indexOf(state));
    const sample = (at: Pointer) =>
      this.core.exports.lathe_executable_initial(this.handle, at, indices.length);
    let at =
      length === 0 ? 0 : this.core.withBytes('weights', new Uint8Array(indices.buffer), sample);
    return states.map((state) => {
      at += byteLength(state);
      return this.core.view(at - byteLength(state), byteLength(state));
    });
  }

  /** A self-contained executable that predicts with these concatenated states. */
  withStates(states: Uint8Array): CoreExecutable {
    const handle = this.core.withBytes('export', states, (at) =>
      this.core.exports.lathe_executable_export(this.handle, at),
    );
    return new CoreExecutable(this.core, handle);
  }
}
