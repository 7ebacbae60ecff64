/** Materializes pending values: compiles the plans that they need and runs them on a device. */
import { LatheError } from '../../base/errors.js';
import { LruCache } from '../../runtime/compilation_cache.js';
import type { Device, Program } from '../../runtime/device.js';
import type { Evaluator, DeviceValue } from '../../runtime/device_value.js';
import { compileOperation, compilePlan } from './compile_plan.js';
import {
  isPending,
  type LazyNode,
  lazyNodeOf,
  type NodeInput,
  Operation,
  VjpOutput,
} from '../graph/lazy_nodes.js';
import { isLong, isRepetitive, shouldRunUncompiled } from './long_plans.js';
import { makePlan, type ModuleCache, type Plan, type PlanOptions, StringIds } from './plan.js';
import type { Tape } from '../graph/tape.js';

/** Capacity of the cache of modules. */
const maxModules = 2000;
/** Limit of inputs and outputs of a module. */
const maxParameters = 900;
/** Limit of the depth of pending graphs. */
const maxPendingDepth = 200;
/** Graphs of less depth are compiled synchronously. */
const minAsyncDepth = 12;
/** Plans that differ in the begins of slices only share a module, which is slightly slower, beyond this number. */
const maxVariants = 4;

type Values = readonly DeviceValue[];

/**
 * Computes values on a device. The subgraph of a value becomes one module, cached by its structure and types;
 * intermediate values that tensors reference are outputs of the module, too.
 */
export class PlanRunner implements Evaluator {
  readonly modules: ModuleCache = new LruCache(maxModules, maxModules / 4);
  /** Parametrizes plans by the begins of their slices. Pages that only compile functions do not load it. */
  parametrize: ((plan: Plan) => Plan | undefined) | undefined;
  /** That of the device for which the cached modules were compiled. */
  #revision = 0;
  readonly #ids = new StringIds();
  /** The number of plans compiled that differ in the begins of slices only, by the key of their parametrized plan. */
  readonly #variants = new Map<string, number>();
  /** Elements computed operation by operation so far, by the key of the plan. */
  readonly #spent = new Map<string, number>();
  /** Values whose plan is being compiled in the background, with the promise of their computation. */
  readonly #inFlight = new WeakMap<DeviceValue, Promise<void>>();

  constructor(
    readonly device: Device,
    private readonly tape: Tape,
  ) {}

  /** The plan of the subgraph of the roots. */
  planOf(roots: Values, options: PlanOptions = {}): Plan {
    return makePlan(roots, this.#ids, options);
  }

  /** Disposes of all cached modules. */
  clear(): void {
    this.modules.evict();
    this.#variants.clear();
  }

  /**
   * Materializes values, and those that tensors reference on the way except for `deferred`. `precomputed`: their full
   * plan.
   */
  compute(values: Values, deferred?: ReadonlySet<DeviceValue>, precomputed?: Plan): void {
    for (const each of values) {
      if (each.constant === undefined) continue;
      each.fill(each.constant);
      this.tape.markComputed(each);
    }
    const pending = values.filter(({ isMaterialized }) => !isMaterialized);
    if (pending.length === 0) return;
    this.#invalidateModules();
    const [first] = pending;
    const node = lazyNodeOf(first!);
    if (pending.length === 1 && node instanceof Operation && areMaterialized(node.sources)) {
      this.#computeOperation(first!, node);
      return;
    }
    // Too many outputs for one module: splits before the plan is built.
    if (pending.length > maxParameters / 2) {
      this.#computeInParts(pending);
      return;
    }
    const full = precomputed ?? this.planOf(pending, { deferred, isFull: true });
    if (!exceedsParameterLimit(full)) {
      try {
        this.#run(full);
        return;
      } catch (error) {
        // The dependents in the full plan may exceed the memory.
        if (full.steps.length === this.planOf(pending, { deferred }).steps.length) throw error;
      }
    }
    const plan = this.planOf(pending, { deferred });
    if (exceedsParameterLimit(plan)) this.#computeInParts(pending);
    else this.#run(plan);
  }

  /** Computes the value of an operation whose operands are materialized. */
  #computeOperation(value: DeviceValue, { signature, sources }: Operation): void {
    const [source] = sources;
    const { op } = signature;
    if (op === 'slice' && !this.modules.has(signature)) {
      this.#run(this.planOf([value]));
      return;
    }
    if (op === 'reshape' && typeof source === 'object') {
      value.shareAllocation(source);
      this.tape.markComputed(value);
      return;
    }
    const program = this.modules.get(signature, () => compileOperation(signature, this.device));
    this.runProgram(program, sources, [value]);
  }

  /** Runs a program that computes values. */
  runProgram(program: Program, inputs: readonly NodeInput[], outputs: Values): void {
    program.run(inputs, outputs);
    for (const each of outputs) this.tape.markComputed(each);
  }

  /** Drops the cache if modules are compiled for other features or schedules from now on. */
  #invalidateModules(): void {
    const { revision } = this.device;
    if (revision === this.#revision) return;
    this.clear();
    this.#revision = revision;
  }

  /**
   * The plan to compile, if it has no module yet: itself, or its parametrized form if that is shared.
   *
   * @param extension of the keys of its modules, which compute more than the plan
   */
  choose(plan: Plan, extension = ''): Plan {
    this.#invalidateModules();
    return this.modules.has(extension + plan.key) ? plan : this.#parametrizedIfShared(plan);
  }

  #run(plan: Plan): void {
    const chosen = this.choose(plan);
    if (!this.modules.has(chosen.key) && this.#shouldRunUncompiled(chosen)) {
      for (const { value } of plan.steps) this.compute([value]);
    } else this.#runAsModule(chosen);
  }

  #shouldRunUncompiled(plan: Plan): boolean {
    const isLoop = isLong(plan) && isRepetitive(plan, this.modules);
    return isLoop && shouldRunUncompiled(plan, this.#spent, () => this.#compileInBackground(plan));
  }

  #runAsModule(plan: Plan): void {
    this.runProgram(this.moduleFor(plan), plan.inputs, plan.outputs);
  }

  /** As `compute`, with a long plan compiled in the background; undefined if there is nothing to await. */
  computeAsync(value: DeviceValue): Promise<void> | undefined {
    if (lazyNodeOf(value)!.depth < minAsyncDepth) return undefined;
    const plan = this.planOf([value], { isFull: true });
    for (const each of plan.outputs) {
      // Once that is computed, the plan is shorter.
      const before = this.#inFlight.get(each);
      if (before !== undefined)
        return before.then(() => (value.isMaterialized ? undefined : this.computeAsync(value)));
    }
    return this.startInBackground(plan);
  }

  /** Compiles a long plan in the background and computes it. Undefined: the plan is short or its module is cached. */
  startInBackground(plan: Plan): Promise<void> | undefined {
    const isCompiledHere =
      this.device.load === undefined ||
      exceedsParameterLimit(plan) ||
      !isLong(plan) ||
      this.modules.has(plan.key) ||
      isRepetitive(plan, this.modules);
    if (isCompiledHere) return undefined;
    const chosen = this.#parametrizedIfShared(plan);
    if (this.modules.has(chosen.key)) return undefined;
    const computed = this.#computeWhenCompiled(chosen);
    for (const each of chosen.outputs) this.#inFlight.set(each, computed);
    return computed;
  }

  /** Retains all values of the plan until then. Failures leave its outputs pending, so that a read reports the error. */
  async #computeWhenCompiled(plan: Plan): Promise<void> {
    const retained = [...plan.inputs, ...plan.outputs].filter((each) => typeof each !== 'number');
    for (const each of retained) each.retain();
    try {
      await this.#compileInBackground(plan);
      const isCompiled = this.modules.has(plan.key);
      if (isCompiled && !plan.outputs.some(({ isMaterialized }) => isMaterialized))
        this.#runAsModule(plan);
    } catch {
      // The compilation failed, or the plan exceeds the memory.
    } finally {
      for (const each of retained) each.release();
      for (const each of plan.outputs) this.#inFlight.delete(each);
    }
  }

  /** Errors: those of compiling the plan synchronously. */
  async #compileInBackground(plan: Plan): Promise<void> {
    const now = this.#revision;
    const { enqueueCompilation } = await import('../../runtime/background.js');
    const executable = await enqueueCompilation((compile) =>
      this.modules.has(plan.key)
        ? undefined
        : compilePlan(plan, (graph) => compile(graph, this.device.request!())),
    );
    if (executable === undefined) return;
    if (now === this.#revision && !this.modules.has(plan.key))
      this.modules.get(plan.key, () => this.device.load!(executable));
    executable.free();
  }

  /** The plan to compile: itself, or its parametrized form once enough variants have been compiled. */
  #parametrizedIfShared(plan: Plan): Plan {
    const open = this.parametrize?.(plan);
    if (open === undefined || exceedsParameterLimit(open)) return plan;
    const before = this.#variants.get(open.key) ?? 0;
    if (before === maxVariants) return open;
    if (this.#variants.size >= maxModules) this.#variants.clear();
    this.#variants.set(open.key, before + 1);
    return plan;
  }

  /** Computes a value if the pending graph above it is too deep. */
  limitDepth(value: DeviceValue, node: LazyNode): void {
    if (node.depth <= maxPendingDepth || Number.isNaN(node.depth)) return;
    const { inputs, steps } = this.planOf([value]);
    const depths: number[] = inputs.map(() => 0);
    for (const { node, operandIndices } of steps) {
      node.depth = 1 + Math.max(0, ...operandIndices.map((index) => depths[index]!));
      depths.push(node.depth);
    }
    if (node.depth > maxPendingDepth) this.compute([value]);
  }

  /** The module of a plan, for any inputs and outputs of its types. */
  moduleFor(plan: Plan): Program {
    return this.modules.get(plan.key, () => compilePlan(plan, this.device.compile));
  }

  /** Computes operands first: engines accept functions of up to 1000 parameters. */
  #computeInParts(values: Values): void {
    if (values.length > 1) {
      const half = Math.ceil(values.length / 2);
      this.compute(values.slice(0, half));
      this.compute(values.slice(half));
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
    for (const each of new Set(before)) if (isPending(each)) this.compute([each]);
    this.compute(values.filter(isPending));
  }
}

/** Whether a plan exceeds the parameter limit of modules. */
export const exceedsParameterLimit = ({ inputs, outputs }: Plan) =>
  inputs.length + outputs.length > maxParameters;

/** The values that a value is computed from; for a gradient, those outside the differentiated path. */
function operandsOf(value: DeviceValue): DeviceValue[] {
  const node = lazyNodeOf(value)!;
  const isValue = (each: NodeInput): each is DeviceValue => typeof each !== 'number';
  const inputs: readonly NodeInput[] = node.sources;
  if (!(node instanceof VjpOutput)) return inputs.filter(isValue);
  const { path, sources } = node.vjp;
  const read = [...path.values()].flatMap((each): NodeInput[] => [...each.sources]);
  return [...sources, ...read].filter(isValue).filter((each) => !path.has(each));
}

function areMaterialized(sources: readonly NodeInput[]): boolean {
  for (const each of sources) if (typeof each !== 'number' && !each.isMaterialized) return false;
  return true;
}
