/** Runs an ONNX model on a device, or on Wasm with inputs that may be on a device. */
import type { Stop } from '../base/stop.js';
import type { CoreGraph } from '../core/handles.js';
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import { DeviceTensor, shareOf } from '../decode/device_tensor.js';
import { LazyTensorValue } from '../decode/lazy_value.js';
import { DeviceValue } from '../runtime/device_value.js';
import type { MakeStateMemory } from '../decode/state_memory.js';
import type { decodingOf } from './decodable.js';
import type { Device } from '../runtime/device.js';
import type { OpenOptions } from './open.js';
import { DevicePrograms, type PlacementOptions, refusable } from './device_programs.js';
import { DeviceStateMemory } from './device_state_memory.js';
import type { OnnxFile, Port } from './file.js';
import type { Placement } from './options.js';
import type { PaddedCall } from './padded_axes.js';
import { type Program, Refusal } from './program.js';
import { OnnxSession } from './session.js';
import { SharedWeights } from './shared_weights.js';
import { type OnnxValue, remoteValue } from './values.js';

/** Thrown where the host needs elements of values on a device. */
class Unread {
  constructor(readonly values: ReadonlySet<DeviceValue>) {}
}

/** Error: `Unread`, if some are on a device. */
function checkOnHost(tensors: readonly Tensor[]): void {
  const remote = new Set(tensors.flatMap((each) => remoteValue(each) ?? []));
  if (remote.size > 0) throw new Unread(remote);
}

type OnDevice = DeviceTensor | LazyTensorValue;

/** Whether the elements of a value can only be awaited. */
const isOnDevice = (value: OnnxValue): value is OnDevice =>
  value instanceof DeviceTensor ||
  (value instanceof LazyTensorValue && value.device !== undefined && !value.isRead);

/**
 * Values with the elements of those on devices that `isRead` accepts; others are shared. Elements on the host are copied, as the
 * caller may change its arrays meanwhile.
 */
function onHost(
  values: readonly OnnxValue[],
  isRead: (value: OnDevice, at: number) => boolean,
): Promise<OnnxValue[]> {
  return Promise.all(
    values.map(async (each, at): Promise<OnnxValue> => {
      if (each === null) return each;
      if (each.kind !== 'tensor') return { ...each, elements: await onHost(each.elements, isRead) };
      const { kind, type, shape } = each;
      if (isOnDevice(each) && isRead(each, at))
        return { kind, type, shape, data: await each.tensor!.data<DType>() };
      if (each instanceof LazyTensorValue) return each.retain();
      if (each instanceof DeviceTensor) return new DeviceTensor(type, shareOf(each.tensor));
      return { kind, type, shape, data: each.data.slice() };
    }),
  );
}

/** Frees what `onHost` has shared. */
function disposeIn(values: readonly OnnxValue[]): void {
  for (const each of values) {
    if (each instanceof LazyTensorValue) each.release();
    else if (each instanceof DeviceTensor) each.tensor.dispose();
    else if (each !== null && each.kind !== 'tensor') disposeIn(each.elements);
  }
}

/** Options of `openSession` for a device. */
export function onDevice(
  device: Device,
  options: PlacementOptions,
): Pick<OpenOptions, 'makeSession'> {
  const isRemote = device.view === undefined;
  const programs = isRemote ? new DevicePrograms(device, options) : undefined;
  return { makeSession: (...args) => new DeviceSession(...args, programs) };
}

class DeviceSession extends OnnxSession {
  /** `programs`: of the device; undefined: Wasm. Others as of `OnnxSession`. */
  constructor(
    file: OnnxFile,
    threads: number | undefined,
    makeDecoding: typeof decodingOf | undefined,
    private readonly programs: DevicePrograms | undefined,
  ) {
    super(file, threads, makeDecoding);
    this.shared = new SharedWeights(file, threads, programs);
  }

  override get placement(): Placement {
    return this.programs?.placement ?? super.placement;
  }

  protected override get statesOnDevice(): MakeStateMemory | undefined {
    const programs = this.#onDevice;
    return programs && ((specs) => new DeviceStateMemory(specs, programs));
  }

  /** What compiles the model for its device; undefined on Wasm. */
  get #onDevice(): DevicePrograms | undefined {
    return this.programs?.placement.reason === undefined ? this.programs : undefined;
  }

  protected override get keyOfDevice(): string {
    return this.#onDevice === undefined ? '' : 'device ';
  }

  #moveToWasm(reason: string): void {
    if (this.#onDevice === undefined) return;
    this.programs!.moveToWasm(reason);
    this.freePrograms();
    this.shared.dispose();
    this.shared = new SharedWeights(this.onnxFile, this.threads);
  }

  protected override async callCached(
    values: readonly OnnxValue[],
    stop: Stop,
  ): Promise<OnnxValue[]> {
    const { decoding } = this;
    if (!decoding?.isPossible) return this.callExactly(values, stop, false);
    // Decoders read what is no state on the host.
    const isRead = (_: OnDevice, at: number) =>
      this.#onDevice === undefined || !decoding.mayBeState(at);
    const inputs = values.some(isOnDevice) ? await onHost(values, isRead) : values;
    try {
      return await super.callCached(inputs, stop);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#moveToWasm(error.reason);
      return await this.callCached(inputs, stop);
    } finally {
      if (inputs !== values) disposeIn(inputs);
    }
  }

  protected override async callExactly(
    values: readonly OnnxValue[],
    stop: Stop,
    isOnce: boolean,
  ): Promise<OnnxValue[]> {
    try {
      return await super.callExactly(values, stop, isOnce);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      const read = await onHost(values, (each) => error.values.has(remoteValue(each.tensor!)!));
      return this.callExactly(read, stop, isOnce).finally(() => disposeIn(read));
    }
  }

  protected override start(
    ports: readonly Port[],
    tensors: readonly Tensor[],
    isOnce: boolean,
    padded?: PaddedCall,
  ): Promise<OnnxValue[]> | undefined {
    if (padded !== undefined || this.#onDevice === undefined) checkOnHost(tensors);
    const onWasm = (error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      this.#moveToWasm(error.reason);
      return this.start(ports, tensors, isOnce, padded);
    };
    try {
      return super
        .start(ports, tensors, isOnce, padded)
        ?.catch((error) => onWasm(error) ?? Promise.reject(error as Error));
    } catch (error) {
      return onWasm(error);
    }
  }

  protected override read(tensor: Tensor): DataArray {
    checkOnHost([tensor]);
    return super.read(tensor);
  }

  protected override compileGraph(graph: CoreGraph, results: readonly Port[]): Program {
    const device = this.#onDevice;
    if (device === undefined) return super.compileGraph(graph, results);
    try {
      return device.compile(graph, results);
    } finally {
      graph.free();
    }
  }

  protected override compileSegments(
    ports: readonly Port[],
    data: Uint8Array,
    tensors: readonly Tensor[],
  ): Program {
    const device = this.#onDevice?.device;
    if (device === undefined) return super.compileSegments(ports, data, tensors);
    const compile = (graph: CoreGraph) => refusable(() => device.compile(graph));
    const program = super.compileSegments(ports, data, tensors, { device, compile });
    return {
      ...program,
      run(inputs) {
        const all = Object.values(inputs);
        refusable(() =>
          all.forEach((each) => DeviceValue.of(each, device).on(device).materialize()),
        );
        return program.run(inputs);
      },
    };
  }
}
