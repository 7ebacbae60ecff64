/** Programs of ONNX models on a device other than Wasm. */
import { LatheError } from '../base/errors.js';
import type { CoreGraph } from '../core/handles.js';
import type { Device, Program as DeviceProgram } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { arrayOn } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import type { Port } from './file.js';
import type { Placement } from './options.js';
import { type Program, Refusal } from './program.js';
import { remoteValue, valuesOf } from './values.js';

/** What happens where a device does not run a model. */
export interface PlacementOptions {
  strict?: boolean | undefined;
  /** Default: `console.warn`. */
  warn?: ((message: string) => void) | undefined;
}

/** The device of a model, until it refuses a program. */
export class DevicePrograms {
  #reason: string | undefined;

  constructor(
    readonly device: Device,
    private readonly options: PlacementOptions,
  ) {}

  get isStrict(): boolean {
    return this.options.strict === true;
  }

  /** Where programs are compiled from now on. */
  get placement(): Placement {
    const reason = this.#reason;
    return reason === undefined ? { device: this.device.name } : { device: 'wasm', reason };
  }

  /** Moves the model to Wasm, with a warning. Error: strict models do not move. */
  moveToWasm(reason: string): void {
    const { name } = this.device;
    const { warn = (message) => console.warn(message) } = this.options;
    if (this.isStrict) {
      throw new LatheError(
        `the model does not run on ${name}: ${reason}; without strict it runs on wasm`,
      );
    }
    this.#reason = reason;
    warn(`tensorlathe: the model runs on wasm, not on ${name}: ${reason}`);
  }

  /** As `compiled`, with a `Refusal` for an error. */
  compile(graph: CoreGraph, results: readonly Port[]): Program {
    return refusable(() => this.compiled(graph, results));
  }

  /** A weight that programs share. Error: the device cannot have it. */
  weight(dtype: DType, shape: readonly number[], bytes: Uint8Array): DeviceValue {
    const value = new DeviceValue(dtype, shape, this.device);
    return value.write(arrayOn(dtype, bytes.slice().buffer, 0, value.size));
  }

  /**
   * A program for a graph, which it does not free; `weights`: the values of the inputs "w0", "w1", … Errors: what the device
   * does not have; out of memory.
   */
  compiled(
    graph: CoreGraph,
    results: readonly Port[],
    weights: readonly DeviceValue[] = [],
  ): Program {
    const { device } = this;
    const before = device.memory().bytes;
    const program = device.compile(graph);
    return {
      bytes: Math.max(0, device.memory().bytes - before),
      run: (tensors, count) => valuesOf(results, this.run(program, tensors, weights), count),
      dispose: () => program.dispose(),
    };
  }

  /** Runs a program on tensors by name; results are new tensors. Errors: an index out of range; out of memory; `Refusal`, of the values. */
  run(
    program: DeviceProgram,
    tensors: Readonly<Record<string, Tensor>>,
    weights: readonly DeviceValue[] = [],
  ): Record<string, Tensor> {
    const { device } = this;
    const { inputs, outputs } = program.ports;
    const copies: DeviceValue[] = [];
    const valueFor = (name: string): DeviceValue => {
      if (name.startsWith('w')) return weights[Number(name.slice(1))]!;
      const tensor = tensors[name]!;
      const remote = remoteValue(tensor);
      if (remote !== undefined) return remote.on(device);
      const copy = new DeviceValue(tensor.dtype, tensor.shape, device);
      copies.push(copy);
      return copy.write(tensor.dataSync<DType>());
    };
    for (const port of inputs) {
      const tensor = port.ranges && tensors[port.name];
      if (tensor && remoteValue(tensor) === undefined) checkIndices(port, tensor.dataSync());
    }
    try {
      const values = refusable(() => inputs.map(({ name }) => valueFor(name)));
      const computed = outputs.map(
        ({ dtype, shape }) => new DeviceValue(hostDTypes[dtype], shape, device),
      );
      program.run(values, computed);
      const named = outputs.map(({ name, shape }, at): [string, Tensor] => {
        return [name, new Tensor(computed[at]!, shape, computed[at]!.dtype)];
      });
      return Object.fromEntries(named);
    } finally {
      for (const each of copies) each.free();
    }
  }
}

/** Error: `Refusal` instead of a LatheError. */
export function refusable<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw error instanceof LatheError ? new Refusal(error.message) : error;
  }
}
