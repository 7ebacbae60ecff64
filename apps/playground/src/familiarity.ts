// How far an example is from the data that a network has learned from: probabilities alone do not show it.
import { type DataSet, isImage, isPlane, type Part, sizeOf } from './data/data_set';

/** Training and validation examples that are compared; more would take longer and change little. */
const maxTrain = 2000;
const maxTest = 150;
/** The share of validation examples that counts as familiar. */
const familiarShare = 0.97;

/** An image as a smaller, blurred one of length 1, so that the position of a stroke matters little; other features as they are. */
function embed(example: Float32Array, shape: readonly number[]): Float32Array {
  if (shape.length !== 3) return example;
  const [height, width, channels] = shape as [number, number, number];
  const [rows, columns] = [Math.ceil(height / 2), Math.ceil(width / 2)];
  const small = new Float32Array(rows * columns);
  for (let at = 0; at < example.length; ++at) {
    const pixel = Math.floor(at / channels);
    const [y, x] = [Math.floor(pixel / width), pixel % width];
    small[(y >> 1) * columns + (x >> 1)]! += example[at]!;
  }
  const blurred = small.map((_, at) => {
    const [y, x] = [Math.floor(at / columns), at % columns];
    let sum = 0;
    for (let row = Math.max(0, y - 1); row <= Math.min(rows - 1, y + 1); ++row)
      for (let column = Math.max(0, x - 1); column <= Math.min(columns - 1, x + 1); ++column)
        sum += small[row * columns + column]! * (row === y ? 2 : 1) * (column === x ? 2 : 1);
    return sum;
  });
  const length = Math.hypot(...blurred) || 1;
  return blurred.map((value) => value / length);
}

export class Familiarity {
  readonly #shape: readonly number[];
  readonly #known: Float32Array[];
  readonly #limit: number;

  constructor({ shape, train, test }: DataSet) {
    this.#shape = shape;
    this.#known = this.#examples(train, maxTrain);
    const distances = this.#examples(test, maxTest).map((each) => this.#distance(each));
    distances.sort((a, b) => a - b);
    this.#limit = distances[Math.floor(familiarShare * (distances.length - 1))] ?? Infinity;
  }

  #examples({ features, count }: Part, most: number): Float32Array[] {
    const size = sizeOf(this.#shape);
    return Array.from({ length: Math.min(most, count) }, (_, at) =>
      embed(features.subarray(at * size, (at + 1) * size), this.#shape),
    );
  }

  /** The squared distance to the nearest training example. */
  #distance(embedded: Float32Array): number {
    let least = Infinity;
    for (const each of this.#known) {
      let sum = 0;
      for (let at = 0; at < each.length && sum < least; ++at) {
        sum += (each[at]! - embedded[at]!) ** 2;
      }
      least = Math.min(least, sum);
    }
    return least;
  }

  /** Whether the example is as near to the training data as most validation examples are. */
  has(example: Float32Array): boolean {
    return this.#distance(embed(example, this.#shape)) <= this.#limit;
  }
}

let of: DataSet | undefined;
let last: Familiarity | undefined;

/** The measure for these data, which is made on first use. */
export function familiarityOf(data: DataSet): Familiarity {
  if (of !== data || last === undefined) [of, last] = [data, new Familiarity(data)];
  return last;
}

/** How many equally likely classes are as uncertain as these probabilities: e to the power of their entropy. */
export const perplexity = (probabilities: readonly number[]) =>
  Math.exp(-probabilities.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0));

export function unfamiliarText(data: DataSet): string {
  const what = isImage(data) ? 'images' : isPlane(data) ? 'points' : 'rows';
  return `Not sure: unlike all ${what} it learned from`;
}
