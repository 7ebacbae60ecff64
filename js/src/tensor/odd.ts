/** Tensors of texts and of complex numbers: the core has no such types, so JavaScript holds them. */
import type { DataArray } from './convert.js';
import type { DType } from './dtypes.js';
import { tracked } from './scopes.js';
import { elements, type PendingData, Tensor } from './tensor.js';

/** What the `dtype` of a tensor may say at run time. */
export type AnyDType = DType | 'complex64' | 'string';

/** Elements that several tensors show. */
abstract class OddData implements PendingData {
  #tensors = 1;

  abstract now(): DataArray;

  get later(): Promise<DataArray> {
    return Promise.resolve(this.now());
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

/** Texts, row-major. */
export class TextData extends OddData {
  constructor(readonly texts: readonly string[]) {
    super();
  }

  now(): DataArray {
    return this.texts.slice() as unknown as DataArray;
  }
}

/** Complex numbers. Their parts are tensors that `tidy` and `memory` do not know of; `drop` lets their elements go. */
export class ComplexData extends OddData {
  constructor(
    readonly real: Tensor,
    readonly imag: Tensor,
    protected override readonly drop: () => void,
  ) {
    super();
  }

  /** Real and imaginary parts, one behind the other. */
  now(): DataArray {
    const [real, imag] = [this.real.dataSync(), this.imag.dataSync()];
    const both = new Float32Array(2 * real.length);
    real.forEach((each, at) => {
      both[2 * at] = each;
      both[2 * at + 1] = imag[at]!;
    });
    return both;
  }
}

/** The texts of a tensor, if that is what it holds. */
export const textsOf = (x: Tensor): readonly string[] | undefined => {
  if ((x.dtype as AnyDType) !== 'string') return undefined;
  return (x[elements] as unknown as TextData).texts;
};

/** The parts of a tensor of complex numbers, if that is what it holds. */
export const partsOf = (x: Tensor): ComplexData | undefined =>
  (x.dtype as AnyDType) === 'complex64' ? (x[elements] as unknown as ComplexData) : undefined;

/** Whether it holds texts or complex numbers, which the core does not know. */
export const isOdd = ({ dtype }: { dtype: AnyDType }): boolean =>
  dtype === 'complex64' || dtype === 'string';

/** A tensor of texts. */
export const textTensor = (texts: readonly string[], shape: readonly number[]): Tensor =>
  new Tensor(new TextData(texts), [...shape], 'string' as DType)[tracked]();
