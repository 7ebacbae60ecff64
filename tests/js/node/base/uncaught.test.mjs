// Programs that fail, in a folder of their own with only the packed package: what Node prints of the error, into a pipe.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installPacked } from '../../installed.mjs';

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  installPacked(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** What Node prints of a program; the line of the program that is expected in the stack is marked with `// here`. */
function stderrOf(file, program, ...flags) {
  writeFileSync(join(folder, file), program);
  const { status, stderr } = spawnSync(process.execPath, [...flags, file], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 1, stderr);
  return stderr;
}

const lineOf = (program) => program.split('\n').findIndex((line) => line.endsWith('// here')) + 1;

const model = `import * as tl from 'tensorlathe';
const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
`;
const programs = {
  'sync.mjs': [
    `import * as tl from 'tensorlathe';
const product = () => tl.tensor([[1, 2]]).matMul(tl.tensor([[1, 2]])); // here
product();
`,
    /^LatheError: matMul: .*\[1,2\]/m,
  ],
  'layer.cjs': [
    `const tl = require('tensorlathe');
tl.layers.dense({ units: 1, activation: 'rellu' }); // here
`,
    /^LatheError: layers\.dense: activation: unknown activation "rellu"; did you mean "relu"\?/m,
  ],
  'fit.mjs': [
    `${model}async function main() {
  await model.fit(tl.zeros([3, 2]), tl.zeros([4, 1])); // here
}
await main();
`,
    /^LatheError: fit: x has 3 rows, but y has 4$/m,
  ],
  'unawaited.mjs': [
    `${model}model.fit(tl.zeros([3, 2]), tl.zeros([4, 1])); // here
`,
    /^LatheError: fit: x has 3 rows, but y has 4$/m,
  ],
  'missing.mjs': [
    `import * as tl from 'tensorlathe';
await tl.loadModel('missing.onnx'); // here
`,
    /^LatheError: cannot read missing\.onnx: ENOENT/m,
  ],
  'layers.mjs': [
    `import * as tl from 'tensorlathe';
tl.loadLayersModel('missing/model.json'); // here
`,
    /^LatheError: cannot read missing\/model\.json: ENOENT/m,
  ],
  'tfjs.mjs': [
    `import * as tf from 'tensorlathe/tfjs';
const a = tf.tensor([1, 2]);
await a.add(tf.tensor([1, 2, 3])).data(); // here
`,
    /^LatheError: add: shapes \[2\] \[3\] do not broadcast/m,
  ],
};

for (const [file, [program, message]] of Object.entries(programs)) {
  test(`an uncaught error names the line of the program: ${file}`, () => {
    const stderr = stderrOf(file, program);
    assert.match(stderr, message);
    const [first] = stderr
      .slice(stderr.search(message))
      .split('\n')
      .filter((line) => /^ {4}at /.test(line));
    assert.match(
      first,
      new RegExp(`${file.replace('.', '\\.')}:${lineOf(program)}:\\d+\\)?( \\{)?$`),
      stderr,
    );
    assert.ok(stderr.length < 4000, `${stderr.length} characters`);
    assert.ok(Math.max(...stderr.split('\n').map((line) => line.length)) < 1000);
  });
}

test('with another limit of stack frames those of the package are printed', () => {
  const [program, message] = programs['sync.mjs'];
  const stderr = stderrOf('limit.mjs', program, '--stack-trace-limit=40');
  assert.match(stderr, message);
  assert.match(stderr, /node_modules\/tensorlathe\/dist\/modules\/core\/tensors\.js/);
});

test('models, layers and tensors print what they are', () => {
  writeFileSync(
    join(folder, 'print.mjs'),
    `${model}console.log(model);
console.log(tl.layers.dropout({ rate: 0.5 }), tl.input({ shape: [3], name: 'x' }));
console.log(tl.tensor([1, 2]).add(1));
`,
  );
  const { stdout } = spawnSync(process.execPath, ['print.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.equal(
    stdout,
    `Sequential {
  Dense "dense_Dense1" [null, 1]
} loss meanSquaredError, optimizer sgd
Dropout { rate: 0.5 } SymbolicTensor "x" float32 [null, 3]
Tensor
    [2, 3]
`,
  );
});
