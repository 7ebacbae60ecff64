// The examples that train on files: plausible results on a few rows, and errors without files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loudestSecond, rate, resample, samples } from '../../../../examples/lib/log_mel.mjs';
import { drawPlot } from '../../../../examples/lib/plot.mjs';
import { labels as words, say } from '../../../../examples/lib/voices.mjs';
import { readWav, writeWav } from '../../../../examples/lib/wav.mjs';
import { encode, vocabularyOf } from '../../../../examples/lib/words.mjs';
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

/** Runs an example that answers in its last line. */
function answers(script, ...args) {
  const { status, stdout, stderr } = node(script, ...args);
  assert.equal(status, 0, stderr);
  return stdout.trimEnd().split('\n').at(-1);
}

test('a sentence gets a label', () => {
  const out = join(folder, 'sentences');
  const last = answers('sentence_to_label', '--out', out, '--rows', '3000');
  assert.match(last, /^"The soup was not bad at all!": positive \([\d.]+ %\)$/);
  const { labels, length, vocabulary } = JSON.parse(readFileSync(join(out, 'vocabulary.json')));
  assert.deepEqual(labels, ['negative', 'neutral', 'positive']);
  assert.ok(length === 24 && vocabulary.includes('soup'));
});

test('sentences of a file are learned', () => {
  const file = join(folder, 'mine.tsv');
  const lines = ['cats', 'dogs'].flatMap((kind, at) =>
    Array.from({ length: 20 }, (_, i) => `${'ab'[at]}\tI have ${i} ${kind}`),
  );
  writeFileSync(file, lines.join('\r\n'));
  const args = ['--file', file, '--out', join(folder, 'mine'), '--epochs', '20'];
  assert.match(answers('sentence_to_label', ...args, '--sentence', 'Two dogs!'), /: b \(/);
  writeFileSync(file, 'no label\n');
  const { status, stderr } = node('sentence_to_label', '--file', file);
  assert.deepEqual([status, stderr], [1, `sentence_to_label: ${file}:1: no tab after a label\n`]);
});

test('words of a sentence become a row', () => {
  const vocabulary = vocabularyOf(['Go home, go!', 'Über uns: naïve l’été']);
  assert.deepEqual(vocabulary, ['go', 'home', 'über', 'uns', 'naïve', 'l’été']);
  const rows = encode(['Go home', 'no! GO.', '', '1 go home go'], vocabulary, 3);
  assert.deepEqual(rows, [
    [2, 3, 0],
    [1, 2, 0],
    [0, 0, 0],
    [2, 3, 2],
  ]);
});

test('the words of WAV files are learned and recognized', () => {
  const data = join(folder, 'voices');
  for (const [label, word] of ['yes', 'why', 'see'].entries()) {
    mkdirSync(join(data, word), { recursive: true });
    for (let at = 0; at < 40; ++at) {
      const bytes = writeWav(say(words.indexOf(word), 7 + label, at), rate);
      writeFileSync(join(data, word, `${at}.wav`), bytes);
    }
  }
  const wav = join(folder, 'new.wav');
  writeFileSync(wav, writeWav(say(words.indexOf('why'), 9, 99), rate));
  const out = join(folder, 'sounds');
  const args = ['--data', data, '--words', 'why,see', '--out', out, '--epochs', '10'];
  const last = answers('sound_to_word', ...args, '--wav', wav);
  assert.match(last, /new\.wav: why \([\d.]+ %\)$/);
  assert.deepEqual(JSON.parse(readFileSync(join(out, 'labels.json'))), ['why', 'see']);
  const { status, stderr } = node('sound_to_word', '--data', data, '--words', 'why,up');
  assert.deepEqual([status, stderr], [1, `sound_to_word: ${join(data, 'up')} has no WAV files\n`]);
});

test('WAV files of other kinds are read, resampled and cut', () => {
  const wave = Float32Array.from({ length: 22_050 }, (_, at) => Math.sin(at / 20) / 2);
  const bytes = writeWav(wave, 44_100);
  const read = readWav(bytes, 'x.wav');
  assert.equal(read.rate, 44_100);
  assert.ok(read.sound.every((value, at) => Math.abs(value - wave[at]) < 1e-4));
  const view = new DataView(bytes.buffer);
  view.setUint16(22, 2, true); // two channels
  assert.equal(readWav(bytes, 'x.wav').sound.length, 11_025);
  view.setUint16(20, 7, true); // µ-law
  assert.throws(() => readWav(bytes, 'x.wav'), /^Error: x\.wav: WAV of format 7 with 16 bits$/);
  assert.throws(() => readWav(bytes.subarray(4), 'x.wav'), /x\.wav is no WAV file/);
  assert.throws(() => readWav(bytes.subarray(0, 36), 'x.wav'), /x\.wav has no sound/);
  const fewer = resample(wave, 44_100);
  assert.equal(fewer.length, 8000);
  const more = resample(wave, 8000);
  assert.equal(more.length, 44_100);
  assert.ok(more.every(Number.isFinite) && Math.abs(more[2000] - wave[1000]) < 1e-6);
  const padded = loudestSecond(fewer);
  assert.ok(padded.length === samples && padded[0] === 0 && padded[samples / 2] !== 0);
  const long = new Float32Array(5 * samples);
  long[4 * samples] = 1;
  assert.ok(loudestSecond(long).includes(1));
});

test('axes of plots cover the values; NaN values are left out', () => {
  const svg = drawPlot('a < b', [{ title: 'loss', lines: [{ name: 'x', values: [3, NaN, 1.2] }] }]);
  assert.match(svg, />a &lt; b</);
  const labels = [...svg.matchAll(/text-anchor="end"[^>]*>([\d.]+)</g)].map(([, each]) => each);
  assert.deepEqual(labels, ['1.0', '1.5', '2.0', '2.5', '3.0']);
  assert.match(svg, /<polyline points="56\.0,56\.0 344\.0,185\.6"/);
});
