/**
 * A queue of tasks of one or several runs on a module. Threads work on them while the caller continues. Independent of
 * what the runs compute.
 */
import { currentStop, type Stop, within } from '../base/stop.js';
import type { Entry } from './entry.js';
import type { Job } from './pool.js';
import { poolIsBusy, poolIsIdle } from './threads.js';

/** A sequence of runs of one entry. */
export interface Task {
  readonly entry: Entry;
  /** The limits of its call. */
  readonly stop?: Stop | undefined;
  /** Whether it has another run. */
  readonly hasNext: boolean;
  /** Stores the inputs of the next run into the memory. */
  load(): void;
  /** Reads its results before the memory changes. */
  collect(): void;
  /** Called when the task is over, with the error if it failed. */
  end(error?: unknown): void;
}

/** A task of one run. */
class Call<T> implements Task {
  hasNext = true;
  readonly stop = currentStop();
  readonly result: Promise<T>;
  #value!: T;
  #settle!: { resolve: (value: T) => void; reject: (error: unknown) => void };

  constructor(
    readonly entry: Entry,
    private readonly write: () => void,
    private readonly read: () => T,
  ) {
    this.result = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  load(): void {
    this.hasNext = false;
    this.write();
  }

  collect(): void {
    this.#value = this.read();
  }

  end(error?: unknown): void {
    if (error === undefined) this.#settle.resolve(this.#value);
    else this.#settle.reject(error);
  }
}

/** The tasks of one module, or of several that share a queue. */
export class RunQueue {
  /** The first task is running if there is a job. */
  readonly #tasks: Task[] = [];
  #job: Job | undefined;
  #isProcessing = false;
  /** Whether a task is accessing the memory; what it calls must not wait for it. */
  #isAccessing = false;

  /** Whether a task is queued or running. */
  get isBusy(): boolean {
    return this.#tasks.length > 0;
  }

  /**
   * Queues one run, after the tasks before it and the current run of the threads. `write` stores its inputs into the
   * memory, `read` returns the result from it.
   */
  call<T>(entry: Entry, write: () => void, read: () => T): Promise<T> {
    const call = new Call(entry, write, read);
    this.#tasks.push(call);
    if (this.#tasks.length === 1 && !poolIsBusy()) this.#startRuns();
    this.#startProcessing();
    return call.result;
  }

  /** Starts a task immediately; there must be no other. */
  begin(task: Task): void {
    this.#tasks.push(task);
    this.#startRuns();
    this.#startProcessing();
  }

  /** Blocks until all tasks are over, or this one; the main thread of a page spins. */
  drain(last?: Task): void {
    while (!this.#isAccessing && (last === undefined ? this.isBusy : this.#tasks.includes(last))) {
      const job = this.#job;
      if (job === undefined) this.#startRuns();
      else this.#finish(job);
    }
  }

  /** Rejects all tasks that have not started. */
  drop(error: Error): void {
    const begun = this.#job === undefined ? 0 : 1;
    for (const task of this.#tasks.splice(begun)) task.end(error);
  }

  /** Starts runs until one is multithreaded, or the queue is empty. */
  #startRuns(): void {
    for (let task = this.#tasks[0]; task !== undefined; task = this.#tasks[0]) {
      this.#isAccessing = true;
      try {
        while (task.hasNext) {
          const { entry, stop } = task;
          stop?.check();
          task.load();
          this.#job = within(stop, () => entry.begin());
          if (this.#job !== undefined) return;
          within(stop, () => entry.runSingleThreaded());
          task.collect();
        }
        this.#end();
      } catch (error) {
        this.#end(error);
      } finally {
        this.#isAccessing = false;
      }
    }
  }

  /** Waits for the current multithreaded run, and collects its results once. */
  #finish(job: Job): void {
    job.settle();
    if (this.#job !== job) return;
    this.#job = undefined;
    const task = this.#tasks[0]!;
    this.#isAccessing = true;
    try {
      job.wait();
      task.collect();
      if (!task.hasNext) this.#end();
    } catch (error) {
      this.#end(error);
    } finally {
      this.#isAccessing = false;
    }
  }

  #end(error?: unknown): void {
    this.#tasks.shift()!.end(error);
  }

  #startProcessing(): void {
    if (this.#isProcessing || !this.isBusy) return;
    this.#isProcessing = true;
    void this.#processQueue();
  }

  async #processQueue(): Promise<void> {
    await undefined; // a caller that blocks on the result participates
    while (this.isBusy) {
      const job = this.#job;
      if (job === undefined) {
        await poolIsIdle();
        if (this.#job === undefined) this.#startRuns();
      } else {
        await job.over();
        this.#finish(job);
      }
    }
    this.#isProcessing = false;
  }
}
