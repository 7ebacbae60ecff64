// The examples that train on files: plausible results on a few rows, and errors without files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { drawPlot } from '../../../../examples/lib/plot.mjs';
import { dataPath, missingData } from '../../../../tools/data.mjs';

const data = dataPath('train');
const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
after(() => rmSync(folder, { recursive: true }));

const node = (script, ...args) =>
  spawnSync(process.execPath, [`examples/${script}.mjs`, ...args], { encoding: 'utf8' });

/** Skips the test where the data are missing. */
const skipWithout = (name) => ({ skip: missingData('train', name) });

/** Runs an example, checks the number of epochs and that a plot was saved, and returns its output. */
function runs(script, epochs, ...args) {
  const plot = join(folder, `${script}.svg`);
  const { status, stdout, stderr } = node(script, '--data', data, '--plot', plot, ...args);
  assert.equal(status, 0, stderr);
  assert.equal(stdout.match(/^epoch +\d+\/\d+  loss \d/gm).length, epochs, stdout);
  assert.match(readFileSync(plot, 'utf8'), /^<svg [^]*<polyline points="[\d., ]+"[^]*<\/svg>\n$/);
  return stdout;
}

const number = (output, pattern) => Number(output.match(pattern)[1]);

for (const set of ['mnist', 'fashion-mnist']) {
  test(`the convolutional network learns ${set}`, skipWithout(set), () => {
    const output = runs('mnist_cnn', 3, '--set', set, '--rows', '2000', '--epochs', '3');
    const accuracy = number(output, /test accuracy ([\d.]+) % after 3 epochs/);
    assert.ok(accuracy > 65 && accuracy <= 100, output);
  });
}

test(
  'the house prices are predicted as in TensorFlow.js',
  skipWithout('tabular/california_housing.csv'),
  () => {
    const args = ['--rows', '2000', '--epochs', '6', '--compare'];
    const output = runs('housing', 6, ...args);
    const [ours, theirs] = [/test error ([\d.]+)/, /TensorFlow\.js ([\d.]+)/].map((each) =>
      number(output, each),
    );
    assert.ok(ours < 1, output);
    assert.ok(Math.abs(ours - theirs) < 1e-2 * theirs, output);
  },
);

test('a new head is trained on frozen features', skipWithout('mnist'), () => {
  const args = ['--rows', '1500', '--few', '200', '--epochs', '2', '--headEpochs', '4'];
  const output = runs('transfer', 10, ...args);
  const before = number(output, /digits 0 to 4 +([\d.]+) %/);
  assert.equal(number(output, /still, after the transfer +([\d.]+) %/), before);
  assert.ok(before > 80, output);
  assert.ok(number(output, /digits 5 to 9 +([\d.]+) %/) > 45, output);
});

test(
  'a character-level language model learns a text',
  skipWithout('text/tinyshakespeare.txt'),
  () => {
    const plot = join(folder, 'characters.svg');
    const args = [
      '--data',
      data,
      '--steps',
      '200',
      '--units',
      '16',
      '--length',
      '16',
      '--batch',
      '16',
    ];
    const { status, stdout, stderr } = node('characters', ...args, '--write', '80', '--plot', plot);
    assert.equal(status, 0, stderr);
    assert.match(readFileSync(plot, 'utf8'), /<polyline points="[\d., ]+"/);
    assert.ok(readFileSync(plot.replace('.svg', '.txt'), 'utf8').length >= 80, stdout);
  },
);

test('without a folder of data the repository makes some', () => {
  const few = {
    mnist_cnn: ['--rows', '64', '--epochs', '1'],
    housing: ['--rows', '200', '--epochs', '2'],
    transfer: ['--rows', '64', '--few', '32', '--epochs', '1', '--headEpochs', '1'],
    characters: ['--steps', '4', '--units', '8', '--length', '8', '--batch', '8', '--write', '20'],
  };
  const env = { ...process.env };
  delete env.LATHE_DATA;
  for (const [script, args] of Object.entries(few)) {
    const plot = join(folder, `standin_${script}.svg`);
    const all = [`examples/${script}.mjs`, ...args, '--plot', plot];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8', env });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^data: .+; the real ones: .*https:\/\/.+ with --data DIR$/m);
    assert.match(readFileSync(plot, 'utf8'), /<polyline points="[\d., ]+"/);
  }
});

test('examples name missing files and invalid options', () => {
  for (const [script, name] of [
    ['mnist_cnn', 'mnist'],
    ['housing', 'tabular/california_housing.csv'],
    ['transfer', 'mnist'],
  ]) {
    const { status, stderr } = node(script, '--data', 'nowhere');
    assert.equal(status, 1);
    const path = join('nowhere', name);
    assert.equal(
      stderr,
      `${script}: ${path} is missing; --data DIR names the folder that has ${name}\n`,
    );
    const wrong = node(script, '--epochs', 'many');
    assert.equal(wrong.stderr, `${script}: --epochs must be a whole number, got "many"\n`);
  }
});

test('axes of plots cover the values; NaN values are left out', () => {
  const svg = drawPlot('a < b', [{ title: 'loss', lines: [{ name: 'x', values: [3, NaN, 1.2] }] }]);
  assert.match(svg, />a &lt; b</);
  const labels = [...svg.matchAll(/text-anchor="end"[^>]*>([\d.]+)</g)].map(([, each]) => each);
  assert.deepEqual(labels, ['1.0', '1.5', '2.0', '2.5', '3.0']);
  assert.match(svg, /<polyline points="56\.0,56\.0 344\.0,185\.6"/);
});
