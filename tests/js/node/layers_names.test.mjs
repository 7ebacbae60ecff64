// The names of TensorFlow.js Layers: what is missing here is known, and nothing else becomes missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownMissing, missingNames } from '../compare_layers.mjs';

test('the names that TensorFlow.js Layers has and we do not are those of the list', () => {
  const missing = missingNames();
  const known = knownMissing();
  const lost = missing.filter((name) => !known.includes(name));
  const found = known.filter((name) => !missing.includes(name));
  const how = 'node tests/js/compare_layers.mjs --write rewrites tests/js/layers_missing.txt';
  assert.deepEqual(lost, [], `names are missing that were there; ${how}`);
  assert.deepEqual(found, [], `names are there that the list calls missing; ${how}`);
});

test('the comparison sees functions, members and options of either package', () => {
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
