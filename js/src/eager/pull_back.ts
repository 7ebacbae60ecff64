/** What leads from values to others, and the gradients that the core takes along it. */
import { HeapValue, nextWalk } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { shown } from './apply.js';
import { compute } from './compute.js';
import { ones } from './constants.js';
import { Custom, Derivatives } from './derivatives.js';
import {
  formulaOf,
  GradientPart,
  type Held,
  Operation,
  type PullBack,
  type Source,
} from './formulas.js';
import { operation } from './values.js';
import { isFloat } from './whole_gradients.js';
import { isWriting } from './written.js';

type Values = readonly HeapValue[];
/** Values with how they are computed, operands before results. */
type Path = ReadonlyMap<HeapValue, Held>;

/** What was written down up to this formula is given: it was before the function whose gradient is taken. */
let begin = 0;

export function since<T>(formula: number, action: () => T): T {
  const before = begin;
  begin = formula;
  try {
    return action();
  } finally {
    begin = before;
  }
}

/** What depends on these, with how it is computed, operands before results. */
export function pathTo(targets: Values, wrt: Values): Path {
  const recalled = new Map<HeapValue, Held>();
  const readBy = (formula: Held): readonly Source[] => {
    if (formula instanceof Custom) return formula.inputs;
    if (!(formula instanceof GradientPart)) return formula.sources;
    for (const [value, how] of formula.pullBack.path) recalled.set(value, how);
    return formula.pullBack.sources;
  };
  const walk = nextWalk();
  for (const each of wrt) [each.walk, each.note] = [walk, 1];
  const behind: [HeapValue, Held, readonly Source[]][] = [];
  const left = [...targets];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (value.walk === walk) continue;
    [value.walk, value.note] = [walk, 0];
    const formula = formulaOf(value) ?? recalled.get(value);
    if (formula === undefined || formula.number <= begin || detaches(formula)) continue;
    const reads = readBy(formula);
    behind.push([value, formula, reads]);
    for (const each of reads) if (typeof each !== 'number') left.push(each);
  }
  // What is read was written down before.
  behind.sort(([, a], [, b]) => a.number - b.number);
  const path = new Map<HeapValue, Held>();
  const isFound = (each: Source) => typeof each !== 'number' && each.note === 1;
  for (const [value, formula, reads] of behind) {
    if (!reads.some(isFound)) continue;
    value.note = 1;
    path.set(value, formula);
  }
  return path;
}

const detaches = (formula: Held): boolean =>
  formula instanceof Operation && formula.signature.op === 'detach';

/** By how many values a gradient is taken in one module: that has parameters for them, for what it gives and for what it reads. */
const mostAtOnce = 200;

export interface Sink {
  target: HeapValue;
  seed: HeapValue;
}

/** The gradients of the sinks by each of `wrt`, each for one tensor; no value where nothing depends on it. */
export function pulled(sinks: readonly Sink[], wrt: Values): (HeapValue | undefined)[] {
  const path = pathTo(
    sinks.map(({ target }) => target),
    wrt,
  );
  return isTooMuch(path) ? pulledInParts(sinks, wrt, path) : pulledAtOnce(sinks, wrt, path);
}

function pulledAtOnce(sinks: readonly Sink[], wrt: Values, path: Path): (HeapValue | undefined)[] {
  const walk = nextWalk();
  for (const { target } of sinks) target.walk = walk;
  for (const formula of path.values()) {
    const read = formula instanceof GradientPart ? formula.pullBack.sources : formula.sources;
    for (const each of read) if (typeof each !== 'number') each.walk = walk;
  }
  const isReached = (each: HeapValue) => each.walk === walk && isFloat(each);
  const there = wrt.filter(isReached);
  const results: (HeapValue | undefined)[] = [];
  for (let from = 0; from < there.length; from += mostAtOnce)
    results.push(...derivatives(sinks, there.slice(from, from + mostAtOnce), path));
  let at = 0;
  return wrt.map((each) => (isReached(each) ? results[at++] : undefined));
}

function derivatives(sinks: readonly Sink[], wrt: Values, path: Path) {
  const [targets, seeds] = [sinks.map(({ target }) => target), sinks.map(({ seed }) => seed)];
  return new Derivatives(targets, seeds, wrt, path).results;
}

/** The gradients of y, multiplied by dy, by each of `wrt`; through values whose gradients are somebody's functions, too. `known`: the path. */
export function gradientsOf(
  y: Tensor,
  wrt: readonly Tensor[],
  dy?: Tensor,
  known?: Path,
): (Tensor | undefined)[] {
  const seed = dy ?? ones(y.shape, y.dtype);
  const [target, by] = [HeapValue.of(y), wrt.map(HeapValue.of)];
  const sinks: Sink[] = [{ target, seed: HeapValue.of(seed) }];
  const path = known ?? pathTo([target], by);
  const found = isTooMuch(path)
    ? pulledInParts(sinks, by, path, true)
    : pulledWithRules(sinks, by, path);
  if (dy === undefined) seed.dispose();
  return found.map((each) => each && shown(each));
}

/** As `pulled`: what lies behind somebody's functions first, the last of them before the others. */
function pulledWithRules(sinks: Sink[], by: Values, path: Path): (HeapValue | undefined)[] {
  for (const [value, formula] of [...path].reverse()) {
    if (!(formula instanceof Custom)) continue;
    const [gradient] = pulled(sinks, [value]);
    if (gradient === undefined) continue;
    const parts = formula.rule(gradient);
    for (const [at, each] of formula.inputs.entries())
      sinks.push({ target: each, seed: parts[at]! });
  }
  return sinks.length === 1 ? pulledAtOnce(sinks, by, path) : pulled(sinks, by);
}

/** Steps of a path, and what they read that is not theirs, with which gradients are still taken in one module. */
const mostSteps = 800;
const mostReads = 600;

/** Whether gradients along a path are to be taken part by part. */
function isTooMuch(path: Path): boolean {
  if (isWriting()) return false;
  const read = new Set<HeapValue>();
  let numbers = 0;
  for (const formula of path.values()) {
    for (const each of formula.operands) {
      if (typeof each === 'number') numbers += 1;
      else if (!path.has(each)) read.add(each);
    }
  }
  return path.size > mostSteps || read.size + numbers > mostReads;
}

interface Part {
  readonly path: Map<HeapValue, Held>;
  /** What its steps read of what other parts give, or nobody does. */
  readonly read: Set<HeapValue>;
}

/** So much of it is a part. */
const partSteps = 128;
const partReads = 200;

/** A path as parts, each behind those that it reads from; somebody's functions are parts by themselves. */
function partsOf(path: Path): Part[] {
  const parts: Part[] = [];
  let [isFull, reads, last] = [true, 0, undefined as PullBack | undefined];
  for (const [value, formula] of path) {
    const isAlone = formula instanceof Custom;
    const pullBack = formula instanceof GradientPart ? formula.pullBack : undefined;
    const isSame = pullBack !== undefined && pullBack === last;
    if ((isFull && !isSame) || isAlone) {
      parts.push({ path: new Map(), read: new Set() });
      reads = 0;
    }
    const part = parts.at(-1)!;
    part.path.set(value, formula);
    // Of a gradient what its function reads, which goes with it.
    const operands = pullBack?.apart().operands ?? formula.sources;
    for (const each of isSame ? [] : operands) {
      if (typeof each === 'number') reads += 1;
      else if (!part.path.has(each)) part.read.add(each);
    }
    isFull = isAlone || part.path.size >= partSteps || reads + part.read.size > partReads;
    last = pullBack;
  }
  return parts;
}

/**
 * As `pulled`, computed part by part, the last first: modules of parts are smaller, and the same where a path repeats itself.
 *
 * @param isRuled whether somebody's functions give the gradients of their values
 */
function pulledInParts(
  sinks: readonly Sink[],
  by: Values,
  path: Path,
  isRuled = false,
): (HeapValue | undefined)[] {
  const parts = partsOf(path);
  const leads = new Set([...path.keys(), ...by]);
  const found = new Map<HeapValue, HeapValue>();
  const add = (value: HeapValue, gradient: HeapValue): void => {
    const before = found.get(value);
    found.set(value, before === undefined ? gradient : operation('add', [before, gradient]));
    if (before === undefined) return;
    before.free();
    gradient.free();
  };
  const addAgain = (value: HeapValue, gradient: HeapValue): void => {
    gradient.share();
    add(value, gradient);
  };
  for (const { target, seed } of sinks) addAgain(target, seed);
  for (const { read } of parts) compute([...read]);
  for (const { path, read } of parts.reverse()) {
    const own = [...path].filter(([value]) => found.has(value));
    if (own.length === 0) continue;
    const within = own.map(([target]) => ({ target, seed: found.get(target)! }));
    const wrt = [...read].filter((each) => leads.has(each) && isFloat(each));
    const [[, formula]] = own as [[HeapValue, Held]];
    if (isRuled && formula instanceof Custom) {
      const gradients = formula.rule(within[0]!.seed);
      formula.inputs.forEach((each, at) => leads.has(each) && addAgain(each, gradients[at]!));
    } else {
      derivatives(within, wrt, path).forEach((each, at) => add(wrt[at]!, each!));
    }
    compute(wrt.flatMap((each) => found.get(each) ?? []));
    for (const { target, seed } of within) {
      seed.free();
      found.delete(target);
    }
  }
  const results = by.map((each) => found.get(each));
  for (const each of results) each?.share();
  for (const each of found.values()) each.free();
  return results;
}
