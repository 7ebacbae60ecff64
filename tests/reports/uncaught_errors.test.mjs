// For an uncaught error, Node printed the line of the packed package that threw it: 154 KB, of which a pipe lost the
// message. What Node loads of the package has short lines and names, and the stack reaches the program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../build/package', import.meta.url));
const skip = existsSync(built) ? false : 'js/scripts/pack.mjs has not made build/package';
const folder = mkdtempSync(join(tmpdir(), 'uncaught-'));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(built, join(folder, 'node_modules/tensorlathe'));
after(() => rmSync(folder, { recursive: true }));

/** What a program prints as it ends, through a pipe. */
function printed(code, isModule) {
  const kind = isModule ? ['--input-type=module'] : ['--input-type=commonjs'];
  const run = spawnSync(process.execPath, [...kind, '-e', code], { cwd: folder, encoding: 'utf8' });
  assert.notEqual(run.status, 0);
  return run.stderr;
}

const programs = {
  'a module': ["import * as tl from 'tensorlathe'; tl.tensor([1, 2]).reshape([3]);", true],
  require: ["const tl = require('tensorlathe'); tl.tensor([1, 2]).reshape([3]);", false],
  'tensorlathe/tfjs': [
    "import * as t from 'tensorlathe/tfjs'; t.tensor([1, 2]).reshape([3]);",
    true,
  ],
  'the bundle': ["import * as tl from 'tensorlathe/bundle'; tl.tensor([1, 2]).reshape([3]);", true],
  'a promise': [
    "import * as tl from 'tensorlathe'; const m = tl.sequential();" +
      "m.add(tl.layers.dense({ units: 1, inputShape: [2] })); m.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });" +
      'await m.fit(tl.tensor([[1, 2, 3]]), tl.tensor([[1]]));',
    true,
  ],
};

for (const [name, [code, isModule]] of Object.entries(programs)) {
  test(`${name}: the message, names, and the line of the program`, { skip }, () => {
    const text = printed(code, isModule);
    assert.ok(text.length < 5000, `${text.length} characters`);
    assert.match(text, /^LatheError: (reshape|fit): .*3/m);
    assert.match(text, isModule ? /\[eval1\]:1:/ : /\[eval\]:1:/);
  });
}

test('sessions of tensorlathe/onnxruntime', { skip }, () => {
  const code = "import { InferenceSession } from 'tensorlathe/onnxruntime';";
  const text = printed(`${code} await InferenceSession.create(new Uint8Array(5));`, true);
  assert.ok(text.length < 5000, `${text.length} characters`);
  assert.match(text, /^Error: failed to load the model: .*ONNX model/m);
});

test('all entries are one package', { skip }, () => {
  const code = `
    import * as tl from 'tensorlathe';
    import * as tf from 'tensorlathe/tfjs';
    import * as one from 'tensorlathe/bundle';
    import * as data from 'tensorlathe/data';
    if (tl.Tensor !== tf.Tensor || tl.Tensor !== one.Tensor || tl.data.csv !== data.csv) throw 'two';
    throw 'one';`;
  assert.match(printed(code, true), /\none\n/);
  const { exports } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
  for (const [name, { node, import: others }] of Object.entries(exports)) {
    if (others === undefined || name === './training-module') continue;
    assert.equal(node.import.default, node['module-sync'], name);
    for (const each of [node.import.default, node.require.default]) {
      assert.ok(existsSync(join(built, each)), `${name}: ${each}`);
    }
  }
});
