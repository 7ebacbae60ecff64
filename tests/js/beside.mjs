// The same program with TensorFlow.js and with the package: what it gives must be the same, up to rounding.
import assert from 'node:assert/strict';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';

/** Plain values of whatever a program gives: tensors as nested arrays. */
async function plain(value) {
  const given = await value;
  if (given instanceof tf.Tensor || given instanceof tl.Tensor) return given.arraySync();
  if (Array.isArray(given) || ArrayBuffer.isView(given)) return Promise.all([...given].map(plain));
  if (typeof given !== 'object' || given === null) return given;
  const entries = Object.entries(given).map(async ([name, each]) => [name, await plain(each)]);
  return Object.fromEntries(await Promise.all(entries));
}

function alike(ours, theirs, path, tolerance) {
  if (typeof theirs === 'number' && Number.isFinite(theirs)) {
    const error = Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
    assert.ok(error <= tolerance, `${path}: ${ours}, TensorFlow.js gives ${theirs}`);
  } else if (typeof theirs === 'object' && theirs !== null) {
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort(), path);
    for (const name of Object.keys(theirs)) {
      alike(ours[name], theirs[name], `${path}.${name}`, tolerance);
    }
  } else {
    assert.deepEqual(ours, theirs, path);
  }
}

/** Asserts that `run(library)` gives the same with TensorFlow.js and with `library`. */
export async function alikeIn(run, tolerance = 1e-4, library = tl) {
  const theirs = await plain(run(tf));
  alike(await plain(run(library)), theirs, 'result', tolerance);
}

/** Asserts that `run(library)` fails with either, here with a LatheError of this message. */
export async function failsInBoth(run, message) {
  const result = async (library) => plain(run(library));
  await assert.rejects(result(tf), 'TensorFlow.js takes it');
  await assert.rejects(result(tl), { name: 'LatheError', message });
}

/** Numbers from -1 to 1, the same in either library. */
export function waves(library, shape, seed = 1) {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Float32Array.from({ length: size }, (_, at) => Math.sin(12.9898 * (at + seed)));
  return library.tensor(values, shape);
}
