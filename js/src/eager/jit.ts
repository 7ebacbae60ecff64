/** `jit`: functions of tensors that are called once for each structure of their arguments, and compiled to a module. */
import { LatheError } from '../base/errors.js';
import { kindOf } from '../base/kinds.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { HeapValue } from '../runtime/heap_value.js';
import { coreDTypes } from '../tensor/dtypes.js';
import { scalar, tensor } from '../tensor/create.js';
import { type TensorContainer, tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { TracedTensor } from '../trace/trace.js';
import { shown } from './apply.js';
import { compute, isRecording, isWide, moduleFor, recorded } from './compute.js';
import { formulaOf, GradientPart, type Source } from './formulas.js';
import { isNested, type Nested, takenApart } from './nested.js';
import { type Plan, planOf } from './plan.js';
import { type Given, Replay } from './replay.js';
import { shownAgain, valueType } from './values.js';
import { Argument, isWriting, release, type Written, written } from './written.js';

/** Options of `jit`. */
export interface JitOptions {
  /** What errors call it; left out, the function's own name. */
  name?: string;
  /** Structures that are kept; beyond that the one that was not called for longest goes. Default: 100. */
  most?: number;
}
const optionNames: OptionNames<JitOptions> = { name: true, most: true };

/** What `jit` gives. */
export type Jitted<F> = F & {
  /** How often the function has been called to be written down. */
  readonly traces: number;
  /** Lets go what is kept; calls are errors then. */
  dispose(): void;
};

/**
 * A function that does what `f` does, as one module: `f` is called once for each structure of its arguments (shapes, types,
 * arrays and objects), with tensors that have no numbers; later calls run the module and do not call it.
 *
 *     const step = tf.jit((x, w, { rate }) => w.sub(tf.grad((w) => loss(x, w))(w).mul(rate)));
 *     w = step(x, w, { rate: 0.1 });
 *
 * Arguments are tensors, typed arrays, numbers (which become tensors without axes, so that another number needs no other
 * module), and arrays and objects of these; booleans, texts, null and undefined are part of the structure. Variables are
 * read at each call, and random numbers and dropout without a seed are others at each call. All else that the function
 * finds outside itself is what it was when it was written down: tensors, numbers, and what JavaScript computes
 * (`Math.random`, `tf.rand`, `tf.randomGamma`, random numbers that are read in it). Gradients go through it, it goes
 * through gradients, and within another `jit`, `vmap`, `tl.compile` or a layer it becomes part of what is written down there.
 *
 * Errors: at a call: the function reads numbers of what follows from its arguments; it gives no tensors, or assigns a
 * variable; arguments are something else; it has been disposed.
 */
export function jit<F extends (...args: any[]) => TensorContainer>(
  f: F,
  options: JitOptions = {},
): Jitted<F> {
  if (typeof f !== 'function')
    throw new LatheError('jit: the f passed in jit(f) must be a function');
  checkOptions('jit', options, optionNames);
  const { name = f.name, most = 100 } = options;
  const what = name === '' ? 'jit' : `jit(${name})`;
  const kept = new Map<string, Compiled>();
  let [traces, isDisposed] = [0, false];

  const of = (nested: Nested, tensors: readonly Tensor[]): Compiled => {
    let found = kept.get(nested.key);
    kept.delete(nested.key);
    if (found === undefined) {
      found = new Compiled(what, tensors, (given) => f(...placed(nested, given)));
      traces += 1;
    }
    kept.set(nested.key, found);
    for (const [key, each] of kept) {
      if (kept.size <= Math.max(1, most)) break;
      each.dispose();
      kept.delete(key);
    }
    return found;
  };

  const call = (...args: unknown[]): unknown =>
    tidy(() => {
      if (isDisposed) throw new LatheError(`${what}: this function has been disposed`);
      const nested = takenApart(args, (value, path) => typeOf(what, value, path));
      const numbers = nested.leaves.filter(isTensorLike);
      const isPart = isWriting() || numbers.some((each) => each instanceof TracedTensor);
      const tensors = numbers.map(asTensor);
      if (isPart) return f(...placed(nested, tensors));
      return of(nested, tensors).call(numbers, tensors);
    });

  const dispose = (): void => {
    isDisposed = true;
    for (const each of kept.values()) each.dispose();
    kept.clear();
  };
  const traced = { get: () => traces };
  return Object.defineProperties(call, {
    traces: traced,
    dispose: { value: dispose },
  }) as Jitted<F>;
}

/** What arguments become tensors. */
const isTensorLike = (value: unknown): value is TensorLike =>
  typeof value === 'number' || value instanceof Tensor || ArrayBuffer.isView(value);

const asTensor = (value: TensorLike): Tensor =>
  value instanceof Tensor ? value : typeof value === 'number' ? scalar(value) : tensor(value);

/** The arguments again, tensors in the places of tensors. */
function placed({ leaves, rebuild }: Nested, tensors: readonly Tensor[]): unknown[] {
  let next = 0;
  return rebuild(leaves.map((each) => (isTensorLike(each) ? tensors[next++] : each))) as unknown[];
}

/** How the structure of an argument is spelled. Error: it can be none. */
function typeOf(what: string, value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return 'float32 []';
  if (value instanceof Tensor) {
    if (Object.hasOwn(coreDTypes, value.dtype)) return value.type;
    throw new LatheError(
      `${what}: argument ${path} is a tensor of ${value.dtype as string}; give real and imaginary parts as two, and no texts`,
    );
  }
  if (ArrayBuffer.isView(value)) return `${kindOf(value)} ${value.byteLength}`;
  if (isNested(value)) return undefined;
  if (value === undefined || value === null || /boolean|string/.test(typeof value)) {
    return `=${JSON.stringify(value)}`;
  }
  const got = typeof value === 'object' ? value.constructor.name : typeof value;
  throw new LatheError(
    `${what}: argument ${path} is of the type ${got}; known are tensors, numbers, booleans, texts, and arrays and objects of them`,
  );
}

/** Where an input of the module comes from at each call. */
type Input = (given: readonly Source[]) => Source;

/** A function for arguments of some types. */
class Compiled {
  readonly #written: Written;
  #plan: Plan | undefined;
  #inputs: readonly Input[] = [];

  constructor(what: string, tensors: readonly Tensor[], f: (tensors: Tensor[]) => unknown) {
    const types = tensors.map(({ shape, dtype }) => valueType(shape, dtype));
    this.#written = written(what, types, f);
  }

  call(numbers: readonly TensorLike[], tensors: readonly Tensor[]): unknown {
    const { results, rebuild } = this.#written;
    const plan = (this.#plan ??= this.#planned());
    if (isRecording() || isWide(plan)) return rebuild(recorded(() => this.#again(tensors)));
    const given = numbers.map((each, at): Source =>
      typeof each === 'number' ? each : HeapValue.of(tensors[at]!),
    );
    compute(given.filter((each) => typeof each !== 'number'));
    const outputs = plan.outputs.map(({ dtype, shape }) => new HeapValue(dtype, shape));
    if (outputs.length > 0) {
      const inputs = this.#inputs.map((input) => input(given));
      moduleFor(plan).run(inputs, outputs);
    }
    const found = new Map(plan.outputs.map((each, at) => [each, outputs[at]!]));
    const own = new Set(outputs);
    const shownAs = (value: HeapValue): Tensor => {
      const is = found.get(value) ?? this.#current(value, tensors);
      return own.delete(is) ? shown(is) : shownAgain(is);
    };
    const all = results.map(shownAs);
    for (const each of own) each.free();
    return rebuild(all);
  }

  dispose(): void {
    release(this.#written);
  }

  /** What an argument, a variable or a value from outside is in a call. */
  #current(value: HeapValue, tensors: readonly Tensor[]): HeapValue {
    const at = value instanceof Argument ? this.#written.arguments.indexOf(value) : -1;
    if (at >= 0) return HeapValue.of(tensors[at]!);
    const variable = this.#written.variables.get(value);
    return variable === undefined ? value : HeapValue.of(variable);
  }

  /** The operations once more, so that gradients find them. */
  #again(tensors: readonly Tensor[]): Tensor[] {
    const { begin, results, variables, seeds } = this.#written;
    const given: Given[] = this.#written.arguments.map((each, at) => {
      return { for: each, is: HeapValue.of(tensors[at]!), isBatch: false };
    });
    for (const [value, variable] of variables) {
      if (!variable.isDisposed)
        given.push({ for: value, is: HeapValue.of(variable), isBatch: false });
    }
    for (const { value, next } of seeds)
      given.push({ for: value, is: HeapValue.of(next()), isBatch: false });
    return new Replay(given, begin).tensors(results);
  }

  #planned(): Plan {
    const { begin, results, variables, seeds } = this.#written;
    compute(before(results, begin));
    const isGiven = (each: HeapValue) => each instanceof Argument || each.isThere;
    const plan = planOf([...new Set(results)].filter((each) => !isGiven(each)));
    this.#inputs = plan.inputs.map((each): Input => {
      if (typeof each === 'number') return () => each;
      const at = this.#written.arguments.indexOf(each as Argument);
      if (at >= 0) return (given) => given[at]!;
      const seed = seeds.find(({ value }) => value === each);
      if (seed !== undefined) return () => HeapValue.of(seed.next());
      const variable = variables.get(each);
      return () => (variable === undefined ? each : HeapValue.of(variable));
    });
    return plan;
  }
}

/** What leads to values and was written down before a formula. */
function before(values: readonly HeapValue[], begin: number): HeapValue[] {
  const seen = new Set<Source>();
  const found: HeapValue[] = [];
  const left: Source[] = [...values];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'number' || seen.has(value)) continue;
    seen.add(value);
    const formula = value.isThere ? undefined : formulaOf(value);
    if (formula === undefined) continue;
    if (formula.number <= begin) found.push(value);
    else if (!(formula instanceof GradientPart)) left.push(...formula.sources);
    else {
      const { path, sources } = formula.pullBack;
      for (const { sources } of path.values()) left.push(...sources);
      left.push(...sources);
    }
  }
  return found;
}
