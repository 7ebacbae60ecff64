/** What the engine can do, probed once, and switches to do without. */
import { LatheError } from './errors.js';

/** Names of the features; spelled as TensorFlow.js spells flags. */
export type FeatureName = 'SIMD' | 'RELAXED_SIMD' | 'THREADS' | 'CROSS_ORIGIN_ISOLATED';

/** A feature as models are compiled for: its value, who decided it, and the reason. */
export interface FeatureReport {
  value: boolean;
  by: 'probe' | 'set';
  why: string;
}

type Found = Omit<FeatureReport, 'by'>;

const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
];
const relaxedSimdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
];

function accepts(probe: readonly number[], what: string): Found {
  const value = WebAssembly.validate(new Uint8Array(probe));
  return { value, why: `the engine ${value ? 'accepts' : 'refuses'} ${what}` };
}

function threads(): Found {
  if (typeof SharedArrayBuffer === 'undefined') {
    return { value: false, why: 'there is no SharedArrayBuffer here' };
  }
  const isolation = isolated();
  if (isBrowser() && !isolation.value) return isolation;
  return { value: true, why: 'memory can be shared' };
}

function isolated(): Found {
  const value = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
  if (!isBrowser()) return { value, why: 'only pages are isolated' };
  if (value) return { value, why: 'the page is cross-origin isolated' };
  const headers = 'Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy';
  return { value, why: `the page is not cross-origin isolated: it came without ${headers}` };
}

function isBrowser(): boolean {
  return typeof document !== 'undefined' || 'crossOriginIsolated' in globalThis;
}

const probes: Record<FeatureName, () => Found> = {
  SIMD: () => accepts(simdProbe, 'SIMD instructions'),
  RELAXED_SIMD: () => accepts(relaxedSimdProbe, 'relaxed SIMD instructions'),
  THREADS: threads,
  CROSS_ORIGIN_ISOLATED: isolated,
};

const names = Object.keys(probes) as FeatureName[];

const byName = <Value>(valueOf: (name: FeatureName) => Value) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<FeatureName, Value>;

/** The features of this engine as the compiler sees them. */
export class Environment {
  #found: Record<FeatureName, Found> | undefined;
  #forced: Partial<Record<FeatureName, boolean>> = {};

  /** Every feature: what was probed, or what `set` said. */
  get features(): Record<FeatureName, boolean> {
    return byName((name) => this.#report(name).value);
  }

  /** Every feature with the reason for its value. */
  report(): Record<FeatureName, FeatureReport> {
    return byName((name) => this.#report(name));
  }

  /** One feature. */
  get(name: FeatureName): boolean {
    this.#check(name);
    return this.#report(name).value;
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

  #report(name: FeatureName): FeatureReport {
    this.#found ??= byName((each) => probes[each]());
    const found = this.#found[name];
    const forced = this.#forced[name];
    if (forced === undefined) return { ...found, by: 'probe' };
    const value = forced ? 'on' : 'off';
    return { value: forced, by: 'set', why: `turned ${value} by env().set; ${found.why}` };
  }

  #check(name: string): void {
    if (!(names as string[]).includes(name)) {
      throw new LatheError(`unknown feature "${name}"; known: ${names.join(', ')}`);
    }
  }
}

const environment = new Environment();

/** The one Environment of the page. */
export function env(): Environment {
  return environment;
}
