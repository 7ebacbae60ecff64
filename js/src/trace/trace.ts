/** Tensors that stand for values of a program while it is written down, operation by operation. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import type { BodyId, ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { dtypes, type OperationName, operations } from '../core/names.js';
import type { GraphValue } from '../core/words.js';
import { HeapValue } from '../runtime/heap_value.js';
import { checkDType, coreDType, zeros } from '../tensor/convert.js';
import { arrayTypes, coreDTypes, type DType, hostDTypes } from '../tensor/dtypes.js';
import {
  borrow,
  elements,
  noNumber,
  type PendingData,
  Tensor,
  tensor,
  type TensorLike,
} from '../tensor/tensor.js';
import type { OperationFunctions, OperationMethods } from './operations.js';

/** What an operation takes: a value of the program, or numbers that become part of it. */
export type Operand = TensorLike;

/**
 * A value that the compiled function will compute: it has a shape and no elements yet. Its methods
 * are the operations of TensorFlow.js tensors. Error of every method: the operation's name and the
 * shapes, where they do not fit.
 */
export class TracedTensor extends Tensor {
  /** Made by operations only. */
  constructor(
    readonly trace: Trace,
    override readonly id: ValueId,
    shape: readonly number[],
    dtype: DType,
  ) {
    super(nothing, shape, dtype);
  }

  /** Error wherever a number may be wanted, as in `x * 2`, `x > 0` or `x + 1`: there is no value that could be printed. */
  override [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return this.toString();
    throw noNumber(this.toString());
  }

  /** "TracedTensor float32 [2,3]". */
  override toString(): string {
    return `TracedTensor ${this.type}`;
  }
}

/** The elements of what is only written down. */
const nothing: PendingData = {
  now() {
    throw new LatheError(
      'a traced tensor has no elements while the function is written down: read them outside of it',
    );
  },
  get later() {
    return Promise.resolve().then(() => this.now());
  },
};

/** A value that lives between calls, as `trace.variable` gives it. */
export class TracedVariable extends TracedTensor {
  constructor(
    value: TracedTensor,
    readonly name: string,
    readonly initial: Tensor,
  ) {
    super(value.trace, value.id, value.shape, value.dtype);
  }
}

/** Writes one function down. Every operation is a method of it too: `g.matMul(a, b)`. */
export class Trace {
  /** The variables by name. */
  readonly variables = new Map<string, TracedVariable>();
  /** Names of those that calls change. */
  readonly assigned = new Set<string>();
  /** Behind which values the function is cut, because `size` was asked for them. */
  readonly cuts: ValueId[] = [];
  readonly #graph: CoreGraph;
  readonly #sizes: readonly number[] | undefined;
  /** Bodies of branches and loops that are being written. */
  #depth = 0;

  /** With `sizes`, those that `size` knows, in the order in which it is asked. */
  constructor(graph: CoreGraph, sizes?: readonly number[]) {
    this.#graph = graph;
    this.#sizes = sizes;
  }

  /** An argument of the function. */
  input(name: string, shape: readonly number[], dtype: DType = 'float32'): TracedTensor {
    this.#checkOutside('input');
    return this.#input(name, shape, dtype);
  }

  /** Numbers that become part of the function; as `tl.tensor`. */
  constant(values: TensorLike, shape?: readonly number[], dtype?: DType): TracedTensor {
    const held = values instanceof Tensor ? values[elements] : undefined;
    const constant = held instanceof HeapValue ? held.constant : undefined;
    if (constant !== undefined) {
      const numbers = constant.numbers.map((each) => this.constant(each, [], constant.type));
      return this.apply(constant.op, numbers, [...constant.values]);
    }
    const host = borrow(values, shape, dtype);
    const { buffer, byteOffset, byteLength } = host.dataSync<DType>();
    const type = { dtype: coreDTypes[host.dtype], shape: [...host.shape] };
    const data = new Uint8Array(buffer, byteOffset, byteLength);
    return this.#traced(this.#graph.constant(type, data));
  }

  /**
   * A value that lives between calls; the same name gives the same variable.
   *
   * @param initial its first content, or only its shape (then it starts as zeros)
   * @param shape the shape, where `initial` is a typed array of more than one axis
   * @param dtype left out: float32 for zeros, else as `tl.tensor`
   */
  variable(
    name: string,
    initial: Exclude<TensorLike, unknown[]> | readonly number[],
    shape?: readonly number[],
    dtype?: DType,
  ): TracedVariable {
    const known = this.variables.get(name);
    if (known !== undefined) return known;
    const first = Array.isArray(initial)
      ? zeroTensor(`variable ${name}`, initial, dtype)
      : tensor(initial as TensorLike, shape, dtype);
    const type = { dtype: coreDTypes[first.dtype], shape: [...first.shape] };
    const variable = new TracedVariable(this.#traced(this.#graph.state(name, type)), name, first);
    this.variables.set(name, variable);
    return variable;
  }

  /** After every call of the function the variable holds `value`. */
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
    const [from, ...ids] = [loss, ...xs].map((each) => this.numberOf('grad', each));
    const gradients = this.#graph.gradients(from!, ids).map((each) => this.#traced(each));
    return gradients as { -readonly [At in keyof Xs]: TracedTensor };
  }

  /** @internal The same of targets of any shape, each multiplied by a seed of its type, their sum; without seeds of one float. */
  pullBack(
    targets: readonly Tensor[],
    seeds: readonly Tensor[],
    wrt: readonly Tensor[],
  ): TracedTensor[] {
    const [from, by, to] = [targets, seeds, wrt].map((all) =>
      all.map((each) => this.numberOf('gradients', each)),
    );
    const found =
      seeds.length === 0
        ? this.#graph.gradients(from![0]!, to!)
        : this.#graph.pullBack(from!, by!, to!);
    return found.map((each) => this.#traced(each));
  }

  /**
   * What one of two functions gives, a tensor or several; the other one is not computed. They may
   * use all tensors of the function. Errors: the predicate is not one bool; they give different
   * types.
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
        const given: Operand | readonly Operand[] = branch();
        const all = (Array.isArray(given) ? given : [given]) as readonly Operand[];
        [count, isOne] = [all.length, !Array.isArray(given)];
        return all;
      }),
    );
    const results = this.#graph.cond(chosen, first!, second!, count);
    const traced = results.map((each) => this.#traced(each));
    return (isOne ? traced[0] : traced) as Traced<R>;
  }

  /**
   * While the condition, a bool without axes, holds for the variables, they become what the body
   * gives for them. Types stay as they are. There are gradients where `maxIterations` is given:
   * what they need is kept for as many.
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
    const first = initial.map((each) => this.#operand('whileLoop', each, 'float32'));
    const of = (
      write: (variables: TracedTensor[]) => readonly Operand[],
      dtypes: readonly DType[],
    ) => {
      const declare = ({ shape, dtype }: TracedTensor, at: number) =>
        this.#input(`variable ${at}`, shape, dtype);
      return this.#body('whileLoop', () => write(first.map(declare)), dtypes);
    };
    const test = of((variables) => [condition(...variables)], ['bool']);
    const step = of(
      (variables) => {
        const next: unknown = body(...variables);
        if (Array.isArray(next)) return next as Operand[];
        throw new LatheError('whileLoop: the body must give an array of tensors');
      },
      first.map(({ dtype }) => dtype),
    );
    const ids = first.map(({ id }) => id);
    return this.#graph.whileLoop(test, step, maxIterations, ids).map((each) => this.#traced(each));
  }

  /**
   * The number that a tensor of one integer holds, for shapes: the function is cut here, runs up to
   * here, and is written down on for each number that comes. Only in functions compiled with
   * `segments`, outside of branches and loops.
   *
   *     const n = g.size(x.greater(0).cast('int32').sum());
   */
  size(count: Tensor): number {
    this.numberOf('size', count);
    if (this.#sizes === undefined) {
      throw new LatheError('size: data gives it; compile with { segments: true }');
    }
    this.#checkOutside('size');
    if (count.rank > 0 || !/^u?int(8|16)$|^int32$/.test(count.dtype)) {
      throw new LatheError(`size: wants one int32, got ${String(count)}`);
    }
    const known = this.#sizes[this.cuts.length];
    this.cuts.push(this.numberOf('size', count.cast('int32').add(0)));
    if (known === undefined) throw new UnknownSize();
    return known;
  }

  /** A result of the function. */
  output(name: string, value: Operand): void {
    this.#checkOutside('output');
    this.#graph.output(name, this.#operand('output', value, 'float32').id);
  }

  /** The operation of this name. */
  apply(op: OperationName, operands: Operand[], values: unknown[]): TracedTensor {
    const dtype = dtypeOf(operands);
    if (op === 'nonZero' && values[0] === undefined) {
      values = [this.size(countOf<Tensor>(this.#operand(op, operands[0]!, dtype)))];
    }
    const ids = operands.map((each) => this.#operand(op, each, dtype).id);
    const { dtypeAt }: { code: number; dtypeAt?: number } = operations[op];
    const coded = values.map((each, at) =>
      at === dtypeAt ? dtypes.indexOf(coreDType(op, each as DType)) : each,
    );
    return this.#traced(this.#graph.operation(op, ids, coded));
  }

  /**
   * The k largest elements along the last axis and their places. Of equal elements the first comes
   * first; NaNs come last. They are in order whether that is asked for or not.
   */
  topk(x: Operand, k = 1, _sorted = true): TopK<Tensor> {
    const indices = this.topkIndices(x, k);
    return { values: this.takeAlongAxis(x, indices), indices };
  }

  /** @internal The outputs of another graph, `count` of them, with these tensors as its inputs. */
  inline(other: CoreGraph, given: readonly Tensor[], count: number): TracedTensor[] {
    const ids = given.map((each) => this.numberOf('inline', each));
    return this.#graph.inline(other, ids, count).map((each) => this.#traced(each));
  }

  /** @internal The values that the core calls so. */
  values(ids: readonly ValueId[]): TracedTensor[] {
    return this.#graph.values(ids).map((each) => this.#traced(each));
  }

  /** @internal What the core calls it; a tensor of numbers becomes part of the function. Error: it is no tensor, or of another function. */
  numberOf(what: string, given: unknown): ValueId {
    const isTraced = given instanceof TracedTensor;
    const value = !isTraced && given instanceof Tensor ? this.constant(given) : given;
    if (!(value instanceof TracedTensor)) {
      throw new LatheError(`${what}: a tensor of the graph is needed, got ${String(value)}`);
    }
    this.#check(what, value);
    return value.id;
  }

  /** The body of a branch or loop: what `write` adds and what it gives. */
  #body(what: string, write: () => readonly Operand[], dtypes: readonly DType[] = []): BodyId {
    this.#graph.beginBody();
    this.#depth += 1;
    let isWritten = false;
    try {
      for (const [at, each] of write().entries()) {
        this.#graph.output(`result ${at}`, this.#operand(what, each, dtypes[at] ?? 'float32').id);
      }
      isWritten = true;
    } finally {
      this.#depth -= 1;
      if (!isWritten) this.#graph.endBody();
    }
    return this.#graph.endBody();
  }

  #traced({ id, dtype, shape }: GraphValue): TracedTensor {
    return new TracedTensor(this, id, shape, hostDTypes[dtype]);
  }

  #input(name: string, shape: readonly number[], dtype: DType): TracedTensor {
    const type = { dtype: coreDType('input', dtype), shape: [...shape] };
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
/** Error: there is nothing where a tensor is due. */
export function checkOperand(op: string, value: unknown): void {
  if (value === undefined || value === null) throw new LatheError(`${op}: an operand is missing`);
}

/** Error: a number that is none of the integers of this dtype; of 64 bits its conversion says so. */
export function checkNumber(op: string, value: number, dtype: DType): void {
  if (!/int(8|16|32)$/.test(dtype)) return;
  const least = dtype.startsWith('u') ? 0 : -(2 ** (bitsOf(dtype) - 1));
  if (Number.isInteger(value) && value >= least && value < least + 2 ** bitsOf(dtype)) return;
  throw new LatheError(
    `${op}: ${value} is no ${dtype}, which the tensor beside it is; cast the operands`,
  );
}

const bitsOf = (dtype: DType) => 8 * arrayTypes[dtype].BYTES_PER_ELEMENT;

/** What numbers beside these operands become: the dtype of the first tensor that is not bool. */
export function dtypeOf(operands: readonly unknown[]): DType {
  for (const each of operands) {
    const isTensor = each instanceof TracedTensor || each instanceof Tensor;
    if (isTensor && each.dtype !== 'bool') return each.dtype;
  }
  return 'float32';
}

/** Shape and dtype of an operand that is no traced tensor, where its own are not to be taken. */
export function typeFor(
  value: TensorLike,
  dtype: DType,
): [shape?: readonly number[], dtype?: DType] {
  return typeof value === 'number' || typeof value === 'bigint' ? [[], dtype] : [];
}

/** Says that a function cannot be written down further before it has run this far. */
export class UnknownSize extends Error {}

/** How many elements are not 0. */
export function countOf<T extends TensorMethods<T, unknown>>(x: T): T {
  return x.cast('bool').cast('int32').sum();
}

/** Options of `whileLoop`. */
export interface WhileOptions {
  /** How often the body runs at most. */
  maxIterations?: number;
}
const whileOptions: OptionNames<WhileOptions> = { maxIterations: true };

/** Iterations of a loop that only its condition ends. */
const unbounded = 2 ** 31 - 1;

/** A traced tensor for each operand. */
export type Traced<R> = R extends readonly Operand[] ? TracedTensor[] : TracedTensor;

/** What `topk` gives. */
export interface TopK<T> {
  values: T;
  indices: T;
}
/** The operations as methods, and those that give several tensors. */
export interface TensorMethods<T, O> extends OperationMethods<T, O> {
  /** `Trace.topk` of this tensor. */
  topk(k?: number, sorted?: boolean): TopK<T>;
}
export interface Trace extends OperationFunctions {}

function zeroTensor(what: string, shape: readonly number[], dtype: DType = 'float32'): Tensor {
  checkDType(what, dtype);
  const size = shape.reduce((product, each) => product * each, 1);
  return tensor(zeros(dtype, size), shape, dtype);
}

/**
 * Properties are then added in a fifth of the time: V8 copies the list of all of them for each new one, but not of objects that
 * lost one.
 */
function expectMany(object: { first?: true; second?: true }): void {
  object.first = object.second = true;
  delete object.first;
  delete object.second;
}

/** How a class of tensors applies an operation to operands of which it is the first. */
type Apply<T> = (self: T, op: OperationName, operands: never[], values: unknown[]) => unknown;

/** Gives a class of tensors the operations of the core as methods: their types are TensorMethods. */
export function installMethods<T>(prototype: object, apply: Apply<T>): void {
  expectMany(prototype);
  for (const [op, { tensors }] of Object.entries(operations) as [OperationName, Arity][]) {
    const value = function (this: T, ...args: unknown[]): unknown {
      if (tensors === 'many') {
        const others = (Array.isArray(args[0]) ? args[0] : [args[0]]) as unknown[];
        return apply(this, op, [this, ...others] as never[], args.slice(1));
      }
      const operands = [this, ...args.slice(0, tensors - 1)];
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

/** Gives traces and their tensors the operations. */
export function installTracing(): void {
  expectMany(Trace.prototype as object);
  for (const op of Object.keys(operations) as OperationName[]) installFunction(op);
  installMethods<TracedTensor>(TracedTensor.prototype, ({ trace }, op, operands, values) =>
    trace.apply(op, operands, values),
  );
}
