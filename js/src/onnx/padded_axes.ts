/**
 * Dynamic axes (such as sequence lengths) that are padded to buckets: a program is compiled per bucket and receives the valid
 * length, so that many lengths share one.
 */
import type { DType } from '../tensor/dtypes.js';
import { Tensor } from '../tensor/tensor.js';
import type { OnnxDescription, OnnxSize, Port } from './file.js';
import { paddedSize } from '../decode/buckets.js';
import { cropOrPad } from '../tensor/parts.js';

/** A call of a program with a padded axis. */
export interface PaddedCall {
  ports: Port[];
  /** Valid length. */
  count: number;
  /** Name of the padded dimension. */
  name: string;
}

export class PaddedAxes {
  readonly #inputs: OnnxDescription['inputs'];
  /** Observed sizes of named dimensions other than the batch. */
  readonly #seen = new Map<string, Set<number>>();
  readonly #accepted = new Set<string>();
  readonly #rejectedOnce = new Set<string>();
  /** Names of dimensions, or JSON of ports. */
  readonly #rejected = new Set<string>();
  #first: string | undefined;

  constructor({ inputs }: OnnxDescription) {
    this.#inputs = inputs;
    const all = inputs.flatMap(({ shape }) => [...(shape ?? []).entries()]);
    const batches = new Set(all.flatMap(([axis, size]) => (axis === 0 ? [size] : [])));
    for (const [, size] of all) {
      const isOpen = typeof size === 'string' && !batches.has(size);
      if (isOpen) this.#seen.set(size, new Set());
    }
  }

  /** From now on only this dimension may be padded, or none. */
  restrictTo(name: OnnxSize): void {
    for (const each of this.#seen.keys()) if (each !== name) this.#seen.delete(each);
  }

  /** The padded call for these ports; undefined if exact shapes are preferable or padding is not supported. */
  paddedCall(ports: readonly Port[]): PaddedCall | undefined {
    if (this.#seen.size === 0) return undefined;
    const shapes = JSON.stringify(ports);
    this.#first ??= shapes;
    for (const [name, seen] of this.#seen) {
      const size = this.#sizeOf(name, ports);
      if (size !== undefined) seen.add(size);
    }
    if (shapes === this.#first) return undefined;
    const open = [...this.#seen].filter(
      ([name, { size }]) => size > 1 && !this.#rejected.has(name),
    );
    const [name] = open.sort((a, b) => b[1].size - a[1].size)[0] ?? [];
    const count = name === undefined ? undefined : this.#sizeOf(name, ports);
    if (count === undefined) return undefined;
    const padded = { ports: this.#padPorts(name!, paddedSize(count), ports), count, name: name! };
    return this.#rejected.has(JSON.stringify(padded.ports)) ? undefined : padded;
  }

  /** Records that the padded program was compiled. */
  accept({ name }: PaddedCall): void {
    this.#accepted.add(name);
  }

  /** Records that it could not be compiled: the dimension, or this bucket, is not padded any more. */
  reject({ name, ports }: PaddedCall): void {
    // The first bucket may coincide with another size of the model.
    const isFirst = !this.#rejectedOnce.has(name);
    this.#rejectedOnce.add(name);
    this.#rejected.add(isFirst || this.#accepted.has(name) ? JSON.stringify(ports) : name);
  }

  /** The size of a named dimension; undefined if inputs disagree, it is 1 (broadcast), or an input is no numeric tensor. */
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

  #padPorts(name: string, bucket: number, ports: readonly Port[]): Port[] {
    return ports.map((port, at) => {
      if (port?.kind !== 'tensor') return port;
      const axes = (this.#inputs[at]!.shape ?? []).flatMap((size, axis) =>
        size === name && port.shape[axis] !== 0 ? [axis] : [],
      );
      if (axes.length === 0) return port;
      const shape = port.shape.map((size, axis) => (axes.includes(axis) ? bucket : size));
      return { ...port, shape, paddedAxes: axes };
    });
  }
}

export const hasPadding = (ports: readonly Port[]): boolean =>
  ports.some((each) => each?.kind === 'tensor' && each.paddedAxes !== undefined);

/** The inputs of a padded program: the tensors of a call, padded with zeros, and the valid length `count`. */
export function padInputs(
  { ports, count }: PaddedCall,
  tensors: readonly Tensor[],
): Record<string, Tensor> {
  const inputs = tensors.map((each, at): [string, Tensor] => {
    const { shape } = ports[at] as { shape: readonly number[] };
    const data = cropOrPad(each.dataSync<DType>(), each.shape, shape);
    return [`i${at}`, new Tensor(data, shape, each.dtype)];
  });
  return { ...Object.fromEntries(inputs), count: new Tensor(Int32Array.of(count), [], 'int32') };
}
