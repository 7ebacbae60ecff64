// Single operators against ONNX Runtime Web: what ONNX's own cases do not reach.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from '../onnx/compare.mjs';
import { lathe, runtime } from '../onnx/engines.mjs';
import { operatorCases } from '../onnx/operator_cases.mjs';

ort.env.wasm.numThreads = 1;

async function results(load, bytes, feeds) {
  const model = await load(bytes);
  const given = await model.run(feeds);
  await model.dispose();
  return given;
}

for (const [name, bytes, feeds] of operatorCases) {
  test(name, async () => {
    const wanted = await results(runtime(ort), bytes, feeds);
    const got = await results(lathe(tl), bytes, feeds);
    for (const [output, value] of Object.entries(wanted)) {
      assert.equal(difference(value, got[output], { atol: 1e-4 }), undefined, output);
    }
  });
}
