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
export const texts = [tf.tensor(['a', 'b']), tf.tensor1d(['a'], 'string'), tf.scalar('a')];
export const handler: tf.io.IOHandler = tf.io.withSaveHandler(
  async ({ weightSpecs }: tf.io.ModelArtifacts) => ({ first: weightSpecs?.[0]?.name }),
);

/** Layers and cells as programs for TensorFlow.js write them. */
export class Twice extends tf.layers.Layer {
  override call(inputs: tf.Tensor | tf.Tensor[], args: object): tf.Tensor {
    this.invokeCallHook(inputs, args);
    return tf.mul([inputs].flat()[0]!, 2);
  }
}
export class Sum extends tf.layers.RNNCell {
  stateSize = 2;
  override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor[] {
    const [x, state] = inputs as [tf.Tensor, tf.Tensor];
    const sum = tf.add(x, state);
    return [sum, sum];
  }
}

const picture = tf.zeros<tf.Rank.R3>([2, 2, 3]);
export const ranks: [tf.Tensor4D, tf.Tensor1D, tf.Tensor2D, tf.Tensor3D] = [
  picture.expandDims(0),
  picture.flatten(),
  picture.reshape<tf.Tensor2D>([4, 3]),
  picture.toFloat().clone(),
];
export const scalars: tf.Scalar[] = [picture.sum(), picture.mean().asScalar(), picture.norm()];
export const named: tf.Tensor<tf.Rank.R3> = picture;
export const kept: tf.Variable<tf.Rank.R1> = tf.variable(tf.tensor1d([1]));

// What functions give has any rank that a program says.
export const joined: tf.Tensor2D = tf.concat([x, x], 1);
export const total: tf.Scalar = tf.sum(tf.relu(x));
export const drawn: tf.Tensor2D = tf.randomUniform<tf.Rank.R2>([2, 3]);
export const filled: tf.Tensor2D = tf.buffer<tf.Rank.R2>([1, 2]).toTensor();
export function doubled<R extends tf.Rank>(given: tf.Tensor<R>): tf.Tensor<R> {
  return given.mul(2);
}
// @ts-expect-error: another rank
export const other: tf.Tensor1D = doubled(x);

const zipped = tf.data.zip([tf.data.array([{ a: 1 }]), tf.data.array([{ b: 2 }])]);
export const summed: tf.data.Dataset<number> = zipped.map((pair) => pair[0].a + pair[1].b);

// The names of losses and optimizers are strings in TensorFlow.js.
export const compiled = (model: tf.LayersModel, args: tf.ModelCompileArgs, named: string[]) => {
  model.compile(args);
  model.compile({ loss: named, optimizer: named[0]!, metrics: named });
  // @ts-expect-error
  model.compile({ loss: 'mse2', optimizer: 'sgd' });
};
