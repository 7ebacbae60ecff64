/** Runs an ONNX model on Wasm: compiles it for the input types of each call, and for input contents that control flow depends on. */
import { LatheError } from '../base/errors.js';
import { attempt, currentStop, Stop, within } from '../base/stop.js';
import { CompilationCache, weightCacheLimits } from '../runtime/compilation_cache.js';
import type { DataArray } from '../tensor/convert.js';
import { coreDTypes, type DType } from '../tensor/dtypes.js';
import type { Device, ProgramPort } from '../runtime/device.js';
import { wasmDevice } from '../runtime/wasm/device.js';
import type { Tensor } from '../tensor/tensor.js';
import type { CoreGraph } from '../core/handles.js';
import { type InternalOptions, ModuleFunction } from '../trace/module_function.js';
import { SegmentedFunction } from '../trace/segmented_function.js';
import type { ValueContent, OnnxDescription, OnnxFile, Port } from './file.js';
import type { Decoding } from '../decode/decoding.js';
import type { MakeStateMemory } from '../decode/state_memory.js';
import type { decodingOf } from './decodable.js';
import type { Placement } from './options.js';
import { hasPadding, type PaddedCall, PaddedAxes, padInputs } from './padded_axes.js';
import { type Program, RequiredContents } from './program.js';
import { SharedWeights } from './shared_weights.js';
import { copyElements, type OnnxValue, portOf, tensorsOf, valueOf, valuesOf } from './values.js';

/** Variables of a graph without states. */
const nothing = { variables: new Map(), assigned: new Set<string>() };

/** Upper bound on rounds in which a trace requests the content of inputs. */
const maxRounds = 64;

/** The concatenated bytes of tensor contents. */
class Contents {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  add(data: DataArray): [offset: number, size: number] {
    this.#parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const range: [number, number] = [this.#size, data.byteLength];
    this.#size += data.byteLength;
    return range;
  }

  concatenated(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** The name of an input for each tensor in it. */
function namesIn(port: Port, name: string): string[] {
  if (port === null || (port.kind === 'tensor' && port.type === 'string')) return [];
  return port.kind === 'tensor' ? [name] : port.elements.flatMap((each) => namesIn(each, name));
}

/** A separate function, so that the closure retains nothing else. */
const tracerOf = (graph: CoreGraph) => () => ({ graph, ...nothing });

function unsegmented(fn: ModuleFunction, results: readonly Port[]): Program {
  return {
    bytes: fn.bytes,
    async run(inputs, count) {
      const outputs = await fn.runAsync(inputs);
      return results.map((each) => valueOf(each, outputs, count));
    },
    dispose: () => fn.dispose(),
  };
}

/** A program with calls in progress. */
interface ActiveProgram {
  key: string;
  program: Program;
  calls: number;
  isCached: boolean;
}

/** Where segments run, and what compiles them there. */
export interface Segments {
  device: Device;
  compile?: (graph: CoreGraph) => ReturnType<Device['compile']>;
}

const tooManyRounds = () =>
  new LatheError('the model requests the content of its inputs too many times');

/** An action under the limits of the current call, after it. */
function withStop<T>(action: () => T): () => T {
  const stop = currentStop();
  return () => within(stop, action);
}

export class OnnxSession {
  /** Options of the next compilation. */
  #options: InternalOptions;
  readonly #cached = new CompilationCache<Program>(weightCacheLimits);
  /** Indices of inputs whose content the trace requires, by input types. */
  readonly #requiredContents = new Map<string, Set<number>>();
  protected readonly decoding: Decoding | undefined;
  protected shared: SharedWeights;
  readonly #paddedAxes: PaddedAxes;
  /** The shapes of the first call; '' once others were used. */
  #onlyShapes: string | undefined;
  /** Programs with calls in progress, by key: overlapping calls share one. */
  readonly #active = new Map<string, ActiveProgram>();
  /** The program used last, regardless of its size. */
  #last: { key: string; program: Program } | undefined;
  #isDisposed = false;

  /** `threads`: maximum number of threads of a call. `makeDecoding`: of a model that may be a decoder. */
  constructor(
    protected readonly onnxFile: OnnxFile,
    protected readonly threads?: number,
    makeDecoding?: typeof decodingOf,
  ) {
    const file = onnxFile;
    this.#options = { isLean: file.isLarge, threads };
    this.shared = new SharedWeights(file, threads);
    this.#paddedAxes = new PaddedAxes(file.description);
    const onDevice = () => this.statesOnDevice;
    this.decoding = makeDecoding?.(file, this.#options, onDevice, ({ encoderMask }) => {
      // Of a decoder only the encoder length is padded here: it has states for the other one.
      const { inputs } = file.description;
      const encoder = encoderMask === undefined ? undefined : inputs[encoderMask]!;
      this.#paddedAxes.restrictTo(encoder?.shape?.[1] ?? null);
    });
  }

  /** The file, to inline it into other graphs. Error: after `dispose`. */
  get file(): OnnxFile {
    this.#check();
    return this.onnxFile;
  }

  get description(): OnnxDescription {
    return this.onnxFile.description;
  }

  /** Where it runs. */
  get placement(): Placement {
    return { device: 'wasm' };
  }

  /** Makes the states of a decoder on its device; undefined on Wasm. */
  protected get statesOnDevice(): MakeStateMemory | undefined {
    return undefined;
  }

  /** Runs the model on values of its inputs, in order; resolves with its outputs. Errors: those of tracing and execution. */
  async call(values: readonly OnnxValue[], stop = new Stop('run')): Promise<OnnxValue[]> {
    this.#check();
    try {
      const results = await this.callCached(values, stop);
      stop.check();
      return results;
    } catch (error) {
      // Errors of graphs have indices of tensors.
      const { inputs } = this.description;
      const names = values.flatMap((each, at) => namesIn(portOf(each), inputs[at]!.name));
      if (error instanceof LatheError) {
        error.message = error.message.replace(
          /^input i(\d+)(?=: index)/,
          (match, at) => `input ${names[Number(at)] ?? match}`,
        );
      }
      throw error;
    }
  }

  protected async callCached(values: readonly OnnxValue[], stop: Stop): Promise<OnnxValue[]> {
    if (this.decoding === undefined) return this.callExactly(values, stop, false);
    const results = await this.decoding.call(values, stop, (inputs, isOnce) =>
      this.callExactly(inputs as OnnxValue[], stop, isOnce),
    );
    if (this.decoding.isDecoder) this.onnxFile.releaseMemory();
    return results;
  }

  /** `isOnce`: the program is not cached. Errors before the program runs are thrown. */
  protected callExactly(
    values: readonly OnnxValue[],
    stop: Stop,
    isOnce: boolean,
  ): Promise<OnnxValue[]> {
    this.#check();
    const tensors = values.flatMap((each) => [...tensorsOf(each)]);
    let results: Promise<OnnxValue[]> | undefined;
    const end = () => {
      // Segmented programs move them to the heap.
      for (const each of tensors) each.dispose();
    };
    try {
      results = stop.within(() => this.#callOn(values.map(portOf), tensors, isOnce));
      return results.finally(end);
    } finally {
      if (results === undefined) end();
    }
  }

  /** Starts a call: the program has read its inputs when this returns. */
  #callOn(
    ports: readonly Port[],
    tensors: readonly Tensor[],
    isOnce: boolean,
  ): Promise<OnnxValue[]> {
    const padded = this.#paddedAxes.paddedCall(ports);
    if (padded !== undefined) {
      const results = this.start(padded.ports, tensors, isOnce, padded);
      if (results !== undefined) {
        this.#paddedAxes.accept(padded);
        return results;
      }
      this.#paddedAxes.reject(padded);
    }
    const results = this.start(ports, tensors, isOnce);
    if (results !== undefined) return results;
    throw tooManyRounds();
  }

  /**
   * Starts the program for a call, compiled with the input contents that its trace requires. Undefined: padding is not supported,
   * or the trace requires contents that it has.
   */
  protected start(
    ports: readonly Port[],
    tensors: readonly Tensor[],
    isOnce: boolean,
    padded?: PaddedCall,
  ): Promise<OnnxValue[]> | undefined {
    for (let round = 0; round < maxRounds; round++) {
      const { key, withContents, data } = this.#addContents(ports, tensors);
      const work = this.#acquire(key, () => this.#compile(withContents, data, tensors), isOnce);
      if (work === undefined) return undefined;
      if (!(work instanceof RequiredContents)) {
        // Contents that segments turn out to require when they run are those at the call.
        if (work.program.isSegmented) for (const each of tensors) copyElements(each);
        const known = new Set(this.#requiredContents.get(JSON.stringify(ports)));
        const again = withStop(() => this.start(ports, tensors, isOnce, padded));
        return this.#run(work, tensors, padded).then((outcome) => {
          if (!(outcome instanceof RequiredContents)) return outcome;
          // An overlapping call may have requested the same meanwhile.
          this.#request(ports, outcome);
          const results = outcome.inputs.every((each) => known.has(each)) ? undefined : again();
          if (results === undefined) throw tooManyRounds();
          return results;
        });
      }
      if (!this.#request(ports, work)) return undefined;
    }
    return undefined;
  }

  /** Records contents that traces for these types require. Returns whether there are others than before. */
  #request(ports: readonly Port[], { inputs }: RequiredContents): boolean {
    const base = JSON.stringify(ports);
    const all = this.#requiredContents.get(base) ?? new Set();
    if (inputs.every((each) => all.has(each))) return false;
    for (const each of inputs) all.add(each);
    this.#requiredContents.set(base, all);
    return true;
  }

  #acquire(
    key: string,
    compile: () => Program | RequiredContents | undefined,
    isOnce: boolean,
  ): ActiveProgram | RequiredContents | undefined {
    const found = this.#active.has(key) ? undefined : this.#removeCached(key);
    const program = found ?? this.#active.get(key)?.program ?? compile();
    if (program === undefined || program instanceof RequiredContents) return program;
    const work = this.#active.get(key) ?? { key, program, calls: 0, isCached: false };
    this.#active.set(key, work);
    work.calls++;
    work.isCached ||= found !== undefined || !isOnce;
    return work;
  }

  /** Runs a program; segments may turn out to require the content of inputs. */
  #run(
    work: ActiveProgram,
    tensors: readonly Tensor[],
    padded: PaddedCall | undefined,
  ): Promise<OnnxValue[] | RequiredContents> {
    const inputs =
      padded === undefined
        ? Object.fromEntries(tensors.map((each, at) => [`i${at}`, each]))
        : padInputs(padded, tensors);
    const end = () => {
      if (padded !== undefined) for (const each of Object.values(inputs)) each.dispose();
      this.#release(work);
    };
    let running: Promise<OnnxValue[] | RequiredContents> | undefined;
    try {
      running = work.program.run(inputs, padded?.count);
      const outcome = running.then((outcome) => {
        // The next call has these contents.
        if (outcome instanceof RequiredContents) work.isCached = false;
        return outcome;
      });
      return outcome.finally(end);
    } finally {
      if (running === undefined) end();
    }
  }

  #release(work: ActiveProgram): void {
    if (--work.calls > 0) return;
    this.#active.delete(work.key);
    if (this.#isDisposed || !work.isCached) work.program.dispose();
    else this.#addCached(work);
  }

  /** Distinguishes programs of different devices. */
  protected get keyOfDevice(): string {
    return '';
  }

  /** The elements of an input. */
  protected read(tensor: Tensor): DataArray {
    return tensor.dataSync<DType>();
  }

  #removeCached(key: string): Program | undefined {
    if (this.#last?.key !== key) return this.#cached.remove(key);
    const { program } = this.#last;
    this.#last = undefined;
    return program;
  }

  #addCached({ key, program }: ActiveProgram): void {
    if (this.#last !== undefined) this.#cached.insert(this.#last.key, this.#last.program);
    this.#last = { key, program };
  }

  /** Frees the model and its programs, after calls in progress. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.freePrograms();
    this.decoding?.dispose();
    this.shared.dispose();
    this.onnxFile.free();
  }

  protected freePrograms(): void {
    this.#cached.free();
    this.#last?.program.dispose();
    this.#last = undefined;
  }

  #check(): void {
    if (this.#isDisposed) throw new LatheError('this model has been disposed');
  }

  /** The ports with the contents that the trace requires, and the cache key of both. */
  #addContents(ports: readonly Port[], tensors: readonly Tensor[]) {
    const required = this.#requiredContents.get(JSON.stringify(ports));
    const contents = new Contents();
    let number = 0;
    // Calls without limits run programs that check none.
    let key = (currentStop() === undefined ? '' : 'stoppable ') + this.keyOfDevice;
    const addContent = (port: Port): Port => {
      if (port === null) return null;
      if (port.kind !== 'tensor') return { ...port, elements: port.elements.map(addContent) };
      if (port.type === 'string') return port;
      const at = number++;
      if (!required?.has(at)) return port;
      const elements = this.read(tensors[at]!);
      key += `${at}=${elements.join()};`;
      return { ...port, data: contents.add(elements) };
    };
    const withContents = ports.map(addContent);
    return { key: JSON.stringify(ports) + key, withContents, data: contents };
  }

  /** Undefined: the ports are padded, and the model does not support it. */
  #compile(
    ports: readonly Port[],
    contents: Contents,
    tensors: readonly Tensor[],
  ): Program | RequiredContents | undefined {
    this.#check();
    const data = contents.concatenated();
    if (!hasPadding(ports)) return this.#compileExactly(ports, data, tensors);
    const compiled = attempt(() => this.#compileExactly(ports, data, undefined));
    return compiled instanceof LatheError ? undefined : compiled;
  }

  /** Without `tensors`, whose contents determine segments, undefined if control flow depends on data. */
  #compileExactly(
    ports: readonly Port[],
    data: Uint8Array,
    tensors: readonly Tensor[] | undefined,
  ): Program | RequiredContents | undefined {
    const shapes = JSON.stringify(ports);
    this.#onlyShapes ??= shapes;
    if (shapes !== this.#onlyShapes) {
      this.#onlyShapes = '';
      const shared = this.shared.program(ports, data);
      if (shared !== undefined) return shared;
    }
    const trace = this.onnxFile.trace(ports, [], data, {}, true);
    const { results, graph, splitPoints, requiredContents } = trace;
    if (requiredContents.length > 0) {
      graph.free();
      return new RequiredContents(requiredContents);
    }
    if (splitPoints.length === 0) {
      this.onnxFile.releaseMemory();
      return this.compileGraph(graph, results);
    }
    graph.free();
    return tensors && this.compileSegments(ports, data, tensors);
  }

  /** The program of a complete trace; owns the graph. */
  protected compileGraph(graph: CoreGraph, results: readonly Port[]): Program {
    const options = this.#options;
    // The core retains a copy of the weights for tuning: of one program only.
    this.#options = { ...options, isLean: true };
    return unsegmented(new ModuleFunction(tracerOf(graph), {}, undefined, options), results);
  }

  /** A segmented program, as control flow depends on data. */
  protected compileSegments(
    ports: readonly Port[],
    data: Uint8Array,
    tensors: readonly Tensor[],
    { device, compile }: Segments = { device: wasmDevice },
  ): Program {
    const inputPorts = tensors.map(({ shape, dtype }, at): ProgramPort => {
      return { name: `i${at}`, shape, dtype: coreDTypes[dtype] };
    });
    let required: RequiredContents | undefined;
    const trace = (values: readonly Tensor[]) => {
      const segmentContents = new Contents();
      const contents = values.map((each): ValueContent => {
        const [offset, size] = segmentContents.add(each.dataSync<DType>());
        return { type: each.dtype, shape: each.shape, data: [data.length + offset, size] };
      });
      const all = new Uint8Array([...data, ...segmentContents.concatenated()]);
      const trace = this.onnxFile.trace(ports, contents, all);
      const { results, graph, splitPoints, requiredContents } = trace;
      if (requiredContents.length === 0)
        return { graph, splitPoints, variables: nothing.variables, ports: results };
      graph.free();
      required = new RequiredContents(requiredContents);
      return undefined;
    };
    const options = compile === undefined ? {} : { compile };
    const parts = new SegmentedFunction(device, inputPorts, trace, options);
    return {
      bytes: 0,
      isSegmented: true,
      async run(inputs) {
        const finished = await parts.runWithPorts(inputs);
        if (finished === undefined) return required!;
        const { ports, results } = finished;
        return valuesOf(ports as Port[], results);
      },
      dispose: () => parts.dispose(),
    };
  }
}
