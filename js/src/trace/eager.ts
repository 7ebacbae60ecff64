/**
 * Operations on tensors at once: `a.add(b)`. Each is compiled for the types of what it is given, kept, and found by
 * them the next time; its result stays in the heap, where the next one reads it.
 */
import { CoreGraph } from '../core/handles.js';
import type { OperationName } from '../core/names.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import type { Rank } from '../tensor/ranks.js';
import type { HeapModule } from '../runtime/heap_module.js';
import { env } from '../runtime/env.js';
import { schedules } from '../tune/schedules.js';
import { entryName } from './compiled_function.js';
import { compileForHeap } from './heap_function.js';
import {
  checkOperand,
  countOf,
  dtypeOf,
  installMethods,
  installTracing,
  type TensorMethods,
  Trace,
  typeFor,
} from './trace.js';

export type { TensorMethods } from './trace.js';

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = Rank> extends TensorMethods<Tensor, TensorLike> {}
}

/** Modules kept; a quarter of them goes when there are more: those not used for longest. */
const most = 2000;

interface Kept {
  module: HeapModule;
  used: number;
}

const kept = new Map<string, Kept>();
let clock = 0;
/** What modules are compiled for changes with these. */
let revision = 0;

/** @internal The modules of operations that are kept now. */
export const keptOperations = (): number => kept.size;

/** @internal Gives up all of them. */
export function forgetOperations(): void {
  for (const { module } of kept.values()) module.dispose();
  kept.clear();
}

function apply(op: OperationName, operands: readonly TensorLike[], values: unknown[]): Tensor {
  const dtype = dtypeOf(operands);
  if (op === 'nonZero' && values[0] === undefined) values = [sizeOf(operands[0] as Tensor)];
  const copies: Tensor[] = [];
  const given = operands.map((each) => {
    if (each instanceof Tensor) return each;
    checkOperand(op, each);
    const copy = tensor(each, ...typeFor(each, dtype));
    copies.push(copy);
    return copy;
  });
  const result = moduleOf(op, given, values).call(given)[0]!;
  for (const each of copies) each.dispose();
  return result;
}

function sizeOf(x: Tensor): number {
  const count = countOf(x);
  const size = count.dataSync<'int32'>()[0]!;
  count.dispose();
  return size;
}

function moduleOf(op: OperationName, given: readonly Tensor[], values: unknown[]): HeapModule {
  const now = schedules.revision + env().revision;
  if (now !== revision) {
    forgetOperations();
    revision = now;
  }
  let key: string = op;
  for (const each of given) key += each.type;
  if (values.length > 0) key += JSON.stringify(values, spelled);
  let found = kept.get(key);
  if (found === undefined) {
    if (kept.size >= most) forgetOldest();
    found = { module: compileOperation(op, given, values), used: 0 };
    kept.set(key, found);
  }
  found.used = ++clock;
  return found.module;
}

/** What JSON would not tell apart. The core refuses numbers that are not finite. */
function spelled(_key: string, value: unknown): unknown {
  if (Object.is(value, -0)) return '-0';
  return value === undefined || typeof value === 'bigint' ? `${typeof value} ${value}` : value;
}

function forgetOldest(): void {
  const oldest = [...kept].sort(([, a], [, b]) => a.used - b.used).slice(0, most / 4);
  for (const [key, { module }] of oldest) {
    module.dispose();
    kept.delete(key);
  }
}

function compileOperation(
  op: OperationName,
  given: readonly Tensor[],
  values: unknown[],
): HeapModule {
  const graph = new CoreGraph();
  try {
    graph.beginEntry(entryName);
    const trace = new Trace(graph);
    const inputs = given.map(({ shape, dtype }, at) => trace.input(`x${at}`, shape, dtype));
    trace.output('y', trace.apply(op, inputs, values));
    return compileForHeap(graph);
  } finally {
    graph.free();
  }
}

/** Gives tensors their methods, those that functions are traced with, too. */
export function installOperations(): void {
  installTracing();
  installMethods(Tensor.prototype, (_self, op, operands, values) => apply(op, operands, values));
}
