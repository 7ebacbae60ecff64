/** The backend-independent flags of TensorFlow.js. */
import { nodeProcess } from '../../base/node.js';
import { beginDebugging } from './debugging.js';
import { isBrowser } from './device_util.js';

const agent = () => (globalThis.navigator as { userAgent?: string } | undefined)?.userAgent ?? '';
const vendor = () => (globalThis.navigator as { vendor?: string } | undefined)?.vendor ?? '';
const isChrome = () => isBrowser() && /Chrome/.test(agent()) && /Google Inc/.test(vendor());
const isSafari = () => isBrowser() && /Safari/.test(agent()) && /Apple/.test(vendor());

export type FlagValue = number | boolean | string;
export type Flags = Record<string, FlagValue>;
/** Evaluates a flag on first access. */
export type Evaluate = () => FlagValue | Promise<FlagValue>;
/** Called with each value that is set. */
export type Hook = (value: FlagValue) => void;

/** Where flags are registered and read. */
export interface FlagRegistry {
  registerFlag(name: string, evaluate: Evaluate, hook?: Hook): void;
  get(name: string): FlagValue;
  getBool(name: string): boolean;
}

/** Registers them. */
export function registerFlags(flags: FlagRegistry): void {
  flags.registerFlag(
    'DEBUG',
    () => false,
    (on) => {
      if (on !== true) return;
      console.warn(
        'Debugging mode is ON. Each operation runs alone and its result is looked through.',
      );
      beginDebugging(() => flags.getBool('DEBUG'));
    },
  );
  flags.registerFlag('IS_BROWSER', isBrowser);
  flags.registerFlag('IS_NODE', () => nodeProcess !== undefined);
  flags.registerFlag('WASM_HAS_SIMD_SUPPORT', () => flags.get('SIMD'));
  flags.registerFlag('WASM_HAS_MULTITHREAD_SUPPORT', () => flags.get('THREADS'));
  flags.registerFlag('IS_CHROME', isChrome);
  flags.registerFlag('IS_SAFARI', isSafari);
  flags.registerFlag('PROD', () => false);
  flags.registerFlag('TENSORLIKE_CHECK_SHAPE_CONSISTENCY', () => flags.getBool('DEBUG'));
  flags.registerFlag('DEPRECATION_WARNINGS_ENABLED', () => true);
  flags.registerFlag('IS_TEST', () => false);
  flags.registerFlag('CHECK_COMPUTATION_FOR_ERRORS', () => flags.getBool('DEBUG'));
  flags.registerFlag('WRAP_TO_IMAGEBITMAP', () => false);
  flags.registerFlag('CANVAS2D_WILL_READ_FREQUENTLY_FOR_GPU', () => false);
  flags.registerFlag('USE_SETTIMEOUTCUSTOM', () => false);
}
