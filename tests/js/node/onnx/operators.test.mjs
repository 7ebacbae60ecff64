// Single operators against ONNX Runtime Web: what the ONNX conformance cases do not cover.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from '../../onnx/compare.mjs';
import { lathe, runtime } from '../../onnx/engines.mjs';
import { operatorCases } from '../../onnx/operator_cases.mjs';

ort.env.wasm.numThreads = 1;

async function results(load, bytes, feeds) {
  const model = await load(bytes);
  const outputs = await model.run(feeds);
  await model.dispose();
  return outputs;
}

for (const [name, bytes, feeds] of operatorCases) {
  test(name, async () => {
    const expected = await results(runtime(ort), bytes, feeds);
    const actual = await results(lathe(tl), bytes, feeds);
    for (const [output, value] of Object.entries(expected)) {
      assert.equal(difference(value, actual[output], { atol: 1e-4 }), undefined, output);
    }
  });
}
