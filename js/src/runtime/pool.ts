/** Worker threads that run entries of generated modules together. Knows nothing of what the entries compute. */
import { LatheError } from '../base/errors.js';
import { nextTask } from '../base/pause.js';
import { mayBlock } from './may_block.js';
import {
  cellOf,
  type FromWorker,
  how,
  makeControl,
  noteDone,
  own,
  packJob,
  pooled,
  readReason,
  state,
  type ToWorker,
  writeReason,
} from './protocol.js';
import { startThread, type Thread } from './thread.js';

export { inlineThreads } from './thread.js';

/** A module in shared memory, as the thread that made it sees it. */
export interface SharedModule {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly exports: WebAssembly.Exports;
  readonly entries: readonly string[];
  /** Where others lie in the same memory: the number of its first phase, that none of theirs has. */
  readonly firstPhase?: number;
}

/** Starts a run of an entry by so many threads. */
export type Begin = (entry: number, threads: number) => void;

/** Milliseconds after which a run is not brief, whatever its work is. */
const briefMs = 8;

/** Milliseconds that a page may lose to a run that is about to end. */
const spinMs = 0.05;

/** Milliseconds without any progress after which threads count as silent, and between two looks. */
const silence = { mostMs: 10_000, lookMs: 1000 };

/** Words of a module's memory that say what threads have taken and done. */
const progressCells = [0, 1, 16];

/** One run of an entry by several threads, one of them the caller's or a worker in its place. */
export class Job {
  #isOver = false;
  #problem: string | undefined;
  #progress = '';
  #silentMs = 0;
  #lookedAt = 0;

  constructor(
    private readonly pool: Pool,
    readonly module: SharedModule,
    readonly entry: string,
    /** Counts the runs of the pool. */
    readonly number: number,
    /** Whether a caller who does not want to wait takes part all the same. */
    private readonly isBrief: boolean,
    /** The worker that takes the caller's place. */
    private deputy: number | undefined,
    /** Undoes what a run that fails has done by then. */
    private readonly undo: (() => void) | undefined,
  ) {}

  /** Helps until the run is over; may sleep where that is allowed. Error: a thread failed. */
  wait(): void {
    this.settle();
    this.#check();
  }

  /** `wait` that leaves the error to others. */
  settle(): void {
    if (this.#isOver) return;
    while (!this.#help()) this.pool.findLost(this);
    this.#finish();
  }

  /** Resolves when the run is over. Error: a thread failed. */
  async ended(): Promise<void> {
    await this.over();
    this.#check();
  }

  /** `ended` that leaves the error to others. */
  async over(): Promise<void> {
    if (!this.#isOver && !(this.isBrief && (await this.#helpBriefly()))) {
      if (this.deputy !== undefined) this.pool.call(this.deputy);
      this.deputy = undefined;
      const until = performance.now() + spinMs;
      while (!this.#isOver && !this.pool.hasEnded(this)) {
        if (performance.now() > until) await this.pool.nextEnd(this);
      }
    }
    this.#finish();
  }

  /** Whether there has been no progress for long, as far as looks can tell: machines sleep. */
  isSilent(): boolean {
    const words = new Int32Array(this.module.memory.buffer);
    const progress = progressCells.map((cell) => Atomics.load(words, cell)).join();
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, silence.lookMs);
    this.#silentMs = progress === this.#progress ? this.#silentMs + passed : 0;
    this.#progress = progress;
    this.#lookedAt = now;
    return this.#silentMs >= silence.mostMs;
  }

  /** Begins to count anew. */
  forgive(): void {
    this.#silentMs = 0;
  }

  /** `#help` again and again, between other tasks of the page, for as long as a brief run may take. */
  async #helpBriefly(): Promise<boolean> {
    const until = performance.now() + briefMs;
    while (!this.#help()) {
      if (performance.now() > until) return false;
      await nextTask();
      if (this.#isOver) return true;
    }
    return true;
  }

  /** Takes tasks. Returns whether the run is over; if not, others keep it waiting. */
  #help(): boolean {
    try {
      const run = this.module.exports[this.entry] as (how: number) => number;
      const found = run(mayBlock ? how.maySleep : 0);
      if (found === state.ending) this.deputy = undefined;
      if (found !== state.over) return false;
      noteDone(this.pool.control, this.number);
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
    if (this.#problem !== undefined) throw new LatheError(`a thread failed: ${this.#problem}`);
  }
}

/** What threads make an instance of. */
const partsOf = ({ module, memory, entries, firstPhase }: SharedModule) => ({
  module,
  memory,
  entries,
  firstPhase,
});

/** A fixed number of threads. */
export class Pool {
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly #threads: Thread[] = [];
  readonly #ids = new Map<SharedModule, { id: number; posted: number; isThere: boolean }>();
  #lastId = 0;
  #posted = 0;
  #job: Job | undefined;
  #end: { promise: Promise<void>; resolve: () => void } | undefined;
  #problem: string | undefined;
  #isKnown = false;
  readonly #lost = new Set<number>();

  /** `onBroken` hears why the threads are of no use any more, and whether others would not be either: some ran, or carry their script. */
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

  /** Modules that the threads keep. */
  get modules(): number {
    return this.#ids.size;
  }

  /** Whether some thread has not got this module yet, which it has been sent. */
  isStarting(module: SharedModule): boolean {
    return this.#ids.has(module) && !this.#has(module);
  }

  /** Whether some thread has not got all that it has been sent. */
  get isBehind(): boolean {
    return !this.#handled(this.#posted);
  }

  /** The run under way. */
  get job(): Job | undefined {
    return this.#job;
  }

  /**
   * Starts a run on up to `most` threads, the caller's among them. Nothing where one is under way,
   * or before all threads have the module, which the first call sends them. `keep` as in `beginJob`.
   */
  begin(
    module: SharedModule,
    entry: number,
    most: number,
    isBrief: boolean,
    keep?: () => () => void,
  ): Job | undefined {
    const deputy = Math.min(most, this.size) - 1;
    if (this.#job !== undefined || deputy < 1 || !this.#has(module)) return undefined;
    const { control } = this;
    const undo = keep?.();
    (module.exports['threads.begin'] as Begin)(entry, deputy + 1);
    const number = control[pooled.number]! + 1;
    Atomics.store(control, pooled.failed, 0);
    Atomics.store(control, pooled.awaited, 0);
    Atomics.store(control, pooled.job, packJob(this.#ids.get(module)!.id, entry));
    Atomics.store(control, pooled.number, number);
    this.#job = new Job(this, module, module.entries[entry]!, number, isBrief, deputy, undo);
    for (let index = 0; index < deputy; ++index) this.call(index);
    return this.#job;
  }

  /** Has a worker take part in the run under way. */
  call(index: number): void {
    Atomics.add(this.control, cellOf(index, own.ticket), 1);
    this.#ring(index);
  }

  /** Whether a thread has seen the end of the run. */
  hasEnded({ number }: Job): boolean {
    return Atomics.load(this.control, pooled.done) >= number;
  }

  /** Ends a run early, for a reason. */
  fail({ module }: Job, reason: string): void {
    writeReason(this.control, reason);
    Atomics.store(this.control, pooled.failed, 1);
    (module.exports['threads.abort'] as () => void)();
  }

  /** Ends a job that is over. Returns why it failed, if it did. */
  release(job: Job): string | undefined {
    if (this.#job !== job) return undefined;
    const failed = Atomics.load(this.control, pooled.failed) === 1;
    job.forgive();
    // Tasks under way still write to the memory.
    while (failed && this.#findAtWork(job, true) >= 0);
    this.#job = undefined;
    this.#end?.resolve();
    const reason = failed ? readReason(this.control) : undefined;
    if (this.#problem !== undefined) this.stop();
    return reason;
  }

  /** Resolves when the run under way is over. */
  nextEnd(job: Job): Promise<void> {
    if (this.#end !== undefined) return this.#end.promise;
    let resolve = () => {};
    const watch = setInterval(() => this.findLost(job), silence.lookMs);
    const promise = new Promise<void>((done) => {
      resolve = () => {
        clearInterval(watch);
        this.#end = undefined;
        this.#hold(false);
        done();
      };
    });
    this.#end = { promise, resolve };
    this.#hold(true);
    Atomics.store(this.control, pooled.awaited, 1);
    if (this.hasEnded(job)) resolve();
    return promise;
  }

  /** Makes the threads forget a module. No run of it is under way. */
  drop(module: SharedModule): void {
    const known = this.#ids.get(module);
    if (known === undefined) return;
    this.#ids.delete(module);
    this.#post(() => ({ kind: 'drop', id: known.id }));
  }

  /** Ends the threads. No run is under way. */
  stop(): void {
    for (const thread of this.#threads.splice(0)) thread.stop();
    this.#ids.clear();
  }

  #has(module: SharedModule): boolean {
    let known = this.#ids.get(module);
    if (known === undefined) {
      const id = ++this.#lastId;
      this.#post(() => ({ kind: 'load', id, ...partsOf(module) }));
      known = { id, posted: this.#posted, isThere: false };
      this.#ids.set(module, known);
    }
    const { posted } = known;
    known.isThere ||= this.#handled(posted);
    this.#isKnown ||= this.#threads.every((thread) => thread.isKnown());
    return known.isThere;
  }

  /** Whether all threads have got so many messages. */
  #handled(count: number): boolean {
    return this.#threads.every(
      (_, index) => Atomics.load(this.control, cellOf(index, own.handled)) >= count,
    );
  }

  #post(message: (index: number) => ToWorker): void {
    ++this.#posted;
    this.#threads.forEach((thread, index) => {
      thread.post(message(index));
      Atomics.store(this.control, cellOf(index, own.posted), this.#posted);
      this.#ring(index);
    });
  }

  #ring(index: number): void {
    Atomics.add(this.control, cellOf(index, own.bell), 1);
    Atomics.notify(this.control, cellOf(index, own.bell));
  }

  get #isStarted(): boolean {
    const handled = (index: number) => Atomics.load(this.control, cellOf(index, own.handled));
    return this.#threads.some((_, index) => handled(index) > 0);
  }

  #hold(isHeld: boolean): void {
    for (const thread of this.#threads) thread.hold(isHeld);
  }

  #receive(message: FromWorker, index: number): void {
    if (message.kind === 'broken') this.#lose(index, message.reason);
    else if (this.#job === undefined || this.hasEnded(this.#job)) this.#end?.resolve();
  }

  /** Whether the thread has left every run. */
  #isOut(index: number): boolean {
    const { control } = this;
    const ticket = Atomics.load(control, cellOf(index, own.ticket));
    return this.#lost.has(index) || Atomics.load(control, cellOf(index, own.finished)) === ticket;
  }

  /** Ends a run that waits for a thread that is gone. */
  findLost(job: Job): void {
    if (this.#job !== job) return;
    const lost = this.#findAtWork(job, false);
    if (lost >= 0) this.#lose(lost, 'it ended');
  }

  /** A thread that has not left a run and is alive, or is gone. */
  #findAtWork(job: Job, isAlive: boolean): number {
    const isSilent = job.isSilent();
    return this.#threads.findIndex(
      (each, index) => !this.#isOut(index) && each.isAlive(isSilent) === isAlive,
    );
  }

  /** A thread is gone: the others must not wait for it. */
  #lose(index: number, reason: string): void {
    if (this.#threads.length === 0) return;
    const job = this.#job;
    if (job !== undefined && !this.#isOut(index)) {
      this.fail(job, reason);
      noteDone(this.control, job.number);
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
