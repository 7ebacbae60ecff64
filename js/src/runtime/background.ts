/** Compiles in a worker, on a copy of the core: a page goes on meanwhile, and the core itself has nothing of it. */
import { encodeJson } from '../base/json.js';
import { nextTask } from '../base/pause.js';
import { TextEncoder } from '../base/text.js';
import type { CompileRequest, GraphRequest } from '../core/abi.js';
import { Core } from '../core/core.js';
import { CoreExecutable, type CoreGraph, CoreModel } from '../core/handles.js';
import { type CompiledCopy, type CopyOfCore, type FromWorker, growTo } from './protocol.js';
import { inlineThreads, startThread, type Thread } from './thread.js';

/** Larger cores are not copied. */
const mostBytes = 2 ** 27;
const partBytes = 2 ** 21;
/** Browsers tell nothing of workers that they ended: one that is silent for so many milliseconds is gone. */
const longestMs = 30_000;
/** How long one that was started ahead waits for work. */
const aheadMs = 2_000;

type Answer = Exclude<FromWorker, { kind: 'done' }>;

interface Worker {
  readonly thread: Thread;
  isGone: boolean;
  /** Undefined: it is gone. */
  answer: (what: Answer | undefined) => void;
}

/** It has those that wait one after the other, and ends when none does. */
let worker: Worker | undefined;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();
/** Whether a worker has ever answered; false: none can be had here, and asking again would only fill the console, or wait in vain. */
let canAnswer: boolean | undefined;

/**
 * Does a job in a task of its own, when those before it are done: the core is copied for one at a time. `compile` gives undefined
 * where no worker can be had, the core is too large to be copied, or it says why the graph or model, as it is then, cannot be compiled:
 * whoever compiles it at once hears of it. Errors: those of the job.
 */
export async function inTurn<T>(job: (compile: typeof compiled) => T): Promise<Awaited<T>> {
  waiting += 1;
  // While it starts, the graph is written down.
  if (canAnswer !== false) worker ??= started();
  const turn = last.then(nextTask).then(() => job(compiled));
  last = turn.catch(() => {});
  try {
    return await turn;
  } finally {
    waiting -= 1;
    if (waiting === 0) stop();
  }
}

/** For pages: starts the worker for what will soon be compiled. It ends if nothing is. */
export function startAhead(): void {
  if (worker !== undefined || canAnswer === false) return;
  worker = started();
  setTimeout(() => waiting === 0 && stop(), aheadMs);
}

async function compiled(
  given: CoreGraph | CoreModel,
  request: GraphRequest | CompileRequest,
): Promise<CoreExecutable | undefined> {
  const { core, handle } = given;
  const { buffer } = core.exports.memory;
  if (canAnswer === false || buffer.byteLength > mostBytes) return undefined;
  const memory = buffer.slice() as ArrayBuffer;
  const text = new TextEncoder().encode(encodeJson(request));
  const what = given instanceof CoreModel ? 'model' : 'graph';
  const { module } = core;
  const answer = await asked({
    kind: 'compile',
    core: module,
    memory,
    what,
    handle,
    request: text,
  });
  canAnswer ??= answer !== undefined;
  return answer?.kind === 'compiled' ? executableOf(module, answer) : undefined;
}

async function asked(job: CopyOfCore): Promise<Answer | undefined> {
  const own = (worker ??= started());
  const answer = own.isGone ? undefined : await answerOf(own, job);
  if (own.isGone && worker === own) worker = undefined;
  if (answer !== undefined || own.thread.isInlined) return answer;
  // Where its script cannot be loaded there may be another way to start it.
  const isInlined = await inlineThreads().then(
    () => true,
    () => false,
  );
  return isInlined ? asked(job) : undefined;
}

function answerOf(worker: Worker, job: CopyOfCore): Promise<Answer | undefined> {
  return new Promise((answer) => {
    const silent = setTimeout(() => {
      canAnswer = false;
      stop();
      answer({ kind: 'broken', reason: 'it is silent' });
    }, longestMs);
    worker.answer = (what) => {
      clearTimeout(silent);
      answer(what);
    };
    worker.thread.hold(true);
    worker.thread.post(job);
  });
}

function started(): Worker {
  const thread = startThread(
    (message) => own.answer(message as Answer),
    () => {
      own.isGone = true;
      own.answer(undefined);
    },
  );
  const own: Worker = { thread, isGone: false, answer: () => {} };
  return own;
}

function stop(): void {
  worker?.thread.stop();
  worker = undefined;
}

/** In a core of its own, which goes on where the worker's ended. It is filled bit by bit: pages of memory cost time. */
async function executableOf(
  core: WebAssembly.Module,
  { memory, executable, module }: CompiledCopy,
): Promise<CoreExecutable> {
  const copy = new Core(core);
  const own = copy.exports.memory;
  growTo(own, memory.byteLength);
  const target = new Uint8Array(own.buffer);
  for (let from = 0; from < memory.byteLength; from += partBytes) {
    const part = Math.min(partBytes, memory.byteLength - from);
    target.set(new Uint8Array(memory, from, part), from);
    await nextTask();
  }
  return new CoreExecutable(copy, executable, module);
}
