/** Loads ONNX models that run on tensors, for a device. */
import type { Device } from '../runtime/device.js';
import { onDevice } from './device_session.js';
import { OnnxModel } from './model.js';
import { type OpenOptions, openSession } from './open.js';
import type { LoadModelOptions, ModelSource } from './options.js';

/** As `tl.loadModel`. */
export async function open(
  source: ModelSource,
  { sizes, device, ...options }: OpenOptions & OnDevice,
): Promise<OnnxModel> {
  const session = await openSession(source, { ...options, ...onDevice(device, options) });
  try {
    return new OnnxModel(session, sizes);
  } catch (error) {
    session.dispose();
    throw error;
  }
}

/** Options of `open` in addition to those of `openSession`. */
interface OnDevice extends Pick<LoadModelOptions, 'sizes' | 'strict'> {
  device: Device;
}
