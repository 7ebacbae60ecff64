/**
 * Errors that WebGPU reports after the call that caused them. They become errors of the storages that the call wrote, and
 * of everything computed from these since.
 */
import { LatheError } from '../../base/errors.js';
import type { GpuStorage } from './storage.js';

interface Run {
  readonly inputs: readonly GpuStorage[];
  readonly outputs: readonly GpuStorage[];
}

export class ErrorLog {
  /** Runs since the earliest call whose errors are not known yet, in order. */
  #runs: Run[] = [];
  #open = 0;
  #settled: Promise<unknown> = Promise.resolve();
  #uncaptured: LatheError | undefined;

  /** `isOurs`: whether no other code uses the device, so that errors outside of scopes are of this one. */
  constructor(
    private readonly device: GPUDevice,
    isOurs: boolean,
  ) {
    if (!isOurs) return;
    // Pages also log it. Its message has the labels of what is wrong: those of kernels.
    this.device.addEventListener('uncapturederror', ({ error }) => {
      this.#uncaptured ??= new LatheError(`WebGPU: an earlier command failed: ${error.message}`);
    });
  }

  /** The first error outside of scopes since the last call: nobody knows what it spoiled. */
  takeUncaptured(): LatheError | undefined {
    const error = this.#uncaptured;
    this.#uncaptured = undefined;
    return error;
  }

  /** Calls WebGPU; an error of this kind, explained, becomes that of `storages`. */
  scoped<Result>(
    filter: GPUErrorFilter,
    storages: readonly GpuStorage[],
    explain: (message: string) => LatheError,
    call: () => Result,
  ): Result {
    this.device.pushErrorScope(filter);
    try {
      return call();
    } finally {
      this.#open += 1;
      const reported = this.device.popErrorScope().then(
        (error) => error !== null && this.#fail(storages, explain(error.message)),
        () => undefined, // the GPU is lost
      );
      const ended = reported.then(() => {
        this.#open -= 1;
        if (this.#open === 0) this.#runs = [];
      });
      this.#settled = this.#settled.then(() => ended);
    }
  }

  /** Remembers which storages a run read and wrote, as long as errors may follow. */
  record(inputs: readonly GpuStorage[], outputs: readonly GpuStorage[]): void {
    if (this.#open > 0) this.#runs.push({ inputs, outputs });
  }

  /** Resolves once the errors of all calls until now are known. */
  get settled(): Promise<unknown> {
    return this.#settled;
  }

  #fail(storages: readonly GpuStorage[], error: LatheError): void {
    for (const each of storages) each.error ??= error;
    for (const { inputs, outputs } of this.#runs) {
      const cause = inputs.find((each) => each.error !== undefined)?.error;
      if (cause !== undefined) for (const each of outputs) each.error ??= cause;
    }
  }
}
