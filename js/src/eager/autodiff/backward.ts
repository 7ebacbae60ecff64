/** Dependency paths between values, and gradients along them. */
import { type DeviceValue, nextVisit } from '../../runtime/device_value.js';
import type { Tensor } from '../../tensor/tensor.js';
import { tensorOf } from '../apply.js';
import { engine, valueOf } from '../engine.js';
import { ones } from '../constants.js';
import { CoreVjp, CustomVjp } from './vjp_nodes.js';
import {
  type LazyNode,
  lazyNodeOf,
  type NodeInput,
  Operation,
  type Vjp,
  VjpOutput,
} from '../graph/lazy_nodes.js';
import { operationValue } from '../values.js';
import { isFloat } from './integer_gradients.js';

type Values = readonly DeviceValue[];
/** Nodes by their values, operands before results. */
type Path = ReadonlyMap<DeviceValue, LazyNode>;

/** Differentiates functions that were recorded after a node: it and those before are constants. */
export function withTapeStart<T>(node: number, action: () => T): T {
  const before = engine.tapeStart;
  engine.tapeStart = node;
  try {
    return action();
  } finally {
    engine.tapeStart = before;
  }
}

/** The values that `targets` depend on and that depend on `wrt`, with their nodes, operands before results. */
export function dependencyPath(targets: Values, wrt: Values): Path {
  const innerNodes = new Map<DeviceValue, LazyNode>();
  const readBy = (node: LazyNode): readonly NodeInput[] => {
    if (node instanceof CustomVjp) return node.inputs;
    if (!(node instanceof VjpOutput)) return node.sources;
    for (const [value, how] of node.vjp.path) innerNodes.set(value, how);
    return node.vjp.sources;
  };
  const visit = nextVisit();
  for (const each of wrt) [each.visit, each.mark] = [visit, 1];
  const dependents: [DeviceValue, LazyNode, readonly NodeInput[]][] = [];
  const left = [...targets];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (value.visit === visit) continue;
    [value.visit, value.mark] = [visit, 0];
    const node = lazyNodeOf(value) ?? innerNodes.get(value);
    if (node === undefined || node.id <= engine.tapeStart || detaches(node)) continue;
    const reads = readBy(node);
    dependents.push([value, node, reads]);
    for (const each of reads) if (typeof each !== 'number') left.push(each);
  }
  // Operands are recorded before their readers.
  dependents.sort(([, a], [, b]) => a.id - b.id);
  const path = new Map<DeviceValue, LazyNode>();
  const isFound = (each: NodeInput) => typeof each !== 'number' && each.mark === 1;
  for (const [value, node, reads] of dependents) {
    if (!reads.some(isFound)) continue;
    value.mark = 1;
    path.set(value, node);
  }
  return path;
}

const detaches = (node: LazyNode): boolean =>
  node instanceof Operation && node.signature.op === 'detach';

/** Limit of gradients per module, whose parameters are these results and its inputs. */
const maxGradientsPerModule = 200;

export interface SeededTarget {
  target: DeviceValue;
  seed: DeviceValue;
}

/** The gradients of the sinks by each of `wrt`, each for one tensor; undefined where no target depends on it. */
export function gradientsOfSinks(
  sinks: readonly SeededTarget[],
  wrt: Values,
): (DeviceValue | undefined)[] {
  const path = dependencyPath(
    sinks.map(({ target }) => target),
    wrt,
  );
  return isTooLarge(path)
    ? gradientsInParts(sinks, wrt, path)
    : gradientsInOnePart(sinks, wrt, path);
}

function gradientsInOnePart(
  sinks: readonly SeededTarget[],
  wrt: Values,
  path: Path,
): (DeviceValue | undefined)[] {
  const visit = nextVisit();
  for (const { target } of sinks) target.visit = visit;
  for (const node of path.values()) {
    const read = node instanceof VjpOutput ? node.vjp.sources : node.sources;
    for (const each of read) if (typeof each !== 'number') each.visit = visit;
  }
  const isReached = (each: DeviceValue) => each.visit === visit && isFloat(each);
  const reachedWrt = wrt.filter(isReached);
  const results: (DeviceValue | undefined)[] = [];
  for (let from = 0; from < reachedWrt.length; from += maxGradientsPerModule)
    results.push(...derivatives(sinks, reachedWrt.slice(from, from + maxGradientsPerModule), path));
  let at = 0;
  return wrt.map((each) => (isReached(each) ? results[at++] : undefined));
}

function derivatives(sinks: readonly SeededTarget[], wrt: Values, path: Path) {
  const [targets, seeds] = [sinks.map(({ target }) => target), sinks.map(({ seed }) => seed)];
  return new CoreVjp(targets, seeds, wrt, path).results;
}

/**
 * The gradients of y, multiplied by dy, by each of `wrt`, with custom gradients applied. `precomputed`: the dependency
 * path.
 */
export function gradientsOf(
  y: Tensor,
  wrt: readonly Tensor[],
  dy?: Tensor,
  precomputed?: Path,
): (Tensor | undefined)[] {
  const seed = dy ?? ones(y.shape, y.dtype);
  const [target, by] = [valueOf(y), wrt.map(valueOf)];
  const sinks: SeededTarget[] = [{ target, seed: valueOf(seed) }];
  const path = precomputed ?? dependencyPath([target], by);
  const found = isTooLarge(path)
    ? gradientsInParts(sinks, by, path, true)
    : gradientsWithRules(sinks, by, path);
  if (dy === undefined) seed.dispose();
  return found.map((each) => each && tensorOf(each));
}

/** As `gradientsOfSinks`, with custom gradients applied from the last to the first. */
function gradientsWithRules(
  sinks: SeededTarget[],
  by: Values,
  path: Path,
): (DeviceValue | undefined)[] {
  for (const [value, node] of [...path].reverse()) {
    if (!(node instanceof CustomVjp)) continue;
    const [gradient] = gradientsOfSinks(sinks, [value]);
    if (gradient === undefined) continue;
    const parts = node.rule(gradient);
    for (const [at, each] of node.inputs.entries()) sinks.push({ target: each, seed: parts[at]! });
  }
  return sinks.length === 1 ? gradientsInOnePart(sinks, by, path) : gradientsOfSinks(sinks, by);
}

/** Limits of nodes and of values read from outside for gradients in a single module. */
const maxPathNodes = 800;
const maxPathReads = 600;

/** Whether gradients along a path are computed in parts. */
function isTooLarge(path: Path): boolean {
  if (engine.trace !== undefined) return false;
  const read = new Set<DeviceValue>();
  let numbers = 0;
  for (const node of path.values()) {
    for (const each of node.operands) {
      if (typeof each === 'number') numbers += 1;
      else if (!path.has(each)) read.add(each);
    }
  }
  return path.size > maxPathNodes || read.size + numbers > maxPathReads;
}

interface Part {
  readonly path: Map<DeviceValue, LazyNode>;
  /** Values that its nodes read from other parts or from outside the path. */
  readonly read: Set<DeviceValue>;
}

/** Limits for one part. */
const maxPartNodes = 128;
const partReads = 200;

/** A path split into parts, each after the parts that it reads; a custom gradient is a part by itself. */
function partsOf(path: Path): Part[] {
  const parts: Part[] = [];
  let [isFull, reads, last] = [true, 0, undefined as Vjp | undefined];
  for (const [value, node] of path) {
    const isCustom = node instanceof CustomVjp;
    const vjp = node instanceof VjpOutput ? node.vjp : undefined;
    const isSame = vjp !== undefined && vjp === last;
    if ((isFull && !isSame) || isCustom) {
      parts.push({ path: new Map(), read: new Set() });
      reads = 0;
    }
    const part = parts.at(-1)!;
    part.path.set(value, node);
    // A vjp reads the captured values of its function, too.
    const operands = vjp?.close().operands ?? node.sources;
    for (const each of isSame ? [] : operands) {
      if (typeof each === 'number') reads += 1;
      else if (!part.path.has(each)) part.read.add(each);
    }
    isFull = isCustom || part.path.size >= maxPartNodes || reads + part.read.size > partReads;
    last = vjp;
  }
  return parts;
}

/**
 * As `gradientsOfSinks`, part by part from the last to the first: smaller modules, which are shared where a path is
 * periodic.
 *
 * @param usesRules whether custom gradients are applied
 */
function gradientsInParts(
  sinks: readonly SeededTarget[],
  by: Values,
  path: Path,
  usesRules = false,
): (DeviceValue | undefined)[] {
  const parts = partsOf(path);
  const leads = new Set([...path.keys(), ...by]);
  const found = new Map<DeviceValue, DeviceValue>();
  const add = (value: DeviceValue, gradient: DeviceValue): void => {
    const before = found.get(value);
    found.set(value, before === undefined ? gradient : operationValue('add', [before, gradient]));
    if (before === undefined) return;
    before.free();
    gradient.free();
  };
  const addShared = (value: DeviceValue, gradient: DeviceValue): void => {
    gradient.share();
    add(value, gradient);
  };
  for (const { target, seed } of sinks) addShared(target, seed);
  for (const { read } of parts) engine.plans.compute([...read]);
  for (const { path, read } of parts.reverse()) {
    const reached = [...path].filter(([value]) => found.has(value));
    if (reached.length === 0) continue;
    const within = reached.map(([target]) => ({ target, seed: found.get(target)! }));
    const wrt = [...read].filter((each) => leads.has(each) && isFloat(each));
    const [[, node]] = reached as [[DeviceValue, LazyNode]];
    if (usesRules && node instanceof CustomVjp) {
      const gradients = node.rule(within[0]!.seed);
      node.inputs.forEach((each, at) => leads.has(each) && addShared(each, gradients[at]!));
    } else {
      derivatives(within, wrt, path).forEach((each, at) => add(wrt[at]!, each!));
    }
    engine.plans.compute(wrt.flatMap((each) => found.get(each) ?? []));
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
