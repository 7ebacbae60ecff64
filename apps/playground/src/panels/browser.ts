// Relevant features of this browser, and why some are missing.
import * as tl from 'tensorlathe';
import { box, make } from '../dom';

interface Fact {
  name: string;
  value: boolean;
  why: string;
}

type Gpu = { requestAdapter(): Promise<object | null> };

async function webGpu(): Promise<Fact> {
  const name = 'WebGPU';
  const { gpu } = navigator as { gpu?: Gpu };
  if (!isSecureContext)
    return { name, value: false, why: 'only pages of https or localhost get it' };
  if (gpu === undefined) return { name, value: false, why: 'this browser has no navigator.gpu' };
  const adapter = await gpu.requestAdapter().catch(() => null);
  const value = adapter !== null;
  const why = value
    ? 'there is an adapter; the page trains on the processor all the same'
    : 'the browser knows it, but returns no adapter: no suitable graphics device or driver';
  return { name, value, why };
}

function facts(): Fact[] {
  const { SIMD, RELAXED_SIMD, CROSS_ORIGIN_ISOLATED, THREADS } = tl.env().report();
  const { count } = tl.env().threads;
  const uses = `large networks run on up to ${count} threads`;
  return [
    { name: 'WebAssembly SIMD', ...SIMD },
    { name: 'Relaxed SIMD', ...RELAXED_SIMD },
    { name: 'Cross-origin isolation', ...CROSS_ORIGIN_ISOLATED },
    {
      name: 'Threads',
      value: THREADS.value,
      why: THREADS.value ? `${THREADS.why}; ${uses}` : THREADS.why,
    },
  ];
}

export async function showBrowser(): Promise<void> {
  const rows = [...facts(), await webGpu()].map(({ name, value, why }) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, name),
      make('td', { className: value ? 'yes' : 'no' }, value ? 'yes' : 'no'),
      make('td', { className: 'note' }, why),
    ),
  );
  box('features').replaceChildren(...rows);
}
