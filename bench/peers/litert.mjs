/** LiteRT.js with its WebAssembly accelerator. */
import { loadAndCompile, loadLiteRt, Tensor } from '@litertjs/core';
import { buildTflite } from '../builders/tflite.mjs';
import { fill, Unsupported } from '../models/model.mjs';

let loaded;

export async function infer(model, { resident, threads }) {
  if (typeof document === 'undefined') throw new Unsupported('runs in pages only');
  loaded ??= loadLiteRt('/node_modules/@litertjs/core/wasm/', { threads: threads > 1 });
  await loaded;
  const compiled = await loadAndCompile(buildTflite(model), {
    accelerator: 'wasm',
    cpuOptions: { numThreads: threads },
  });
  const inputs = model.values.filter(({ op }) => op === 'input');
  const data = inputs.map(fill);
  const write = () => data.map((each, i) => Tensor.fromTypedArray(each, inputs[i].shape));
  const tensors = write();
  const release = (list) => list.forEach((each) => each.delete());
  const output = async () => {
    const inputTensors = write();
    const results = await compiled.run(inputTensors);
    const read = await results[0].data();
    release([...inputTensors, ...results]);
    return read;
  };
  return {
    step: resident ? async () => release(await compiled.run(tensors)) : output,
    output,
    dispose() {
      release(tensors);
      compiled.delete();
    },
  };
}
