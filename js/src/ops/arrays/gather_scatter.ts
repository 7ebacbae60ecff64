/** Gather and scatter: elements read, replaced and summed by index. */
import { LatheError } from '../../base/errors.js';
import { checkCount, maxElements, maxValues } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { grad } from '../../eager/autodiff/gradients.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { zeros } from '../../eager/constants.js';
import { partsOf, stringsOf, stringTensor } from '../../tensor/string_complex.js';
import { elementsOnHost } from '../../runtime/device_value.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { TracedTensor } from '../../trace/trace.js';
import { prepareAndValidate } from '../../shapes/gather_util.js';
import { validateInput } from '../../shapes/scatter_util.js';
import { axesOf } from '../common/axes.js';
import { where } from '../elementwise/compare.js';
import { constant, integers } from '../common/constants.js';
import { isFloat } from '../common/floats.js';
import { complexOf, moveElements } from '../common/data_movement.js';

type Sizes = readonly number[];

/**
 * The slices of x along an axis at the indices, batch by batch. Errors: axes or batchDims out of range; indices outside,
 * where their values are available at the call. Computed indices are clamped into range.
 */
export function gather(x: TensorLike, indices: TensorLike, axis = 0, batchDims = 0): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', 'gather', 'any');
    const indexTensor = toTensor(indices, 'indices', 'gather', 'int32');
    const [along] = axesOf(axis, input.rank) as [number];
    checkIndices(indexTensor, input.shape[along]!);
    if (batchDims === 0) return slicesAt(input, indexTensor, along);
    const batch = batchDims < 0 ? batchDims + indexTensor.rank : batchDims;
    checkBatches(input, indexTensor, along, batchDims, batch);
    const order = input.shape.map((_: number, at: number) => at);
    order.splice(batch, 0, ...order.splice(along, 1));
    const front = moveElements('transpose', [input], [order]);
    const [count, size] = [elementCount(input.shape.slice(0, batch)), input.shape[along]!];
    const inner = front.shape.slice(batch + 1);
    const flat = moveElements('reshape', [front], [[count * size, ...inner]]);
    const firsts = integers(
      Array.from({ length: count }, (_, at) => at * size),
      [count, 1],
    );
    const inBatch = elementCount(indexTensor.shape.slice(batch));
    const all = applyOperation('add', [
      applyOperation('reshape', [indexTensor], [[count, inBatch]]),
      firsts,
    ]);
    const found = slicesAt(flat, applyOperation('reshape', [all], [[count * inBatch]]), 0);
    const shape = [...indexTensor.shape, ...inner];
    const rows = moveElements('reshape', [found], [shape]);
    const outer = along - batch;
    const ids = shape.map((_, at) => at);
    const moved = [
      ...ids.slice(0, batch),
      ...ids.slice(indexTensor.rank, indexTensor.rank + outer),
      ...ids.slice(batch, indexTensor.rank),
      ...ids.slice(indexTensor.rank + outer),
    ];
    return moveElements('transpose', [rows], [moved]);
  });
}

function checkBatches(
  x: Tensor,
  indexTensor: Tensor,
  axis: number,
  passed: number,
  batch: number,
): void {
  if (batch < 0 || batch > indexTensor.rank) {
    throw new LatheError(
      `Expect batchDims in the range of [-${indexTensor.rank}, ${indexTensor.rank}], but got ${passed}`,
    );
  }
  if (batch >= x.rank) {
    throw new LatheError(`batchDims (${batch}) must be less than rank(x) (${x.rank}).`);
  }
  if (axis < batch) {
    throw new LatheError(`batchDims (${batch}) must be less than or equal to axis (${axis}).`);
  }
  for (let at = 0; at < batch; at += 1) {
    if (x.shape[at] === indexTensor.shape[at]) continue;
    throw new LatheError(
      `x.shape[${at}]: ${x.shape[at]} should be equal to indices.shape[${at}]: ${indexTensor.shape[at]}.`,
    );
  }
}

function checkIndices(indexTensor: Tensor, size: number): void {
  for (const each of readableIndices(indexTensor)) {
    if (each >= 0 && each < size) continue;
    throw new LatheError(`GatherV2: the index value ${each} is not in [0, ${size - 1}]`);
  }
}

const readableIndices = (indexTensor: Tensor) =>
  ((!(indexTensor instanceof TracedTensor) && elementsOnHost(indexTensor)) || []) as Int32Array;

/** How many components each index tuple has. */
const depthOf = (indices: Tensor) => (indices.rank < 2 ? 1 : indices.shape.at(-1)!);

function checkRows(indices: Tensor, shape: Sizes, depth = indices.shape.at(-1)!): void {
  const readable = readableIndices(indices);
  readable.forEach((each, at) => {
    if (each >= 0 && each < shape[at % depth]!) return;
    const row = readable.slice(at - (at % depth), at - (at % depth) + depth);
    throw new LatheError(`Invalid indices: ${row} does not index into ${shape}`);
  });
}

function slicesAt(x: Tensor, indexTensor: Tensor, axis: number): Tensor {
  const parts = partsOf(x);
  if (parts !== undefined) {
    return complexOf(
      slicesAt(parts.real, indexTensor, axis),
      slicesAt(parts.imag, indexTensor, axis),
    );
  }
  const texts = stringsOf(x);
  if (texts === undefined) return applyOperation('gather', [x, indexTensor], [axis]);
  const ids = integers(
    texts.map((_, at) => at),
    [...x.shape],
  );
  const found = slicesAt(ids, indexTensor, axis);
  return stringTensor(
    Array.from(found.dataSync(), (at) => texts[at]!),
    found.shape,
  );
}

/** Index tuples, in the last axis of `indices`, as row-major indices of slices. */
function flatIndices(indices: Tensor, shape: Sizes): Tensor {
  const depth = indices.shape.at(-1)!;
  const count = elementCount(indices.shape.slice(0, -1));
  if (depth === 0) return zeros([count], 'int32');
  const rows = applyOperation('reshape', [indices], [[count, depth]]);
  return applyOperation(
    'sum',
    [applyOperation('mul', [rows, stridesOf(shape.slice(0, depth))])],
    [[1]],
  );
}

/** Row-major strides, in slices. */
const stridesOf = (sizes: Sizes): Tensor =>
  integers(sizes.map((_, at) => elementCount(sizes.slice(at + 1))));

/**
 * Slices of x by index tuples in the last axis of the indices. Errors: not int32; tuples longer than the rank of x;
 * indices outside, where their values are available at the call.
 */
export function gatherND(x: TensorLike, indices: TensorLike): Tensor {
  return tidy(() => {
    const indexTensor = toTensor(indices, 'indices', 'gatherND', 'int32');
    const input = toTensor(x, 'x', 'gatherND', 'any');
    prepareAndValidate(input as never, indexTensor as never);
    checkRows(indexTensor, input.shape);
    const depth = indexTensor.shape.at(-1)!;
    const inner = input.shape.slice(depth);
    const count = elementCount(input.shape.slice(0, depth));
    const rows = moveElements('reshape', [input], [[count, ...inner]]);
    const found = slicesAt(rows, flatIndices(indexTensor, input.shape), 0);
    return moveElements('reshape', [found], [[...indexTensor.shape.slice(0, -1), ...inner]]);
  });
}

/** Sums rows by index, [count, ...]: the gradient of a gather. Rows with an index outside are dropped. */
function scatterSum(indexTensor: Tensor, rows: Tensor, count: number): Tensor {
  const shape = [count, ...rows.shape.slice(1)];
  if (count === 0 || rows.size === 0) {
    const none = applyOperation('sum', [rows], [[0]]);
    return castTo(applyOperation('broadcastTo', [none], [shape]), rows.dtype);
  }
  if (!isFloat(rows)) return castTo(scatterSumIntegers(indexTensor, rows, count), rows.dtype);
  const spare = applyOperation('less', [indexTensor, 0], [], 'int32');
  const beyond = applyOperation('greaterEqual', [indexTensor, count], [], 'int32');
  const isOutside = applyOperation('logicalOr', [spare, beyond]);
  const clamped = where(isOutside, integers([count], []), indexTensor);
  const all = zeros([count + 1, ...rows.shape.slice(1)], rows.dtype);
  const read = (x: Tensor) => applyOperation('gather', [x, clamped], [0]);
  const traced = [indexTensor, rows].find((each) => each instanceof TracedTensor);
  const [summed] = traced ? vjpOf(traced, read, all, rows) : [grad(read)(all, rows)];
  return applyOperation('slice', [summed!], [shape.map(() => 0), shape]);
}

/** The vector-Jacobian product of `read` at x, within a traced function. */
function vjpOf({ trace }: TracedTensor, read: (x: Tensor) => Tensor, ...xs: Tensor[]): Tensor[] {
  const [x, by] = xs.map((each) => trace.apply('reshape', [each], [[...each.shape]])) as [
    TracedTensor,
    TracedTensor,
  ];
  return trace.vjp([read(x)], [by], [x]);
}

function scatterSumIntegers(indexTensor: Tensor, rows: Tensor, count: number): Tensor {
  const [to, from] = [indexTensor.dataSync(), rows.dataSync()];
  const size = from.length / to.length;
  const sums = new Int32Array(checkCount('unsortedSegmentSum', 'sums', count * size, maxElements));
  to.forEach((row, at) => {
    if (row < 0 || row >= count) return;
    for (let i = 0; i < size; i += 1) sums[row * size + i]! += from[at * size + i]!;
  });
  return constant(sums, [count, ...rows.shape.slice(1)], 'int32');
}

/** As `flatIndices`, of indices that are read. Error: one outside of the shape. */
function flatIndicesOnHost(indices: Tensor, shape: Sizes): number[] {
  const [data, depth] = [indices.dataSync(), depthOf(indices)];
  checkRows(indices, shape, depth);
  const { length } = indices.rank < 2 ? data : { length: elementCount(indices.shape.slice(0, -1)) };
  return Array.from({ length }, (_, row) => {
    let flat = 0;
    for (let axis = 0; axis < depth; axis += 1)
      flat = flat * shape[axis]! + data[row * depth + axis]!;
    return flat;
  });
}

/** As `flatIndices`, negative where any component is outside. */
function flatIndicesInside(indices: Tensor, shape: Sizes): Tensor {
  const depth = indices.shape.at(-1)!;
  if (depth === 0) return flatIndices(indices, shape);
  const sizes = shape.slice(0, depth);
  const rows = applyOperation(
    'reshape',
    [indices],
    [[elementCount(indices.shape.slice(0, -1)), depth]],
  );
  const isBefore = applyOperation('less', [rows, 0], [], 'int32');
  const isOutside = applyOperation('logicalOr', [
    isBefore,
    applyOperation('greaterEqual', [rows, integers([...sizes])]),
  ]);
  const outside = integers([-elementCount(sizes)], []);
  return applyOperation(
    'sum',
    [where(isOutside, outside, applyOperation('mul', [rows, stridesOf(sizes)]))],
    [[1]],
  );
}

/**
 * Zeros of the shape with the updates at their indices; duplicates are summed. Errors: shapes that do not fit; indices
 * outside, where their values are available at the call. Computed indices outside are dropped.
 */
export function scatterND(indices: TensorLike, updates: TensorLike, shape: Sizes): Tensor {
  return tidy(() => {
    const indexTensor = toTensor(indices, 'indices', 'scatterND', 'int32');
    const input = toTensor(updates, 'updates', 'scatterND');
    validateInput(input as never, indexTensor as never, [...shape]);
    const depth = depthOf(indexTensor);
    checkRows(indexTensor, shape, depth);
    const all =
      indexTensor.rank < 2
        ? applyOperation('reshape', [indexTensor], [[...indexTensor.shape, 1]])
        : indexTensor;
    checkCount('scatterND', `elements [${shape.join()}]`, elementCount(shape), maxElements);
    const inner = shape.slice(depth);
    const to =
      readableIndices(indexTensor).length > 0
        ? flatIndices(all, shape)
        : flatIndicesInside(all, shape);
    const rows = applyOperation('reshape', [input], [[to.size, ...inner]]);
    const sums = scatterSum(to, rows, elementCount(shape.slice(0, depth)));
    return applyOperation('reshape', [sums], [[...shape]]);
  });
}

/** A copy of the tensor with the updates at the indices, which are read. Errors: shapes that do not fit; indices outside. */
export function tensorScatterUpdate(
  tensor: TensorLike,
  indices: TensorLike,
  updates: TensorLike,
): Tensor {
  return tidy(() => {
    const input = toTensor(tensor, 'tensor', 'tensorScatterupdate');
    const indexTensor = toTensor(indices, 'indices', 'tensorScatterupdate', 'int32');
    const rows = toTensor(updates, 'updates', 'tensorScatterupdate');
    validateInput(rows as never, indexTensor as never, [...input.shape]);
    if (input.dtype !== rows.dtype) {
      throw new LatheError(
        `tensor and updates must have the same dtype, instead they are ${input.dtype} and ${rows.dtype}.`,
      );
    }
    const depth = depthOf(indexTensor);
    const to = flatIndicesOnHost(indexTensor, input.shape);
    const count = elementCount(input.shape.slice(0, depth));
    const inner = input.shape.slice(depth);
    const from = integers(Array.from({ length: count }, (_, at) => at));
    const chosen = Int32Array.from(from.dataSync());
    to.forEach((row, at) => (chosen[row] = count + at));
    const both = applyOperation(
      'concat',
      [
        applyOperation('reshape', [input], [[count, ...inner]]),
        applyOperation('reshape', [rows], [[to.length, ...inner]]),
      ],
      [0],
    );
    return applyOperation(
      'reshape',
      [applyOperation('gather', [both, integers(chosen)], [0])],
      [[...input.shape]],
    );
  });
}

/** Sums of the slices of x that have the same id, [numSegments, ...]. Errors: ids that are not int32. */
export function unsortedSegmentSum(
  x: TensorLike,
  segmentIds: TensorLike,
  numSegments: number,
): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', 'unsortedSegmentSum');
    const ids = toTensor(segmentIds, 'segmentIds', 'unsortedSegmentSum', 'int32');
    if (!Number.isInteger(numSegments)) throw new LatheError('numSegments must be of dtype int');
    const rows = applyOperation('reshape', [input], [[ids.size, ...input.shape.slice(ids.rank)]]);
    return scatterSum(applyOperation('reshape', [ids], [[ids.size]]), rows, numSegments);
  });
}

/** The default value with values at the indices, which are read. Errors: shapes that do not fit; indices outside. */
export function sparseToDense(
  sparseIndices: TensorLike,
  sparseValues: TensorLike,
  outputShape: Sizes,
  defaultValue: TensorLike = 0,
): Tensor {
  return tidy(() => {
    const indexTensor = toTensor(sparseIndices, 'sparseIndices', 'sparseToDense', 'int32');
    const values = toTensor(sparseValues, 'sparseValues', 'sparseToDense', 'any');
    const other = toTensor(defaultValue, 'defaultValue', 'sparseToDense', values.dtype);
    checkSparse(indexTensor, values, outputShape, other);
    const rows = flatIndicesOnHost(indexTensor, outputShape);
    const what = `elements [${outputShape.join()}]`;
    const count = checkCount('sparseToDense', what, elementCount(outputShape), 4 * maxValues);
    const chosen = new Int32Array(count);
    rows.forEach((to, at) => (chosen[to] = 1 + at));
    const many =
      values.rank === 0 && rows.length !== 1
        ? moveElements('broadcastTo', [values], [[rows.length]])
        : moveElements('reshape', [values], [[values.size]]);
    const both = moveElements('concat', [moveElements('reshape', [other], [[1]]), many], [0]);
    return moveElements('reshape', [slicesAt(both, integers(chosen), 0)], [[...outputShape]]);
  });
}

function checkSparse(indexTensor: Tensor, values: Tensor, shape: Sizes, other: Tensor): void {
  if (indexTensor.rank > 2) {
    throw new LatheError(
      `sparseIndices should be a scalar, vector, or matrix, but got shape ${indexTensor.shape.join(',')}.`,
    );
  }
  const count = indexTensor.rank > 0 ? indexTensor.shape[0]! : 1;
  const depth = indexTensor.rank > 1 ? indexTensor.shape[1]! : 1;
  if (shape.length !== depth) {
    throw new LatheError(
      `outputShape has incorrect number of elements:, ${shape.length}, should be: ${depth}.`,
    );
  }
  if (values.rank !== 0 && !(values.rank === 1 && values.size === count)) {
    throw new LatheError(
      `sparseValues has incorrect shape ${values.shape.join(',')}, should be [] or [${count}]`,
    );
  }
  if (values.dtype !== other.dtype) {
    throw new LatheError('sparseValues.dtype must match defaultValues.dtype');
  }
}
