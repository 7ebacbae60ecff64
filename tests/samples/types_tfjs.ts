// What TypeScript knows of methods that tensorlathe/tfjs gives to tensors: compiled as the samples are, and run.
import * as tf from 'tensorlathe/tfjs';

const x = tf.tensor2d([[1, 2]]);
export const chained = x.clone().mul(2).dot(x.transpose()).norm().toInt().asScalar();
export const variable: tf.Variable = x.variable();
export const element: number = x.bufferSync().get(0, 1);
export const strides: number[] = x.strides;
export const layers = [
  tf.layers.embedding({ inputDim: 4, outputDim: 2 }),
  tf.layers.prelu(),
  tf.layers.multiHeadAttention({ numHeads: 2, keyDim: 3 }),
];
