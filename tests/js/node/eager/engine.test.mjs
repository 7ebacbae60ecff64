// A second engine, whose device counts what the engine asks of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { engine, EagerEngine } from '../../../../js/dist/eager/engine.js';
import { Operation } from '../../../../js/dist/eager/graph/lazy_nodes.js';
import { valueType } from '../../../../js/dist/eager/graph/signature.js';
import { DeviceValue } from '../../../../js/dist/runtime/device_value.js';
import { wasmDevice } from '../../../../js/dist/runtime/wasm/device.js';

await tl.ready();

/** An engine with a device that counts its programs and their runs; `device.revision` may be changed. */
function counting() {
  const counts = { compiled: 0, runs: 0, disposed: 0 };
  const device = {
    ...wasmDevice,
    compile(graph) {
      const program = wasmDevice.compile(graph);
      counts.compiled += 1;
      return {
        run(inputs, outputs) {
          counts.runs += 1;
          program.run(inputs, outputs);
        },
        dispose() {
          counts.disposed += 1;
          program.dispose();
        },
      };
    },
  };
  return { counts, device, other: new EagerEngine(device) };
}

/** A pending value of an engine. */
function record(on, op, ...sources) {
  const types = sources.map(({ shape, dtype }) => valueType(shape, dtype));
  const signature = on.signatures.of(op, types, []);
  return on.lazyValue(signature, new Operation(signature, sources));
}

const leaf = (on) => DeviceValue.of(tl.tensor1d([1, 2, 3]), on.device);

test('values are computed on the device of the engine that recorded them', () => {
  const { counts, other } = counting();
  const { made } = engine.plans.modules;
  const squares = () => record(other, 'neg', record(other, 'square', leaf(other)));
  const [first, second] = [squares(), squares()];
  assert.deepEqual(counts, { compiled: 0, runs: 0, disposed: 0 });
  assert.deepEqual([...first.readSync()], [-1, -4, -9]);
  assert.deepEqual([...second.readSync()], [-1, -4, -9]);
  assert.deepEqual(counts, { compiled: 1, runs: 2, disposed: 0 });
  assert.equal(engine.plans.modules.made, made);
});

test('programs of another revision of the device are disposed of', () => {
  const { counts, device, other } = counting();
  record(other, 'square', leaf(other)).readSync();
  device.revision += 1;
  assert.deepEqual([...record(other, 'square', leaf(other)).readSync()], [1, 4, 9]);
  assert.deepEqual(counts, { compiled: 2, runs: 2, disposed: 1 });
  assert.equal(other.plans.modules.size, 1);
});

test('recordings of one engine do not retain the nodes of another', () => {
  const { other } = counting();
  const [mine, theirs] = engine.tape.record(() => {
    const values = [record(engine, 'exp', leaf(engine)), record(other, 'exp', leaf(other))];
    for (const each of values) each.readSync();
    return values.map(({ node }) => node !== undefined);
  });
  assert.deepEqual([mine, theirs], [true, false]);
});

test('variables, watchers and traces belong to the engine', () => {
  const { other } = counting();
  const one = tl.variable(tl.scalar(1), true, 'of the default engine');
  assert.ok(engine.variables.has(one.name));
  assert.equal(other.variables.size, 0);
  tl.jit((x) => {
    assert.ok(engine.trace);
    assert.equal(other.trace, undefined);
    return x.square();
  })(2);
  assert.equal(engine.trace, undefined);
  one.dispose();
  assert.equal(engine.variables.size, 0);
});
