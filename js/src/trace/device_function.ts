/** Functions whose inputs, results and variables are on a device, which they share with tensors. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { Dump } from '../core/abi.js';
import type { CompileStats } from '../runtime/build.js';
import type { Device, Program, ProgramPort } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { tracked } from '../tensor/live_tensors.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import {
  CompiledFunction,
  disposedError,
  type FunctionOptions,
  limited,
} from './compiled_function.js';
import { checkShape, elementsFor, inputsInOrder, stateOf } from './function_inputs.js';
import type { SharedVariables, VariableOwner } from './shared_variables.js';
import type { TracedGraph } from './trace_graph.js';

/** A program with its variables. */
class OwnedVariables implements VariableOwner {
  readonly metadata: { readonly states: readonly ProgramPort[] };

  constructor(
    private readonly device: Device,
    readonly program: Program,
  ) {
    this.metadata = program.ports;
  }

  copyStatesFrom({ program }: OwnedVariables): void {
    const { states } = program.ports;
    for (const [at, { name, dtype, shape }] of this.metadata.states.entries()) {
      const from = program.state(states.findIndex((each) => each.name === name));
      const [to, count] = [this.program.state(at), elementCount(shape)];
      this.device.copy(hostDTypes[dtype], from, 0, to, 0, count);
    }
  }
}

/** A function compiled with `device` or `heap`: one program of the device. */
export class DeviceFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> extends CompiledFunction<Inputs, Outputs> {
  #owned: OwnedVariables | undefined;
  readonly #stats: CompileStats;
  #code: Uint8Array<ArrayBuffer> | undefined;
  #dumps: Dump[] = [];

  /** Frees the graph that `trace` returns. Functions of the same variables may share them. */
  constructor(
    private readonly device: Device,
    trace: () => TracedGraph,
    private readonly options: FunctionOptions = {},
    private readonly shared?: SharedVariables,
  ) {
    super();
    const start = performance.now();
    let compiled: number | undefined;
    const { graph, variables } = trace();
    try {
      shared?.check(variables);
      const program = device.compile(graph, {
        ...options,
        inspect: (executable) => {
          this.#code = executable.bytes();
          this.#dumps = executable.dumps();
          compiled = performance.now();
        },
      });
      this.#owned = new OwnedVariables(device, program);
      program.ports.states.forEach(({ name }, at) => {
        const { initial } = variables.get(name)!;
        device.write(program.state(at), initial.dtype, initial.dataSync());
      });
      shared?.bringTo(this.#owned);
      compiled ??= performance.now();
      const [compileMs, instantiateMs] = [compiled - start, performance.now() - compiled];
      this.#stats = { ...program.stats, compileMs, instantiateMs };
    } finally {
      graph.free();
    }
  }

  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const { device } = this;
    const program = this.#live();
    const copies: Tensor[] = [];
    try {
      const tensors = tensorsOn(device, program.ports.inputs, inputs, copies);
      const results = limited(this.options, () => callOnTensors(device, program, tensors));
      const named = program.ports.outputs.map(({ name }, at) => [name, results[at]![tracked]()]);
      return Object.fromEntries(named) as Record<Outputs, Tensor>;
    } finally {
      for (const each of copies) each.dispose();
    }
  }

  variable(name: string): Tensor {
    const { port, at } = this.#variable(name);
    const state = this.#live().state(at);
    const dtype = hostDTypes[port.dtype];
    const value = new DeviceValue(dtype, port.shape, this.device).allocate();
    this.device.copy(dtype, state, 0, value.materialize(), 0, value.size);
    return new Tensor(value, port.shape, dtype)[tracked]();
  }

  setVariable(name: string, values: TensorLike): void {
    const { port, at } = this.#variable(name);
    const data = elementsFor(`variable ${name}`, port, values);
    this.device.write(this.#live().state(at), hostDTypes[port.dtype], data);
  }

  override stats(): CompileStats {
    return { ...this.#stats };
  }

  override dumps(): Dump[] {
    return this.#dumps;
  }

  /** Without its constants. */
  override module(): Uint8Array<ArrayBuffer> {
    this.#live();
    if (this.#code !== undefined) return this.#code;
    throw new LatheError(`module: a function on ${this.device.name} has no WebAssembly module`);
  }

  dispose(): void {
    this.#owned?.program.dispose();
    this.#owned = undefined;
  }

  get isDisposed(): boolean {
    return this.#owned === undefined;
  }

  /** @internal Bytes of code and memory, without what programs share. */
  get bytes(): number {
    return programBytes(this.#stats);
  }

  #variable(name: string): { port: ProgramPort; at: number } {
    const { states } = this.#live().ports;
    const port = stateOf(states, name);
    return { port, at: states.indexOf(port) };
  }

  /** The program, with the newest variables. */
  #live(): Program {
    if (this.#owned === undefined) {
      throw disposedError(this.shared && 'or evicted for other sizes; bind them once more');
    }
    this.shared?.bringTo(this.#owned);
    return this.#owned.program;
  }
}

/** Bytes of the code and memory of a program, without what programs share. */
export const programBytes = ({ moduleBytes, memoryBytes, temporaryBytes }: Program['stats']) =>
  moduleBytes + memoryBytes - temporaryBytes;

/** The inputs as tensors of a device, in the order of the ports; what is copied there is added to `copies`. */
export function tensorsOn(
  device: Device,
  ports: readonly ProgramPort[],
  inputs: Readonly<Record<string, TensorLike>>,
  copies: { push(copy: Tensor): void },
): Tensor[] {
  return inputsInOrder(ports, inputs).map(([port, values]) => {
    const what = `input ${port.name}`;
    if (values instanceof Tensor && values.dtype === hostDTypes[port.dtype]) {
      checkShape(what, port, values);
      return values;
    }
    const copy = copyToDevice(device, what, port, values);
    copies.push(copy);
    return copy;
  });
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
