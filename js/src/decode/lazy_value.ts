/** Outputs that callers pass back without having read them. */
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import { shareOf } from './device_tensor.js';

/** What a lazy value computes its elements from. */
interface LazySource {
  /** Identity of the elements; default: the value. */
  origin?: object;
  /** Index of the output that it is of a call without states. */
  output?: number;
  /** The device of the elements, if the host does not address them. */
  device?: string | undefined;
  /** Whom the value retains. */
  retained?: { retain(): unknown; release(): void };
}

/**
 * An output whose elements callers may read. Passed back as an input without having been read, it is recognized. Its users, such as
 * its tensor and calls, retain it; what none releases is garbage-collected.
 */
export class LazyTensorValue {
  readonly kind = 'tensor';
  #elements: Tensor | undefined;
  #exposed: DataArray | undefined;
  #users = 1;
  readonly #make: () => Tensor;
  readonly #retained: LazySource['retained'];
  /** Identity of the elements, shared by aliases. */
  readonly origin: object;
  readonly output: number | undefined;
  readonly device: string | undefined;

  /** `make`: its elements, which it owns then. */
  constructor(
    readonly type: string,
    readonly shape: readonly number[],
    make: Tensor | (() => Tensor),
    { origin, output, device, retained }: LazySource = {},
  ) {
    if (typeof make !== 'function') this.#elements = make;
    this.#make = typeof make === 'function' ? make : () => make;
    this.origin = origin ?? this;
    this.output = output;
    this.device = device;
    this.#retained = retained;
    retained?.retain();
  }

  /** The same elements as another output. */
  alias(): LazyTensorValue {
    const { type, shape, origin, device } = this;
    const make = () => shareOf(this.#untouched());
    return new LazyTensorValue(type, shape, make, { origin, device, retained: this });
  }

  retain(): this {
    this.#users += 1;
    return this;
  }

  /** The last user frees the elements. */
  release(): void {
    this.#users -= 1;
    if (this.#users !== 0) return;
    this.#elements?.dispose();
    this.#elements = undefined;
    this.#retained?.release();
  }

  /** Error: the elements can only be awaited. */
  get data(): DataArray {
    return this.#exposed ?? this.#untouched().dataSync<DType>();
  }

  /** The elements, if they are on a device and the caller has not read them, so that it has changed none. */
  get tensor(): Tensor | undefined {
    return this.#exposed === undefined && this.device !== undefined ? this.#untouched() : undefined;
  }

  get isRead(): boolean {
    return this.#exposed !== undefined;
  }

  /** The elements for the caller: a copy, as aliases may exist. Error: they can only be awaited. */
  read(): DataArray {
    return (this.#exposed ??= this.#untouched().dataSync<DType>().slice());
  }

  /** As `read`, of elements on any device. */
  async readAsync(): Promise<DataArray> {
    if (this.#exposed !== undefined) return this.#exposed;
    const data = await this.#untouched().data<DType>();
    return (this.#exposed ??= data.slice());
  }

  #untouched(): Tensor {
    return (this.#elements ??= this.#make());
  }
}
