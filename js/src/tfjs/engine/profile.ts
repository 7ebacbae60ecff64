/** Profiles functions of tensors: time, memory, and each operation separately. */
import { tensorCounts } from '../../tensor/live_tensors.js';
import { tensorsIn } from '../../tensor/scopes.js';
import { Tensor } from '../../tensor/tensor.js';
import { computed, kernelName, observe } from '../platform/operation_observers.js';

/** An operation that ran separately. */
export interface KernelInfo {
  name: string;
  bytesAdded: number;
  totalBytesSnapshot: number;
  tensorsAdded: number;
  totalTensorsSnapshot: number;
  inputShapes: number[][];
  outputShapes: number[][];
  kernelTimeMs: number;
  extraInfo: string;
}

export interface ProfileInfo {
  /** Tensors created by the function and still alive. */
  newBytes: number;
  newTensors: number;
  /** Peak bytes after any operation. */
  peakBytes: number;
  kernels: KernelInfo[];
  kernelNames: string[];
  result: unknown;
}

/** Runs a function, each operation separately as it is recorded: nothing is fused. */
export async function profile(f: () => unknown): Promise<ProfileInfo> {
  const before = tensorCounts();
  const kernels: KernelInfo[] = [];
  const times: (number | Promise<number>)[] = [];
  const stop = observe((op, operands, output) => {
    times.push(computed(output));
    const { numBytes, numTensors } = tensorCounts();
    kernels.push({
      name: kernelName(op),
      bytesAdded: output.size * bytesPerElement(output),
      totalBytesSnapshot: numBytes,
      tensorsAdded: 1,
      totalTensorsSnapshot: numTensors,
      inputShapes: operands.map((each) => (each instanceof Tensor ? [...each.shape] : [])),
      outputShapes: [[...output.shape]],
      kernelTimeMs: 0,
      extraInfo: '',
    });
  });
  try {
    const result = await f();
    const after = tensorCounts();
    for (const [at, each] of times.entries()) kernels[at]!.kernelTimeMs = await each;
    return {
      newBytes: after.numBytes - before.numBytes,
      newTensors: after.numTensors - before.numTensors,
      peakBytes: Math.max(0, ...kernels.map(({ totalBytesSnapshot }) => totalBytesSnapshot)),
      kernels,
      kernelNames: [...new Set(kernels.map(({ name }) => name))],
      result,
    };
  } finally {
    stop();
  }
}

const bytesPerElement = ({ dtype }: Tensor): number => {
  const bits = /\d+$/.exec(dtype);
  return bits === null ? 1 : Number(bits[0]) / 8;
};

/** Milliseconds. */
export interface TimingInfo {
  /** The time of computing operations that were recorded and not disposed of. */
  kernelMs: number;
  /** Totals of the function. */
  wallMs: number;
  getExtraProfileInfo(): string;
}

/** The run time of a function, including all operations it records. */
export async function time(f: () => unknown): Promise<TimingInfo> {
  const outputs = new Set<Tensor>();
  const stop = observe((_op, _operands, output) => outputs.add(output));
  const start = performance.now();
  let kernelMs = 0;
  try {
    const result = await f();
    tensorsIn(result).forEach((each) => outputs.add(each));
    const times = [...outputs].flatMap((each) => (each.isDisposed ? [] : computed(each)));
    for (const each of times) kernelMs += await each;
  } finally {
    stop();
  }
  return { kernelMs, wallMs: performance.now() - start, getExtraProfileInfo: () => '' };
}
