/** Several may look at every operation. */
import { watch, type Watcher } from '../eager/apply.js';
import type { OperationName } from '../core/names.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';

const watchers = new Set<Watcher>();

/** Calls it behind every operation, until what it gives is called. */
export function observe(watcher: Watcher): () => void {
  watchers.add(watcher);
  watch((...seen) => watchers.forEach((each) => each(...seen)));
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) watch(undefined);
  };
}

/** Computes a tensor, if it is not there, and gives the milliseconds that took. */
export function computed(x: Tensor): number {
  const start = performance.now();
  void HeapValue.of(x).address;
  return performance.now() - start;
}

const special: Partial<Record<OperationName, string>> = {
  argMax: 'ArgMax',
  conv1d: 'Conv2D',
  conv2d: 'Conv2D',
  conv2dTranspose: 'Conv2DBackpropInput',
  conv3d: 'Conv3D',
  depthwiseConv2d: 'DepthwiseConv2dNative',
  div: 'RealDiv',
  gather: 'GatherV2',
  matMul: 'BatchMatMul',
  mul: 'Multiply',
  pad: 'PadV2',
  stack: 'Pack',
  where: 'Select',
};

/** What TensorFlow.js calls the kernel of an operation. */
export const kernelName = (op: OperationName): string =>
  special[op] ?? op[0]!.toUpperCase() + op.slice(1);
