/** One thread of the pool: keeps modules, sleeps on its bell, runs entries. Runs in browsers and in Node. */
import {
  cellOf,
  type FromWorker,
  noteDone,
  own,
  pooled,
  type ToWorker,
  unpackJob,
  writeReason,
} from './protocol.js';

interface Port {
  postMessage(message: FromWorker): void;
}

interface NodePort extends Port {
  on(event: 'message', handler: (message: ToWorker) => void): void;
}

interface Loaded {
  exports: WebAssembly.Exports;
  entries: readonly string[];
}

/** Looks at the bell before it sleeps: some tens of microseconds, in which the next run often comes. */
const spins = 4000;

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

const at = (cell: number) => cellOf(index, cell);

function receive(message: ToWorker): void {
  try {
    apply(message);
  } catch (error) {
    port.postMessage({ kind: 'broken', reason: String(error) });
    return;
  }
  Atomics.store(control, at(own.handled), ++handled);
  serve();
}

function apply(message: ToWorker): void {
  switch (message.kind) {
    case 'start':
      ({ control, index } = message);
      break;
    case 'load': {
      const { id, module, memory, entries } = message;
      const { exports } = new WebAssembly.Instance(module, { env: { memory } });
      modules.set(id, { exports, entries });
      break;
    }
    case 'drop':
      modules.delete(message.id);
      break;
  }
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
    let left = spins;
    while (left > 0 && Atomics.load(control, at(own.bell)) === bell) --left;
    if (left === 0) Atomics.wait(control, at(own.bell), bell);
  }
}

/** Helps with the run under way, which may be a later one than it was called for, or over. */
function work(): void {
  const number = Atomics.load(control, pooled.number);
  const [module, entry] = unpackJob(Atomics.load(control, pooled.job));
  const loaded = modules.get(module);
  if (loaded !== undefined) {
    const { exports, entries } = loaded;
    try {
      (exports[entries[entry]!] as (mayWait: number) => void)(1);
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
  threads.parentPort.on('message', receive);
}
