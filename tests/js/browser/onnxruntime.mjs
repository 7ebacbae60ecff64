// tensorlathe/onnxruntime in a page: images to tensors and back as in ONNX Runtime Web, and a model by its address.
import assert from 'node:assert/strict';
import { model, node, value } from '../onnx/write.mjs';

const twice = model({
  nodes: [node('Add', ['x', 'x'], ['y'])],
  inputs: [value('x', 'float32', ['n'])],
  outputs: [value('y', 'float32', ['n'])],
});

export async function checkOnnxRuntime(page, url) {
  await page.goto(`${url}/tests/js/browser/page.html`);
  const call = (name, ...args) =>
    page.evaluate(
      async ([what, values]) => {
        const tests = await import('/tests/js/browser/onnxruntime_page.mjs');
        return tests[what](...values);
      },
      [name, args],
    );
  for (const [actual, expected, options] of await call('fromImages')) {
    assert.deepEqual(actual, expected, options);
  }
  for (const [actual, expected] of await call('toImages')) assert.deepEqual(actual, expected);
  const expected = [
    /Input data provided is not supported/,
    /NHWC Tensor layout is not supported/,
    /format must be RGBA for HTMLImageElement/,
    /provide image config/,
    /cannot load the image/,
    /format RGB doesn't match input tensor dims \[1, 2, 2, 2\]/,
  ];
  const failures = await call('failures');
  expected.forEach((each, at) => assert.match(failures[at], each));
  assert.deepEqual(await call('session', Buffer.from(twice).toString('base64')), [2, 4, 6]);
}
