/** Finds the fastest of several contestants by measuring them in turns. Must not know what they compute, nor clocks. */

/** What is measured. */
export interface Contestant {
  /** Duration of the fastest call since the last `restart`; Infinity before the first measurement. */
  readonly milliseconds: number;
  /** Calls it for about `forMs`; otherwise than with `counts` only for the engine's optimizing tier. */
  measure(forMs: number, counts: boolean): void;
  restart(): void;
  /** Whether the results of both are equal. */
  agrees(other: this): boolean;
}

/** The limits of a tournament. */
export interface Limits {
  /** Whether its time is over. */
  isLate(): boolean;
  /** Lets other tasks run. Error: aborted. */
  pause(): Promise<void>;
}

/** The result of a tournament. */
export interface Result<Each> {
  /** The fastest; the standard one if none is faster by `margin`, or the speedup was not confirmed. */
  best: Each;
  /** Speedup over the standard one. */
  speedup: number;
  /** Whether `best` may be cached: times that a busy machine disturbed are not confirmed. */
  isConfirmed: boolean;
  /** Whether every candidate was tried. */
  isComplete: boolean;
  /** The times of the candidates; slow ones were measured only briefly. */
  tried: { candidate: Each; milliseconds: number }[];
}

/** Minimum speedup of a challenger, so that repeated runs agree. */
const margin = 1.03;
/** Challengers of the best so far at a time. */
const challengers = 4;
/** Largest ratio of two times of a contestant on a machine that is not busy. */
const steady = 1.2;
/** Repeated comparisons of the winner with the standard one, and turns of each. */
const comparisons = 2;
const turns = 2;

/** Runs a tournament; undefined if there was no time to measure anything. */
export async function compete<Each extends Contestant>(
  standard: Each,
  candidates: Iterable<() => Each>,
  limits: Limits,
): Promise<Result<Each> | undefined> {
  const tried: Result<Each>['tried'] = [];
  const queue = [...candidates];
  let best = standard;
  while (queue.length > 0 && !limits.isLate()) {
    const fresh: Each[] = [];
    for (const make of queue.splice(0, challengers)) if (!limits.isLate()) fresh.push(make());
    const winner = await fastestIn([...new Set([standard, best]), ...fresh], limits);
    for (const candidate of fresh) {
      const { milliseconds } = candidate;
      if (milliseconds < Infinity) tried.push({ candidate, milliseconds });
    }
    const wins = winner.milliseconds * margin < best.milliseconds && winner.agrees(standard);
    if (wins) best = winner;
  }
  const isComplete = queue.length === 0 && !limits.isLate();
  if (standard.milliseconds === Infinity) return undefined;
  // The standard schedule has been measured again since.
  if (best.milliseconds * margin >= standard.milliseconds) best = standard;
  const speedup = best === standard ? 1 : await confirmed(best, standard, limits);
  const isConfirmed = speedup !== undefined;
  return {
    best: isConfirmed ? best : standard,
    speedup: speedup ?? 1,
    isConfirmed,
    isComplete,
    tried,
  };
}

/** Measures contestants in turns, drops slow ones early, and returns the fastest. */
async function fastestIn<Each extends Contestant>(field: Each[], limits: Limits): Promise<Each> {
  const fastest = () =>
    field.reduce((best, each) => (each.milliseconds < best.milliseconds ? each : best));
  let running = field;
  for (let round = 0; round < 6; ++round) {
    for (const each of running) {
      // The first rounds are for the engine's optimizing tier, which compiles in the background.
      each.measure(round < 2 ? 2 : 1, round >= 2);
      if (limits.isLate()) return fastest();
    }
    await limits.pause();
    if (round < 2) continue;
    const least = fastest().milliseconds;
    running = running.filter((each) => !(each.milliseconds > least * 1.2));
  }
  return fastest();
}

/**
 * The least speedup in further comparisons, each from new measurements in turns. Undefined: the winner loses one of them, or the
 * times of one contestant differ by more than `steady`, as on a machine that does other work.
 */
async function confirmed<Each extends Contestant>(
  winner: Each,
  standard: Each,
  { pause }: Limits,
): Promise<number | undefined> {
  const both = [standard, winner];
  const times: number[][] = [[], []];
  for (let comparison = 0; comparison < comparisons; ++comparison) {
    for (const each of both) each.restart();
    for (let turn = 0; turn < turns; ++turn) {
      for (const each of both) each.measure(1, true);
      await pause();
    }
    both.forEach((each, at) => times[at]!.push(each.milliseconds));
  }
  const [before, after] = times as [number[], number[]];
  const isSteady = times.every((each) => Math.max(...each) <= steady * Math.min(...each));
  const speedup = Math.min(...before.map((each, at) => each / after[at]!));
  return isSteady && speedup > margin ? speedup : undefined;
}
