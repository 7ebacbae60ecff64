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

/** No backend is one. */
export class WebGPUBackend extends KernelBackend {}
export const webgpu_util = {};
