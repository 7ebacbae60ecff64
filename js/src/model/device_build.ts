/** A model that is compiled for a device. Loaded with the first device other than the default. */
import { type BufferInfo, byteLength, type CompileRequest } from '../core/abi.js';
import type { CoreModel } from '../core/handles.js';
import type { CompileStats } from '../runtime/build.js';
import type { Device, Program } from '../runtime/device.js';
import type { States } from '../runtime/states.js';
import { DeviceModule } from '../train/device_module.js';

export class DeviceBuild {
  readonly runner: DeviceModule;
  readonly stats: CompileStats;
  readonly #program: Program;

  /** Compiles; `fill` initializes the states, with the contents that `initial` has. After an error nothing is allocated. */
  constructor(
    model: CoreModel,
    request: CompileRequest,
    device: Device,
    fill: (states: States, initial: (states: readonly BufferInfo[]) => Uint8Array[]) => void,
  ) {
    const start = performance.now();
    const { graph, entries, ...notes } = model.graph(request);
    try {
      this.#program = device.compile(graph, { entries });
    } finally {
      graph.free();
    }
    const compiled = performance.now();
    const source = model.states(request);
    const sampled = source.metadata();
    const variables = new Map(sampled.states.map((each) => [each.name, each]));
    const states = this.#program.ports.states.map((port) => {
      const { trainable = false } = variables.get(port.name) ?? {};
      return { ...port, shape: [...port.shape], offset: 0, trainable };
    });
    this.runner = new DeviceModule(device, { ...notes, states }, this.#program);
    try {
      fill(this.runner.states, (fresh) => {
        const found = fresh.flatMap(({ name }) => variables.get(name) ?? []);
        const values = source.initial(sampled, found);
        return fresh.map((info) => {
          const at = found.indexOf(variables.get(info.name)!);
          return at < 0 ? new Uint8Array(byteLength(info)) : values[at]!;
        });
      });
    } catch (error) {
      this.dispose();
      throw error;
    } finally {
      source.free();
    }
    this.stats = {
      ...this.#program.stats,
      compileMs: compiled - start,
      instantiateMs: performance.now() - compiled,
    };
  }

  get states(): States {
    return this.runner.states;
  }

  get bytes(): number {
    return this.stats.memoryBytes;
  }

  dispose(): void {
    this.runner.dispose();
    this.#program.dispose();
  }
}
