/** An ONNX model at work: compiled for the types, and where these decide the contents, of what it is called with. */
import { LatheError } from '../base/errors.js';
import { Stop } from '../base/stop.js';
import type { BufferPlace } from '../core/abi.js';
import { KeptBuilds, roomForWeights } from '../runtime/kept_builds.js';
import { coreDTypes, type DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import type { CoreGraph } from '../core/handles.js';
import { CompiledFunction, type Terms } from '../trace/compiled_function.js';
import { keyOf, SegmentedFunction } from '../trace/segmented_function.js';
import type { KnownContent, OnnxDescription, OnnxFile, Port } from './file.js';
import { Decoder } from './decoder.js';
import { planOf } from './decoder_plan.js';
import { hasRoom, NoRoom, type Roomy, Rooms, withRoom } from './rooms.js';
import { type Program, SharedWeights } from './shared_weights.js';
import { type OnnxValue, portOf, tensorsOf, valueOf } from './values.js';

/** What a graph computes does not change what has no states. */
const nothing = { variables: new Map(), assigned: new Set<string>() };

/** More rounds of asking for the content of inputs than any model needs. */
const mostRounds = 64;

/** Inputs whose content must be known. */
class Asked {
  constructor(readonly numbers: readonly number[]) {}
}

/** The bytes of contents, one behind the other. */
class Contents {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  add(tensor: Tensor): [offset: number, size: number] {
    const data = tensor.dataSync<DType>();
    this.#parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const place: [number, number] = [this.#size, data.byteLength];
    this.#size += data.byteLength;
    return place;
  }

  joined(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** Apart, as what closures of one place see lives as long as any of them. */
const writing = (graph: CoreGraph) => () => ({ graph, ...nothing });

function inOnePart(whole: CompiledFunction, results: readonly Port[]): Program {
  return {
    bytes: whole.bytes,
    async run(inputs, count) {
      const outputs = await whole.runAsync(inputs);
      return results.map((each) => valueOf(each, outputs, count));
    },
    dispose: () => whole.dispose(),
  };
}

/** A program that calls are under way on. */
interface Work {
  key: string;
  program: Program;
  calls: number;
  isKept: boolean;
}

export class OnnxSession {
  readonly #file: OnnxFile;
  /** For what is compiled next. */
  #terms: Terms;
  readonly #kept = new KeptBuilds<Program>(roomForWeights);
  /** Numbers of inputs whose content decides how the model goes on, by the types of all. */
  readonly #asked = new Map<string, Set<number>>();
  readonly #decoder: Decoder | undefined;
  readonly #shared: SharedWeights;
  readonly #rooms: Rooms;
  /** The shapes that it was called with, until there is a second one. */
  #onlyShapes: string | undefined;
  /** Programs that calls are under way on, by their keys: those that overlap take turns on one. */
  readonly #atWork = new Map<string, Work>();
  /** The one that was at work last, however large it is. */
  #last: { key: string; program: Program } | undefined;
  #isDisposed = false;

  /** `threads`: how many a call keeps busy at most. */
  constructor(file: OnnxFile, threads?: number) {
    this.#file = file;
    this.#terms = { isLean: file.isLarge, threads };
    this.#shared = new SharedWeights(file, threads);
    const plan = planOf(file.description);
    if (plan !== undefined) this.#decoder = new Decoder(file, plan, this.#terms);
    // Of a decoder what it has heard has room: it keeps rows itself.
    const { inputs } = file.description;
    const heard =
      plan?.heardMask === undefined ? null : (inputs[plan.heardMask]!.shape?.[1] ?? null);
    this.#rooms = new Rooms(file.description, plan === undefined ? undefined : heard);
  }

  /** The file, for what becomes part of other graphs. Error: after `dispose`. */
  get file(): OnnxFile {
    this.#check();
    return this.#file;
  }

  get description(): OnnxDescription {
    return this.#file.description;
  }

  /** The outputs for values of the inputs, both in the order of the model. Errors: whatever the model finds wrong. */
  async call(values: readonly OnnxValue[], stop = new Stop('run')): Promise<OnnxValue[]> {
    this.#check();
    try {
      const results = await this.#callKeeping(values, stop);
      stop.check();
      return results;
    } catch (error) {
      // Graphs number the tensors.
      const { inputs } = this.description;
      const names = values.flatMap((each, at) => [...tensorsOf(each)].map(() => inputs[at]!.name));
      if (error instanceof LatheError) {
        error.message = error.message.replace(
          /^input i(\d+)(?=: index)/,
          (said, at) => `input ${names[Number(at)] ?? said}`,
        );
      }
      throw error;
    }
  }

  async #callKeeping(values: readonly OnnxValue[], stop: Stop): Promise<OnnxValue[]> {
    if (this.#decoder === undefined) return this.#callExactly(values, stop);
    const taken = Decoder.taken(values);
    const kept = await this.#decoder.call(taken, stop, () => this.#callExactly(taken, stop, true));
    if (kept === undefined) return this.#decoder.held(await this.#callExactly(taken, stop));
    this.#file.rest();
    return kept;
  }

  /** `isOnce`: such a call does not come again. */
  async #callExactly(
    values: readonly OnnxValue[],
    stop: Stop,
    isOnce = false,
  ): Promise<OnnxValue[]> {
    this.#check();
    const tensors = values.flatMap((each) => [...tensorsOf(each)]);
    try {
      return await stop.within(() => this.#callOn(values.map(portOf), tensors, isOnce));
    } finally {
      // Parts move them to the heap.
      for (const each of tensors) each.dispose();
    }
  }

  /** A program reads its inputs before this returns, whoever is at work on it. */
  #callOn(
    ports: readonly Port[],
    tensors: readonly Tensor[],
    isOnce: boolean,
  ): Promise<OnnxValue[]> {
    const roomy = this.#rooms.of(ports);
    if (roomy !== undefined) {
      try {
        const work = this.#begin(roomy.ports, tensors, isOnce);
        this.#rooms.accept(roomy);
        return this.#endWithRoom(work, roomy, tensors);
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        this.#rooms.refuse(roomy);
      }
    }
    const inputs = Object.fromEntries(tensors.map((each, at) => [`i${at}`, each]));
    return this.#end(this.#begin(ports, tensors, isOnce), inputs);
  }

  /** What a call is to run on, told what it asks for. */
  #begin(ports: readonly Port[], tensors: readonly Tensor[], isOnce: boolean): Work {
    const base = JSON.stringify(ports);
    for (let round = 0; round < mostRounds; round++) {
      const { key, told, data } = this.#tell(ports, tensors);
      try {
        return this.#take(key, () => this.#compile(told, data, tensors), isOnce);
      } catch (error) {
        if (!(error instanceof Asked)) throw error;
        const all = this.#asked.get(base) ?? new Set();
        if (error.numbers.every((each) => all.has(each))) break;
        for (const each of error.numbers) all.add(each);
        this.#asked.set(base, all);
      }
    }
    throw new LatheError('the model asks again and again for the content of its inputs');
  }

  #take(key: string, compile: () => Program, isOnce: boolean): Work {
    const known = this.#atWork.has(key) ? undefined : this.#withdraw(key);
    const program = known ?? this.#atWork.get(key)?.program ?? compile();
    const work = this.#atWork.get(key) ?? { key, program, calls: 0, isKept: false };
    this.#atWork.set(key, work);
    work.calls++;
    work.isKept ||= known !== undefined || !isOnce;
    return work;
  }

  async #endWithRoom(work: Work, roomy: Roomy, tensors: readonly Tensor[]): Promise<OnnxValue[]> {
    const inputs = withRoom(roomy, tensors);
    try {
      return await this.#end(work, inputs, roomy.count);
    } finally {
      for (const each of Object.values(inputs)) each.dispose();
    }
  }

  async #end(work: Work, inputs: Record<string, Tensor>, count?: number): Promise<OnnxValue[]> {
    try {
      return await work.program.run(inputs, count);
    } finally {
      if (--work.calls === 0) {
        this.#atWork.delete(work.key);
        if (this.#isDisposed || !work.isKept) work.program.dispose();
        else this.#keep(work);
      }
    }
  }

  #withdraw(key: string): Program | undefined {
    if (this.#last?.key !== key) return this.#kept.take(key);
    const { program } = this.#last;
    this.#last = undefined;
    return program;
  }

  #keep({ key, program }: Work): void {
    if (this.#last !== undefined) this.#kept.keep(this.#last.key, this.#last.program);
    this.#last = { key, program };
  }

  /** Lets the model and all that was compiled of it go. Calls under way end first. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#kept.free();
    this.#last?.program.dispose();
    this.#last = undefined;
    this.#decoder?.dispose();
    this.#shared.dispose();
    this.#file.free();
  }

  #check(): void {
    if (this.#isDisposed) throw new LatheError('this model has been disposed');
  }

  /** The ports with the contents that are asked for with such types, and what tells all of it apart. */
  #tell(ports: readonly Port[], tensors: readonly Tensor[]) {
    const asked = this.#asked.get(JSON.stringify(ports));
    const contents = new Contents();
    let number = 0;
    let key = '';
    const tell = (port: Port): Port => {
      if (port === null) return null;
      if (port.kind !== 'tensor') return { ...port, elements: port.elements.map(tell) };
      if (port.type === 'string') return port;
      const at = number++;
      if (!asked?.has(at)) return port;
      const tensor = tensors[at]!;
      key += `${at}=${tensor.dataSync<DType>().join()};`;
      return { ...port, data: contents.add(tensor) };
    };
    const told = ports.map(tell);
    return { key: JSON.stringify(ports) + key, told, data: contents };
  }

  /** Error: NoRoom where the ports have some that the model cannot be given. */
  #compile(ports: readonly Port[], contents: Contents, tensors: readonly Tensor[]): Program {
    this.#check();
    const data = contents.joined();
    if (!hasRoom(ports)) return this.#compileExactly(ports, data, tensors);
    try {
      return this.#compileExactly(ports, data, undefined);
    } catch (error) {
      throw error instanceof Asked ? error : new NoRoom('no room', { cause: error });
    }
  }

  #compileExactly(
    ports: readonly Port[],
    data: Uint8Array,
    tensors: readonly Tensor[] | undefined,
  ): Program {
    const shapes = JSON.stringify(ports);
    this.#onlyShapes ??= shapes;
    if (shapes !== this.#onlyShapes) {
      this.#onlyShapes = '';
      const shared = this.#shared.program(ports, data);
      if (shared !== undefined) return shared;
    }
    const { results, graph, cuts } = this.#trace(ports, [], data, true);
    if (cuts.length === 0) {
      this.#file.rest();
      const terms = this.#terms;
      // What the core keeps for tuning holds the weights once more: no more than once.
      this.#terms = { ...terms, isLean: true };
      return inOnePart(new CompiledFunction(writing(graph), {}, undefined, terms), results);
    }
    graph.free();
    if (tensors === undefined) throw new LatheError('data decides how it goes on');
    return this.#cut(ports, data, tensors);
  }

  /** A program in parts, as data decides how it goes on. */
  #cut(ports: readonly Port[], data: Uint8Array, tensors: readonly Tensor[]): Program {
    const places: BufferPlace[] = tensors.map(({ shape, dtype }, at) => {
      return { name: `i${at}`, shape: [...shape], dtype: coreDTypes[dtype], offset: 0 };
    });
    const resultsOf = new Map<string, Port[]>();
    const parts = new SegmentedFunction(places, (known) => {
      const behind = new Contents();
      const contents = known.map((each): KnownContent => {
        const [offset, size] = behind.add(each);
        return { type: each.dtype, shape: each.shape, data: [data.length + offset, size] };
      });
      const all = new Uint8Array([...data, ...behind.joined()]);
      const { results, graph, cuts } = this.#trace(ports, contents, all);
      resultsOf.set(keyOf(known), results);
      return { graph, cuts, variables: nothing.variables };
    });
    return {
      bytes: 0,
      async run(inputs) {
        const { results, key } = parts.runKnowing(inputs);
        const values = resultsOf.get(key)!.map((each) => valueOf(each, results));
        for (const each of Object.values(results)) each.dispose();
        return values;
      },
      dispose: () => parts.dispose(),
    };
  }

  #trace(
    ports: readonly Port[],
    known: readonly KnownContent[],
    data: Uint8Array,
    isAlone = false,
  ) {
    const trace = this.#file.trace(ports, known, data, {}, isAlone);
    if (trace.asked.length === 0) return trace;
    trace.graph.free();
    throw new Asked(trace.asked);
  }
}
