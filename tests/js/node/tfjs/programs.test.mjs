// Programs for TensorFlow.js run with only the import changed, and print the same.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';

const names = [
  'linear_regression',
  'polynomial_fit',
  'mnist_cnn',
  'sentiment_lstm',
  'addition_rnn',
  'iris',
  'gan',
];
const folder = new URL('../../../../build/tests/programs/', import.meta.url);

before(() => tf.setBackend('cpu'));

/** Runs a program; returns its numbers and what it printed. */
async function run(address) {
  const printed = [];
  const { log } = console;
  console.log = (...values) => printed.push(values.map(String).join(' '));
  try {
    const program = await import(address);
    const numbers = await program.run((...values) =>
      printed.push(
        values.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' '),
      ),
    );
    return { numbers, printed };
  } finally {
    console.log = log;
  }
}

/** Text with rounded numbers, without the first column of a summary, where layer names differ. */
const rounded = (text) =>
  text
    .replace(/-?\d+\.\d+/g, (number) => Number(number).toPrecision(4))
    .replace(/^.{28}(?=\[\[null)/, '');

for (const name of names) {
  test(name, async () => {
    const program = new URL(`../../programs/${name}.mjs`, import.meta.url);
    const text = readFileSync(program, 'utf8');
    assert.equal(text.split("from '@tensorflow/tfjs'").length, 2);
    const copy = new URL(`${name}.mjs`, folder);
    mkdirSync(folder, { recursive: true });
    writeFileSync(copy, text.replace("from '@tensorflow/tfjs'", "from 'tensorlathe/tfjs'"));
    const [ours, theirs] = [await run(copy), await run(program)];
    assert.deepEqual(ours.printed.map(rounded), theirs.printed.map(rounded));
    assert.equal(ours.numbers.length, theirs.numbers.length);
    ours.numbers.forEach((number, at) => {
      const expected = theirs.numbers[at];
      assert.ok(
        Math.abs(number - expected) <= 1e-3 * Math.max(1, Math.abs(expected)),
        `${at}: ${number}, ${expected}`,
      );
    });
  });
}
