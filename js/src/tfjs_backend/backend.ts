/** A TensorFlow.js backend on Tensorlathe tensors: kernels are lazy, and computed when TensorFlow.js reads. */
import { LatheError } from '../base/errors.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import { elementsOnHost } from '../runtime/device_value.js';
import { memory as ourMemory } from '../devices/memory.js';
import type { DataArray } from '../tensor/convert.js';
import type { Tensor } from '../tensor/tensor.js';
import { complex, reshape, tensor } from '../ops/index.js';
import { tidy } from '../tensor/scopes.js';

const entry = /* @__PURE__ */ Symbol('entry');

interface BackendEntry {
  tensor: Tensor;
  owners: number;
}

/** The key of a tensor's data in TensorFlow.js, an opaque object. */
export interface DataId {
  [entry]?: BackendEntry | undefined;
}
/** Inputs and outputs of kernels. */
export interface TensorInfo {
  dataId: DataId;
  shape: number[];
  dtype: Tensor['dtype'];
}
/** Elements in the format of TensorFlow.js: strings as UTF-8, complex numbers interleaved. */
export type Values = DataArray | number[] | Uint8Array[];

/** The engine of TensorFlow.js: which backend has the data of a tensor, and how it moves to another. */
export interface DataMover {
  readonly state: { readonly tensorInfo: { get(id: DataId): { backend: unknown } | undefined } };
  /** Calls `move` of the backend. */
  moveData(backend: unknown, id: DataId): void;
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, axis) => size === b[axis]);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const text = (value: Uint8Array | string): string =>
  typeof value === 'string' ? value : decoder.decode(value);

const encoded = (data: DataArray | string[]): Values =>
  Array.isArray(data) ? data.map((each) => encoder.encode(each)) : data;

/** A tensor from elements in the format of TensorFlow.js. */
function decoded(values: Values, shape: number[], dtype: Tensor['dtype']): Tensor {
  if ((dtype as string) === 'string') {
    return tensor((values as Uint8Array[]).map(text) as unknown as DataArray, shape, dtype);
  }
  if ((dtype as string) !== 'complex64') return tensor(values as DataArray, [...shape], dtype);
  const part = (first: number) =>
    tensor(
      (values as Float32Array).filter((_, at) => at % 2 === first),
      shape,
    );
  return tidy(() => complex(part(0), part(1)));
}

/** The methods that TensorFlow.js calls; `kernels.ts` has its kernels. */
export class LatheBackend {
  readonly #mover: DataMover;
  #count = 0;

  constructor(mover: DataMover) {
    this.#mover = mover;
  }

  /** Stores elements under a new id. */
  write(values: Values | null | undefined, shape: number[], dtype: Tensor['dtype']): DataId {
    const id: DataId = {};
    this.move(id, values, shape, dtype, 1);
    return id;
  }

  /** Stores elements of another backend under their id. */
  move(
    id: DataId,
    values: Values | null | undefined,
    shape: number[],
    dtype: Tensor['dtype'],
    owners: number,
  ): void {
    const size = shape.reduce((product, each) => product * each, 1);
    this.#store(id, decoded(values ?? new Float32Array(size), shape, dtype), owners);
  }

  /** Registers a result tensor, which the backend then owns. */
  adopt(result: Tensor): TensorInfo {
    const dataId: DataId = {};
    this.#store(dataId, result, 1);
    return { dataId, shape: [...result.shape], dtype: result.dtype };
  }

  /** The tensor of a kernel's input, in the shape of the tensor info. */
  tensorOf({ dataId, shape }: TensorInfo): Tensor {
    const found = this.#of(dataId).tensor;
    return sameShape(found.shape, shape) ? found : reshape(found, shape);
  }

  /** The value of a scalar of this dtype, if it is in JavaScript memory. */
  hostScalar({ dataId, shape, dtype }: TensorInfo, expected: Tensor['dtype']): number | undefined {
    if (dtype !== expected || shape.length > 0) return undefined;
    return elementsOnHost(this.#of(dataId).tensor)?.[0] as number | undefined;
  }

  async read(id: DataId): Promise<Values> {
    return encoded(await this.#of(id).tensor.data());
  }
  readSync(id: DataId): Values {
    return encoded(this.#of(id).tensor.dataSync());
  }
  refCount(id: DataId): number {
    return id[entry]?.owners ?? 0;
  }
  incRef(id: DataId): void {
    this.#of(id).owners += 1;
  }
  decRef(id: DataId): void {
    const found = id[entry];
    if (found !== undefined) found.owners -= 1;
  }

  /** Releases one reference; returns whether the data was freed, as it is with the last one. */
  disposeData(id: DataId, force = false): boolean {
    const found = id[entry];
    if (found === undefined) return true;
    found.owners -= 1;
    if (!force && found.owners > 0) return false;
    id[entry] = undefined;
    this.#count -= 1;
    found.tensor.dispose();
    return true;
  }
  disposeIntermediateTensorInfo({ dataId }: TensorInfo): void {
    this.disposeData(dataId);
  }

  numDataIds(): number {
    return this.#count;
  }
  memory(): { unreliable: boolean; reasons: string[]; numBytesInHeap: number } {
    return { unreliable: false, reasons: [], numBytesInHeap: ourMemory().heapBytes };
  }
  async time(action: () => void): Promise<{ kernelMs: number }> {
    const start = performance.now();
    action();
    return { kernelMs: performance.now() - start };
  }
  timerAvailable(): boolean {
    return true;
  }
  floatPrecision(): 16 | 32 {
    return 32;
  }
  epsilon(): number {
    return 1e-7;
  }
  dispose(): void {}

  #store(id: DataId, tensor: Tensor, owners: number): void {
    tensor.kept = true;
    id[entry] = { tensor, owners };
    this.#count += 1;
  }

  /** The entry of a key; moves the data here from another backend. Error: it was disposed of. */
  #of(id: DataId): BackendEntry {
    if (id[entry] === undefined) {
      const owner = this.#mover.state.tensorInfo.get(id)?.backend;
      if (owner !== undefined && owner !== this) this.#mover.moveData(this, id);
    }
    const found = id[entry];
    if (found !== undefined) return found;
    throw new LatheError('lathe backend: these elements have been disposed of');
  }
}
