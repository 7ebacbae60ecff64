// Layers that are frozen behind compile, beside TensorFlow.js.
import { test } from 'node:test';
import { compiled, dense, same } from './tfjs_layers_lib.mjs';

test('a layer that is frozen behind compile stops learning', () =>
  same(async (lib) => {
    const layers = [dense(lib, { inputShape: [2] }), dense(lib)];
    const model = compiled(lib, ...layers);
    const [x, y] = [lib.ones([2, 2]), lib.zeros([2, 2])];
    const learnt = async (action) => {
      const before = layers.map((each) => each.getWeights()[0].dataSync()[0]);
      await action();
      return layers.map((each, at) => each.getWeights()[0].dataSync()[0] !== before[at]);
    };
    const fit = () => model.fit(x, y, { verbose: 0 });
    const found = [await learnt(fit)];
    layers[0].trainable = false;
    const lines = [];
    model.summary(undefined, undefined, (line) => lines.push(line));
    found.push(lines.filter((line) => line.includes('rainable params')));
    found.push(await learnt(fit), await learnt(() => model.trainOnBatch(x, y)));
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    layers[0].trainable = true;
    found.push(await learnt(fit));
    model.compile({ loss: 'meanSquaredError', optimizer: lib.train.sgd(0.1) });
    found.push(await learnt(fit));
    return found;
  }));
