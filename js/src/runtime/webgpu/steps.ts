/** Encodes the steps of an entry. */
import type { Step } from '../../core/abi.js';
import type { Commands } from './commands.js';
import { wholeWords } from './elements.js';
import type { Gpu } from './gpu.js';
import { type Buffers, type LoadedKernel, type Slice, sliceOf } from './loaded_kernel.js';

/** What steps are encoded with. */
export interface Encoding {
  readonly kernels: readonly LoadedKernel[];
  readonly buffers: Buffers;
  readonly commands: Commands;
  readonly gpu: Gpu;
}

type Repeat = Extract<Step, { readonly steps: unknown }>;
type Copy = NonNullable<Extract<Step, { readonly copy: { readonly from: unknown } }>['copy']>;

/** Repetitions after which a condition is looked at: at first few, then as many as there were before. */
const firstLook = 4;

/**
 * Encodes steps, and yields the slice of a condition: what is encoded must be submitted then, and the value of
 * the condition, once it is computed, is the argument of `next`.
 */
export function* encodeSteps(
  steps: readonly Step[],
  encoding: Encoding,
): Generator<Slice, void, number> {
  for (const step of steps) {
    if (typeof step === 'number') {
      encoding.kernels[step]!.dispatch(encoding.commands, encoding.buffers);
    } else if (step.copy !== undefined) {
      encodeCopy(step.copy, encoding);
    } else {
      yield* encodeRepeat(step, encoding);
    }
  }
}

function* encodeRepeat(
  { times, steps, condition }: Repeat,
  encoding: Encoding,
): Generator<Slice, void, number> {
  let nextLook = condition === undefined ? Infinity : firstLook;
  for (let i = 0; i < times; i += 1) {
    if (i === nextLook) {
      if ((yield sliceOf(condition!, encoding.buffers)) === 0) return;
      nextLook *= 2;
    }
    yield* encodeSteps(steps, encoding);
  }
}

function encodeCopy({ from, to }: Copy, { buffers, commands, gpu }: Encoding): void {
  const source = sliceOf(from, buffers);
  const target = sliceOf(to, buffers);
  const bytes = wholeWords(from.bytes);
  const copy = (a: Slice, b: Slice) =>
    commands.copy(a.buffer.gpuBuffer, a.offset, b.buffer.gpuBuffer, b.offset, bytes);
  if (source.buffer !== target.buffer) return copy(source, target);
  // WebGPU does not copy within a buffer. Later work may reuse the temporary one, as it is submitted later.
  const buffer = gpu.pool.reuse(bytes) ?? gpu.pool.create(bytes);
  const between = { buffer, offset: 0 };
  copy(source, between);
  copy(between, target);
  buffer.release();
}
