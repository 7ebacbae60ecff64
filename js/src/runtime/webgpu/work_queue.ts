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
  /** Submits the work. */
  begin(gpu: Gpu): void;
  /** There is no GPU, or a method threw. */
  fail(error: LatheError): void;
}

export class WorkQueue {
  #tasks: (Task | (() => void))[] = [];
  #isWaiting = false;
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

  /** Begins all tasks, whatever they wait for; undefined if there is no GPU yet. */
  flush(): Gpu | undefined {
    const { gpu } = this;
    if (gpu === undefined) return undefined;
    for (const task of this.#tasks.splice(0)) {
      if (typeof task === 'function') task();
      else attempt(task, () => (task.force?.(gpu), task.begin(gpu)));
    }
    return gpu;
  }

  #run(): void {
    if (this.#isWaiting) return;
    for (let task = this.#tasks[0]; task !== undefined; task = this.#tasks[0]) {
      const wait = this.#begin(task);
      if (wait !== undefined) {
        this.#isWaiting = true;
        void wait.then(() => {
          this.#isWaiting = false;
          this.#run();
        });
        return;
      }
      this.#tasks.shift();
    }
  }

  /** Begins a task, or fails it; what has to be awaited before, if anything. */
  #begin(task: Task | (() => void)): Promise<unknown> | undefined {
    const { gpu } = this;
    if (typeof task === 'function') return void task();
    if (gpu === undefined) return this.#acquire();
    return attempt(task, () => {
      const wait = task.prepare?.(gpu);
      if (wait === undefined) task.begin(gpu);
      return wait;
    });
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
