/** The heap of tensors as a device: programs are relocatable WebAssembly modules. */
import type { Device } from '../runtime/device.js';
import { env } from '../runtime/env.js';
import { HeapModule } from '../runtime/heap_module.js';
import { schedules } from '../tune/schedules.js';
import { compileForHeap, heapRequest } from './heap_function.js';

export const heapDevice: Device = {
  get revision() {
    return schedules.revision + env().revision;
  },
  request: heapRequest,
  compile: (graph) => compileForHeap(graph),
  load: (executable) => new HeapModule(executable),
};
