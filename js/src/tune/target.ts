/** What modules are compiled for: the features of the engine, and what was measured on it before. */
import { nodeModule, nodeProcess } from '../base/node.js';
import type { CompileRequest } from '../core/abi.js';
import { env } from '../runtime/env.js';
import { schedules } from './schedules.js';

/** The engine features that kernels are compiled for now. */
export function features(): Omit<CompileRequest['features'], 'threads'> {
  const { SIMD, RELAXED_SIMD, NODE_REVECTORIZE } = env().features;
  return {
    simd: SIMD,
    relaxedSimd: SIMD && RELAXED_SIMD,
    wideLanes: SIMD && NODE_REVECTORIZE,
    fastPairs: SIMD && (x86 ??= isX86()),
  };
}

let x86: boolean | undefined;

/** By the sign of the NaN that comes of no other one. */
function isX86(): boolean {
  const number = Float32Array.of(Infinity);
  number[0]! -= number[0]!;
  return new Uint8Array(number.buffer)[3] === 255;
}

/** What decides whether a module fits. */
export function engine(): Required<
  Pick<CompileRequest, 'features' | 'worthSplitting' | 'winograd'>
> {
  return {
    features: { ...features(), threads: env().threads.count > 1 },
    winograd: env().get('WINOGRAD'),
    worthSplitting: env().get('THREADS_MIN_WORK'),
  };
}

/** What compile requests say of the target. */
export function target(): Required<
  Pick<CompileRequest, 'features' | 'worthSplitting' | 'winograd' | 'schedules'>
> {
  return { ...engine(), schedules: schedules.of(targetName()) };
}

/** Engine, processor as far as it is known, and features: measurements hold for equal names. */
export function targetName(): string {
  const on = Object.entries({ ...features(), fastPairs: false }).filter(([, value]) => value);
  return [engineName(), ...on.map(([name]) => name)].join(' ');
}

/** Learns what takes its time, for who waits for the core anyway. */
export function probeTarget(): void {
  features();
}

let processor: string | undefined;

function engineName(): string {
  if (nodeProcess !== undefined) {
    const { arch, versions } = nodeProcess;
    processor ??= String(nodeModule('node:os').cpus()[0]?.model.trim() ?? '');
    return `V8 ${versions.v8} ${arch} ${processor}`;
  }
  const agent = navigator.userAgent;
  const found = /(Firefox|Chrome)\/(\d+)/.exec(agent) ?? /(Version)\/([\d.]+).*Safari/.exec(agent);
  return found === null ? agent : `${found[1] === 'Version' ? 'Safari' : found[1]} ${found[2]}`;
}
