// Names of files in a model that lead out of its folder or to another host: external data of ONNX and weight files of model.json, as
// text, with escapes and through links, by path, file: and http:. What they reach must be nothing but the folder.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import { InferenceSession } from 'tensorlathe/onnxruntime';
import { model, node, value } from '../js/onnx/write.mjs';

const root = mkdtempSync(join(tmpdir(), 'lathe-paths-'));
const folder = join(root, 'model');
const bytes = (...numbers) => new Uint8Array(Float32Array.from(numbers).buffer);
const secret = bytes(31337, 31338);
const fileBytes = bytes(1, 2);
const location = join(folder, 'model.onnx');
const onnx = (name) =>
  model({
    nodes: [node('Identity', ['w'], ['y'])],
    outputs: [value('y', 'float32', [2])],
    initializers: {
      w: { dtype: 'float32', shape: [2], external: { location: name, offset: 0, length: 8 } },
    },
  });
const json = (name) =>
  JSON.stringify({
    format: 'layers-model',
    modelTopology: {
      class_name: 'Sequential',
      config: {
        name: 's',
        layers: [
          {
            class_name: 'Dense',
            config: { name: 'd', units: 1, use_bias: false, batch_input_shape: [null, 2] },
          },
        ],
      },
    },
    weightsManifest: [
      { paths: [name], weights: [{ name: 'd/kernel', shape: [2, 1], dtype: 'float32' }] },
    ],
  });

let current;
let host;
const requested = [];
const files = new Map([
  ['/secret.bin', secret],
  ...['w.bin', 'sub/w.bin', 'a b.bin', '100%.bin', 'a..b', 'Modell-ä模.bin', 'a#1.bin'].map(
    (name) => [`/model/${name}`, fileBytes],
  ),
]);
// As servers do: escaped dots and slashes are dots and slashes, here decoded twice where that can be.
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const server = createServer(({ url }, response) => {
  const path = posix.normalize(decoded(url.split('?')[0]));
  const content =
    path === '/model/model.onnx' ? current : (files.get(path) ?? files.get(decoded(path)));
  requested.push(posix.normalize(decoded(path)));
  response.statusCode = content ? 200 : 404;
  response.end(content);
});

before(async () => {
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(root, 'secret.bin'), secret);
  for (const [path] of [...files].slice(1)) writeFileSync(join(root, path), fileBytes);
  writeFileSync(join(folder, 'a%20b.bin'), fileBytes);
  symlinkSync(join(root, 'secret.bin'), join(folder, 'link.bin'));
  symlinkSync(root, join(folder, 'up'));
  symlinkSync('sub', join(folder, 'inner'));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  host = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(root, { recursive: true, force: true });
});

const tlOnnx = async (source) => {
  const loaded = await tl.loadModel(source);
  return [...(await loaded.run({})).y.dataSync()];
};
const runtime = async (source) => {
  const session = await InferenceSession.create(String(source));
  return [...(await session.run({})).y.data];
};
const layers = async (source) => [
  ...(await (await tl.loadLayersModel(source)).getWeights()[0].data()),
];
const ways = () => [
  ['tl.loadModel, path', onnx, tlOnnx, location],
  ['tl.loadModel, file URL', onnx, tlOnnx, pathToFileURL(location)],
  ['tl.loadModel, file address', onnx, tlOnnx, pathToFileURL(location).href],
  ['tl.loadModel, http', onnx, tlOnnx, `${host}/model/model.onnx?x=/a/b`],
  ['onnxruntime, path', onnx, runtime, location],
  ['onnxruntime, file address', onnx, runtime, pathToFileURL(location)],
  ['onnxruntime, http', onnx, runtime, `${host}/model/model.onnx`],
  ['tl.loadLayersModel, file', json, layers, `file://${location}`],
  ['tl.loadLayersModel, file URL', json, layers, pathToFileURL(location)],
  ['tl.loadLayersModel, http', json, layers, `${host}/model/model.onnx`],
];
const prepare = (content) => writeFileSync(location, (current = Buffer.from(content)));

test('names that leave the folder are errors, and nothing outside is read', async () => {
  const leaving = [
    '../secret.bin', '%2e%2e/secret.bin', '.%2E/secret.bin', '%252e%252e/secret.bin', '%25252e./secret.bin',
    '%2%65%2e/secret.bin', '.\t./secret.bin', '.\r./secret.bin', '\t../secret.bin', ' ../secret.bin',
    'sub/%2e%2e/%2e%2e/secret.bin', '..\\secret.bin', '..%5csecret.bin', '..%2fsecret.bin', '..%252fsecret.bin',
    '%2fsecret.bin', '/secret.bin', join(root, 'secret.bin'), pathToFileURL(join(root, 'secret.bin')).href,
    './../secret.bin', '//etc/passwd', '\t//127.0.0.1/x', '\0../secret.bin', '../model/../secret.bin', '../secret.bin?x',
    '..;/secret.bin', '%c0%ae%c0%ae/secret.bin', 'C:/secret.bin', './C:secret.bin', 'sub/../../secret.bin#x', '', '.', 'sub/',
  ]; // prettier-ignore
  for (const name of leaving) {
    for (const [how, write, load, at] of ways()) {
      prepare(write(name));
      requested.length = 0;
      const what = `${how}: ${JSON.stringify(name)}`;
      await assert.rejects(load(at), /externalData|weightUrlConverter|no data|location/, what);
      assert.deepEqual(
        requested.filter((path) => path !== '/model/model.onnx'),
        [],
        what,
      );
    }
  }
});

test('names of files that stay in it are read', async () => {
  for (const name of [
    'w.bin',
    './w.bin',
    'sub/w.bin',
    'sub//w.bin',
    'a b.bin',
    '100%.bin',
    'a..b',
    'Modell-ä模.bin',
    'a#1.bin',
  ]) {
    for (const [how, write, load, at] of ways()) {
      if (name.includes('//') && how.endsWith('http')) continue;
      prepare(write(name));
      assert.deepEqual(await load(at), [1, 2], `${how}: ${name}`);
    }
  }
  for (const [how, write, load, at] of ways().filter(([each]) => !each.endsWith('http'))) {
    for (const name of ['a%20b.bin', 'inner/w.bin']) {
      prepare(write(name));
      assert.deepEqual(await load(at), [1, 2], `${how}: ${name}`);
    }
  }
});

test('links lead nowhere else, and only regular files are read', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.bin')]);
  for (const name of ['link.bin', 'up/secret.bin', 'pipe.bin', 'inner']) {
    for (const [how, write, load, at] of ways().filter(([each]) => !each.endsWith('http'))) {
      prepare(write(name));
      await assert.rejects(
        load(at),
        /link that leaves|no regular file|in its folder/,
        `${how}: ${name}`,
      );
    }
  }
});

test('caches of downloads, whose files are links into another folder', async () => {
  const [blobs, snapshot] = ['blobs', 'snapshots/1/onnx'].map((each) => join(root, 'hub', each));
  for (const each of [blobs, snapshot]) mkdirSync(each, { recursive: true });
  writeFileSync(join(blobs, 'a'), onnx('w.bin'));
  writeFileSync(join(blobs, 'b'), fileBytes);
  symlinkSync('../../../blobs/a', join(snapshot, 'model.onnx'));
  symlinkSync('../../../blobs/b', join(snapshot, 'w.bin'));
  assert.deepEqual(await tlOnnx(join(snapshot, 'model.onnx')), [1, 2]);
});

test('programs name other locations', async () => {
  for (const name of ['../w.bin', 'constructor', '__proto__', 'https://other.invalid/w.bin']) {
    const dataByName = Object.fromEntries([[name, fileBytes]]);
    const loaded = await tl.loadModel(new Uint8Array(onnx(name)), { externalData: dataByName });
    assert.deepEqual([...(await loaded.run({})).y.dataSync()], [1, 2]);
    await assert.rejects(
      tl.loadModel(new Uint8Array(onnx(name)), { externalData: {} }),
      /give it as externalData/,
    );
  }
  prepare(json('../w.bin'));
  const weightUrlConverter = async () => join(folder, 'w.bin');
  const loaded = await tl.loadLayersModel(`file://${location}`, { weightUrlConverter });
  assert.deepEqual([...(await loaded.getWeights()[0].data())], [1, 2]);
});
