/** Types of the kernels that programs register and look up, by the names of TensorFlow.js. */
import type { TensorInfo } from '../../shapes/types.js';

export type NamedAttrMap = Record<string, unknown>;
export type NamedTensorInfoMap = Record<string, TensorInfo | undefined>;
export type KernelFunc = (params: {
  inputs: NamedTensorInfoMap;
  backend: {};
  attrs?: NamedAttrMap;
}) => TensorInfo | TensorInfo[];

/** How a backend computes an operation. */
export interface KernelConfig {
  kernelName: string;
  backendName: string;
  kernelFunc: KernelFunc;
  setupFunc?: (backend: {}) => void;
  disposeFunc?: (backend: {}) => void;
}
