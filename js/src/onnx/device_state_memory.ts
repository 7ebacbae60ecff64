/** States of decoders on a device: a storage for each, which the programs of all chunks use in place. */
import { elementCount } from '../base/shape.js';
import type { CoreGraph } from '../core/handles.js';
import {
  type ChunkProgram,
  type StateMemory,
  stateName,
  type StateSpec,
} from '../decode/state_memory.js';
import { DeviceValue } from '../runtime/device_value.js';
import { cropOrPad, withSize } from '../tensor/parts.js';
import { type DType } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import { zeros } from '../tensor/convert.js';
import { type DevicePrograms, refusable } from './device_programs.js';
import { remoteValue } from './values.js';

export class DeviceStateMemory implements StateMemory {
  readonly device: string;
  readonly checksLimits = false;
  readonly #values: readonly DeviceValue[];
  readonly #programs = new Set<ChunkProgram>();

  /** Error: `Refusal`, where the device has no memory for them. */
  constructor(
    private readonly specs: readonly StateSpec[],
    private readonly programs: DevicePrograms,
  ) {
    const { device } = programs;
    this.device = device.name;
    const made: DeviceValue[] = [];
    this.#values = made;
    try {
      refusable(() => {
        for (const { dtype, shape } of specs) {
          const value = new DeviceValue(dtype, shape, device);
          made.push(value);
          value.write(zeros(dtype, value.size));
        }
      });
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  get isLost(): boolean {
    const { device, placement } = this.programs;
    const isLost = (each: DeviceValue) => device.isLost?.(each.materialize()) === true;
    return placement.reason !== undefined || this.#values.some(isLost);
  }

  /** Error: `Refusal`. */
  compile(graph: CoreGraph): ChunkProgram {
    const { programs } = this;
    const states = new Map(
      this.#values.map((each, at) => [stateName(at), each.materialize()] as const),
    );
    try {
      const program = refusable(() => programs.device.compile(graph, { states }));
      const chunk: ChunkProgram = {
        run: async (inputs) => programs.run(program, inputs),
        dispose: () => {
          if (this.#programs.delete(chunk)) program.dispose();
        },
      };
      this.#programs.add(chunk);
      return chunk;
    } finally {
      graph.free();
    }
  }

  copy(index: number): Tensor {
    const { shape } = this.specs[index]!;
    return this.#copied(this.#values[index]!, shape);
  }

  part(index: number, rows: number, copy?: Tensor): Tensor {
    const { shape, axis } = this.specs[index]!;
    const from = copy === undefined ? this.#values[index]! : remoteValue(copy)!;
    return this.#copied(from, axis === undefined ? shape : withSize(shape, axis, rows));
  }

  accepts(tensor: Tensor): boolean {
    const value = remoteValue(tensor);
    return value === undefined || value.device === this.programs.device;
  }

  fill(index: number, tensor: Tensor): void {
    const target = this.#values[index]!;
    const value = remoteValue(tensor);
    // What the host has survives a loss of the device.
    const isHere = value?.device === target.device && value.hostCopy === undefined;
    const { shape, dtype } = this.specs[index]!;
    if (!isHere) return void target.write(cropOrPad(tensor.dataSync<DType>(), tensor.shape, shape));
    if (value.size < target.size) target.write(zeros(dtype, target.size));
    copyOverlap(value, target);
  }

  dispose(): void {
    for (const each of this.#programs) each.dispose();
    for (const each of this.#values) each.free();
  }

  /** The elements of a value in a new tensor, which along one axis may be shorter. */
  #copied(from: DeviceValue, shape: readonly number[]): Tensor {
    const value = new DeviceValue(from.dtype, shape, from.device).allocate();
    copyOverlap(from, value);
    return new Tensor(value, shape, value.dtype);
  }
}

/** Copies elements between values of a device whose shapes differ along one axis at most: those that both have. */
function copyOverlap(from: DeviceValue, to: DeviceValue): void {
  const axis = Math.max(
    0,
    from.shape.findIndex((size, k) => size !== to.shape[k]),
  );
  const outer = elementCount(from.shape.slice(0, axis));
  const [source, target] = [from.materialize(), to.materialize()];
  const [step, next] = [from.size / outer, to.size / outer];
  const count = Math.min(step, next);
  for (let k = 0; k < outer && count > 0; k++)
    from.device.copy(from.dtype, source, k * step, target, k * next, count);
}
