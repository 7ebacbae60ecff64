/** `jit`: functions of tensors that are traced and compiled once per structure of their arguments. */
import { LatheError } from '../../base/errors.js';
import { kindOf } from '../../base/kinds.js';
import { checkOptions, type OptionNames } from '../../base/options.js';
import { LruCache } from '../../runtime/compilation_cache.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { coreDTypes } from '../../tensor/dtypes.js';
import { scalar, tensor } from '../../tensor/create.js';
import type { TensorContainer } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { TracedTensor } from '../../trace/trace.js';
import { tensorOf } from '../apply.js';
import { engine, valueOf } from '../engine.js';
import { lazyNodeOf, type NodeInput, VjpOutput } from '../graph/lazy_nodes.js';
import { type FlattenedValue, flattenNested, isNested } from './nested.js';
import type { Plan } from '../plan/plan.js';
import { exceedsParameterLimit } from '../plan/plan_runner.js';
import { valueType } from '../graph/signature.js';
import { type Binding, Substitution } from './substitution.js';
import { aliasTensor } from '../values.js';
import {
  type FunctionTrace,
  releaseTrace,
  SymbolicArgument,
  traceFunction,
} from './function_trace.js';

/** Options of `jit`. */
export interface JitOptions {
  /** The name in errors. Default: that of the function. */
  name?: string;
  /** Capacity of the cache of compiled structures; the least recently called is evicted. Default: 100. */
  cacheSize?: number;
}
const optionNames: OptionNames<JitOptions> = { name: true, cacheSize: true };

/** The result of `jit`. */
export type Jitted<F> = F & {
  /** How often the function has been traced. */
  readonly traces: number;
  /** Frees the compiled structures; later calls throw. */
  dispose(): void;
};

/**
 * A function that does what `f` does, as one module: `f` is traced once for each structure of its arguments (shapes,
 * types, arrays and objects), with tensors that have no elements; later calls run the module and do not call it.
 *
 *     const step = tf.jit((x, w, { rate }) => w.sub(tf.grad((w) => loss(x, w))(w).mul(rate)));
 *     w = step(x, w, { rate: 0.1 });
 *
 * Arguments are tensors, typed arrays, numbers (which become scalars, so that another number needs no new trace), and
 * arrays and objects of these; booleans, strings, null and undefined are part of the structure. Variables are read at
 * each call, and random operations and dropout without a seed differ between calls. Everything else that the function
 * captures is constant after tracing: tensors, numbers, and what JavaScript computes (`Math.random`, `tf.rand`,
 * `tf.randomGamma`, random numbers that are read in it). It can be differentiated, it can compute gradients, and within
 * another `jit`, `vmap`, `tl.compile` or a layer it is inlined.
 *
 * Errors, at a call: the function reads elements of values that depend on its arguments; it does not return tensors, or
 * assigns a variable; an argument of another type; it has been disposed.
 */
export function jit<F extends (...args: any[]) => TensorContainer>(
  f: F,
  options: JitOptions = {},
): Jitted<F> {
  if (typeof f !== 'function')
    throw new LatheError('jit: the f passed in jit(f) must be a function');
  checkOptions('jit', options, optionNames);
  const { name = f.name, cacheSize = 100 } = options;
  const what = name === '' ? 'jit' : `jit(${name})`;
  const cache = new LruCache<string, Compiled>(Math.max(1, cacheSize));
  let isDisposed = false;

  const call = (...args: unknown[]): unknown =>
    tidy(() => {
      if (isDisposed) throw new LatheError(`${what}: this function has been disposed`);
      const nested = flattenNested(args, (value, path) => typeOf(what, value, path));
      const numbers = nested.leaves.filter(isTensorLike);
      const isPart =
        engine.trace !== undefined || numbers.some((each) => each instanceof TracedTensor);
      const tensors = numbers.map(asTensor);
      if (isPart) return f(...rebuildArguments(nested, tensors));
      const compiled = cache.get(
        `${engine.device.name} ${nested.key}`,
        () => new Compiled(what, tensors, (values) => f(...rebuildArguments(nested, values))),
      );
      return compiled.call(numbers, tensors);
    });

  const dispose = (): void => {
    isDisposed = true;
    cache.evict();
  };
  const traced = { get: () => cache.made };
  return Object.defineProperties(call, {
    traces: traced,
    dispose: { value: dispose },
  }) as Jitted<F>;
}

/** Whether an argument becomes a tensor. */
const isTensorLike = (value: unknown): value is TensorLike =>
  typeof value === 'number' || value instanceof Tensor || ArrayBuffer.isView(value);

const asTensor = (value: TensorLike): Tensor =>
  value instanceof Tensor ? value : typeof value === 'number' ? scalar(value) : tensor(value);

/** The arguments with other tensors. */
function rebuildArguments(
  { leaves, rebuild }: FlattenedValue,
  tensors: readonly Tensor[],
): unknown[] {
  let next = 0;
  return rebuild(leaves.map((each) => (isTensorLike(each) ? tensors[next++] : each))) as unknown[];
}

/** The type of an argument in the key of its structure; undefined for containers. Error: an unsupported type. */
function typeOf(what: string, value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return 'float32 []';
  if (value instanceof Tensor) {
    if (Object.hasOwn(coreDTypes, value.dtype)) return value.type;
    throw new LatheError(
      `${what}: argument ${path} is a tensor of ${value.dtype as string}; pass real and imaginary parts as two tensors; strings are not supported`,
    );
  }
  if (ArrayBuffer.isView(value)) return `${kindOf(value)} ${value.byteLength}`;
  if (isNested(value)) return undefined;
  if (value === undefined || value === null || /boolean|string/.test(typeof value)) {
    return `=${JSON.stringify(value)}`;
  }
  const got = typeof value === 'object' ? value.constructor.name : typeof value;
  throw new LatheError(
    `${what}: argument ${path} is of the type ${got}; supported are tensors, numbers, booleans, strings, and arrays and objects of them`,
  );
}

/** Finds an input of the module for a call. */
type Input = (values: readonly NodeInput[]) => NodeInput;

/** The function for one structure of arguments. */
class Compiled {
  readonly #trace: FunctionTrace;
  #plan: Plan | undefined;
  #inputs: readonly Input[] = [];

  constructor(what: string, tensors: readonly Tensor[], f: (tensors: Tensor[]) => unknown) {
    const types = tensors.map(({ shape, dtype }) => valueType(shape, dtype));
    this.#trace = traceFunction(what, types, f);
  }

  call(numbers: readonly TensorLike[], tensors: readonly Tensor[]): unknown {
    const { results, rebuild } = this.#trace;
    const plan = (this.#plan ??= this.#makePlan());
    if (engine.tape.isRecording || exceedsParameterLimit(plan))
      return rebuild(engine.tape.record(() => this.#record(tensors)));
    const values = numbers.map((each, at): NodeInput =>
      typeof each === 'number' ? each : valueOf(tensors[at]!),
    );
    engine.plans.compute(values.filter((each) => typeof each !== 'number'));
    const outputs = plan.outputs.map(
      ({ dtype, shape }) => new DeviceValue(dtype, shape, engine.device),
    );
    if (outputs.length > 0) {
      const inputs = this.#inputs.map((input) => input(values));
      engine.plans.moduleFor(plan).run(inputs, outputs);
    }
    const found = new Map(plan.outputs.map((each, at) => [each, outputs[at]!]));
    const unused = new Set(outputs);
    const toTensor = (value: DeviceValue): Tensor => {
      const current = found.get(value) ?? this.#current(value, tensors);
      return unused.delete(current) ? tensorOf(current) : aliasTensor(current);
    };
    const all = results.map(toTensor);
    for (const each of unused) each.free();
    return rebuild(all);
  }

  dispose(): void {
    releaseTrace(this.#trace);
  }

  /** The value of an argument, variable or captured value at a call. */
  #current(value: DeviceValue, tensors: readonly Tensor[]): DeviceValue {
    const at = value instanceof SymbolicArgument ? this.#trace.arguments.indexOf(value) : -1;
    if (at >= 0) return valueOf(tensors[at]!);
    const variable = this.#trace.variables.get(value);
    return variable === undefined ? value : valueOf(variable);
  }

  /** Records the operations on the tape instead of running the module. */
  #record(tensors: readonly Tensor[]): Tensor[] {
    const { lastNodeBefore, results, variables, seeds } = this.#trace;
    const values: Binding[] = this.#trace.arguments.map((each, at) => {
      return { original: each, value: valueOf(tensors[at]!), isBatch: false };
    });
    for (const [value, variable] of variables) {
      if (!variable.isDisposed)
        values.push({ original: value, value: valueOf(variable), isBatch: false });
    }
    for (const { value, next } of seeds)
      values.push({ original: value, value: valueOf(next()), isBatch: false });
    return new Substitution(values, lastNodeBefore).tensors(results);
  }

  #makePlan(): Plan {
    const { lastNodeBefore, results, variables, seeds } = this.#trace;
    engine.plans.compute(recordedBefore(results, lastNodeBefore));
    const isInput = (each: DeviceValue) => each instanceof SymbolicArgument || each.isMaterialized;
    const plan = engine.plans.planOf([...new Set(results)].filter((each) => !isInput(each)));
    this.#inputs = plan.inputs.map((each): Input => {
      if (typeof each === 'number') return () => each;
      const at = this.#trace.arguments.indexOf(each as SymbolicArgument);
      if (at >= 0) return (values) => values[at]!;
      const seed = seeds.find(({ value }) => value === each);
      if (seed !== undefined) return () => valueOf(seed.next());
      const variable = variables.get(each);
      return () => (variable === undefined ? each : valueOf(variable));
    });
    return plan;
  }
}

/** The values in the subgraph that were recorded up to a node id. */
function recordedBefore(values: readonly DeviceValue[], lastNodeBefore: number): DeviceValue[] {
  const seen = new Set<NodeInput>();
  const found: DeviceValue[] = [];
  const left: NodeInput[] = [...values];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'number' || seen.has(value)) continue;
    seen.add(value);
    const node = value.isMaterialized ? undefined : lazyNodeOf(value);
    if (node === undefined) continue;
    if (node.id <= lastNodeBefore) found.push(value);
    else if (!(node instanceof VjpOutput)) left.push(...node.sources);
    else {
      const { path, sources } = node.vjp;
      for (const { sources } of path.values()) left.push(...sources);
      left.push(...sources);
    }
  }
  return found;
}
