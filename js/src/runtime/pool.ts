/** A pool of worker threads that run entries of generated modules together. Independent of what the entries compute. */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { currentStop, within } from '../base/stop.js';
import { controlWord, runFlag, runState } from './control_block.js';
import { mayBlock } from './may_block.js';
import {
  cellOf,
  type FromWorker,
  makeControl,
  packJob,
  poolCell,
  readReason,
  recordDone,
  type ToWorker,
  workerCell,
  writeReason,
} from './protocol.js';
import { startThread, type Thread } from './thread.js';

export { inlineThreads } from './thread.js';

/** A module in shared memory, on the thread that instantiated it. */
export interface SharedModule {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly exports: WebAssembly.Exports;
  readonly entries: readonly string[];
  /** In a memory with several modules: the first phase number of this module, distinct from those of the others. */
  readonly firstPhase?: number;
}

/** Starts a run of an entry by a number of threads. */
export type Begin = (entry: number, threads: number) => void;

/** Duration limit of a brief run in milliseconds. */
const briefMs = 8;

/** Milliseconds that the main thread of a page may spin for a run that is about to end. */
const spinMs = 0.05;

/** Milliseconds without progress after which threads are considered lost, and the polling interval. */
const silence = { maxMs: 10_000, pollMs: 1000 };

/** The polling interval of runs with limits in milliseconds. */
const stopPollMs = 20;

/** 32-bit cells of a module's memory that change with the progress of threads. */
const workCell = controlWord.work / 4;
const progressCells = [workCell, workCell + 1, controlWord.done / 4];

/** One run of an entry by several threads: workers and the calling thread or its deputy. */
export class Job {
  #isOver = false;
  #problem: string | undefined;
  #progress = '';
  #silentMs = 0;
  #lookedAt = 0;
  /** The limits of its call. */
  readonly #stop = currentStop();

  constructor(
    private readonly pool: Pool,
    readonly module: SharedModule,
    readonly entry: string,
    /** Sequence number of the run in the pool. */
    readonly number: number,
    /** Whether an asynchronous caller participates, too. */
    private readonly isBrief: boolean,
    /** The worker that replaces the calling thread. */
    private deputy: number | undefined,
    /** Rolls back a failed run. */
    private readonly undo: (() => void) | undefined,
  ) {}

  /** Participates until the run is over; blocks if the thread may. Error: a thread failed. */
  wait(): void {
    this.settle();
    this.#check();
  }

  /** As `wait`, without the error. */
  settle(): void {
    if (this.#isOver) return;
    while (!this.#help()) this.poll();
    this.#finish();
  }

  /** Resolves when the run is over. Error: a thread failed. */
  async ended(): Promise<void> {
    await this.over();
    this.#check();
  }

  /** As `ended`, without the error. */
  async over(): Promise<void> {
    const participates = this.isBrief && !this.#stop?.hasSignal;
    if (!this.#isOver && !(participates && (await this.#helpBriefly()))) {
      if (this.deputy !== undefined) this.pool.call(this.deputy);
      this.deputy = undefined;
      const until = performance.now() + spinMs;
      while (!this.#isOver && !this.pool.hasEnded(this)) {
        if (performance.now() > until) await this.pool.nextEnd(this);
      }
    }
    this.#finish();
  }

  /** How often to `poll`, in milliseconds. */
  get pollMs(): number {
    return this.#stop === undefined ? silence.pollMs : stopPollMs;
  }

  /** Ends the run if a limit of its call is reached, or a thread that it waits for is lost. */
  poll(): void {
    try {
      this.#stop?.check();
      this.pool.findLost(this);
    } catch (error) {
      this.pool.fail(this, String(error));
    }
  }

  /** Whether there has been no progress for long. Time between polls is capped, as machines sleep. */
  isSilent(): boolean {
    const words = new Int32Array(this.module.memory.buffer);
    const progress = progressCells.map((cell) => Atomics.load(words, cell)).join();
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, silence.pollMs);
    this.#silentMs = progress === this.#progress ? this.#silentMs + passed : 0;
    this.#progress = progress;
    this.#lookedAt = now;
    return this.#silentMs >= silence.maxMs;
  }

  /** Restarts the timeout. */
  resetTimeout(): void {
    this.#silentMs = 0;
  }

  /** Participates between other tasks of the page, for the duration of a brief run. */
  async #helpBriefly(): Promise<boolean> {
    const until = performance.now() + briefMs;
    while (!this.#help()) {
      if (performance.now() > until) return false;
      await nextTask();
      if (this.#isOver) return true;
    }
    return true;
  }

  /** Runs tasks. Returns whether the run is over; if not, other threads still have tasks. */
  #help(): boolean {
    try {
      const run = this.module.exports[this.entry] as (flags: number) => number;
      const found = within(this.#stop, () => run(mayBlock ? runFlag.maySleep : 0));
      if (found === runState.ending) this.deputy = undefined;
      if (found !== runState.over) return false;
      recordDone(this.pool.control, this.number);
    } catch (error) {
      this.pool.fail(this, String(error));
    }
    return true;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#problem = this.pool.release(this);
    if (this.#problem !== undefined) this.undo?.();
  }

  #check(): void {
    if (this.#problem === undefined) return;
    this.#stop?.check();
    throw new LatheError(`a thread failed: ${this.#problem}`);
  }
}

/** What workers instantiate a module from. */
const partsOf = ({ module, memory, entries, firstPhase }: SharedModule) => ({
  module,
  memory,
  entries,
  firstPhase,
});

/** A fixed number of worker threads. */
export class Pool {
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly #threads: Thread[] = [];
  readonly #ids = new Map<SharedModule, { id: number; posted: number; isLoaded: boolean }>();
  #lastId = 0;
  #posted = 0;
  #job: Job | undefined;
  #end: { promise: Promise<void>; resolve: () => void } | undefined;
  #problem: string | undefined;
  readonly #lost = new Set<number>();

  /**
   * `onBroken` receives the reason why the threads are unusable, and whether new ones would be, too: some ran, or were
   * inlined.
   */
  constructor(
    count: number,
    private readonly onBroken: (reason: string, isFinal: boolean) => void,
  ) {
    this.control = makeControl(count);
    for (let index = 0; index < count; ++index) this.#threads.push(this.#start(index));
    this.#post((index) => ({ kind: 'start', control: this.control, index }));
  }

  get size(): number {
    return this.#threads.length;
  }

  /** Modules loaded by the threads. */
  get modules(): number {
    return this.#ids.size;
  }

  /** Whether a thread has not loaded this module yet. */
  isStarting(module: SharedModule): boolean {
    return this.#ids.has(module) && !this.has(module);
  }

  /** Whether a thread has messages that it has not handled. */
  get hasUnhandledMessages(): boolean {
    return !this.#handled(this.#posted);
  }

  /** The current run. */
  get job(): Job | undefined {
    return this.#job;
  }

  /**
   * Starts a run on up to `maxThreads` threads including the calling one. Undefined while another run is active, or
   * until all threads have loaded the module, which the first call requests. `snapshot` as in `beginJob`.
   */
  begin(
    module: SharedModule,
    entry: number,
    maxThreads: number,
    isBrief: boolean,
    snapshot?: () => () => void,
  ): Job | undefined {
    const deputy = Math.min(maxThreads, this.size) - 1;
    if (this.#job !== undefined || deputy < 1 || !this.has(module)) return undefined;
    const { control } = this;
    const undo = snapshot?.();
    (module.exports['threads.begin'] as Begin)(entry, deputy + 1);
    const number = control[poolCell.number]! + 1;
    Atomics.store(control, poolCell.failed, 0);
    Atomics.store(control, poolCell.awaited, 0);
    Atomics.store(control, poolCell.job, packJob(this.#ids.get(module)!.id, entry));
    Atomics.store(control, poolCell.number, number);
    this.#job = new Job(this, module, module.entries[entry]!, number, isBrief, deputy, undo);
    for (let index = 0; index < deputy; ++index) this.call(index);
    return this.#job;
  }

  /** Makes a worker participate in the current run. */
  call(index: number): void {
    Atomics.add(this.control, cellOf(index, workerCell.ticket), 1);
    this.#ring(index);
  }

  /** Whether a thread has recorded the end of the run. */
  hasEnded({ number }: Job): boolean {
    return Atomics.load(this.control, poolCell.done) >= number;
  }

  /** Aborts a run with a reason. */
  fail({ module }: Job, reason: string): void {
    writeReason(this.control, reason);
    Atomics.store(this.control, poolCell.failed, 1);
    (module.exports['threads.abort'] as () => void)();
  }

  /** Ends a job that is over. Returns why it failed, if it did. */
  release(job: Job): string | undefined {
    if (this.#job !== job) return undefined;
    const failed = Atomics.load(this.control, poolCell.failed) === 1;
    job.resetTimeout();
    // Running tasks still write to the memory.
    while (failed && this.#findAtWork(job, true) >= 0);
    this.#job = undefined;
    this.#end?.resolve();
    const reason = failed ? readReason(this.control) : undefined;
    if (this.#problem !== undefined) this.stop();
    return reason;
  }

  /** Resolves when the current run is over. */
  nextEnd(job: Job): Promise<void> {
    if (this.#end !== undefined) return this.#end.promise;
    let resolve = () => {};
    const watch = setInterval(() => job.poll(), job.pollMs);
    const promise = new Promise<void>((done) => {
      resolve = () => {
        clearInterval(watch);
        this.#end = undefined;
        this.#setRef(false);
        done();
      };
    });
    this.#end = { promise, resolve };
    this.#setRef(true);
    Atomics.store(this.control, poolCell.awaited, 1);
    if (this.hasEnded(job)) resolve();
    return promise;
  }

  /** Makes the threads drop a module. It must not be running. */
  drop(module: SharedModule): void {
    const loaded = this.#ids.get(module);
    if (loaded === undefined) return;
    this.#ids.delete(module);
    this.#post(() => ({ kind: 'drop', id: loaded.id }));
  }

  /** Terminates the threads. No run may be active. */
  stop(): void {
    for (const thread of this.#threads.splice(0)) thread.stop();
    this.#ids.clear();
  }

  /** Whether all threads have loaded the module; the first call sends it to them. */
  has(module: SharedModule): boolean {
    let loaded = this.#ids.get(module);
    if (loaded === undefined) {
      const id = ++this.#lastId;
      this.#post(() => ({ kind: 'load', id, ...partsOf(module) }));
      loaded = { id, posted: this.#posted, isLoaded: false };
      this.#ids.set(module, loaded);
    }
    const { posted } = loaded;
    loaded.isLoaded ||= this.#handled(posted);
    return loaded.isLoaded;
  }

  /** Whether all threads have handled this many messages. */
  #handled(count: number): boolean {
    return this.#threads.every(
      (_, index) => Atomics.load(this.control, cellOf(index, workerCell.handled)) >= count,
    );
  }

  #post(message: (index: number) => ToWorker): void {
    ++this.#posted;
    this.#threads.forEach((thread, index) => {
      thread.post(message(index));
      Atomics.store(this.control, cellOf(index, workerCell.posted), this.#posted);
      this.#ring(index);
    });
  }

  #ring(index: number): void {
    Atomics.add(this.control, cellOf(index, workerCell.bell), 1);
    Atomics.notify(this.control, cellOf(index, workerCell.bell));
  }

  get #isStarted(): boolean {
    const handled = (index: number) =>
      Atomics.load(this.control, cellOf(index, workerCell.handled));
    return this.#threads.some((_, index) => handled(index) > 0);
  }

  #setRef(isReferenced: boolean): void {
    for (const thread of this.#threads) thread.setRef(isReferenced);
  }

  #receive(message: FromWorker, index: number): void {
    if (message.kind === 'broken') this.#lose(index, message.reason);
    else if (this.#job === undefined || this.hasEnded(this.#job)) this.#end?.resolve();
  }

  /** Whether the thread has left every run. */
  #isOut(index: number): boolean {
    const { control } = this;
    const ticket = Atomics.load(control, cellOf(index, workerCell.ticket));
    return (
      this.#lost.has(index) || Atomics.load(control, cellOf(index, workerCell.finished)) === ticket
    );
  }

  /** Aborts a run that waits for a terminated thread. */
  findLost(job: Job): void {
    if (this.#job !== job) return;
    const lost = this.#findAtWork(job, false);
    if (lost >= 0) this.#lose(lost, 'it ended');
  }

  /** The index of a thread in the run that is alive, or terminated; -1 if there is none. */
  #findAtWork(job: Job, isAlive: boolean): number {
    const isSilent = job.isSilent();
    return this.#threads.findIndex(
      (each, index) => !this.#isOut(index) && each.isAlive(isSilent) === isAlive,
    );
  }

  /** Excludes a terminated thread, so that the others do not wait for it. */
  #lose(index: number, reason: string): void {
    if (this.#threads.length === 0) return;
    const job = this.#job;
    if (job !== undefined && !this.#isOut(index)) {
      this.fail(job, reason);
      recordDone(this.control, job.number);
    }
    this.#lost.add(index);
    if (this.#problem === undefined)
      this.onBroken(reason, this.#isStarted || this.#threads[index]!.isInlined);
    this.#problem = reason;
    if (job === undefined) this.stop();
    else this.#end?.resolve();
  }

  #start(index: number): Thread {
    return startThread(
      (message) => this.#receive(message, index),
      (reason) => this.#lose(index, reason),
    );
  }
}
