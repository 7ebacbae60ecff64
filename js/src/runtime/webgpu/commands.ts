/** Commands for the GPU, submitted in parts that are short enough for the time limits of operating systems. */

/** Limits of a submission: systems reset GPUs that work for some seconds on one. */
const maxDispatches = 512;
const maxGroups = 2 ** 21;

export class Commands {
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #pipeline: GPUComputePipeline | undefined;
  #dispatches = 0;
  #groups = 0;

  constructor(
    private readonly device: GPUDevice,
    private readonly label: string,
  ) {}

  /** `indirect`: a buffer that has the groups, and where, instead of `x` and `y`. */
  dispatch(
    pipeline: GPUComputePipeline,
    bindings: GPUBindGroup,
    [x, y]: readonly [number, number],
    indirect?: { buffer: GPUBuffer; offset: number },
  ): void {
    const isFull = this.#dispatches >= maxDispatches || this.#groups + x * y > maxGroups;
    if (isFull && this.#dispatches > 0) this.submit();
    const { label } = this;
    const pass = (this.#pass ??= this.#open().beginComputePass({ label }));
    if (pipeline !== this.#pipeline) pass.setPipeline((this.#pipeline = pipeline));
    pass.setBindGroup(0, bindings);
    if (indirect === undefined) pass.dispatchWorkgroups(x, y);
    else pass.dispatchWorkgroupsIndirect(indirect.buffer, indirect.offset);
    this.#dispatches += 1;
    this.#groups += x * y;
  }

  /** Copies bytes; offsets and sizes are multiples of 4. Error, later: within one buffer. */
  copy(from: GPUBuffer, fromOffset: number, to: GPUBuffer, toOffset: number, bytes: number): void {
    this.#endPass();
    this.#open().copyBufferToBuffer(from, fromOffset, to, toOffset, bytes);
  }

  submit(): void {
    this.#endPass();
    if (this.#encoder === undefined) return;
    this.device.queue.submit([this.#encoder.finish()]);
    this.#encoder = undefined;
    this.#dispatches = this.#groups = 0;
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
