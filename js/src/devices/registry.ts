/** Devices by name, loaded on first use. */
import { causedBy, LatheError, reasonOf } from '../base/errors.js';
import type { Device, DeviceOptions } from '../runtime/device.js';
import { wasmDevice } from '../runtime/wasm/device.js';

interface Entry {
  readonly load: (options?: DeviceOptions) => Promise<Device>;
  device?: Device;
  loading?: Promise<Device> | undefined;
}

/** The device of engines unless a program chooses another. */
export const defaultDevice: Device = wasmDevice;

const entries = /* @__PURE__ */ new Map<string, Entry>([
  [defaultDevice.name, { load: async () => defaultDevice, device: defaultDevice }],
  [
    'webgpu',
    {
      load: async (options) =>
        (await import('../runtime/webgpu/load_webgpu.js')).loadWebGpu(options),
    },
  ],
]);

/** What is loaded with the first device other than the default. */
export const companions = /* @__PURE__ */ new Set<() => Promise<unknown>>();

/** Adds a device, or another loader of its name, which is called on first use. */
export function registerDevice(name: string, load: () => Promise<Device>): void {
  entries.set(name, { load });
}

/** Devices in use. */
export const loadedDevices = (): Device[] =>
  [...entries.values()].flatMap(({ device }) => device ?? []);

/** Whether there is a device of this name, available or not. */
export const isDeviceName = (name: string): boolean => entries.has(name);

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
  `unknown device "${name}"; known: ${[...entries.keys()].join(', ')}`;

/**
 * The device of a name. Errors: an unknown name; it is not available, with the reason; options of a device that has none, or is in use
 * with others.
 */
export async function loadDevice(name: string, options?: DeviceOptions): Promise<Device> {
  const entry = entries.get(name);
  if (entry === undefined) {
    throw new LatheError(unknownDevice(name));
  }
  const isFirst = entry.loading === undefined;
  try {
    if (entry.device === undefined) await Promise.all([...companions].map((load) => load()));
    entry.device = await (entry.loading ??= entry.load(options));
  } catch (cause) {
    // The next request tries again.
    entry.loading = undefined;
    throw new LatheError(`device "${name}" is not available: ${reasonOf(cause)}`, causedBy(cause));
  }
  const { device } = entry;
  if (options !== undefined && device.configure === undefined) {
    throw new LatheError(`device "${name}" has no options`);
  }
  if (options !== undefined && !isFirst) device.configure!(options);
  return device;
}
