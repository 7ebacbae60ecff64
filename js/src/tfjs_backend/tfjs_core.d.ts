/** The parts of the peer dependency that `tfjs_backend.ts` uses. */
import type { DataMover } from './backend.js';

export declare class KernelBackend {}
export declare function engine(): DataMover;
export declare function registerBackend(
  name: string,
  factory: () => KernelBackend | Promise<KernelBackend>,
  priority?: number,
): boolean;
export declare function registerKernel(config: {
  kernelName: string;
  backendName: string;
  kernelFunc(params: {
    inputs: Record<string, object | undefined>;
    attrs?: object;
    backend: object;
  }): object;
}): void;
