/** The GPU of sessions with the execution provider webgpu, and their tensors there. Loaded with the first of them. */
import { compileCoreWithOnnx } from '../core/core_onnx_module.js';
import { loadDevice, loadedDevices, registerDevice } from '../devices/registry.js';
import { readyWith } from '../model/ready.js';
import { DeviceValue } from '../runtime/device_value.js';
import type { DataArray } from '../tensor/convert.js';
import { DeviceTensor } from '../decode/device_tensor.js';
import type { LazyTensorValue } from '../decode/lazy_value.js';
import { dtypeOf, remoteValue } from '../onnx/values.js';
import { WebGpuDevice } from '../runtime/webgpu/device.js';
import {
  allocateFromBuffer,
  bufferOfValue,
  copyToBuffer,
  isStoredAlike,
  newBufferOf,
  submitted,
} from '../runtime/webgpu/interop.js';
import { loadWebGpu } from '../runtime/webgpu/load_webgpu.js';
import { Tensor as DataTensor } from '../tensor/tensor.js';
import { Tensor } from './tensor.js';
import type { GpuBufferDataTypes, TensorData } from './tensor_types.js';

/** The settings in `env.webgpu` that have an effect. */
export interface GpuFlags {
  powerPreference?: GPUPowerPreference | undefined;
  adapter?: GPUAdapter | undefined;
}

/**
 * The device, once it is ready; made by the first call with the settings, of which `device` is then its GPUDevice. Errors: there is
 * no GPU; the program has set another GPUDevice than the one in use.
 */
export async function openGpu(flags: GpuFlags): Promise<WebGpuDevice> {
  await readyWith(compileCoreWithOnnx);
  const { powerPreference, adapter } = flags;
  const property = Object.getOwnPropertyDescriptor(flags, 'device');
  const given = property?.value as GPUDevice | undefined;
  const isLoaded = loadedDevices().some(({ name }) => name === 'webgpu');
  if (!isLoaded && (given ?? adapter ?? powerPreference) !== undefined) {
    registerDevice('webgpu', async () => {
      const device = given ?? (await adapter?.requestDevice());
      return loadWebGpu({ device, powerPreference });
    });
  }
  const device = (await loadDevice('webgpu')) as WebGpuDevice;
  if (isLoaded && given !== undefined && given !== device.gpuDevice) {
    throw new Error('env.webgpu.device is another GPUDevice than the one in use');
  }
  Object.defineProperty(flags, 'device', {
    get: async () => device.gpuDevice,
    set() {
      throw new Error('env.webgpu.device must be set before the first session on the GPU');
    },
    configurable: true,
  });
  return device;
}

/** The results that tensors show. */
const results = /* @__PURE__ */ new WeakMap<object, DeviceTensor | LazyTensorValue>();

/** A tensor in a buffer as an input of a session. `isOwned`: it is to be disposed of after the run. */
export function inputOf(
  device: WebGpuDevice,
  tensor: Tensor,
): { value: DeviceTensor | LazyTensorValue; isOwned: boolean } {
  const { type, dims } = tensor;
  const result = results.get(tensor);
  const isSame = result !== undefined && String(result.shape) === String(dims);
  // Unread states have no buffer yet.
  if (
    isSame &&
    (!(result instanceof DeviceTensor) || remoteValue(result.tensor)?.device === device)
  )
    return { value: result, isOwned: false };
  const { gpuBuffer } = tensor;
  const dtype = dtypeOf(type);
  const value = new DeviceValue(dtype, [...dims], device);
  allocateFromBuffer(device, gpuBuffer as GPUBuffer, value, true);
  return {
    value: new DeviceTensor(type, new DataTensor(value, value.shape, dtype)),
    isOwned: true,
  };
}

/** A result as a tensor in a buffer, which owns it; submitted work then sees its elements. */
export async function outputOf(result: DeviceTensor): Promise<Tensor> {
  const { type, tensor } = result;
  const value = remoteValue(tensor)!;
  const gpu = await submitted(value.device as WebGpuDevice, [value]);
  const isAlike = isStoredAlike(value.dtype);
  let made: GPUBuffer | undefined;
  const output = new Tensor({
    location: 'gpu-buffer',
    type: type as GpuBufferDataTypes,
    gpuBuffer: isAlike ? bufferOfValue(gpu, value) : (undefined as never),
    dims: [...result.shape],
    download: async () => (await tensor.data()) as TensorData as never,
    dispose() {
      tensor.dispose();
      made?.destroy();
    },
  });
  if (!isAlike) {
    Object.defineProperty(output, 'gpuBufferData', {
      get: () => (made ??= newBufferOf(gpu, value)),
      set: () => Object.defineProperty(output, 'gpuBufferData', { value: undefined }),
      configurable: true,
    });
  }
  results.set(output, result);
  return output;
}

/** A state of a decoder as a tensor in a buffer, which is made when the program asks for it. */
export function stateOf(device: WebGpuDevice, state: LazyTensorValue): Tensor {
  const { type, shape } = state;
  let made: GPUBuffer | undefined;
  const output = new Tensor({
    location: 'gpu-buffer',
    type: type as GpuBufferDataTypes,
    gpuBuffer: undefined as never,
    dims: [...shape],
    download: async () => (await state.readAsync()) as TensorData as never,
    dispose() {
      state.release();
      made?.destroy();
    },
  });
  Object.defineProperty(output, 'gpuBufferData', {
    get() {
      const { tensor } = state;
      if (tensor === undefined) return undefined;
      // The program may write it.
      results.set(output, new DeviceTensor(type, tensor));
      const value = remoteValue(tensor)!;
      const gpu = device.flush();
      return isStoredAlike(value.dtype)
        ? bufferOfValue(gpu, value)
        : (made ??= newBufferOf(gpu, value));
    },
    set: () => Object.defineProperty(output, 'gpuBufferData', { value: undefined }),
    configurable: true,
  });
  results.set(output, state);
  return output;
}

/** Copies a result to the buffer of a tensor, and frees it. */
export async function copyTo(result: DeviceTensor, target: Tensor): Promise<void> {
  const value = remoteValue(result.tensor)!;
  const gpu = await submitted(value.device as WebGpuDevice, [value]);
  copyToBuffer(gpu, value, target.gpuBuffer as GPUBuffer);
  result.tensor.dispose();
}

/** Elements in memory as a result on the device. */
export function uploaded(
  device: WebGpuDevice,
  type: string,
  data: TensorData,
  shape: readonly number[],
): DeviceTensor {
  const dtype = dtypeOf(type);
  const value = new DeviceValue(dtype, shape, device).write(data as DataArray);
  return new DeviceTensor(type, new DataTensor(value, shape, dtype));
}
