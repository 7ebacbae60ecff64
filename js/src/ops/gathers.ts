/** Elements by their places: taken, put and summed. */
import { LatheError } from '../base/errors.js';
import { checkCount, mostElements, mostValues } from '../base/limits.js';
import { elementCount } from '../base/shape.js';
import { apply } from '../eager/apply.js';
import { grad } from '../eager/gradients.js';
import { castTo, toTensor } from '../eager/operands.js';
import { zeros } from '../eager/constants.js';
import { partsOf, textsOf, textTensor } from '../tensor/odd.js';
import { knownElements } from '../runtime/heap_value.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { TracedTensor } from '../trace/trace.js';
import { prepareAndValidate } from '../shapes/gather_util.js';
import { validateInput } from '../shapes/scatter_util.js';
import { axesOf } from './axes.js';
import { where } from './compare.js';
import { constant, integers } from './constants.js';
import { isFloat } from './floats.js';
import { complexOf, move } from './moving.js';

type Sizes = readonly number[];

/**
 * The slices of x along an axis at the indices; of each batch its own. Errors: axes that there are not; indices outside,
 * where they are known at the call. Those that are computed are moved inside.
 */
export function gather(x: TensorLike, indices: TensorLike, axis = 0, batchDims = 0): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'gather', 'any');
    const places = toTensor(indices, 'indices', 'gather', 'int32');
    const [along] = axesOf(axis, given.rank) as [number];
    checkPlaces(places, given.shape[along]!);
    if (batchDims === 0) return taken(given, places, along);
    const batch = batchDims < 0 ? batchDims + places.rank : batchDims;
    checkBatches(given, places, along, batchDims, batch);
    const order = given.shape.map((_: number, at: number) => at);
    order.splice(batch, 0, ...order.splice(along, 1));
    const front = move('transpose', [given], [order]);
    const [count, size] = [elementCount(given.shape.slice(0, batch)), given.shape[along]!];
    const inner = front.shape.slice(batch + 1);
    const flat = move('reshape', [front], [[count * size, ...inner]]);
    const firsts = integers(
      Array.from({ length: count }, (_, at) => at * size),
      [count, 1],
    );
    const own = elementCount(places.shape.slice(batch));
    const all = apply('add', [apply('reshape', [places], [[count, own]]), firsts]);
    const found = taken(flat, apply('reshape', [all], [[count * own]]), 0);
    const shape = [...places.shape, ...inner];
    const rows = move('reshape', [found], [shape]);
    const outer = along - batch;
    const ids = shape.map((_, at) => at);
    const moved = [
      ...ids.slice(0, batch),
      ...ids.slice(places.rank, places.rank + outer),
      ...ids.slice(batch, places.rank),
      ...ids.slice(places.rank + outer),
    ];
    return move('transpose', [rows], [moved]);
  });
}

function checkBatches(x: Tensor, places: Tensor, axis: number, said: number, batch: number): void {
  if (batch < 0 || batch > places.rank) {
    throw new LatheError(
      `Expect batchDims in the range of [-${places.rank}, ${places.rank}], but got ${said}`,
    );
  }
  if (batch >= x.rank) {
    throw new LatheError(`batchDims (${batch}) must be less than rank(x) (${x.rank}).`);
  }
  if (axis < batch) {
    throw new LatheError(`batchDims (${batch}) must be less than or equal to axis (${axis}).`);
  }
  for (let at = 0; at < batch; at += 1) {
    if (x.shape[at] === places.shape[at]) continue;
    throw new LatheError(
      `x.shape[${at}]: ${x.shape[at]} should be equal to indices.shape[${at}]: ${places.shape[at]}.`,
    );
  }
}

function checkPlaces(places: Tensor, size: number): void {
  for (const each of knownPlaces(places)) {
    if (each >= 0 && each < size) continue;
    throw new LatheError(`GatherV2: the index value ${each} is not in [0, ${size - 1}]`);
  }
}

const knownPlaces = (places: Tensor) =>
  ((!(places instanceof TracedTensor) && knownElements(places)) || []) as Int32Array;

/** How many places along axes one behind the other are one place. */
const depthOf = (indices: Tensor) => (indices.rank < 2 ? 1 : indices.shape.at(-1)!);

function checkRows(indices: Tensor, shape: Sizes, depth = indices.shape.at(-1)!): void {
  const known = knownPlaces(indices);
  known.forEach((each, at) => {
    if (each >= 0 && each < shape[at % depth]!) return;
    const row = known.slice(at - (at % depth), at - (at % depth) + depth);
    throw new LatheError(`Invalid indices: ${row} does not index into ${shape}`);
  });
}

function taken(x: Tensor, places: Tensor, axis: number): Tensor {
  const parts = partsOf(x);
  if (parts !== undefined) {
    return complexOf(taken(parts.real, places, axis), taken(parts.imag, places, axis));
  }
  const texts = textsOf(x);
  if (texts === undefined) return apply('gather', [x, places], [axis]);
  const ids = integers(
    texts.map((_, at) => at),
    [...x.shape],
  );
  const found = taken(ids, places, axis);
  return textTensor(
    Array.from(found.dataSync(), (at) => texts[at]!),
    found.shape,
  );
}

/** Places along several axes, one behind the other in the last axis of `indices`, as places among all slices. */
function flatPlaces(indices: Tensor, shape: Sizes): Tensor {
  const depth = indices.shape.at(-1)!;
  const count = elementCount(indices.shape.slice(0, -1));
  if (depth === 0) return zeros([count], 'int32');
  const rows = apply('reshape', [indices], [[count, depth]]);
  return apply('sum', [apply('mul', [rows, stepsOver(shape.slice(0, depth))])], [[1]]);
}

/** By how many slices a place along each axis advances. */
const stepsOver = (sizes: Sizes): Tensor =>
  integers(sizes.map((_, at) => elementCount(sizes.slice(at + 1))));

/**
 * Slices of x by their places, which are along the last axis of the indices. Errors: no int32; more places than axes;
 * places outside, where they are known at the call.
 */
export function gatherND(x: TensorLike, indices: TensorLike): Tensor {
  return tidy(() => {
    const places = toTensor(indices, 'indices', 'gatherND', 'int32');
    const given = toTensor(x, 'x', 'gatherND', 'any');
    prepareAndValidate(given as never, places as never);
    checkRows(places, given.shape);
    const depth = places.shape.at(-1)!;
    const inner = given.shape.slice(depth);
    const count = elementCount(given.shape.slice(0, depth));
    const rows = move('reshape', [given], [[count, ...inner]]);
    const found = taken(rows, flatPlaces(places, given.shape), 0);
    return move('reshape', [found], [[...places.shape.slice(0, -1), ...inner]]);
  });
}

/** Sums of rows by their places, [count, ...]: what a gather gives back. Places outside give nothing. */
function scattered(places: Tensor, rows: Tensor, count: number): Tensor {
  const shape = [count, ...rows.shape.slice(1)];
  if (count === 0 || rows.size === 0) {
    const none = apply('sum', [rows], [[0]]);
    return castTo(apply('broadcastTo', [none], [shape]), rows.dtype);
  }
  if (!isFloat(rows)) return castTo(scatteredNumbers(places, rows, count), rows.dtype);
  const spare = apply('less', [places, 0], [], 'int32');
  const beyond = apply('greaterEqual', [places, count], [], 'int32');
  const isOutside = apply('logicalOr', [spare, beyond]);
  const kept = where(isOutside, integers([count], []), places);
  const all = zeros([count + 1, ...rows.shape.slice(1)], rows.dtype);
  const read = (x: Tensor) => apply('gather', [x, kept], [0]);
  const traced = [places, rows].find((each) => each instanceof TracedTensor);
  const [summed] = traced ? pulled(traced, read, all, rows) : [grad(read)(all, rows)];
  return apply('slice', [summed!], [shape.map(() => 0), shape]);
}

/** The gradient of `read` at x by that of its result, within a function that is traced. */
function pulled({ trace }: TracedTensor, read: (x: Tensor) => Tensor, ...xs: Tensor[]): Tensor[] {
  const [x, by] = xs.map((each) => trace.apply('reshape', [each], [[...each.shape]])) as [
    TracedTensor,
    TracedTensor,
  ];
  return trace.pullBack([read(x)], [by], [x]);
}

function scatteredNumbers(places: Tensor, rows: Tensor, count: number): Tensor {
  const [to, from] = [places.dataSync(), rows.dataSync()];
  const size = from.length / to.length;
  const sums = new Int32Array(checkCount('unsortedSegmentSum', 'sums', count * size, mostElements));
  to.forEach((row, at) => {
    if (row < 0 || row >= count) return;
    for (let i = 0; i < size; i += 1) sums[row * size + i]! += from[at * size + i]!;
  });
  return constant(sums, [count, ...rows.shape.slice(1)], 'int32');
}

/** As `flatPlaces`, negative where one along an axis is outside. */
function flatPlacesInside(indices: Tensor, shape: Sizes): Tensor {
  const depth = indices.shape.at(-1)!;
  if (depth === 0) return flatPlaces(indices, shape);
  const sizes = shape.slice(0, depth);
  const rows = apply('reshape', [indices], [[elementCount(indices.shape.slice(0, -1)), depth]]);
  const isBefore = apply('less', [rows, 0], [], 'int32');
  const isOutside = apply('logicalOr', [
    isBefore,
    apply('greaterEqual', [rows, integers([...sizes])]),
  ]);
  const outside = integers([-elementCount(sizes)], []);
  return apply('sum', [where(isOutside, outside, apply('mul', [rows, stepsOver(sizes)]))], [[1]]);
}

/**
 * Zeros of the shape with the updates at their places; those at the same place are summed. Errors: they do not fit; places
 * outside, where they are known at the call. Those that are computed give nothing.
 */
export function scatterND(indices: TensorLike, updates: TensorLike, shape: Sizes): Tensor {
  return tidy(() => {
    const places = toTensor(indices, 'indices', 'scatterND', 'int32');
    const given = toTensor(updates, 'updates', 'scatterND');
    validateInput(given as never, places as never, [...shape]);
    const depth = depthOf(places);
    checkRows(places, shape, depth);
    const all = places.rank < 2 ? apply('reshape', [places], [[...places.shape, 1]]) : places;
    checkCount('scatterND', `elements [${shape.join()}]`, elementCount(shape), mostElements);
    const inner = shape.slice(depth);
    const to =
      knownPlaces(places).length > 0 ? flatPlaces(all, shape) : flatPlacesInside(all, shape);
    const rows = apply('reshape', [given], [[to.size, ...inner]]);
    const sums = scattered(to, rows, elementCount(shape.slice(0, depth)));
    return apply('reshape', [sums], [[...shape]]);
  });
}

/** A copy of the tensor with the updates at their places, which are read. Errors: they do not fit; places outside. */
export function tensorScatterUpdate(
  tensor: TensorLike,
  indices: TensorLike,
  updates: TensorLike,
): Tensor {
  return tidy(() => {
    const given = toTensor(tensor, 'tensor', 'tensorScatterupdate');
    const places = toTensor(indices, 'indices', 'tensorScatterupdate', 'int32');
    const rows = toTensor(updates, 'updates', 'tensorScatterupdate');
    validateInput(rows as never, places as never, [...given.shape]);
    if (given.dtype !== rows.dtype) {
      throw new LatheError(
        `tensor and updates must have the same dtype, instead they are ${given.dtype} and ${rows.dtype}.`,
      );
    }
    const depth = depthOf(places);
    places.dataSync();
    checkRows(places, given.shape, depth);
    const all = places.rank < 2 ? apply('reshape', [places], [[...places.shape, 1]]) : places;
    const count = elementCount(given.shape.slice(0, depth));
    const to = Array.from(flatPlaces(all, given.shape).dataSync());
    const inner = given.shape.slice(depth);
    const from = integers(Array.from({ length: count }, (_, at) => at));
    const chosen = Int32Array.from(from.dataSync());
    to.forEach((row, at) => (chosen[row] = count + at));
    const both = apply(
      'concat',
      [
        apply('reshape', [given], [[count, ...inner]]),
        apply('reshape', [rows], [[to.length, ...inner]]),
      ],
      [0],
    );
    return apply('reshape', [apply('gather', [both, integers(chosen)], [0])], [[...given.shape]]);
  });
}

/** Sums of the slices of x that have the same id, [numSegments, ...]. Errors: ids that are no int32. */
export function unsortedSegmentSum(
  x: TensorLike,
  segmentIds: TensorLike,
  numSegments: number,
): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'unsortedSegmentSum');
    const ids = toTensor(segmentIds, 'segmentIds', 'unsortedSegmentSum', 'int32');
    if (!Number.isInteger(numSegments)) throw new LatheError('numSegments must be of dtype int');
    const rows = apply('reshape', [given], [[ids.size, ...given.shape.slice(ids.rank)]]);
    return scattered(apply('reshape', [ids], [[ids.size]]), rows, numSegments);
  });
}

/** The default value with values at their places, which are read. Errors: they do not fit; places outside. */
export function sparseToDense(
  sparseIndices: TensorLike,
  sparseValues: TensorLike,
  outputShape: Sizes,
  defaultValue: TensorLike = 0,
): Tensor {
  return tidy(() => {
    const places = toTensor(sparseIndices, 'sparseIndices', 'sparseToDense', 'int32');
    const values = toTensor(sparseValues, 'sparseValues', 'sparseToDense', 'any');
    const other = toTensor(defaultValue, 'defaultValue', 'sparseToDense', values.dtype);
    checkSparse(places, values, outputShape, other);
    places.dataSync();
    checkRows(places, outputShape, depthOf(places));
    const all = places.rank < 2 ? apply('reshape', [places], [[places.size, 1]]) : places;
    const what = `elements [${outputShape.join()}]`;
    const count = checkCount('sparseToDense', what, elementCount(outputShape), 4 * mostValues);
    const chosen = new Int32Array(count);
    flatPlaces(all, outputShape)
      .dataSync()
      .forEach((to, at) => (chosen[to] = 1 + at));
    const many =
      values.rank === 0 && all.shape[0] !== 1
        ? move('broadcastTo', [values], [[all.shape[0]]])
        : move('reshape', [values], [[values.size]]);
    const both = move('concat', [move('reshape', [other], [[1]]), many], [0]);
    return move('reshape', [taken(both, integers(chosen), 0)], [[...outputShape]]);
  });
}

function checkSparse(places: Tensor, values: Tensor, shape: Sizes, other: Tensor): void {
  if (places.rank > 2) {
    throw new LatheError(
      `sparseIndices should be a scalar, vector, or matrix, but got shape ${places.shape.join(',')}.`,
    );
  }
  const count = places.rank > 0 ? places.shape[0]! : 1;
  const depth = places.rank > 1 ? places.shape[1]! : 1;
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
