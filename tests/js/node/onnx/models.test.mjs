// Published models against recorded results of ONNX Runtime Web.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { missingData } from '../../../../tools/data.mjs';
import { modelsFolder } from '../../models.mjs';

const golden = join(modelsFolder, 'golden');
const names = existsSync(golden) ? readdirSync(golden) : [];
const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array };

function read(folder, { name, type, dims, file }) {
  const { buffer } = new Uint8Array(readFileSync(join(golden, folder, file)));
  return [name, tl.tensor(new arrays[type](buffer), dims, type)];
}

/** The largest difference, relative to the largest element. */
function off(expected, actual) {
  const [a, b] = [expected.dataSync(), actual.dataSync()];
  let [worst, largest] = [0, 0];
  for (let k = 0; k < a.length; k++) {
    worst = Math.max(worst, Math.abs(Number(a[k]) - Number(b[k])));
    largest = Math.max(largest, Math.abs(Number(a[k])));
  }
  return worst / (largest || 1);
}

const best = (tensor, count) =>
  [...tensor.dataSync().keys()]
    .sort((a, b) => tensor.dataSync()[b] - tensor.dataSync()[a])
    .slice(0, count);

test('the models are there', { skip: missingData('models/golden') }, () => {
  assert.equal(names.length, 18);
});

for (const name of names) {
  test(`${name} equals ONNX Runtime Web`, async () => {
    const meta = JSON.parse(readFileSync(join(golden, name, 'meta.json'), 'utf8'));
    const model = await tl.loadModel(join(modelsFolder, meta.model));
    const inputs = Object.fromEntries(meta.inputs.map((each) => read(name, each)));
    for (let call = 0; call < 2; call++) {
      const results = await model.run(inputs);
      for (const each of meta.outputs) {
        const [, expected] = read(name, each);
        const actual = results[each.name];
        assert.deepEqual([actual.dtype, actual.shape], [expected.dtype, expected.shape]);
        if (name.includes('int8')) assert.deepEqual(best(actual, 5), best(expected, 5));
        else
          assert.ok(
            off(expected, actual) < 1e-3,
            `${each.name} is off by ${off(expected, actual)}`,
          );
      }
    }
    model.dispose();
  });
}
