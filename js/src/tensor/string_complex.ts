/** Tensors of strings and of complex numbers, types that the core does not have: their elements are on the host. */
import type { DataArray } from './convert.js';
import type { DType } from './dtypes.js';
import { tracked } from './live_tensors.js';
import { elements, type PendingData, Tensor } from './tensor.js';

/** The possible values of the `dtype` of a tensor at run time. */
export type AnyDType = DType | 'complex64' | 'string';

/** Elements on the host that several tensors share. */
abstract class HostData implements PendingData {
  #tensors = 1;

  abstract readSync(): DataArray;

  readAsync(): Promise<DataArray> {
    return Promise.resolve(this.readSync());
  }

  share(): void {
    this.#tensors += 1;
  }

  free(): boolean {
    this.#tensors -= 1;
    if (this.#tensors === 0) this.drop();
    return this.#tensors === 0;
  }

  protected drop(): void {}
}

/** Strings, row-major. */
export class StringData extends HostData {
  constructor(readonly strings: readonly string[]) {
    super();
  }

  readSync(): DataArray {
    return this.strings.slice() as unknown as DataArray;
  }
}

/** Complex numbers. Their components are tensors untracked by `tidy` and `memory`; `drop` releases their elements. */
export class ComplexData extends HostData {
  constructor(
    readonly real: Tensor,
    readonly imag: Tensor,
    protected override readonly drop: () => void,
  ) {
    super();
  }

  /** Real and imaginary parts, interleaved. */
  readSync(): DataArray {
    const [real, imag] = [this.real.dataSync(), this.imag.dataSync()];
    const both = new Float32Array(2 * real.length);
    real.forEach((each, at) => {
      both[2 * at] = each;
      both[2 * at + 1] = imag[at]!;
    });
    return both;
  }

  override async readAsync(): Promise<DataArray> {
    await Promise.all([this.real.data(), this.imag.data()]);
    return this.readSync();
  }
}

/** The elements of a string tensor; undefined for other tensors. */
export const stringsOf = (x: Tensor): readonly string[] | undefined => {
  if ((x.dtype as AnyDType) !== 'string') return undefined;
  return (x[elements] as unknown as StringData).strings;
};

/** The components of a complex tensor; undefined for other tensors. */
export const partsOf = (x: Tensor): ComplexData | undefined =>
  (x.dtype as AnyDType) === 'complex64' ? (x[elements] as unknown as ComplexData) : undefined;

/** Whether it is a dtype that the core does not have. */
export const isStringOrComplex = ({ dtype }: { dtype: AnyDType }): boolean =>
  dtype === 'complex64' || dtype === 'string';

/** A string tensor. */
export const stringTensor = (strings: readonly string[], shape: readonly number[]): Tensor =>
  new Tensor(new StringData(strings), [...shape], 'string' as DType)[tracked]();
