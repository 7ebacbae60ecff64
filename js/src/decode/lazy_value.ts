/** Outputs that callers pass back without having read them. */
import type { DataArray } from '../tensor/convert.js';

/** An output whose elements are computed on demand. Passed back as an input without having been read, it is recognized. */
export class LazyTensorValue {
  readonly kind = 'tensor';
  #pristine: DataArray | undefined;
  #exposed: DataArray | undefined;
  readonly #make: () => DataArray;
  /** Identity of the elements, shared by aliases. */
  readonly origin: object;
  /** Index of the output that it is of a call without states. */
  readonly output: number | undefined;

  constructor(
    readonly type: string,
    readonly shape: readonly number[],
    make: () => DataArray,
    { origin, output }: { origin?: object; output?: number } = {},
  ) {
    this.#make = make;
    this.origin = origin ?? this;
    this.output = output;
  }

  /** The same elements as another output. */
  alias(): LazyTensorValue {
    const { type, shape, origin } = this;
    return new LazyTensorValue(type, shape, () => this.#untouched(), { origin });
  }

  get data(): DataArray {
    return this.#exposed ?? this.#untouched();
  }

  get isRead(): boolean {
    return this.#exposed !== undefined;
  }

  /** The elements for the caller: a copy, as aliases may exist. */
  read(): DataArray {
    return (this.#exposed ??= this.#untouched().slice());
  }

  #untouched(): DataArray {
    return (this.#pristine ??= this.#make());
  }
}
