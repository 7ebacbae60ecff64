/** Handles of the core: models, graphs and the executables compiled from them, freed when they are done with. */
import { encodeJson } from '../base/json.js';
import {
  type BodyId,
  type BufferPlace,
  byteLength,
  type CompileRequest,
  type ContractionPlace,
  type Dump,
  type GraphRequest,
  type Handle,
  type ModelConfig,
  type ModelSummary,
  type ModuleMetadata,
  type Pointer,
  type Schedule,
  type ValueId,
  type ValueType,
} from './abi.js';
import { type Core, currentCore, isLiveCore } from './core.js';
import { type OperationName, operations } from './names.js';
import { type ModuleParts, partsAt } from './parts.js';
import { appendValue, declaration, type GraphValue, readValues, typeWords } from './words.js';

type FreeFunction = 'lathe_model_free' | 'lathe_graph_free' | 'lathe_executable_free';

interface Held {
  core: Core;
  handle: Handle;
  free: FreeFunction;
}

const forgotten = /* @__PURE__ */ new FinalizationRegistry<Held>(release);

/** The memory of a core cannot shrink, so one that has grown beyond this is dropped when it is idle. */
const idleBytes = 256 * 2 ** 20;

function release({ core, handle, free }: Held): void {
  if (core.dead) return;
  core.call('free', (exports) => exports[free](handle));
  const isLarge = core.exports.memory.buffer.byteLength > idleBytes;
  if (isLarge && isLiveCore(core) && core.exports.lathe_live_objects() === 0) core.dead = true;
}

/** A handle that `free`, or at the latest the garbage collector, gives back. */
class Owned {
  readonly core: Core;
  readonly handle: Handle;
  readonly #held: Held | undefined;

  /** Without `free` the handle is somebody else's. */
  constructor(core: Core, handle: Handle, free?: FreeFunction) {
    this.core = core;
    this.handle = handle;
    if (free === undefined) return;
    this.#held = { core, handle, free };
    forgotten.register(this, this.#held, this);
  }

  /** Whether the core that knows the handle still runs. */
  get alive(): boolean {
    return !this.core.dead;
  }

  /** Once, whatever comes after. */
  free(): void {
    if (this.#held !== undefined && forgotten.unregister(this)) release(this.#held);
  }

  protected pointer(
    what: string,
    name: 'metadata' | 'dumps' | 'contractions' | 'bytes' | 'parts',
  ): Pointer {
    return this.core.call(what, (exports) => exports[`lathe_executable_${name}`](this.handle));
  }
}

/** A model the core has checked: layers and shapes, without weights. */
export class CoreModel extends Owned {
  readonly summary: ModelSummary;

  /** Errors: whatever the core finds wrong with the layers. */
  constructor(config: ModelConfig) {
    const core = currentCore();
    const json = encodeJson(config);
    const create = (at: Pointer, length: number) => core.exports.lathe_model_create(at, length);
    super(core, core.withText('model', json, create), 'lathe_model_free');
    const text = core.call('model', (exports) => exports.lathe_model_summary(this.handle));
    this.summary = JSON.parse(core.text(text)) as ModelSummary;
  }

  /** The model as one WebAssembly module. Errors: whatever the core finds wrong with the request. */
  compile(request: CompileRequest): CoreExecutable {
    return new CoreExecutable(this.core, this.#ask('compile', request));
  }

  /** Errors: those of `compile` that are about the layers and how they learn. */
  check(request: CompileRequest): void {
    this.#ask('check', request);
  }

  #ask(what: 'compile' | 'check', request: CompileRequest): Handle {
    return this.core.withText('compile', encodeJson(request), (at, length) =>
      this.core.exports[`lathe_model_${what}`](this.handle, at, length),
    );
  }
}

/** A program under construction. Errors of every method: whatever the core finds wrong with it. */
export class CoreGraph extends Owned {
  /** A new one; or one that the core lends. */
  constructor(known?: { core: Core; handle: Handle; isOwned?: boolean }) {
    const { core, handle, isOwned } = known ?? { core: currentCore(), isOwned: true };
    const create = () => core.exports.lathe_graph_create();
    super(core, handle ?? core.call('graph', create), isOwned ? 'lathe_graph_free' : undefined);
  }

  beginEntry(name: string): void {
    this.core.withText('entry', name, (at, length) =>
      this.core.exports.lathe_graph_entry(this.handle, at, length),
    );
  }

  input(name: string, type: ValueType): GraphValue {
    return this.#ask('input', declaration(name, type), 1)[0]!;
  }

  state(name: string, type: ValueType): GraphValue {
    return this.#ask('state', declaration(name, type), 1)[0]!;
  }

  /** `data` holds every element, or one that fills the shape. */
  constant(type: ValueType, data: Uint8Array): GraphValue {
    const { core, handle } = this;
    const place = core.copy('constant', data);
    const at = core.withWords('constant', typeWords(type), (words, count) =>
      core.exports.lathe_graph_constant(handle, words, count, place, data.length),
    );
    return this.#answer(at, 1)[0]!;
  }

  /** `values` are its arguments behind the tensors, dtypes by their codes; undefined for the default. */
  operation(op: OperationName, operands: readonly ValueId[], values: unknown[]): GraphValue {
    const words = [operations[op].code, operands.length, ...operands];
    for (const value of values) appendValue(words, value);
    return this.#ask('operation', words, 1)[0]!;
  }

  /** The gradients of a scalar, one value for each of `wrt`. */
  gradients(loss: ValueId, wrt: readonly ValueId[]): GraphValue[] {
    return this.#ask('gradients', [0, loss, ...wrt], wrt.length);
  }

  /** The same of targets of any shape, each multiplied by a seed of its type, their sum. */
  pullBack(
    targets: readonly ValueId[],
    seeds: readonly ValueId[],
    wrt: readonly ValueId[],
  ): GraphValue[] {
    const words = [targets.length, ...targets, ...seeds, ...wrt];
    return this.#ask('gradients', words, wrt.length);
  }

  /** Until `endBody` all that is added is part of the body of a branch or loop. */
  beginBody(): void {
    this.core.call('body', (exports) => exports.lathe_graph_begin_body(this.handle));
  }

  endBody(): BodyId {
    return this.core.call('body', (exports) => exports.lathe_graph_end_body(this.handle));
  }

  /** What one of the bodies gives, each of so many values. */
  cond(predicate: ValueId, then: BodyId, otherwise: BodyId, count: number): GraphValue[] {
    return this.#ask('cond', [predicate, then, otherwise], count);
  }

  whileLoop(
    condition: BodyId,
    body: BodyId,
    most: number,
    initial: readonly ValueId[],
  ): GraphValue[] {
    return this.#ask('while', [condition, body, most, ...initial], initial.length);
  }

  /** What these values are. */
  values(ids: readonly ValueId[]): GraphValue[] {
    return this.#ask('values', ids, ids.length);
  }

  /** The outputs of another graph, `count` of them, with these values as its inputs. */
  inline(other: CoreGraph, given: readonly ValueId[], count: number): GraphValue[] {
    return this.#ask('inline', [other.handle, ...given], count);
  }

  output(name: string, value: ValueId): void {
    this.core.withText('output', name, (at, length) =>
      this.core.exports.lathe_graph_output(this.handle, at, length, value),
    );
  }

  update(state: ValueId, value: ValueId): void {
    this.core.call('assign', (exports) => exports.lathe_graph_update(this.handle, state, value));
  }

  /** The part of the entry between two of the values it is cut behind; it gives `wanted` too. */
  segment(index: number, cuts: readonly ValueId[], wanted: readonly ValueId[]): CoreGraph {
    const words = [index, cuts.length, ...cuts, ...wanted];
    const { core } = this;
    const handle = core.withWords('segment', words, (place, length) =>
      core.exports.lathe_graph_segment(this.handle, place, length),
    );
    return new CoreGraph({ core, handle, isOwned: true });
  }

  /** `isLast`: nothing is done with the graph afterwards, so its constants need not stay. */
  compile(request: GraphRequest, isLast = false): CoreExecutable {
    const { lathe_graph_compile: compile, lathe_graph_take_compiled: take } = this.core.exports;
    const handle = this.core.withText('compile', encodeJson(request), (at, length) =>
      (isLast ? take : compile)(this.handle, at, length),
    );
    return new CoreExecutable(this.core, handle);
  }

  #ask(
    what: 'input' | 'state' | 'operation' | 'gradients' | 'cond' | 'while' | 'values' | 'inline',
    words: readonly number[],
    count: number,
  ): GraphValue[] {
    const at = this.core.withWords(what, words, (place, length) =>
      this.core.exports[`lathe_graph_${what}`](this.handle, place, length),
    );
    return this.#answer(at, count);
  }

  #answer(at: Pointer, count: number): GraphValue[] {
    return readValues(this.core.words(), at, count);
  }
}

/** A generated module inside the core. */
export class CoreExecutable extends Owned {
  /** `module`: what an engine has made of it. */
  constructor(
    core: Core,
    handle: Handle,
    private readonly module?: WebAssembly.Module,
  ) {
    super(core, handle, 'lathe_executable_free');
  }

  metadata(): ModuleMetadata {
    return JSON.parse(this.core.text(this.pointer('metadata', 'metadata'))) as ModuleMetadata;
  }

  dumps(): Dump[] {
    return JSON.parse(this.core.text(this.pointer('dumps', 'dumps'))) as Dump[];
  }

  /** Its contractions, each key once, and schedules worth trying for them. */
  contractions(): ContractionPlace[] {
    const text = this.core.text(this.pointer('contractions', 'contractions'));
    return JSON.parse(text) as ContractionPlace[];
  }

  /** One of its contractions alone, with the entry `run`. */
  kernel(key: string, schedule: Schedule): CoreExecutable {
    const handle = this.core.withText('kernel', encodeJson({ key, schedule }), (at, length) =>
      this.core.exports.lathe_executable_kernel(this.handle, at, length),
    );
    return new CoreExecutable(this.core, handle);
  }

  /** The module in parts, which may move with the core's next call. */
  parts(): ModuleParts {
    const at = this.pointer('module', 'parts');
    const parts = partsAt(this.core.exports.memory.buffer as ArrayBuffer, at);
    return { ...parts, module: this.module };
  }

  /** A copy of the whole module's bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    const size = this.core.run('module', (exports) => exports.lathe_executable_size(this.handle));
    return this.core.bytes(this.pointer('module', 'bytes'), size);
  }

  /** The first content of these of its states, drawn now: views that may move with the core's next call. */
  initial(metadata: ModuleMetadata, places: readonly BufferPlace[]): Uint8Array[] {
    const length = places.reduce((total, place) => total + byteLength(place), 0);
    const numbers = Int32Array.from(places, (place) => metadata.states.indexOf(place));
    const draw = (states: Pointer) =>
      this.core.exports.lathe_executable_initial(this.handle, states, numbers.length);
    let at =
      length === 0 ? 0 : this.core.withBytes('weights', new Uint8Array(numbers.buffer), draw);
    return places.map((place) => {
      at += byteLength(place);
      return this.core.view(at - byteLength(place), byteLength(place));
    });
  }

  /** A stand-alone executable that predicts with the given states, one after the other. */
  withStates(states: Uint8Array): CoreExecutable {
    const handle = this.core.withBytes('export', states, (at) =>
      this.core.exports.lathe_executable_export(this.handle, at),
    );
    return new CoreExecutable(this.core, handle);
  }
}
