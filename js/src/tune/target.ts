/** The target of compilations: features of the engine, and schedules measured on it. */
import { nodeModule, nodeProcess } from '../base/node.js';
import type { CompileRequest } from '../core/abi.js';
import { env } from '../runtime/env.js';
import { schedules } from './schedules.js';

/** The engine features that kernels are compiled for. */
export function features(): Omit<CompileRequest['features'], 'threads'> {
  const simd = env().get('SIMD');
  return {
    simd,
    relaxedSimd: simd && env().get('RELAXED_SIMD'),
    wideLanes: simd && env().get('NODE_REVECTORIZE'),
    fastPairs: simd && (x86 ??= isX86()),
  };
}

let x86: boolean | undefined;

/** By the sign of a generated NaN. */
function isX86(): boolean {
  const number = Float32Array.of(Infinity);
  number[0]! -= number[0]!;
  return new Uint8Array(number.buffer)[3] === 255;
}

/** The part of the target on which the validity of a module depends. */
export function engine(): Required<
  Pick<CompileRequest, 'features' | 'worthSplitting' | 'winograd'>
> {
  return {
    features: { ...features(), threads: env().threads.count > 1 },
    winograd: env().get('WINOGRAD'),
    worthSplitting: env().get('THREADS_MIN_WORK'),
  };
}

/** The target in compile requests. */
export function target(): Required<
  Pick<CompileRequest, 'features' | 'worthSplitting' | 'winograd' | 'schedules'>
> {
  return { ...engine(), schedules: schedules.of(targetName()) };
}

/** Engine, processor where available, and features: measurements apply to equal names. */
export function targetName(): string {
  const on = Object.entries({ ...features(), fastPairs: false }).filter(([, value]) => value);
  return [engineName(), ...on.map(([name]) => name)].join(' ');
}

/** Determines asynchronous properties, while the core is loading. */
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
