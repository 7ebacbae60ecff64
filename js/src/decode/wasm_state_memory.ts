/** States of decoders in modules of WebAssembly: each has a copy, and the newest is copied before a run. */
import { elementCount } from '../base/shape.js';
import type { CoreGraph } from '../core/handles.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { cropOrPad, sliceAlong, withSize } from '../tensor/parts.js';
import { Tensor } from '../tensor/tensor.js';
import { ModuleFunction, type InternalOptions } from '../trace/module_function.js';
import { SharedVariables } from '../trace/shared_variables.js';
import type { TracedVariable } from '../trace/trace.js';
import { isOnHost } from './device_tensor.js';
import { type ChunkProgram, type StateMemory, stateName, type StateSpec } from './state_memory.js';

export class WasmStateMemory implements StateMemory {
  readonly device = undefined;
  readonly checksLimits = true;
  readonly isLost = false;
  #shared = new SharedVariables();
  /** Programs through any of which states are read and set. */
  readonly #programs = new Set<ModuleFunction>();

  constructor(
    private readonly specs: readonly StateSpec[],
    private readonly assigned: number,
    private readonly options: InternalOptions,
  ) {}

  compile(graph: CoreGraph): ChunkProgram {
    const variables = new Map(
      this.specs.map(({ dtype, shape }, at): [string, TracedVariable] => {
        const initial = new Tensor(new arrayTypes[dtype](elementCount(shape)), shape, dtype);
        return [stateName(at), { dtype, shape, initial } as unknown as TracedVariable];
      }),
    );
    const assigned = new Set([...variables.keys()].slice(0, this.assigned));
    const traced = { graph, variables, assigned };
    // A run may follow a failed one without a rollback: it writes its new rows before it reads them and changes no earlier
    // rows, and states that it replaces are loaded again.
    const options = { ...this.options, isRepeatable: true };
    const program = new ModuleFunction(() => traced, {}, this.#shared, options);
    this.#programs.add(program);
    return {
      run: (inputs) => program.runAsync(inputs),
      dispose: () => {
        this.#programs.delete(program);
        program.dispose();
      },
    };
  }

  copy(index: number): Tensor {
    return this.#program.variable(stateName(index));
  }

  part(index: number, rows: number, copy = this.copy(index)): Tensor {
    const { dtype, shape, axis } = this.specs[index]!;
    const data = copy.dataSync<DType>();
    if (axis === undefined) return new Tensor(data, shape, dtype);
    return new Tensor(sliceAlong(data, shape, axis, 0, rows), withSize(shape, axis, rows), dtype);
  }

  accepts(tensor: Tensor): boolean {
    return isOnHost(tensor);
  }

  fill(index: number, tensor: Tensor): void {
    const { dtype, shape } = this.specs[index]!;
    const all = cropOrPad(tensor.dataSync<DType>(), tensor.shape, shape);
    this.#program.setVariable(stateName(index), new Tensor(all, shape, dtype));
  }

  dispose(): void {
    for (const each of this.#programs) each.dispose();
    this.#programs.clear();
    // Live snapshots refer to this object, and have copies: they need not keep the memory of programs alive.
    this.#shared = new SharedVariables();
  }

  get #program(): ModuleFunction {
    const [program] = this.#programs;
    return program!;
  }
}
