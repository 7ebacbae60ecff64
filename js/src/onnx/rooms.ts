/**
 * Models that are called with ever other lengths of a text: programs for more than there is, which are told how much counts, so
 * that many lengths share one.
 */
import { LatheError } from '../base/errors.js';
import type { DType } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import type { OnnxDescription, OnnxSize, Port } from './file.js';
import { resized } from './values.js';

/** A call of a program with room. */
export interface Roomy {
  ports: Port[];
  count: number;
  /** The size that is not that of the call. */
  name: string;
}

/** The model cannot be written down with room. */
export class NoRoom extends LatheError {}

/** For how many there is one program: 16, 32, 48, 64, then four for each power of two. */
export function roomFor(count: number): number {
  const step = Math.max(16, 2 ** Math.floor(Math.log2(count - 1)) / 4);
  return Math.ceil(count / step) * step;
}

export class Rooms {
  readonly #inputs: OnnxDescription['inputs'];
  /** What sizes with names have been, but for those of a batch. */
  readonly #seen = new Map<string, Set<number>>();
  readonly #works = new Set<string>();
  readonly #refusedOnce = new Set<string>();
  /** Names, and ports. */
  readonly #refused = new Set<string>();
  #first: string | undefined;

  /** `only`: the one size that may have room. */
  constructor({ inputs }: OnnxDescription, only?: OnnxSize) {
    this.#inputs = inputs;
    const all = inputs.flatMap(({ shape }) => [...(shape ?? []).entries()]);
    const batches = new Set(all.flatMap(([axis, size]) => (axis === 0 ? [size] : [])));
    for (const [, size] of all) {
      const isOpen = typeof size === 'string' && !batches.has(size);
      if (isOpen && (only === undefined || size === only)) this.#seen.set(size, new Set());
    }
  }

  /** What a program with room for this call is compiled for; nothing: one for just these shapes is better, or the only one. */
  of(ports: readonly Port[]): Roomy | undefined {
    if (this.#seen.size === 0) return undefined;
    const shapes = JSON.stringify(ports);
    this.#first ??= shapes;
    for (const [name, seen] of this.#seen) {
      const size = this.#sizeOf(name, ports);
      if (size !== undefined) seen.add(size);
    }
    if (shapes === this.#first) return undefined;
    const open = [...this.#seen].filter(([name, { size }]) => size > 1 && !this.#refused.has(name));
    const [name] = open.sort((a, b) => b[1].size - a[1].size)[0] ?? [];
    const count = name === undefined ? undefined : this.#sizeOf(name, ports);
    if (count === undefined) return undefined;
    const roomy = { ports: this.#with(name!, roomFor(count), ports), count, name: name! };
    return this.#refused.has(JSON.stringify(roomy.ports)) ? undefined : roomy;
  }

  /** It has been compiled. */
  accept({ name }: Roomy): void {
    this.#works.add(name);
  }

  /** It has not: no room can be left, or not as much. */
  refuse({ name, ports }: Roomy): void {
    // A first room may happen to be another size of the model.
    const isFirst = !this.#refusedOnce.has(name);
    this.#refusedOnce.add(name);
    this.#refused.add(isFirst || this.#works.has(name) ? JSON.stringify(ports) : name);
  }

  /** Nothing where it is not one number above 1 (axes of 1 are broadcast) wherever there is something, or an input is no tensor of numbers. */
  #sizeOf(name: string, ports: readonly Port[]): number | undefined {
    const sizes = new Set<number>();
    for (const [at, { shape }] of this.#inputs.entries()) {
      const port = ports[at];
      if (port?.kind !== 'tensor' || port.type === 'string') return undefined;
      for (const [axis, size] of (shape ?? []).entries()) {
        if (size === name && port.shape[axis] !== 0) sizes.add(port.shape[axis] ?? 0);
      }
    }
    const [size = 0] = sizes;
    return sizes.size === 1 && size > 1 ? size : undefined;
  }

  #with(name: string, room: number, ports: readonly Port[]): Port[] {
    return ports.map((port, at) => {
      if (port?.kind !== 'tensor') return port;
      const axes = (this.#inputs[at]!.shape ?? []).flatMap((size, axis) =>
        size === name && port.shape[axis] !== 0 ? [axis] : [],
      );
      if (axes.length === 0) return port;
      const shape = port.shape.map((size, axis) => (axes.includes(axis) ? room : size));
      return { ...port, shape, counted: axes };
    });
  }
}

export const hasRoom = (ports: readonly Port[]): boolean =>
  ports.some((each) => each?.kind === 'tensor' && each.counted !== undefined);

/** What such a program is run with: the tensors of a call, zeros behind what counts. */
export function withRoom(
  { ports, count }: Roomy,
  tensors: readonly Tensor[],
): Record<string, Tensor> {
  const inputs = tensors.map((each, at): [string, Tensor] => {
    const { shape } = ports[at] as { shape: readonly number[] };
    const data = resized(each.dataSync<DType>(), each.shape, shape);
    return [`i${at}`, new Tensor(data, shape, each.dtype)];
  });
  return { ...Object.fromEntries(inputs), count: new Tensor(Int32Array.of(count), [], 'int32') };
}
