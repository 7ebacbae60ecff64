// Loading of the compiler: in Node at the first call, in pages by `ready`, from any URL.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/** The message of a program that runs in a worker thread with the globals of a page. */
function messageOf(program, workerData) {
  const worker = new Worker(new URL(`../../${program}`, import.meta.url), { workerData });
  return new Promise((done, fail) => {
    worker.once('message', done);
    worker.once('error', fail);
  });
}

/** Runs a page whose server sends these answers. */
const page = ({ answers = [], times = 1, chosen, makesModels } = {}) =>
  messageOf('loading_run.mjs', { answers, times, chosen, makesModels });

const coreFile = 'lathe-core.wasm';
const late = 'LatheError: setWasmUrl: the compiler is loaded already; call it before';

test('Node loads the compiler synchronously', () => {
  const script = `import * as tl from 'tensorlathe'; console.log(tl.tensor([1]).add(1).dataSync()[0])`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(String(printed).trim(), '2');
});

test('a page starts loading at the import; calls before `ready` throw', async () => {
  const error =
    'LatheError: the compiler is not loaded yet: `await tl.ready()` before the first call';
  const loaded = { early: error, results: [[2, 3]], late, requested: [[coreFile, false]] };
  assert.deepEqual(await page(), loaded);
  assert.deepEqual(await page({ answers: [{ type: 'text/plain' }] }), loaded);
});

test('without its file the inlined core is loaded', async () => {
  for (const answer of [{ status: 404 }, { type: 'text/html', text: '<html>' }, { text: 'wasm' }]) {
    const { results, requested } = await page({ answers: [answer] });
    assert.deepEqual(results, [[2, 3]]);
    assert.deepEqual(requested, [[coreFile, false]]);
  }
});

test('setWasmUrl sets the URL of the core; a failed fetch of it is an error', async () => {
  const { results, requested } = await page({
    answers: [{}, { status: 404 }, { status: 500 }],
    times: 3,
    chosen: ['../core.wasm'],
  });
  const at = 'https://example.org/core.wasm';
  assert.deepEqual(results, [
    `LatheError: cannot load ${at}: HTTP status 404`,
    `LatheError: cannot load ${at}: HTTP status 500`,
    [2, 3],
  ]);
  assert.deepEqual(requested, [
    [coreFile, true],
    [at, false],
    [at, false],
    [at, false],
  ]);
});

test('the module of model formats is fetched at its first use', async () => {
  const late =
    'LatheError: Sequential.fromConfig: its code is loaded on first use in a page; await tl.ready() once more, then call it';
  const made = [late, [1, 2]];
  const plain = await page({ makesModels: true });
  assert.deepEqual(plain.made, made);
  assert.deepEqual(plain.requested, [
    [coreFile, false],
    ['lathe-formats.wasm', false],
  ]);
  const inlined = await page({ makesModels: true, answers: [{}, { status: 404 }] });
  assert.deepEqual(inlined.made, made);
  const chosen = ['core.wasm', undefined, undefined, 'formats.wasm'];
  const moved = await page({ makesModels: true, chosen });
  assert.deepEqual(moved.made, made);
  assert.deepEqual(moved.requested.at(-1), ['https://example.org/app/formats.wasm', false]);
});

test('programs that start with an ONNX session load compiler and importer as one file', async () => {
  const sessions = (...steps) => messageOf('loading_onnx_run.mjs', { steps });
  const combinedFile = ['lathe-core-onnx.wasm'];
  assert.deepEqual(await sessions('run', 'add', 'run'), {
    results: [
      [4, 9],
      [2, 3],
      [4, 9],
    ],
    requested: combinedFile,
  });
  const separateFiles = [coreFile, 'lathe-onnx.wasm'];
  for (const steps of [['add', 'run'], ['both']]) {
    const { results, requested } = await sessions(...steps);
    assert.deepEqual(results.at(-1), [4, 9]);
    assert.deepEqual(requested, separateFiles);
  }
  const inlined = await messageOf('loading_onnx_run.mjs', { steps: ['run'], absent: true });
  assert.deepEqual(inlined, { results: [[4, 9]], requested: combinedFile });
});
