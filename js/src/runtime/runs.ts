/**
 * What is asked of a module and need not be waited for: tasks of one or several runs, one after the other in the order they
 * were asked. Threads go on with them while the caller does other things. Knows nothing of what the runs compute.
 */
import type { Entry } from './entry.js';
import type { Job } from './pool.js';
import { poolIsBusy, poolIsIdle } from './threads.js';

/** Runs of one entry that belong together. */
export interface Task {
  readonly entry: Entry;
  /** Whether it wants another run. */
  readonly hasNext: boolean;
  /** Puts the inputs of that run into the memory. */
  load(): void;
  /** Takes its results out, before anything else happens to the memory. */
  collect(): void;
  /** Hears that it is over, or why it ends early. */
  end(error?: unknown): void;
}

/** A task of one run. */
class Call<T> implements Task {
  hasNext = true;
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

/** The tasks of one module, or of several that take turns. */
export class Runs {
  /** The first one is at work where there is a job. */
  readonly #tasks: Task[] = [];
  #job: Job | undefined;
  #isFollowed = false;
  /** Whether a task is at the memory right now: what it does there does not wait for it. */
  #isInside = false;

  /** Whether a task is not over. */
  get isBusy(): boolean {
    return this.#tasks.length > 0;
  }

  /**
   * One run: at once, or after the tasks before it and what threads do for others. `write` puts its
   * inputs into the memory, `read` makes the result of what it left there.
   */
  call<T>(entry: Entry, write: () => void, read: () => T): Promise<T> {
    const call = new Call(entry, write, read);
    this.#tasks.push(call);
    if (this.#tasks.length === 1 && !poolIsBusy()) this.#go();
    this.#follow();
    return call.result;
  }

  /** Begins a task at once; there is no other. */
  begin(task: Task): void {
    this.#tasks.push(task);
    this.#go();
    this.#follow();
  }

  /** Blocks until all tasks are over, or this one; a page's own thread spins. */
  now(last?: Task): void {
    while (!this.#isInside && (last === undefined ? this.isBusy : this.#tasks.includes(last))) {
      const job = this.#job;
      if (job === undefined) this.#go();
      else this.#finish(job);
    }
  }

  /** Ends all tasks that have not begun. */
  drop(error: Error): void {
    const begun = this.#job === undefined ? 0 : 1;
    for (const task of this.#tasks.splice(begun)) task.end(error);
  }

  /** Begins runs until threads are at one, or nothing is left. */
  #go(): void {
    for (let task = this.#tasks[0]; task !== undefined; task = this.#tasks[0]) {
      this.#isInside = true;
      try {
        while (task.hasNext) {
          task.load();
          this.#job = task.entry.begin();
          if (this.#job !== undefined) return;
          task.entry.runAlone();
          task.collect();
        }
        this.#end();
      } catch (error) {
        this.#end(error);
      } finally {
        this.#isInside = false;
      }
    }
  }

  /** Waits for the run that threads are at, and takes its results, once. */
  #finish(job: Job): void {
    job.settle();
    if (this.#job !== job) return;
    this.#job = undefined;
    const task = this.#tasks[0]!;
    this.#isInside = true;
    try {
      job.wait();
      task.collect();
      if (!task.hasNext) this.#end();
    } catch (error) {
      this.#end(error);
    } finally {
      this.#isInside = false;
    }
  }

  #end(error?: unknown): void {
    this.#tasks.shift()!.end(error);
  }

  #follow(): void {
    if (this.#isFollowed || !this.isBusy) return;
    this.#isFollowed = true;
    void this.#walk();
  }

  async #walk(): Promise<void> {
    await undefined; // a caller that wants a result at once helps with it
    while (this.isBusy) {
      const job = this.#job;
      if (job === undefined) {
        await poolIsIdle();
        if (this.#job === undefined) this.#go();
      } else {
        await job.over();
        this.#finish(job);
      }
    }
    this.#isFollowed = false;
  }
}
