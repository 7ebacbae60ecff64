/** `vmap`: functions of one example become functions of batches. */
import { LatheError } from '../base/errors.js';
import { HeapValue } from '../runtime/heap_value.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { scalar, tensor } from '../tensor/create.js';
import { type TensorContainer, tidy } from '../tensor/scopes.js';
import { TracedTensor } from '../trace/trace.js';
import { apply } from './apply.js';
import { recorded } from './compute.js';
import { isNested, takenApart } from './nested.js';
import { type Given, Replay } from './replay.js';
import { valueType } from './values.js';
import { release, written } from './written.js';

/** The axis that counts examples, of an argument and all in it; null for what all examples share. */
export type BatchAxis = number | null;

/**
 * A function of batches that does what `f` does with each example of them.
 *
 *     const each = tf.vmap(tf.grad((x) => x.square().sum())); // gradients of all rows
 *     const scores = tf.vmap((w, x) => w.dot(x), [null, 0]);
 *
 * At each call `f` is called once, with tensors of one example that have no numbers, and what it wrote down is written
 * again for all of them: most operations once, whatever the number of examples. Sorting is; convolutions with filters,
 * and gathering from tables, that differ between the examples, and what no rule is known for, once for each example.
 * `jit(vmap(f))` calls it only once. Random numbers and dropout differ between the examples; with a seed they do not.
 *
 * @param f of tensors, and arrays and objects of them
 * @param inAxes the axis of examples, of all arguments or of each. Default: 0. Numbers are shared by all
 * @param outAxes where that axis is in results. Default: 0
 *
 * Errors: at a call: no argument has such an axis, or they have different sizes there; those of `jit`.
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
      const { leaves, rebuild } = takenApart(args, typeOf);
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
      return recorded(() => {
        const found = written('vmap', types, (all) => f(...tensors(all)));
        const given = numbers.map(({ x, isBatch }, at): Given => {
          return { for: found.arguments[at]!, is: HeapValue.of(x), isBatch };
        });
        for (const { value, next } of found.seeds) {
          given.push({
            for: value,
            is: HeapValue.of(next(batch.count)),
            isBatch: true,
            isSeed: true,
          });
        }
        const results = new Replay(given, found.begin, batch.count).tensors(found.results);
        release(found);
        return found.rebuild(results.map((each) => moved(each, 0, outAxes)));
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

/** The arguments of a call, and how many examples they hold. */
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
      const ends = takenApart(arg, isEnd).leaves.filter(isTensorLike);
      return ends.map((end) => (typeof end === 'number' ? null : each[at]!));
    });
  }

  /** How many examples. Error: there are none to count. */
  get count(): number {
    if (this.#count !== undefined) return this.#count;
    throw new LatheError('vmap: no argument has an axis of examples; inAxes says which');
  }

  /** The argument with its examples along the first axis. Errors: it lacks the axis; another number of examples. */
  add(given: TensorLike, at: number): { x: Tensor; isBatch: boolean } {
    const x =
      given instanceof Tensor ? given : typeof given === 'number' ? scalar(given) : tensor(given);
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
    return { x: moved(x, axis, 0), isBatch: true };
  }
}

/** With one axis in another place. */
function moved(x: Tensor, from: number, to: number): Tensor {
  const [source, target] = [from, to].map((axis) => (axis < 0 ? axis + x.rank : axis)) as [
    number,
    number,
  ];
  if (source === target) return x;
  const order = [...x.shape.keys()].filter((axis) => axis !== source);
  order.splice(target, 0, source);
  return apply('transpose', [x], [order]);
}
