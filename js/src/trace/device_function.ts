/** Functions whose inputs, results and variables are on a device, which they share with tensors. */
import { CoreGraph } from '../core/handles.js';
import { loadedDevice } from '../devices/registry.js';
import type { Device, Program, ProgramPort, StoredValue, DeviceName } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { elementCount } from '../base/shape.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkShape,
  disposedError,
  elementsFor,
  inputsInOrder,
  type InputSpec,
  stateOf,
  traceInto,
} from './compiled_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** A function compiled with `device`. */
export class DeviceFunction<Inputs extends string = string, Outputs extends string = string> {
  readonly #device: Device;
  #program: Program | undefined;

  /** As `compile`. Error: the device is not loaded. */
  constructor(
    device: DeviceName,
    specs: Record<Inputs, InputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  ) {
    this.#device = loadedDevice(device);
    const graph = new CoreGraph();
    try {
      const { variables } = traceInto(graph, specs, build);
      this.#program = this.#device.compile(graph);
      this.#program.ports.states.forEach(({ name }, at) => {
        const { initial } = variables.get(name)!;
        this.#write(at, initial.dtype, initial);
      });
    } finally {
      graph.free();
    }
  }

  /**
   * Runs the function. Tensors of the right dtype are read where they are, those in JavaScript memory move to the device
   * permanently, other values are copied. Results are tensors of the device. Errors: an input that is missing, unknown, of
   * the wrong shape or on another device; out of memory.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const program = this.#live();
    const { inputs: ports, outputs } = program.ports;
    const copies: DeviceValue[] = [];
    const values = inputsInOrder(ports, inputs).map(([port, values]): StoredValue => {
      const what = `input ${port.name}`;
      if (values instanceof Tensor && values.dtype === hostDTypes[port.dtype]) {
        checkShape(what, port, values);
        return DeviceValue.of(values, this.#device).on(this.#device);
      }
      const copy = this.#value(port).write(elementsFor(what, port, values));
      copies.push(copy);
      return copy;
    });
    const results = outputs.map((port) => this.#value(port));
    try {
      program.run(values, results);
    } finally {
      for (const each of copies) each.free();
    }
    const named = outputs.map(({ name, shape }, at) => {
      const value = results[at]!;
      return [name, new Tensor(value, shape, value.dtype)];
    });
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }

  /** The current value of a variable. Error: there is none of this name. */
  async variable(name: string): Promise<Tensor> {
    const { port, at } = this.#variable(name);
    const dtype = hostDTypes[port.dtype];
    const size = elementCount(port.shape);
    const data = await this.#device.read(this.#live().state(at), dtype, size);
    return new Tensor(data, port.shape, dtype);
  }

  /** Sets the value of a variable. Errors: no such variable; a different number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const { port, at } = this.#variable(name);
    const data = elementsFor(`variable ${name}`, port, values);
    this.#device.write(this.#live().state(at), hostDTypes[port.dtype], data);
  }

  /** Frees constants and variables, but not results. Later uses throw. */
  dispose(): void {
    this.#program?.dispose();
    this.#program = undefined;
  }

  #write(at: number, dtype: DType, initial: Tensor): void {
    this.#device.write(this.#program!.state(at), dtype, initial.dataSync<DType>());
  }

  #value({ dtype, shape }: ProgramPort): DeviceValue {
    return new DeviceValue(hostDTypes[dtype], shape, this.#device);
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
