/**
 * Cuts the runs of an entry into submissions that take no longer than operating systems and other pages tolerate, by the times that its
 * dispatches took in earlier runs.
 */

/** Half of the 200 ms that a submission may take, as times vary. */
const targetMs = 100;

/** Limits of a submission, for kernels whose time is known, as it may be wrong, and for others. */
const measured = { dispatches: 512, groups: 2 ** 21 };
const unmeasured = { dispatches: 64, groups: 2 ** 18 };

/** The mean milliseconds of dispatches by their index in a run; undefined where not measured. */
type Costs = (number | undefined)[];

export class Pacing {
  readonly #costs: Costs = [];
  #runs = 0;

  /** The pace of the next run. The 1st, 2nd, 4th, 8th … run is measured. */
  begin(queue: GPUQueue): Pace {
    this.#runs += 1;
    const isMeasured = (this.#runs & (this.#runs - 1)) === 0;
    return new Pace(this.#costs, isMeasured ? queue : undefined);
  }
}

/** Where a run is cut. */
export class Pace {
  /** Indices of the next dispatch, and of the first one that is not submitted. */
  #next = 0;
  #first = 0;
  /** Of those that are not submitted. */
  #groups = 0;
  #ms = 0;
  /** When what was submitted before is done, as of `performance.now`. */
  #before: Promise<number> | undefined;

  constructor(
    private readonly costs: Costs,
    private readonly queue: GPUQueue | undefined,
  ) {}

  /** Whether a submission must end before another dispatch. */
  isFull(groups: number): boolean {
    const cost = this.costs[this.#next];
    const limits = cost === undefined ? unmeasured : measured;
    return (
      this.#next > this.#first &&
      (this.#next - this.#first >= limits.dispatches ||
        this.#groups + groups > limits.groups ||
        this.#ms + (cost ?? 0) > targetMs)
    );
  }

  add(groups: number): void {
    this.#ms += this.costs[this.#next] ?? 0;
    this.#groups += groups;
    this.#next += 1;
  }

  /** Submits the dispatches since the last call. */
  submit(action: () => void): void {
    const { queue } = this;
    // A run of one dispatch cannot be cut.
    if (queue === undefined || Math.max(this.#next, this.costs.length) < 2) action();
    else this.#measure(queue, action);
    this.#first = this.#next;
    this.#groups = this.#ms = 0;
  }

  #measure(queue: GPUQueue, action: () => void): void {
    const whenDone = () => queue.onSubmittedWorkDone().then(() => performance.now());
    const before = (this.#before ??= whenDone());
    const [first, end, start] = [this.#first, this.#next, performance.now()];
    action();
    const done = (this.#before = whenDone());
    void Promise.all([before, done]).then(
      ([begin, time]) => this.#record(first, end, time - Math.max(begin, start)),
      () => undefined, // the GPU is lost
    );
  }

  /** A busy host makes times too short: costs fall by half at most. */
  #record(first: number, end: number, ms: number): void {
    const cost = ms / (end - first);
    for (let at = first; at < end; at += 1) {
      this.costs[at] = Math.max(cost, (this.costs[at] ?? 0) / 2);
    }
  }
}
