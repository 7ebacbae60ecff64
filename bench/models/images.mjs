/** Image classifiers of 1000 classes for 224×224 pixels, with batch normalization already folded into the convolutions. */
import { describe } from './model.mjs';

const classes = 1000;

function begin(name) {
  const m = describe(name);
  return [m, m.input([1, 224, 224, 3])];
}

const classify = (m, x) => m.output(m.softmax(m.dense(m.globalAveragePool2d(x), classes)));

/** Howard et al. 2017, width 1.0: rows are output channels and stride of each depthwise separable block. */
const mobileNetV1Blocks = [
  [64, 1],
  [128, 2],
  [128, 1],
  [256, 2],
  [256, 1],
  [512, 2],
  ...Array(5).fill([512, 1]),
  [1024, 2],
  [1024, 1],
];

export function mobileNetV1() {
  const activation = 'relu6';
  const [m, image] = begin('MobileNet v1 1.0/224');
  let x = m.conv2d(image, 32, 3, { stride: 2, activation });
  for (const [channels, stride] of mobileNetV1Blocks) {
    x = m.depthwiseConv2d(x, 3, { stride, activation });
    x = m.conv2d(x, channels, 1, { activation });
  }
  return classify(m, x);
}

/** Sandler et al. 2018, width 1.0: expansion, output channels, repetitions, first stride. */
const mobileNetV2Blocks = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
];

export function mobileNetV2() {
  const activation = 'relu6';
  const [m, image] = begin('MobileNet v2 1.0/224');
  const block = (x, expansion, channels, stride) => {
    const inner = x.shape[3] * expansion;
    const wide = expansion === 1 ? x : m.conv2d(x, inner, 1, { activation });
    const spatial = m.depthwiseConv2d(wide, 3, { stride, activation });
    const narrow = m.conv2d(spatial, channels, 1);
    return stride === 1 && x.shape[3] === channels ? m.add(x, narrow) : narrow;
  };
  let x = m.conv2d(image, 32, 3, { stride: 2, activation });
  for (const [expansion, channels, count, stride] of mobileNetV2Blocks) {
    for (let i = 0; i < count; i++) x = block(x, expansion, channels, i === 0 ? stride : 1);
  }
  return classify(m, m.conv2d(x, 1280, 1, { activation }));
}

/** He et al. 2016: four stages of two basic blocks. */
export function resNet18() {
  const activation = 'relu';
  const [m, image] = begin('ResNet-18');
  const block = (x, channels, stride) => {
    const inner = m.conv2d(x, channels, 3, { stride, activation });
    const outer = m.conv2d(inner, channels, 3);
    const same = stride === 1 && x.shape[3] === channels;
    return m.add(same ? x : m.conv2d(x, channels, 1, { stride }), outer, activation);
  };
  let x = m.conv2d(image, 64, 7, { stride: 2, activation });
  x = m.maxPool2d(x, 3, { stride: 2, padding: 'same' });
  for (const [channels, stride] of [
    [64, 1],
    [128, 2],
    [256, 2],
    [512, 2],
  ]) {
    x = block(block(x, channels, stride), channels, 1);
  }
  return classify(m, x);
}

/** SqueezeNet 1.1 of Iandola et al. 2016: rows are squeezed and expanded channels, null is a pooling. */
const fires = [
  [16, 64],
  [16, 64],
  null,
  [32, 128],
  [32, 128],
  null,
  [48, 192],
  [48, 192],
  [64, 256],
  [64, 256],
];

export function squeezeNet() {
  const activation = 'relu';
  const [m, image] = begin('SqueezeNet 1.1');
  const fire = (x, squeezed, expanded) => {
    const inner = m.conv2d(x, squeezed, 1, { activation });
    return m.concatChannels(
      m.conv2d(inner, expanded, 1, { activation }),
      m.conv2d(inner, expanded, 3, { activation }),
    );
  };
  let x = m.conv2d(image, 64, 3, { stride: 2, padding: 'valid', activation });
  x = m.maxPool2d(x, 3, { stride: 2 });
  for (const row of fires) x = row ? fire(x, ...row) : m.maxPool2d(x, 3, { stride: 2 });
  return m.output(m.softmax(m.globalAveragePool2d(m.conv2d(x, classes, 1, { activation }))));
}
