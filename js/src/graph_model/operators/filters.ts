/** Convolution, pooling, normalization, matrix product and image operators. */
import * as tf from '../../ops/index.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Call, Operator } from '../call.js';

type Two = [number, number];
type Three = [number, number, number];
type Format = 'NHWC' | 'NCHW';

const isFirst = (call: Call) => formatOf(call) === 'NCHW';
const formatOf = (call: Call) => call.attribute<Format>('data_format', 'NHWC');

/** The values for height and width. */
function spatial(call: Call, name: string): Two {
  const [, a = 1, b = 1, c = 1] = call.attribute(name, [1, 1, 1, 1]);
  return isFirst(call) ? [b, c] : [a, b];
}

const spatial3 = (call: Call, name: string): Three => {
  const [, a = 1, b = 1, c = 1] = call.attribute(name, [1, 1, 1, 1, 1]);
  return [a, b, c];
};

/** Applies `f` in NHWC; NCHW inputs are transposed before and back after. */
function channelsLast(call: Call, x: Tensor, f: (x: Tensor) => Tensor): Tensor {
  if (!isFirst(call)) return f(x);
  return tf.transpose(f(tf.transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2]);
}

/** Per-axis values in NHWC order. */
function inOrder<T>(call: Call, [n, a, b, c]: readonly [T, T, T, T]): [T, T, T, T] {
  return isFirst(call) ? [n, b, c, a] : [n, a, b, c];
}

type Explicit = [Two, Two, Two, Two];

function paddingOf(call: Call): 'valid' | 'same' | Explicit {
  const name = call.attribute('padding', 'VALID').toLowerCase();
  if (name !== 'explicit') return name as 'valid' | 'same';
  const flat = call.attribute<number[]>('explicit_paddings', []);
  return [0, 2, 4, 6].map((at) => [flat[at]!, flat[at + 1]!]) as Explicit;
}

/** The padding in NHWC order. */
function paddingInOrder(call: Call): 'valid' | 'same' | Explicit {
  const padding = paddingOf(call);
  return typeof padding === 'string' ? padding : inOrder(call, padding);
}

/** Bias and activation fused to a convolution or product. */
interface Fused {
  bias?: Tensor;
  activation?: tf.FusedActivation;
  preluActivationWeights?: Tensor;
  leakyreluAlpha?: number;
}

function fusedOf(call: Call): Fused {
  const [first, second = ''] = call.attribute<string[]>('fused_ops', []);
  const hasBias = first === 'BiasAdd';
  if (first === 'FusedBatchNorm') throw call.wrong('a fused batch normalization is not supported');
  const name = (hasBias ? second : (first ?? '')).toLowerCase();
  const activation = (name === '' ? 'linear' : name) as tf.FusedActivation;
  const fused: Fused = { activation, leakyreluAlpha: call.attribute('leakyrelu_alpha', 0.2) };
  if (hasBias) fused.bias = call.tensor(2);
  if (name === 'prelu') fused.preluActivationWeights = call.tensor(hasBias ? 3 : 2);
  return fused;
}

const fusedConvolution =
  (f: typeof tf.fused.conv2d): Operator =>
  (call) =>
    f({
      x: call.tensor(0),
      filter: call.tensor(1),
      strides: spatial(call, 'strides'),
      pad: paddingOf(call),
      dataFormat: formatOf(call),
      dilations: spatial(call, 'dilations'),
      ...fusedOf(call),
    });

const convolution: Operator = (call) =>
  tf.conv2d(
    call.tensor(0),
    call.tensor(1),
    spatial(call, 'strides'),
    paddingOf(call),
    formatOf(call),
    spatial(call, 'dilations'),
  );

const depthwise: Operator = (call) =>
  tf.depthwiseConv2d(
    call.tensor(0),
    call.tensor(1),
    spatial(call, 'strides'),
    paddingOf(call),
    formatOf(call),
    spatial(call, 'dilations'),
  );

const product: Operator = (call) =>
  tf.matMul(
    call.tensor(0),
    call.tensor(1),
    call.attribute('transpose_a', call.attribute('adj_x', false)),
    call.attribute('transpose_b', call.attribute('adj_y', false)),
  );

const normalized: Operator = (call) =>
  channelsLast(call, call.tensor(0), (x) =>
    tf.batchNorm(
      x,
      call.tensor(3),
      call.tensor(4),
      call.tensor(2),
      call.tensor(1),
      call.attribute('epsilon', 0.001),
    ),
  );

const pooled =
  (f: typeof tf.maxPool): Operator =>
  (call) =>
    channelsLast(call, call.tensor(0), (x) =>
      f(x, spatial(call, 'ksize'), spatial(call, 'strides'), paddingInOrder(call)),
    );
const pooled3 =
  (f: typeof tf.avgPool3d): Operator =>
  (call) =>
    f(
      call.tensor(0),
      spatial3(call, 'ksize'),
      spatial3(call, 'strides'),
      paddingOf(call) as 'valid' | 'same',
    );

export const filters = (): Record<string, Operator> => ({
  AvgPool: pooled(tf.avgPool),
  AvgPool3D: pooled3(tf.avgPool3d),
  BatchMatMul: product,
  BatchMatMulV2: product,
  Conv1D: (call) =>
    tf.conv1d(
      call.tensor(0),
      call.tensor(1),
      call.attribute('stride', 1),
      paddingOf(call) as 'valid' | 'same',
      call.attribute<'NWC'>('data_format', 'NWC'),
      call.attribute('dilation', 1),
    ),
  Conv2D: convolution,
  Conv2DBackpropInput: (call) =>
    channelsLast(call, call.tensor(2), (x) =>
      tf.conv2dTranspose(
        x,
        call.tensor(1),
        inOrder(call, call.numbers(0) as [number, number, number, number]),
        spatial(call, 'strides'),
        paddingInOrder(call),
      ),
    ),
  Conv3D: (call) =>
    tf.conv3d(
      call.tensor(0),
      call.tensor(1),
      spatial3(call, 'strides'),
      paddingOf(call) as 'valid' | 'same',
      'NDHWC',
      spatial3(call, 'dilations'),
    ),
  DepthwiseConv2d: depthwise,
  DepthwiseConv2dNative: depthwise,
  Dilation2D: (call) =>
    tf.dilation2d(
      call.tensor(0),
      call.tensor(1),
      spatial(call, 'strides'),
      paddingOf(call) as 'valid' | 'same',
      spatial(call, 'rates'),
    ),
  FusedBatchNorm: normalized,
  FusedBatchNormV2: normalized,
  FusedBatchNormV3: normalized,
  FusedDepthwiseConv2dNative: fusedConvolution(tf.fused.depthwiseConv2d),
  ImageProjectiveTransformV3: (call) =>
    tf.image.transform(
      call.tensor(0),
      call.tensor(1),
      call.attribute('interpolation', 'nearest').toLowerCase() as 'nearest' | 'bilinear',
      call.attribute('fill_mode', 'constant').toLowerCase() as 'constant',
      call.number(3, 0),
      call.numbers(2) as Two,
    ),
  MatMul: product,
  MaxPool: pooled(tf.maxPool),
  MaxPool3D: pooled3(tf.maxPool3d),
  MaxPoolWithArgmax: (call) => {
    const { result, indexes } = tf.maxPoolWithArgmax(
      call.tensor(0),
      spatial(call, 'ksize'),
      spatial(call, 'strides'),
      paddingOf(call) as 'valid' | 'same',
      call.attribute('include_batch_in_index', false),
    );
    return [result!, indexes!];
  },
  _FusedConv2D: fusedConvolution(tf.fused.conv2d),
  _FusedMatMul: (call) =>
    tf.fused.matMul({
      a: call.tensor(0),
      b: call.tensor(1),
      transposeA: call.attribute('transpose_a', false),
      transposeB: call.attribute('transpose_b', false),
      ...fusedOf(call),
    }),
});
