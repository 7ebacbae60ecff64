/**
 * The schedules that won on this machine, by target and contraction: in memory, and between runs in
 * the machine's storage. Knows neither models nor how schedules are measured.
 */
import { reasonOf } from '../base/errors.js';
import { isPromise } from '../base/kinds.js';
import { openStorage, type Storage } from '../base/storage.js';
import type { Schedule, Schedules } from '../core/abi.js';
import { scheduleFields } from '../core/names.js';

const version = 1;
/** Contractions remembered of one target, and targets; the oldest are forgotten first. */
const mostKeys = 512;
const mostTargets = 8;

type Targets = Map<string, Map<string, Schedule>>;

export class ScheduleCache {
  /** Grows with every change, so that others notice. */
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

  /** Forgets everything in memory; what is stored stays. */
  clear(): void {
    this.#targets = new Map();
    ++this.revision;
  }

  /** Adds what is stored, in Node at once. Anything that is no cache of this version counts as nothing. */
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

  /** Stores everything, beside what others have stored meanwhile. */
  async save(): Promise<void> {
    if (this.storage === undefined) return;
    const all = await this.#stored();
    for (const [target, schedules] of this.#targets) {
      for (const [key, each] of schedules) put(all, target, key, each);
    }
    const targets = Object.fromEntries([...all].map(([name, each]) => [name, [...each]]));
    await this.storage
      .write(JSON.stringify({ version, targets }))
      .catch((error: unknown) => this.#warn('cannot be written', error));
  }

  #stored(): Targets | Promise<Targets> {
    const ignored = (error: unknown): Targets => {
      this.#warn('is ignored', error);
      return new Map();
    };
    try {
      const text = this.storage?.read();
      return isPromise(text) ? text.then(parse).catch(ignored) : parse(text);
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
  if (schedules.size > mostKeys) schedules.delete(schedules.keys().next().value!);
  targets.delete(target);
  targets.set(target, schedules);
  if (targets.size > mostTargets) targets.delete(targets.keys().next().value!);
}

function parse(text: string | undefined): Targets {
  const targets: Targets = new Map();
  if (text === undefined) return targets;
  const stored = JSON.parse(text) as { version?: unknown; targets?: Record<string, unknown> };
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

/** Begins to read them from the storage and resolves when they are there; in Node they are at once. */
export function schedulesRead(): Promise<void> {
  reading ??= Promise.resolve(schedules.load());
  return reading;
}
