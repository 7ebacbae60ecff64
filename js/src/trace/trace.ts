/** Traces of functions: symbolic tensors record operations in a graph of the core. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import type { BodyId, ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { dtypes, type OperationName, operations } from '../core/names.js';
import type { GraphValue } from '../core/words.js';
import { DeviceValue } from '../runtime/device_value.js';
import { checkDType, coreDType, zeros } from '../tensor/convert.js';
import { arrayTypes, coreDTypes, type DType, hostDTypes } from '../tensor/dtypes.js';
import {
  borrow,
  elements,
  notANumberError,
  type PendingData,
  Tensor,
  tensor,
  type TensorLike,
} from '../tensor/tensor.js';
import type { OperationFunctions, OperationMethods } from './operations.js';

/** An operand: a traced tensor, or a tensor or numbers, which become a constant. */
export type Operand = TensorLike;

/**
 * A value that the compiled function will compute: it has a shape and no elements yet. Its methods
 * are the operations of TensorFlow.js tensors. Error of every method: the operation's name and the
 * shapes, if they do not fit.
 */
export class TracedTensor extends Tensor {
  /** Constructed by operations only. */
  constructor(
    readonly trace: Trace,
    override readonly id: ValueId,
    shape: readonly number[],
    dtype: DType,
  ) {
    super(noElements, shape, dtype);
  }

  /** Error where a number is expected, as in `x * 2`, `x > 0` or `x + 1`; strings are allowed. */
  override [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return this.toString();
    throw notANumberError(this.toString());
  }

  /** "TracedTensor float32 [2,3]". */
  override toString(): string {
    return `TracedTensor ${this.type}`;
  }
}

/** The elements of traced tensors; reading them is an error. */
const noElements: PendingData = {
  readSync() {
    throw new LatheError(
      'a traced tensor has no elements while the function is traced: read them outside of it',
    );
  },
  readAsync() {
    return Promise.resolve().then(() => this.readSync());
  },
};

/** A value that persists between calls, as `trace.variable` returns it. */
export class TracedVariable extends TracedTensor {
  constructor(
    value: TracedTensor,
    readonly name: string,
    readonly initial: Tensor,
  ) {
    super(value.trace, value.id, value.shape, value.dtype);
  }
}

/** Traces one function. Every operation is also a method: `g.matMul(a, b)`. */
export class Trace {
  /** The variables by name. */
  readonly variables = new Map<string, TracedVariable>();
  /** Names of variables that calls assign. */
  readonly assigned = new Set<string>();
  /** @internal The values at which the function is split, because `size` depends on them. */
  readonly splitPoints: ValueId[] = [];
  readonly #graph: CoreGraph;
  readonly #sizes: readonly number[] | undefined;
  /** Nesting depth of the current branch or loop body. */
  #depth = 0;

  /** @param sizes results of the calls of `size`, in order */
  constructor(graph: CoreGraph, sizes?: readonly number[]) {
    this.#graph = graph;
    this.#sizes = sizes;
  }

  /** An argument of the function. */
  input(name: string, shape: readonly number[], dtype: DType = 'float32'): TracedTensor {
    this.#checkOutside('input');
    return this.#input(name, shape, dtype);
  }

  /** A constant; arguments as for `tl.tensor`. */
  constant(values: TensorLike, shape?: readonly number[], dtype?: DType): TracedTensor {
    const data = values instanceof Tensor ? values[elements] : undefined;
    const constant = data instanceof DeviceValue ? data.constant : undefined;
    if (constant !== undefined) {
      const numbers = constant.numbers.map((number) => this.constant(number, [], constant.type));
      return this.apply(constant.op, numbers, [...constant.values]);
    }
    const host = borrow(values, shape, dtype);
    const { buffer, byteOffset, byteLength } = host.dataSync<DType>();
    const type = { dtype: coreDTypes[host.dtype], shape: [...host.shape] };
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return this.#traced(this.#graph.constant(type, bytes));
  }

  /**
   * A value that persists between calls; the same name returns the same variable.
   *
   * @param initial its initial value, or its shape for zeros
   * @param shape the shape, if `initial` is a typed array of more than one axis
   * @param dtype Default: float32 for zeros, otherwise as for `tl.tensor`
   */
  variable(
    name: string,
    initial: Exclude<TensorLike, unknown[]> | readonly number[],
    shape?: readonly number[],
    dtype?: DType,
  ): TracedVariable {
    const existing = this.variables.get(name);
    if (existing !== undefined) return existing;
    if (Array.isArray(initial) && shape !== undefined) {
      throw new LatheError(`variable ${name}: an array is a shape; pass a tensor of values`);
    }
    const first = Array.isArray(initial)
      ? zeroTensor(`variable ${name}`, initial, dtype)
      : tensor(initial as TensorLike, shape, dtype);
    const type = { dtype: coreDTypes[first.dtype], shape: [...first.shape] };
    const variable = new TracedVariable(this.#traced(this.#graph.state(name, type)), name, first);
    this.variables.set(name, variable);
    return variable;
  }

  /** Sets the variable to `value` after every call of the function. */
  assign(variable: TracedVariable, value: Operand): void {
    this.#check('assign', variable);
    this.#graph.update(variable.id, this.#operand('assign', value, variable.dtype).id);
    this.assigned.add(variable.name);
  }

  /** d loss / d x for each x; the loss is a scalar of a float type. */
  grad<const Xs extends readonly Tensor[]>(
    loss: Tensor,
    xs: Xs,
  ): { -readonly [At in keyof Xs]: TracedTensor } {
    if (!Array.isArray(xs)) throw new LatheError('grad: expects an array of tensors');
    const [lossId, ...ids] = [loss, ...xs].map((x) => this.valueIdOf('grad', x));
    const gradients = this.#graph.gradients(lossId!, ids).map((value) => this.#traced(value));
    return gradients as { -readonly [At in keyof Xs]: TracedTensor };
  }

  /**
   * @internal The vector-Jacobian product: for each of `wrt`, the gradient of the sum of targets times seeds, which
   * have the types of the targets. Without seeds: the gradients of one target, a float scalar.
   */
  vjp(
    targets: readonly Tensor[],
    seeds: readonly Tensor[],
    wrt: readonly Tensor[],
  ): TracedTensor[] {
    const idsOf = (tensors: readonly Tensor[]) =>
      tensors.map((x) => this.valueIdOf('gradients', x));
    const [targetIds, seedIds, wrtIds] = [idsOf(targets), idsOf(seeds), idsOf(wrt)];
    const gradients =
      seeds.length === 0
        ? this.#graph.gradients(targetIds[0]!, wrtIds)
        : this.#graph.vjp(targetIds, seedIds, wrtIds);
    return gradients.map((value) => this.#traced(value));
  }

  /**
   * The results, one tensor or an array, of `then` if the predicate is true, else of `otherwise`; only the chosen
   * branch is computed. Branches may use all tensors of the traced function. Errors: the predicate is not a bool
   * scalar; the branches return different types.
   *
   *     g.cond(x.sum().greater(0), () => x.log(), () => x.mul(0.1))
   */
  cond<R extends Operand | readonly Operand[]>(
    predicate: Operand,
    then: () => R,
    otherwise: () => R,
  ): Traced<R> {
    const chosen = this.#operand('cond', predicate, 'bool').id;
    let [count, isOne] = [0, false];
    const [first, second] = [then, otherwise].map((branch) =>
      this.#body('cond', () => {
        const result: Operand | readonly Operand[] = branch();
        const returned = (Array.isArray(result) ? result : [result]) as readonly Operand[];
        [count, isOne] = [returned.length, !Array.isArray(result)];
        return returned;
      }),
    );
    const results = this.#graph.cond(chosen, first!, second!, count);
    const traced = results.map((value) => this.#traced(value));
    return (isOne ? traced[0] : traced) as Traced<R>;
  }

  /**
   * Updates loop variables with the results of the body while the condition, a bool scalar, is true. Types are
   * loop-invariant. Gradients require `maxIterations`: the values that they need are stored for as many iterations.
   *
   *     const [, power] = g.whileLoop((i) => i.less(n), (i, y) => [i.add(1), y.mul(x)], [0, x]);
   */
  whileLoop(
    condition: (...variables: Tensor[]) => Operand,
    body: (...variables: Tensor[]) => readonly Operand[],
    initial: readonly Operand[],
    options: WhileOptions = {},
  ): TracedTensor[] {
    checkOptions('whileLoop', options, whileOptions);
    const { maxIterations = unbounded } = options;
    if (initial.length === 0) throw new LatheError('whileLoop: needs variables');
    const first = initial.map((value) => this.#operand('whileLoop', value, 'float32'));
    const traceBody = (
      fn: (variables: TracedTensor[]) => readonly Operand[],
      dtypes: readonly DType[],
    ) => {
      const declare = ({ shape, dtype }: TracedTensor, at: number) =>
        this.#input(`variable ${at}`, shape, dtype);
      return this.#body('whileLoop', () => fn(first.map(declare)), dtypes);
    };
    const test = traceBody((variables) => [condition(...variables)], ['bool']);
    const step = traceBody(
      (variables) => {
        const next: unknown = body(...variables);
        if (Array.isArray(next)) return next as Operand[];
        throw new LatheError('whileLoop: the body must return an array of tensors');
      },
      first.map(({ dtype }) => dtype),
    );
    const ids = first.map(({ id }) => id);
    const results = this.#graph.whileLoop(test, step, maxIterations, ids);
    return results.map((value) => this.#traced(value));
  }

  /**
   * The value of an integer scalar as a number, for shapes: the function is split here, runs up to here, and the rest
   * is traced for each number that occurs. Only in functions compiled with `segments`, outside of branches and loops.
   *
   *     const n = g.size(x.greater(0).cast('int32').sum());
   */
  size(count: Tensor): number {
    this.valueIdOf('size', count);
    if (this.#sizes === undefined) {
      throw new LatheError('size: it depends on data; compile with { segments: true }');
    }
    this.#checkOutside('size');
    if (count.rank > 0 || !/^u?int(8|16)$|^int32$/.test(count.dtype)) {
      throw new LatheError(`size: expects one int32, got ${String(count)}`);
    }
    const size = this.#sizes[this.splitPoints.length];
    // The count may be an input or an earlier value; adding 0 makes a node at this point of the graph.
    this.splitPoints.push(this.valueIdOf('size', count.cast('int32').add(0)));
    if (size === undefined) throw new UnknownSize();
    return size;
  }

  /** Adds a result of the function. */
  output(name: string, value: Operand): void {
    this.#checkOutside('output');
    this.#graph.output(name, this.#operand('output', value, 'float32').id);
  }

  /**
   * Records the operation of this name.
   *
   * @param attributes arguments after the operands, such as axes or a dtype
   */
  apply(op: OperationName, operands: Operand[], attributes: unknown[]): TracedTensor {
    const dtype = dtypeOf(operands);
    if (op === 'nonZero' && attributes[0] === undefined) {
      attributes = [this.size(countNonZero<Tensor>(this.#operand(op, operands[0]!, dtype)))];
    }
    const ids = operands.map((operand) => this.#operand(op, operand, dtype).id);
    const { dtypeAt }: { code: number; dtypeAt?: number } = operations[op];
    const coded = attributes.map((value, at) =>
      at === dtypeAt ? dtypes.indexOf(coreDType(op, value as DType)) : value,
    );
    return this.#traced(this.#graph.operation(op, ids, coded));
  }

  /**
   * The k largest elements along the last axis and their indices, in descending order (also if `sorted` is false).
   * Equal elements are in the order of their indices; NaNs come last.
   */
  topk(x: Operand, k = 1, _sorted = true): TopK<Tensor> {
    const indices = this.topkIndices(x, k);
    return { values: this.takeAlongAxis(x, indices), indices };
  }

  /** @internal The `count` outputs of another graph with these tensors as its inputs. */
  inline(other: CoreGraph, inputs: readonly Tensor[], count: number): TracedTensor[] {
    const ids = inputs.map((input) => this.valueIdOf('inline', input));
    return this.#graph.inline(other, ids, count).map((value) => this.#traced(value));
  }

  /** @internal The values of these ids. */
  values(ids: readonly ValueId[]): TracedTensor[] {
    return this.#graph.values(ids).map((value) => this.#traced(value));
  }

  /**
   * @internal The id of a value in the core; tensors become constants. Errors: the operand is not a tensor; it belongs
   * to another function.
   */
  valueIdOf(what: string, operand: unknown): ValueId {
    const isTraced = operand instanceof TracedTensor;
    const value = !isTraced && operand instanceof Tensor ? this.constant(operand) : operand;
    if (!(value instanceof TracedTensor)) {
      throw new LatheError(`${what}: a tensor of the graph is needed, got ${String(value)}`);
    }
    this.#check(what, value);
    return value.id;
  }

  /** Traces the body of a branch or loop; `fn` returns its results. */
  #body(what: string, fn: () => readonly Operand[], dtypes: readonly DType[] = []): BodyId {
    this.#graph.beginBody();
    this.#depth += 1;
    let isComplete = false;
    try {
      for (const [at, result] of fn().entries()) {
        const operand = this.#operand(what, result, dtypes[at] ?? 'float32');
        this.#graph.output(`result ${at}`, operand.id);
      }
      isComplete = true;
    } finally {
      this.#depth -= 1;
      // After an error the body is ended too; its id is dropped.
      if (!isComplete) this.#graph.endBody();
    }
    return this.#graph.endBody();
  }

  #traced({ id, dtype, shape }: GraphValue): TracedTensor {
    return new TracedTensor(this, id, shape, hostDTypes[dtype]);
  }

  #input(name: string, shape: readonly number[], dtype: DType): TracedTensor {
    const type = { dtype: coreDType(`input ${name}`, dtype), shape: [...shape] };
    return this.#traced(this.#graph.input(name, type));
  }

  #checkOutside(what: string): void {
    if (this.#depth > 0) throw new LatheError(`${what}: not in a branch or loop`);
  }

  #operand(what: string, value: Operand, dtype: DType): TracedTensor {
    if (value instanceof TracedTensor) {
      this.#check(what, value);
      return value;
    }
    checkOperand(what, value);
    if (typeof value === 'number') checkNumber(what, value, dtype);
    return this.constant(value, ...typeFor(value, dtype));
  }

  #check(what: string, value: TracedTensor): void {
    if (value.trace !== this) {
      throw new LatheError(`${what}: ${String(value)} belongs to another function`);
    }
  }
}

/** Error: the operand is missing. */
export function checkOperand(op: string, value: unknown): void {
  if (value === undefined || value === null) throw new LatheError(`${op}: an operand is missing`);
}

/** Error: a number out of the range of a 32-bit or smaller integer dtype. Conversions check 64-bit dtypes. */
export function checkNumber(op: string, value: number, dtype: DType): void {
  if (!/int(8|16|32)$/.test(dtype)) return;
  const min = dtype.startsWith('u') ? 0 : -(2 ** (bitsOf(dtype) - 1));
  if (Number.isInteger(value) && value >= min && value < min + 2 ** bitsOf(dtype)) return;
  throw new LatheError(
    `${op}: ${value} is no ${dtype}, the dtype of the other operand; cast the operands`,
  );
}

const bitsOf = (dtype: DType) => 8 * arrayTypes[dtype].BYTES_PER_ELEMENT;

/** The dtype of numbers among these operands: that of the first tensor that is not bool, otherwise float32. */
export function dtypeOf(operands: readonly unknown[]): DType {
  for (const operand of operands) {
    if (operand instanceof Tensor && operand.dtype !== 'bool') return operand.dtype;
  }
  return 'float32';
}

/** Shape and dtype for an operand that is a single number; empty for operands with a shape and dtype of their own. */
export function typeFor(
  value: TensorLike,
  dtype: DType,
): [shape?: readonly number[], dtype?: DType] {
  return typeof value === 'number' || typeof value === 'bigint' ? [[], dtype] : [];
}

/** Thrown by `size` if the result is unknown: the trace continues when the function has run up to there. */
export class UnknownSize extends Error {}

/** The number of elements that are not 0. */
export function countNonZero<T extends TensorMethods<T, unknown>>(x: T): T {
  return x.cast('bool').cast('int32').sum();
}

/** Options of `whileLoop`. */
export interface WhileOptions {
  /** Maximum number of iterations. */
  maxIterations?: number;
}

const whileOptions: OptionNames<WhileOptions> = { maxIterations: true };

/** Maximum number of iterations of a loop that only its condition ends. */
const unbounded = 2 ** 31 - 1;

/** A traced tensor for each operand. */
export type Traced<R> = R extends readonly Operand[] ? TracedTensor[] : TracedTensor;

/** The result of `topk`. */
export interface TopK<T> {
  values: T;
  indices: T;
}

/** The operations as methods, and those with several results. */
export interface TensorMethods<T, O> extends OperationMethods<T, O> {
  /** `Trace.topk` of this tensor. */
  topk(k?: number, sorted?: boolean): TopK<T>;
}

export interface Trace extends OperationFunctions<TracedTensor, Operand> {}

function zeroTensor(what: string, shape: readonly number[], dtype: DType = 'float32'): Tensor {
  checkDType(what, dtype);
  const size = shape.reduce((product, extent) => product * extent, 1);
  return tensor(zeros(dtype, size), shape, dtype);
}

/**
 * Makes adding many properties five times as fast: V8 copies the descriptor array for each new property, except for
 * objects in dictionary mode, which they enter when a property is deleted.
 */
function useDictionaryMode(object: { first?: true; second?: true }): void {
  object.first = object.second = true;
  delete object.first;
  delete object.second;
}

/** How a class of tensors applies an operation; the first operand is `self`. */
type Apply<T> = (self: T, op: OperationName, operands: never[], attributes: unknown[]) => unknown;

/** Adds the operations of the core as methods to a class of tensors, typed by TensorMethods. */
export function installMethods<T>(prototype: object, apply: Apply<T>): void {
  useDictionaryMode(prototype);
  for (const [op, { tensors }] of Object.entries(operations) as [OperationName, Arity][]) {
    const value = function (this: T, ...args: unknown[]): unknown {
      if (tensors === 'many') {
        const others = (Array.isArray(args[0]) ? args[0] : [args[0]]) as unknown[];
        return apply(this, op, [this, ...others] as never[], args.slice(1));
      }
      const operands = [this, ...args.slice(0, tensors - 1)];
      // `x.where(condition, y)` is where(condition, x, y).
      if (op === 'where') operands.splice(0, 2, operands[1], this);
      return apply(this, op, operands as never[], args.slice(tensors - 1));
    };
    Object.defineProperty(prototype, op, { value, configurable: true });
  }
  Object.defineProperty(prototype, 'topk', { value: topk, configurable: true });
}

function topk<T extends TensorMethods<T, T>>(this: T, k = 1, _sorted = true): TopK<T> {
  const indices = this.topkIndices(k);
  return { values: this.takeAlongAxis(indices), indices };
}

type Arity = { tensors: number | 'many' };

function installFunction(op: OperationName): void {
  const { tensors } = operations[op];
  const value = function (this: Trace, ...args: unknown[]): TracedTensor {
    if (tensors === 'many') {
      if (!Array.isArray(args[0])) throw new LatheError(`${op}: the first argument is an array`);
      return this.apply(op, args[0] as Operand[], args.slice(1));
    }
    return this.apply(op, args.slice(0, tensors) as Operand[], args.slice(tensors));
  };
  Object.defineProperty(Trace.prototype, op, { value });
}

/** Adds the operations to traces and traced tensors. */
export function installTracing(): void {
  useDictionaryMode(Trace.prototype as object);
  for (const op of Object.keys(operations) as OperationName[]) installFunction(op);
  installMethods<TracedTensor>(TracedTensor.prototype, ({ trace }, op, operands, attributes) =>
    trace.apply(op, operands, attributes),
  );
}
