/** Methods of TensorFlow.js tensors that are not operations: typed views, strides, GPU access, printing. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { engine } from '../../eager/engine.js';
import { type Variable, variable } from '../../eager/variable.js';
import { cast } from '../../ops/arrays/create.js';
import type { DType } from '../../tensor/dtypes.js';
import type {
  Scalar,
  Tensor1D,
  Tensor2D,
  Tensor3D,
  Tensor4D,
  Tensor5D,
} from '../../tensor/ranked_tensors.js';
import type { Rank } from '../../tensor/ranks.js';
import { bufferAccessOf } from '../../runtime/buffer_access.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { tracked } from '../../tensor/live_tensors.js';
import { formatElements } from '../../tensor/format.js';
import { partsOf, stringsOf } from '../../tensor/string_complex.js';
import { Tensor } from '../../tensor/tensor.js';
import type { DataArray } from '../../tensor/convert.js';
import { buffer, type TensorBuffer } from '../util/buffer.js';
import type { DataType, DataValues } from '../../shapes/types.js';

type Sizes = number[];

const reshaped = <R extends Rank>(x: Tensor, shape: Sizes): Tensor<R> =>
  applyOperation('reshape', [x], [shape]) as Tensor<R>;

const buffered = ({ shape, dtype }: Tensor, data: DataArray): TensorBuffer =>
  buffer(shape, dtype as DataType, data.slice() as DataValues);

type GpuBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer Type } } ? Type : object;

/** Elements on the GPU, and the tensor that owns them. */
export interface GPUData {
  tensorRef: Tensor;
  buffer: GpuBuffer;
}

const methods = {
  /** Reshapes to a scalar. Error: not exactly one element. */
  asScalar(this: Tensor): Scalar {
    if (this.size !== 1) throw new LatheError('The array must have only 1 element.');
    return reshaped(this, []);
  },
  as1D(this: Tensor): Tensor1D {
    return reshaped(this, [this.size]);
  },
  as2D(this: Tensor, ...shape: Sizes): Tensor2D {
    return reshaped(this, shape);
  },
  as3D(this: Tensor, ...shape: Sizes): Tensor3D {
    return reshaped(this, shape);
  },
  as4D(this: Tensor, ...shape: Sizes): Tensor4D {
    return reshaped(this, shape);
  },
  as5D(this: Tensor, ...shape: Sizes): Tensor5D {
    return reshaped(this, shape);
  },
  asType(this: Tensor, dtype: DType | 'complex64'): Tensor {
    return cast(this, dtype);
  },
  toFloat(this: Tensor): Tensor {
    return cast(this, 'float32');
  },
  toInt(this: Tensor): Tensor {
    return cast(this, 'int32');
  },
  toBool(this: Tensor): Tensor {
    return cast(this, 'bool');
  },
  /** A variable initialized with these elements. */
  variable(this: Tensor, trainable = true, name?: string, dtype?: DType): Variable {
    return variable(this, trainable, name, dtype);
  },
  async buffer(this: Tensor): Promise<TensorBuffer> {
    return buffered(this, await this.data<DType>());
  },
  bufferSync(this: Tensor): TensorBuffer {
    return buffered(this, this.dataSync<DType>());
  },
  /** The elements as bytes. */
  async bytes(this: Tensor): Promise<Uint8Array> {
    const { buffer, byteOffset, byteLength } = await this.data<DType>();
    return new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength));
  },
  /**
   * A copy of the elements in a GPUBuffer, of bool four bytes each, and the tensor that owns it: dispose of that. Errors: they are
   * in CPU memory, as the backend is not webgpu; not ready.
   */
  dataToGPU(this: Tensor): GPUData {
    const access = bufferAccessOf(engine.device);
    if (access === undefined) {
      throw new LatheError('dataToGPU: the elements are in CPU memory; use data()');
    }
    const copy = new DeviceValue(this.dtype, this.shape, engine.device);
    const buffer = access.expose(engine.valueOf(this), copy);
    const tensorRef = new Tensor(copy, this.shape, copy.dtype)[tracked]();
    return { tensorRef, buffer: buffer as GpuBuffer };
  },
  /** Error: after dispose. */
  throwIfDisposed(this: Tensor): void {
    if (this.isDisposed) throw new LatheError('Tensor is disposed.');
  },
};

const properties = {
  /** An object that is identical for tensors that share elements. */
  dataId(this: Tensor): object {
    return DeviceValue.of(this, engine.device);
  },

  /** The rank as "0" to "5" or "higher". */
  rankType(this: Tensor): string {
    return this.rank < 5 ? String(this.rank) : 'higher';
  },
  /** Row-major strides of all axes but the last. */
  strides(this: Tensor): Sizes {
    return this.shape.slice(1).map((_, axis) => elementCount(this.shape.slice(axis + 1)));
  },
};

/** Methods of tensors that are not operations. */
export type ElementMethods = {
  [Name in keyof typeof methods]: (typeof methods)[Name] extends (
    this: Tensor,
    ...rest: infer Rest
  ) => infer Result
    ? Tensor extends Result
      ? <R extends Tensor = Tensor>(...rest: Rest) => R
      : (...rest: Rest) => Result
    : never;
};

declare module '../../tensor/tensor.js' {
  interface Tensor<R extends Rank = any> extends ElementMethods {
    readonly dataId: object;
    readonly rankType: string;
    readonly strides: number[];
  }
}

/** Overrides for complex and string tensors. */
function showOdd(): void {
  const { toString, arraySync } = Tensor.prototype;
  const ofOdd = {
    toString(this: Tensor, verbose = false): string {
      const formatElement = this.isDisposed ? undefined : elementFormatter(this);
      if (formatElement === undefined) return toString.call(this, verbose);
      const { dtype, rank, shape } = this;
      const lines = rank === 0 ? [formatElement(0)] : formatElements(shape, formatElement);
      const head = `  dtype: ${dtype}\n  rank: ${rank}\n  shape: [${shape.join(',')}]\n  values:\n`;
      return `Tensor\n${verbose ? head : ''}${lines.map((line) => `    ${line}`).join('\n')}`;
    },
    /** Complex tensors are interleaved along the last axis, as in TensorFlow.js. */
    arraySync(this: Tensor): unknown {
      const parts = partsOf(this);
      if (parts === undefined || this.rank === 0) {
        return parts === undefined ? arraySync.call(this) : parts.real.arraySync();
      }
      const shape = [...this.shape.slice(0, -1), 2 * this.shape.at(-1)!];
      return new Tensor(parts.readSync(), shape, 'float32').arraySync();
    },
  };
  for (const [name, value] of Object.entries(ofOdd)) {
    Object.defineProperty(Tensor.prototype, name, { value, configurable: true, writable: true });
  }
}

/** Formats elements that are not numbers. */
function elementFormatter(x: Tensor): ((at: number) => string) | undefined {
  const texts = stringsOf(x);
  if (texts !== undefined) return (at) => (x.rank === 0 ? texts[at]! : `'${texts[at]!}'`);
  const numbers = partsOf(x)?.readSync() as Float32Array | undefined;
  const short = (at: number) => Number(numbers![at]!.toFixed(7));
  return numbers && ((at) => `${short(2 * at)} + ${short(2 * at + 1)}j`);
}

/** Installs these methods on tensors. */
export function installTensorMethods(): void {
  showOdd();
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Tensor.prototype, name, { value, configurable: true });
  }
  for (const [name, get] of Object.entries(properties)) {
    Object.defineProperty(Tensor.prototype, name, { get, configurable: true });
  }
}
