/** Encodes the steps of an entry. */
import type { Step } from '../../core/abi.js';
import type { Commands } from './commands.js';
import { wholeWords } from './elements.js';
import type { Gpu } from './gpu.js';
import { type Buffers, type LoadedKernel, sliceOf } from './loaded_kernel.js';

export function encodeSteps(
  steps: readonly Step[],
  kernels: readonly LoadedKernel[],
  buffers: Buffers,
  commands: Commands,
  gpu: Gpu,
): void {
  for (const step of steps) {
    if (typeof step === 'number') kernels[step]!.dispatch(commands, buffers);
    else if (step.copy !== undefined) encodeCopy(step.copy, buffers, commands, gpu);
    else
      for (let i = 0; i < step.times; i += 1)
        encodeSteps(step.steps, kernels, buffers, commands, gpu);
  }
}

type Copy = NonNullable<Exclude<Step, number>['copy']>;

function encodeCopy({ from, to }: Copy, buffers: Buffers, commands: Commands, gpu: Gpu): void {
  const source = sliceOf(from, buffers);
  const target = sliceOf(to, buffers);
  const bytes = wholeWords(from.bytes);
  const copy = (a: typeof source, b: typeof source) =>
    commands.copy(a.buffer.gpuBuffer, a.offset, b.buffer.gpuBuffer, b.offset, bytes);
  if (source.buffer !== target.buffer) return copy(source, target);
  // WebGPU does not copy within a buffer. Later work may reuse the temporary one, as it is submitted later.
  const buffer = gpu.pool.reuse(bytes) ?? gpu.pool.create(bytes);
  const between = { buffer, offset: 0 };
  copy(source, between);
  copy(between, target);
  buffer.release();
}
