/** LiteRT.js, from a TensorFlow Lite file to the first result. */
import { loadAndCompile, loadLiteRt, Tensor } from '@litertjs/core';
import { loadNumbers, report } from './report.mjs';

report(async () => {
  await loadLiteRt('/node_modules/@litertjs/core/wasm/');
  const [model, data] = await Promise.all([
    loadAndCompile('/model.tflite', { accelerator: 'wasm' }),
    loadNumbers('/input.bin'),
  ]);
  const [results] = await model.run([
    Tensor.fromTypedArray(data, [...model.getInputDetails()[0].shape]),
  ]);
  return results.data();
});
