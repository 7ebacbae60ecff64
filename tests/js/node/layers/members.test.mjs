// Members of layers, their configurations and disposal, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { same } from './lib.mjs';

const [mask, other] = [
  [
    [true, false],
    [false, true],
  ],
  [
    [true, true],
    [true, false],
  ],
];
const bools = (lib, values) => lib.tensor2d(values, undefined, 'bool');
const described = (each) => (each === null ? null : [each.shape, [...each.dataSync()]]);

test('weights are members of layers once they are built', () =>
  same((lib) => {
    const { layers } = lib;
    const cases = [
      [layers.dense({ units: 3 }), [null, 2], 'kernel bias'],
      [layers.dense({ units: 3, useBias: false }), [null, 2], 'kernel bias'],
      [layers.conv2d({ filters: 2, kernelSize: 3 }), [null, 5, 5, 1], 'kernel bias'],
      [layers.depthwiseConv2d({ kernelSize: 3 }), [null, 5, 5, 1], 'depthwiseKernel bias'],
      [
        layers.separableConv2d({ filters: 2, kernelSize: 3 }),
        [null, 5, 5, 1],
        'depthwiseKernel pointwiseKernel bias',
      ],
      [layers.embedding({ inputDim: 4, outputDim: 3 }), [null, 2], 'embeddings'],
      [layers.batchNormalization(), [null, 4], 'gamma beta movingMean movingVariance'],
      [layers.layerNormalization(), [null, 4], 'gamma beta'],
      [layers.prelu(), [null, 4], 'alpha'],
      [layers.lstmCell({ units: 2 }), [null, 4], 'kernel recurrentKernel bias'],
    ];
    return cases.map(([layer, shape, names]) => {
      layer.build(shape);
      return names.split(' ').map((name) => [name, layer[name]?.shape ?? null]);
    });
  }));

test('a member is the weight: reading and writing it', () =>
  same((lib) => {
    const layer = lib.layers.dense({ units: 1, inputShape: [2] });
    const before = layer.kernel ?? null;
    const model = lib.sequential({ layers: [layer] });
    layer.kernel.write(lib.tensor2d([[2], [3]]));
    return [
      before,
      [...layer.kernel.read().dataSync()],
      [...model.predict(lib.ones([1, 2])).dataSync()],
    ];
  }));

test('recurrent layers have the cell that they run', () =>
  same((lib) =>
    ['lstm', 'gru', 'simpleRNN'].map((name) => {
      const layer = lib.layers[name]({ units: 2, inputShape: [3, 4] });
      lib.sequential({ layers: [layer] });
      const { cell } = layer;
      return [
        cell.getClassName(),
        cell.units,
        cell.stateSize,
        cell.kernel.shape,
        cell.recurrentKernel.shape,
        cell.bias.shape,
        cell.getWeights().map(({ shape }) => shape),
      ];
    }),
  ));

test('input layers', () =>
  same((lib) => {
    const args = [{ inputShape: [3] }, { batchInputShape: [2, 3], sparse: true, name: 'it' }];
    return args.map((each) => {
      const layer = lib.layers.inputLayer(each);
      const { trainable, built, sparse, dtype, batchInputShape, inputSpec } = layer;
      const [node] = layer.inboundNodes;
      const { inputShapes, outputShapes, inputMasks, outputMasks } = node;
      const config = { ...layer.getConfig(), name: '' };
      return [
        [trainable, built, sparse, dtype, batchInputShape, inputSpec[0].shape, config],
        [inputShapes, outputShapes, inputMasks, outputMasks],
        node.inputTensors[0] === node.outputTensors[0],
        layer.dispose().numDisposedVariables,
      ];
    });
  }));

test('input layers and inputs that contradict themselves are errors', () => {
  const { input, inputLayer } = tl.layers;
  assert.throws(() => inputLayer({}), /passed either a batchInputShape or an inputShape/);
  assert.throws(() => inputLayer({ inputShape: [1], batchInputShape: [1, 1] }), /OR/);
  assert.throws(() => inputLayer({ batchSize: 2, batchInputShape: [1, 1] }), /batchSize/);
  assert.throws(() => input({ shape: [1], batchShape: [2, 1] }), /not both/);
  assert.throws(() => input({}), /either a `shape` or a `batchShape`/);
  assert.throws(() => inputLayer({ inputShape: [1] }).apply(tl.ones([2, 1])), /Cannot pass/);
});

test('computeMask of layers with several inputs', () =>
  same((lib) => {
    const { layers } = lib;
    const inputs = [lib.ones([2, 2, 3]), lib.zeros([2, 2, 3])];
    const masks = [bools(lib, mask), bools(lib, other)];
    // TensorFlow.js leaves the last mask out.
    const [three, their] = [
      [...inputs, inputs[0]],
      [...masks, masks[1]],
    ];
    return [
      ...['add', 'multiply', 'average', 'maximum', 'minimum'].map((name) =>
        described(layers[name]().computeMask(three, their)),
      ),
      described(layers.add().computeMask(inputs, [null, null])),
      described(layers.concatenate().computeMask(inputs, masks)),
      described(layers.concatenate({ axis: 1 }).computeMask(inputs, masks)),
      described(layers.concatenate().computeMask(inputs, [masks[0], null])),
      described(layers.concatenate().computeMask(inputs, null)),
      described(layers.dot({ axes: 1 }).computeMask(inputs, masks)),
    ];
  }));

test('computeMask of recurrent layers', () =>
  same((lib) => {
    const x = lib.ones([2, 2, 3]);
    const boolMask = bools(lib, mask);
    const of = (layer) => [layer.computeMask(x, boolMask)].flat().map(described);
    const kinds = [{}, { returnSequences: true }, { returnState: true, returnSequences: true }];
    return kinds.flatMap((options) =>
      ['lstm', 'gru', 'simpleRNN'].map((name) => of(lib.layers[name]({ units: 2, ...options }))),
    );
  }));

test('computeMask of other inputs than masks is an error', () => {
  const x = tl.ones([2, 2, 3]);
  const boolMask = bools(tl, mask);
  assert.throws(() => tl.layers.add().computeMask(x, [boolMask]), /arrays of inputs and masks/);
  assert.throws(() => tl.layers.add().computeMask([x, x], [boolMask]), /of the same length/);
  assert.throws(() => tl.layers.flatten().computeMask(x, boolMask), /does not support masking/);
});

test('a layer that was only called on tensors can be disposed', () =>
  same((lib) => {
    const layer = lib.layers.dense({ units: 2 });
    layer.apply(lib.ones([1, 3]));
    const { refCountAfterDispose, numDisposedVariables } = layer.dispose();
    const uses = [() => layer.dispose(), () => layer.apply(lib.ones([1, 3]))];
    const rejected = uses.map((use) => {
      assert.throws(use, /Layer .* already disposed/);
      return true;
    });
    return [refCountAfterDispose, numDisposedVariables, rejected];
  }));

test('a layer that was never called, and a model a second time, cannot be disposed', () =>
  same((lib) => {
    assert.throws(() => lib.layers.dense({ units: 2 }).dispose(), /has not been/);
    const model = lib.sequential({ layers: [lib.layers.dense({ units: 1, inputShape: [2] })] });
    model.dispose();
    assert.throws(() => model.dispose(), /Container .* already disposed/);
    assert.throws(() => model.predict(lib.ones([1, 2])), /already disposed/);
  }));

test('implementation is part of the configuration, through JSON too', () =>
  same((lib) =>
    ['gru', 'lstm', 'gruCell', 'lstmCell'].map((name) => {
      const layer = lib.layers[name]({ units: 2, implementation: 2 });
      const clone = layer.constructor.fromConfig(layer.constructor, layer.getConfig());
      return [layer, clone].map((each) => each.getConfig().implementation);
    }),
  ));

test('functions of layers have names', () =>
  same((lib) => ['dense', 'conv2d', 'lstm', 'avgPool2d'].map((name) => lib.layers[name].name)));

test('stopTraining is undefined before fit, false after it', () =>
  same(async (lib) => {
    const inputs = lib.input({ shape: [2] });
    const outputs = lib.layers.dense({ units: 1 }).apply(inputs);
    const model = lib.model({ inputs, outputs });
    const before = model.stopTraining === undefined;
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    await model.fit(lib.ones([2, 2]), lib.ones([2, 1]), { verbose: 0 });
    return [before, model.stopTraining];
  }));

test('LayerVariable: a variable with a name, a constraint and an end', () =>
  same((lib) => {
    const nonNegative = lib.constraints.nonNeg();
    const it = new lib.LayerVariable(
      lib.tensor1d([1, -2]),
      null,
      'a_unique_name',
      true,
      nonNegative,
    );
    const sameName = new lib.LayerVariable(lib.zeros([2]), undefined, 'a_unique_name');
    it.write(lib.tensor1d([-3, 4]));
    assert.throws(() => it.write(lib.zeros([3])), /Shape mismatch/);
    const found = [
      it.name !== sameName.name,
      it.originalName,
      it.dtype,
      it.shape,
      [...it.read().dataSync()],
    ];
    it.trainable = false;
    it.dispose();
    assert.throws(() => it.read(), /already disposed/);
    return [found, it.trainable];
  }));

test('addWeight returns a LayerVariable', () => {
  class Custom extends tl.layers.Layer {
    build() {
      this.weight = this.addWeight('w', [1], 'float32', tl.initializers.ones());
    }
  }
  const layer = new Custom();
  layer.apply(tl.ones([1, 1]));
  assert.ok(layer.weight instanceof tl.LayerVariable);
});

test('CallbackList calls each callback in turn', () =>
  same(async (lib) => {
    const events = [];
    class Recorder extends lib.Callback {
      constructor(name) {
        super();
        this.name = name;
      }
      onTrainBegin(logs) {
        events.push([this.name, 'begin', logs]);
      }
      onEpochEnd(epoch, logs) {
        events.push([this.name, epoch, logs, this.params.epochs]);
      }
    }
    const list = new lib.CallbackList([new Recorder('a')]);
    list.append(new Recorder('b'));
    list.setParams({ epochs: 3 });
    await list.onTrainBegin();
    await list.onEpochEnd(1, { loss: 2 });
    await new lib.CallbackList().onTrainEnd();
    return [events, list.callbacks.length];
  }));

test('History collects its logs', () =>
  same((lib) => {
    const history = new lib.History();
    history.onTrainBegin();
    history.onEpochEnd(0, { loss: 2, acc: 0.5 });
    history.onEpochEnd(1, { loss: 1, acc: 0.75 });
    return [history.epoch, history.history];
  }));

test('DataStorage moves data that it does not have', () =>
  same((lib) => {
    const [id, moved] = [{}, {}];
    const mover = { moveData: (backend, dataId) => backend.storage.set(dataId, 'moved') };
    const backend = {};
    const storage = (backend.storage = new lib.DataStorage(backend, mover));
    storage.set(id, 'local');
    const found = [storage.get(id), storage.get(moved), storage.has(id), storage.numDataIds()];
    storage.delete(id);
    return [found, storage.has(id), storage.numDataIds()];
  }));
