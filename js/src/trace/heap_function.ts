/** Functions whose inputs, results and variables are in the heap, which they share with tensors. */
import type { BufferInfo, Dump, EntryInfo } from '../core/abi.js';
import { CoreGraph } from '../core/handles.js';
import { copyInto } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { CompileStats } from '../runtime/build.js';
import { DeviceValue } from '../runtime/device_value.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { compileForWasm } from '../runtime/wasm/compile.js';
import { wasmDevice } from '../runtime/wasm/device.js';
import type { WasmProgram } from '../runtime/wasm/program.js';
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

/** A function compiled with `heap`: its results stay in the memory of tensors. */
export class HeapFunction<Inputs extends string = string, Outputs extends string = string> {
  #module: WasmProgram | undefined;
  readonly #stats: CompileStats;
  #code!: Uint8Array<ArrayBuffer>;
  #dumps!: Dump[];

  /** As `compile`. */
  constructor(
    specs: Record<Inputs, InputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
    private readonly options: FunctionOptions = {},
  ) {
    const start = performance.now();
    let compiled = start;
    const graph = new CoreGraph();
    try {
      const { variables } = traceInto(graph, specs, build);
      const module = compileForWasm(graph, options, (executable) => {
        this.#code = executable.bytes();
        this.#dumps = executable.dumps();
        compiled = performance.now();
      });
      for (const buffer of module.metadata.states) {
        copyInto(module.stateView(buffer), variables.get(buffer.name)!.initial.dataSync<DType>());
      }
      this.#module = module;
      const { memoryBytes, temporaryBytes } = module.metadata;
      const { moduleBytes } = module;
      const [compileMs, instantiateMs] = [compiled - start, performance.now() - compiled];
      const { threads } = module.metadata.entries[0]!;
      this.#stats = {
        compileMs,
        instantiateMs,
        moduleBytes,
        memoryBytes,
        temporaryBytes,
        threads,
      };
    } finally {
      graph.free();
    }
  }

  /**
   * Runs the function. Tensors of the right dtype are read without a copy; those in JavaScript
   * memory move to the heap permanently. Other values are copied, as by `CompiledFunction.run`. Errors: an
   * input that is missing, unknown or of the wrong shape; out of memory.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const module = this.#live();
    const { inputs: buffers, outputs } = module.metadata.entries[0]!;
    const copies: Tensor[] = [];
    const tensors = inputsInOrder(buffers, inputs).map(([buffer, values]) => {
      const what = `input ${buffer.name}`;
      if (values instanceof Tensor && values.dtype === hostDTypes[buffer.dtype]) {
        checkShape(what, buffer, values);
        return values;
      }
      const copy = copyToHeap(what, buffer, values);
      copies.push(copy);
      return copy;
    });
    const results = limited(this.options, () => callOnTensors(module, tensors));
    for (const each of copies) each.dispose();
    const named = outputs.map(({ name }, at) => [name, results[at]!]);
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }

  /** The current value of a variable. Error: there is none of this name. */
  variable(name: string): Tensor {
    const module = this.#live();
    const buffer = stateOf(module.metadata.states, name);
    return new Tensor(module.stateView(buffer).slice(), buffer.shape, hostDTypes[buffer.dtype]);
  }

  /** Sets the value of a variable. Errors: no such variable; a different number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const module = this.#live();
    const buffer = stateOf(module.metadata.states, name);
    const data = elementsFor(`variable ${name}`, buffer, values);
    copyInto(module.stateView(buffer), data);
  }

  /** Statistics of the compilation. */
  stats(): CompileStats {
    return { ...this.#stats };
  }

  /** The intermediate forms that the options requested. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module, without its constants. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#code;
  }

  /** Frees constants and variables, but not results. Later uses throw. */
  dispose(): void {
    this.#module?.dispose();
    this.#module = undefined;
  }

  #live(): WasmProgram {
    if (this.#module === undefined) throw disposedError();
    return this.#module;
  }
}

/** A tensor in the heap with the elements of `values`. */
export function copyToHeap(what: string, buffer: BufferInfo, values: TensorLike): Tensor {
  const data = elementsFor(what, buffer, values);
  const value = new DeviceValue(hostDTypes[buffer.dtype], buffer.shape, wasmDevice).write(data);
  return new Tensor(value, buffer.shape, value.dtype);
}

/** Runs a program on tensors or values; the results are new tensors. Errors: an index out of range; another device. */
export function callOnTensors(
  program: WasmProgram,
  inputs: readonly (Tensor | DeviceValue)[],
): Tensor[] {
  const [entry] = program.metadata.entries as [EntryInfo];
  const results = entry.outputs.map(
    ({ dtype, shape }) => new DeviceValue(hostDTypes[dtype], shape, wasmDevice),
  );
  const values = inputs.map((each) =>
    (each instanceof DeviceValue ? each : DeviceValue.of(each, wasmDevice)).on(wasmDevice),
  );
  entry.inputs.forEach((input, at) => {
    if (input.ranges) checkIndices(input, wasmDevice.view(values[at]!));
  });
  program.run(values, results);
  return results.map((each) => new Tensor(each, each.shape, each.dtype));
}
