/** A kernel on a GPU: its pipeline and the bind groups of recent runs. */
import type { Dispatch, Region } from '../../core/abi.js';
import type { PooledBuffer } from './buffers.js';
import type { Commands } from './commands.js';
import { wholeWords } from './elements.js';
import { checkLimit } from './check_limit.js';
import type { Gpu } from './gpu.js';
import type { Pipeline } from './pipelines.js';

/** A part of a buffer, from an offset on. */
export interface Slice {
  readonly buffer: PooledBuffer;
  readonly offset: number;
}

/** The buffers of a run, by what regions call them. */
export type Buffers = Readonly<Record<Region['of'], readonly Slice[]>>;

/** Where a region is. */
export function sliceOf({ of, index = 0, offset }: Region, buffers: Buffers): Slice {
  const base = buffers[of][index]!;
  return { buffer: base.buffer, offset: base.offset + offset };
}

/** Bind groups that a kernel retains: values of one program alternate between a few buffers. */
const maxBindGroups = 32;

export class LoadedKernel {
  readonly pipeline: Pipeline;
  /** By the ids of the buffers, which determine offsets, too. */
  readonly #bindGroups = new Map<string, GPUBindGroup>();

  constructor(
    private readonly gpu: Gpu,
    private readonly kernel: Dispatch,
    text: string,
  ) {
    const access = kernel.bindings.map((each) => each.access);
    this.pipeline = gpu.pipelines.get(kernel.name, text, access);
  }

  /** Error: LimitError if the GPU cannot run the kernel. */
  static check({ device: { limits } }: Gpu, { name, bindings, groups }: Dispatch): void {
    const check = (what: string, asked: number, limit: keyof GPUSupportedLimits) =>
      checkLimit(`${what} of kernel ${name}`, asked, limits[limit] as number, limit);
    check('storage buffers', bindings.length, 'maxStorageBuffersPerShaderStage');
    check('workgroups', Math.max(...groups), 'maxComputeWorkgroupsPerDimension');
    const bytes = Math.max(0, ...bindings.map((each) => each.bytes));
    check('bytes of a binding', bytes, 'maxStorageBufferBindingSize');
  }

  release(): void {
    this.gpu.pipelines.release(this.pipeline);
  }

  get #isEmpty(): boolean {
    return this.kernel.groups.includes(0);
  }

  #key(buffers: Buffers): string {
    let key = '';
    for (const each of this.kernel.bindings) key += `${sliceOf(each, buffers).buffer.id} `;
    return key;
  }

  /** Whether a run with these buffers needs no new bind group. */
  isBoundTo(buffers: Buffers): boolean {
    return this.#isEmpty || this.#bindGroups.has(this.#key(buffers));
  }

  dispatch(commands: Commands, buffers: Buffers): void {
    if (this.#isEmpty) return;
    const key = this.#key(buffers);
    let group = this.#bindGroups.get(key);
    if (group === undefined) {
      if (this.#bindGroups.size >= maxBindGroups) this.#bindGroups.clear();
      group = this.#bind(buffers);
      this.#bindGroups.set(key, group);
    }
    const { groups, arguments: offset } = this.kernel;
    const [slice] = buffers.arguments;
    const indirect = offset === undefined ? undefined : { buffer: slice!.buffer.gpuBuffer, offset };
    commands.dispatch(this.pipeline.compiled!, group, groups, indirect);
  }

  #bind(buffers: Buffers): GPUBindGroup {
    const entries = this.kernel.bindings.map((each, binding) => {
      const { buffer, offset } = sliceOf(each, buffers);
      return {
        binding,
        resource: { buffer: buffer.gpuBuffer, offset, size: wholeWords(each.bytes) },
      };
    });
    const { layout } = this.pipeline;
    return this.gpu.device.createBindGroup({ label: this.kernel.name, layout, entries });
  }
}
