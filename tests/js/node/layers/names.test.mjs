// The names of TensorFlow.js Layers: those that are missing here are exactly the listed ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedMissing, missingNames } from '../../compare_layers.mjs';

test('the missing names of TensorFlow.js Layers equal the list', () => {
  const missing = missingNames();
  const listed = expectedMissing();
  const lost = missing.filter((name) => !listed.includes(name));
  const superfluous = listed.filter((name) => !missing.includes(name));
  const how = 'node tests/js/compare_layers.mjs --write rewrites tests/js/layers_missing.txt';
  assert.deepEqual(lost, [], `names are missing that were there; ${how}`);
  assert.deepEqual(superfluous, [], `names are there that the list calls missing; ${how}`);
});

test('the comparison covers functions, members and options of either package', () => {
  const missing = missingNames();
  for (const name of [
    'layers.dense',
    'LayersModel: fit',
    'layers.dense({units})',
    'ModelFitArgs{epochs}',
  ])
    assert.ok(!missing.includes(name), `${name} is there`);
  assert.ok(missing.includes('losses.logLoss'));
});
