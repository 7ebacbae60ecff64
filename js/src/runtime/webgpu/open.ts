/** Opens the device `webgpu`, with its compiler. */
import { loadWebGpuCompiler } from '../../core/webgpu_compiler.js';
import type { GpuOptions } from './acquire.js';
import { WebGpuDevice } from './device.js';

/** A device with a GPU. Errors: there is none, with the reason; the compiler cannot be fetched. */
export async function openWebGpu(options?: GpuOptions): Promise<WebGpuDevice> {
  const device = new WebGpuDevice(options, await loadWebGpuCompiler());
  await device.ready();
  return device;
}
