/** Commands for the GPU, submitted in parts that are short enough for the time limits of operating systems. */
import type { Pace } from './pacing.js';

export class Commands {
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #pipeline: GPUComputePipeline | undefined;

  constructor(
    private readonly device: GPUDevice,
    private readonly label: string,
    /** Cuts dispatches into submissions. Default: one. */
    private readonly pace?: Pace,
  ) {}

  /** `indirect`: a buffer that has the groups, and where, instead of `x` and `y`. */
  dispatch(
    pipeline: GPUComputePipeline,
    bindings: GPUBindGroup,
    [x, y]: readonly [number, number],
    indirect?: { buffer: GPUBuffer; offset: number },
  ): void {
    const { label, pace } = this;
    if (pace?.isFull(x * y) === true) this.submit();
    pace?.add(x * y);
    const pass = (this.#pass ??= this.#open().beginComputePass({ label }));
    if (pipeline !== this.#pipeline) pass.setPipeline((this.#pipeline = pipeline));
    pass.setBindGroup(0, bindings);
    if (indirect === undefined) pass.dispatchWorkgroups(x, y);
    else pass.dispatchWorkgroupsIndirect(indirect.buffer, indirect.offset);
  }

  /** Copies bytes; offsets and sizes are multiples of 4. Error, later: within one buffer. */
  copy(from: GPUBuffer, fromOffset: number, to: GPUBuffer, toOffset: number, bytes: number): void {
    this.#endPass();
    this.#open().copyBufferToBuffer(from, fromOffset, to, toOffset, bytes);
  }

  submit(): void {
    this.#endPass();
    const encoder = this.#encoder;
    if (encoder === undefined) return;
    this.#encoder = undefined;
    const submit = () => this.device.queue.submit([encoder.finish()]);
    if (this.pace === undefined) submit();
    else this.pace.submit(submit);
  }

  #open(): GPUCommandEncoder {
    const { label } = this;
    return (this.#encoder ??= this.device.createCommandEncoder({ label }));
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = this.#pipeline = undefined;
  }
}
