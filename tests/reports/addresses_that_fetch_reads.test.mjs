// tensorflow/tfjs#3101: what fetch or the platform can read is the address of a model, of a table and of weights: every loader
// accepts blob: and data: addresses, responses, requests, files and their handles, in Node also paths.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import { fromKeras } from 'tensorlathe/keras';
import * as ort from 'tensorlathe/onnxruntime';
import * as tf from 'tensorlathe/tfjs';
import { model, node, value } from '../js/onnx/write.mjs';

const folder = mkdtempSync(join(tmpdir(), 'addresses '));
const onnx = Buffer.from(
  model({
    nodes: [node('Neg', ['x'], ['y'])],
    inputs: [value('x', 'float32', [1])],
    outputs: [value('y', 'float32', [1])],
  }),
);
const type = { type: 'DT_FLOAT' };
const shape = { shape: { dim: [{ size: '2' }] } };
const graph = JSON.stringify({
  format: 'graph-model',
  weightsManifest: [],
  modelTopology: {
    node: [
      { name: 'x', op: 'Placeholder', attr: { dtype: type, shape } },
      { name: 'y', op: 'Neg', input: ['x'], attr: { T: type } },
    ],
  },
});
const table = 'a,b\n1,2\n';
let layers, weights, server, url;

before(async () => {
  const net = tl.sequential();
  net.add(tl.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones' }));
  layers = JSON.stringify({ modelTopology: net.toJSON(null, false), weightsManifest: null });
  const file = join(folder, 'w.safetensors');
  await net.saveWeights(`file://${file}`);
  weights = readFileSync(file);
  await net.save(`file://${folder}/saved`);
  const files = { 'm.onnx': onnx, 'graph.json': graph, 'layers.json': layers, 'a.csv': table };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://x').pathname.slice(1));
    try {
      response.end(readFileSync(join(folder, name)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** The sources of a loader: the content in every form, and the file of this name in the folder. */
function sources(content, name, typed = 'application/octet-stream') {
  const bytes = Buffer.from(content);
  const blob = new Blob([bytes]);
  const file = new File([bytes], name);
  class FileSystemFileHandle {
    kind = 'file';
    get [Symbol.toStringTag]() {
      return 'FileSystemFileHandle';
    }
    async getFile() {
      return file;
    }
  }
  return {
    'blob:': URL.createObjectURL(blob),
    'URL of blob:': new URL(URL.createObjectURL(blob)),
    'data:': `data:${typed};base64,${bytes.toString('base64')}`,
    Response: new Response(bytes),
    'Response of fetch': fetch(`${url}/${name}`),
    Request: new Request(`${url}/${name}`),
    Blob: blob,
    File: file,
    FileSystemFileHandle: new FileSystemFileHandle(),
    'http:': `${url}/${name}`,
    path: join(folder, name),
    'URL of file:': pathToFileURL(join(folder, name)),
  };
}

async function all(sourcesByKind, load) {
  for (const [kind, source] of Object.entries(sourcesByKind)) {
    await load(await source).catch((error) => {
      throw new Error(`${kind}: ${error.message}`, { cause: error });
    });
  }
}

test('tl.loadModel and InferenceSession.create', async () => {
  await all(sources(onnx, 'm.onnx'), async (source) => {
    const net = await tl.loadModel(source);
    assert.equal(Object.values(await net.run({ x: [3] }))[0].dataSync()[0], -3);
  });
  await all(sources(onnx, 'm.onnx'), async (source) => {
    const session = await ort.InferenceSession.create(source);
    const { y } = await session.run({ x: new ort.Tensor('float32', [3], [1]) });
    assert.equal(y.data[0], -3);
  });
});

test('loadGraphModel and loadLayersModel', async () => {
  const x = tf.tensor1d([1, -2]);
  await all(sources(graph, 'graph.json', 'application/json'), async (source) => {
    assert.deepEqual([...(await tf.loadGraphModel(source)).predict(x).dataSync()], [-1, 2]);
  });
  await all(sources(layers, 'layers.json', 'application/json'), async (source) => {
    assert.equal((await tl.loadLayersModel(source)).countParams(), 3);
  });
  assert.equal((await tl.loadLayersModel(join(folder, 'saved'))).countParams(), 3);
});

test('data.csv, more than once', async () => {
  await all(sources(table, 'a.csv', 'text/csv'), async (source) => {
    const rows = tf.data.csv(source);
    assert.deepEqual(await rows.columnNames(), ['a', 'b']);
    for (let turn = 0; turn < 2; ++turn) assert.deepEqual(await rows.toArray(), [{ a: 1, b: 2 }]);
  });
  const encoded = tf.data.csv('data:text/csv,a%0A1%0A');
  assert.deepEqual(await encoded.toArray(), [{ a: 1 }]);
});

test('loadWeights', async () => {
  const net = tl.sequential();
  net.add(tl.layers.dense({ units: 1, inputShape: [2] }));
  await all(sources(weights, 'w.safetensors'), async (source) => {
    net.layers[0].setWeights([[[0], [0]], [0]].map((each) => tl.tensor(each)));
    await net.loadWeights(source);
    assert.deepEqual([...net.layers[0].getWeights()[0].dataSync()], [1, 1]);
  });
});

test('fromKeras reads what the others read, and rejects what is not a Keras file', async () => {
  writeFileSync(join(folder, 'm.h5'), 'none');
  await all(sources('none', 'm.h5'), async (source) => {
    await assert.rejects(fromKeras(source).load(), /no Keras file that can be read/);
  });
  await assert.rejects(
    fromKeras(join(folder, 'missing.h5')).load(),
    /cannot read .*missing\.h5: ENOENT/,
  );
});

test('weight files of a source without a folder are found by a function', async () => {
  const manifest = { ...JSON.parse(readFileSync(join(folder, 'saved/model.json'), 'utf8')) };
  const blob = new Blob([JSON.stringify(manifest)]);
  const weightUrlConverter = async (name) => `${url}/saved/${name}`;
  const net = await tl.loadLayersModel(URL.createObjectURL(blob), { weightUrlConverter });
  assert.deepEqual([...net.layers[0].getWeights()[0].dataSync()], [1, 1]);
  await assert.rejects(
    tl.loadLayersModel(URL.createObjectURL(blob)),
    /there is no ".*bin" next to it; weightUrlConverter specifies where/,
  );
});

test('in Node unsupported addresses are errors', async () => {
  const unknown = 'capacitor://localhost/model.json';
  await assert.rejects(tl.loadLayersModel(unknown), /cannot read capacitor:.*unknown scheme/);
  await assert.rejects(tl.loadModel(unknown), /cannot read capacitor:.*unknown scheme/);
  await assert.rejects(tl.data.csv(unknown).toArray(), /cannot read capacitor:.*unknown scheme/);
  await assert.rejects(tl.loadModel({}), /expects a URL, a path or bytes, got an object/);
  await assert.rejects(tl.loadModel(`${url}/none`), /none: HTTP status 404/);
  await assert.rejects(tl.loadModel('//host/m.onnx'), /cannot read \/\/host\/m\.onnx: ENOENT/);
});

test('fetchFunc reads custom addresses', async () => {
  const fetchFunc = async (address) => {
    assert.equal(address, 'capacitor://localhost/model.json');
    return new Response(layers);
  };
  const net = await tl.loadLayersModel('capacitor://localhost/model.json', { fetchFunc });
  assert.equal(net.countParams(), 3);
});
