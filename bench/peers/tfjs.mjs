/** TensorFlow.js with its WebAssembly backend, through its layers API. */
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { batchSize, classCount, inputSize, learningRate } from '../networks.mjs';

export const packageName = '@tensorflow/tfjs';

export async function setup({ layers, units }, batches) {
  if (typeof document !== 'undefined')
    setWasmPaths('/node_modules/@tensorflow/tfjs-backend-wasm/dist/');
  if (!(await tf.setBackend('wasm')))
    throw new Error('the wasm backend of TensorFlow.js did not start');
  const model = tf.sequential();
  for (let i = 0; i < layers; i++) {
    const inputShape = i === 0 ? [inputSize] : undefined;
    model.add(tf.layers.dense({ units, activation: 'sigmoid', inputShape }));
  }
  model.add(tf.layers.dense({ units: classCount }));
  model.compile({ loss: tf.losses.softmaxCrossEntropy, optimizer: tf.train.sgd(learningRate) });
  const tensors = batches.map(({ x, y }) => ({
    x: tf.tensor2d(x, [batchSize, inputSize]),
    y: tf.tensor2d(y, [batchSize, classCount]),
  }));
  return {
    step: (index) => model.trainOnBatch(tensors[index].x, tensors[index].y),
    dispose: () => model.dispose(),
  };
}
