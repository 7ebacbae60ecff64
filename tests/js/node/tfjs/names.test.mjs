// Every name that TensorFlow.js 4.22 exports exists, except those listed with a reason.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as there from '@tensorflow/tfjs';
import * as thereData from '@tensorflow/tfjs-data';
import * as here from 'tensorlathe/tfjs';

/** Missing names, by the reason. */
const missing = {
  'the backends are not those of TensorFlow.js': ['version.tfjs-backend-webgl'],
  'private members of classes; flags are accessed by get and set': [
    'ENV.platform.textEncoder',
    'ENV.platform.util',
    'ENV.urlFlags',
  ],
};

function missingIn(there, here, path, found) {
  for (const name of Object.keys(there)) {
    // What Node adds to modules of CommonJS.
    if (name === 'default' || name === 'module.exports') continue;
    const [a, b] = [there[name], here[name]];
    if (!(name in here)) found.push(path + name);
    else if (
      typeof a === 'object' &&
      a !== null &&
      b &&
      !Array.isArray(a) &&
      path.split('.').length < 3
    ) {
      missingIn(a, b, `${path}${name}.`, found);
    }
  }
  return found;
}

test('names', () => {
  const listed = Object.values(missing).flat().sort();
  // Flags and helpers of backends depend on the backend.
  const ofBackends = /^(ENV\.flag\w+|gpgpu_util|webgl_util|shared)\./;
  const found = missingIn(there, here, '', []).filter((each) => !ofBackends.test(each));
  assert.deepEqual(found.sort(), listed);
});

test('names of tfjs-data, whose imports are redirected here too', () => {
  assert.deepEqual(missingIn(thereData, here, '', []), []);
  assert.equal(here.array, here.data.array);
});

test('methods of tensors, variables and optimizers', () => {
  for (const name of ['Tensor', 'Variable', 'Optimizer', 'TensorBuffer', 'GraphModel']) {
    const [a, b] = [there, here].map((lib) => lib[name].prototype);
    const missingMembers = Object.getOwnPropertyNames(a).filter((each) => !(each in b));
    assert.deepEqual([name, missingMembers], [name, name === 'GraphModel' ? missingMembers : []]);
  }
});

// --- How string and complex tensors are printed ---

before(() => there.setBackend('cpu'));

const complex = (tf) => tf.complex([1, 2.5, 0], [3, -4, 1e-9]);
const shows = {
  'equal strings': (tf) => tf.equal(tf.tensor1d(['a', 'b']), tf.tensor1d(['a', 'c'])),
  'other strings': (tf) =>
    tf
      .tensor2d([
        ['a', 'b'],
        ['b', 'b'],
      ])
      .notEqual(tf.tensor1d(['a', 'b'])),
  'a string compared with strings': (tf) => tf.equal(['a', 'b'], 'a'),
  'real parts': (tf) => complex(tf).cast('float32'),
  'int32 of complex numbers': (tf) => complex(tf).cast('int32'),
  'complex of numbers': (tf) => tf.tensor1d([1, 2], 'int32').cast('complex64'),
  'complex of complex': (tf) => tf.cast(complex(tf), 'complex64'),
  'complex numbers': complex,
  'complex matrices': (tf) =>
    tf.complex(
      [
        [1, 22.25],
        [3, 4],
      ],
      [
        [0, 1],
        [2, 3],
      ],
    ),
  'one complex number': (tf) => tf.complex(1, -2),
  strings: (tf) =>
    tf.tensor2d([
      ['a', 'bcd'],
      ['ee', ''],
    ]),
  'one string': (tf) => tf.scalar('hello'),
  'complex zeros': (tf) => tf.zeros([2], 'complex64'),
  'complex ones': (tf) => tf.ones([2, 1], 'complex64'),
  sums: (tf) => complex(tf).add(complex(tf)).reshape([3, 1]),
};

for (const [name, make] of Object.entries(shows)) {
  test(`printed as in TensorFlow.js: ${name}`, () => {
    for (const show of [
      (x) => x.toString(),
      (x) => x.toString(true),
      (x) => JSON.stringify(x.arraySync()),
      (x) => [x.dtype, x.shape, [...x.dataSync()]],
    ]) {
      assert.deepEqual(show(make(here)), show(make(there)));
    }
  });
}

test('names of types that programs write', () => {
  const names =
    `CustomCallbackArgs DataId DataTypeMap DataValues EarlyStoppingCallbackArgs ForwardFunc<void> GradSaveFunc
    GRUCellLayerArgs GRULayerArgs io.IOHandler io.LoadHandler io.LoadOptions io.ModelArtifacts io.OnProgressCallback
    io.SaveConfig io.SaveHandler io.SaveResult layers.Layer Logs LSTMCellLayerArgs LSTMLayerArgs MemoryInfo ModelCompileArgs
    ModelEvaluateArgs ModelFitArgs ModelFitDatasetArgs<number> ModelPredictConfig ModelTensorInfo NamedTensorMap PixelData Platform
    Rank RecursiveArray<number> RNNLayerArgs ScalarLike Shape SimpleRNNCellLayerArgs SimpleRNNLayerArgs Tensor3D
    TensorContainer TensorContainerArray TensorContainerObject TensorLike TimingInfo TypedArray`.split(
      /\s+/,
    );
  const types = (library) =>
    [
      `import type * as tf from '${library}';`,
      ...names.map((name, at) => `export type T${at} = tf.${name};`),
    ].join('\n');
  assert.equal(diagnosed(types), '');
});

test('programs with types', () => {
  // Typical of model packages and Google's examples.
  const program = (library) => `
    import * as tf from '${library}';
    export const settings = { loss: 'meanSquaredError', metrics: ['accuracy'] };
    export function made(units: number, optimizer: string | tf.Optimizer = 'sgd') {
      const model = tf.sequential({ layers: [tf.layers.dense({ units, inputShape: [2] })] });
      model.compile({ optimizer, ...settings });
      return model;
    }
    export function concatenated(a: tf.Tensor, b: tf.Tensor2D): { shape: number[]; all: tf.Tensor2D } {
      const [rows, columns]: [number, number] = b.shape;
      const all = tf.concat<tf.Tensor2D>([tf.reshape(a, [rows, columns]), b], 0);
      return { shape: a.shape, all };
    }
    export const ranked = <R extends tf.Rank>(x: tf.Tensor<R>): number[] => tf.relu(x).shape;
    export const quotient = (a: tf.Tensor, b: tf.Tensor): tf.Tensor =>
      a.div(b.add(tf.backend().epsilon()));
    export async function chosen(boxes: tf.Tensor2D, scores: tf.Tensor1D): Promise<number[]> {
      const found = tf.image.nonMaxSuppression(boxes, scores, 3);
      const indices = await tf.whereAsync(scores.greater(0.5));
      const crops = tf.image.cropAndResize(tf.ones([1, 4, 4, 1]), boxes, found, [2, 2]);
      const all = [found, await tf.image.nonMaxSuppressionAsync(boxes, scores, 3), tf.range(0, 3)];
      const numbers = [...all, tf.linspace(0, 1, 3)].map((each) => each.arraySync().map((at) => at));
      const corners = crops.arraySync().map((crop) => crop[0]![0]![0]!);
      return [...numbers.flat(), ...corners, ...indices.arraySync().map((index) => index[0]!)];
    }`;
  assert.equal(diagnosed(program, '--strict'), '');
});

/** Diagnostics of TypeScript for a program with this package and with TensorFlow.js. */
function diagnosed(program, ...options) {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const folder = mkdtempSync(join(root, 'build/types-'));
  try {
    const files = ['tensorlathe/tfjs', '@tensorflow/tfjs'].map((library, at) => {
      writeFileSync(join(folder, `${at}.ts`), program(library));
      return join(folder, `${at}.ts`);
    });
    const usual =
      '--ignoreConfig --noEmit --skipLibCheck --module esnext --moduleResolution bundler';
    const all = [...usual.split(' '), '--target', 'es2022', ...options, ...files];
    return String(spawnSync(join(root, 'node_modules/.bin/tsc'), all).stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
