/**
 * What an operation is on a batch of operands, whose first axis counts rows that know nothing of each other. Where no
 * rule holds it is done for one row after the other: right for all operations, at the cost of as many of them.
 */
import { operations, type OperationName } from '../core/names.js';
import type { HeapValue } from '../runtime/heap_value.js';
import type { Source } from './formulas.js';
import { type Signature, signatureOf, type ValueType } from './signature.js';
import { operation, pending, valueType } from './values.js';

/** A value, which may be a batch. */
export interface Row {
  readonly is: HeapValue;
  readonly isBatch: boolean;
  /** A batch of seeds that nobody gave: random numbers of all examples may come from the first of them. */
  readonly isSeed?: boolean;
}

/** Notes a value that is made on the way. */
type Make = (value: HeapValue) => HeapValue;

/** A batch of equal rows. */
export const spread = (value: HeapValue, count: number): HeapValue =>
  operation('broadcastTo', [value], [[count, ...value.shape]]);

/** An operation of the core, or what is none, on rows. */
export interface Work {
  readonly signature: Signature | undefined;
  readonly rows: readonly (Row | number)[];
  readonly count: number;
  readonly make: Make;
  /** Does it for one row. */
  readonly one: (sources: readonly Source[]) => HeapValue;
}

/** An operation as a rule knows it. */
interface Call extends Work {
  readonly signature: Signature;
}

/** Sources and arguments of the operation on the batch; undefined where the rule does not hold. */
type Rule = (
  call: Call,
) => readonly [readonly Source[], readonly unknown[], OperationName?] | undefined;

/** The operation on rows of which some are batches: a batch of what it gives. */
export function batched({ signature, ...rest }: Work): HeapValue {
  const found = signature && byRule({ signature, ...rest });
  return found ?? oneByOne(rest);
}

function byRule(call: Call): HeapValue | undefined {
  const { signature, count, make } = call;
  const { op, shape, dtype } = signature;
  const rule = rules[op] ?? ('takes' in operations[op] ? elementwise : undefined);
  const found = rule?.(call);
  if (found === undefined) return undefined;
  const [sources, values, other = op] = found;
  const types = sources.map((each, at): ValueType =>
    typeof each === 'number' ? signature.inputs[at]! : valueType(each.shape, each.dtype),
  );
  const whole = signatureOf(other, types, values);
  const isRight = whole.dtype === dtype && whole.shape.join() === [count, ...shape].join();
  return isRight ? make(pending(whole, sources)) : undefined;
}

function oneByOne({ rows, count, make, one }: Omit<Work, 'signature'>): HeapValue {
  const all = Array.from({ length: count }, (_, at) => {
    const sources = rows.map((each): Source => {
      if (typeof each === 'number') return each;
      if (!each.isBatch) return each.is;
      const { shape } = each.is;
      const begin = shape.map((_, axis) => (axis === 0 ? at : 0));
      const row = make(operation('slice', [each.is], [begin, [1, ...shape.slice(1)]]));
      return make(operation('reshape', [row], [shape.slice(1)]));
    });
    return make(one(sources));
  });
  return make(operation('stack', all, [0]));
}

/** Rows with axes of size 1 before their own, so that all have as many. */
function aligned({ signature, rows, make }: Call, least = 0): Source[] {
  const rank = Math.max(least, ...signature.inputs.map(({ shape }) => shape.length));
  return rows.map((each, at): Source => {
    if (typeof each === 'number') return each;
    const { shape } = signature.inputs[at]!;
    if (!each.isBatch || shape.length === rank) return each.is;
    const missing = new Array<number>(rank - shape.length).fill(1);
    return make(operation('reshape', [each.is], [[each.is.shape[0]!, ...missing, ...shape]]));
  });
}

const elementwise: Rule = (call) => [aligned(call), call.signature.values];

const product: Rule = (call) =>
  call.signature.inputs.some(({ shape }) => shape.length < 2) ? undefined : elementwise(call);

/** Of a batch alone: with other arguments, by those of the operation and its rank. */
const ofOne =
  (
    change: (
      values: readonly unknown[],
      rank: number,
      call: Call,
    ) => readonly unknown[] | undefined,
  ): Rule =>
  (call) => {
    const values = change(call.signature.values, call.signature.inputs[0]!.shape.length, call);
    return values && [[(call.rows[0] as Row).is], values];
  };

/** Any change of the shape that leaves the order of elements. */
const shaped: Rule = ({ signature: { shape }, rows, count }) => [
  [(rows[0] as Row).is],
  [[count, ...shape]],
  'reshape',
];

const further = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis) + 1;

/** The axis, or several, come first among the arguments; left out it is `other`, all of them where that is undefined. */
const along = (other?: number): Rule =>
  ofOne(([axis, ...rest], rank) => {
    if (rank === 0) return undefined;
    const given = (axis ?? other ?? [...Array(rank).keys()]) as number | number[];
    const moved = Array.isArray(given)
      ? given.map((each) => further(each, rank))
      : further(given, rank);
    return [moved, ...rest];
  });

/** One number for each axis, or one for all; the batch has `first`. */
const forEach = (value: unknown, rank: number, first: unknown): unknown[] | undefined => {
  if (!Array.isArray(value) || value.length !== rank) return undefined;
  return [first, ...(value as unknown[])];
};

/** Tensors side by side; all must be batches. */
const joined: Rule = ({ signature, rows, count, make }) => {
  const axis = (signature.values[0] ?? 0) as number;
  const all = rows.map((each) => {
    const { is, isBatch } = each as Row;
    return isBatch ? is : make(spread(is, count));
  });
  const rank = signature.shape.length;
  return [all, [further(axis, rank), ...signature.values.slice(1)]];
};

/** Pictures and the like: the first axis counts them already. */
const pictures: Rule = ({ signature, rows, count, make }) => {
  const [first, ...others] = rows as Row[];
  if (!first!.isBatch || others.some(({ isBatch }) => isBatch)) return undefined;
  const [each, ...inner] = signature.inputs[0]!.shape;
  const flat = make(operation('reshape', [first!.is], [[count * each!, ...inner]]));
  const sources = [flat, ...others.map(({ is }) => is)];
  const types = sources.map(({ shape, dtype }) => valueType(shape, dtype));
  const whole = signatureOf(signature.op, types, signature.values);
  if (whole.shape[0] !== count * signature.shape[0]!) return undefined;
  return [[make(pending(whole, sources))], [[count, ...signature.shape]], 'reshape'];
};

/** Rows of a table that all share, found by a batch of places. */
const gathered: Rule = ({ signature: { values }, rows }) => {
  const [table, places] = rows as Row[];
  const isFirst = ((values[0] ?? 0) as number) === 0;
  return !table!.isBatch && isFirst ? [[table!.is, places!.is], values] : undefined;
};

/** Of a batch of seeds that nobody gave. */
const unseeded: Rule = ({ signature: { values }, rows, count, make }) => {
  const [{ is, isSeed }] = rows as [Row];
  if (isSeed !== true || is.shape.length > 1) return undefined;
  const first = make(operation('reshape', [make(operation('slice', [is], [[0], [1]]))], [[]]));
  const [shape, ...rest] = values as [readonly number[], ...unknown[]];
  return [[first], [[count, ...shape], ...rest]];
};

const rules: Partial<Record<OperationName, Rule>> = {
  matMul: product,
  cast: elementwise,
  square: elementwise,
  reciprocal: elementwise,
  rsqrt: elementwise,
  squaredDifference: elementwise,
  clipByValue: elementwise,
  relu: elementwise,
  relu6: elementwise,
  leakyRelu: elementwise,
  elu: elementwise,
  gelu: elementwise,
  softplus: elementwise,
  softmax: along(-1),
  logSoftmax: along(-1),
  sum: along(),
  mean: along(),
  prod: along(),
  max: along(),
  min: along(),
  all: along(),
  any: along(),
  logSumExp: along(),
  argMax: along(0),
  argMin: along(0),
  reshape: shaped,
  flatten: shaped,
  expandDims: shaped,
  squeeze: shaped,
  transpose: ofOne(([order], rank) => {
    const axes = (order ?? [...Array(rank).keys()].reverse()) as number[];
    return [[0, ...axes.map((axis) => further(axis, rank))]];
  }),
  broadcastTo: (call) => [
    [aligned(call, call.signature.shape.length)[0]!],
    [[call.count, ...call.signature.shape]],
  ],
  tile: ofOne(([reps], rank) => {
    const all = forEach(reps, rank, 1);
    return all && [all];
  }),
  slice: ofOne(([begin], rank, { signature, count }) => {
    const all = forEach(begin, rank, 0);
    return all && [all, [count, ...signature.shape]];
  }),
  reverse: along(),
  pad: ofOne(([paddings, ...rest], rank) => {
    const all = forEach(paddings, rank, [0, 0]);
    return all && [all, ...rest];
  }),
  concat: joined,
  stack: joined,
  conv1d: pictures,
  conv2d: pictures,
  conv3d: pictures,
  depthwiseConv2d: pictures,
  maxPool: pictures,
  avgPool: pictures,
  resizeBilinear: pictures,
  resizeNearestNeighbor: pictures,
  gather: gathered,
  sort: along(-1),
  argsort: along(-1),
  topkIndices: ofOne((values, rank) => (rank === 0 ? undefined : values)),
  cumsum: along(0),
  cumprod: along(0),
  oneHot: pictures,
  randomUniform: unseeded,
  randomNormal: unseeded,
  truncatedNormal: unseeded,
};
