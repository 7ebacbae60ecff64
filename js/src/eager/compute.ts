/**
 * Materializes pending values: the subgraph of a value becomes one module, cached by its structure and types.
 * Intermediate values that tensors reference are outputs of the module, too.
 */
import { LatheError } from '../base/errors.js';
import { env } from '../runtime/env.js';
import { HeapModule } from '../runtime/heap_module.js';
import { type Constant, type Evaluator, HeapValue } from '../runtime/heap_value.js';
import { schedules } from '../tune/schedules.js';
import { compileForHeap, heapRequest } from '../trace/heap_function.js';
import { compileOperation, compilePlan } from './compile_plan.js';
import { type LazyNode, lazyNodeOf, type NodeInput, Operation, VjpOutput } from './lazy_nodes.js';
import { isLong, isRepetitive, shouldRunUncompiled } from './long_plans.js';
import { fullPlanOf, type Plan, planOf } from './plan.js';
import type { Signature, ValueType } from './signature.js';

/** Capacity of the module cache; when it is full, the least recently used quarter is evicted. */
const maxModules = 2000;

interface CachedModule {
  readonly module: HeapModule;
  /** The signature of a module for a single operation. */
  readonly signature?: Signature | undefined;
  used: number;
}

/** Limit of inputs and outputs of a module. */
const maxParameters = 900;
/** Limit of the depth of pending graphs. */
const maxPendingDepth = 200;
/** Graphs of less depth are compiled synchronously. */
const minAsyncDepth = 12;

const moduleCache = new Map<string | Signature, CachedModule>();
let clock = 0;
/** The number of plans compiled that differ in the begins of slices only, by the key of their parametrized plan. */
const variantCounts = new Map<string, number>();
/** Plans beyond this number share the parametrized module, whose slices are slightly slower. */
const maxVariants = 4;
let parametrize: ((plan: Plan) => Plan | undefined) | undefined;
/** The environment and schedules that the cached modules were compiled for. */
let revision = 0;
/** The number of modules compiled so far. */
let compilations = 0;

/** Depth of nested gradient recordings, during which values retain their nodes. */
let recording = 0;
const tapeValues: HeapValue[] = [];

/** A pending value of a node, for one tensor. */
export const lazyValue = ({ dtype, shape }: Pick<ValueType, 'dtype' | 'shape'>, node: LazyNode) =>
  new HeapValue(dtype, shape, node, evaluator);

const evaluator: Evaluator = { compute: (value) => compute([value]), computeAsync };

/** Installs the parametrization of plans, which pages that only compile functions do not load. */
export function useParametrizedPlans(how: typeof parametrize): void {
  parametrize = how;
}

/** @internal The number of cached modules. */
export const cachedModuleCount = (): number => moduleCache.size;
/** @internal The number of modules compiled so far. */
export const compiledModuleCount = (): number => compilations;

/** @internal Disposes of all cached modules. */
export function clearModuleCache(): void {
  for (const { module, signature } of moduleCache.values()) {
    module.dispose();
    if (signature !== undefined) signature.module = undefined;
  }
  moduleCache.clear();
  variantCounts.clear();
}

/** Runs an action while values retain their nodes. */
export function withTape<T>(action: () => T): T {
  recording += 1;
  try {
    return action();
  } finally {
    recording -= 1;
    if (recording === 0) for (const each of tapeValues.splice(0)) each.dropNode();
  }
}

export const isRecording = (): boolean => recording > 0;

/**
 * Materializes values, and those that tensors reference on the way except for `deferred`. `precomputed`: their full
 * plan.
 */
export function compute(
  values: readonly HeapValue[],
  deferred?: ReadonlySet<HeapValue>,
  precomputed?: Plan,
): void {
  for (const each of values) if (each.constant !== undefined) store(each, each.constant);
  const pending = values.filter(({ isMaterialized }) => !isMaterialized);
  if (pending.length === 0) return;
  invalidateModules();
  const [first] = pending;
  const node = lazyNodeOf(first!);
  if (pending.length === 1 && node instanceof Operation && areMaterialized(node.sources)) {
    const [source] = node.sources;
    const { op, module } = node.signature;
    const isSame = op === 'reshape' && typeof source === 'object';
    if (isSame) first!.shareAllocation(source);
    else if (op === 'slice' && module === undefined) return run(planOf(pending));
    else moduleOf(node.signature).run(node.sources, [first!]);
    markComputed(first!);
    return;
  }
  // Too many outputs for one module: splits before the plan is built.
  if (pending.length > maxParameters / 2) return computeInParts(pending);
  const full = precomputed ?? fullPlanOf(pending, deferred);
  if (!exceedsParameterLimit(full)) {
    try {
      run(full);
      return;
    } catch (error) {
      // The dependents in the full plan may exceed the memory.
      if (full.steps.length === planOf(pending, deferred).steps.length) throw error;
    }
  }
  const plan = planOf(pending, deferred);
  if (exceedsParameterLimit(plan)) computeInParts(pending);
  else run(plan);
}

function store(value: HeapValue, { fill }: Constant): void {
  fill(value.allocate().window());
  markComputed(value);
}

/** Drops the cache if modules are compiled for other features or schedules from now on. */
function invalidateModules(): void {
  const now = schedules.revision + env().revision;
  if (now === revision) return;
  clearModuleCache();
  revision = now;
}

/** Computation that is appended to a plan. */
export interface PlanExtension {
  /** Equal keys and equal plans share a module. */
  readonly key: string;
  /** Inputs after those of the plan. */
  readonly inputs: readonly NodeInput[];
  /** All outputs of the module. */
  readonly outputs: readonly HeapValue[];
  compile(plan: Plan): HeapModule;
}

/** Computes a plan and its extension in one module. */
export function runPlanWithExtension(
  plan: Plan,
  { key, inputs, outputs, compile }: PlanExtension,
): void {
  invalidateModules();
  const chosen = moduleCache.has(key + plan.key) ? plan : parametrizedIfShared(plan);
  cachedModule(key + chosen.key, () => compile(chosen)).run([...chosen.inputs, ...inputs], outputs);
  outputs.forEach(markComputed);
}

function run(plan: Plan): void {
  const chosen = moduleCache.has(plan.key) ? plan : parametrizedIfShared(plan);
  if (!moduleCache.has(chosen.key) && shouldRunUncompiled(chosen, compileInBackground)) {
    for (const { value } of plan.steps) compute([value]);
  } else runAsModule(chosen);
}

function runAsModule(plan: Plan): void {
  moduleFor(plan).run(plan.inputs, plan.outputs);
  plan.outputs.forEach(markComputed);
}

/** Values whose plan is being compiled in the background, with the promise of their computation. */
const inFlight = new WeakMap<HeapValue, Promise<void>>();

/** As `compute`, with a long plan compiled in the background; undefined if there is nothing to await. */
export function computeAsync(value: HeapValue): Promise<void> | undefined {
  if (lazyNodeOf(value)!.depth < minAsyncDepth) return undefined;
  const plan = fullPlanOf([value]);
  for (const each of plan.outputs) {
    const before = inFlight.get(each);
    // Once that is computed, the plan is shorter.
    if (before !== undefined)
      return before.then(() => (value.isMaterialized ? undefined : computeAsync(value)));
  }
  return startBackgroundCompute(plan);
}

/** Compiles a long plan in the background and computes it. Undefined: the plan is short or its module is cached. */
export function startBackgroundCompute(plan: Plan): Promise<void> | undefined {
  if (
    exceedsParameterLimit(plan) ||
    !isLong(plan) ||
    moduleCache.has(plan.key) ||
    isRepetitive(plan)
  )
    return undefined;
  const chosen = parametrizedIfShared(plan);
  if (moduleCache.has(chosen.key)) return undefined;
  const computed = computeWhenCompiled(chosen);
  for (const each of chosen.outputs) inFlight.set(each, computed);
  return computed;
}

/** Retains all values of the plan until then. Failures leave its outputs pending, so that a read reports the error. */
async function computeWhenCompiled(plan: Plan): Promise<void> {
  const retained = [...plan.inputs, ...plan.outputs].filter((each) => typeof each !== 'number');
  for (const each of retained) each.retain();
  try {
    await compileInBackground(plan);
    if (moduleCache.has(plan.key) && !plan.outputs.some(({ isMaterialized }) => isMaterialized))
      runAsModule(plan);
  } catch {
    // The compilation failed, or the plan exceeds the memory.
  } finally {
    for (const each of retained) each.release();
    for (const each of plan.outputs) inFlight.delete(each);
  }
}

/** Errors: those of compiling the plan synchronously. */
async function compileInBackground(plan: Plan): Promise<void> {
  const now = revision;
  const { enqueueCompilation } = await import('../runtime/background.js');
  const executable = await enqueueCompilation((compile) =>
    moduleCache.has(plan.key)
      ? undefined
      : compilePlan(plan, (graph) => compile(graph, heapRequest())),
  );
  if (executable === undefined) return;
  if (now === revision && !moduleCache.has(plan.key))
    cachedModule(plan.key, () => new HeapModule(executable));
  executable.free();
}

/** The plan to compile: itself, or its parametrized form once enough variants have been compiled. */
function parametrizedIfShared(plan: Plan): Plan {
  const open = parametrize?.(plan);
  if (open === undefined || exceedsParameterLimit(open)) return plan;
  const before = variantCounts.get(open.key) ?? 0;
  if (before === maxVariants) return open;
  if (variantCounts.size >= maxModules) variantCounts.clear();
  variantCounts.set(open.key, before + 1);
  return plan;
}

/** Groups of gradients that tensors reference and that have not been read, from the oldest on, and their limit. */
let unread: (readonly HeapValue[])[] = [];
const maxUnread = 16;

/**
 * Computes the oldest gradients if too many are pending: a program that accumulates the gradients of many steps would
 * otherwise compile one plan of all steps, a different one for every number of steps.
 */
export function limitPendingGradients(values: readonly HeapValue[]): void {
  if (recording > 0) return;
  unread.push(values);
  if (unread.length <= maxUnread) return;
  unread = unread.filter((group) => group.some(isPendingOutput));
  if (unread.length > maxUnread) compute(unread.shift()!.filter(isPendingOutput));
}

/** Whether the value is computable and not materialized. */
export const isPending = (value: HeapValue): boolean =>
  !value.isMaterialized && lazyNodeOf(value) !== undefined;

const isPendingOutput = (value: HeapValue) => value.tensors > 0 && isPending(value);

/** Whether a plan exceeds the parameter limit of modules. */
export const exceedsParameterLimit = ({ inputs, outputs }: Plan) =>
  inputs.length + outputs.length > maxParameters;

/** Computes a value if the pending graph above it is too deep. */
export function limitDepth(value: HeapValue, node: LazyNode): void {
  if (node.depth <= maxPendingDepth || Number.isNaN(node.depth)) return;
  const { inputs, steps } = planOf([value]);
  const depths: number[] = inputs.map(() => 0);
  for (const { node, operandIndices } of steps) {
    node.depth = 1 + Math.max(0, ...operandIndices.map((index) => depths[index]!));
    depths.push(node.depth);
  }
  if (node.depth > maxPendingDepth) compute([value]);
}

/** The module of a plan, for any inputs and outputs of its types. */
export const moduleFor = (plan: Plan): HeapModule =>
  cachedModule(plan.key, () => compilePlan(plan, (graph) => compileForHeap(graph)));

/** Computes operands first: engines accept functions of up to 1000 parameters. */
function computeInParts(values: readonly HeapValue[]): void {
  if (values.length > 1) {
    const half = Math.ceil(values.length / 2);
    compute(values.slice(0, half));
    compute(values.slice(half));
    return;
  }
  const before = values.flatMap(operandsOf).filter(({ isMaterialized }) => !isMaterialized);
  if (before.length === 0) {
    throw new LatheError(
      `one value follows from more than ${maxParameters} tensors and numbers at once, as many as functions of engines accept: ` +
        'join them (concat, stack), or use tl.compile or a model of layers',
    );
  }
  // Computing one of them may materialize the others and the value itself.
  for (const each of new Set(before)) if (isPending(each)) compute([each]);
  compute(values.filter(isPending));
}

/** The values that a value is computed from; for a gradient, those outside the differentiated path. */
function operandsOf(value: HeapValue): HeapValue[] {
  const node = lazyNodeOf(value)!;
  const isValue = (each: NodeInput): each is HeapValue => typeof each !== 'number';
  const inputs: readonly NodeInput[] = node.sources;
  if (!(node instanceof VjpOutput)) return inputs.filter(isValue);
  const { path, sources } = node.vjp;
  const read = [...path.values()].flatMap((each): NodeInput[] => [...each.sources]);
  return [...sources, ...read].filter(isValue).filter((each) => !path.has(each));
}

function markComputed(value: HeapValue): void {
  if (recording > 0) tapeValues.push(value);
  else value.dropNode();
}

function areMaterialized(sources: readonly NodeInput[]): boolean {
  for (const each of sources) if (typeof each !== 'number' && !each.isMaterialized) return false;
  return true;
}

/** The module of a single operation. */
function moduleOf(signature: Signature): HeapModule {
  if (signature.module !== undefined) {
    moduleCache.get(signature)!.used = ++clock;
    return signature.module;
  }
  return (signature.module = cachedModule(signature, () => compileOperation(signature), signature));
}

function cachedModule(
  key: string | Signature,
  compile: () => HeapModule,
  signature?: Signature,
): HeapModule {
  let found = moduleCache.get(key);
  if (found === undefined) {
    if (moduleCache.size >= maxModules) evictModules();
    compilations += 1;
    found = { module: compile(), signature, used: 0 };
    moduleCache.set(key, found);
  }
  found.used = ++clock;
  return found.module;
}

function evictModules(): void {
  const oldest = [...moduleCache].sort(([, a], [, b]) => a.used - b.used).slice(0, maxModules / 4);
  for (const [key, { module, signature }] of oldest) {
    module.dispose();
    if (signature !== undefined) signature.module = undefined;
    moduleCache.delete(key);
  }
}
