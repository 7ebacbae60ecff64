// Single operators against ONNX Runtime Web: what the ONNX conformance cases do not cover.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from '../../onnx/compare.mjs';
import { lathe, runtime } from '../../onnx/engines.mjs';
import { model, node, value } from '../../onnx/write.mjs';
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

/** Values in the domain of each function, and what JavaScript computes. */
const functionsOfDoubles = {
  Sin: [[0.5, -2, 1e6, 3, 1e12, -7], Math.sin],
  Cos: [[0.5, -2, 1e6, 3, 1e12, -7], Math.cos],
  Tan: [[0.5, -2, 1e6, 3, 0.1, -7], Math.tan],
  Exp: [[0.5, -2, 10, 3, 0.1, -7], Math.exp],
  Log: [[0.5, 2, 1e6, 3, 1e12, 7], Math.log],
  Sqrt: [[0.5, 2, 1e6, 3, 1e12, 7], Math.sqrt],
  Tanh: [[0.5, -2, 0, 3, 0.1, -7], Math.tanh],
  Asin: [[0.5, -0.2, 1, -1, 0.1, 0.9], Math.asin],
  Acos: [[0.5, -0.2, 1, -1, 0.1, 0.9], Math.acos],
  Atan: [[0.5, -2, 1e6, 3, 0.1, -7], Math.atan],
  Sinh: [[0.5, -2, 0, 3, 0.1, -7], Math.sinh],
  Cosh: [[0.5, -2, 0, 3, 0.1, -7], Math.cosh],
  Asinh: [[0.5, -2, 0, 3, 0.1, -7], Math.asinh],
  Acosh: [[1.5, 2, 10, 3, 1, 7], Math.acosh],
  Atanh: [[0.5, -0.2, 0, 0.3, 0.1, -0.7], Math.atanh],
};
for (const [op, [inputs, expected]] of Object.entries(functionsOfDoubles)) {
  test(`${op} of float64 tensors of any rank`, async () => {
    for (const shape of [[6], [2, 3], [1, 6, 1], []]) {
      const x = Float64Array.from(shape.length === 0 ? [inputs[0]] : inputs);
      const bytes = model({
        nodes: [node(op, ['x'], ['y'])],
        inputs: [value('x', 'float64', shape)],
        outputs: [value('y', 'float64', shape)],
      });
      const loaded = await tl.loadModel(bytes);
      const { y } = await loaded.run({ x });
      assert.deepEqual(y.shape, shape);
      for (const [at, each] of y.dataSync().entries()) {
        const error = Math.abs(each - expected(x[at]));
        assert.ok(error <= 1e-13 * Math.max(1, Math.abs(expected(x[at]))), `${x[at]}: ${each}`);
      }
      loaded.dispose();
    }
  });
}
