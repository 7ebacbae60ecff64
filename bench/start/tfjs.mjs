/** TensorFlow.js, only what these models need of it so that a bundler drops the rest, from the weights to the first result. */
import { loading } from './model.mjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { fused, mean, setBackend, sigmoid, softmax, tensor } from '@tensorflow/tfjs-core';
import { evaluate, fill } from '../models/model.mjs';
import { report } from './report.mjs';

const fusedOptions = ({ stride, padding, activation }, [x, filter, bias]) => ({
  x,
  filter,
  bias,
  strides: stride,
  pad: padding,
  activation: activation ?? 'linear',
});
const leaf = (value) => tensor(fill(value), value.shape);
const rules = {
  input: leaf,
  constant: leaf,
  dense: ({ activation }, [a, b, bias]) =>
    fused.matMul({ a, b, bias, activation: activation ?? 'linear' }),
  conv2d: (value, operands) => fused.conv2d(fusedOptions(value, operands)),
  depthwiseConv2d: (value, operands) => fused.depthwiseConv2d(fusedOptions(value, operands)),
  globalAveragePool2d: (_, [x]) => mean(x, [1, 2]),
  sigmoid: (_, [x]) => sigmoid(x),
  softmax: (_, [x]) => softmax(x),
};

report(async () => {
  setWasmPaths('/node_modules/@tensorflow/tfjs-backend-wasm/dist/');
  await setBackend('wasm');
  return evaluate(await loading, rules).data();
});
