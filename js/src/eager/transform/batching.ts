/**
 * Batching rules: an operation on operands whose first axis is a batch of independent examples. Without a rule the
 * operation runs once for each example, which is correct for every operation.
 */
import { type OperationName, operations } from '../../core/names.js';
import type { DeviceValue } from '../../runtime/device_value.js';
import type { NodeInput } from '../graph/lazy_nodes.js';
import { engine } from '../engine.js';
import { type Signature, type ValueType, valueType } from '../graph/signature.js';
import { operationValue, pendingValue } from '../values.js';

/** A value that may be batched along its first axis. */
export interface BatchableValue {
  readonly value: DeviceValue;
  readonly isBatch: boolean;
  /** A batch of automatic seeds: random numbers of all examples may come from the first of them. */
  readonly isSeed?: boolean;
}

/** Registers an intermediate value. */
type Make = (value: DeviceValue) => DeviceValue;

/** A batch of equal examples. */
export const broadcastBatch = (value: DeviceValue, count: number): DeviceValue =>
  operationValue('broadcastTo', [value], [[count, ...value.shape]]);

/** An operation of the core, or another node, on batchable operands. */
export interface BatchingCase {
  readonly signature: Signature | undefined;
  readonly rows: readonly (BatchableValue | number)[];
  readonly count: number;
  readonly make: Make;
  /** Computes one example. */
  readonly one: (sources: readonly NodeInput[]) => DeviceValue;
}

/** An operation of the core on batchable operands. */
interface Call extends BatchingCase {
  readonly signature: Signature;
}

/**
 * Inputs, arguments and, if it changes, the name of the operation on the batch; undefined where the rule does not
 * apply.
 */
type Rule = (
  call: Call,
) => readonly [readonly NodeInput[], readonly unknown[], OperationName?] | undefined;

/** The result for the entire batch. At least one of the operands is batched. */
export function applyToBatch({ signature, ...rest }: BatchingCase): DeviceValue {
  const found = signature && byRule({ signature, ...rest });
  return found ?? oneByOne(rest);
}

function byRule(call: Call): DeviceValue | undefined {
  const { signature, count, make } = call;
  const { op, shape, dtype } = signature;
  const rule = rules[op] ?? ('operandKind' in operations[op] ? elementwise : undefined);
  const found = rule?.(call);
  if (found === undefined) return undefined;
  const [sources, values, other = op] = found;
  const types = sources.map((each, at): ValueType =>
    typeof each === 'number' ? signature.inputs[at]! : valueType(each.shape, each.dtype),
  );
  const batch = engine.signatures.of(other, types, values);
  const isExpected = batch.dtype === dtype && batch.shape.join() === [count, ...shape].join();
  return isExpected ? make(pendingValue(batch, sources)) : undefined;
}

function oneByOne({ rows, count, make, one }: Omit<BatchingCase, 'signature'>): DeviceValue {
  const all = Array.from({ length: count }, (_, at) => {
    const sources = rows.map((each): NodeInput => {
      if (typeof each === 'number') return each;
      if (!each.isBatch) return each.value;
      const { shape } = each.value;
      const begin = shape.map((_, axis) => (axis === 0 ? at : 0));
      const row = make(operationValue('slice', [each.value], [begin, [1, ...shape.slice(1)]]));
      return make(operationValue('reshape', [row], [shape.slice(1)]));
    });
    return make(one(sources));
  });
  return make(operationValue('stack', all, [0]));
}

/** The operands with axes of size 1 inserted after the batch axis, so that all have the same rank. */
function aligned({ signature, rows, make }: Call, least = 0): NodeInput[] {
  const rank = Math.max(least, ...signature.inputs.map(({ shape }) => shape.length));
  return rows.map((each, at): NodeInput => {
    if (typeof each === 'number') return each;
    const { shape } = signature.inputs[at]!;
    if (!each.isBatch || shape.length === rank) return each.value;
    const missing = new Array<number>(rank - shape.length).fill(1);
    return make(
      operationValue('reshape', [each.value], [[each.value.shape[0]!, ...missing, ...shape]]),
    );
  });
}

const elementwise: Rule = (call) => [aligned(call), call.signature.values];

const product: Rule = (call) =>
  call.signature.inputs.some(({ shape }) => shape.length < 2) ? undefined : elementwise(call);

/** A unary operation with arguments adjusted for the batch axis. */
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
    return values && [[(call.rows[0] as BatchableValue).value], values];
  };

/** Changes of shape that preserve the order of the elements. */
const shaped: Rule = ({ signature: { shape }, rows, count }) => [
  [(rows[0] as BatchableValue).value],
  [[count, ...shape]],
  'reshape',
];

const further = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis) + 1;

/** The first argument is an axis or a list of axes. Default: `other`, or all axes where that is undefined. */
const along = (other?: number): Rule =>
  ofOne(([axis, ...rest], rank) => {
    if (rank === 0) return undefined;
    const axes = (axis ?? other ?? [...Array(rank).keys()]) as number | number[];
    const moved = Array.isArray(axes)
      ? axes.map((each) => further(each, rank))
      : further(axes, rank);
    return [moved, ...rest];
  });

/** One entry per axis, or one for all axes; `first` is that of the batch axis. */
const forEach = (value: unknown, rank: number, first: unknown): unknown[] | undefined => {
  if (!Array.isArray(value) || value.length !== rank) return undefined;
  return [first, ...(value as unknown[])];
};

/** Concatenation: all operands become batches. */
const concatenated: Rule = ({ signature, rows, count, make }) => {
  const axis = (signature.values[0] ?? 0) as number;
  const all = rows.map((each) => {
    const { value, isBatch } = each as BatchableValue;
    return isBatch ? value : make(broadcastBatch(value, count));
  });
  const rank = signature.shape.length;
  return [all, [further(axis, rank), ...signature.values.slice(1)]];
};

/** Operations whose first axis already is a batch, such as convolutions: the two batch axes are merged. */
const imageOps: Rule = ({ signature, rows, count, make }) => {
  const [first, ...others] = rows as BatchableValue[];
  if (!first!.isBatch || others.some(({ isBatch }) => isBatch)) return undefined;
  const [each, ...inner] = signature.inputs[0]!.shape;
  const flat = make(operationValue('reshape', [first!.value], [[count * each!, ...inner]]));
  const sources = [flat, ...others.map(({ value }) => value)];
  const types = sources.map(({ shape, dtype }) => valueType(shape, dtype));
  const batch = engine.signatures.of(signature.op, types, signature.values);
  if (batch.shape[0] !== count * signature.shape[0]!) return undefined;
  return [[make(pendingValue(batch, sources))], [[count, ...signature.shape]], 'reshape'];
};

/** Indices are a batch, the table is shared. */
const gatherFromShared: Rule = ({ signature: { values }, rows }) => {
  const [table, indices] = rows as BatchableValue[];
  const isFirst = ((values[0] ?? 0) as number) === 0;
  return !table!.isBatch && isFirst ? [[table!.value, indices!.value], values] : undefined;
};

/** Random numbers from a batch of automatic seeds. */
const unseeded: Rule = ({ signature: { values }, rows, count, make }) => {
  const [{ value, isSeed }] = rows as [BatchableValue];
  if (isSeed !== true || value.shape.length > 1) return undefined;
  const first = make(
    operationValue('reshape', [make(operationValue('slice', [value], [[0], [1]]))], [[]]),
  );
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
  concat: concatenated,
  stack: concatenated,
  conv1d: imageOps,
  conv2d: imageOps,
  conv3d: imageOps,
  depthwiseConv2d: imageOps,
  maxPool: imageOps,
  avgPool: imageOps,
  resizeBilinear: imageOps,
  resizeNearestNeighbor: imageOps,
  gather: gatherFromShared,
  sort: along(-1),
  argsort: along(-1),
  topkIndices: ofOne((values, rank) => (rank === 0 ? undefined : values)),
  cumsum: along(0),
  cumprod: along(0),
  oneHot: imageOps,
  randomUniform: unseeded,
  randomNormal: unseeded,
  truncatedNormal: unseeded,
};
