/** Shapes whose sizes may be names, and what the data at hand say the names stand for. Knows no tensors. */
import { LatheError } from './errors.js';
import { elementCount } from './shape.js';

/** A size of an axis, or the name of one. */
export type Size = number | string;

/** What names stand for. */
export type Sizes = ReadonlyMap<string, number>;

/** Data for a shape with names: the sizes of its axes, or only how many elements there are. */
export interface SizedData {
  name: string;
  shape: readonly Size[];
  given: readonly number[] | number;
}

/** The names in shapes, in their order. */
export function namesIn(shapes: readonly (readonly Size[])[]): string[] {
  return [...new Set(shapes.flat().filter((size) => typeof size === 'string'))];
}

/** The shape with sizes for its names. */
export function sized(shape: readonly Size[], sizes: Sizes): number[] {
  return shape.map((size) => (typeof size === 'number' ? size : sizes.get(size)!));
}

/** "rows = 3, cols = 4". */
export function spelledSizes(sizes: Sizes): string {
  return [...sizes].map(([name, size]) => `${name} = ${size}`).join(', ');
}

/**
 * What the names stand for; those of data without a shape where their number says so. Errors: an axis of another
 * size than declared, a name that would stand for two sizes, a number of elements that leaves several possible.
 */
export function sizesOf(data: readonly SizedData[]): Sizes {
  const reader = new SizeReader();
  const unshaped = data.filter(({ given }) => typeof given === 'number');
  for (const each of data) if (typeof each.given !== 'number') reader.readShape(each, each.given);
  while (unshaped.length > 0) {
    const at = unshaped.findIndex(({ shape }) => reader.unknown(shape).length <= 1);
    if (at < 0) throw reader.ambiguous(unshaped[0]!);
    reader.readCount(unshaped.splice(at, 1)[0]!);
  }
  return reader.sizes;
}

class SizeReader {
  readonly sizes = new Map<string, number>();
  /** Which data said it. */
  readonly #sources = new Map<string, string>();

  unknown(shape: readonly Size[]): string[] {
    return namesIn([shape]).filter((name) => !this.sizes.has(name));
  }

  readShape(data: SizedData, given: readonly number[]): void {
    const { shape, name } = data;
    if (given.length !== shape.length) throw this.#wants(data);
    for (const [axis, size] of shape.entries()) {
      const found = given[axis]!;
      const wanted = typeof size === 'number' ? size : this.sizes.get(size);
      if (typeof size === 'string' && wanted === undefined) this.#learn(name, size, found);
      else if (wanted !== found) {
        const source = this.#sources.get(size as string);
        if (source === undefined || source === name) throw this.#wants(data);
        throw new LatheError(`${source} has ${size} ${wanted}, ${name} has ${size} ${found}`);
      }
    }
  }

  /** There is one name at most whose size is not known. */
  readCount(data: SizedData): void {
    const { name, shape, given } = data;
    const [unknown] = this.unknown(shape);
    const known = elementCount(
      sized(
        shape.filter((size) => size !== unknown),
        this.sizes,
      ),
    );
    if (unknown !== undefined) {
      if (known === 0) throw this.ambiguous(data);
      const times = shape.filter((size) => size === unknown).length;
      const size = Math.round(((given as number) / known) ** (1 / times));
      this.#learn(name, unknown, size);
    }
    if (elementCount(sized(shape, this.sizes)) === given) return;
    this.sizes.delete(unknown!);
    throw this.#wants(data);
  }

  ambiguous({ name, shape, given }: SizedData): LatheError {
    const names = this.unknown(shape).join(' and ');
    return new LatheError(
      `input ${name}: ${String(given)} values do not tell ${names} of shape [${shape.join(',')}]; ` +
        'pass a tl.tensor with a shape',
    );
  }

  #learn(source: string, name: string, size: number): void {
    this.sizes.set(name, size);
    this.#sources.set(name, source);
  }

  #wants({ name, shape, given }: SizedData): LatheError {
    const got = typeof given === 'number' ? `${given} values` : `[${given.join(',')}]`;
    const known = [...this.sizes].filter(
      ([size]) => shape.includes(size) && this.#sources.get(size) !== name,
    );
    const where = known.length === 0 ? '' : ` with ${spelledSizes(new Map(known))}`;
    return new LatheError(`input ${name}: wants shape [${shape.join(',')}]${where}, got ${got}`);
  }
}
