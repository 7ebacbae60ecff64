/** Runs a model that is compiled for a device on batches of rows. */
import { LatheError } from '../base/errors.js';
import type { Device, Program, ProgramEntry, ProgramPort } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { DeviceLostError } from '../base/device_errors.js';
import type { StateMetadata } from '../runtime/states.js';
import { type DataArray, type NumberArray, zeros } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { elementCount } from '../base/shape.js';
import { BatchLoader } from './batch_loader.js';
import { DeviceStates } from './device_states.js';
import { copyExamples, type Examples, type Rows } from './examples.js';
import type { ModelRunner } from './model_runner.js';
import { checkNumbers, watches } from './numerics.js';
import { type Score, scoreOf } from './score.js';

export class DeviceModule implements ModelRunner {
  readonly states: DeviceStates;
  readonly #entries: ReadonlyMap<string, DeviceEntry>;

  constructor(
    device: Device,
    metadata: StateMetadata,
    private readonly program: Program,
  ) {
    this.states = new DeviceStates(device, metadata, program);
    this.#entries = new Map(
      program.entries.map((each, at) => [each.name, new DeviceEntry(device, program, each, at)]),
    );
  }

  batch(name: 'train' | 'evaluate'): number {
    return this.#entry(name).batch;
  }

  score(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score {
    const entry = this.#entry(name);
    const outputs = this.#run(entry, data, from, count, order);
    try {
      return this.#scoreOf(
        entry,
        outputs.map((each) => each.readSync()),
        count,
      );
    } finally {
      outputs.forEach((each) => each.free());
    }
  }

  async scoreAsync(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Promise<Score> {
    const { states } = this;
    const entry = this.#entry(name);
    const isWatched = watches(states.metadata);
    if (isWatched) await states.synced();
    const before = isWatched ? states.states() : undefined;
    // After a loss of the device the program would continue with older states.
    const { restored } = this.program;
    const canContinue = states.areCopied;
    const outputs = this.#run(entry, data, from, count, order);
    let results: DataArray[];
    try {
      results = await Promise.all(outputs.map((each) => each.readAsync()));
      if (this.program.restored !== restored && !canContinue) {
        throw new DeviceLostError(
          'the GPU was lost; the weights are those that were copied last, by fit, save or reading them',
        );
      }
    } catch (error) {
      // Inputs that stay on the device between runs are lost with it.
      entry.loader.forget();
      throw error;
    } finally {
      outputs.forEach((each) => each.free());
    }
    if (before !== undefined) {
      await states.synced();
      const rows = Array.from({ length: count }, (_, at) => order?.[from + at] ?? from + at);
      try {
        checkNumbers(states, name, entry.named(results), data, rows);
      } catch (error) {
        states.setStates(before);
        throw error;
      }
    }
    return this.#scoreOf(entry, results, count);
  }

  step(data: Examples): Promise<Score> {
    return this.scoreAsync('train', copyExamples(data), 0, data.count);
  }

  /** Results are values of the device. */
  predict(x: Examples): { output(name: string): DeviceValue } {
    const entry = (x.count === 1 && this.#entries.get('predict_1')) || this.#entry('predict');
    const { device } = this.states;
    const results = new Map<string, DeviceValue>();
    for (let from = 0; from < x.count; from += entry.batch) {
      const count = Math.min(entry.batch, x.count - from);
      const outputs = this.#run(entry, x, from, count);
      entry.info.outputs.forEach(({ name, dtype, shape }, at) => {
        const output = outputs[at]!;
        if (count === x.count && count === entry.batch) {
          results.set(name, output);
          return;
        }
        const width = elementCount(shape.slice(1));
        const rows = [x.count, ...shape.slice(1)];
        const result = results.get(name) ?? new DeviceValue(hostDTypes[dtype], rows, device);
        results.set(name, result.allocate());
        const [source, target] = [output.materialize(), result.materialize()];
        device.copy(result.dtype, source, 0, target, from * width, count * width);
        output.free();
      });
    }
    return { output: (name) => results.get(name)! };
  }

  /** Frees inputs. */
  dispose(): void {
    for (const each of this.#entries.values()) each.dispose();
  }

  #run(
    entry: DeviceEntry,
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): DeviceValue[] {
    const outputs = entry.run(data, from, count, order);
    const isTraining = entry.info.name === 'train';
    this.states.changed((name) => isTraining || name.startsWith('states/'));
    return outputs;
  }

  #scoreOf(entry: DeviceEntry, results: readonly DataArray[], count: number): Score {
    return scoreOf({ outputs: entry.named(results) }, count, this.states.metadata);
  }

  #entry(name: string): DeviceEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new LatheError(`the module has no entry ${name}`);
    return entry;
  }
}

/** An entry with its inputs, on the host and on the device. */
class DeviceEntry {
  readonly inputs: ReadonlyMap<string, NumberArray>;
  readonly loader: BatchLoader<DeviceEntry>;
  readonly #values: readonly DeviceValue[];

  constructor(
    private readonly device: Device,
    private readonly program: Program,
    readonly info: ProgramEntry,
    private readonly index: number,
  ) {
    this.inputs = new Map(
      info.inputs.map(({ name, dtype, shape }) => {
        return [name, zeros(hostDTypes[dtype], elementCount(shape)) as NumberArray];
      }),
    );
    this.#values = info.inputs.map((port) => this.#value(port));
    this.loader = new BatchLoader<DeviceEntry>(this);
  }

  get batch(): number {
    return this.loader.batch;
  }

  /** Starts a run; returns its outputs. */
  run(data: Examples, from: number, count: number, order?: Uint32Array): DeviceValue[] {
    this.loader.load(data, from, count, order);
    this.info.inputs.forEach(({ name }, at) => {
      if (this.loader.changed.has(name)) this.#values[at]!.write(this.inputs.get(name)!);
    });
    this.loader.changed.clear();
    const outputs = this.info.outputs.map((port) => this.#value(port));
    this.program.run(this.#values, outputs, this.index);
    return outputs;
  }

  /** Copies rows that are on the device to an input. */
  copyRows(name: string, { value, width }: Rows, from: number, count: number): void {
    const at = this.info.inputs.findIndex((each) => each.name === name);
    const input = this.#values[at]!.allocate();
    const [source, target] = [value!.materialize(), input.materialize()];
    this.device.copy(input.dtype, source, from * width, target, 0, count * width);
  }

  /** Outputs by name. */
  named(results: readonly DataArray[]): ReadonlyMap<string, NumberArray> {
    const { outputs } = this.info;
    return new Map(outputs.map(({ name }, at) => [name, results[at] as NumberArray]));
  }

  dispose(): void {
    for (const each of this.#values) each.free();
  }

  #value({ dtype, shape }: ProgramPort): DeviceValue {
    return new DeviceValue(hostDTypes[dtype], shape, this.device);
  }
}
