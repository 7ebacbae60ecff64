/** A described model as layers of ours, and the standalone module that they make. */
import * as tl from 'tensorlathe';
import { evaluate, fill } from '../models/model.mjs';

const weights = (value) => tl.tensor(fill(value), value.shape);
const layer = (kind, args, [x, ...weightsOf]) => {
  const made = tl.layers[kind](args);
  const y = made.apply(x);
  made.setWeights(weightsOf.map(weights));
  return y;
};
const convolution = ({ stride, padding }, filter) => ({
  kernelSize: filter.shape[0],
  strides: stride,
  padding,
});
const activated = (y, activation) =>
  activation === 'relu6' ? tl.layers.reLU({ maxValue: 6 }).apply(y) : y;

const rules = {
  input: ({ shape }) => tl.input({ shape: shape.slice(1) }),
  constant: (value) => value,
  dense: ({ activation, shape }, operands) =>
    layer('dense', { units: shape[1], activation }, operands),
  conv2d: (value, operands) => {
    const args = { filters: value.shape[3], ...convolution(value, operands[1]) };
    return activated(layer('conv2d', args, operands), value.activation);
  },
  depthwiseConv2d: (value, operands) =>
    activated(
      layer('depthwiseConv2d', convolution(value, operands[1]), operands),
      value.activation,
    ),
  globalAveragePool2d: (_, [x]) => tl.layers.globalAveragePooling2d({}).apply(x),
  softmax: (_, [x]) => tl.layers.softmax().apply(x),
};

export async function standaloneModule(described) {
  await tl.ready();
  let inputs;
  const input = (value) => (inputs = rules.input(value));
  const outputs = evaluate(described, { ...rules, input });
  const model = tl.model({ inputs, outputs });
  const bytes = model.toWasm({ batchSize: { predict: 1 } });
  model.dispose();
  return bytes;
}
