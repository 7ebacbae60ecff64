/** A backend of TensorFlow.js whose tensors are ours: kernels are written down, and computed when TensorFlow.js reads. */
import { LatheError } from '../base/errors.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import { knownElements } from '../runtime/heap_value.js';
import { memory as ourMemory } from '../runtime/memory.js';
import type { DataArray } from '../tensor/convert.js';
import type { Tensor } from '../tensor/tensor.js';
import { complex, reshape, tensor } from '../ops/index.js';
import { tidy } from '../tensor/scopes.js';

const held = /* @__PURE__ */ Symbol('held');

interface Held {
  tensor: Tensor;
  owners: number;
}

/** What TensorFlow.js knows a tensor's elements by: an object that nobody else looks into. */
export interface DataId {
  [held]?: Held | undefined;
}
/** What kernels take and give. */
export interface TensorInfo {
  dataId: DataId;
  shape: number[];
  dtype: Tensor['dtype'];
}
/** Elements as TensorFlow.js has them: of texts their UTF-8, of complex numbers both parts in turn. */
export type Values = DataArray | number[] | Uint8Array[];

/** What TensorFlow.js has of all backends: which of them holds the elements, and how they get to another. */
export interface Mover {
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

/** A tensor of elements as TensorFlow.js has them. */
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

/** The methods that TensorFlow.js calls; `kernels.ts` has what it computes. */
export class LatheBackend {
  readonly #mover: Mover;
  #count = 0;

  constructor(mover: Mover) {
    this.#mover = mover;
  }

  /** The elements under a new name. */
  write(values: Values | null | undefined, shape: number[], dtype: Tensor['dtype']): DataId {
    const id: DataId = {};
    this.move(id, values, shape, dtype, 1);
    return id;
  }

  /** The elements under the name that they had in another backend. */
  move(
    id: DataId,
    values: Values | null | undefined,
    shape: number[],
    dtype: Tensor['dtype'],
    owners: number,
  ): void {
    const size = shape.reduce((product, each) => product * each, 1);
    this.#hold(id, decoded(values ?? new Float32Array(size), shape, dtype), owners);
  }

  /** Takes one of our tensors over. */
  take(result: Tensor): TensorInfo {
    const dataId: DataId = {};
    this.#hold(dataId, result, 1);
    return { dataId, shape: [...result.shape], dtype: result.dtype };
  }

  /** Our tensor of what a kernel is given, in its shape there. */
  tensorOf({ dataId, shape }: TensorInfo): Tensor {
    const found = this.#of(dataId).tensor;
    return sameShape(found.shape, shape) ? found : reshape(found, shape);
  }

  /** The element of a scalar of this dtype, if JavaScript has it. */
  knownScalar({ dataId, shape, dtype }: TensorInfo, wanted: Tensor['dtype']): number | undefined {
    if (dtype !== wanted || shape.length > 0) return undefined;
    return knownElements(this.#of(dataId).tensor)?.[0] as number | undefined;
  }

  async read(id: DataId): Promise<Values> {
    return encoded(await this.#of(id).tensor.data());
  }
  readSync(id: DataId): Values {
    return encoded(this.#of(id).tensor.dataSync());
  }
  refCount(id: DataId): number {
    return id[held]?.owners ?? 0;
  }
  incRef(id: DataId): void {
    this.#of(id).owners += 1;
  }
  decRef(id: DataId): void {
    const found = id[held];
    if (found !== undefined) found.owners -= 1;
  }

  /** Whether the elements are gone, which they are with the last owner. */
  disposeData(id: DataId, force = false): boolean {
    const found = id[held];
    if (found === undefined) return true;
    found.owners -= 1;
    if (!force && found.owners > 0) return false;
    id[held] = undefined;
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

  #hold(id: DataId, tensor: Tensor, owners: number): void {
    tensor.kept = true;
    id[held] = { tensor, owners };
    this.#count += 1;
  }

  /** What we hold, or take over now from another backend. Error: nobody has it. */
  #of(id: DataId): Held {
    if (id[held] === undefined) {
      const owner = this.#mover.state.tensorInfo.get(id)?.backend;
      if (owner !== undefined && owner !== this) this.#mover.moveData(this, id);
    }
    const found = id[held];
    if (found !== undefined) return found;
    throw new LatheError('lathe backend: these elements have been disposed of');
  }
}
