/** What functions of tensors cost: time, memory, and each operation alone. */
import { tensorCounts, tensorsIn } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';
import { computed, kernelName, observe } from './watching.js';

/** An operation, run alone. */
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
  /** What is there behind the function and was not before. */
  newBytes: number;
  newTensors: number;
  /** The most bytes behind any operation. */
  peakBytes: number;
  kernels: KernelInfo[];
  kernelNames: string[];
  result: unknown;
}

/** Runs a function, each operation alone as soon as it is written down: nothing is fused. */
export async function profile(f: () => unknown): Promise<ProfileInfo> {
  const before = tensorCounts();
  const kernels: KernelInfo[] = [];
  const stop = observe((op, operands, output) => {
    const kernelTimeMs = computed(output);
    const { numBytes, numTensors } = tensorCounts();
    kernels.push({
      name: kernelName(op),
      bytesAdded: output.size * bytesPerElement(output),
      totalBytesSnapshot: numBytes,
      tensorsAdded: 1,
      totalTensorsSnapshot: numTensors,
      inputShapes: operands.map((each) => (each instanceof Tensor ? [...each.shape] : [])),
      outputShapes: [[...output.shape]],
      kernelTimeMs,
      extraInfo: '',
    });
  });
  try {
    const result = await f();
    const after = tensorCounts();
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
  /** Of computing what the function wrote down and did not dispose of. */
  kernelMs: number;
  /** Of the whole function. */
  wallMs: number;
  getExtraProfileInfo(): string;
}

/** How long a function takes with all that it writes down. */
export async function time(f: () => unknown): Promise<TimingInfo> {
  const written = new Set<Tensor>();
  const stop = observe((_op, _operands, output) => written.add(output));
  const start = performance.now();
  let kernelMs = 0;
  try {
    const result = await f();
    tensorsIn(result).forEach((each) => written.add(each));
    for (const each of written) if (!each.isDisposed) kernelMs += computed(each);
  } finally {
    stop();
  }
  return { kernelMs, wallMs: performance.now() - start, getExtraProfileInfo: () => '' };
}
