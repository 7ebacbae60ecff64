/** The Wasm device: storage is in the heap, programs are relocatable WebAssembly modules. */
import { nextTask } from '../../base/pause.js';
import { arrayOn, copyInto, copyOf, type DataArray } from '../../tensor/convert.js';
import { arrayTypes, type DType } from '../../tensor/dtypes.js';
import { schedules } from '../../tune/schedules.js';
import type { Device, Storage } from '../device.js';
import { env } from '../env.js';
import { threadsAreStarting } from '../threads.js';
import { compileForWasm, wasmRequest } from './compile.js';
import { type Block, heap, heapCounts } from './heap.js';
import { shrinkHeap, WasmProgram } from './program.js';

/** A view of the elements; the next allocation may detach it. */
const viewOf = (storage: Storage, dtype: DType, size: number): DataArray =>
  arrayOn(dtype, heap().memory.buffer, (storage as Block).address, size);

const readSync = (storage: Storage, dtype: DType, size: number): DataArray =>
  copyOf(viewOf(storage, dtype, size), dtype);

export const wasmDevice = {
  name: 'wasm',
  get revision() {
    return schedules.revision + env().revision;
  },
  allocate: (dtype, size) => heap().allocate(size * arrayTypes[dtype].BYTES_PER_ELEMENT),
  free: (storage) => heap().free(storage as Block),
  write: (storage, dtype, data) => copyInto(viewOf(storage, dtype, data.length), data),
  copy(dtype, from, fromIndex, to, toIndex, count) {
    const elements = viewOf(from, dtype, fromIndex + count).subarray(fromIndex);
    copyInto(viewOf(to, dtype, toIndex + count).subarray(toIndex), elements);
  },
  readSync,
  read(storage, dtype, size) {
    const data = readSync(storage, dtype, size);
    // Loops that await every result would otherwise prevent the threads of a page from starting.
    return threadsAreStarting() ? nextTask().then(() => data) : data;
  },
  view: (value) => viewOf(value.materialize(), value.dtype, value.size),
  request: wasmRequest,
  compile: (graph, options) => compileForWasm(graph, options),
  load: (executable) => new WasmProgram(executable),
  memory: heapCounts,
  shrink: shrinkHeap,
} satisfies Device;
