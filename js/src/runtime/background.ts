/** Compiles in a worker, on a copy of the core: a page goes on meanwhile, and the core itself has nothing of it. */
import { encodeJson } from '../base/json.js';
import { nextTask } from '../base/pause.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { GraphRequest, ModuleMetadata } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { partsAt } from '../core/parts.js';
import type { Executable } from './heap_module.js';
import type { CompiledCopy, CopyOfCore, FromWorker } from './protocol.js';
import { inlineThreads, startThread, type Thread } from './thread.js';

/** Larger cores are not copied. */
const mostBytes = 2 ** 27;
/** Browsers tell nothing of workers that they ended: one that is silent for so many milliseconds is gone. */
const longestMs = 30_000;

type Answer = Exclude<FromWorker, { kind: 'done' }>;

interface Worker {
  readonly thread: Thread;
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
 * where no worker can be had, the core is too large to be copied, or it says why the graph, as it is then, cannot be compiled:
 * whoever compiles it at once hears of it. Errors: those of the job.
 */
export async function inTurn<T>(job: (compile: typeof compiled) => T): Promise<Awaited<T>> {
  waiting += 1;
  const turn = last.then(nextTask).then(() => job(compiled));
  last = turn.catch(() => {});
  try {
    return await turn;
  } finally {
    waiting -= 1;
    if (waiting === 0) stop();
  }
}

async function compiled(
  { core, handle }: CoreGraph,
  request: GraphRequest,
): Promise<Executable | undefined> {
  const { buffer } = core.exports.memory;
  if (canAnswer === false || buffer.byteLength > mostBytes) return undefined;
  const memory = buffer.slice() as ArrayBuffer;
  const text = new TextEncoder().encode(encodeJson(request));
  const job = { kind: 'compile', core: core.module, memory, graph: handle, request: text } as const;
  const answer = await asked(job);
  canAnswer ??= answer !== undefined;
  return answer?.kind === 'compiled' ? executableOf(answer) : undefined;
}

async function asked(job: CopyOfCore): Promise<Answer | undefined> {
  worker ??= started();
  const { thread } = worker;
  const answer = await answerOf(worker, job);
  if (answer !== undefined || thread.isInlined) return answer;
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
      if (worker === own) worker = undefined;
      own.answer(undefined);
    },
  );
  const own: Worker = { thread, answer: () => {} };
  return own;
}

function stop(): void {
  worker?.thread.stop();
  worker = undefined;
}

function executableOf({ memory, metadata, parts, module }: CompiledCopy): Executable {
  const bytes = new Uint8Array(memory);
  const text = bytes.subarray(metadata, bytes.indexOf(0, metadata));
  return {
    metadata: () => JSON.parse(new TextDecoder().decode(text)) as ModuleMetadata,
    parts: () => ({ ...partsAt(memory, parts), module }),
  };
}
