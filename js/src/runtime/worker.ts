/**
 * The script of workers, in browsers and in Node: a thread of the pool, which loads modules, sleeps on its bell and
 * runs entries, or a background compiler.
 */
import type { CoreExports } from '../core/abi.js';
import { partsAt } from '../core/parts.js';
import { runFlag, runState } from './control_block.js';
import {
  cellOf,
  type CompiledCopy,
  type CopyOfCore,
  type FromWorker,
  growTo,
  poolCell,
  recordDone,
  type ToWorker,
  unpackJob,
  workerCell,
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
 * Milliseconds for which a worker polls its bell before it sleeps, as waking needs some tenths of a millisecond; longer
 * while polling often succeeds.
 */
const patience = { usual: 0.05, often: 2 };
/** Polls between two reads of the clock: about a microsecond. */
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
    handle(message);
  } catch (error) {
    port.postMessage({ kind: 'broken', reason: String(error) });
    return;
  }
  Atomics.store(control, at(workerCell.handled), ++handled);
  serve();
}

function handle(message: Exclude<ToWorker, CopyOfCore>): void {
  switch (message.kind) {
    case 'start':
      ({ control, index } = message);
      break;
    case 'load': {
      const { id, module, memory, entries, firstPhase = 0 } = message;
      const env = { memory, firstPhase, check: checkRun };
      const { exports } = new WebAssembly.Instance(module, { env });
      modules.set(id, { exports, entries });
      break;
    }
    case 'drop':
      modules.delete(message.id);
      break;
  }
}

/** Error: the current run has failed or been stopped on another thread. */
function checkRun(): void {
  if (Atomics.load(control, poolCell.failed) === 1) throw new Error('the run has ended');
}

/** Compiles in the copy of a core. Error: the compilation fails. */
function compile({ core, memory, what, handle, request }: CopyOfCore): CompiledCopy {
  const exports = new WebAssembly.Instance(core, {}).exports as unknown as CoreExports;
  const coreMemory = exports.memory;
  growTo(coreMemory, memory.byteLength);
  new Uint8Array(coreMemory.buffer).set(new Uint8Array(memory));
  const at = exports.lathe_alloc(request.length);
  new Uint8Array(coreMemory.buffer, at).set(request);
  const executable = exports[`lathe_${what}_compile`](handle, at, request.length);
  if (executable === 0) throw new Error('it cannot be compiled');
  const parts = exports.lathe_executable_parts(executable);
  const { code } = partsAt(coreMemory.buffer as ArrayBuffer, parts);
  return {
    kind: 'compiled',
    memory: coreMemory.buffer.slice() as ArrayBuffer,
    executable,
    module: new WebAssembly.Module(code),
  };
}

/** Runs jobs until the event loop has a message. */
function serve(): void {
  for (;;) {
    const bell = Atomics.load(control, at(workerCell.bell));
    if (Atomics.load(control, at(workerCell.posted)) !== handled) return;
    if (Atomics.load(control, at(workerCell.ticket)) !== ticket) {
      ++ticket;
      work();
      continue;
    }
    const start = performance.now();
    if (!rings(bell, start + patienceMs)) Atomics.wait(control, at(workerCell.bell), bell);
    patienceMs = performance.now() - start < patience.often ? patience.often : patience.usual;
  }
}

/** Whether the bell changes before the clock reaches `until`. */
function rings(bell: number, until: number): boolean {
  const bellCell = at(workerCell.bell);
  do {
    for (let left = looks; left > 0; --left) {
      if (Atomics.load(control, bellCell) !== bell) return true;
    }
  } while (performance.now() < until);
  return false;
}

/** Participates in the current run, which may be later than the one it was called for, or over. */
function work(): void {
  const number = Atomics.load(control, poolCell.number);
  const [module, entry] = unpackJob(Atomics.load(control, poolCell.job));
  const loaded = modules.get(module);
  if (loaded !== undefined) {
    const { exports, entries } = loaded;
    try {
      const run = exports[entries[entry]!] as (flags: number) => number;
      // The calling thread starts with the first tasks.
      const manner = runFlag.maySleep + (index % 2 === 0 ? runFlag.fromBack : 0);
      while (run(manner) !== runState.over);
    } catch (error) {
      // The first reason counts.
      if (Atomics.load(control, poolCell.failed) === 0) writeReason(control, String(error));
      Atomics.store(control, poolCell.failed, 1);
      (exports['threads.abort'] as () => void)();
    }
  }
  Atomics.store(control, at(workerCell.finished), ticket);
  if (recordDone(control, number) && Atomics.exchange(control, poolCell.awaited, 0) === 1) {
    port.postMessage({ kind: 'done' });
  }
}

if (threads === undefined) {
  globalThis.onmessage = ({ data }: MessageEvent<ToWorker>) => receive(data);
} else {
  // Node reports the liveness of threads only once their event loop has turned.
  setTimeout(() => threads.parentPort.on('message', receive), 0);
}
