/** lathe-webgpu.wasm, which compiles graphs to shaders; loaded when a page first asks for WebGPU. */
import { encodeJson } from '../base/json.js';
import type { Handle, WebGpuExports, WebGpuLimits, WebGpuMetadata } from './abi.js';
import type { Core } from './core.js';
import { FetchedCore } from './fetched_core.js';
import { type GraphBytes, sendGraph } from './graph_bytes.js';

const compiler = /* @__PURE__ */ new FetchedCore<WebGpuExports>({
  name: 'lathe-webgpu.wasm',
  url: () => new URL('./lathe-webgpu.wasm', import.meta.url),
  inlined: () => import('./inlined_webgpu.js'),
});

/** Shaders of a program and its constants, in the memory of the compiler until they are freed. */
export interface ShaderExecutable {
  readonly metadata: WebGpuMetadata;
  /** Views of the content of the constants region, which the compiler's next call may detach. */
  constants(): { offset: number; data: Uint8Array<ArrayBuffer> }[];
  free(): void;
}

/** Loads the compiler of shaders, which then compiles without waiting. Rejects with LatheError. */
export async function loadWebGpuCompiler(): Promise<WebGpuCompiler> {
  return new WebGpuCompiler(await compiler.compiled());
}

export class WebGpuCompiler {
  readonly #module: WebAssembly.Module;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /** Each graph is sent before the next one is requested. Errors: types that shaders do not have; kernels beyond the limits; out of memory. */
  compile(entries: Iterable<GraphBytes>, limits: WebGpuLimits = {}): ShaderExecutable {
    const core = compiler.of(this.#module);
    let program: Handle = 0;
    const free = () => {
      if (program !== 0 && !core.dead) core.exports.lathe_webgpu_free(program);
      program = 0;
    };
    try {
      for (const each of entries) {
        program = sendGraph(each, core, (...graph) =>
          core.exports.lathe_webgpu_entry(program, ...graph),
        );
      }
      core.withString('compile', encodeJson({ limits }), (at, length) =>
        core.exports.lathe_webgpu_compile(program, at, length),
      );
      const at = core.call('compile', (exports) => exports.lathe_webgpu_metadata(program));
      const metadata = JSON.parse(core.readString(at)) as WebGpuMetadata;
      return { metadata, constants: () => constantsOf(core, program), free };
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Programs that are not freed. */
  get alive(): number {
    return compiler.running?.exports.lathe_webgpu_live_objects() ?? 0;
  }
}

function constantsOf(core: Core<WebGpuExports>, program: Handle) {
  const at = core.call('constants', (exports) => exports.lathe_webgpu_constants(program));
  const words = new Uint32Array(core.exports.memory.buffer, at);
  return Array.from({ length: words[0]! }, (_, k) => {
    const [offset, address, bytes] = words.subarray(1 + 3 * k, 4 + 3 * k);
    return { offset: offset!, data: core.view(address!, bytes!) };
  });
}
