// Small files that declare far more than they contain: images of a billion pixels, HDF5 datasets without storage.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe';
import { fromKeras } from 'tensorlathe/keras';
import * as tf from 'tensorlathe/tfjs';
import { hdf5 } from '../reports/keras_files.mjs';

/** A PNG file whose header declares another size than its pixels have. */
function png(width, height) {
  const bytes = PNG.sync.write(
    Object.assign(new PNG({ width: 2, height: 2 }), { data: Buffer.alloc(16) }),
  );
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  if (crc32 !== undefined) bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return new Uint8Array(bytes);
}

test('images of more pixels than maxPixels are not decoded', () => {
  for (const [width, height] of [
    [16000, 16000],
    [2 ** 31 - 1, 1],
    [10001, 10000],
    [1, 2 ** 31 - 1],
  ]) {
    assert.throws(() => tf.node.decodePng(png(width, height)), {
      name: 'LatheError',
      message: new RegExp(`${width} by ${height} pixels are more than maxPixels, 100000000`),
    });
    assert.throws(() => tf.node.decodeImage(png(width, height)), /maxPixels/);
  }
  assert.throws(() => tf.node.decodeImage(png(2, 2), 0, 'int32', true, 3), /maxPixels, 3/);
  const decoded = tf.node.decodeImage(png(2, 2), 0, 'int32', true, 4);
  assert.deepEqual(decoded.shape, [2, 2, 4]);
  decoded.dispose();
});

test('a damaged image is an error without words of the engine', () => {
  const bytes = new Uint8Array(png(2, 2).slice(0, 60));
  assert.throws(
    () => tf.node.decodePng(bytes),
    (error) => {
      assert.equal(error.name, 'LatheError');
      assert.doesNotMatch(error.message, /Cannot read|is not a function/);
      return true;
    },
  );
});

test('HDF5 datasets of more elements than the file can contain are not read', async () => {
  const kernel = new Float32Array(8);
  const bytes = await hdf5(
    { 'model_weights/dense/dense/kernel:0': { shape: [4, 2], data: kernel } },
    {
      '/': {
        model_config: JSON.stringify({
          class_name: 'Sequential',
          config: {
            name: 's',
            layers: [
              {
                class_name: 'Dense',
                config: { name: 'dense', units: 2, use_bias: false, batch_input_shape: [null, 4] },
              },
            ],
          },
        }),
      },
      model_weights: { layer_names: ['dense'] },
      'model_weights/dense': { weight_names: ['dense/kernel:0'] },
    },
  );
  const loaded = await tl.loadLayersModel(fromKeras(bytes));
  loaded.dispose();
  // The dataspace message contains the sizes in sequence: 4, 2.
  const sizes = Buffer.from(new BigUint64Array([4n, 2n]).buffer);
  const at = Buffer.from(bytes).indexOf(sizes);
  assert.notEqual(at, -1);
  for (const rows of [500_000_000n, 4_000_000_000n]) {
    const hostile = Uint8Array.from(bytes);
    new DataView(hostile.buffer).setBigUint64(at, rows, true);
    await assert.rejects(
      tl.loadLayersModel(fromKeras(hostile)),
      /kernel:0 \[\d+,2\] is more than \d+ bytes can contain/,
    );
  }
});
