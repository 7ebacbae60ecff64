/**
 * Work for the GPU in the order of the program's calls. It begins at once unless a GPU has to be acquired, or pipelines
 * compiled, first.
 */
import { LatheError, reasonOf } from '../../base/errors.js';
import type { Gpu } from './gpu.js';

export interface Task {
  /** What it waits for; never rejects. Undefined: it can begin. Errors: those of `fail`. */
  prepare?(gpu: Gpu): Promise<unknown> | undefined;
  /** Instead of waiting: the same at once. Errors: those of `fail`. */
  force?(gpu: Gpu): void;
  /** Submits the work. A promise, which never rejects: it is submitted in parts, and later tasks wait for all of it. */
  begin(gpu: Gpu): Promise<void> | undefined | void;
  /** There is no GPU, or a method threw. */
  fail(error: LatheError): void;
}

export class WorkQueue {
  #tasks: (Task | (() => void))[] = [];
  #isWaiting = false;
  /** Whether it waits for the rest of a task that has begun. */
  #isPartial = false;
  #gpu: Gpu | undefined;

  /** `acquire`: a GPU for the next task. Error: there is none. */
  constructor(private readonly acquire: () => Promise<Gpu>) {}

  /** The GPU in use; undefined before the first use and after a loss. */
  get gpu(): Gpu | undefined {
    return this.#gpu?.lost === undefined ? this.#gpu : undefined;
  }

  /** Whether tasks begin at once. */
  get isIdle(): boolean {
    return !this.#isWaiting && this.gpu !== undefined;
  }

  add(task: Task): void {
    this.#tasks.push(task);
    this.#run();
  }

  /** Runs an action after all tasks, without need of a GPU. */
  after(action: () => void): void {
    if (!this.#isWaiting) return action();
    this.#tasks.push(action);
  }

  /**
   * Begins all tasks, whatever they wait for; undefined if there is no GPU yet. Error: one of them ends depending on
   * data, which can only be awaited.
   */
  flush(): Gpu | undefined {
    const { gpu } = this;
    if (gpu === undefined) return undefined;
    while (!this.#isPartial) {
      const task = this.#tasks.shift();
      if (task === undefined) return gpu;
      const isReady = typeof task === 'function' || attempt(task, () => (task.force?.(gpu), true));
      const rest = isReady ? this.#begin(task) : undefined;
      if (rest !== undefined) this.#waitForRest(rest);
    }
    throw new LatheError(
      'a loop that data ends is still running on the GPU: await data() instead of reading synchronously',
    );
  }

  #run(): void {
    if (this.#isWaiting) return;
    for (let task = this.#tasks[0]; task !== undefined; task = this.#tasks[0]) {
      const wait = this.#prepare(task);
      if (wait instanceof Promise) return this.#waitFor(wait);
      this.#tasks.shift();
      if (wait === 'failed') continue;
      const rest = this.#begin(task);
      if (rest !== undefined) return this.#waitForRest(rest);
    }
  }

  #waitFor(promise: Promise<unknown>): void {
    this.#isWaiting = true;
    void promise.then(() => {
      this.#isWaiting = this.#isPartial = false;
      this.#run();
    });
  }

  #waitForRest(rest: Promise<unknown>): void {
    this.#isPartial = true;
    this.#waitFor(rest);
  }

  /** What has to be awaited before a task begins, if anything. */
  #prepare(task: Task | (() => void)): Promise<unknown> | 'ready' | 'failed' {
    const { gpu } = this;
    if (typeof task === 'function') return 'ready';
    if (gpu === undefined) return this.#acquire();
    return attempt(task, () => task.prepare?.(gpu) ?? 'ready') ?? 'failed';
  }

  /** Begins a task, or fails it; the rest of it that later tasks wait for. */
  #begin(task: Task | (() => void)): Promise<unknown> | undefined {
    if (typeof task === 'function') return void task();
    return attempt(task, () => task.begin(this.gpu!) ?? undefined);
  }

  /** Never rejects: without a GPU all tasks fail. */
  async #acquire(): Promise<void> {
    try {
      this.#gpu = await this.acquire();
    } catch (error) {
      for (const task of this.#tasks.splice(0)) {
        if (typeof task === 'function') task();
        else task.fail(latheError(error));
      }
    }
  }
}

function attempt<Result>(task: Task, action: () => Result): Result | undefined {
  try {
    return action();
  } catch (error) {
    task.fail(latheError(error));
    return undefined;
  }
}

const latheError = (error: unknown): LatheError =>
  error instanceof LatheError
    ? error
    : new LatheError(`WebGPU: ${reasonOf(error)}`, { cause: error });
