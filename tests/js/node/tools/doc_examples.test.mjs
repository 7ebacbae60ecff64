// The descriptions of layers, losses, operations, … (js/scripts/docs): complete, and their examples give the results that they state.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { docOf, undescribed, usage } from '../../../../js/scripts/doc_comments.mjs';

const read = (name) =>
  JSON.parse(
    readFileSync(new URL(`../../../../js/scripts/docs/${name}.json`, import.meta.url), 'utf8'),
  );
const evaluate = (example) => new Function('tl', `return ${example}`)(tl);

/** Numbers of at most four digits, as the examples print them. */
const printed = (value) =>
  JSON.stringify(value, (_, each) =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(4)) : each,
  ).replaceAll(',', ', ');

test('every name of the tables is described, and no other', () => {
  assert.deepEqual(undescribed(tables), []);
  const more = { ...tables, losses: [...tables.losses, { name: 'newLoss', parameters: [] }] };
  assert.deepEqual(undescribed(more), ['losses: newLoss']);
});

for (const [name, { example, input, output }] of Object.entries(read('layers').layers)) {
  test(`layers.${name} maps ${JSON.stringify(input)} to ${JSON.stringify(output)}`, () => {
    const inputs = input.map((shape) => tl.input({ shape }));
    const result = evaluate(example).apply(inputs.length > 1 ? inputs : inputs[0]);
    assert.deepEqual([result].flat()[0].shape, [null, ...output]);
    assert.ok(example.includes(`tl.layers.${name}(`), 'the example uses the layer');
  });
}

test('examples of operations give the stated results', () => {
  for (const [name, { example, result }] of Object.entries(read('operations').operations)) {
    const value = evaluate(example);
    assert.equal(printed(value.arraySync?.() ?? value), result, name);
    assert.ok(example.includes(`.${name}(`), name);
  }
});

const model = (activation) =>
  tl.sequential({ layers: [tl.layers.dense({ units: 4, activation, inputShape: [4] })] });

test('usages of activations, losses, metrics, optimizers, … are accepted', () => {
  const names = 'activations losses metrics optimizers initializers regularizers constraints';
  for (const table of names.split(' ')) {
    for (const row of tables[table]) {
      const example = docOf(table, row).example ?? usage(table, row);
      const last = { sigmoidCrossEntropy: 'sigmoid', softmaxCrossEntropy: 'softmax' }[row.name];
      const compile = new Function('tl', 'model', 'loss', example);
      assert.doesNotThrow(
        () => compile(tl, model(last), 'meanSquaredError'),
        `${table}: ${example}`,
      );
    }
  }
});
