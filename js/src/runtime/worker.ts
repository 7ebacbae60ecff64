/**
 * One thread of the pool: keeps modules, sleeps on its bell, runs entries; or one that compiles in the background. Runs in browsers
 * and in Node.
 */
import type { CoreExports } from '../core/abi.js';
import { partsAt } from '../core/parts.js';
import {
  cellOf,
  type CompiledCopy,
  type CopyOfCore,
  type FromWorker,
  growTo,
  how,
  noteDone,
  own,
  pooled,
  state,
  type ToWorker,
  unpackJob,
  writeReason,
} from './protocol.js';

interface Port {
  postMessage(message: FromWorker, moved?: ArrayBuffer[]): void;
}

interface NodePort extends Port {
  on(event: 'message', handler: (message: ToWorker) => void): void;
}

interface Loaded {
  exports: WebAssembly.Exports;
  entries: readonly string[];
}

/**
 * Milliseconds for which a worker looks at its bell before it sleeps: waking takes some tenths of
 * one. It looks longer while the bell rings so often that it does not look in vain.
 */
const patience = { usual: 0.05, often: 2 };
/** Looks between two at the clock: about a microsecond. */
const looks = 500;

const threads = (
  globalThis as {
    process?: { getBuiltinModule?: (name: string) => { parentPort: NodePort } };
  }
).process?.getBuiltinModule?.('node:worker_threads');
const port: Port = threads?.parentPort ?? (globalThis as unknown as Port);

const modules = new Map<number, Loaded>();
let control: Int32Array<SharedArrayBuffer>;
let index = 0;
let handled = 0;
let ticket = 0;
let patienceMs = patience.usual;

const at = (cell: number) => cellOf(index, cell);

function receive(message: ToWorker): void {
  try {
    if (message.kind === 'compile') {
      const compiled = compile(message);
      port.postMessage(compiled, [compiled.memory]);
      return;
    }
    apply(message);
  } catch (error) {
    port.postMessage({ kind: 'broken', reason: String(error) });
    return;
  }
  Atomics.store(control, at(own.handled), ++handled);
  serve();
}

function apply(message: Exclude<ToWorker, CopyOfCore>): void {
  switch (message.kind) {
    case 'start':
      ({ control, index } = message);
      break;
    case 'load': {
      const { id, module, memory, entries, firstPhase = 0 } = message;
      const { exports } = new WebAssembly.Instance(module, { env: { memory, firstPhase } });
      modules.set(id, { exports, entries });
      break;
    }
    case 'drop':
      modules.delete(message.id);
      break;
  }
}

/** Goes on in the copy of a core. Error: what the core finds wrong. */
function compile({ core, memory, what, handle, request }: CopyOfCore): CompiledCopy {
  const exports = new WebAssembly.Instance(core, {}).exports as unknown as CoreExports;
  const own = exports.memory;
  growTo(own, memory.byteLength);
  new Uint8Array(own.buffer).set(new Uint8Array(memory));
  const at = exports.lathe_alloc(request.length);
  new Uint8Array(own.buffer, at).set(request);
  const executable = exports[`lathe_${what}_compile`](handle, at, request.length);
  if (executable === 0) throw new Error('it cannot be compiled');
  const parts = exports.lathe_executable_parts(executable);
  const { code } = partsAt(own.buffer as ArrayBuffer, parts);
  return {
    kind: 'compiled',
    memory: own.buffer.slice() as ArrayBuffer,
    executable,
    module: new WebAssembly.Module(code),
  };
}

/** Runs jobs until a message waits in the event loop. */
function serve(): void {
  for (;;) {
    const bell = Atomics.load(control, at(own.bell));
    if (Atomics.load(control, at(own.posted)) !== handled) return;
    if (Atomics.load(control, at(own.ticket)) !== ticket) {
      ++ticket;
      work();
      continue;
    }
    const start = performance.now();
    if (!rings(bell, start + patienceMs)) Atomics.wait(control, at(own.bell), bell);
    patienceMs = performance.now() - start < patience.often ? patience.often : patience.usual;
  }
}

/** Whether the bell changes before the clock says `until`. */
function rings(bell: number, until: number): boolean {
  const place = at(own.bell);
  do {
    for (let left = looks; left > 0; --left) {
      if (Atomics.load(control, place) !== bell) return true;
    }
  } while (performance.now() < until);
  return false;
}

/** Helps with the run under way, which may be a later one than it was called for, or over. */
function work(): void {
  const number = Atomics.load(control, pooled.number);
  const [module, entry] = unpackJob(Atomics.load(control, pooled.job));
  const loaded = modules.get(module);
  if (loaded !== undefined) {
    const { exports, entries } = loaded;
    try {
      const run = exports[entries[entry]!] as (how: number) => number;
      // The thread that calls the workers takes the first tasks first.
      const manner = how.maySleep + (index % 2 === 0 ? how.fromBack : 0);
      while (run(manner) !== state.over);
    } catch (error) {
      writeReason(control, String(error));
      Atomics.store(control, pooled.failed, 1);
      (exports['threads.abort'] as () => void)();
    }
  }
  Atomics.store(control, at(own.finished), ticket);
  if (noteDone(control, number) && Atomics.exchange(control, pooled.awaited, 0) === 1) {
    port.postMessage({ kind: 'done' });
  }
}

if (threads === undefined) {
  globalThis.onmessage = ({ data }: MessageEvent<ToWorker>) => receive(data);
} else {
  // Node tells only of threads whose event loop has turned whether they are alive.
  setTimeout(() => threads.parentPort.on('message', receive), 0);
}
