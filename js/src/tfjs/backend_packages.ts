/** What programs name of TensorFlow.js's packages of backends, so that these names can be led here too; there is one engine. */
import { env } from '../runtime/env.js';
import { KernelBackend } from './backends.js';

/** There are no files of @tensorflow/tfjs-backend-wasm to find. */
export function setWasmPaths(
  _prefixOrFiles: string | Record<string, string>,
  _usePlatformFetch = false,
): void {}
export function setWasmPath(_path: string, _usePlatformFetch = false): void {}

/** How many threads large modules run on, the setting THREADS_COUNT. */
export function setThreadsCount(count: number): void {
  env().set('THREADS_COUNT', count);
}
export function getThreadsCount(): number {
  return env().get('THREADS_COUNT');
}

/** No backend is one of these. */
export class WebGPUBackend extends KernelBackend {}
export class MathBackendCPU extends KernelBackend {}
export class MathBackendWebGL extends KernelBackend {}
export class GPGPUContext {}
export const webgpu_util = {};
export const gpgpu_util = {};
export const webgl_util = {};
/** Kernels of the backend cpu; operations of the package do not need them. */
export const shared = {};
/** There are no textures whose numbers could be 16 bits long. */
export function forceHalfFloat(): void {}
export const webgl = { forceHalfFloat };
/** No operation runs on a context of WebGL. */
export function setWebGLContext(_version: number, _context: unknown): void {}

/** The data of a backend by their ids; those of others move here when they are asked for. */
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
