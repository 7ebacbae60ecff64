/** Resizes images to a random width at each call: for tensors only, since models are compiled for one width. */
import { LatheError } from '../../base/errors.js';
import { randomSeed, uniform } from '../../base/random.js';
import { CustomLayer } from '../../layers/custom_layer.js';
import type { LayerArgs } from '../../layers/base_args.js';
import { resizeBilinear, resizeNearestNeighbor } from '../../ops/images/images.js';
import { Tensor } from '../../tensor/tensor.js';

/** Options of `layers.randomWidth`. */
export interface RandomWidthArgs extends LayerArgs {
  /** [lower, upper]: widths from 1 + lower to 1 + upper times the width; one number f: [-f, f]. */
  factor: number | readonly [number, number];
  /** Default: bilinear. */
  interpolation?: 'bilinear' | 'nearest';
  /** A seed makes the sequence of widths reproducible; they are not those of TensorFlow.js. */
  seed?: number;
}

const methods = { bilinear: resizeBilinear, nearest: resizeNearestNeighbor };

/** The layer of `layers.randomWidth`; it resizes in training and inference, as in TensorFlow.js. */
export class RandomWidth extends CustomLayer {
  static override className = 'RandomWidth';
  readonly #args: RandomWidthArgs;
  readonly #random: () => number;
  readonly #range: readonly [number, number];

  /** Errors: an invalid factor or interpolation. */
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
    // The message of TensorFlow.js, which has no other methods either.
    if (!Object.hasOwn(methods, interpolation)) {
      throw new LatheError(`Invalid interpolation parameter: ${interpolation} is not implemented`);
    }
    this.#args = args;
    this.#random = uniform(seed, 0);
    this.#range = [low!, high!];
  }

  /** Images [height, width, channels], with or without a leading batch axis. Error: not a tensor. */
  override apply(inputs: unknown): any {
    const [x] = [inputs].flat();
    if (x instanceof Tensor) return this.#stretched(x);
    throw new LatheError(
      `layer "${this.label}" (RandomWidth): every call has another width, and models are compiled for one; ` +
        'resize images in the dataset, by apply of tensors',
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
