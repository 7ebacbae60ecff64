/** Rows of random sizes: they check that all peers compute the same, and are not measured. */
import { describe } from './models/model.mjs';
import { inferenceRow } from './suites/rows.mjs';

const format = (shape) => shape.join('×');

/** Products of two matrices that are inputs, in each of their forms. */
export function randomProducts(sizes, count = 16) {
  const forms = [{}, {}, { transposeA: true }, { transposeB: true }, { batch: true }];
  return Array.from({ length: count }, (_, at) => {
    const { transposeA, transposeB, batch } = forms[at % forms.length];
    const [rows, depth, columns] = sizes.sizes(3);
    const lead = batch ? [sizes.size(6)] : [];
    const left = [...lead, ...(transposeA ? [depth, rows] : [rows, depth])];
    const right = [...lead, ...(transposeB ? [columns, depth] : [depth, columns])];
    const m = describe(
      `${format(left)}${transposeA ? 'ᵀ' : ''} · ${format(right)}${transposeB ? 'ᵀ' : ''}`,
    );
    return inferenceRow(
      m.output(m.matMul(m.input(left), m.input(right), { transposeA, transposeB })),
    );
  });
}

/** Dense networks of one to four layers. */
export function randomNetworks(sizes, count = 12) {
  return Array.from({ length: count }, () => {
    const [batch, ...widths] = sizes.sizes(sizes.between(3, 6));
    const m = describe(`dense ${widths.join('-')} batch ${batch}`);
    let x = m.input([batch, widths[0]]);
    for (const width of widths.slice(1))
      x = m.dense(x, width, sizes.pick(['sigmoid', 'relu', null]));
    return inferenceRow(m.output(m.softmax(x)));
  });
}

/** Random stride and padding of a window; not every peer supports strides larger than the window. */
const windowOf = (sizes, window) => ({
  stride: sizes.between(1, Math.min(window, 2)),
  padding: sizes.pick(['same', 'valid']),
});

const image = (sizes, least) => [
  sizes.between(1, 3),
  least + sizes.size(20),
  least + sizes.size(20),
  sizes.size(),
];

/** Each returns the shape of the input and the function of it. */
const operations = {
  conv(sizes) {
    const window = sizes.between(1, 5);
    const options = { ...windowOf(sizes, window), activation: sizes.pick([null, 'relu']) };
    const filters = sizes.size();
    return [image(sizes, window), (m, x) => m.conv2d(x, filters, window, options)];
  },
  depthwise(sizes) {
    const window = sizes.between(1, 5);
    const options = windowOf(sizes, window);
    return [image(sizes, window), (m, x) => m.depthwiseConv2d(x, window, options)];
  },
  'max pool'(sizes) {
    const window = sizes.between(1, 4);
    const options = windowOf(sizes, window);
    return [image(sizes, window), (m, x) => m.maxPool2d(x, window, options)];
  },
  'average of images': (sizes) => [image(sizes, 0), (m, x) => m.globalAveragePool2d(x)],
  'conv and dense'(sizes) {
    const [window, filters, units] = [sizes.between(1, 3), sizes.size(), sizes.size()];
    const apply = (m, x) =>
      m.dense(m.globalAveragePool2d(m.conv2d(x, filters, window)), units, 'relu');
    return [image(sizes, window), apply];
  },
  softmax: (sizes) => [sizes.sizes(2), (m, x) => m.softmax(x)],
  'layer-norm': (sizes) => [[sizes.size(), 1 + sizes.size()], (m, x) => m.layerNorm(x)],
  gelu: (sizes) => [
    sizes.sizes(2),
    (m, x) => m.gelu(m.add(m.mul(x, m.constant(x.shape, 2)), m.constant([x.shape[1]], 1))),
  ],
  sum(sizes) {
    const axes = sizes.pick([[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]]);
    return [sizes.sizes(3, 20), (m, x) => m.sum(x, axes)];
  },
  transpose: (sizes) => [sizes.sizes(sizes.between(2, 3)), (m, x) => m.transpose(x)],
  cumsum: (sizes) => [sizes.sizes(2), (m, x) => m.cumsum(x)],
  top(sizes) {
    const shape = sizes.sizes(2);
    const k = sizes.between(1, shape[1]);
    return [shape, (m, x) => m.topK(x, k)];
  },
  'resize bilinear'(sizes) {
    const to = sizes.sizes(2);
    return [image(sizes, 0), (m, x) => m.resizeBilinear(x, to)];
  },
};

/** Every operation so many times. */
export function randomOperations(sizes, count = 3) {
  return Object.entries(operations).flatMap(([name, draw]) =>
    Array.from({ length: count }, () => {
      const [shape, apply] = draw(sizes);
      const m = describe('');
      const model = m.output(apply(m, m.input(shape)));
      const to = model.values[model.output].shape;
      return inferenceRow({ ...model, name: `${name} ${format(shape)} → ${format(to)}` });
    }),
  );
}
