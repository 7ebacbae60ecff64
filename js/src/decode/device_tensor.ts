/** Tensors of calls and results whose elements are on a device. */
import type { DataArray } from '../tensor/convert.js';
import type { DType } from '../tensor/dtypes.js';
import { elements, type PendingData, Tensor } from '../tensor/tensor.js';

/** Whether the elements are in memory of JavaScript. */
export const isOnHost = (tensor: Tensor): boolean => ArrayBuffer.isView(tensor[elements]);

/** The device of a tensor that is on one. */
export const deviceOf = (tensor: Tensor): string | undefined =>
  (tensor[elements] as PendingData).device?.name;

/** Another tensor with the elements of one. */
export function shareOf(tensor: Tensor): Tensor {
  const data = tensor[elements];
  if (!ArrayBuffer.isView(data)) data.share?.();
  return new Tensor(data, tensor.shape, tensor.dtype);
}

/** A tensor on a device whose memory the host does not address. */
export class DeviceTensor {
  readonly kind = 'tensor';

  constructor(
    readonly type: string,
    readonly tensor: Tensor,
  ) {}

  get shape(): readonly number[] {
    return this.tensor.shape;
  }

  /** Error: the elements can only be awaited. */
  get data(): DataArray {
    return this.tensor.dataSync<DType>();
  }
}
