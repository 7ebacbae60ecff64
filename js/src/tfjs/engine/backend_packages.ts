/** Exports of TensorFlow.js's backend packages, so that imports of these can be aliased to this package; there is one engine. */
import { env } from '../../runtime/env.js';
import { KernelBackend } from './backends.js';

/** No-op: there are no files of @tensorflow/tfjs-backend-wasm. */
export function setWasmPaths(
  _prefixOrFiles: string | Record<string, string>,
  _usePlatformFetch = false,
): void {}
export function setWasmPath(_path: string, _usePlatformFetch = false): void {}

/** Sets the number of threads, the setting THREADS_COUNT. */
export function setThreadsCount(count: number): void {
  env().set('THREADS_COUNT', count);
}
export function getThreadsCount(): number {
  return env().get('THREADS_COUNT');
}

/** A class without instances. */
export class WebGPUBackend extends KernelBackend {}
export class MathBackendCPU extends KernelBackend {}
export class MathBackendWebGL extends KernelBackend {}
export class GPGPUContext {}
export const webgpu_util = {};
export const gpgpu_util = {};
export const webgl_util = {};
/** Empty: the package does not use kernels of the backend cpu. */
export const shared = {};
/** No-op: there are no textures. */
export function forceHalfFloat(): void {}
export const webgl = { forceHalfFloat };
/** No-op: there is no WebGL context. */
export function setWebGLContext(_version: number, _context: unknown): void {}

/** A map from data ids to the data of a backend; data of other backends moves here on first access. */
export class DataStorage<T> {
  readonly #data = new WeakMap<object, T>();
  #count = 0;

  constructor(
    private readonly backend: KernelBackend,
    private readonly mover: { moveData(backend: KernelBackend, dataId: object): void },
  ) {}

  get(dataId: object): T | undefined {
    if (!this.#data.has(dataId)) this.mover.moveData(this.backend, dataId);
    return this.#data.get(dataId);
  }

  set(dataId: object, value: T): void {
    this.#count += 1;
    this.#data.set(dataId, value);
  }

  has(dataId: object): boolean {
    return this.#data.has(dataId);
  }

  delete(dataId: object): boolean {
    this.#count -= 1;
    return this.#data.delete(dataId);
  }

  numDataIds(): number {
    return this.#count;
  }
}
