/** A function in which data gives sizes: parts that run one after the other, compiled for the sizes read before. */
import { LatheError } from '../base/errors.js';
import type { BufferPlace, ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import type { HeapModule } from '../runtime/heap_module.js';
import { KeptBuilds, type Keepable, roomForSizes } from '../runtime/kept_builds.js';
import { coreDTypes, type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkShape,
  disposed,
  type FunctionOptions,
  inOrder,
  type InputSpec,
  type Written,
  written,
} from './compiled_function.js';
import { compileForHeap, copied } from './heap_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** How src/graph/segment.h calls values that parts hand on, variables, and what these become. */
const [handedOn, before, after] = ['%', '@', '='];

class Part implements Keepable {
  readonly inputs: readonly BufferPlace[];
  readonly outputs: readonly string[];

  /** `cut`: the value that the next part needs to know; none behind the last one. */
  constructor(
    readonly module: HeapModule,
    readonly cut: ValueId | undefined,
  ) {
    const entry = module.metadata.entries[0]!;
    this.inputs = entry.inputs;
    this.outputs = entry.outputs.map(({ name }) => name);
  }

  get bytes(): number {
    return this.module.moduleBytes + (this.module.metadata.constantBytes ?? 0);
  }

  dispose(): void {
    this.module.dispose();
  }
}

/** Parts kept, and sets of what they have to give. */
const mostParts = 256;
/** Each gives an earlier part what it lacks. */
const mostRepeats = 100;

const notTheSame = () =>
  new LatheError('compile: a function must do the same each time it is written down');

/** @internal What tells apart what the values behind cuts hold. */
export const keyOf = (known: readonly Tensor[]) =>
  known.map((each) => `${each.dataSync<DType>()} `).join('');

const nameOf = (value: ValueId) => `${handedOn}${value - 1}`;
const valueOf = (name: string): ValueId => Number(name.slice(1)) + 1;

/** Tensors by the names of ports. */
type Values = Map<string, Tensor>;

/** What a function is made of, written down as far as it goes knowing what the values behind its cuts hold. */
export interface WrittenParts extends Omit<Written, 'assigned'> {
  cuts: readonly ValueId[];
}

/** As `compile` with `segments`. */
export function segmented<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  { dumps, origins }: FunctionOptions = {},
): SegmentedFunction<Inputs, Outputs> {
  if (dumps !== undefined || origins !== undefined) {
    throw new LatheError(
      'compile: dumps and origins do not go with segments, which are several modules',
    );
  }
  const places = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const { shape, dtype = 'float32' } = 'shape' in spec ? spec : { shape: spec };
    return { name, shape: [...shape], dtype: coreDTypes[dtype], offset: 0 };
  });
  const checked: typeof build = (inputs, g) => {
    const results = build(inputs, g);
    for (const name of [...Object.keys(specs), ...Object.keys(results)]) {
      if ([handedOn, before, after].includes(name[0])) {
        throw new LatheError(`compile: with segments no name begins with ${name[0]}: ${name}`);
      }
    }
    return results;
  };
  return new SegmentedFunction(places, (known) => written(specs, checked, known.map(sizeIn)));
}

function sizeIn(known: Tensor): number {
  const size = known.dataSync<'int32'>()[0]!;
  if (size < 0) throw new LatheError(`size: data gives ${size}, which is no size`);
  return size;
}

/**
 * A function in which data gives sizes, as `compile` with `segments` makes it. The last 256 parts of up to
 * 64 MB together are kept. Results lie where all tensors are computed.
 */
export class SegmentedFunction<Inputs extends string = string, Outputs extends string = string> {
  readonly #places: readonly BufferPlace[];
  readonly #write: (known: readonly Tensor[]) => WrittenParts;
  readonly #kept = new KeptBuilds<Part>({ ...roomForSizes, builds: mostParts });
  readonly #variables = new Map<string, Tensor>();
  /** What later parts have asked of earlier ones, by the sizes before these. */
  readonly #wanted = new Map<string, Set<ValueId>>();
  #isDisposed = false;

  /** `write` says how it goes on, given what the values behind the cuts so far hold. */
  constructor(places: readonly BufferPlace[], write: (known: readonly Tensor[]) => WrittenParts) {
    this.#places = places;
    this.#write = write;
    this.#kept.keep('', this.#compile([], new Map())!);
  }

  /** As `run` of a function with `heap`. Errors: also whatever compiling for new sizes throws. */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    return this.runKnowing(inputs).results;
  }

  /** @internal The results, and what tells apart what the values behind the cuts held. */
  runKnowing(inputs: Record<Inputs, TensorLike>): {
    results: Record<Outputs, Tensor>;
    key: string;
  } {
    this.#check();
    const temporary = new Set<Tensor>();
    try {
      const given: Values = new Map();
      for (const [place, values] of inOrder(this.#places, inputs)) {
        const what = `input ${place.name}`;
        if (values instanceof Tensor && values.dtype === hostDTypes[place.dtype]) {
          checkShape(what, place, values);
          given.set(place.name, values);
        } else {
          const copy = copied(what, place, values);
          temporary.add(copy);
          given.set(place.name, copy);
        }
      }
      let results = this.#runParts(given, temporary);
      for (let again = 0; results === undefined && again < mostRepeats; again++) {
        results = this.#runParts(given, temporary);
      }
      if (results === undefined) throw notTheSame();
      for (const each of results.named.values()) temporary.delete(each);
      return { results: this.#assign(results.named), key: results.key };
    } finally {
      for (const each of temporary) each.dispose();
    }
  }

  /** A variable as it is now. Error: there is none of this name, or no part has met it yet. */
  variable(name: string): Tensor {
    const found = this.#variable(name);
    return new Tensor(found.dataSync<DType>().slice(), found.shape, found.dtype);
  }

  /** Gives a variable another content. Errors: as `variable`; another number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const found = this.#variable(name);
    const place = { name, shape: [...found.shape], dtype: coreDTypes[found.dtype], offset: 0 };
    this.#variables.set(name, copied(`variable ${name}`, place, values));
    found.dispose();
  }

  /** Lets parts and variables go; results stay. Using the function afterwards is an error. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#kept.free();
    for (const each of this.#variables.values()) each.dispose();
  }

  #check(): void {
    if (this.#isDisposed) throw disposed();
  }

  #variable(name: string): Tensor {
    this.#check();
    const found = this.#variables.get(name);
    if (found !== undefined) return found;
    const known = [...this.#variables.keys()].join(', ');
    throw new LatheError(`there is no variable ${name}; known: ${known}`);
  }

  /** What the last part gives; nothing where an earlier one has to give more, as it does the next time. */
  #runParts(given: Values, temporary: Set<Tensor>): { named: Values; key: string } | undefined {
    const values: Values = new Map(given);
    const known: Tensor[] = [];
    for (;;) {
      const key = keyOf(known);
      const part = this.#part(key, known, values);
      if (part === undefined) return undefined;
      const { inputs, outputs, module, cut } = part;
      try {
        const given = inputs.map((place) => {
          const value = this.#valueOf(place.name, values)!;
          const isSame =
            value.dtype === hostDTypes[place.dtype] && value.shape.join() === place.shape.join();
          if (isSame) return value;
          throw notTheSame();
        });
        const results = module.call(given);
        for (const each of results) temporary.add(each);
        const named = new Map(outputs.map((name, at) => [name, results[at]!]));
        if (cut === undefined) return { named, key };
        for (const [name, value] of named) values.set(name, value);
        const value = values.get(nameOf(cut))!;
        known.push(new Tensor(value.dataSync<DType>().slice(), value.shape, value.dtype));
      } finally {
        this.#kept.keep(key, part);
      }
    }
  }

  #valueOf(name: string, values: Values): Tensor | undefined {
    return (
      values.get(name) ?? (name[0] === before ? this.#variables.get(name.slice(1)) : undefined)
    );
  }

  #part(key: string, known: readonly Tensor[], values: Values): Part | undefined {
    const kept = this.#kept.take(key);
    if (kept?.inputs.every((place) => this.#valueOf(place.name, values) !== undefined)) return kept;
    kept?.dispose();
    return this.#compile(known, values);
  }

  /** The part that knows these values; with it those before it, where they have to give more than they do. */
  #compile(known: readonly Tensor[], values: Values): Part | undefined {
    const { graph, variables, cuts } = this.#write(known);
    try {
      if (cuts.length < known.length || cuts.length > known.length + 1) throw notTheSame();
      for (const [name, { initial }] of variables) {
        const there = this.#variables.get(name);
        if (there === undefined) this.#variables.set(name, initial);
        else if (there.type !== initial.type) {
          throw new LatheError(
            `variable ${name}: is ${there.type}, and for the sizes ${keyOf(known)}${initial.type}; it must have one type`,
          );
        }
      }
      const part = this.#partOf(graph, cuts, known);
      if (this.#isDisposed) {
        part.dispose();
        throw disposed();
      }
      const missing = part.inputs
        .map(({ name }) => name)
        .filter((name) => this.#valueOf(name, values) === undefined);
      if (missing.length === 0 || known.length === 0) return part;
      for (const index of known.keys()) {
        const key = keyOf(known.slice(0, index));
        this.#want(key, missing.map(valueOf), cuts[index - 1] ?? 0, cuts[index]!);
        this.#kept.take(key)?.dispose();
        this.#kept.keep(key, this.#partOf(graph, cuts, known.slice(0, index)));
      }
      this.#kept.keep(keyOf(known), part);
      return undefined;
    } finally {
      graph.free();
    }
  }

  /** Remembers which of the values, those between the cuts, a part has to give. */
  #want(key: string, values: readonly ValueId[], above: ValueId, last: ValueId): void {
    const wanted = this.#wanted.get(key) ?? new Set();
    for (const value of values) if (above < value && value <= last) wanted.add(value);
    this.#wanted.delete(key);
    this.#wanted.set(key, wanted);
    if (this.#wanted.size > mostParts) this.#wanted.delete(this.#wanted.keys().next().value!);
  }

  #partOf(graph: CoreGraph, cuts: readonly ValueId[], before: readonly Tensor[]): Part {
    const wanted = this.#wanted.get(keyOf(before)) ?? [];
    const segment = graph.segment(before.length, cuts, [...wanted]);
    try {
      return new Part(compileForHeap(segment), cuts[before.length]);
    } finally {
      segment.free();
    }
  }

  /** Gives the variables what they become; the results. */
  #assign(results: Values): Record<Outputs, Tensor> {
    const named: [string, Tensor][] = [];
    for (const [name, value] of results) {
      if (name[0] !== after) {
        named.push([name, value]);
        continue;
      }
      this.#variables.get(name.slice(1))!.dispose();
      this.#variables.set(name.slice(1), value);
    }
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }
}
