// Weights as safetensors files: the layout of the format, every type, errors that name the tensor, damaged files.
import assert from 'node:assert/strict';
import fs, { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tl from 'tensorlathe';
import { rejects, throws, smallModel } from '../../lib.mjs';
import { mutations } from '../../mutate.mjs';
import { decodeSafetensors, encodeSafetensors } from '../../../../js/dist/io/safetensors.js';

const { toSafetensors } = tl.io;
let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), 'tensorlathe-'))));
after(() => rm(folder, { recursive: true }));

const weightsOf = (model) => model.getWeights().map((each) => [...each.dataSync()]);

/** A file of a header, as JSON text or an object, and data; they need not be valid. */
function fileOf(header, data = new Uint8Array(0)) {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Uint8Array.from(Buffer.concat([length, text, data]));
}

test('tensors may have any name except __metadata__', () => {
  const names = ['__proto__', 'constructor', 'x'];
  const tensors = names.map((name, at) => ({
    name,
    shape: [1],
    dtype: 'float32',
    data: Float32Array.of(at),
  }));
  assert.deepEqual(decodeSafetensors(encodeSafetensors(tensors), 'it'), tensors);
  const renamed = (name) => () => encodeSafetensors([...tensors, { ...tensors[0], name }]);
  throws(renamed('x'), 'encodeSafetensors: the name x is already used');
  throws(renamed('__metadata__'), 'encodeSafetensors: the name __metadata__ is already used');
});

test('a file is a length, an aligned header and the tensors one after the other', async () => {
  const bytes = Buffer.from(await toSafetensors(smallModel()));
  const length = Number(bytes.readBigUInt64LE());
  assert.equal(length % 8, 0);
  const { __metadata__: metadata, ...header } = JSON.parse(bytes.subarray(8, 8 + length));
  assert.deepEqual(metadata, { format: 'tensorlathe' });
  assert.deepEqual(header, {
    'dense_Dense1/kernel': { dtype: 'F32', shape: [2, 8], data_offsets: [0, 64] },
    'dense_Dense1/bias': { dtype: 'F32', shape: [8], data_offsets: [64, 96] },
    'dense_Dense2/kernel': { dtype: 'F32', shape: [8, 3], data_offsets: [96, 192] },
    'dense_Dense2/bias': { dtype: 'F32', shape: [3], data_offsets: [192, 204] },
  });
  assert.equal(bytes.length, 8 + length + 204);
  assert.equal(bytes.readFloatLE(8 + length), weightsOf(smallModel())[0][0]);
});

test('weights are saved to a file and loaded from any source of it', async () => {
  const model = smallModel({ seed: 1 });
  const path = join(folder, 'w.safetensors');
  await model.saveWeights(`file://${path}`);
  await model.saveWeights(pathToFileURL(path));
  assert.deepEqual(await readdir(folder), ['w.safetensors']);
  const bytes = await readFile(path);
  const sources = [
    `file://${path}`,
    pathToFileURL(path),
    new Blob([bytes]),
    bytes,
    Uint8Array.from(bytes).buffer,
  ];
  for (const source of sources) {
    const copy = smallModel({ seed: 2 });
    await copy.loadWeights(source);
    assert.deepEqual(weightsOf(copy), weightsOf(model));
  }
});

test('every type of the format is read as float32, int32 or bool', () => {
  const bits = (Type, values) => Buffer.from(Type.from(values).buffer);
  const types = {
    F32: [bits(Float32Array, [1.5, -2]), 'float32', [1.5, -2]],
    F64: [bits(Float64Array, [1.5, -2]), 'float32', [1.5, -2]],
    F16: [bits(Uint16Array, [0x3c00, 0xc000]), 'float32', [1, -2]],
    BF16: [bits(Uint16Array, [0x3f80, 0xc000]), 'float32', [1, -2]],
    I32: [bits(Int32Array, [7, -8]), 'int32', [7, -8]],
    I64: [bits(BigInt64Array, [7n, -8n]), 'int32', [7, -8]],
    I16: [bits(Int16Array, [7, -8]), 'int32', [7, -8]],
    I8: [bits(Int8Array, [7, -8]), 'int32', [7, -8]],
    U64: [bits(BigUint64Array, [7n, 2147483647n]), 'int32', [7, 2147483647]],
    U32: [bits(Uint32Array, [7, 2147483647]), 'int32', [7, 2147483647]],
    U16: [bits(Uint16Array, [7, 65535]), 'int32', [7, 65535]],
    U8: [bits(Uint8Array, [7, 255]), 'int32', [7, 255]],
    F8_E4M3: [bits(Uint8Array, [0x38, 0xc0]), 'float32', [1, -2]],
    F8_E5M2: [bits(Uint8Array, [0x3c, 0xc0]), 'float32', [1, -2]],
    BOOL: [bits(Uint8Array, [1, 0]), 'bool', [1, 0]],
  };
  // The error of another type lists all types: none is missing here.
  const unknown = fileOf({ t: { dtype: '?', shape: [0], data_offsets: [0, 0] } });
  assert.throws(
    () => decodeSafetensors(unknown, 'it')[0].data,
    ({ message }) => {
      const [, known] = /^it: the tensor t has the type "\?"; known: (.*)$/.exec(message);
      assert.deepEqual(known.split(', ').sort(), Object.keys(types).sort());
      return true;
    },
  );
  for (const [dtype, [data, kind, values]] of Object.entries(types)) {
    const header = { t: { dtype, shape: [2], data_offsets: [0, data.length] } };
    const [tensor] = decodeSafetensors(fileOf(header, data), 'it');
    assert.equal(tensor.dtype, kind, dtype);
    assert.deepEqual([...tensor.data], values, dtype);
  }
});

test('half precision is exact, subnormals and infinities included', () => {
  const float16s = Uint16Array.from({ length: 65536 }, (_, at) => at);
  const header = { t: { dtype: 'F16', shape: [65536], data_offsets: [0, 131072] } };
  const [{ data }] = decodeSafetensors(fileOf(header, Buffer.from(float16s.buffer)), 'it');
  assert.equal(data[1], 2 ** -24);
  assert.equal(data[0x03ff], 1023 * 2 ** -24);
  assert.equal(data[0x0400], 2 ** -14);
  assert.equal(data[0x7bff], 65504);
  assert.equal(data[0x7c00], Infinity);
  assert.equal(data[0xfc00], -Infinity);
  assert.ok(Number.isNaN(data[0x7e00]));
  for (let at = 1; at < 0x7c00; ++at) assert.ok(data[at] > data[at - 1]);
});

test('names with special characters, and tensors that are empty or scalars, survive', async () => {
  const tensors = [
    { name: 'ä "b"\\', shape: [0, 3], dtype: 'float32', data: new Float32Array(0) },
    { name: 'c', shape: [], dtype: 'int32', data: Int32Array.of(5) },
    { name: 'd', shape: [2], dtype: 'bool', data: Uint8Array.of(1, 0) },
  ];
  assert.deepEqual(decodeSafetensors(encodeSafetensors(tensors), 'it'), tensors);
  assert.deepEqual(await tl.io.encodeSafetensors(tensors), encodeSafetensors(tensors));
  const bytes = encodeSafetensors(tensors);
  assert.deepEqual(await tl.io.decodeSafetensors(bytes, 'it'), tensors);
});

test('errors name the file, and the tensor if one is wrong; types and ranges are checked when data is read', () => {
  const decode = (...args) => decodeSafetensors(fileOf(...args), 'f');
  const entry = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
  const four = Buffer.alloc(4);
  throws(() => decodeSafetensors(new Uint8Array(5), 'f'), 'f: no safetensors file: it has 5 bytes');
  // The length of the header '{}' becomes 0x0902 = 2306.
  const long = fileOf({});
  long[1] = 9;
  throws(() => decodeSafetensors(long, 'f'), /header of 2306 bytes is longer than the file/);
  throws(() => decode('{'), /its header is no JSON/);
  throws(() => decode('[1]'), /its header must be an object/);
  throws(() => decode({ t: 3 }), /the tensor t has the type undefined; known: F32/);
  throws(
    () => decode({ t: { ...entry, dtype: 'toString' } }, four)[0].data,
    /has the type "toString"/,
  );
  throws(() => decode({ t: { ...entry, shape: [-1] } }), /the tensor t has no shape, but \[-1\]/);
  throws(() => decode({ t: { ...entry, data_offsets: [0] } }), /has no data_offsets, but \[0\]/);
  throws(() => decode({ t: { ...entry, shape: [2] } }, four), /\[2\] requires 8 bytes, but has 4/);
  throws(() => decode({ t: entry }), /the tensor t ends at byte 4, the data end at 0/);
  throws(
    () => decode({ t: entry, u: entry }, four),
    /the tensor u begins at byte 0 of the data, not 4/,
  );
  throws(() => decode({ t: entry }, Buffer.alloc(6)), /2 bytes belong to no tensor/);
  const large = Buffer.from(BigInt64Array.of(2n ** 40n).buffer);
  const wide = { t: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } };
  throws(() => decode(wide, large)[0].data, /the tensor t: 1099511627776 does not fit 32 bits/);
});

test('mismatched weights leave the model unchanged', async () => {
  const model = smallModel();
  const before = weightsOf(model);
  const other = tl.sequential();
  other.add(tl.layers.dense({ units: 8, inputShape: [2] }));
  const file = new File([await toSafetensors(other)], 'other.safetensors');
  await rejects(
    model.loadWeights(file),
    'other.safetensors: the model needs dense_Dense2/kernel, dense_Dense2/bias, which is not there',
  );
  await rejects(
    other.loadWeights(await toSafetensors(model)),
    /the model has no weight dense_Dense2\/kernel, dense_Dense2\/bias/,
  );
  const wide = tl.sequential();
  wide.add(tl.layers.dense({ units: 8, inputShape: [2] }));
  wide.add(tl.layers.dense({ units: 4 }));
  await rejects(
    model.loadWeights(await toSafetensors(wide)),
    /dense_Dense2\/kernel has shape \[8,4\], but the model expects \[8,3\]/,
  );
  await rejects(model.loadWeights(`file://${folder}/none.safetensors`), /cannot read .*ENOENT/);
  await rejects(model.loadWeights(new Uint8Array(3)), /no safetensors file/);
  const withNaN = smallModel({ seed: 9 });
  const [kernel, bias, ...rest] = withNaN.getWeights();
  const values = bias.dataSync();
  values[5] = NaN;
  withNaN.setWeights([kernel, tl.tensor(values), ...rest]);
  const nan = new File([await toSafetensors(withNaN)], 'nan.safetensors');
  await rejects(
    model.loadWeights(nan),
    /^nan\.safetensors: the tensor dense_Dense1\/bias contains NaN at index 5; strict: false accepts it/,
  );
  const truncated = new File(
    [(await toSafetensors(withNaN)).slice(0, -9)],
    'truncated.safetensors',
  );
  await rejects(model.loadWeights(truncated), /^truncated\.safetensors: .*dense_Dense2\/bias/);
  await rejects(model.saveWeights('indexeddb://x'), /must begin with file:\/\/ or downloads:\/\//);
  assert.deepEqual(weightsOf(model), before);
  await model.loadWeights(file, { strict: false });
  assert.deepEqual(weightsOf(model).slice(0, 2), weightsOf(other));
});

test('an interrupted save retains the previous file', async () => {
  const saveFolder = await mkdtemp(join(folder, 'save-'));
  const path = join(saveFolder, 'w.safetensors');
  await smallModel({ seed: 1 }).saveWeights(`file://${path}`);
  const bytes = await readFile(path);
  const { open } = fs;
  fs.open = async (...args) => {
    const file = await open(...args);
    file.writeFile = async (content) => {
      await file.write(content.subarray(0, 20));
      throw new Error('the disk is full');
    };
    return file;
  };
  syncBuiltinESMExports();
  try {
    await assert.rejects(smallModel({ seed: 2 }).saveWeights(`file://${path}`), /disk is full/);
  } finally {
    fs.open = open;
    syncBuiltinESMExports();
  }
  assert.deepEqual(await readFile(path), bytes);
  assert.deepEqual(await readdir(saveFolder), ['w.safetensors']);
});

test('damaged files yield tensors or a LatheError', async () => {
  const bytes = await toSafetensors(smallModel());
  let rejected = 0;
  for (const mutated of mutations(bytes, 600)) {
    try {
      // Some errors occur when the data of a tensor is read.
      for (const tensor of decodeSafetensors(mutated, 'f')) assert.ok(tensor.data);
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      assert.match(error.message, /^f: /);
      ++rejected;
    }
  }
  assert.ok(rejected > 200, String(rejected));
});
