/**
 * Models that are called with many different shapes: the program for each shape reads the large weights as inputs, which are
 * stored once in the memory of tensors, or on the device of the model.
 */
import { LatheError } from '../base/errors.js';
import { attempt } from '../base/stop.js';
import { DeviceValue } from '../runtime/device_value.js';
import { compileForWasm } from '../runtime/wasm/compile.js';
import { wasmDevice } from '../runtime/wasm/device.js';
import type { WasmProgram } from '../runtime/wasm/program.js';
import { callOnTensors } from '../trace/device_function.js';
import type { DevicePrograms } from './device_programs.js';
import type { OnnxFile, OnnxTrace, Port } from './file.js';
import { hasPadding } from './padded_axes.js';
import type { Program } from './program.js';
import { dtypeOf, valueOf } from './values.js';

/** Bounds of the file size: sharing is worthwhile, and fits into the memory of tensors. */
const [minBytes, maxBytes] = [2 ** 20, 2 ** 29];
/** Minimum fraction of the file that is shareable. */
const minShare = 0.5;

export class SharedWeights {
  #weights: DeviceValue[] | undefined;
  #isUnsupported = false;
  /** Whether a program reads the weights. */
  #isUsed = false;

  constructor(
    private readonly file: OnnxFile,
    private readonly threads: number | undefined,
    private readonly programs?: DevicePrograms,
  ) {}

  /** The program for these inputs; undefined if weights must be constants or control flow depends on data. */
  program(ports: readonly Port[], data: Uint8Array): Program | undefined {
    const { bytes } = this.file;
    if (this.#isUnsupported || bytes < minBytes || bytes > maxBytes) return undefined;
    // An error with padded axes does not concern other calls.
    const isExact = !hasPadding(ports);
    if (!isExact) return this.#program(ports, data, isExact);
    // Compilation with constant weights reports the error, if it persists.
    const program = attempt(() => this.#program(ports, data, isExact));
    if (!(program instanceof LatheError)) return program;
    this.#disable();
    return undefined;
  }

  /** Disables sharing, unless it has worked for other shapes. */
  #disable(): void {
    if (!this.#isUsed) this.dispose();
  }

  /** Frees the weights. */
  dispose(): void {
    for (const each of this.#weights ?? []) each.free();
    this.#weights = undefined;
    this.#isUnsupported = true;
  }

  #program(ports: readonly Port[], data: Uint8Array, isExact: boolean): Program | undefined {
    const options = { weightInputs: 'large' } as const;
    const trace = this.file.trace(ports, [], data, options, true, (contents, weights) => {
      const shared = contents.reduce((sum, { length }) => sum + length, 0);
      if (shared > minShare * this.file.bytes)
        this.#weights ??= valuesOf(this.programs, weights, contents);
    });
    const { graph, results } = trace;
    try {
      if (!trace.isComplete || this.#weights === undefined) {
        // Requested contents are specified in the next attempt.
        if (trace.requiredContents.length === 0 && (isExact || trace.isComplete)) this.#disable();
        return undefined;
      }
      const onDevice = this.programs?.compiled(graph, results, this.#weights);
      this.#isUsed = true;
      if (onDevice !== undefined) return onDevice;
      const module = compileForWasm(graph, {}, this.threads);
      return onHeap(module, this.#weights, results);
    } finally {
      graph.free();
    }
  }
}

function valuesOf(
  programs: DevicePrograms | undefined,
  weights: OnnxTrace['weights'],
  contents: readonly Uint8Array[],
): DeviceValue[] {
  return weights.map(({ type, shape }, at) => {
    if (programs !== undefined) return programs.weight(dtypeOf(type), shape, contents[at]!);
    const value = new DeviceValue(dtypeOf(type), shape, wasmDevice);
    const { buffer, byteOffset, byteLength } = wasmDevice.view(value.allocate());
    new Uint8Array(buffer, byteOffset, byteLength).set(contents[at]!);
    return value;
  });
}

function onHeap(
  module: WasmProgram,
  weights: readonly DeviceValue[],
  results: readonly Port[],
): Program {
  const [{ inputs, outputs }] = module.metadata.entries as [(typeof module.metadata.entries)[0]];
  return {
    bytes: module.moduleBytes + (module.metadata.constantBytes ?? 0),
    async run(inputTensors, count) {
      const values = inputs.map(({ name }) =>
        name.startsWith('w') ? weights[Number(name.slice(1))]! : inputTensors[name]!,
      );
      const computed = callOnTensors(wasmDevice, module, values);
      const named = Object.fromEntries(outputs.map(({ name }, at) => [name, computed[at]!]));
      try {
        return results.map((each) => valueOf(each, named, count));
      } finally {
        for (const each of computed) each.dispose();
      }
    },
    dispose: () => module.dispose(),
  };
}
