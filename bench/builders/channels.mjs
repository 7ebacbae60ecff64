/** Transposes between channels-last layout, which descriptions use, and channels-first, which ONNX and jax-js use. */

const positions = { first: [0, 3, 1, 2], last: [0, 2, 3, 1] };

/** The shape of a value of four axes with its channels first; other shapes stay. */
export const channelsFirst = (shape) =>
  shape.length === 4 ? positions.first.map((axis) => shape[axis]) : shape;

/** data of this shape with its axes in the order of axes. */
export function permute(data, shape, axes) {
  const result = new Float32Array(data.length);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const extents = axes.map((axis) => shape[axis]);
  const steps = axes.map((axis) => strides[axis]);
  const index = axes.map(() => 0);
  let from = 0;
  for (let to = 0; to < data.length; to++) {
    result[to] = data[from];
    for (let axis = axes.length - 1; axis >= 0; axis--) {
      from += steps[axis];
      if (++index[axis] < extents[axis]) break;
      from -= steps[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return result;
}

export const toChannelsFirst = (data, shape) =>
  shape.length === 4 ? permute(data, shape, positions.first) : data;

/** The inverse; shape is that of the description. */
export const toChannelsLast = (data, shape) =>
  shape.length === 4 ? permute(data, channelsFirst(shape), positions.last) : data;
