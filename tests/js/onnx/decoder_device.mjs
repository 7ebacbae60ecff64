// The device on which the tests of decoders run: Wasm, in tests/js/node/decode/devices.test.mjs one that cannot wait, in
// tests/js/webgpu/decoders.test.mjs the GPU.
import * as tl from 'tensorlathe';
import { DevicePrograms } from '../../../js/dist/onnx/device_programs.js';
import { ModuleFunction } from '../../../js/dist/trace/module_function.js';

let device = 'wasm';

/** To be called before the tests are imported. */
export function useDevice(name) {
  device = name;
}

/** The variants to test: on GPUs, which are slow without hardware, a third of them, unless DECODERS=all. */
export const drawn = (variants) =>
  device !== 'webgpu' || process.env.DECODERS === 'all'
    ? variants
    : variants.filter((_, at) => at % 3 === 1);

export const isOnWasm = () => device === 'wasm';

/** What runs programs of decoders there: an object, and the name of its method. */
export const runner = () =>
  isOnWasm() ? [ModuleFunction.prototype, 'runAsync'] : [DevicePrograms.prototype, 'run'];

/** A model on the device. */
export const loadModel = (bytes) => tl.loadModel(bytes, { device, strict: true });

/** A session of one of the engines; `isOurs`: on the device. */
export const createSession = ({ InferenceSession }, bytes, isOurs) =>
  InferenceSession.create(bytes, {
    executionProviders: [isOurs ? device : 'wasm'],
    logSeverityLevel: 4,
  });

/** The elements of a result of either engine. */
export const dataOf = (value) => (value instanceof tl.Tensor ? value.data() : value.getData());
