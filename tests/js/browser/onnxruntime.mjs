// tensorlathe/onnxruntime in a page: pictures as tensors and back as ONNX Runtime Web makes them, and a model by its address.
import assert from 'node:assert/strict';
import { model, node, value } from '../onnx/write.mjs';

const twice = model({
  nodes: [node('Add', ['x', 'x'], ['y'])],
  inputs: [value('x', 'float32', ['n'])],
  outputs: [value('y', 'float32', ['n'])],
});

export async function checkOnnxRuntime(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  const ask = (name, ...given) =>
    page.evaluate(
      async ([what, values]) => {
        const tests = await import('/tests/js/browser/onnxruntime_page.mjs');
        return tests[what](...values);
      },
      [name, given],
    );
  for (const [got, wanted, options] of await ask('fromImages')) {
    assert.deepEqual(got, wanted, options);
  }
  for (const [got, wanted] of await ask('toImages')) assert.deepEqual(got, wanted);
  const wanted = [
    /Input data provided is not supported/,
    /NHWC Tensor layout is not supported/,
    /format must be RGBA for HTMLImageElement/,
    /provide image config/,
    /cannot load the picture/,
    /format RGB doesn't match input tensor dims \[1, 2, 2, 2\]/,
  ];
  const failures = await ask('failures');
  wanted.forEach((each, at) => assert.match(failures[at], each));
  assert.deepEqual(await ask('session', Buffer.from(twice).toString('base64')), [2, 4, 6]);
}
