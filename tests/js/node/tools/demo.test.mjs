// The demo: its digits require a network, its standalone module is as accurate as the model, its errors are one line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { drawnDigits } from '../../../../examples/lib/load.mjs';
import { tensors } from '../../lib.mjs';

const node = (script, ...args) =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });

async function accuracy(layers, digits) {
  const model = tl.sequential({ seed: 1, layers });
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
  await model.fit(...tensors(digits.train), { epochs: 10, batchSize: 64 });
  const { acc } = model.evaluate(...tensors(digits.test), { asObject: true });
  model.dispose();
  return acc;
}

test('a linear model is clearly less accurate than the network on the synthetic digits', async (context) => {
  const digits = drawnDigits(1);
  const { dense } = tl.layers;
  const linear = await accuracy(
    [dense({ units: 10, activation: 'softmax', inputShape: [784] })],
    digits,
  );
  const network = await accuracy(
    [
      dense({ units: 128, activation: 'relu', inputShape: [784] }),
      dense({ units: 10, activation: 'softmax' }),
    ],
    digits,
  );
  context.diagnostic(
    `linear ${(100 * linear).toFixed(2)} %, network ${(100 * network).toFixed(2)} %`,
  );
  assert.ok(network > 0.93, String(network));
  assert.ok(network - linear > 0.03, `${network} - ${linear}`);
});

test('the demo trains, exports and checks what it exported', () => {
  const { status, stdout, stderr } = node('examples/demo.mjs', '--epochs', '2');
  assert.equal(status, 0, stderr);
  const [trained] = stdout.match(/(?<=on test digits +)accuracy [\d.]+ %/);
  const [standalone] = stdout.match(/(?<=standalone\.mjs +)accuracy [\d.]+ %/);
  assert.equal(standalone, trained);
  assert.equal(stdout.match(/^epoch \d\/2 .* images\/s/gm).length, 2);
});

test('the demo names invalid arguments and files', () => {
  const fails = (message, ...args) => {
    const { status, stderr } = node('examples/demo.mjs', ...args);
    assert.equal(status, 1);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  };
  fails(/demo: --epochs must be a whole number, got "many"/, '--epochs', 'many');
  fails(/demo: .*train-images-idx3-ubyte \(or \.gz\) is missing/, '--data', 'nowhere');
  mkdirSync('build/tests/broken', { recursive: true });
  for (const set of ['train', 't10k']) {
    for (const kind of ['images-idx3', 'labels-idx1']) {
      writeFileSync(`build/tests/broken/${set}-${kind}-ubyte`, 'not idx');
    }
  }
  fails(
    /demo: .*train-images-idx3-ubyte: no idx file \(it starts with 6e 6f 74 20/,
    '--data',
    'build/tests/broken',
  );
});

test('the generated tables of the package equal those of the core', () => {
  const { status, stderr } = node('js/scripts/generate.mjs', '--check');
  assert.equal(status, 0, stderr);
});
