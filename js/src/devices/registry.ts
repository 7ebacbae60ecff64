/** Devices by name, loaded on first use. */
import { LatheError, reasonOf } from '../base/errors.js';
import type { Device } from '../runtime/device.js';
import { wasmDevice } from '../runtime/wasm/device.js';

/** Whether a device can be used, and why. */
export interface DeviceReport {
  value: boolean;
  why: string;
}

interface Entry {
  readonly load: () => Promise<Device>;
  device?: Device;
  /** A load in progress. */
  loading?: Promise<Device>;
  /** Why the last load failed. */
  reason?: string;
}

/** The device of engines unless a program chooses another. */
export const defaultDevice: Device = wasmDevice;

const entries = /* @__PURE__ */ new Map<string, Entry>([
  [defaultDevice.name, { load: async () => defaultDevice, device: defaultDevice }],
  ['webgpu', { load: async () => (await import('../runtime/webgpu/open.js')).openWebGpu() }],
]);

/** Adds a device; `load` is called on first use. Error: the name is taken. */
export function registerDevice(name: string, load: () => Promise<Device>): void {
  if (entries.has(name)) throw new LatheError(`a device "${name}" is already registered`);
  entries.set(name, { load });
}

/** The names of all devices. */
export const deviceNames = (): string[] => [...entries.keys()];

/** Devices in use. */
export const loadedDevices = (): Device[] =>
  [...entries.values()].flatMap(({ device }) => device ?? []);

/** The device of a name, at once. Error: it is not loaded. */
export function loadedDevice(name: string): Device {
  const device = entries.get(name)?.device;
  if (device !== undefined) return device;
  throw new LatheError(
    entries.has(name)
      ? `device "${name}" is not loaded yet: await tl.setDevice('${name}') before, or await tensor.to('${name}')`
      : unknownDevice(name),
  );
}

const unknownDevice = (name: string) =>
  `unknown device "${name}"; known: ${deviceNames().join(', ')}`;

/** The device of a name. Errors: an unknown name; it is not available, with the reason. */
export async function loadDevice(name: string): Promise<Device> {
  const entry = entries.get(name);
  if (entry === undefined) {
    throw new LatheError(unknownDevice(name));
  }
  return entry.device ?? (entry.loading ??= load(name, entry));
}

async function load(name: string, entry: Entry): Promise<Device> {
  try {
    return (entry.device = await entry.load());
  } catch (cause) {
    entry.reason = reasonOf(cause);
    throw new LatheError(`device "${name}" is not available: ${entry.reason}`, { cause });
  } finally {
    delete entry.loading;
  }
}

/** Which devices can be used, with the reason. */
export const deviceReport = (): Record<string, DeviceReport> =>
  Object.fromEntries(
    [...entries].map(([name, { device, reason = 'not requested yet' }]) => [
      name,
      { value: device !== undefined, why: device === undefined ? reason : 'it is loaded' },
    ]),
  );
