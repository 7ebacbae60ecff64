/** Functions whose inputs, results and variables are on a device, which they share with tensors. */
import { LatheError } from '../base/errors.js';
import type { Dump } from '../core/abi.js';
import { CoreGraph } from '../core/handles.js';
import type { CompileStats } from '../runtime/build.js';
import type { Device, Program, ProgramPort } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkShape,
  disposedError,
  elementsFor,
  type FunctionOptions,
  inputsInOrder,
  type InputSpec,
  limited,
  stateOf,
  traceInto,
} from './compiled_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** A function compiled with `device` or `heap`: its results stay on the device. */
export class DeviceFunction<Inputs extends string = string, Outputs extends string = string> {
  #program: Program | undefined;
  readonly #stats: CompileStats;
  #code: Uint8Array<ArrayBuffer> | undefined;
  #dumps: Dump[] = [];

  /** As `compile`. */
  constructor(
    private readonly device: Device,
    specs: Record<Inputs, InputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
    private readonly options: FunctionOptions = {},
  ) {
    const start = performance.now();
    let compiled: number | undefined;
    const graph = new CoreGraph();
    try {
      const { variables } = traceInto(graph, specs, build);
      const program = device.compile(graph, {
        ...options,
        inspect: (executable) => {
          this.#code = executable.bytes();
          this.#dumps = executable.dumps();
          compiled = performance.now();
        },
      });
      this.#program = program;
      program.ports.states.forEach(({ name }, at) => {
        const { initial } = variables.get(name)!;
        device.write(program.state(at), initial.dtype, initial.dataSync());
      });
      compiled ??= performance.now();
      const [compileMs, instantiateMs] = [compiled - start, performance.now() - compiled];
      this.#stats = { ...program.stats, compileMs, instantiateMs };
    } finally {
      graph.free();
    }
  }

  /**
   * Runs the function. Tensors of the right dtype are read without a copy; those in JavaScript memory move to the device
   * permanently. Other values are copied, as by `CompiledFunction.run`. Results are tensors of the device. Errors: an input
   * that is missing, unknown, of the wrong shape or on another device; an index out of range; out of memory.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const { device } = this;
    const program = this.#live();
    const { inputs: ports, outputs } = program.ports;
    const copies: Tensor[] = [];
    const tensors = inputsInOrder(ports, inputs).map(([port, values]) => {
      const what = `input ${port.name}`;
      if (values instanceof Tensor && values.dtype === hostDTypes[port.dtype]) {
        checkShape(what, port, values);
        return values;
      }
      const copy = copyToDevice(device, what, port, values);
      copies.push(copy);
      return copy;
    });
    const results = limited(this.options, () => callOnTensors(device, program, tensors));
    for (const each of copies) each.dispose();
    const named = outputs.map(({ name }, at) => [name, results[at]!]);
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }

  /** A copy of the current value of a variable. Error: there is none of this name. */
  variable(name: string): Tensor {
    const { port, at } = this.#variable(name);
    const state = this.#live().state(at);
    const value = new DeviceValue(hostDTypes[port.dtype], port.shape, this.device).allocate();
    this.device.copy(state, 0, value.materialize(), 0, Math.ceil(state.bytes / 4));
    return new Tensor(value, port.shape, value.dtype);
  }

  /** Sets the value of a variable. Errors: no such variable; a different number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const { port, at } = this.#variable(name);
    const data = elementsFor(`variable ${name}`, port, values);
    this.device.write(this.#live().state(at), hostDTypes[port.dtype], data);
  }

  /** Statistics of the compilation. */
  stats(): CompileStats {
    return { ...this.#stats };
  }

  /** The intermediate forms that the options requested. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module, without its constants. Error: it is on another device than 'wasm'. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    if (this.#code !== undefined) return this.#code;
    throw new LatheError(`module: a function on ${this.device.name} has no WebAssembly module`);
  }

  /** Frees constants and variables, but not results. Later uses throw. */
  dispose(): void {
    this.#program?.dispose();
    this.#program = undefined;
  }

  #variable(name: string): { port: ProgramPort; at: number } {
    const { states } = this.#live().ports;
    const port = stateOf(states, name);
    return { port, at: states.indexOf(port) };
  }

  #live(): Program {
    if (this.#program === undefined) throw disposedError();
    return this.#program;
  }
}

/** A tensor on a device with the elements of `values`. */
export function copyToDevice(
  device: Device,
  what: string,
  port: ProgramPort,
  values: TensorLike,
): Tensor {
  const data = elementsFor(what, port, values);
  const value = new DeviceValue(hostDTypes[port.dtype], port.shape, device).write(data);
  return new Tensor(value, port.shape, value.dtype);
}

/** Runs a program on tensors or values; the results are new tensors. Errors: an index out of range; another device. */
export function callOnTensors(
  device: Device,
  program: Program,
  inputs: readonly (Tensor | DeviceValue)[],
): Tensor[] {
  const { inputs: ports, outputs } = program.ports;
  const results = outputs.map(
    ({ dtype, shape }) => new DeviceValue(hostDTypes[dtype], shape, device),
  );
  const values = inputs.map((each) =>
    (each instanceof DeviceValue ? each : DeviceValue.of(each, device)).on(device),
  );
  ports.forEach((port, at) => {
    if (port.ranges === undefined) return;
    const value = values[at]!;
    // What only the device has is not read for this: kernels move an index outside to the nearest row.
    const data = device.view?.(value) ?? value.hostCopy;
    if (data !== undefined) checkIndices(port, data);
  });
  program.run(values, results);
  return results.map((each) => new Tensor(each, each.shape, each.dtype));
}
