// Standalone modules whose custom section is false about batches, buffers and entries, or that run code on instantiation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { loadTrainingModule } from '../../js/dist/standalone/training_module.js';

await tl.ready();
const model = tl.sequential({
  layers: [tl.layers.dense({ units: 2, activation: 'softmax', inputShape: [2] })],
});
model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
const bytes = model.toWasm({ training: true, features: { relaxedSimd: false } });
const section = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), 'tensorlathe')[0];
const text = new TextDecoder().decode(section);

const leb = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...leb(Math.floor(n / 128))]);
const ofKind = (kind, content) => [kind, ...leb(content.length), ...content];
/** The module with other contents of its section: the first of a name counts. */
function withSection(content) {
  const name = [...Buffer.from('tensorlathe')];
  const custom = ofKind(0, [name.length, ...name, ...Buffer.from(content)]);
  return Buffer.concat([bytes.subarray(0, 8), Buffer.from(custom), bytes.subarray(8)]);
}
const lying = (change) => {
  const metadata = JSON.parse(text);
  change(
    metadata,
    metadata.entries.find(({ name }) => name === 'train'),
  );
  return withSection(JSON.stringify(metadata));
};
const assertRejected = (module, message) =>
  assert.rejects(loadTrainingModule(module), { name: 'LatheError', message });

test('the unchanged module, and with its original section re-encoded', async () => {
  assert.ok((await loadTrainingModule(bytes)).batchSize('train') > 0);
  assert.ok((await loadTrainingModule(withSection(text))).batchSize('train') > 0);
});

const first = (entry, change) => change(entry.inputs[0]);
for (const [what, change] of Object.entries({
  'batches of 0 rows': (_, entry) => entry.inputs.forEach((each) => (each.shape[0] = 0)),
  'batches of -1 rows': (_, entry) => first(entry, (each) => (each.shape[0] = -1)),
  'no inputs': (_, entry) => (entry.inputs = []),
  'an offset outside': (_, entry) => first(entry, (each) => (each.offset = 2 ** 31)),
  'a negative offset': (_, entry) => first(entry, (each) => (each.offset = -4)),
  'an odd offset': (_, entry) => first(entry, (each) => (each.offset = 2)),
  'a huge shape': (_, entry) => first(entry, (each) => (each.shape = [2 ** 30, 2 ** 30])),
  'no shape': (_, entry) => first(entry, (each) => (each.shape = 5)),
  'another dtype': (_, entry) => first(entry, (each) => (each.dtype = 'constructor')),
  'an entry that is not there': (_, entry) => (entry.name = 'toString'),
  'a state outside': ({ states }) => (states[0].offset = 2 ** 40),
  'no entries': (all) => delete all.entries,
  'entries of null': (all) => (all.entries = [null]),
  'no states': (all) => (all.states = 7),
  'times outside': (_, entry) => (entry.times = { offset: 2 ** 33, parts: ['a'] }),
})) {
  test(`a section with ${what}`, () =>
    assertRejected(lying(change), /section "tensorlathe" is damaged/));
}

test('a section that is no JSON, and a module with a start function', async () => {
  await assertRejected(withSection('{'), /section "tensorlathe"/);
  // (module (func (unreachable)) (start 0))
  const type = ofKind(1, [1, 0x60, 0, 0]);
  const code = ofKind(10, [1, 3, 0, 0, 0x0b]);
  const start = [...type, ...ofKind(3, [1, 0]), ...ofKind(8, [0]), ...code];
  await assertRejected(Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...start]), /start function/);
});
