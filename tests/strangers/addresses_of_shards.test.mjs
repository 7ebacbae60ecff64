// Names of weight files in a model.json that lead out of its folder or to another host, with the headers of the program: by every
// way of tensorlathe/tfjs to load over http. And redirects to other hosts: headers do not follow.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { posix } from 'node:path';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';

const requests = [];
const servers = [];
let text;
let other;
let main;
async function serve(who, answer) {
  const server = createServer((request, response) => {
    const { authorization, 'x-key': key } = request.headers;
    requests.push({
      path: who + posix.normalize(decodeURIComponent(request.url)),
      authorization,
      key,
    });
    const to = answer(request.url, request.headers);
    if (typeof to === 'string') response.writeHead(302, { location: to });
    response.end(typeof to === 'string' ? '' : to);
  });
  servers.push(server);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}
const weights = new Uint8Array(Float32Array.of(1, 2).buffer);
before(async () => {
  other = await serve(
    'other',
    (url) =>
      (url.endsWith('.json') ? text : weights) &&
      Buffer.from(url.endsWith('.json') ? text : weights),
  );
  main = await serve('main', (url) => {
    if (url.startsWith('/away/')) return `${other}/m/${url.slice(6)}`;
    if (url.startsWith('/home/')) return `/m/${url.slice(6)}`;
    if (url.startsWith('/round/')) return url;
    return Buffer.from(url.includes('model.json') ? text : weights);
  });
});
after(() => servers.forEach((each) => (each.close(), each.closeAllConnections())));

const constant = {
  name: 'w',
  op: 'Const',
  attr: {
    dtype: { type: 'DT_FLOAT' },
    value: { tensor: { dtype: 'DT_FLOAT', tensorShape: { dim: [{ size: '2' }] } } },
  },
};
const identity = { name: 'y', op: 'Identity', input: ['w'], attr: { T: { type: 'DT_FLOAT' } } };
const dense = { name: 'd', units: 1, use_bias: false, batch_input_shape: [null, 2] };
const sequential = { name: 's', layers: [{ class_name: 'Dense', config: dense }] };
const json = (name, isGraph) => {
  const [weight, shape] = isGraph ? ['w', [2]] : ['d/kernel', [2, 1]];
  return JSON.stringify({
    format: isGraph ? 'graph-model' : 'layers-model',
    modelTopology: isGraph
      ? { node: [constant, identity], versions: {} }
      : { class_name: 'Sequential', config: sequential },
    weightsManifest: [{ paths: [name], weights: [{ name: weight, shape, dtype: 'float32' }] }],
  });
};
const headers = { authorization: 'Bearer of the program', 'x-key': 'secret' };
const requestInit = { headers };
const fetchFunc = (address, init) => fetch(new URL(address, `${main}/m/`), init);
const ways = {
  'tl.loadLayersModel': (at) => tl.loadLayersModel(at, { requestInit }),
  'tf.loadLayersModel': (at) => tf.loadLayersModel(at, { requestInit }),
  'tf.loadGraphModel': (at) => tf.loadGraphModel(at, { requestInit }),
  'tf.io.http': (at) => tf.loadLayersModel(tf.io.http(at, { requestInit })),
  'tf.io.browserHTTPRequest, Graph': (at) =>
    tf.loadGraphModel(tf.io.browserHTTPRequest(at, { requestInit })),
  'tf.io.http, relative': (at) =>
    tf.loadLayersModel(tf.io.http(new URL(at).pathname, { requestInit, fetchFunc })),
  'tf.io.loadWeights': (at) =>
    tf.io.loadWeights(
      JSON.parse(text).weightsManifest,
      at.replace('/model.json', ''),
      undefined,
      requestInit,
    ),
};
const inFolder = ({ path }) => /^main\/(m|away|home)\//.test(path);

test('names that leave the folder are errors, and nothing else is fetched', async () => {
  const host = other.slice('http:'.length);
  const names = [
    '../x', '%2e%2e/x', '%252e%252e/x', '..%2fx', '..\\x', '/x', `${other}/x`, host, `\\\\${host.slice(2)}/x`,
    `\t${other}/x`, `\t${host}/x`, ' ../x', '.\n./x', '..;/x', '?x', '#x', '', 'data:,x', '..%5cx', '@x/../../y',
  ]; // prettier-ignore
  for (const [way, load] of Object.entries(ways)) {
    for (const name of names) {
      text = json(name, way.includes('Graph'));
      requests.length = 0;
      const what = `${way}: ${JSON.stringify(name)}`;
      await assert.rejects(load(`${main}/m/model.json`), undefined, what);
      assert.deepEqual(
        requests.filter((each) => !inFolder(each)),
        [],
        what,
      );
    }
  }
});

test('names that stay in it are fetched with the headers', async () => {
  for (const [way, load] of Object.entries(ways)) {
    for (const name of [
      'a.bin',
      'sub/a b.bin',
      '100%25.bin',
      'a..b',
      'ä模.bin',
      'a.bin?key=a%2Fb',
    ]) {
      text = json(name, way.includes('Graph'));
      requests.length = 0;
      await load(`${main}/m/model.json`);
      assert.ok(
        requests.every((each) => inFolder(each) && each.key === 'secret'),
        `${way}: ${name}`,
      );
    }
  }
});

test('headers follow redirects only within the origin', async () => {
  for (const [way, load] of Object.entries(ways)) {
    text = json('a.bin', way.includes('Graph'));
    for (const folder of ['home', 'away']) {
      requests.length = 0;
      await load(`${main}/${folder}/model.json`);
      for (const { path, authorization, key } of requests) {
        const expected = path.startsWith('main')
          ? ['Bearer of the program', 'secret']
          : [undefined, undefined];
        assert.deepEqual([authorization, key], expected, `${way}: ${path}`);
      }
      const end = folder === 'home' ? 'main/m/a.bin' : 'other/m/a.bin';
      assert.equal(requests.at(-1).path, end, way);
    }
  }
  await assert.rejects(ways['tf.io.http'](`${main}/round/model.json`), /more than 20 redirects/);
});

test('another origin that the program names gets no headers', async () => {
  text = json('a.bin');
  for (const options of [
    { weightPathPrefix: `${other}/m/` },
    { weightUrlConverter: async (name) => `${other}/m/${name}` },
  ]) {
    for (const from of [
      (all) => tl.loadLayersModel(`${main}/m/model.json`, all),
      (all) => tf.loadLayersModel(tf.io.http(`${main}/m/model.json`, all)),
    ]) {
      requests.length = 0;
      await from({ requestInit, ...options });
      assert.deepEqual(
        requests.map(({ path, key }) => [path, key]),
        [
          ['main/m/model.json', 'secret'],
          ['other/m/a.bin', undefined],
        ],
      );
    }
  }
});
