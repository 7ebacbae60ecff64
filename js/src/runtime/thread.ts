/** Web workers and Node workers with a common interface, and the URL of their script. */
import type { FromWorker, ToWorker } from './protocol.js';

/** A web worker or a Node worker. */
export interface Thread {
  post(message: ToWorker): void;
  /** Whether it prevents the Node process from exiting. */
  setRef(isReferenced: boolean): void;
  /**
   * False once it has terminated, before the event arrives. Browsers do not report terminated workers, nor does Node
   * before the thread has started: such a worker is considered terminated if the run that waits for it makes no progress.
   */
  isAlive(isSilent: boolean): boolean;
  /** Whether its script is inlined; otherwise an inlined script may start where this one did not. */
  readonly isInlined: boolean;
  stop(): void;
}

export type Listener = (message: FromWorker) => void;

interface NodeWorker {
  postMessage(message: ToWorker): void;
  on(event: 'message', handler: Listener): void;
  on(event: 'error', handler: (error: unknown) => void): void;
  on(event: 'exit', handler: () => void): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<number>;
  performance: { eventLoopUtilization(): { idle: number; active: number } };
}

interface NodeThreads {
  Worker: new (script: URL | string, options?: { eval: boolean }) => NodeWorker;
}

/** The inlined script, used where the file cannot be loaded. */
let inlined: string | undefined;

/**
 * Inlines the script of threads that start from now on: for bundles without the file, and for pages that load the
 * package from another origin.
 */
export async function inlineThreads(): Promise<void> {
  inlined = (await import('./inlined_worker.js')).default;
}

/** Starts a thread; `lose` is called with the reason if it fails or ends. */
export function startThread(receive: Listener, lose: (reason: string) => void): Thread {
  try {
    const node = (
      globalThis as { process?: { getBuiltinModule?: (name: string) => NodeThreads } }
    ).process?.getBuiltinModule?.('node:worker_threads');
    return node === undefined ? startInPage(receive, lose) : startInNode(node, receive, lose);
  } catch (error) {
    queueMicrotask(() => lose(String(error)));
    const nothing = () => {};
    return {
      post: nothing,
      setRef: nothing,
      isAlive: () => false,
      isInlined: inlined !== undefined,
      stop: nothing,
    };
  }
}

function startInPage(receive: Listener, lose: (reason: string) => void): Thread {
  const worker =
    inlined === undefined
      ? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
      : new Worker(URL.createObjectURL(new Blob([inlined], { type: 'text/javascript' })));
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => receive(data);
  worker.onerror = ({ message }) => lose(message || 'its script cannot be loaded');
  return {
    post: (message) => worker.postMessage(message),
    setRef: () => {},
    isAlive: (isSilent) => !isSilent,
    isInlined: inlined !== undefined,
    stop: () => worker.terminate(),
  };
}

function startInNode(
  threads: NodeThreads,
  receive: Listener,
  lose: (reason: string) => void,
): Thread {
  // Not `new Worker(new URL(…))` of a literal, which bundlers would treat as a script of the page.
  const worker =
    inlined === undefined
      ? new threads.Worker(new URL(import.meta.url.replace(/[^/]*$/, 'worker.js')))
      : new threads.Worker(inlined, { eval: true });
  worker.on('message', receive);
  worker.on('error', (error) => lose(String(error)));
  worker.on('exit', () => lose('it ended'));
  worker.unref();
  const utilization = () => worker.performance.eventLoopUtilization();
  // Node reports 0 on the first query and until the thread has started, and -1 after it was terminated.
  const isReported = () => utilization().idle !== 0 || utilization().active !== 0;
  return {
    post: (message) => worker.postMessage(message),
    setRef: (isReferenced) => (isReferenced ? worker.ref() : worker.unref()),
    isAlive: (isSilent) => (isReported() ? utilization().idle >= 0 : !isSilent),
    isInlined: inlined !== undefined,
    stop: () => void worker.terminate(),
  };
}
