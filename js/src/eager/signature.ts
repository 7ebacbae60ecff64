/** What an operation gives for operands of given types: asked of the core once. */
import { LatheError } from '../base/errors.js';
import { CoreGraph } from '../core/handles.js';
import type { OperationName } from '../core/names.js';
import type { HeapModule } from '../runtime/heap_module.js';
import { coreDTypes, type DType } from '../tensor/dtypes.js';
import { entryName } from '../trace/compiled_function.js';
import { Trace, type TracedTensor } from '../trace/trace.js';

/** An operation with the types of its operands. */
export interface Signature {
  readonly id: number;
  readonly op: OperationName;
  /** Its arguments behind the tensors. */
  readonly values: readonly unknown[];
  readonly inputs: readonly ValueType[];
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** "float32 [2,3]" of the result. */
  readonly type: string;
  /** Of the operation alone, while it is kept. */
  module?: HeapModule | undefined;
}

export interface ValueType {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** "float32 [2,3]". */
  readonly type: string;
}

/** By the operation, then the types of its operands one after the other, then its arguments. */
interface Known {
  signature?: Signature;
  next?: Map<unknown, Known>;
}

/** Parts of keys that are kept; all go when there are more. */
const most = 30000;
let known: Known = {};
let count = 0;
let last = 0;

/** The next part of a key: short texts that are there already cost less than a long one that is made of them. */
function below(at: Known, key: unknown): Known {
  const next = (at.next ??= new Map());
  let found = next.get(key);
  if (found === undefined) {
    next.set(key, (found = {}));
    count += 1;
  }
  return found;
}

/** Error: what the core finds wrong with the operation, its name and the types. */
export function signatureOf(
  op: OperationName,
  inputs: readonly ValueType[],
  values: readonly unknown[],
): Signature {
  if (count >= most) [known, count] = [{}, 0];
  let at = below(known, op);
  for (const { type } of inputs) at = below(at, type);
  for (const each of values) at = under(at, each);
  return (at.signature ??= ask(op, inputs, values));
}

/** Different parts for different arguments: lists begin with how many follow. */
function under(at: Known, value: unknown): Known {
  if (Array.isArray(value)) {
    at = below(at, `[${value.length}`);
    for (const each of value) at = under(at, each);
    return at;
  }
  if (typeof value === 'string') return below(at, `"${value}`);
  return below(at, Object.is(value, -0) ? '-0' : value);
}

function ask(
  op: OperationName,
  inputs: readonly ValueType[],
  values: readonly unknown[],
): Signature {
  const odd = inputs.find(({ dtype }) => !Object.hasOwn(coreDTypes, dtype));
  if (odd !== undefined) throw new LatheError(`${op}: takes no tensors of ${odd.dtype}`);
  return traced(inputs, (operands, trace) => {
    const { shape, dtype } = trace.apply(op, operands, [...values]);
    const types = inputs.map(({ shape, dtype, type }) => ({ shape, dtype, type }));
    const type = `${dtype} [${shape.join(',')}]`;
    return { id: ++last, op, values: values.map(copied), inputs: types, dtype, shape, type };
  });
}

/** What `write` gives, which writes a function of inputs of these types down in a graph that goes with it. */
export function traced<T>(
  types: readonly ValueType[],
  write: (inputs: TracedTensor[], trace: Trace, graph: CoreGraph) => T,
): T {
  const graph = new CoreGraph();
  try {
    graph.beginEntry(entryName);
    const trace = new Trace(graph);
    const inputs = types.map(({ shape, dtype }, at) => trace.input(`x${at}`, shape, dtype));
    return write(inputs, trace, graph);
  } finally {
    graph.free();
  }
}

/** Lists may change once an operation is written down. */
const copied = (value: unknown): unknown => (Array.isArray(value) ? value.map(copied) : value);
