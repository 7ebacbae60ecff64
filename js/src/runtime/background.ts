/** Background compilation in a worker, on a copy of the core. */
import { encodeJson } from '../base/json.js';
import { nextTask } from '../base/pause.js';
import { TextEncoder } from '../base/text.js';
import type { CompileRequest, GraphRequest } from '../core/abi.js';
import { Core } from '../core/core.js';
import { CoreExecutable, type CoreGraph, CoreModel } from '../core/handles.js';
import { type CompiledCopy, type CopyOfCore, type FromWorker, growTo } from './protocol.js';
import { inlineThreads, startThread, type Thread } from './thread.js';

/** Larger cores are not copied. */
const maxCoreBytes = 2 ** 27;
const partBytes = 2 ** 21;
/** Timeout of a worker: browsers do not report that they have terminated one. */
const timeoutMs = 30_000;
/** How long a worker that was started early waits for work. */
const idleMs = 2_000;

type Answer = Exclude<FromWorker, { kind: 'done' }>;

interface Worker {
  readonly thread: Thread;
  hasEnded: boolean;
  /** Undefined: the worker has ended. */
  answer: (what: Answer | undefined) => void;
}

/** Runs the queued compilations one at a time; stopped when the queue is empty. */
let worker: Worker | undefined;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();
/** Whether a worker has ever answered; false: workers do not start here, and are not tried a second time. */
let canAnswer: boolean | undefined;

/**
 * Runs a job in a task of its queue, so that only one copy of the core exists at a time. `compile` returns undefined if
 * no worker starts, the core is too large to be copied, or the graph or model cannot be compiled; compiling it
 * synchronously then reports the error. Errors: those of the job.
 */
export async function enqueueCompilation<T>(
  job: (compile: typeof compiled) => T,
): Promise<Awaited<T>> {
  waiting += 1;
  // The worker starts while the graph is traced.
  if (canAnswer !== false) worker ??= startWorker();
  const turn = last.then(nextTask).then(() => job(compiled));
  last = turn.catch(() => {});
  try {
    return await turn;
  } finally {
    waiting -= 1;
    if (waiting === 0) stop();
  }
}

/** In pages, starts the worker before a compilation is requested; it stops unless one follows within `idleMs`. */
export function startWorkerEarly(): void {
  if (worker !== undefined || canAnswer === false) return;
  worker = startWorker();
  setTimeout(() => waiting === 0 && stop(), idleMs);
}

async function compiled(
  source: CoreGraph | CoreModel,
  request: GraphRequest | CompileRequest,
): Promise<CoreExecutable | undefined> {
  const model = source instanceof CoreModel ? (source as CoreModel) : undefined;
  const stored = model?.stored(request as CompileRequest);
  if (stored !== undefined) return stored;
  const { core, handle } = source;
  const { buffer } = core.exports.memory;
  if (canAnswer === false || buffer.byteLength > maxCoreBytes) return undefined;
  const memory = buffer.slice() as ArrayBuffer;
  const requestBytes = new TextEncoder().encode(encodeJson(request));
  const what = model === undefined ? 'graph' : 'model';
  const { module } = core;
  const answer = await requestCompilation({
    kind: 'compile',
    core: module,
    memory,
    what,
    handle,
    request: requestBytes,
  });
  canAnswer ??= answer !== undefined;
  if (answer?.kind !== 'compiled') return undefined;
  const executable = await executableOf(module, answer);
  model?.store(request as CompileRequest, executable);
  return executable;
}

async function requestCompilation(job: CopyOfCore): Promise<Answer | undefined> {
  const current = (worker ??= startWorker());
  const answer = current.hasEnded ? undefined : await answerOf(current, job);
  if (current.hasEnded && worker === current) worker = undefined;
  if (answer !== undefined || current.thread.isInlined) return answer;
  // If its script did not load, an inlined script may.
  const isInlined = await inlineThreads().then(
    () => true,
    () => false,
  );
  return isInlined ? requestCompilation(job) : undefined;
}

function answerOf(worker: Worker, job: CopyOfCore): Promise<Answer | undefined> {
  return new Promise((answer) => {
    const silent = setTimeout(() => {
      canAnswer = false;
      stop();
      answer({ kind: 'broken', reason: 'it is silent' });
    }, timeoutMs);
    worker.answer = (what) => {
      clearTimeout(silent);
      answer(what);
    };
    worker.thread.setRef(true);
    worker.thread.post(job);
  });
}

function startWorker(): Worker {
  const thread = startThread(
    (message) => started.answer(message as Answer),
    () => {
      started.hasEnded = true;
      started.answer(undefined);
    },
  );
  const started: Worker = { thread, hasEnded: false, answer: () => {} };
  return started;
}

function stop(): void {
  worker?.thread.stop();
  worker = undefined;
}

/** A separate core that continues from the memory of the worker's. Copied in parts, as new pages of memory are slow. */
async function executableOf(
  core: WebAssembly.Module,
  { memory, executable, module }: CompiledCopy,
): Promise<CoreExecutable> {
  const copy = new Core(core);
  const target = copy.exports.memory;
  growTo(target, memory.byteLength);
  const bytes = new Uint8Array(target.buffer);
  for (let from = 0; from < memory.byteLength; from += partBytes) {
    const part = Math.min(partBytes, memory.byteLength - from);
    bytes.set(new Uint8Array(memory, from, part), from);
    await nextTask();
  }
  return new CoreExecutable(copy, executable, module);
}
