/** Compute pipelines of a GPUDevice by the text of their shaders, which programs share, and their layouts. */
import { LatheError, reasonOf } from '../../base/errors.js';
import type { Binding } from '../../core/abi.js';

/** Pipelines that no program uses and that are retained for later ones. */
const maxIdle = 256;

export interface Pipeline {
  readonly key: string;
  readonly layout: GPUBindGroupLayout;
  readonly descriptor: GPUComputePipelineDescriptor;
  /** Defined once it is compiled without error. */
  compiled: GPUComputePipeline | undefined;
  error: LatheError | undefined;
  /** Resolves, never rejects, once one of both is defined; undefined from then on. */
  pending: Promise<void> | undefined;
  programs: number;
}

export class Pipelines {
  readonly #all = new Map<string, Pipeline>();
  readonly #idle = new Set<Pipeline>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();

  constructor(private readonly device: GPUDevice) {}

  /** The pipeline of a text whose bindings have these accesses; `release` it. `name`: for messages. */
  get(name: string, text: string, access: readonly Binding['access'][]): Pipeline {
    const accesses = access.map((each) => (each === 'read' ? 'r' : 'w')).join('');
    const key = `${accesses} ${text}`;
    let pipeline = this.#all.get(key);
    if (pipeline === undefined) {
      pipeline = this.#create(key, name, text, accesses);
      this.#all.set(key, pipeline);
    }
    this.#idle.delete(pipeline);
    pipeline.programs += 1;
    return pipeline;
  }

  release(pipeline: Pipeline): void {
    pipeline.programs -= 1;
    if (pipeline.programs > 0) return;
    this.#idle.add(pipeline);
    if (this.#idle.size <= maxIdle) return;
    const [oldest] = this.#idle;
    this.#idle.delete(oldest!);
    this.#all.delete(oldest!.key);
  }

  #layout(accesses: string): GPUBindGroupLayout {
    let layout = this.#layouts.get(accesses);
    if (layout === undefined) {
      const entries = [...accesses].map((each, binding) => ({
        binding,
        visibility: 4, // GPUShaderStage.COMPUTE
        buffer: { type: each === 'r' ? ('read-only-storage' as const) : ('storage' as const) },
      }));
      layout = this.device.createBindGroupLayout({ entries });
      this.#layouts.set(accesses, layout);
    }
    return layout;
  }

  /** Compiles at once what is not compiled yet; an invalid shader makes commands invalid. */
  force(pipeline: Pipeline): void {
    if (pipeline.compiled !== undefined || pipeline.error !== undefined) return;
    this.device.pushErrorScope('validation');
    pipeline.compiled = this.device.createComputePipeline(pipeline.descriptor);
    void this.device.popErrorScope().catch(() => null);
  }

  #create(key: string, label: string, code: string, accesses: string): Pipeline {
    const { device } = this;
    const layout = this.#layout(accesses);
    // Without a scope an invalid shader is an error of the device, which pages log.
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ label, code });
    void device.popErrorScope().catch(() => null);
    const made: Pipeline = {
      key,
      layout,
      descriptor: {
        label,
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main' },
      },
      compiled: undefined,
      error: undefined,
      pending: undefined,
      programs: 0,
    };
    made.pending = device
      .createComputePipelineAsync(made.descriptor)
      .then(
        (compiled) => (made.compiled = compiled),
        async (cause) => {
          const reason = (await shaderErrors(module, code).catch(() => '')) || reasonOf(cause);
          const message = `WebGPU: kernel ${label} does not compile: ${reason}`;
          made.error = new LatheError(message, { cause });
        },
      )
      .then(() => (made.pending = undefined));
    return made;
  }
}

/** "line 3: unresolved value 'x'", and below it the line. */
async function shaderErrors(module: GPUShaderModule, code: string): Promise<string> {
  const { messages } = await module.getCompilationInfo();
  const lines = code.split('\n');
  return messages
    .filter(({ type }) => type === 'error')
    .map(
      ({ lineNum, message }) =>
        `line ${lineNum}: ${message}\n  ${lines[lineNum - 1]?.trim() ?? ''}`,
    )
    .join('\n');
}
