/** Compiles in a worker, on a copy of the core: a page goes on meanwhile, and the core itself has nothing of it. */
import { encodeJson } from '../base/json.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { GraphRequest, ModuleMetadata } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { partsAt } from '../core/parts.js';
import type { Executable } from './heap_module.js';
import type { CompiledCopy, CopyOfCore } from './protocol.js';
import { inlineThreads, startThread, type Thread } from './thread.js';

/** Larger cores are not copied. */
const mostBytes = 2 ** 27;

interface Worker {
  readonly thread: Thread;
  answer: (what: CompiledCopy | undefined) => void;
}

/** It has those that wait one after the other, and ends when none does. */
let worker: Worker | undefined;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * What the graph, as it is now, compiles to. Undefined where no worker can be had, the core is too large to be copied, or it says
 * why the graph cannot be compiled: whoever compiles it then hears of it.
 */
export async function compileInBackground(
  { core, handle }: CoreGraph,
  request: GraphRequest,
): Promise<Executable | undefined> {
  const { buffer } = core.exports.memory;
  if (buffer.byteLength > mostBytes) return undefined;
  const memory = buffer.slice() as ArrayBuffer;
  const text = new TextEncoder().encode(encodeJson(request));
  const job = { kind: 'compile', core: core.module, memory, graph: handle, request: text } as const;
  waiting += 1;
  const turn = last.then(() => compiledBy(job));
  last = turn;
  const compiled = await turn;
  waiting -= 1;
  if (waiting === 0) stop();
  return compiled && executableOf(compiled);
}

async function compiledBy(job: CopyOfCore): Promise<CompiledCopy | undefined> {
  // Where the script of workers cannot be loaded there may be another way to start them.
  return (
    (await asked(job)) ?? ((await inlineThreads().catch(() => false)) ? asked(job) : undefined)
  );
}

function asked(job: CopyOfCore): Promise<CompiledCopy | undefined> {
  return new Promise((answer) => {
    worker ??= started();
    worker.answer = answer;
    worker.thread.hold(true);
    worker.thread.post(job);
  });
}

function started(): Worker {
  const thread = startThread(
    (message) => own.answer(message.kind === 'compiled' ? message : undefined),
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
