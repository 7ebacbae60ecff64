// Concurrent saves into one folder, here and in other processes, some of them killed: it always contains one complete model.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import * as tl from 'tensorlathe';
import { smallModel } from '../../lib.mjs';

const program = fileURLToPath(new URL('../../save_run.mjs', import.meta.url));
/** The IO handlers of another process, in this thread: they treat saves of this process as abandoned. */
const others = await import(new URL('./io/file.js?other', import.meta.resolve('tensorlathe')));
let base, folder, worker;

before(async () => {
  base = await fs.mkdtemp(join(tmpdir(), 'tensorlathe-'));
  worker = new Worker(program);
  await once(worker, 'message');
});
beforeEach(async () => {
  folder = await fs.mkdtemp(join(base, 'model-'));
});
after(async () => {
  await worker.terminate();
  await fs.rm(base, { recursive: true });
});

const weightsOf = (model) => JSON.stringify(model.getWeights().map((each) => [...each.dataSync()]));
const load = async () => weightsOf(await tl.loadLayersModel(`file://${folder}`));
const inFolder = () => fs.readdir(folder);
const seeded = (seed) => smallModel({ seed });

async function artifactsOf(model) {
  let artifacts;
  await model.save({ save: async (saved) => ((artifacts = saved), {}) });
  return artifacts;
}

test('concurrent saves in one process are serialized', async () => {
  await fs.symlink(folder, join(base, 'alias'));
  const models = Array.from({ length: 12 }, (_, seed) => seeded(seed));
  const expected = models.map(weightsOf);
  for (let round = 0; round < 5; ++round) {
    const paths = [folder, `${folder}/model.json`, join(base, 'alias')];
    await Promise.all(models.map((model, at) => model.save(`file://${paths[at % 3]}`)));
    assert.ok(expected.includes(await load()));
    assert.equal((await inFolder()).length, 2);
  }
});

/** Concurrent savers, run between two steps of a save. */
const guests = {
  'a process that treats this one as dead': async (model) => {
    await others.fileHandler(folder).save(await artifactsOf(model));
  },
  'a process that treats this one as alive': async (_, seed) => {
    worker.postMessage({ folder, seed });
    assert.equal((await once(worker, 'message'))[0], 'saved');
  },
};

/** Runs an action, and `guest` before its `at`-th file system change; returns whether that was reached. */
async function interrupted(at, guest, action) {
  let count = 0;
  const originals = {};
  for (const name of ['open', 'rename', 'rm', 'mkdir', 'readdir']) {
    originals[name] = fs[name];
    fs[name] = async (...args) => {
      if (++count === at) await guest();
      return originals[name](...args);
    };
  }
  syncBuiltinESMExports();
  try {
    await action();
    return count >= at;
  } finally {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  }
}

for (const [name, guest] of Object.entries(guests)) {
  test(`any step of a save may be interleaved with a save of ${name}`, async () => {
    const [old, ours, theirs] = [1, 2, 3].map(seeded);
    const expected = [ours, theirs].map(weightsOf);
    for (let at = 1; ; ++at) {
      await old.save(`file://${folder}`);
      const action = () => ours.save(`file://${folder}`);
      if (!(await interrupted(at, () => guest(theirs, 3), action))) break;
      assert.ok(expected.includes(await load()), `at ${at}`);
      assert.ok(at < 100);
    }
    await old.save(`file://${folder}`);
    assert.equal((await inFolder()).length, 2);
  });

  test(`loading reads complete models while ${name} saves`, async () => {
    const models = [seeded(1), seeded(3)];
    const expected = models.map(weightsOf);
    await models[0].save(`file://${folder}`);
    const { readFile } = fs;
    let reads = 0;
    fs.readFile = async (...args) => {
      if (++reads === 2) await guest(models[1], 3);
      return readFile(...args);
    };
    syncBuiltinESMExports();
    try {
      assert.ok(expected.includes(await load()));
    } finally {
      fs.readFile = readFile;
      syncBuiltinESMExports();
    }
    assert.ok(reads > 2);
  });
}

test('processes that save concurrently all succeed', async () => {
  const expected = Array.from({ length: 60 }, (_, seed) => weightsOf(seeded(seed)));
  await seeded(0).save(`file://${folder}`);
  const run = (first) => promisify(execFile)('node', [program, folder, first, 20]);
  let running = true;
  const all = Promise.all([0, 20, 40].map(run)).finally(() => (running = false));
  while (running) {
    assert.ok(expected.includes(await load()));
    await seeded(7).save(`file://${folder}`);
  }
  await all;
  assert.ok(expected.includes(await load()));
  await seeded(5).save(`file://${folder}`);
  assert.equal((await inFolder()).length, 2);
});

test('processes killed while saving leave a complete model', async () => {
  const expected = Array.from({ length: 1000 }, (_, seed) => weightsOf(seeded(seed)));
  await seeded(0).save(`file://${folder}`);
  for (let round = 0; round < 5; ++round) {
    const children = [0, 500].map((first) => spawn('node', [program, folder, first, 500]));
    for await (const _ of fs.watch(folder)) break;
    await new Promise((done) => setTimeout(done, 7 * round));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => once(child, 'exit')));
    assert.ok(expected.includes(await load()));
  }
  await seeded(5).save(`file://${folder}`);
  assert.equal((await inFolder()).length, 2, 'their temporary files are removed');
});

test('unchanged files are not rewritten', async () => {
  await seeded(1).save(`file://${folder}`);
  const times = async () =>
    Promise.all((await inFolder()).map(async (name) => (await fs.stat(join(folder, name))).ino));
  const first = await times();
  await seeded(1).save(`file://${folder}`);
  assert.deepEqual(await times(), first);
  const [shard] = (await inFolder()).filter((name) => name.endsWith('.bin'));
  await fs.writeFile(join(folder, shard), 'damaged');
  await seeded(1).save(`file://${folder}`);
  assert.equal(await load(), weightsOf(seeded(1)));
});

test('a failed save leaves no files', async () => {
  await seeded(1).save(`file://${folder}`);
  const names = await inFolder();
  const { rename } = fs;
  fs.rename = () => Promise.reject(new Error('no space'));
  syncBuiltinESMExports();
  try {
    await assert.rejects(seeded(2).save(`file://${folder}`), /cannot save to .*: no space/);
  } finally {
    fs.rename = rename;
    syncBuiltinESMExports();
  }
  assert.deepEqual(await inFolder(), names);
  await fs.writeFile(join(base, 'file'), '');
  await assert.rejects(seeded(1).save(`file://${base}/file/model`), /cannot save to .*ENOTDIR/);
});

test('moveModel moves a model that is saved concurrently', async () => {
  const entries = new Map();
  const storage = { getItem: (key) => entries.get(key) ?? null };
  Object.defineProperties(storage, {
    setItem: { value: (key, text) => entries.set(key, text), writable: true },
    removeItem: { value: (key) => entries.delete(key) },
  });
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
  try {
    await seeded(2).save('localstorage://other');
    await seeded(1).save('localstorage://from');
    const { setItem } = storage;
    storage.setItem = (key, text) => {
      setItem(key, text);
      setItem('tensorlathe_models/from', entries.get('tensorlathe_models/other'));
      storage.setItem = setItem;
    };
    const { dateSaved } = await tl.io.moveModel('localstorage://from', 'localstorage://to');
    assert.ok(dateSaved instanceof Date);
    assert.deepEqual(
      [...entries.keys()].sort(),
      ['other', 'to'].map((n) => `tensorlathe_models/${n}`),
    );
    const moved = await tl.loadLayersModel('localstorage://to');
    assert.equal(weightsOf(moved), weightsOf(seeded(2)));

    await seeded(1).save('localstorage://__proto__');
    storage['tensorlathe_models/__proto__'] = '';
    const listed = Object.keys(await tl.io.listModels());
    assert.deepEqual(listed, ['localstorage://__proto__']);
    entries.set(
      'tensorlathe_models/bad',
      entries.get('tensorlathe_models/to').replace('Base64":"', '$&%'),
    );
    await assert.rejects(tl.loadLayersModel('localstorage://bad'), {
      name: 'LatheError',
      message: /^localstorage:\/\/bad is damaged: /,
    });
  } finally {
    if (descriptor === undefined) delete globalThis.localStorage;
    else Object.defineProperty(globalThis, 'localStorage', descriptor);
  }
});
