/** Opens the device `webgpu`: the GPU, the compiler of shaders, and the core, which builds graphs. */
import { isCoreLoaded, useCoreModule } from '../../core/core.js';
import { compileCore } from '../../core/core_module.js';
import { loadWebGpuCompiler } from '../../core/webgpu_compiler.js';
import type { DeviceOptions } from '../device.js';
import { WebGpuDevice } from './device.js';
import { bufferAccess } from './interop.js';

/** A device that can be used at once. Errors: there is no GPU, with the reason; a compiler cannot be fetched. */
export async function loadWebGpu(options?: DeviceOptions): Promise<WebGpuDevice> {
  const [compiler] = await Promise.all([loadWebGpuCompiler(), loadCore()]);
  const device = new WebGpuDevice(options, compiler);
  await device.ready();
  device.buffers = bufferAccess(device);
  return device;
}

async function loadCore(): Promise<void> {
  if (isCoreLoaded()) return;
  const module = await compileCore();
  if (!isCoreLoaded()) useCoreModule(module);
}
