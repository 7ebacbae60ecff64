// Models in folders and on servers: shards, atomic saves, progress, damaged files.
import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { rejects, smallModel } from '../../lib.mjs';
import { mutations } from '../../mutate.mjs';

let base, folder, server, url;
let uploads = [];

before(async () => {
  base = await fs.mkdtemp(join(tmpdir(), 'tensorlathe-'));
  server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const form = await new Response(request, { headers: request.headers }).formData();
      uploads.push(form);
      response.writeHead(request.url === '/full' ? 507 : 200).end();
      return;
    }
    const path = new URL(request.url, 'http://localhost').pathname;
    const content = await fs.readFile(join(base, path)).catch(() => undefined);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  // Comparing millions of weights may block this thread longer than the default timeout of idle connections.
  server.keepAliveTimeout = 60_000;
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${server.address().port}`;
});
beforeEach(async () => {
  uploads = [];
  folder = await fs.mkdtemp(join(base, 'model-'));
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await fs.rm(base, { recursive: true });
});

const weightsOf = (model) => model.getWeights().map((each) => [...each.dataSync()]);
const inFolder = async () => (await fs.readdir(folder)).sort();

/** A model whose weights fill several shards. */
function large() {
  const model = tl.sequential({ seed: 1 });
  model.add(tl.layers.dense({ units: 1500, inputShape: [1500] }));
  return model;
}

test('a folder contains model.json and shards of up to 4 MiB', async () => {
  const model = large();
  const { modelArtifactsInfo } = await model.save(`file://${folder}`);
  assert.equal(modelArtifactsInfo.weightDataBytes, 4 * (1500 * 1500 + 1500));
  const names = await inFolder();
  assert.equal(names.length, 4);
  const sizes = await Promise.all(
    names.map(async (name) => (await fs.stat(join(folder, name))).size),
  );
  const shards = sizes.filter((_, at) => names[at] !== 'model.json');
  assert.deepEqual(shards, [2 ** 22, 2 ** 22, 4 * (1500 * 1500 + 1500) - 2 ** 23]);
  const seen = [];
  for (const path of [folder, `${folder}/model.json`]) {
    const copy = await tl.loadLayersModel(`file://${path}`, { onProgress: (f) => seen.push(f) });
    assert.deepEqual(weightsOf(copy), weightsOf(model));
  }
  assert.ok(
    (await tl.loadLayersModel(pathToFileURL(folder))).countParams() === model.countParams(),
  );
  assert.equal(seen.at(-1), 1);
  assert.ok(seen.every((fraction, at) => at === 0 || fraction === 1 || fraction >= seen[at - 1]));
});

test('a folder on a server is loaded here and by TensorFlow.js', async () => {
  const model = large();
  await model.save(`file://${folder}`);
  const address = `${url}/${folder.slice(base.length + 1)}/model.json`;
  const seen = [];
  const copy = await tl.loadLayersModel(address, { onProgress: (share) => seen.push(share) });
  assert.deepEqual(weightsOf(copy), weightsOf(model));
  // As in TensorFlow.js, progress advances twice per shard: at the response and at its end.
  assert.deepEqual(
    seen.map((share) => Math.round(6 * share)),
    [1, 2, 3, 4, 5, 6],
  );
  const theirs = await tf.loadLayersModel(address);
  assert.deepEqual([...theirs.weights[1].read().dataSync()], weightsOf(model)[1]);
  const prefixed = await tl.loadLayersModel(`${address}?version=2`, {
    weightPathPrefix: address.replace('model.json', ''),
  });
  assert.deepEqual(weightsOf(prefixed), weightsOf(model));
});

test('a model is uploaded to a server as form data', async () => {
  const model = smallModel();
  await model.save(`${url}/models`);
  const [form] = uploads;
  const files = ['model.json', 'model.weights.bin'].map((name) => form.get(name));
  const copy = await tl.loadLayersModel(tl.io.browserFiles(files));
  assert.deepEqual(weightsOf(copy), weightsOf(model));
  await rejects(model.save(`${url}/full`), /cannot save to .*\/full: HTTP status 507$/);
  const fetchFunc = async () => new Response('', { status: 405 });
  await rejects(
    model.save(tl.io.http(url, { fetchFunc })),
    /HTTP status 405; indexeddb:\/\/NAME and downloads:\/\/NAME need no server$/,
  );
});

test('overwriting a model removes files that the new one does not use', async () => {
  await large().save(`file://${folder}`);
  await fs.writeFile(join(folder, 'notes.txt'), 'mine');
  const model = smallModel();
  await model.save(`file://${folder}`);
  const names = await inFolder();
  assert.equal(names.length, 3);
  assert.ok(names.includes('notes.txt') && names.includes('model.json'));
  assert.deepEqual(weightsOf(await tl.loadLayersModel(`file://${folder}`)), weightsOf(model));
  await model.save(`file://${folder}`);
  assert.deepEqual(await inFolder(), names);
});

/** Runs an action with a file system that fails from change number `last` + 1 on; returns the number of changes and whether it failed. */
async function dying(last, action) {
  let count = 0;
  const originals = {};
  for (const name of ['open', 'rename', 'rm', 'mkdir', 'readdir']) {
    originals[name] = fs[name];
    fs[name] = (...args) => {
      if (++count > last) return Promise.reject(new Error('the disk failed'));
      return originals[name](...args);
    };
  }
  syncBuiltinESMExports();
  try {
    await action();
    return { count, failed: false };
  } catch (error) {
    assert.match(error.message, /the disk failed/);
    return { count, failed: true };
  } finally {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  }
}

test('a save interrupted at any step leaves the old model or the new one', async () => {
  const [before, later] = [smallModel({ seed: 1 }), smallModel({ seed: 2 })];
  const expected = [weightsOf(before), weightsOf(later)].map((each) => JSON.stringify(each));
  const outcomes = [];
  for (let last = 0; ; ++last) {
    await before.save(`file://${folder}`);
    const { failed } = await dying(last, () => later.save(`file://${folder}`));
    const actual = JSON.stringify(weightsOf(await tl.loadLayersModel(`file://${folder}`)));
    assert.ok(expected.includes(actual), `after ${last} changes`);
    outcomes.push(expected.indexOf(actual));
    if (!failed) break;
    assert.ok(last < 100);
  }
  assert.ok(outcomes.length > 6, 'the failures met the saving');
  assert.equal(outcomes[0], 0);
  assert.equal(outcomes.at(-1), 1);
  await later.save(`file://${folder}`);
  assert.equal((await inFolder()).length, 2, 'temporary files are removed');
});

test('an interrupted first save leaves no model', async () => {
  for (let last = 0; ; ++last) {
    const fresh = join(folder, `of-${last}`);
    const { failed } = await dying(last, () => smallModel().save(`file://${fresh}`));
    if (!failed) break;
    const loaded = await tl.loadLayersModel(`file://${fresh}`).catch((error) => error);
    if (loaded instanceof Error) assert.match(loaded.message, /cannot read/);
    else assert.deepEqual(weightsOf(loaded), weightsOf(smallModel()));
    assert.ok(last < 100);
  }
});

test('errors name the file and the tensor', async () => {
  await rejects(tl.loadLayersModel(`file://${folder}`), /cannot read .*model\.json: ENOENT/);
  await smallModel().save(`file://${folder}`);
  const [shard] = (await inFolder()).filter((name) => name.endsWith('.bin'));
  const bytes = await fs.readFile(join(folder, shard));
  const text = await fs.readFile(join(folder, 'model.json'), 'utf8');
  const load = () => tl.loadLayersModel(`file://${folder}`);

  await fs.writeFile(join(folder, shard), bytes.subarray(0, 70));
  const truncated = new RegExp(
    `model.json: ${shard}: it ends after 70 bytes, within the tensor dense_Dense1/bias`,
  );
  await rejects(load(), truncated);
  await fs.writeFile(join(folder, shard), Buffer.concat([bytes, bytes]));
  await rejects(load(), /it has 408 bytes, but its tensors have 204/);
  await fs.rm(join(folder, shard));
  await rejects(load(), new RegExp(`cannot read .*${shard}: ENOENT`));
  await fs.writeFile(join(folder, shard), bytes);

  const change = async (edit, message) => {
    await fs.writeFile(join(folder, 'model.json'), edit(text));
    await rejects(load(), message);
  };
  await change(() => '{"a":', /model\.json: no JSON: /);
  await change(() => '[]', /it must be an object/);
  await change(() => '{}', /it has no modelTopology/);
  await change((t) => t.replace('layers-model', 'graph-model'), /it is a graph model/);
  await change((t) => t.replace(shard, '../secret'), /"..\/secret" is not a path in its folder/);
  await change(
    (t) => t.replace(shard, '/etc/passwd'),
    /"\/etc\/passwd" is not a path in its folder/,
  );
  await change(
    (t) => t.replace('"weights":', '"w":'),
    /weightsManifest\[0\] must have paths and weights/,
  );
  await rejects(tl.loadLayersModel(`${url}/none/model.json`), /none\/model\.json: HTTP status 404/);
});

const hostilePaths = [
  '../secret',
  '%2e%2e/secret',
  '.%2E/secret',
  '.\t./secret',
  '.\n./secret',
  '\t../secret',
  '..\\secret',
  'a\\..\\..\\secret',
  'a/%2e%2e/%2e%2e/secret',
  'a%2f..%2f..%2fsecret',
  '..%2fsecret',
  '..%5csecret',
  '/secret',
  '\\secret',
  '//evil.invalid/secret',
  'http://evil.invalid/secret',
  'HTTP:\\\\evil.invalid/secret',
  'data:,secret',
  'blob:http://evil.invalid/1',
  'web+x1:secret',
  'C:secret',
  '?secret',
  '#secret',
  '.',
  '',
];

test('weight files outside the folder of the model are rejected, for any encoding of their paths', async () => {
  await smallModel().save(`file://${folder}`);
  const [shard] = (await inFolder()).filter((name) => name.endsWith('.bin'));
  const text = await fs.readFile(join(folder, 'model.json'), 'utf8');
  await fs.writeFile(join(base, 'secret'), await fs.readFile(join(folder, shard)));
  const json = JSON.parse(text);
  const address = `${url}/${folder.slice(base.length + 1)}/model.json`;
  const requests = [];
  const fetchFunc = (input, init) => {
    assert.equal(init.headers.Authorization, 'secret');
    requests.push(String(input));
    return fetch(input);
  };
  const load = async (path, options) => {
    json.weightsManifest[0].paths = [path];
    await fs.writeFile(join(folder, 'model.json'), JSON.stringify(json));
    const requestInit = { headers: { Authorization: 'secret' } };
    return tl.loadLayersModel(address, { fetchFunc, requestInit, ...options });
  };
  for (const path of hostilePaths) {
    await rejects(
      load(path),
      `${address}: weightsManifest[0]: ${JSON.stringify(path)} is not a path in its folder; weightUrlConverter specifies where`,
    );
    await rejects(tl.loadLayersModel(`file://${folder}`), /is not a path in its folder/);
  }
  for (const [prefix, path] of [
    ['http://evil', '.invalid/secret'],
    ['http://evil', '@evil.invalid/secret'],
    ['http://evil.invalid', ':1/secret'],
    ['data:,', 'secret'],
  ]) {
    const message = `${address}: there is no ${JSON.stringify(path)} below ${prefix}; weightUrlConverter specifies where`;
    await rejects(load(path, { weightPathPrefix: prefix }), message);
  }
  assert.deepEqual([...new Set(requests)], [address]);

  await fs.mkdir(join(folder, 'parts'));
  await fs.rename(join(folder, shard), join(folder, 'parts/w.bin'));
  await fs.symlink('parts', join(folder, 'link'));
  for (const path of ['parts/w.bin', './parts/w.bin', 'link/w.bin']) {
    assert.deepEqual(weightsOf(await load(path)), weightsOf(smallModel()), path);
    const copy = await tl.loadLayersModel(`file://${folder}`);
    assert.deepEqual(weightsOf(copy), weightsOf(smallModel()), path);
  }
  const signed = await load('parts/w.bin?key=a%2Fb');
  assert.deepEqual(weightsOf(signed), weightsOf(smallModel()));
  const prefixed = await load('w.bin', { weightPathPrefix: `${address}/../link/` });
  assert.deepEqual(weightsOf(prefixed), weightsOf(smallModel()));
});

test('URLs without a folder are rejected without weightPathPrefix', async () => {
  await smallModel().save(`file://${folder}`);
  const text = await fs.readFile(join(folder, 'model.json'), 'utf8');
  const dataUrl = `data:application/json,${encodeURIComponent(text)}`;
  await rejects(
    tl.loadLayersModel(tl.io.http(dataUrl)),
    /there is no "group1-.*" next to it; weightUrlConverter/,
  );
  const weightPathPrefix = `${url}/${folder.slice(base.length + 1)}/`;
  const copy = await tl.loadLayersModel(tl.io.http(dataUrl, { weightPathPrefix }));
  assert.deepEqual(weightsOf(copy), weightsOf(smallModel()));
  const fetchFunc = async (path) => new Response(await fs.readFile(join(folder, path)));
  const relative = await tl.loadLayersModel(tl.io.http('model.json', { fetchFunc }));
  assert.deepEqual(weightsOf(relative), weightsOf(smallModel()));
});

test('a model.json without a manifest is a model with initial weights', async () => {
  await smallModel().save(`file://${folder}`);
  const file = join(folder, 'model.json');
  const { weightsManifest: _, ...bare } = JSON.parse(await fs.readFile(file, 'utf8'));
  const shapes = (model) => model.getWeights().map(({ shape }) => shape);
  for (const more of [{}, { weightsManifest: null }]) {
    const text = JSON.stringify({ ...bare, ...more });
    await fs.writeFile(file, text);
    const fetchFunc = async () => new Response(text);
    for (const source of [
      `file://${folder}`,
      tl.io.http('http://there/model.json', { fetchFunc }),
      tl.io.browserFiles([new File([text], 'model.json')]),
    ]) {
      assert.deepEqual(shapes(await tl.loadLayersModel(source)), shapes(smallModel()));
    }
  }
  await fs.writeFile(file, JSON.stringify({ ...bare, weightsManifest: [] }));
  await rejects(tl.loadLayersModel(`file://${folder}`), /needs .*, which is not there/);
});

test('uploaded files are found by name', async () => {
  const model = smallModel();
  await model.save(`file://${folder}`);
  const files = await Promise.all(
    (await inFolder()).map(async (name) => new File([await fs.readFile(join(folder, name))], name)),
  );
  const { browserFiles } = tl.io;
  const copy = await tl.loadLayersModel(browserFiles(files));
  assert.deepEqual(weightsOf(copy), weightsOf(model));
  const [json] = files.filter(({ name }) => name.endsWith('.json'));
  await rejects(
    tl.loadLayersModel(browserFiles([json])),
    /model\.json names group1-.*, which is not there/,
  );
  await rejects(
    tl.loadLayersModel(browserFiles([json, json])),
    /one \.json file is needed, there are 2/,
  );
  assert.throws(() => browserFiles([]), /at least 1 file/);
});

test('copyModel copies between URLs that need no browser', async () => {
  await smallModel().save(`file://${folder}`);
  const target = join(folder, 'copy');
  const info = await tl.io.copyModel(`file://${folder}`, `file://${target}`);
  assert.equal(info.modelTopologyType, 'JSON');
  const copy = await tl.loadLayersModel(`file://${target}`);
  assert.deepEqual(weightsOf(copy), weightsOf(smallModel()));
  await rejects(tl.io.copyModel('file://a', 'file://a'), /both addresses are/);
  await rejects(
    tl.io.removeModel(`file://${folder}`),
    /is not a model address; supported schemes:/,
  );
});

test('damaged folders yield a model or a LatheError', async () => {
  await smallModel().save(`file://${folder}`);
  const names = await inFolder();
  for (const name of names) {
    const bytes = await fs.readFile(join(folder, name));
    let rejected = 0;
    for (const mutated of mutations(bytes, name === 'model.json' ? 300 : 40)) {
      await fs.writeFile(join(folder, name), mutated);
      try {
        (await tl.loadLayersModel(`file://${folder}`)).dispose();
      } catch (error) {
        assert.equal(error.name, 'LatheError', error.stack);
        ++rejected;
      }
    }
    assert.ok(rejected > 10, `${name}: ${rejected}`);
    await fs.writeFile(join(folder, name), bytes);
  }
});
