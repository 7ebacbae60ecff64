/**
 * The fastest schedules on this machine, by target and contraction: cached in memory, and persistently in
 * storage. Independent of models and of measurements.
 */
import { reasonOf } from '../base/errors.js';
import { isPromise } from '../base/kinds.js';
import { openStorage, type Storage } from '../base/storage.js';
import type { Schedule, Schedules } from '../core/abi.js';
import { scheduleFields } from '../core/names.js';

const version = 1;
/** Capacities of contractions per target and of targets; the oldest are evicted. */
const maxKeys = 512;
const maxTargets = 8;

type Targets = Map<string, Map<string, Schedule>>;

export class ScheduleCache {
  /** Increases with every change. */
  revision = 0;
  #targets: Targets = new Map();
  #warned = false;

  constructor(private readonly storage: Storage | undefined) {}

  /** All schedules of a target. */
  of(target: string): Schedules {
    return Object.fromEntries(this.#targets.get(target) ?? []);
  }

  has(target: string, key: string): boolean {
    return this.#targets.get(target)?.has(key) ?? false;
  }

  set(target: string, key: string, schedule: Schedule): void {
    put(this.#targets, target, key, schedule);
    ++this.revision;
  }

  /** Clears the memory; the storage is unchanged. */
  clear(): void {
    this.#targets = new Map();
    ++this.revision;
  }

  /** Adds the stored schedules, synchronously in Node. Content of another version is ignored. */
  load(): void | Promise<void> {
    const stored = this.#stored();
    return isPromise(stored) ? stored.then((each) => this.#add(each)) : this.#add(stored);
  }

  #add(stored: Targets): void {
    for (const [target, schedules] of stored) {
      for (const [key, each] of schedules) {
        if (!this.has(target, key)) put(this.#targets, target, key, each);
      }
    }
    if (stored.size > 0) ++this.revision;
  }

  /** Stores everything, merged with what other processes have stored since. */
  async save(): Promise<void> {
    if (this.storage === undefined) return;
    const all = await this.#stored();
    for (const [target, schedules] of this.#targets) {
      for (const [key, each] of schedules) put(all, target, key, each);
    }
    const targets = Object.fromEntries([...all].map(([name, each]) => [name, [...each]]));
    await this.storage
      .write(JSON.stringify({ version, targets }))
      .catch((error: unknown) => this.#warn('cannot be stored', error));
  }

  #stored(): Targets | Promise<Targets> {
    const ignored = (error: unknown): Targets => {
      this.#warn('is ignored', error);
      return new Map();
    };
    try {
      const json = this.storage?.read();
      return isPromise(json) ? json.then(parse).catch(ignored) : parse(json);
    } catch (error) {
      return ignored(error);
    }
  }

  #warn(what: string, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const reason = reasonOf(error);
    console.warn(`tensorlathe: the cache of schedules ${what}: ${reason}`);
  }
}

function put(targets: Targets, target: string, key: string, schedule: Schedule): void {
  const schedules = targets.get(target) ?? new Map<string, Schedule>();
  schedules.delete(key);
  schedules.set(key, schedule);
  if (schedules.size > maxKeys) schedules.delete(schedules.keys().next().value!);
  targets.delete(target);
  targets.set(target, schedules);
  if (targets.size > maxTargets) targets.delete(targets.keys().next().value!);
}

function parse(json: string | undefined): Targets {
  const targets: Targets = new Map();
  if (json === undefined) return targets;
  const stored = JSON.parse(json) as { version?: unknown; targets?: Record<string, unknown> };
  if (stored?.version !== version) throw new Error(`it is not of version ${version}`);
  for (const [target, schedules] of Object.entries(stored.targets!)) {
    for (const [key, schedule] of schedules as [string, Schedule][]) {
      if (typeof key !== 'string' || !isSchedule(schedule)) throw new Error('it is damaged');
      put(targets, target, key, schedule);
    }
  }
  return targets;
}

function isSchedule(value: unknown): value is Schedule {
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).every(
    ([field, size]) =>
      (scheduleFields as readonly string[]).includes(field) &&
      Number.isInteger(size) &&
      size > 0 &&
      size < 2 ** 31,
  );
}

/** The cache of the page or process. */
export const schedules = /* @__PURE__ */ new ScheduleCache(
  /* @__PURE__ */ openStorage('schedules'),
);

let reading: Promise<void> | undefined;

/** Loads the schedules from storage once, synchronously in Node. */
export function loadSchedules(): Promise<void> {
  reading ??= Promise.resolve(schedules.load());
  return reading;
}
