/**
 * Computes what is pending: the operations that lead to a value become one module, which is kept and found again by
 * their structure and types. What tensors show on the way is computed with it.
 */
import { LatheError } from '../base/errors.js';
import { env } from '../runtime/env.js';
import { HeapModule } from '../runtime/heap_module.js';
import type { Constant, HeapValue } from '../runtime/heap_value.js';
import { schedules } from '../tune/schedules.js';
import { compileForHeap, heapRequest } from '../trace/heap_function.js';
import { compileOperation, compilePlan } from './compile_plan.js';
import { formulaOf, GradientPart, type Held, Operation, type Source } from './formulas.js';
import { isForOnce, isLong, isRepetitive } from './long_plans.js';
import { type Plan, planOf, wholePlanOf } from './plan.js';
import type { Signature } from './signature.js';

/** Modules kept; a quarter of them goes when there are more: those not used for longest. */
const most = 2000;

interface Kept {
  readonly module: HeapModule;
  /** Of the operation that has it alone. */
  readonly signature?: Signature | undefined;
  used: number;
}

/** Inputs and outputs that a module may have. */
const widest = 900;
/** Operations one behind the other that may be pending. */
const deepest = 200;
/** With fewer of them what leads to a value is hardly long. */
const least = 12;

const kept = new Map<string | Signature, Kept>();
let clock = 0;
/** How often plans that differ in where slices begin were compiled, by the key of what they share. */
const alike = new Map<string, number>();
/** From then on they share a module, in which slices take a little longer. */
const mostAlike = 4;
let opened: ((plan: Plan) => Plan | undefined) | undefined;
/** What modules are compiled for changes with these. */
let revision = 0;
/** Modules compiled so far. */
let compilations = 0;

/** How many gradients are being recorded, one within the other: values then remember how they were computed. */
let recording = 0;
const remembered: HeapValue[] = [];

/** How plans are made that such ones share: pages that only compile functions need none. */
export function sharePlans(how: typeof opened): void {
  opened = how;
}

/** @internal The modules that are kept now, and how many were compiled. */
export const keptOperations = (): number => kept.size;
/** @internal */
export const compiledOperations = (): number => compilations;

/** @internal Gives up all of them. */
export function forgetOperations(): void {
  for (const { module, signature } of kept.values()) {
    module.dispose();
    if (signature !== undefined) signature.module = undefined;
  }
  kept.clear();
  alike.clear();
}

/** Runs while values remember how they were computed. */
export function recorded<T>(action: () => T): T {
  recording += 1;
  try {
    return action();
  } finally {
    recording -= 1;
    if (recording === 0) for (const each of remembered.splice(0)) each.forget();
  }
}

export const isRecording = (): boolean => recording > 0;

/** Makes the elements of all these be there, and of what tensors show on the way, but for `later`. `known`: their whole plan. */
export function compute(
  values: readonly HeapValue[],
  later?: ReadonlySet<HeapValue>,
  known?: Plan,
): void {
  for (const each of values) if (each.constant !== undefined) store(each, each.constant);
  const wanted = values.filter(({ isThere }) => !isThere);
  if (wanted.length === 0) return;
  forgetOld();
  const [first] = wanted;
  const formula = formulaOf(first!);
  if (wanted.length === 1 && formula instanceof Operation && areThere(formula.sources)) {
    const [source] = formula.sources;
    const { op, module } = formula.signature;
    const isSame = op === 'reshape' && typeof source === 'object';
    if (isSame) first!.lieWith(source);
    else if (op === 'slice' && module === undefined) return run(planOf(wanted));
    else moduleOf(formula.signature).run(formula.sources, [first!]);
    done(first!);
    return;
  }
  // With what they are computed from these are too many: no plan of all is needed to see it.
  if (wanted.length > widest / 2) return computeInParts(wanted);
  const whole = known ?? wholePlanOf(wanted, later);
  if (!isWide(whole)) {
    try {
      run(whole);
      return;
    } catch (error) {
      // What follows may be what there is no room for.
      if (whole.steps.length === planOf(wanted, later).steps.length) throw error;
    }
  }
  const plan = planOf(wanted, later);
  if (isWide(plan)) computeInParts(wanted);
  else run(plan);
}

function store(value: HeapValue, { fill }: Constant): void {
  fill(value.place().window());
  done(value);
}

/** Gives up modules that were compiled for something else than what there is now. */
function forgetOld(): void {
  const now = schedules.revision + env().revision;
  if (now === revision) return;
  forgetOperations();
  revision = now;
}

/** What is computed together with a plan. */
export interface Extension {
  /** Equal ones of equal plans have the same module. */
  readonly key: string;
  /** Behind those of the plan. */
  readonly inputs: readonly Source[];
  /** All that the module gives. */
  readonly outputs: readonly HeapValue[];
  compile(plan: Plan): HeapModule;
}

/** Computes a plan with more than what its values lead to. */
export function runExtended(plan: Plan, { key, inputs, outputs, compile }: Extension): void {
  forgetOld();
  const chosen = kept.has(key + plan.key) ? plan : shared(plan);
  keptModule(key + chosen.key, () => compile(chosen)).run([...chosen.inputs, ...inputs], outputs);
  outputs.forEach(done);
}

function run(plan: Plan): void {
  const chosen = kept.has(plan.key) ? plan : shared(plan);
  if (!kept.has(chosen.key) && isForOnce(chosen, compileMeanwhile)) {
    for (const { value } of plan.steps) compute([value]);
  } else runAsModule(chosen);
}

function runAsModule(plan: Plan): void {
  moduleFor(plan).run(plan.inputs, plan.outputs);
  plan.outputs.forEach(done);
}

/** What is computed once its plan is compiled. */
const underWay = new WeakMap<HeapValue, Promise<void>>();

/** As `compute`, but a long plan is compiled while the page goes on. Undefined: nothing is to be waited for. */
export function computeLater(value: HeapValue): Promise<void> | undefined {
  if (formulaOf(value)!.depth < least) return undefined;
  const plan = wholePlanOf([value]);
  for (const each of plan.outputs) {
    const before = underWay.get(each);
    // What follows from that has a shorter plan then.
    if (before !== undefined)
      return before.then(() => (value.isThere ? undefined : computeLater(value)));
  }
  return begun(plan);
}

/** When a long plan that has to be compiled first has been computed. Undefined: it is none. */
export function begun(plan: Plan): Promise<void> | undefined {
  if (isWide(plan) || !isLong(plan) || kept.has(plan.key) || isRepetitive(plan)) return undefined;
  const chosen = shared(plan);
  if (kept.has(chosen.key)) return undefined;
  const computed = computeMeanwhile(chosen);
  for (const each of chosen.outputs) underWay.set(each, computed);
  return computed;
}

/** Whatever happens to its tensors meanwhile. Whoever waits for it computes what is left, or has the error. */
async function computeMeanwhile(plan: Plan): Promise<void> {
  const held = [...plan.inputs, ...plan.outputs].filter((each) => typeof each !== 'number');
  for (const each of held) each.hold();
  try {
    await compileMeanwhile(plan);
    if (kept.has(plan.key) && !plan.outputs.some(({ isThere }) => isThere)) runAsModule(plan);
  } catch {
    // It cannot be compiled, or there is no room for all of it.
  } finally {
    for (const each of held) each.release();
    for (const each of plan.outputs) underWay.delete(each);
  }
}

/** Errors: what the plan tells when it is compiled at once. */
async function compileMeanwhile(plan: Plan): Promise<void> {
  const now = revision;
  const { inTurn } = await import('../runtime/background.js');
  const executable = await inTurn((compile) =>
    kept.has(plan.key) ? undefined : compilePlan(plan, (graph) => compile(graph, heapRequest())),
  );
  if (executable === undefined) return;
  if (now === revision && !kept.has(plan.key))
    keptModule(plan.key, () => new HeapModule(executable));
  executable.free();
}

/** A plan that is to be compiled, or after some that differ from it only in where slices begin, one for all of these. */
function shared(plan: Plan): Plan {
  const open = opened?.(plan);
  if (open === undefined || isWide(open)) return plan;
  const before = alike.get(open.key) ?? 0;
  if (before === mostAlike) return open;
  if (alike.size >= most) alike.clear();
  alike.set(open.key, before + 1);
  return plan;
}

/** Gradients taken together that tensors show and nobody has read, the oldest first, and how many of them may wait. */
let unread: (readonly HeapValue[])[] = [];
const mostUnread = 16;

/**
 * Computes the oldest gradients if many wait: a program that keeps those of all steps and adds them up at last would have one plan
 * of all, another one with each number of steps.
 */
export function limitGradients(values: readonly HeapValue[]): void {
  if (recording > 0) return;
  unread.push(values);
  if (unread.length <= mostUnread) return;
  unread = unread.filter((group) => group.some(isShown));
  if (unread.length > mostUnread) compute(unread.shift()!.filter(isShown));
}

/** Whether it can be computed and has not been. */
export const isPending = (value: HeapValue): boolean =>
  !value.isThere && formulaOf(value) !== undefined;

const isShown = (value: HeapValue) => value.tensors > 0 && isPending(value);

/** Whether functions of engines have hardly parameters enough for it. */
export const isWide = ({ inputs, outputs }: Plan) => inputs.length + outputs.length > widest;

/** Computes a value if too much leads to it that is still pending. */
export function limitDepth(value: HeapValue, formula: Held): void {
  if (formula.depth <= deepest || Number.isNaN(formula.depth)) return;
  const { inputs, steps } = planOf([value]);
  const depths: number[] = inputs.map(() => 0);
  for (const { formula, places } of steps) {
    formula.depth = 1 + Math.max(0, ...places.map((place) => depths[place]!));
    depths.push(formula.depth);
  }
  if (formula.depth > deepest) compute([value]);
}

/** The module of a plan, on inputs and for outputs of its types. */
export const moduleFor = (plan: Plan): HeapModule =>
  keptModule(plan.key, () => compilePlan(plan, (graph) => compileForHeap(graph)));

/** What leads to the values by itself first: engines take functions of no more than 1000 parameters. */
function computeInParts(values: readonly HeapValue[]): void {
  if (values.length > 1) {
    const half = Math.ceil(values.length / 2);
    compute(values.slice(0, half));
    compute(values.slice(half));
    return;
  }
  const before = values.flatMap(operandsOf).filter(({ isThere }) => !isThere);
  if (before.length === 0) {
    throw new LatheError(
      `one value follows from more than ${widest} tensors and numbers at once, as many as functions of engines take: ` +
        'join them (concat, stack), or use tl.compile or a model of layers',
    );
  }
  // With one of them what follows may be computed, too, which then needs neither the others nor the value itself.
  for (const each of new Set(before)) if (isPending(each)) compute([each]);
  compute(values.filter(isPending));
}

/** What a value is computed from; of a gradient, what does not lead to it. */
function operandsOf(value: HeapValue): HeapValue[] {
  const formula = formulaOf(value)!;
  const isValue = (each: Source): each is HeapValue => typeof each !== 'number';
  const own: readonly Source[] = formula.sources;
  if (!(formula instanceof GradientPart)) return own.filter(isValue);
  const { path, sources } = formula.pullBack;
  const read = [...path.values()].flatMap((each): Source[] => [...each.sources]);
  return [...sources, ...read].filter(isValue).filter((each) => !path.has(each));
}

function done(value: HeapValue): void {
  if (recording > 0) remembered.push(value);
  else value.forget();
}

function areThere(sources: readonly Source[]): boolean {
  for (const each of sources) if (typeof each !== 'number' && !each.isThere) return false;
  return true;
}

/** The module of an operation alone. */
function moduleOf(signature: Signature): HeapModule {
  if (signature.module !== undefined) {
    kept.get(signature)!.used = ++clock;
    return signature.module;
  }
  return (signature.module = keptModule(signature, () => compileOperation(signature), signature));
}

function keptModule(
  key: string | Signature,
  compile: () => HeapModule,
  signature?: Signature,
): HeapModule {
  let found = kept.get(key);
  if (found === undefined) {
    if (kept.size >= most) forgetOldest();
    compilations += 1;
    found = { module: compile(), signature, used: 0 };
    kept.set(key, found);
  }
  found.used = ++clock;
  return found.module;
}

function forgetOldest(): void {
  const oldest = [...kept].sort(([, a], [, b]) => a.used - b.used).slice(0, most / 4);
  for (const [key, { module, signature }] of oldest) {
    module.dispose();
    if (signature !== undefined) signature.module = undefined;
    kept.delete(key);
  }
}
