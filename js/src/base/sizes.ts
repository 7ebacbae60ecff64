/** Shapes with symbolic sizes, and inference of the sizes from data. Independent of tensors. */
import { LatheError } from './errors.js';
import { elementCount } from './shape.js';

/** A size of an axis, or the name of one. */
export type Size = number | string;

/** The sizes of names. */
export type Sizes = ReadonlyMap<string, number>;

/** Data for a shape with names: the sizes of its axes, or only the number of elements. */
export interface SizedData {
  name: string;
  shape: readonly Size[];
  actual: readonly number[] | number;
}

/** The names in shapes, in their order. */
export function namesIn(shapes: readonly (readonly Size[])[]): string[] {
  return [...new Set(shapes.flat().filter((size) => typeof size === 'string'))];
}

/** Substitutes sizes for the names in a shape. */
export function substituteSizes(shape: readonly Size[], sizes: Sizes): number[] {
  return shape.map((size) => (typeof size === 'number' ? size : sizes.get(size)!));
}

/** "rows = 3, cols = 4". */
export function formatSizes(sizes: Sizes): string {
  return [...sizes].map(([name, size]) => `${name} = ${size}`).join(', ');
}

/**
 * Infers the sizes of names, from shapes first, then from numbers of elements. Errors: an axis of another
 * size than declared, a name with two sizes, an ambiguous number of elements.
 */
export function sizesOf(data: readonly SizedData[]): Sizes {
  const reader = new SizeReader();
  const unshaped = data.filter(({ actual }) => typeof actual === 'number');
  for (const each of data) if (typeof each.actual !== 'number') reader.readShape(each, each.actual);
  while (unshaped.length > 0) {
    const at = unshaped.findIndex(({ shape }) => reader.unknown(shape).length <= 1);
    if (at < 0) throw reader.ambiguous(unshaped[0]!);
    reader.readCount(unshaped.splice(at, 1)[0]!);
  }
  return reader.sizes;
}

class SizeReader {
  readonly sizes = new Map<string, number>();
  /** The data that determined a size. */
  readonly #sources = new Map<string, string>();

  unknown(shape: readonly Size[]): string[] {
    return namesIn([shape]).filter((name) => !this.sizes.has(name));
  }

  readShape(data: SizedData, actual: readonly number[]): void {
    const { shape, name } = data;
    if (actual.length !== shape.length) throw this.#mismatch(data);
    for (const [axis, size] of shape.entries()) {
      const found = actual[axis]!;
      const expected = typeof size === 'number' ? size : this.sizes.get(size);
      if (typeof size === 'string' && expected === undefined) this.#learn(name, size, found);
      else if (expected !== found) {
        const source = this.#sources.get(size as string);
        if (source === undefined || source === name) throw this.#mismatch(data);
        throw new LatheError(`${source} has ${size} ${expected}, ${name} has ${size} ${found}`);
      }
    }
  }

  /** No more than one name may be undetermined. */
  readCount(data: SizedData): void {
    const { name, shape, actual } = data;
    const [unknown] = this.unknown(shape);
    const product = elementCount(
      substituteSizes(
        shape.filter((size) => size !== unknown),
        this.sizes,
      ),
    );
    if (unknown !== undefined) {
      if (product === 0) throw this.ambiguous(data);
      const times = shape.filter((size) => size === unknown).length;
      const size = Math.round(((actual as number) / product) ** (1 / times));
      this.#learn(name, unknown, size);
    }
    if (elementCount(substituteSizes(shape, this.sizes)) === actual) return;
    this.sizes.delete(unknown!);
    throw this.#mismatch(data);
  }

  ambiguous({ name, shape, actual }: SizedData): LatheError {
    const names = this.unknown(shape).join(' and ');
    return new LatheError(
      `input ${name}: ${String(actual)} values do not determine ${names} of shape [${shape.join(',')}]; ` +
        'pass a tl.tensor with a shape',
    );
  }

  #learn(source: string, name: string, size: number): void {
    this.sizes.set(name, size);
    this.#sources.set(name, source);
  }

  #mismatch({ name, shape, actual }: SizedData): LatheError {
    const got = typeof actual === 'number' ? `${actual} values` : `[${actual.join(',')}]`;
    const determined = [...this.sizes].filter(
      ([size]) => shape.includes(size) && this.#sources.get(size) !== name,
    );
    const where = determined.length === 0 ? '' : ` with ${formatSizes(new Map(determined))}`;
    return new LatheError(`input ${name}: expects shape [${shape.join(',')}]${where}, got ${got}`);
  }
}
