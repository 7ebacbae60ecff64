// A static batch size in the shapes of layers and models, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { same } from './lib.mjs';
import * as tl from 'tensorlathe/tfjs';

const symbolic = (lib, shape) => new lib.SymbolicTensor('float32', shape, null, [], null);

test('shapes of inputs and of later layers contain the batch size', () =>
  same((lib) => {
    const x = lib.input({ batchShape: [2, 4, 4, 1] });
    const c = lib.layers.conv2d({ filters: 3, kernelSize: 3 }).apply(x);
    const f = lib.layers.flatten().apply(c);
    const [h, s] = lib.layers
      .lstm({ units: 3, returnState: true })
      .apply(lib.input({ batchShape: [5, 4, 2] }));
    return [x, c, f, h, s].map((each) => [each.shape, each.dtype, each.rank]);
  }));

test('summary and shapes of models contain it, in Sequential and graph models', () =>
  same((lib) => {
    const lines = [];
    const print = (line) => lines.push(line.replace(/(dense_Dense|input|sequential_)\d+/g, '$1'));
    const row = lib.sequential({
      layers: [
        lib.layers.dense({ units: 3, batchInputShape: [2, 4] }),
        lib.layers.dense({ units: 1 }),
      ],
    });
    row.summary(undefined, undefined, print);
    const x = lib.input({ batchShape: [2, 4] });
    const graph = lib.model({ inputs: x, outputs: row.apply(x) });
    const flat = lib.model({ inputs: x, outputs: lib.layers.dense({ units: 2 }).apply(x) });
    flat.summary(undefined, undefined, print);
    const around = lib.sequential({ layers: [row, lib.layers.dense({ units: 2 })] });
    const ends = [row, graph, around].map(({ inputs, outputs }) => [
      inputs[0].shape,
      outputs[0].shape,
    ]);
    return [lines, row.outputShape, around.outputShape, around.layers[1].input.shape, ends];
  }));

test('a null batch size of one input is that of another', () =>
  same((lib) => {
    const [a, b] = [lib.input({ batchShape: [2, 4] }), lib.input({ shape: [4] })];
    const { add, multiply } = lib.layers;
    return [add().apply([a, b]).shape, multiply().apply([b, a]).shape];
  }));

test('inputs with different batch sizes are an error', () => {
  const [a, b] = [2, 3].map((rows) => tl.input({ batchShape: [rows, 4] }));
  for (const layer of [tl.layers.add(), tl.layers.concatenate()]) {
    assert.throws(() => layer.apply([a, b]), {
      name: 'LatheError',
      message: /inputs with batches of 2 and 3 rows/,
    });
  }
});

test('stateless models accept other batch sizes', () =>
  same((lib) => {
    const layer = lib.layers.dense({
      units: 1,
      batchInputShape: [2, 4],
      kernelInitializer: 'ones',
    });
    return [
      ...lib
        .sequential({ layers: [layer] })
        .predict(lib.ones([3, 4]))
        .dataSync(),
    ];
  }));

test('layers are called on symbolic tensors of the program', () =>
  same((lib) => {
    const x = symbolic(lib, [10, 4]);
    const layer = lib.layers.dense({ units: 2 });
    const y = layer.apply(x);
    const z = lib.layers.concatenate().apply([y, symbolic(lib, [10, 3])]);
    const named = new lib.SymbolicTensor('int32', [null, 3], null, [], null, 'named', 1);
    return [
      [x.shape, x.rank, x.dtype, y.shape, z.shape],
      [named.name, named.dtype, named.outputTensorIndex],
      layer.computeOutputShape([7, 4]),
      layer.getWeights().map(({ shape }) => shape),
      y.sourceLayer === layer,
    ];
  }));

test('the inputs of a model must be outputs of layers', () => {
  const x = symbolic(tl, [null, 4]);
  const outputs = tl.layers.dense({ units: 1 }).apply(x);
  assert.throws(() => tl.model({ inputs: x, outputs }), {
    name: 'LatheError',
    message: /tl\.input/,
  });
});
