/**
 * Backends by name. Operations are computed by one engine: 'wasm', 'cpu' and 'lathe' are names of its default device, other devices
 * have their own, 'webgl' is not available. Programs may register custom backends, which they get back from `findBackend`; they compute
 * nothing here.
 */
import { LatheError } from '../../base/errors.js';
import { defaultDevice, isDeviceName, loadDevice } from '../../devices/registry.js';
import { engine } from '../../eager/engine.js';
import { ready as engineReady } from '../../model/ready.js';
import type { Device } from '../../runtime/device.js';
import { memory } from './memory.js';
import { warn } from '../backend/constants.js';
import { time } from './profile.js';

/** A backend; custom backends may lack any other member. */
export interface Backend {
  dispose?(): void;
}
type Factory = () => Backend | Promise<Backend>;

/** The factory of a backend; of several that are ready the one of the highest priority is used. */
export interface Registered {
  factory: Factory;
  priority: number;
}

interface Begun {
  success: boolean | Promise<boolean>;
  isAsync: boolean;
}

/** The interface that TensorFlow.js requires of backends. */
export class KernelBackend implements Backend {
  refCount(_dataId: object): number {
    return this.#missing('refCount');
  }
  incRef(_dataId: object): void {
    this.#missing('incRef');
  }
  timerAvailable(): boolean {
    return true;
  }
  time(_f: () => void): Promise<unknown> {
    return this.#missing('time');
  }
  read(_dataId: object): Promise<unknown> {
    return this.#missing('read');
  }
  readSync(_dataId: object): unknown {
    return this.#missing('readSync');
  }
  numDataIds(): number {
    return this.#missing('numDataIds');
  }
  disposeData(_dataId: object, _force?: boolean): boolean {
    return this.#missing('disposeData');
  }
  write(_values: unknown, _shape: number[], _dtype: string): object {
    return this.#missing('write');
  }
  move(..._all: unknown[]): void {
    this.#missing('move');
  }
  memory(): { unreliable: boolean; reasons?: string[] } {
    return this.#missing('memory');
  }
  floatPrecision(): 16 | 32 {
    return this.#missing('floatPrecision');
  }
  epsilon(): number {
    return this.floatPrecision() === 32 ? 1e-7 : 1e-4;
  }
  dispose(): void {
    this.#missing('dispose');
  }
  #missing(name: string): never {
    throw new LatheError(
      `'${name}' not yet implemented or not found in the registry. This kernel may not be supported by the backend you are using`,
    );
  }
}

class Engine extends KernelBackend {
  constructor(readonly computes: Device) {
    super();
  }
  /** The GPUDevice of the backend webgpu. */
  get device(): unknown {
    return (this.computes as { gpuDevice?: unknown }).gpuDevice;
  }
  override floatPrecision(): 32 {
    return 32;
  }
  override time(f: () => void): Promise<unknown> {
    return time(f);
  }
  override numDataIds(): number {
    return memory().numDataBuffers;
  }
  override memory(): { unreliable: boolean } {
    return memory();
  }
  override dispose(): void {}
}

/** The backend name of this package's engine. */
export const engineName = 'lathe';
const aliases = [engineName, 'wasm', 'cpu'];
/** Whether a backend name is an alias of the engine. */
export const isEngineName = (name: string): boolean => aliases.includes(name) || isDeviceName(name);
const impossible = ['webgl', 'webgpu'];

const registered = /* @__PURE__ */ withEngineNames();
const instances = new Map<string, Backend>();
let current: string | undefined;
let pending: Promise<boolean> | undefined;
/** Incremented on each change, which invalidates pending initializations. */
let turn = 0;

function withEngineNames(): Map<string, Registered> {
  const entry = (at: number) => ({ factory: () => new Engine(defaultDevice), priority: 10 - at });
  return new Map(aliases.map((name, at) => [name, entry(at)]));
}

const isPromise = (x: unknown): x is Promise<Backend> =>
  typeof (x as Promise<Backend> | undefined)?.then === 'function';

function begin(name: string): Begun {
  const { factory } = registered.get(name)!;
  const fail = (error: unknown): false => {
    warn(`Initialization of backend ${name} failed: ${String(error)}`);
    return false;
  };
  try {
    const made = factory();
    if (!isPromise(made)) {
      instances.set(name, made);
      return { success: true, isAsync: false };
    }
    const mine = ++turn;
    pending = made.then(
      (backend) => {
        if (mine !== turn) return false;
        instances.set(name, backend);
        pending = undefined;
        return true;
      },
      (error: unknown) => {
        if (mine !== turn) return false;
        pending = undefined;
        return fail(error);
      },
    );
    return { success: pending, isAsync: true };
  } catch (error) {
    return { success: fail(error), isAsync: false };
  }
}

const byPriority = (): string[] =>
  [...registered].sort(([, a], [, b]) => b.priority - a.priority).map(([name]) => name);

const failed = () =>
  new LatheError('Could not initialize any backends, all backend initializations failed.');

const hint = 'Make sure to await tf.ready() or await tf.setBackend() before calling other methods';

/** The current backend, or the one of highest priority. Error: not ready. */
export function backend(): KernelBackend {
  if (current === undefined) {
    const name = byPriority().find((each) => {
      const { success, isAsync } = instances.has(each)
        ? { success: true, isAsync: false }
        : begin(each);
      if (!isAsync) return success as boolean;
      throw new LatheError(
        `The highest priority backend '${each}' has not yet been initialized. ${hint}`,
      );
    });
    if (name === undefined) throw failed();
    current = name;
  }
  const found = instances.get(current);
  if (found !== undefined) return found as KernelBackend;
  throw new LatheError(`Backend '${current}' has not yet been initialized. ${hint}`);
}

/** The name of the current backend: 'lathe' by default, or that of the device which `setDevice` has set. */
export function getBackend(): string {
  const found = instances.get(current!) as Partial<Engine> | undefined;
  const device = found?.computes ?? engine.device;
  if (current !== undefined && device === engine.device) return current;
  return engine.device === defaultDevice ? engineName : engine.device.name;
}

/**
 * Sets a backend by its name; resolves to false if that fails, as for 'webgl' and for a device that is not available. The reason is a
 * warning, and the previous backend stays. Operations that follow are computed on the device of the backend; a custom backend leaves it as
 * it is. Error: an unregistered name.
 */
export async function setBackend(name: string): Promise<boolean> {
  if (!registered.has(name)) {
    if (isDeviceName(name)) {
      registered.set(name, {
        factory: async () => new Engine(await loadDevice(name)),
        priority: 0,
      });
    } else if (impossible.includes(name)) return false;
    else throw new LatheError(`Backend name '${name}' not found in registry`);
  }
  const previous = current;
  current = name;
  const isReady = instances.has(name) || (await begin(name).success);
  const found = instances.get(name);
  if (current === name && found instanceof Engine) engine.use(found.computes);
  else if (current === name && isEngineName(name)) current = previous;
  return isReady;
}

/** Waits for the compiler and for the backend. */
export async function ready(): Promise<void> {
  await engineReady();
  if (pending !== undefined) await pending;
  if (current !== undefined && instances.has(current)) return;
  for (const name of byPriority()) {
    if (!(instances.has(name) || (await begin(name).success))) continue;
    current = name;
    return;
  }
  throw failed();
}

/** Adds a backend; returns false, with a warning, if the name is already registered. */
export function registerBackend(name: string, factory: Factory, priority = 1): boolean {
  if (registered.has(name)) {
    warn(`${name} backend was already registered. Reusing existing backend factory.`);
    return false;
  }
  registered.set(name, { factory, priority });
  return true;
}

function unset(): void {
  turn += 1;
  pending = undefined;
  current = undefined;
  engine.use(defaultDevice);
}

/** Unregisters and disposes of a backend. Error: an unregistered name. */
export function removeBackend(name: string): void {
  if (!registered.has(name)) throw new LatheError(`${name} backend not found in registry`);
  if (current === name) unset();
  instances.get(name)?.dispose?.();
  instances.delete(name);
  registered.delete(name);
}

/** The backend of this name, or null if none is ready. */
export function findBackend(name: string): Backend | null {
  if (!instances.has(name) && registered.has(name)) begin(name);
  return instances.get(name) ?? null;
}

/** The backends that are ready, by name. */
export const registry = (): Record<string, Backend> => Object.fromEntries(instances);
/** The backend factories, by name. */
export const registryFactory = (): Record<string, Registered> => Object.fromEntries(registered);

/** The factory of the backend of this name, or null. */
export const findBackendFactory = (name: string): Factory | null =>
  registered.get(name)?.factory ?? null;

export const backendNames = (): string[] => [...registered.keys()];

/** Resets the current backend and disposes of all; they are recreated on first use. */
export function resetBackends(): void {
  unset();
  for (const each of instances.values()) each.dispose?.();
  instances.clear();
}
