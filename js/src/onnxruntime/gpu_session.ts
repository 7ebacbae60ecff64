/** Sessions with the execution provider webgpu. Loaded with the first of them. */
import { onDevice } from '../onnx/device_session.js';
import { DeviceTensor, shareOf } from '../decode/device_tensor.js';
import type { WebGpuDevice } from '../runtime/webgpu/device.js';
import {
  checkTarget,
  type Feeds,
  fetch,
  type Fetched,
  type OnnxValue,
  type Outputs,
  Session,
  type SessionMaker,
} from './base_session.js';
import { warn } from './env.js';
import { copyTo, type GpuFlags, inputOf, openGpu, outputOf, stateOf, uploaded } from './gpu.js';
import { type Elements, type ImportedModel, importModel, type Value } from './importer.js';
import type { SessionOptions } from './options.js';
import type { Tensor } from './tensor.js';

/** Makes sessions on the GPU. Error: there is none. */
export async function onGpu(flags: GpuFlags): Promise<SessionMaker> {
  const device = await openGpu(flags);
  return async (source, importer, { logSeverityLevel = 2, preferredOutputLocation }) => {
    const isQuiet = logSeverityLevel > 2;
    const placed = onDevice(device, { warn: isQuiet ? () => {} : warn });
    const model = await importModel(source, { ...importer, ...placed });
    return new GpuSession(model, device, preferredOutputLocation);
  };
}

/** The GPUDevice of sessions. */
export const gpuDevice = async (flags: GpuFlags): Promise<GPUDevice | undefined> =>
  (await openGpu(flags)).gpuDevice;

class GpuSession extends Session {
  /** Copies of the inputs of the call that starts. */
  #copies: DeviceTensor[] = [];

  constructor(
    model: ImportedModel,
    private readonly device: WebGpuDevice,
    private readonly locations: SessionOptions['preferredOutputLocation'],
  ) {
    super(model);
  }

  override async run(feeds: Feeds, second?: unknown, third?: unknown): Promise<Feeds> {
    const copies: DeviceTensor[] = [];
    this.#copies = copies;
    try {
      return await super.run(feeds, second, third);
    } finally {
      for (const each of copies) each.tensor.dispose();
    }
  }

  protected override onGpu(tensor: Tensor): Elements {
    const { type, dims } = tensor;
    const { value, isOwned } = inputOf(this.device, tensor);
    if (!(value instanceof DeviceTensor)) return { type, dims, data: [], lazy: value };
    if (isOwned) this.#copies.push(value);
    return { type, dims, data: [], remote: value };
  }

  protected override async collect(outputs: Outputs, fetched: Fetched): Promise<Feeds> {
    for (const [name, value] of Object.entries(outputs)) {
      if (fetched.has(name)) continue;
      if (isTensor(value)) value.lazy?.release();
      for (const each of remoteIn(value)) each.tensor.dispose();
    }
    const collected = Array.from(fetched, async ([name, target]) => {
      return [name, await this.#collectOne(name, outputs[name]!, target)] as const;
    });
    return Object.fromEntries(await Promise.all(collected));
  }

  /** An output on the GPU if the caller prefers that, otherwise in memory. */
  async #collectOne(name: string, value: Value, target: OnnxValue | null): Promise<OnnxValue> {
    const { locations } = this;
    const preferred = typeof locations === 'object' ? locations[name] : locations;
    const isPreferred = (target?.location ?? preferred) === 'gpu-buffer';
    if (isTensor(value) && value.lazy?.device !== undefined) {
      const { type, lazy } = value;
      // States of decoders stay in the program until they are read.
      if (target === null && isPreferred) return stateOf(this.device, lazy);
      if (!isPreferred) {
        await lazy.tensor!.data();
        return fetch(name, value, target);
      }
      checkTarget(name, value, target!);
      await copyTo(new DeviceTensor(type, shareOf(lazy.tensor!)), target!);
      lazy.release();
      return target!;
    }
    if (isPreferred && isTensor(value)) {
      const { type, dims } = value;
      if (target !== null) checkTarget(name, value, target);
      if (value.lazy !== undefined && target === null) return fetch(name, value, null);
      const remote = value.remote ?? uploaded(this.device, type, value.data, dims);
      if (target === null) return outputOf(remote);
      await copyTo(remote, target);
      return target;
    }
    const remote = remoteIn(value);
    try {
      await Promise.all(remote.map((each) => each.tensor.data()));
      return fetch(name, value, target);
    } finally {
      for (const each of remote) each.tensor.dispose();
    }
  }
}

const isTensor = (value: Value): value is Elements =>
  value !== null && !Array.isArray(value) && !(value instanceof Map);

/** The tensors on the GPU in an output. */
function remoteIn(value: Value): DeviceTensor[] {
  if (Array.isArray(value)) return value.flatMap(remoteIn);
  return isTensor(value) && value.remote !== undefined ? [value.remote] : [];
}
