/** What the engine can do, probed once, and switches to do without. */
import { LatheError } from './errors.js';

/** Names of the features; spelled as TensorFlow.js spells flags. */
export type FeatureName = 'SIMD' | 'RELAXED_SIMD' | 'THREADS' | 'CROSS_ORIGIN_ISOLATED';

const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
];
const relaxedSimdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
];

function probe(): Record<FeatureName, boolean> {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  const inBrowser = typeof document !== 'undefined' || isolated !== undefined;
  return {
    SIMD: WebAssembly.validate(new Uint8Array(simdProbe)),
    RELAXED_SIMD: WebAssembly.validate(new Uint8Array(relaxedSimdProbe)),
    THREADS: typeof SharedArrayBuffer !== 'undefined' && (!inBrowser || isolated === true),
    CROSS_ORIGIN_ISOLATED: isolated === true,
  };
}

/** The features of this engine as the compiler sees them. */
export class Environment {
  #found: Record<FeatureName, boolean> | undefined;
  #forced: Partial<Record<FeatureName, boolean>> = {};

  /** Every feature: what was probed, or what `set` said. */
  get features(): Record<FeatureName, boolean> {
    this.#found ??= probe();
    return { ...this.#found, ...this.#forced };
  }

  /** One feature. */
  get(name: FeatureName): boolean {
    this.#check(name);
    return this.features[name];
  }

  /**
   * Forces a feature for the models compiled after it. Turning one on that the engine lacks makes
   * the generated modules invalid there.
   */
  set(name: FeatureName, value: boolean): void {
    this.#check(name);
    if (typeof value !== 'boolean') throw new LatheError(`${name} must be true or false`);
    this.#forced[name] = value;
  }

  /** Forgets everything `set` said. */
  reset(): void {
    this.#forced = {};
  }

  #check(name: string): void {
    if (!(name in this.features)) {
      const known = Object.keys(this.features).join(', ');
      throw new LatheError(`unknown feature "${name}"; known: ${known}`);
    }
  }
}

const environment = new Environment();

/** The one Environment of the page. */
export function env(): Environment {
  return environment;
}
