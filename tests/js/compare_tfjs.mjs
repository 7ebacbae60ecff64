// Runs a program with TensorFlow.js and with the package: results must be equal, up to rounding.
import assert from 'node:assert/strict';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';

/** Plain values of the result of a program: tensors as nested arrays. */
async function plain(value) {
  const resolved = await value;
  if (resolved instanceof tf.Tensor || resolved instanceof tl.Tensor) return resolved.arraySync();
  if (Array.isArray(resolved) || ArrayBuffer.isView(resolved))
    return Promise.all([...resolved].map(plain));
  if (typeof resolved !== 'object' || resolved === null) return resolved;
  const entries = Object.entries(resolved).map(async ([name, each]) => [name, await plain(each)]);
  return Object.fromEntries(await Promise.all(entries));
}

function assertNear(ours, theirs, path, tolerance) {
  if (typeof theirs === 'number' && Number.isFinite(theirs)) {
    const error = Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
    assert.ok(error <= tolerance, `${path}: ${ours}, TensorFlow.js ${theirs}`);
  } else if (typeof theirs === 'object' && theirs !== null) {
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort(), path);
    for (const name of Object.keys(theirs)) {
      assertNear(ours[name], theirs[name], `${path}.${name}`, tolerance);
    }
  } else {
    assert.deepEqual(ours, theirs, path);
  }
}

/** Asserts that `run(library)` has equal results with TensorFlow.js and with `library`. */
export async function assertSameResult(run, tolerance = 1e-4, library = tl) {
  const theirs = await plain(run(tf));
  assertNear(await plain(run(library)), theirs, 'result', tolerance);
}

/** Asserts that `run(library)` fails with either, here with a LatheError of this message. */
export async function assertBothThrow(run, message) {
  const result = async (library) => plain(run(library));
  await assert.rejects(result(tf), 'TensorFlow.js accepts it');
  await assert.rejects(result(tl), { name: 'LatheError', message });
}

/** Numbers from -1 to 1, the same in either library. */
export function waves(library, shape, seed = 1) {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Float32Array.from({ length: size }, (_, at) => Math.sin(12.9898 * (at + seed)));
  return library.tensor(values, shape);
}
