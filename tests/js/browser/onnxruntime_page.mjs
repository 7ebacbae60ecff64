// Results of tensorlathe/onnxruntime and ONNX Runtime Web for the same images, in a page. Imported there by onnxruntime.mjs.
import * as ours from '/js/dist/onnxruntime/index.js';
import * as theirs from '/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs';

/** An opaque image: canvases lose the colors of transparent pixels. */
function imageData(width, height) {
  const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, at) =>
    at % 4 === 3 ? 255 : (at * 37 + 11) % 256,
  );
  return new ImageData(data, width, height);
}

function address(image) {
  const canvas = Object.assign(document.createElement('canvas'), {
    width: image.width,
    height: image.height,
  });
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas.toDataURL();
}

async function element(image) {
  const made = new Image();
  made.src = address(image);
  await made.decode();
  return made;
}

const norms = [undefined, { mean: 128, bias: -3 }, { mean: [1, 2, 4], bias: [5, 6, 7] }];
const formats = ['RGB', 'RGBA', 'BGR', 'RBG'];

/** Calls of fromImage as [image, options]. */
async function inputs() {
  const image = imageData(5, 3);
  const calls = [
    [image],
    [await element(image)],
    [await element(image), { resizedWidth: 3, resizedHeight: 2 }],
    [image, { resizedWidth: 4, resizedHeight: 2 }],
    [await createImageBitmap(image), {}],
    [address(image)],
    [address(image), { tensorFormat: 'BGR' }],
  ];
  for (const tensorFormat of formats) {
    for (const norm of norms) calls.push([image, { tensorFormat, ...(norm && { norm }) }]);
  }
  return calls;
}

const bits = ({ type, dims, data }) => [type, [...dims], [...data]];

/** Results of both for each call of fromImage. */
export async function fromImages() {
  const results = [];
  for (const [image, options] of await inputs()) {
    const copy = () => options && structuredClone(options);
    const [actual, expected] = [
      await ours.Tensor.fromImage(image, copy()),
      await theirs.Tensor.fromImage(image, copy()),
    ];
    results.push([bits(actual), bits(expected), JSON.stringify(options)]);
  }
  return results;
}

/** Results of both for tensors as images. */
export function toImages() {
  const results = [];
  for (const format of ['RGB', 'RGBA']) {
    const values = Float32Array.from({ length: format.length * 6 }, (_, at) => (at * 13) % 256);
    const dims = [1, format.length, 2, 3];
    const options = { format, norm: { mean: 1, bias: 0 } };
    const pixels = [ours, theirs].map(({ Tensor }) => {
      const image = new Tensor('float32', values, dims).toImageData(options);
      return [image.width, image.height, [...image.data]];
    });
    results.push(pixels);
    if (format === 'RGBA') continue;
    results.push(
      [ours, theirs].map(({ Tensor }) => new Tensor('float32', values, dims).toDataURL(options)),
    );
  }
  return results;
}

/** Error messages of invalid calls. */
export async function failures() {
  const image = imageData(2, 2);
  const { Tensor } = ours;
  const calls = [
    () => Tensor.fromImage({}),
    () => Tensor.fromImage(image, { tensorLayout: 'NHWC' }),
    async () => Tensor.fromImage(await element(image), { tensorFormat: 'RGB' }),
    async () => Tensor.fromImage(await createImageBitmap(image)),
    () => Tensor.fromImage('data:image/png;base64,AAAA'),
    async () => new Tensor('float32', new Float32Array(8), [1, 2, 2, 2]).toImageData(),
  ];
  const messages = [];
  for (const call of calls) messages.push(await call().then(String, String));
  return messages;
}

/** The output of a model at an address for 1, 2, 3. */
export async function session(base64) {
  const model = await ours.InferenceSession.create(
    `data:application/octet-stream;base64,${base64}`,
  );
  const x = new ours.Tensor('float32', [1, 2, 3], [3]);
  const { y } = await model.run({ x });
  await model.release();
  return [...y.data];
}
