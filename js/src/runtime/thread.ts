/** Workers of browsers and of Node, as the pool sees them, and where their script is. */
import type { FromWorker, ToWorker } from './protocol.js';

/** A worker of a browser or of Node. */
export interface Thread {
  post(message: ToWorker): void;
  /** Whether it keeps the process of Node alive. */
  hold(isHeld: boolean): void;
  /**
   * False as soon as it is gone, which events tell only later. Browsers tell nothing of workers that
   * they ended, and Node nothing before `isKnown`: there it is gone when a run that waits for it makes
   * no progress.
   */
  isAlive(isSilent: boolean): boolean;
  isKnown(): boolean;
  /** Whether it carries its script: without, there may be another way to start it. */
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

/** The script itself, where it could not be loaded. */
let inlined: string | undefined;

/**
 * Makes threads that start from now on carry their script with them: where bundlers have left no file of it, and in pages
 * that have the package from another origin.
 */
export async function inlineThreads(): Promise<void> {
  inlined = (await import('./inlined_worker.js')).default;
}

/** Starts a thread. Why it cannot be used, `lose` hears later. */
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
      hold: nothing,
      isAlive: () => false,
      isKnown: () => true,
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
    hold: () => {},
    isAlive: (isSilent) => !isSilent,
    isKnown: () => true,
    isInlined: inlined !== undefined,
    stop: () => worker.terminate(),
  };
}

function startInNode(
  threads: NodeThreads,
  receive: Listener,
  lose: (reason: string) => void,
): Thread {
  // Spelled so that bundlers do not take it for a script of the page.
  const worker =
    inlined === undefined
      ? new threads.Worker(new URL(import.meta.url.replace(/[^/]*$/, 'worker.js')))
      : new threads.Worker(inlined, { eval: true });
  worker.on('message', receive);
  worker.on('error', (error) => lose(String(error)));
  worker.on('exit', () => lose('it ended'));
  worker.unref();
  const utilization = () => worker.performance.eventLoopUtilization();
  // Node says 0 until it was asked after it heard of the thread, and -1 of one that has been stopped.
  const isKnown = () => utilization().idle !== 0 || utilization().active !== 0;
  return {
    post: (message) => worker.postMessage(message),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    isAlive: (isSilent) => (isKnown() ? utilization().idle >= 0 : !isSilent),
    isKnown,
    isInlined: inlined !== undefined,
    stop: () => void worker.terminate(),
  };
}
