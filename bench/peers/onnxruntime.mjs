/** ONNX Runtime Web with its WebAssembly backend. */
import * as ort from 'onnxruntime-web';
import { buildOnnx } from '../builders/onnx.mjs';
import { channelsFirst, toChannelsFirst, toChannelsLast } from '../builders/channels.mjs';
import { fill } from '../models/model.mjs';

export async function infer(model, { threads }) {
  ort.env.wasm.numThreads = threads;
  if (typeof document !== 'undefined')
    ort.env.wasm.wasmPaths = '/node_modules/onnxruntime-web/dist/';
  const { bytes, inputs, output } = buildOnnx(model);
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const feeds = Object.fromEntries(
    model.values
      .filter(({ op }) => op === 'input')
      .map((value, i) => [
        inputs[i],
        new ort.Tensor(
          'float32',
          toChannelsFirst(fill(value), value.shape),
          channelsFirst(value.shape),
        ),
      ]),
  );
  return {
    step: () => session.run(feeds),
    async output() {
      const results = await session.run(feeds);
      return toChannelsLast(results[output].data, model.values[model.output].shape);
    },
    dispose: () => session.release(),
  };
}
