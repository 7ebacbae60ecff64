/** The device of tensors: chosen for operations that follow, and of single tensors. */
import { checkOptions, type OptionNames } from '../base/options.js';
import { loadDevice } from '../devices/registry.js';
import type { DeviceName, DeviceOptions } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import type { Rank } from '../tensor/ranks.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { engine, moveTo } from './engine.js';

declare module '../tensor/tensor.js' {
  interface Tensor<R extends Rank = any> {
    /**
     * Moves the elements from another device to 'wasm' or 'webgpu'; resolves to the tensor itself. Those in JavaScript memory move to
     * the device of the first operation. Errors: an unknown device; it is not available, with the reason.
     */
    to(device: DeviceName): Promise<this>;
  }
}

const optionNames: OptionNames<DeviceOptions> = { device: true, powerPreference: true };

/** The name of the device on which operations on tensors are computed: 'wasm' by default. */
export const getDevice = (): DeviceName => engine.device.name;

/**
 * Sets the device, 'wasm' or 'webgpu', of operations on tensors that follow. Tensors stay where they are: `await x.to(device)` moves
 * one, in `tensorlathe/tfjs` operations do. Errors: an unknown device; it is not available, with the reason; a gradient or a
 * function is being recorded.
 *
 * Options of 'webgpu': a GPUDevice of the program's own, or which GPU it prefers.
 *
 *     await tl.setDevice('webgpu', { powerPreference: 'high-performance' });
 *     await tl.setDevice('webgpu', { device: await adapter.requestDevice() });
 *
 * They apply to the GPU that is acquired next: at the first call, or after a loss. Errors: an unknown option; another GPUDevice is in
 * use; 'wasm' has none.
 */
export async function setDevice(device: DeviceName, options?: DeviceOptions): Promise<void> {
  if (options !== undefined) checkOptions('setDevice', options, optionNames);
  engine.use(await loadDevice(device, options));
}

/** Adds `to` to tensors. */
export function installTo(): void {
  Tensor.prototype.to = async function to<T extends Tensor>(this: T, name: DeviceName): Promise<T> {
    const device = await loadDevice(name);
    await this.data();
    const data = this[elements];
    if (data instanceof DeviceValue && data.device !== device) moveTo(device, this, data);
    return this;
  };
}
