// What training prints and writes: progress lines, CSV files, event files of TensorBoard. Pseudo-terminals need python3.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import protobuf from 'protobufjs';
import * as tl from 'tensorlathe';

const folder = mkdtempSync(join(tmpdir(), 'progress-'));
after(() => rmSync(folder, { recursive: true }));

/** The text of a module that trains a small model for two epochs. `from`: the package it imports. */
const program = (options, from = 'tensorlathe') => `
import * as tl from '${from}';
const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: ['mae'] });
await model.fit(tl.ones([64, 2]), tl.zeros([64, 1]), { epochs: 2, ${options} });`;

/** The standard output of a program: through a pseudo-terminal that python3 opens, or through a pipe. */
function printed(text, isTerminal) {
  const node = [process.execPath, '--input-type=module', '--eval', text];
  const python = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
  const words = isTerminal ? ['python3', '-c', python, ...node] : node;
  const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' });
  assert.equal(status, 0, stderr + stdout);
  return stdout;
}

const epochs =
  /^epoch 1\/2  [\d.]+ s  loss [\d.e-]+  mae [\d.e-]+\r?\nepoch 2\/2  [\d.]+ s  loss [\d.e-]+  mae [\d.e-]+\r?\n$/;
/** The output without the lines that were erased and rewritten. */
const remaining = (output) => output.replaceAll(/[^\n]*\r\x1b\[K/g, '');

test('on a terminal the progress line is rewritten, and one line per epoch remains', () => {
  const output = printed(program('batchSize: 1'), true);
  assert.match(
    output,
    /^\r\x1b\[Kcompiling …\r\x1b\[K\r\x1b\[Kepoch 1\/2  [━─]{20}  \d+\/64  [\d.]+ s left  loss /,
  );
  assert.match(remaining(output), epochs);
});

test('in a pipe one line per epoch is printed if verbose is 1 or 2 or with callbacks.progress, and never by tensorlathe/tfjs', () => {
  assert.equal(printed(program('')), '');
  assert.equal(printed(program('verbose: 0')), '');
  assert.match(printed(program('verbose: 1')), epochs);
  assert.match(printed(program('verbose: 2')), epochs);
  assert.match(printed(program('callbacks: tl.callbacks.progress(2)')), epochs);
  assert.match(printed(program('verbose: 2, callbacks: [tl.callbacks.progress(2)]')), epochs);
  assert.equal(printed(program('verbose: 1', 'tensorlathe/tfjs')), '');
});

test('models of tensorlathe/tfjs print nothing, others in the same program do', () => {
  const made = [
    'tf.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] })',
    '((x) => tf.model({ inputs: x, outputs: tl.layers.dense({ units: 1 }).apply(x) }))(tl.input({ shape: [2] }))',
    'await tf.models.modelFromJSON(model.toJSON(null, false))',
    'await tf.loadLayersModel({ load: () => ({ modelTopology: model.toJSON(null, false) }) }, { strict: false })',
  ];
  const rest = made.map(
    (each) => `
    other = ${each};
    other.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    await other.fit(tl.ones([64, 2]), tl.zeros([64, 1]), { epochs: 2, verbose: 1 });`,
  );
  const text = `import * as tf from 'tensorlathe/tfjs';${program('verbose: 1')}\nlet other;${rest.join('')}`;
  assert.match(printed(text), epochs);
});

test('a compilation that fails leaves no line on a terminal', () => {
  const text = `${program('verbose: 1').replace(/await model\.fit/, 'await tl.ready(); model.prepare = () => Promise.reject(new Error("no")); await model.fit')}`;
  const output = printed(text.replace(/;$/, '.catch(() => {});'), true);
  assert.equal(remaining(output), '');
  assert.match(output, /compiling …/);
});

test('fit calls onCompileBegin and onCompileEnd before onTrainBegin', async () => {
  const seen = [];
  const names = ['onCompileBegin', 'onCompileEnd', 'onTrainBegin', 'onTrainEnd'];
  const callbacks = Object.fromEntries(names.map((name) => [name, () => seen.push(name)]));
  await compiled().fit(...data, { callbacks });
  assert.deepEqual(seen, names);
});

test('fitDataset prints a line per epoch, too', () => {
  const text = program('verbose: 0').replace(
    /await model\.fit.*$/,
    'await model.fitDataset(tl.data.array([0]).map(() => ({ xs: tl.ones([4, 2]), ys: tl.zeros([4, 1]) })), { epochs: 2, verbose: 2 });',
  );
  assert.match(printed(text), epochs);
});

function compiled() {
  const model = tl.sequential({ layers: [tl.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', metrics: ['mae'] });
  return model;
}
const data = [tl.ones([64, 2]), tl.zeros([64, 1])];

test('csvLogger writes one line per epoch, and with append continues a file', async () => {
  const path = join(folder, 'log.csv');
  const model = compiled();
  const { history } = await model.fit(...data, {
    epochs: 2,
    validationSplit: 0.5,
    callbacks: tl.callbacks.csvLogger(path),
  });
  await model.fit(...data, {
    epochs: 3,
    initialEpoch: 2,
    validationSplit: 0.5,
    callbacks: tl.callbacks.csvLogger(path, { append: true }),
  });
  const [head, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  const names = head.split(',');
  assert.ok(
    ['loss', 'mae', 'val_loss', 'val_mae'].every((name) => names.includes(name)),
    head,
  );
  assert.equal(names[0], 'epoch');
  assert.deepEqual(
    lines.map((line) => line.split(',')[0]),
    ['0', '1', '2'],
  );
  const column = names.indexOf('val_loss');
  assert.deepEqual(
    lines.slice(0, 2).map((line) => Number(line.split(',')[column])),
    history.val_loss,
  );
});

// TensorBoard itself is neither in Debian nor on npm, from where all tools of this repository come: the event files are read by
// protobufjs, with the messages of tensorflow/core/util/event.proto, and a CRC of its own.

/** Masked CRC-32C of TFRecord, independent of the package's. */
function maskedCrc(bytes) {
  let crc = 0xffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x82f63b78n : crc >> 1n;
  }
  crc ^= 0xffffffffn;
  return Number((((crc >> 15n) | ((crc << 17n) & 0xffffffffn)) + 0xa282ead8n) & 0xffffffffn);
}

const { root } = protobuf.parse(`syntax = "proto3";
message Event {
  double wall_time = 1;
  int64 step = 2;
  string file_version = 3;
  Summary summary = 5;
}
message Summary {
  message Value { string tag = 1; float simple_value = 2; }
  repeated Value value = 1;
}`);
const Event = root.lookupType('Event');

/** The events of the only file in a folder, decoded by protobufjs; checks its name and both checksums of each record. */
function eventsOf(path) {
  const [name, ...others] = readdirSync(path);
  assert.deepEqual(others, []);
  assert.match(name, /^events\.out\.tfevents\.\d+\.\d+\./);
  const bytes = readFileSync(join(path, name));
  const events = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number(bytes.readBigUInt64LE(at));
    assert.equal(bytes.readUInt32LE(at + 8), maskedCrc(bytes.subarray(at, at + 8)));
    const body = bytes.subarray(at + 12, at + 12 + length);
    assert.equal(bytes.readUInt32LE(at + 12 + length), maskedCrc(body));
    events.push(Event.toObject(Event.decode(body), { longs: Number }));
    at += 16 + length;
  }
  return events;
}

test('tensorBoard writes epoch and batch values of training, and epoch values of validation, to event files', async () => {
  // The check value of CRC-32C, masked.
  assert.equal(
    maskedCrc(Buffer.from('123456789')),
    (((0xe3069283 >>> 15) | (0xe3069283 << 17)) + 0xa282ead8) >>> 0,
  );
  const log = join(folder, 'board');
  const { history } = await compiled().fit(...data, {
    epochs: 2,
    validationSplit: 0.5,
    callbacks: [tl.callbacks.tensorBoard(log, { updateFreq: 'batch' })],
  });
  const [version, ...events] = eventsOf(join(log, 'train'));
  assert.equal(version.fileVersion, 'brain.Event:2');
  assert.ok(Math.abs(version.wallTime - Date.now() / 1000) < 100);
  const values = (list, tag) =>
    list.flatMap(({ step = 0, summary }) =>
      summary.value
        .filter((each) => each.tag === tag)
        .map(({ simpleValue }) => [step, simpleValue]),
    );
  const expected = (name) => history[name].map((value, epoch) => [epoch, Math.fround(value)]);
  assert.deepEqual(values(events, 'epoch_loss'), expected('loss'));
  assert.deepEqual(values(events, 'epoch_mae'), expected('mae'));
  assert.deepEqual(
    values(events, 'batch_loss').map(([step]) => step),
    [0, 1],
  );
  const [, ...validated] = eventsOf(join(log, 'validation'));
  assert.deepEqual(values(validated, 'epoch_loss'), expected('val_loss'));
});
