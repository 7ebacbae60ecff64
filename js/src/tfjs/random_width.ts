/** Pictures of another width at each call: a layer on tensors only, since what models compute is compiled for one width. */
import { LatheError } from '../base/errors.js';
import { randomSeed, uniform } from '../base/random.js';
import { CustomLayer } from '../layers/custom_layer.js';
import type { LayerArgs } from '../layers/layer.js';
import { resizeBilinear, resizeNearestNeighbor } from '../ops/images.js';
import { Tensor } from '../tensor/tensor.js';

/** Options of `layers.randomWidth`. */
export interface RandomWidthArgs extends LayerArgs {
  /** Widths from 1 + the first to 1 + the second times the width; one number: that much less and more. */
  factor: number | readonly [number, number];
  /** Default: bilinear. */
  interpolation?: 'bilinear' | 'nearest';
  /** The same seed gives the same widths, call after call; not those of TensorFlow.js. */
  seed?: number;
}

const methods = { bilinear: resizeBilinear, nearest: resizeNearestNeighbor };

/** The layer that `layers.randomWidth` makes; it stretches whether it trains or not, as in TensorFlow.js. */
export class RandomWidth extends CustomLayer {
  static override className = 'RandomWidth';
  readonly #args: RandomWidthArgs;
  readonly #random: () => number;
  readonly #range: readonly [number, number];

  /** Errors: a factor or an interpolation that there is not. */
  constructor(args: RandomWidthArgs) {
    const { factor, interpolation = 'bilinear', seed = randomSeed(), ...common } = args;
    super(common);
    const isOne = typeof factor === 'number';
    const range: unknown[] = isOne ? [-factor, factor] : [factor].flat();
    const [low, high] = range as [number, number];
    if (range.length !== 2 || !range.every(Number.isFinite) || (isOne && !(high > 0))) {
      throw new LatheError(
        `Invalid factor: ${factor}. Must be positive number or tuple of 2 numbers`,
      );
    }
    if (low < -1 || high < -1) {
      throw new LatheError(`factor must have values larger than -1. Got: ${factor}`);
    }
    if (low > high) {
      throw new LatheError(
        `factor cannot have upper bound less than lower bound. Got upper bound: ${high}. Got lower bound: ${low}`,
      );
    }
    if (!Object.hasOwn(methods, interpolation)) {
      throw new LatheError(`Invalid interpolation parameter: ${interpolation} is not implemented`);
    }
    this.#args = args;
    this.#random = uniform(seed, 0);
    this.#range = [low!, high!];
  }

  /** Pictures [height, width, channels], with or without a batch in front. Error: no tensor. */
  override apply(inputs: unknown): any {
    const [x] = [inputs].flat();
    if (x instanceof Tensor) return this.#stretched(x);
    throw new LatheError(
      `layer "${this.label}" (RandomWidth): every call has another width, and models are compiled for one; ` +
        'stretch pictures in the dataset, by apply of tensors',
    );
  }

  override getConfig(): Record<string, unknown> {
    const { factor, interpolation = 'bilinear', seed } = this.#args;
    return { factor, interpolation, seed, ...super.getConfig() };
  }

  #stretched(x: Tensor): Tensor {
    const [height, width] = x.shape.slice(-3) as [number, number, number];
    const [low, high] = this.#range;
    const factor = 1 + low + this.#random() * (high - low);
    const { interpolation = 'bilinear' } = this.#args;
    return methods[interpolation](x, [height, Math.round(width * factor)]);
  }
}

export const randomWidth = (args: RandomWidthArgs): RandomWidth => new RandomWidth(args);
