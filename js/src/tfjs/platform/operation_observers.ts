/** Observers of operations; several may be active. */
import { engine, type Watcher } from '../../eager/engine.js';
import type { OperationName } from '../../core/names.js';
import { DeviceValue } from '../../runtime/device_value.js';
import type { Tensor } from '../../tensor/tensor.js';

const watchers = new Set<Watcher>();

/** Calls the observer after every operation, until the returned function is called. */
export function observe(watcher: Watcher): () => void {
  watchers.add(watcher);
  engine.watcher = (...seen) => watchers.forEach((each) => each(...seen));
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) engine.watcher = undefined;
  };
}

/** When a device was done with what had been measured last. */
let lastEnd = 0;

/** Computes a tensor if it is pending; returns the elapsed milliseconds, of a device that works later once it is done. */
export function computed(x: Tensor): number | Promise<number> {
  const { device } = engine;
  const start = performance.now();
  DeviceValue.of(x, device).materialize();
  if (device.settled === undefined) return performance.now() - start;
  return device.settled().then(() => {
    const begin = Math.max(start, lastEnd);
    lastEnd = performance.now();
    return lastEnd - begin;
  });
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

/** The TensorFlow.js kernel name of an operation. */
export const kernelName = (op: OperationName): string =>
  special[op] ?? op[0]!.toUpperCase() + op.slice(1);
