/** `vmap`: functions of one example as functions of batches. */
import { LatheError } from '../../base/errors.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { scalar, tensor } from '../../tensor/create.js';
import type { TensorContainer } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { TracedTensor } from '../../trace/trace.js';
import { applyOperation } from '../apply.js';
import { engine, valueOf } from '../engine.js';
import { flattenNested, isNested } from './nested.js';
import { type Binding, Substitution } from './substitution.js';
import { valueType } from '../graph/signature.js';
import { releaseTrace, traceFunction } from './function_trace.js';

/** The batch axis of an argument and of all tensors in it; null for arguments that all examples share. */
export type BatchAxis = number | null;

/**
 * The function that applies `f` to each example of a batch.
 *
 *     const each = tf.vmap(tf.grad((x) => x.square().sum())); // gradients of all rows
 *     const scores = tf.vmap((w, x) => w.dot(x), [null, 0]);
 *
 * Each call traces `f` once with tensors of one example, which have no elements, and records the trace for the batch:
 * operations with a batching rule run once for any number of examples. Sorting has a rule; convolutions with filters,
 * and gathers from tables, that differ between examples, and operations without a rule, run once per example.
 * `jit(vmap(f))` traces only once. Random numbers and dropout differ between examples unless they have a seed.
 *
 * @param f of tensors, and arrays and objects of them
 * @param inAxes the batch axis of all arguments, or of each. Default: 0. Numbers are shared by all examples
 * @param outAxes the batch axis of results. Default: 0
 *
 * Errors, at a call: no argument has a batch axis, or their sizes differ; those of `jit`.
 */
export function vmap<F extends (...args: any[]) => TensorContainer>(
  f: F,
  inAxes: BatchAxis | readonly BatchAxis[] = 0,
  outAxes = 0,
): F {
  if (typeof f !== 'function')
    throw new LatheError('vmap: the f passed in vmap(f) must be a function');
  const call = (...args: unknown[]): unknown =>
    tidy(() => {
      const { leaves, rebuild } = flattenNested(args, typeOf);
      const batch = new Batch(inAxes, args);
      const numbers = leaves.filter(isTensorLike).map((each, at) => batch.add(each, at));
      const tensors = (all: readonly Tensor[]): unknown[] => {
        let next = 0;
        return rebuild(
          leaves.map((each) => (isTensorLike(each) ? all[next++] : each)),
        ) as unknown[];
      };
      const types = numbers.map(({ x, isBatch }) =>
        valueType(isBatch ? x.shape.slice(1) : x.shape, x.dtype),
      );
      return engine.tape.record(() => {
        const found = traceFunction('vmap', types, (all) => f(...tensors(all)));
        const bindings = numbers.map(({ x, isBatch }, at): Binding => {
          return { original: found.arguments[at]!, value: valueOf(x), isBatch };
        });
        for (const { value, next } of found.seeds) {
          bindings.push({
            original: value,
            value: valueOf(next(batch.count)),
            isBatch: true,
            isSeed: true,
          });
        }
        const results = new Substitution(bindings, found.lastNodeBefore, batch.count).tensors(
          found.results,
        );
        releaseTrace(found);
        return found.rebuild(results.map((each) => moveAxis(each, 0, outAxes)));
      });
    });
  return call as F;
}

const isTensorLike = (value: unknown): value is TensorLike =>
  typeof value === 'number' || value instanceof Tensor || ArrayBuffer.isView(value);

function typeOf(value: unknown, path: string): string | undefined {
  if (isTensorLike(value)) {
    if (!(value instanceof TracedTensor)) return '';
    throw new LatheError('vmap: not within tl.compile or layers');
  }
  if (isNested(value)) return undefined;
  if (value === undefined || value === null || /boolean|string/.test(typeof value)) return '';
  throw new LatheError(`vmap: argument ${path} is neither a tensor nor made of tensors`);
}

/** The arguments of a call, and the size of the batch. */
class Batch {
  #count: number | undefined;
  readonly #axes: readonly BatchAxis[];

  constructor(inAxes: BatchAxis | readonly BatchAxis[], args: readonly unknown[]) {
    const each = Array.isArray(inAxes)
      ? (inAxes as readonly BatchAxis[])
      : args.map(() => inAxes as BatchAxis);
    if (each.length !== args.length) {
      throw new LatheError(`vmap: inAxes has ${each.length} axes for ${args.length} arguments`);
    }
    const isEnd = (value: unknown) => (isNested(value) ? undefined : '');
    this.#axes = args.flatMap((arg, at) => {
      const ends = flattenNested(arg, isEnd).leaves.filter(isTensorLike);
      return ends.map((end) => (typeof end === 'number' ? null : each[at]!));
    });
  }

  /** The size of the batch. Error: no argument has a batch axis. */
  get count(): number {
    if (this.#count !== undefined) return this.#count;
    throw new LatheError('vmap: no argument has an axis of examples; set inAxes');
  }

  /** The argument with its batch axis first. Errors: a missing axis; another batch size. */
  add(value: TensorLike, at: number): { x: Tensor; isBatch: boolean } {
    const x =
      value instanceof Tensor ? value : typeof value === 'number' ? scalar(value) : tensor(value);
    const axis = this.#axes[at]!;
    if (axis === null) return { x, isBatch: false };
    const size = x.shape.at(axis);
    if (!Number.isInteger(axis) || size === undefined) {
      throw new LatheError(
        `vmap: tensor ${at} of the arguments, ${x.type}, has no axis ${axis} of examples`,
      );
    }
    this.#count ??= size;
    if (size !== this.#count || size === 0) {
      throw new LatheError(
        `vmap: tensor ${at} of the arguments, ${x.type}, has ${size} examples along the axis ${axis}, ` +
          (size === 0 ? 'and there must be some' : `those before it have ${this.#count}`),
      );
    }
    return { x: moveAxis(x, axis, 0), isBatch: true };
  }
}

/** Moves one axis. */
function moveAxis(x: Tensor, from: number, to: number): Tensor {
  const [source, target] = [from, to].map((axis) => (axis < 0 ? axis + x.rank : axis)) as [
    number,
    number,
  ];
  if (source === target) return x;
  const order = [...x.shape.keys()].filter((axis) => axis !== source);
  order.splice(target, 0, source);
  return applyOperation('transpose', [x], [order]);
}
