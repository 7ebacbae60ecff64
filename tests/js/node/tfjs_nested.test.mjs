// Models as layers of other models, beside TensorFlow.js.
import { test } from 'node:test';
import { dense, same } from './tfjs_layers_lib.mjs';

test('a model within another takes inputs of other shapes that its weights fit', () =>
  same(async (lib) => {
    const inner = lib.sequential({
      layers: [
        dense(lib, { units: 6, inputShape: [3] }),
        lib.layers.reshape({ targetShape: [2, 3] }),
      ],
    });
    const [x, token] = [lib.input({ shape: [3] }), lib.input({ shape: [1] })];
    const scale = lib.layers
      .embedding({ inputDim: 4, outputDim: 3, embeddingsInitializer: 'ones' })
      .apply(token);
    const mixed = lib.layers.multiply().apply([x, scale]);
    const model = lib.model({ inputs: [x, token], outputs: inner.apply(mixed) });
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.5) });
    const given = [
      lib.tensor2d([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      lib.tensor2d([[0], [3]]),
    ];
    const loss = await model.trainOnBatch(given, lib.ones([2, 2, 3]));
    const found = model.predict(given);
    return [
      model.outputs[0].shape,
      found.shape,
      loss.toPrecision(5),
      Array.from(found.dataSync(), (value) => value.toPrecision(5)),
    ];
  }));
