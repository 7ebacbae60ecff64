/** What `tfjs_backend.ts` uses of the package that programs bring along. */
import type { Mover } from './backend.js';

export declare class KernelBackend {}
export declare function engine(): Mover;
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
