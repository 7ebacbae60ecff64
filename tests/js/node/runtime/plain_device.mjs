// A device with arrays of its own as storage, which nobody reads without waiting: programs run later, in order, each on the Wasm
// device on copies of its inputs.
import assert from 'node:assert/strict';
import { syncReadError } from '../../../../js/dist/runtime/device.js';
import { DeviceValue } from '../../../../js/dist/runtime/device_value.js';
import { wasmDevice } from '../../../../js/dist/runtime/wasm/device.js';
import { arrayTypes, hostDTypes } from '../../../../js/dist/tensor/dtypes.js';

export function plainDevice(name = 'plain') {
  const memory = { bytes: 0, buffers: 0, reserved: 0 };
  /** What runs once the current task has ended. */
  let queue = [];
  const enqueue = (work) => {
    if (queue.push(work) === 1) setImmediate(drain);
  };
  const drain = () => {
    const works = queue;
    queue = [];
    for (const work of works) work();
  };

  /** The Wasm program on copies. `states`: by name, instead of its own. */
  const programOf = (program, states = new Map()) => ({
    ports: program.ports,
    run(inputs, outputs) {
      const placed = (each) => ({ type: each, storage: each.materialize() });
      const from = inputs.map((each) => (typeof each === 'number' ? each : placed(each)));
      for (const { type } of from.filter((each) => each.type)) assert.equal(type.device.name, name);
      const to = outputs.map((each) => placed(each.allocate()));
      enqueue(() => runOn(program, from, to, states));
    },
    dispose: () => enqueue(() => program.dispose()),
  });

  return {
    name,
    get revision() {
      return wasmDevice.revision;
    },
    allocate(dtype, size) {
      const bytes = size * arrayTypes[dtype].BYTES_PER_ELEMENT;
      memory.bytes += bytes;
      memory.buffers += 1;
      return { bytes, isFree: false };
    },
    free(storage) {
      assert.ok(!storage.isFree, 'freed twice');
      storage.isFree = true;
      memory.bytes -= storage.bytes;
      memory.buffers -= 1;
    },
    write(storage, dtype, data) {
      const copy = new arrayTypes[dtype](data);
      assert.equal(copy.byteLength, storage.bytes);
      enqueue(() => (storage.data = copy));
    },
    copy(dtype, from, fromIndex, to, toIndex, count) {
      enqueue(() => {
        const Elements = arrayTypes[dtype];
        to.data ??= new Elements(to.bytes / Elements.BYTES_PER_ELEMENT);
        to.data.set(from.data.subarray(fromIndex, fromIndex + count), toIndex);
      });
    },
    async read(storage, dtype, size) {
      assert.ok(!storage.isFree, 'read after free');
      await new Promise((done) => enqueue(done));
      if (storage.error !== undefined) throw storage.error;
      assert.equal(storage.data.length, size);
      return storage.data.slice();
    },
    readSync() {
      throw syncReadError(name);
    },
    compile: (graph, { states } = {}) => programOf(wasmDevice.compile(graph), states),
    memory: () => ({ ...memory, reserved: memory.bytes }),
  };
}

const wasmValue = ({ dtype, shape }) => new DeviceValue(dtype, shape, wasmDevice);

function runOn(program, from, to, states) {
  const failed = from.find(({ storage }) => storage?.error);
  const inputs = failed
    ? []
    : from.map((each) => (each.type ? wasmValue(each.type).write(each.storage.data) : each));
  const outputs = to.map(({ type }) => wasmValue(type));
  try {
    if (failed) throw failed.storage.error;
    const used = program.ports.states.map(({ name, dtype, shape }, at) => {
      const size = shape.reduce((count, each) => count * each, 1);
      return { own: program.state(at), given: states.get(name), dtype: hostDTypes[dtype], size };
    });
    for (const { own, given, dtype } of used)
      if (given !== undefined) wasmDevice.write(own, dtype, given.data);
    program.run(inputs, outputs);
    for (const { own, given, dtype, size } of used)
      if (given !== undefined) given.data = wasmDevice.read(own, dtype, size).slice();
    to.forEach(({ storage }, at) => (storage.data = outputs[at].readSync().slice()));
  } catch (error) {
    for (const { storage } of to) storage.error = error;
  }
  for (const each of [...inputs, ...outputs]) if (typeof each !== 'number') each.free();
}
