// How the compiler is loaded: in Node at the first call, in pages by `ready`, from wherever it is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/** What a program says in a thread that looks like a page. */
function said(program, workerData) {
  const worker = new Worker(new URL(`../${program}`, import.meta.url), { workerData });
  return new Promise((done, fail) => {
    worker.once('message', done);
    worker.once('error', fail);
  });
}

/** A page whose server answers so. */
const page = ({ answers = [], times = 1, chosen, makesModels } = {}) =>
  said('loading_run.mjs', { answers, times, chosen, makesModels });

const own = 'lathe-core.wasm';
const late = 'LatheError: setWasmUrl: the compiler is loaded already; call it before';

test('Node needs no waiting', () => {
  const script = `import * as tl from 'tensorlathe'; console.log(tl.tensor([1]).add(1).dataSync()[0])`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(String(printed).trim(), '2');
});

test('a page begins to load with the import, and calls before that are errors', async () => {
  const error =
    'LatheError: the compiler is not loaded yet: `await tl.ready()` before the first call';
  const loaded = { early: error, results: [[2, 3]], late, asked: [[own, false]] };
  assert.deepEqual(await page(), loaded);
  assert.deepEqual(await page({ answers: [{ type: 'text/plain' }] }), loaded);
});

test('what bundlers left no file of is found inlined', async () => {
  for (const answer of [{ status: 404 }, { type: 'text/html', text: '<html>' }, { text: 'wasm' }]) {
    const { results, asked } = await page({ answers: [answer] });
    assert.deepEqual(results, [[2, 3]]);
    assert.deepEqual(asked, [[own, false]]);
  }
});

test('setWasmUrl says where the core is, and an error that it is not there', async () => {
  const { results, asked } = await page({
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
  assert.deepEqual(asked, [
    [own, true],
    [at, false],
    [at, false],
    [at, false],
  ]);
});

test('what reads and writes models is loaded when it is first asked for', async () => {
  const late =
    'LatheError: Sequential.fromConfig: a page fetches the code of it when it is first asked for; await tl.ready() once more, then call it';
  const made = [late, [1, 2]];
  const plain = await page({ makesModels: true });
  assert.deepEqual(plain.made, made);
  assert.deepEqual(plain.asked, [
    [own, false],
    ['lathe-formats.wasm', false],
  ]);
  const inlined = await page({ makesModels: true, answers: [{}, { status: 404 }] });
  assert.deepEqual(inlined.made, made);
  const chosen = ['core.wasm', undefined, undefined, 'formats.wasm'];
  const moved = await page({ makesModels: true, chosen });
  assert.deepEqual(moved.made, made);
  assert.deepEqual(moved.asked.at(-1), ['https://example.org/app/formats.wasm', false]);
});

test('programs that begin with an ONNX session load the compiler and its importer in one', async () => {
  const sessions = (...steps) => said('loading_onnx_run.mjs', { steps });
  const together = ['lathe-core-onnx.wasm'];
  assert.deepEqual(await sessions('run', 'add', 'run'), {
    results: [
      [4, 9],
      [2, 3],
      [4, 9],
    ],
    asked: together,
  });
  const apart = [own, 'lathe-onnx.wasm'];
  for (const steps of [['add', 'run'], ['both']]) {
    const { results, asked } = await sessions(...steps);
    assert.deepEqual(results.at(-1), [4, 9]);
    assert.deepEqual(asked, apart);
  }
  const inlined = await said('loading_onnx_run.mjs', { steps: ['run'], absent: true });
  assert.deepEqual(inlined, { results: [[4, 9]], asked: together });
});
